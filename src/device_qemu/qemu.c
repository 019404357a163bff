/* qemu.c - QEMU as a backend: opens units, launches programs on their cores, answers the host. What happens while a program runs:
 * serve.c.  SPDX-License-Identifier: MIT */
#include "device_qemu/qemu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "device_qemu/internal.h"

#define QEMU "qemu-system-riscv32"

/* ---- open and close ---- */

static void close_cores(void *handle)
{
    struct strobe_qemu_unit *unit = handle;
    for (uint32_t i = 0; unit->machines && i < unit->board.n_cores; i++) {
        strobe_qemu_machine_stop(&unit->machines[i]);
        strobe_qemu_machine_free(&unit->machines[i]);
    }
    free(unit->machines);
    strobe_board_close(&unit->board);
    free(unit);
}

static enum strobe_err find_qemu(struct strobe_qemu_unit *unit, char *reason)
{
    const char *said = getenv("STROBE_QEMU");
    if (!strobe_recipe_find(said && *said ? said : QEMU, unit->qemu, sizeof unit->qemu))
        return STROBE_OK;
    snprintf(reason, STROBE_DEVICE_REASON_BYTES,
             "no %s: it is what the backend qemu runs; install qemu-system-riscv "
             "(qemu-system-misc in Debian 12 and Ubuntu), or name it in STROBE_QEMU",
             said && *said ? said : QEMU);
    return STROBE_ERR_NOTFOUND;
}

static enum strobe_err open_parts(struct strobe_qemu_unit *unit, struct strobe_device_setup *setup,
                                  char *reason)
{
    struct strobe_device_options *options = &setup->options;
    options->n_ethernet = options->n_dispatch = 0; /* workers alone */
    if (options->grid_x > STROBE_QEMU_MOST_CORES || options->grid_y > STROBE_QEMU_MOST_CORES ||
        options->grid_x * options->grid_y > STROBE_QEMU_MOST_CORES) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "%u x %u workers: the backend qemu runs a process a core, %u at the most; grid_x "
                 "and grid_y, or STROBE_SIM_GRID_X and STROBE_SIM_GRID_Y, say how many",
                 options->grid_x, options->grid_y, (unsigned)STROBE_QEMU_MOST_CORES);
        return STROBE_ERR_INVALID;
    }
    enum strobe_err err = strobe_board_open(&unit->board, setup, reason);
    if (!err)
        err = find_qemu(unit, reason);
    if (!err)
        err = strobe_recipe_open(&unit->board.recipe, &strobe_qemu_tools, options, reason);
    if (!err)
        err = strobe_qemu_image_open(unit, reason);
    if (!err && !(unit->machines = calloc(unit->board.n_cores, sizeof *unit->machines)))
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < unit->board.n_cores; i++)
        unit->machines[i].process = unit->machines[i].socket = unit->machines[i].said = -1;
    return err ? err : strobe_qemu_machines_start(unit, reason);
}

static enum strobe_err open_cores(struct strobe_device_setup *setup, void **handle, char *reason)
{
    struct strobe_qemu_unit *unit = calloc(1, sizeof *unit);
    if (!unit)
        return STROBE_ERR_NOMEM;
    unit->board.table_time = strobe_qemu_clock_tables;
    unit->is_virtual = setup->options.clock == STROBE_DEVICE_CLOCK_VIRTUAL;
    unit->hang_ns =
        (uint64_t)((double)setup->options.hang_cycles * 1000 /
                   (setup->options.frequency_mhz > 1 ? setup->options.frequency_mhz : 1));
    enum strobe_err err = open_parts(unit, setup, reason);
    if (!err && strobe_qemu_clock_measure(unit, &setup->options.frequency_mhz)) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES, "the clock of a core can't be read");
        err = STROBE_ERR_IO;
    }
    if (err) {
        close_cores(unit);
        return err;
    }
    unit->board.setup.options.frequency_mhz = setup->options.frequency_mhz;
    *handle = unit;
    return STROBE_OK;
}

