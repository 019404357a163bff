/* choice.c - see the header. Signposts are messages: they are looked for in one pass over the events.  SPDX-License-Identifier: MIT */
#include "cli/choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "cli/cli.h"
#include "query/regions.h"
#include "query/walk.h"

/* ---- the command line ---- */

/* "3" or "0..3", up to `end`. 0: it is neither. */
static int read_numbers(const char *text, const char *end, struct strobe_cli_numbers *out)
{
    uint32_t *const to[] = {&out->first, &out->last};
    for (int i = 0; i < 2; i++) {
        size_t n = strspn(text, "0123456789");
        if (!n || n > 9)
            return 0;
        *to[i] = (uint32_t)strtoul(text, NULL, 10);
        text += n;
        if (i == 0 && text == end) {
            out->last = out->first;
            return 1;
        }
        if (i == 0 && strncmp(text, "..", 2) != 0)
            return 0;
        text += i == 0 ? 2 : 0;
    }
    return text == end && out->first <= out->last;
}

static int read_core(const char *text, struct strobe_cli_choice *choice)
{
    const char *comma = strchr(text, ',');
    choice->by_core = 1;
    return comma && read_numbers(text, comma, &choice->x) &&
           read_numbers(comma + 1, comma + strlen(comma), &choice->y);
}

int strobe_cli_choice_set(const char *command, int option, const char *text,
                          struct strobe_cli_choice *choice)
{
    const char *is_no = NULL;
    switch (option) {
    case STROBE_CLI_RANGE:
        is_no = strobe_cli_read_range(text, &choice->range) ? NULL : "range; try 1.5s..2s";
        break;
    case STROBE_CLI_PROCESS:
        choice->process = text;
        break;
    case STROBE_CLI_DEVICE:
        choice->by_device = 1;
        if (!read_numbers(text, text + strlen(text), &choice->device))
            is_no = "number of a device; try 0 or 0..3";
        break;
    case STROBE_CLI_CORE:
        is_no = read_core(text, choice) ? NULL : "core; try 1,2 or 0..3,0..1";
        break;
    case STROBE_CLI_FROM:
        choice->from_signpost = text;
        break;
    case STROBE_CLI_TO:
        choice->to_signpost = text;
        break;
    default:
        return -1;
    }
    if (is_no)
        strobe_cli_error(command, "'%s' is no %s", text, is_no);
    return !is_no;
}

/* ---- signposts ---- */

struct signposts {
    const struct strobe_cli_choice *choice;
    uint64_t from; /* the first that was asked for; UINT64_MAX: none */
    uint64_t *to;  /* owned: all that may end it, in no order */
    uint32_t n_to, room;
};

static enum strobe_err see_message(void *context, const struct strobe_happening *happening)
{
    struct signposts *posts = context;
    const struct strobe_event *event = happening->event;
    char name[STROBE_NAME_ROOM * 4];
    uint64_t n;
    const char *header = strobe_region_signpost(event, &n);
    if (!header)
        return STROBE_OK;
    n = n < sizeof name ? n : sizeof name - 1;
    memcpy(name, header, (size_t)n);
    name[n] = 0;
    const struct strobe_cli_choice *choice = posts->choice;
    if (choice->from_signpost && strobe_glob_fits(choice->from_signpost, name) &&
        event->tick < posts->from)
        posts->from = event->tick;
    if (choice->to_signpost && strobe_glob_fits(choice->to_signpost, name)) {
        uint64_t *to = STROBE_ARRAY_PUSH(posts->to, posts->n_to, posts->room);
        if (!to)
            return STROBE_ERR_NOMEM;
        *to = event->tick;
    }
    return STROBE_OK;
}

static int no_signpost(const char *command, const char *name, const char *where)
{
    strobe_cli_error(command,
                     "no signpost of this trace is called '%s'%s; 'strobe csv --kind messages' "
                     "lists them",
                     name, where);
    return 0;
}

