/* chosen_run.c - see the header.  SPDX-License-Identifier: MIT */
#include "cli/chosen_run.h"

#include <stdlib.h>

#include "cli/cli.h"

int strobe_cli_top_set(const char *command, const char *text, struct strobe_cli_top *top)
{
    char *end;
    top->n = strtoull(text, &end, 10);
    top->is_set = 1;
    if (*text >= '0' && *text <= '9' && !*end)
        return 1;
    strobe_cli_error(command, "--top wants a number, not '%s'", text);
    return 0;
}

uint64_t strobe_cli_top_of(const struct strobe_cli_top *top, int for_programs, uint64_t n)
{
    return (top->is_set || !for_programs) && n > top->n ? top->n : n;
}

int strobe_cli_chosen_run(const char *command, int argc, char **argv,
                          const struct strobe_cli_choice *choice, strobe_cli_chosen_work *work,
                          const void *settings)
{
    char room[STROBE_PATH_ROOM];
    const char *path;
    struct strobe_cli_chosen chosen;
    int code = STROBE_EXIT_FAILED;
    struct strobe_trace *trace = strobe_cli_open_named(command, argc, argv, room, &path);
    if (!trace)
        return code;
    if (strobe_cli_choose(command, trace, choice, &chosen))
        code = work(settings, trace, path, &chosen);
    strobe_cli_chosen_free(&chosen);
    strobe_trace_close(trace);
    return code;
}

static uint32_t functions(void *symbols, uint32_t process, uint64_t address, char *room,
                          size_t n_room)
{
    return strobe_symbols_functions(symbols, process, address, room, n_room);
}

struct strobe_heap_names strobe_cli_stack_names(struct strobe_symbols *symbols)
{
    return (struct strobe_heap_names){symbols, functions};
}