static enum strobe_err reset_cores(void *handle)
{
    struct strobe_qemu_unit *unit = handle;
    char reason[STROBE_DEVICE_REASON_BYTES] = "";
    for (uint32_t i = 0; i < unit->board.n_cores; i++)
        strobe_qemu_machine_stop(&unit->machines[i]);
    enum strobe_err err = strobe_qemu_machines_start(unit, reason);
    for (uint32_t i = 0; err && i < unit->board.n_cores; i++)
        unit->board.cores[i].hung = unit->machines[i].state != STROBE_QEMU_RUNS_ON;
    if (err)
        unit->board.setup.warn(unit->board.setup.warn_context, reason);
    return err;
}

/* ---- launches ---- */

static void put_args(uint32_t *to, uint32_t *n, const uint32_t *from)
{
    STROBE_ASSERT(*n <= STROBE_QEMU_ARGS);
    *n = from && *n <= STROBE_QEMU_ARGS ? *n : 0;
    if (*n)
        memcpy(to, from, *n * sizeof *to);
}

/* All of a hart's launch but the word that starts it. */
static void prepare_hart(struct strobe_qemu_unit *unit, uint32_t core, uint32_t risc,
                         const struct strobe_job_launch *run)
{
    struct strobe_qemu_machine *machine = &unit->machines[core];
    struct strobe_qemu_hart *hart = &machine->shared->harts[risc];
    const struct strobe_board_core *is = &unit->board.cores[core];
    uint32_t number = 0;
    const struct strobe_job_kernel *kernel = strobe_board_kernel(run->job, is, risc, &number);
    const struct strobe_device_built *built =
        kernel ? kernel->built[kernel->risc == STROBE_DEVICE_COMPUTE ? risc - 2 : 0]
               : unit->board.idle[risc];
    machine->runs[risc] = built;
    hart->n_args = hart->n_common_args = 0;
    if (!built)
        return;
    if (kernel) {
        const uint32_t *args = strobe_board_args(run->job, is, number, 0, &hart->n_args);
        put_args(hart->args, &hart->n_args, args);
        args = strobe_board_args(run->job, is, number, 1, &hart->n_common_args);
        put_args(hart->common_args, &hart->n_common_args, args);
    }
    const struct strobe_qemu_code *code = strobe_recipe_code(built);
    STROBE_ASSERT(code->n_words && 4 * code->n_words <= STROBE_QEMU_SLOT_BYTES);
    STROBE_ASSERT(hart->done == hart->go);
    hart->entry = code->entry;
    hart->replayed = run->first_of_replay;
    hart->load_words = machine->loaded[risc] == code->serial ? 0 : code->n_words;
    if (hart->load_words)
        memcpy(machine->ram + (STROBE_QEMU_STAGES - STROBE_QEMU_RAM) +
                   (size_t)risc * STROBE_QEMU_SLOT_BYTES,
               code->words, 4ull * code->n_words);
    machine->loaded[risc] = code->serial;
}

/* BRISC last: it waits for the others' ends, and must see that they have begun. */
static void launch_core(struct strobe_qemu_unit *unit, uint32_t core,
                        const struct strobe_job_launch *run)
{
    struct strobe_qemu_machine *machine = &unit->machines[core];
    struct strobe_qemu_shared *shared = machine->shared;
    STROBE_ASSERT(!machine->is_running && machine->state == STROBE_QEMU_RUNS_ON);
    strobe_board_launch(&unit->board, &unit->board.cores[core], run, shared->rings);
    shared->runtime_id = run->runtime_id;
    shared->n_acquired = shared->n_committed = shared->n_waited = shared->n_released = 0;
    shared->n_unpacked = shared->n_used = 0;
    machine->go++;
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++)
        prepare_hart(unit, core, i, run);
    int brisc_first = machine->runs[0] && unit->board.risc_words; /* the classic form needs it */
    shared->begun = brisc_first ? machine->go - 1 : machine->go;
    for (uint32_t i = STROBE_QEMU_HARTS; i-- > 0;)
        if (machine->runs[i])
            strobe_qemu_store(&shared->harts[i].go, machine->go);
    machine->is_running = 1;
    strobe_qemu_machine_ring(machine);
}