/* The stretch between the signposts, within what is chosen already. 0: there is none. */
static int choose_stretch(const char *command, struct strobe_trace *trace,
                          const struct strobe_cli_choice *choice, struct strobe_cli_chosen *out)
{
    struct signposts posts = {.choice = choice, .from = UINT64_MAX};
    struct strobe_walk walk = {.trace = trace,
                               .context = &posts,
                               .happens = see_message,
                               .kinds = 1ull << STROBE_KIND_MESSAGE};
    uint64_t to = UINT64_MAX;
    enum strobe_err err = strobe_walk_run(&walk);
    for (uint32_t i = 0; i < posts.n_to; i++)
        if (posts.to[i] < to && (!choice->from_signpost || posts.to[i] > posts.from))
            to = posts.to[i];
    free(posts.to);
    if (err) {
        strobe_cli_error(command, "the signposts can't be read: %s", strobe_err_text(err));
        return 0;
    }
    if (choice->from_signpost && posts.from == UINT64_MAX)
        return no_signpost(command, choice->from_signpost, "");
    if (choice->to_signpost && to == UINT64_MAX)
        return no_signpost(command, choice->to_signpost,
                           choice->from_signpost ? " behind the one of --from-signpost" : "");
    if (choice->from_signpost && posts.from > out->tick_min)
        out->tick_min = posts.from;
    if (choice->to_signpost && to - 1 < out->tick_max)
        out->tick_max = to ? to - 1 : 0;
    return 1;
}

/* ---- devices and cores ---- */

static int is_in(const struct strobe_cli_numbers *numbers, uint32_t number)
{
    return number >= numbers->first && number <= numbers->last;
}

/* Leave out all processes but the devices; those of before that are none, too. The number that stays. */
static uint32_t keep_devices(const struct strobe_trace *trace,
                             const struct strobe_cli_choice *choice, uint8_t *processes)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *process = &trace->processes[i];
        processes[i] &=
            process->is_device && (!choice->by_device || is_in(&choice->device, process->device));
        n += processes[i];
    }
    return n;
}

static uint32_t keep_cores(const struct strobe_trace *trace, const struct strobe_cli_choice *choice,
                           const uint8_t *processes, uint8_t *threads)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[i];
        threads[i] = thread->is_lane && thread->process < trace->n_processes &&
                     processes[thread->process] && is_in(&choice->x, thread->logical_x) &&
                     is_in(&choice->y, thread->logical_y);
        n += threads[i];
    }
    return n;
}

static int choose_devices(const char *command, const struct strobe_trace *trace,
                          const struct strobe_cli_choice *choice, struct strobe_cli_chosen *out)
{
    if (!out->processes) {
        out->processes = malloc(trace->n_processes + 1u);
        if (out->processes)
            memset(out->processes, 1, trace->n_processes);
    }
    if (choice->by_core)
        out->threads = calloc(trace->thread_ids.n + 1u, 1);
    if (!out->processes || (choice->by_core && !out->threads)) {
        strobe_cli_error(command, "%s", strobe_err_text(STROBE_ERR_NOMEM));
        return 0;
    }
    if (!keep_devices(trace, choice, out->processes)) {
        strobe_cli_error(command, "this trace has no such device; 'strobe info' lists what it has");
        return 0;
    }
    out->n_threads = choice->by_core ? trace->thread_ids.n : 0;
    if (choice->by_core && !keep_cores(trace, choice, out->processes, out->threads)) {
        strobe_cli_error(command, "no such core ran; 'strobe csv --kind threads' lists those that "
                                  "did");
        return 0;
    }
    return 1;
}

int strobe_cli_choose(const char *command, struct strobe_trace *trace,
                      const struct strobe_cli_choice *choice, struct strobe_cli_chosen *out)
{
    *out = (struct strobe_cli_chosen){.n_processes = trace->n_processes, .tick_max = UINT64_MAX};
    out->by_tick = choice->range.is_set || choice->from_signpost || choice->to_signpost;
    if (choice->range.is_set)
        strobe_cli_range_ticks(trace, &choice->range, &out->tick_min, &out->tick_max);
    if (choice->process &&
        !(out->processes = strobe_cli_pick_processes(command, trace, choice->process)))
        return 0;
    if ((choice->from_signpost || choice->to_signpost) &&
        !choose_stretch(command, trace, choice, out))
        return 0;
    return !(choice->by_device || choice->by_core) || choose_devices(command, trace, choice, out);
}

void strobe_cli_chosen_free(struct strobe_cli_chosen *chosen)
{
    free(chosen->processes);
    free(chosen->threads);
    *chosen = (struct strobe_cli_chosen){0};
}
