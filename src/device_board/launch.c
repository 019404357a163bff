/* launch.c - a job on the cores of a board: who runs what, with which arguments, and what a launch finds in L1.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/assert.h"
#include "device_board/board.h"

int strobe_board_covers(const struct strobe_device_cores *cores,
                        const struct strobe_board_core *core)
{
    return core->logical_x >= cores->x0 && core->logical_x <= cores->x1 &&
           core->logical_y >= cores->y0 && core->logical_y <= cores->y1;
}

const struct strobe_job_kernel *strobe_board_kernel(const struct strobe_device_job *job,
                                                    const struct strobe_board_core *core,
                                                    uint32_t risc, uint32_t *number)
{
    for (uint32_t i = 0; i < job->n_kernels; i++) {
        const struct strobe_job_kernel *kernel = &job->kernels[i];
        int on_ethernet = kernel->risc == STROBE_DEVICE_ERISC;
        int fits = kernel->risc == STROBE_DEVICE_COMPUTE ? risc >= 2
                   : on_ethernet                         ? risc == 0
                                                         : (uint32_t)kernel->risc == risc;
        if (fits && core->kind == (on_ethernet ? STROBE_CORE_ETH : STROBE_CORE_WORKER) &&
            strobe_board_covers(&kernel->cores, core)) {
            *number = i;
            return kernel;
        }
    }
    return NULL;
}

const uint32_t *strobe_board_args(const struct strobe_device_job *job,
                                  const struct strobe_board_core *core, uint32_t kernel,
                                  uint32_t is_common, uint32_t *n_args)
{
    const uint32_t *words = NULL;
    *n_args = 0;
    for (uint32_t i = 0; i < job->n_args; i++) { /* the last that was set */
        const struct strobe_job_args *args = &job->args[i];
        if (args->kernel != kernel || args->is_common != is_common ||
            !strobe_board_covers(&args->cores, core))
            continue;
        STROBE_ASSERT(args->first + args->n <= job->n_words);
        words = job->words + args->first;
        *n_args = args->n;
    }
    return words;
}

enum strobe_err strobe_board_takes_part(const struct strobe_board *board,
                                        const struct strobe_board_core *core,
                                        const struct strobe_device_job *job, int *part,
                                        char *reason)
{
    *part = 0;
    for (uint32_t risc = 0, number; risc < STROBE_BOARD_RISCS && !*part; risc++)
        *part = strobe_board_kernel(job, core, risc, &number) != NULL;
    if (!*part || !core->hung)
        return STROBE_OK;
    snprintf(reason, STROBE_DEVICE_REASON_BYTES,
             "device %u, core %u,%u hung in an earlier program; strobe_device_reset brings it back",
             board->setup.index, core->x, core->y);
    return STROBE_ERR_BUSY;
}

void strobe_board_launch(const struct strobe_board *board, const struct strobe_board_core *core,
                         const struct strobe_job_launch *run, struct strobe_sim_ring *rings)
{
    const struct strobe_device_job *job = run->job;
    for (uint32_t i = 0; i < job->n_rings; i++) {
        if (!strobe_board_covers(&job->rings[i].cores, core))
            continue;
        STROBE_ASSERT(job->rings[i].index < STROBE_SIM_MAX_RINGS);
        rings[job->rings[i].index] =
            (struct strobe_sim_ring){.base = core->l1_address + job->rings[i].address,
                                     .page_bytes = job->rings[i].page_bytes,
                                     .n_pages = job->rings[i].n_pages,
                                     .format = job->rings[i].format};
    }
    for (uint32_t i = 0; i < job->n_semaphores; i++)
        if (strobe_board_covers(&job->semaphores[i].cores, core))
            *(uint32_t *)(void *)(core->l1 + STROBE_SIM_SEMAPHORES + 16 * job->semaphores[i].id) =
                job->semaphores[i].value;
    struct strobe_l1_core *facts = strobe_board_facts(core);
    facts->program = run->runtime_id;
    facts->launch++;
    if (!(board->setup.options.record & STROBE_DEVICE_RECORD_TRACE_ONLY))
        facts->trace_counter = run->trace_counter;
}

static int marks_idle(const struct strobe_board *board)
{
    const struct strobe_device_options *options = &board->setup.options;
    return options->mode == STROBE_DEVICE_MODE_CLASSIC ||
           (options->mode == STROBE_DEVICE_MODE_STREAMING &&
            options->record & STROBE_DEVICE_RECORD_FIRMWARE);
}

enum strobe_err strobe_board_build_idle(struct strobe_board *board, char *reason)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t risc = 0; marks_idle(board) && risc < STROBE_BOARD_RISCS && !err; risc++) {
        struct strobe_device_source source = {.kernel = {.name = "firmware"}, .risc = risc};
        if (!board->idle[risc])
            err = strobe_recipe_build(&board->recipe, &source, &board->idle[risc], reason);
    }
    return err;
}

enum strobe_err strobe_board_build(void *unit, const struct strobe_device_source *source,
                                   struct strobe_device_built **built, char *reason)
{
    const struct strobe_board *board = unit;
    return strobe_recipe_build(&board->recipe, source, built, reason);
}

const struct strobe_device_built *strobe_board_firmware(void *unit, uint32_t risc)
{
    const struct strobe_board *board = unit;
    return risc < STROBE_BOARD_RISCS ? board->idle[risc] : NULL;
}
