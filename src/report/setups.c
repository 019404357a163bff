/* setups.c - the analyses of the default setup and of the profiler's own tests.
 * SPDX-License-Identifier: MIT */
#include "report/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY_KERNEL                                                                             \
    "BRISC-KERNEL", "NCRISC-KERNEL", "TRISC-KERNEL", "ERISC-KERNEL", "TENSIX_RISC_AGG-KERNEL", \
        "DM-KERNEL"
#define ANY_FW "BRISC-FW", "NCRISC-FW", "TRISC-FW", "ERISC-FW", "TENSIX_RISC_AGG-FW", "DM-FW"
#define START  "ZONE_START"
#define END    "ZONE_END"

/* The same zones at both ends. */
#define BOTH(title, across, form, on, ...)                          \
    {                                                               \
        title, STROBE_REPORT_ACROSS_##across, STROBE_REPORT_##form, \
            {.names = {__VA_ARGS__}, .risc = on},                   \
        {                                                           \
            .names = {__VA_ARGS__}, .risc = on                      \
        }                                                           \
    }
#define LIST(title, across, form, ...)                              \
    {                                                               \
        title, STROBE_REPORT_ACROSS_##across, STROBE_REPORT_##form, \
            {.names = {__VA_ARGS__}, .risc = "ANY", .list = true},  \
        {                                                           \
            .names = {__VA_ARGS__}, .risc = "ANY", .list = true     \
        }                                                           \
    }
#define MARKER(title, across, form, on, ...)                        \
    {                                                               \
        title, STROBE_REPORT_ACROSS_##across, STROBE_REPORT_##form, \
            {.names = {__VA_ARGS__}, .risc = on},                   \
        {                                                           \
            .risc = NULL                                            \
        }                                                           \
    }
/* On each core, a zone's start and the next end; the matcher says nothing of the core. */
#define ZONE(title, on, zone)                                     \
    {                                                             \
        title, STROBE_REPORT_ACROSS_CORE, STROBE_REPORT_ADJACENT, \
            {.names = {zone}, .risc = on, .no_core = true},       \
        {                                                         \
            .names = {zone}, .risc = on, .no_core = true          \
        }                                                         \
    }
#define KERNEL(on, zone) BOTH(on " KERNEL_START->KERNEL_END", CORE, ADJACENT, on, zone)

