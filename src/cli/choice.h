/* choice.h - which part of a trace a command is about: a time, processes, devices, cores. The options are the same wherever they are.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_CHOICE_H
#define STROBE_CLI_CHOICE_H

#include "cli/input.h"

enum {
    STROBE_CLI_RANGE = 1024, /* from here on: values of struct option */
    STROBE_CLI_PROCESS,
    STROBE_CLI_DEVICE,
    STROBE_CLI_CORE,
    STROBE_CLI_FROM,
    STROBE_CLI_TO,
};

/* Of a command's own list. */
#define STROBE_CLI_CHOICE_OPTIONS                                                   \
    {"range", 1, NULL, STROBE_CLI_RANGE}, {"process", 1, NULL, STROBE_CLI_PROCESS}, \
        {"device", 1, NULL, STROBE_CLI_DEVICE}, {"core", 1, NULL, STROBE_CLI_CORE}, \
        {"from-signpost", 1, NULL, STROBE_CLI_FROM},                                \
    {                                                                               \
        "to-signpost", 1, NULL, STROBE_CLI_TO                                       \
    }

/* Of a command's own help. */
#define STROBE_CLI_CHOICE_HELP                                                                    \
    "  --device N      of device N; 0..3: of these\n"                                             \
    "  --core X,Y      of a device's core, by its logical place; 0..3,2: of a row's first four\n" \
    "  --from-signpost NAME, --to-signpost NAME\n"                                                \
    "                  what begins behind the first signpost of that name, and before the next\n"

struct strobe_cli_numbers {
    uint32_t first, last; /* inclusive */
};

/* All zero: all of the trace. */
struct strobe_cli_choice {
    const char *process, *from_signpost, *to_signpost; /* borrowed: of the command line */
    struct strobe_cli_range range;
    int by_device, by_core;
    struct strobe_cli_numbers device, x, y;
};

/* One of the options, as getopt_long gave it. 1: it is set; 0: it is wrong, and that was printed; -1: it is none of them. */
int strobe_cli_choice_set(const char *command, int option, const char *text,
                          struct strobe_cli_choice *choice);

/* What was chosen, by index. */
struct strobe_cli_chosen {
    uint8_t *processes; /* owned: n_processes, 0: left out; NULL: all */
    uint8_t *threads;   /* owned: n_threads, 0: left out; NULL: all */
    uint32_t n_processes, n_threads;
    int by_tick;
    uint64_t tick_min, tick_max; /* inclusive */
};

/* 0: nothing of the trace is like that, and that was printed. The caller frees it in any case. */
int strobe_cli_choose(const char *command, struct strobe_trace *trace,
                      const struct strobe_cli_choice *choice, struct strobe_cli_chosen *out);
void strobe_cli_chosen_free(struct strobe_cli_chosen *chosen);

#endif
