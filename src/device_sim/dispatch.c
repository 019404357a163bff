/* dispatch.c - see the header. Numbers of commands: device_files/dispatch.c has their names.  SPDX-License-Identifier: MIT */
#include "device_sim/dispatch.h"

#include "base/assert.h"
#include "device_sim/internal.h"

static const char text[] =
    "#include <tools/profiler/kernel_profiler.hpp>\n"
    "#include \"dataflow_api.h\"\n"
    "#if STROBE_SIM_RISC == 0\n"
    "#define COMMAND_ZONE \"CQ-DISPATCH\"\n"
    "#else\n"
    "#define COMMAND_ZONE \"CQ-DISPATCH-SUBORDINATE\"\n"
    "#endif\n"
    "static void command(uint32_t type, uint32_t cycles, bool is_first = false) {\n"
    "  DeviceZoneScopedN(COMMAND_ZONE);\n"
    "  DeviceTimestampedData(\"process_cmd_d_dispatch\", type);\n"
    "  if (is_first)\n" /* it names the program for all up to the go signal */
    "    DeviceTimestampedData(\"runtime_host_id_dispatch\", get_arg_val<uint32_t>(0));\n"
    "  strobe_sim_self->now += cycles; }\n"
    "void kernel_main() {\n"
    "#if STROBE_SIM_RISC == 0\n"
    "  command(6, 32 + 64 * get_arg_val<uint32_t>(2), true);\n" /* binaries */
    "  command(5, 16 + get_arg_val<uint32_t>(1));\n"            /* arguments */
    "  command(15, 8);\n"
    "#else\n"
    "  command(14, 8 + 4 * get_arg_val<uint32_t>(3));\n"
    "#endif\n"
    "}\n";

static struct strobe_sim_core *find_core(struct strobe_sim_unit *unit)
{
    for (uint32_t i = 0; i < unit->board.n_cores; i++)
        if (unit->cores[i].is->kind == STROBE_CORE_DISPATCH)
            return &unit->cores[i];
    return NULL;
}

static enum strobe_err build(struct strobe_sim_dispatch *dispatch,
                             const struct strobe_recipe *recipe, char *reason)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t risc = 0; risc < STROBE_SIM_DISPATCH_RISCS && !err; risc++)
        if (!dispatch->kernels[risc])
            err =
                strobe_recipe_build(recipe,
                                    &(struct strobe_device_source){
                                        .kernel = {.name = "dispatch", .text = text}, .risc = risc},
                                    &dispatch->kernels[risc], reason);
    return err;
}

static void set_args(struct strobe_sim_dispatch *dispatch, const struct strobe_job_launch *run,
                     uint32_t n_cores)
{
    uint32_t n_words = 0;
    for (uint32_t i = 0; i < run->job->n_args; i++)
        n_words += run->job->args[i].n;
    dispatch->args[0] = run->runtime_id;
    dispatch->args[1] = n_words;
    dispatch->args[2] = run->job->n_kernels;
    dispatch->args[3] = n_cores;
}

enum strobe_err strobe_sim_dispatch_launch(struct strobe_sim_dispatch *dispatch,
                                           struct strobe_sim_unit *unit,
                                           const struct strobe_job_launch *run, uint64_t at,
                                           char *reason)
{
    struct strobe_sim_core *core = find_core(unit);
    if (!(unit->board.setup.options.record & STROBE_DEVICE_RECORD_DISPATCH) || !core ||
        core->is->hung || unit->board.setup.options.mode == STROBE_DEVICE_MODE_OFF)
        return STROBE_OK;
    enum strobe_err err = build(dispatch, &unit->board.recipe, reason);
    if (err)
        return err;
    struct strobe_l1_core *facts = strobe_board_facts(core->is);
    facts->program = 0;
    facts->launch++;
    set_args(dispatch, run, unit->board.n_workers);
    for (uint32_t risc = 0; risc < STROBE_SIM_DISPATCH_RISCS; risc++) {
        struct strobe_sim_lane *lane = &core->lanes[risc];
        if (!lane->fiber.mapping && strobe_sim_fiber_open(&lane->fiber))
            return STROBE_ERR_NOMEM;
        STROBE_ASSERT(dispatch->kernels[risc]);
        lane->hot.args = dispatch->args;
        lane->hot.n_args = 4;
        lane->hot.common_args = NULL;
        lane->hot.n_common_args = 0;
        lane->hot.replayed = 0;
        lane->hot.runtime_id = 0;
        strobe_sim_lane_launch(lane, dispatch->kernels[risc],
                               strobe_recipe_code(dispatch->kernels[risc]), at);
    }
    return STROBE_OK;
}

void strobe_sim_dispatch_close(struct strobe_sim_dispatch *dispatch)
{
    for (uint32_t risc = 0; risc < STROBE_SIM_DISPATCH_RISCS; risc++)
        strobe_recipe_unbuild(dispatch->kernels[risc]);
}