static const struct strobe_report_analysis defaults[] = {
    BOTH("trace_fw_duration", OPS, FIRST_LAST, "TENSIX_RISC_AGG", "TRACE-FW"),
    BOTH("trace_kernel_duration", OPS, FIRST_LAST, "TENSIX_RISC_AGG", "TRACE-KERNEL"),
    {"trace2trace - FW",
     STROBE_REPORT_ACROSS_DEVICE,
     STROBE_REPORT_ADJACENT,
     {.names = {"TRACE-FW"}, .risc = "ANY", .phase = END},
     {.names = {"TRACE-FW"}, .risc = "ANY", .phase = START}},
    {"trace2trace - kernel",
     STROBE_REPORT_ACROSS_DEVICE,
     STROBE_REPORT_ADJACENT,
     {.names = {"TRACE-KERNEL"}, .risc = "ANY", .phase = END},
     {.names = {"TRACE-KERNEL"}, .risc = "ANY", .phase = START}},
    {"op2op",
     STROBE_REPORT_ACROSS_CORE,
     STROBE_REPORT_ADJACENT,
     {.names = {ANY_KERNEL}, .risc = "ANY", .phase = END, .list = true},
     {.names = {"BRISC-KERNEL", "NCRISC-KERNEL"}, .risc = "ANY", .phase = START, .list = true}},
    {"device_kernel_first_to_last_start",
     STROBE_REPORT_ACROSS_OPS,
     STROBE_REPORT_FIRST_LAST,
     {.names = {ANY_KERNEL}, .risc = "ANY", .phase = START, .list = true},
     {.names = {ANY_KERNEL}, .risc = "ANY", .phase = START, .list = true}},
    LIST("device_kernel_duration_per_core", OPS, CORE_FIRST_LAST, ANY_KERNEL),
    LIST("device_fw_duration", OPS, FIRST_LAST, ANY_FW),
    LIST("device_kernel_duration", OPS, FIRST_LAST, ANY_KERNEL),
    {"device_kernel_duration_dm_start",
     STROBE_REPORT_ACROSS_OPS,
     STROBE_REPORT_FIRST_LAST,
     {.names = {"BRISC-KERNEL", "NCRISC-KERNEL", "ERISC-KERNEL"}, .risc = "ANY", .list = true},
     {.names = {ANY_KERNEL}, .risc = "ANY", .list = true}},
    BOTH("device_brisc_kernel_duration", OPS, FIRST_LAST, "BRISC", "BRISC-KERNEL"),
    BOTH("device_ncrisc_kernel_duration", OPS, FIRST_LAST, "NCRISC", "NCRISC-KERNEL"),
    BOTH("device_trisc0_kernel_duration", OPS, FIRST_LAST, "TRISC_0", "TRISC-KERNEL"),
    BOTH("device_trisc1_kernel_duration", OPS, FIRST_LAST, "TRISC_1", "TRISC-KERNEL"),
    BOTH("device_trisc2_kernel_duration", OPS, FIRST_LAST, "TRISC_2", "TRISC-KERNEL"),
    BOTH("device_erisc_kernel_duration", OPS, FIRST_LAST, "ERISC", "ERISC-KERNEL"),
    MARKER("device_compute_cb_wait_front", OPS, SUM, "TRISC_0", "CB-COMPUTE-WAIT-FRONT"),
    MARKER("device_compute_cb_reserve_back", OPS, SUM, "TRISC_2", "CB-COMPUTE-RESERVE-BACK"),
    BOTH("dispatch_total_cq_cmd_op_time", DISPATCH, FIRST_LAST, "BRISC", "CQ_DISPATCH_*"),
    BOTH("dispatch_go_send_wait_time", DISPATCH, FIRST_LAST, "NCRISC",
         "CQ_DISPATCH_CMD_SEND_GO_SIGNAL"),
    MARKER("perf_counter_data", DEVICE, EVENT, "BRISC", NULL),
};

static const struct strobe_report_analysis events[] = {
    MARKER("erisc_events", DEVICE, EVENT, "ERISC", NULL),
    MARKER("all_events", DEVICE, EVENT, "ANY", NULL),
};

static const struct strobe_report_analysis kernels[] = {
    KERNEL("BRISC", "BRISC-KERNEL"),
    KERNEL("NCRISC", "NCRISC-KERNEL"),
    KERNEL("TRISC_0", "TRISC-KERNEL"),
    KERNEL("TRISC_1", "TRISC-KERNEL"),
    KERNEL("TRISC_2", "TRISC-KERNEL"),
    KERNEL("QUASAR_DM2", "DM-KERNEL"),
    KERNEL("QUASAR_DM3", "DM-KERNEL"),
    KERNEL("QUASAR_DM4", "DM-KERNEL"),
    KERNEL("QUASAR_DM5", "DM-KERNEL"),
    KERNEL("QUASAR_DM6", "DM-KERNEL"),
    KERNEL("QUASAR_DM7", "DM-KERNEL"),
    KERNEL("QUASAR_NEO0_TRISC0", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO0_TRISC1", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO0_TRISC2", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO0_TRISC3", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO1_TRISC0", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO1_TRISC1", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO1_TRISC2", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO1_TRISC3", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO2_TRISC0", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO2_TRISC1", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO2_TRISC2", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO2_TRISC3", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO3_TRISC0", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO3_TRISC1", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO3_TRISC2", "TRISC-KERNEL"),
    KERNEL("QUASAR_NEO3_TRISC3", "TRISC-KERNEL"),
};

static const struct strobe_report_analysis full_buffer[] = {
    ZONE("Marker Repeat", "ANY", "TEST-FULL"),
    ZONE("Marker Repeat ETH", "ERISC", "TEST-FULL"),
};