/* Whether a core can be launched on. BUSY: it hung, or its process is gone. */
static enum strobe_err check_core(struct strobe_qemu_unit *unit, uint32_t core,
                                  const struct strobe_device_job *job, int *part, char *reason)
{
    struct strobe_board_core *is = &unit->board.cores[core];
    enum strobe_err err = strobe_board_takes_part(&unit->board, is, job, part, reason);
    if (err || !*part || strobe_qemu_machine_look(&unit->machines[core]))
        return err;
    is->hung = 1;
    snprintf(
        reason, STROBE_DEVICE_REASON_BYTES,
        "device %u, core %u,%u: its QEMU process was ended; strobe_device_reset starts another",
        unit->board.setup.index, is->x, is->y);
    unit->board.setup.warn(unit->board.setup.warn_context, reason);
    return STROBE_ERR_BUSY;
}

static uint64_t time_of(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

/* From the first hart's begin to the last one's end. */
static void set_span(const struct strobe_qemu_machine *machine, struct strobe_job_span *span)
{
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++) {
        const struct strobe_qemu_hart *hart = &machine->shared->harts[i];
        if (!machine->runs[i])
            continue;
        if (!span->start || time_of(hart->began) < span->start)
            span->start = time_of(hart->began);
        if (time_of(hart->ended) > span->end)
            span->end = time_of(hart->ended);
    }
}

static enum strobe_err run_cores(void *handle, const struct strobe_job_launch *run, char *reason)
{
    struct strobe_qemu_unit *unit = handle;
    int parts[STROBE_QEMU_MOST_CORES] = {0};
    enum strobe_err err = strobe_board_build_idle(&unit->board, reason);
    for (uint32_t i = 0; i < unit->board.n_cores && !err; i++)
        err = check_core(unit, i, run->job, &parts[i], reason);
    if (!err) {
        *reason = 0;
        for (uint32_t i = 0; i < unit->board.n_cores; i++)
            if (parts[i])
                launch_core(unit, i, run);
        err = strobe_qemu_serve(unit, reason);
    }
    for (uint32_t i = 0; i < unit->board.n_cores; i++) {
        struct strobe_qemu_machine *machine = &unit->machines[i];
        if (!err && parts[i]) {
            set_span(machine, run->span);
            if (run->span->end > machine->cycles_seen)
                machine->cycles_seen = run->span->end;
        }
        memset(machine->runs, 0, sizeof machine->runs);
    }
    unit->ended_ns = strobe_clock_mono_ns();
    strobe_board_after(&unit->board);
    return err;
}

/* ---- the host's other questions ---- */

static enum strobe_err read_clock(void *handle, uint32_t core, uint64_t *cycles,
                                  uint64_t *before_ns, uint64_t *after_ns)
{
    return strobe_qemu_clock_read(handle, core, cycles, before_ns, after_ns);
}

static uint64_t idle_since(void *handle)
{
    const struct strobe_qemu_unit *unit = handle;
    return unit->is_virtual ? unit->machines[0].cycles_seen + 1 : unit->ended_ns;
}

const struct strobe_device_backend *strobe_qemu_backend(void)
{
    static const struct strobe_device_backend backend = {
        .name = "qemu",
        .arch = STROBE_ARCH_RV32,
        .reference = 0,
        .open = open_cores,
        .close = close_cores,
        .run = run_cores,
        .clock = read_clock,
        .idle_since = idle_since,
        .reset = reset_cores,
        .firmware = strobe_board_firmware,
        STROBE_BOARD_CALLS,
    };
    return &backend;
}