#define CMD "CQ-DISPATCH:0:CQ_DISPATCH_CMD_"
static const struct strobe_report_analysis dispatch_cores[] = {
    ZONE("Tensix CQ Dispatch Write Offset", "BRISC",
         CMD "SET_WRITE_OFFSET:0:CQ_DISPATCH_CMD_SET_WRITE_OFFSET"),
    ZONE("Tensix CQ Dispatch Terminate", "BRISC", CMD "TERMINATE"),
    ZONE("Tensix CQ Dispatch Wait", "BRISC", CMD "WAIT"),
    ZONE("Tensix CQ Dispatch Write Linear", "BRISC", CMD "WRITE_LINEAR"),
    ZONE("Tensix CQ Dispatch Write Linear H Host", "BRISC", CMD "WRITE_LINEAR_H_HOST"),
    ZONE("Tensix CQ Dispatch Write Packed Large Type Program Binaries", "BRISC",
         CMD "WRITE_PACKED_LARGE:0:CQ_DISPATCH_CMD_PACKED_WRITE_LARGE_TYPE_PROGRAM_BINARIES"),
    ZONE("Tensix CQ Dispatch Write Packed Flag Type Event", "BRISC",
         CMD "WRITE_PACKED:0:CQ_DISPATCH_CMD_PACKED_WRITE_FLAG_TYPE_EVENT"),
    ZONE("Tensix CQ Dispatch Write Packed Flag Type Launch", "BRISC",
         CMD "WRITE_PACKED:0:MCAST;CQ_DISPATCH_CMD_PACKED_WRITE_FLAG_TYPE_LAUNCH"),
    ZONE("Tensix CQ Dispatch Write Paged", "BRISC", CMD "WRITE_PAGED"),
    ZONE("Tensix CQ Dispatch Notify Subordinate Go Signal", "BRISC",
         "CQ-DISPATCH:0:CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL"),
    ZONE("Tensix CQ Prefetch", "BRISC", "CQ-PREFETCH"),
};

static const struct strobe_report_analysis ethernet[] = {
    ZONE("Ethernet CQ Dispatch", "ERISC", "CQ-DISPATCH"),
    ZONE("Ethernet CQ Prefetch", "ERISC", "CQ-PREFETCH"),
};

static const struct strobe_report_analysis noc[] = {ZONE("NoC For Loop", "NCRISC", "NOC-FOR-LOOP")};

#define OWN(list) list, sizeof list / sizeof list[0]
static const struct {
    const char *name;
    const struct strobe_report_analysis *own;
    size_t n;
    bool detect;
} setups[] = {
    {"default_setup", NULL, 0, true},
    {"test_timestamped_events", OWN(events), false},
    {"test_multi_op", kernels, 1, false},
    {"test_multi_op_buffer_overflow", kernels, 5, false},
    {"test_custom_cycle_count", OWN(kernels), false},
    {"test_custom_cycle_count_slow_dispatch", OWN(kernels), false},
    {"test_full_buffer", OWN(full_buffer), false},
    {"test_dispatch_cores", OWN(dispatch_cores), false},
    {"test_dispatch_cores_extended_worker", OWN(dispatch_cores), false},
    {"test_ethernet_dispatch_cores", OWN(ethernet), false},
    {"test_noc", OWN(noc), false},
};
enum {
    N_SETUPS = sizeof setups / sizeof setups[0],
    N_DEFAULTS = sizeof defaults / sizeof defaults[0]
};

const char *strobe_report_setup_name(int i)
{
    return i < N_SETUPS ? setups[i].name : NULL;
}

enum strobe_err strobe_report_setup_open(struct strobe_report_setup *setup, const char *name)
{
    *setup = (struct strobe_report_setup){0};
    int i = 0;
    while (i < N_SETUPS && strcmp(setups[i].name, name))
        i++;
    if (i == N_SETUPS)
        return STROBE_ERR_NOTFOUND;
    setup->name = setups[i].name;
    setup->detect = setups[i].detect;
    setup->analyses = malloc((setups[i].n + N_DEFAULTS) * sizeof *setup->analyses);
    if (!setup->analyses)
        return STROBE_ERR_NOMEM;
    for (size_t k = 0; k < setups[i].n; k++)
        setup->analyses[setup->n++] = &setups[i].own[k];
    for (size_t k = 0; k < N_DEFAULTS; k++)
        setup->analyses[setup->n++] = &defaults[k];
    return STROBE_OK;
}

void strobe_report_setup_close(struct strobe_report_setup *setup)
{
    free(setup->analyses);
    *setup = (struct strobe_report_setup){0};
}
