/* answers.c - a trace and the files around it.  SPDX-License-Identifier: MIT */
#include "serve/answers.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "query/cut.h"
#include "query/source_files.h"
#include "query/symbols.h"
#include "serve/guard.h"

/* ---- the engine's host ---- */

/* It has no end yet, and was written a moment ago. */
static int is_live(void *context, const struct strobe_trace *trace)
{
    const struct strobe_served *served = context;
    struct stat st;
    return !strobe_file_facts(trace->file)->closed && !stat(served->path, &st) &&
           time(NULL) - st.st_mtime < 10;
}

static char *read_source(void *context, const struct strobe_trace *trace, const char *path,
                         size_t *n, const char **why)
{
    (void)context;
    return strobe_source_file_read(trace, path, n, why);
}

/* Names come at a recording's end, and not all of them are found then: what the trace does not name is looked up in the files of this machine, by
 * build id, as the commands do. */
static uint32_t name_address(void *context, uint32_t process, uint64_t address, char *room,
                             size_t n_room)
{
    struct strobe_served *served = context;
    if (!served->symbols)
        served->symbols = strobe_symbols_open(served->engine->trace);
    return served->symbols
               ? strobe_symbols_functions(served->symbols, process, address, room, n_room)
               : 0;
}

enum strobe_err strobe_served_open(const char *path, const char *folder, struct strobe_served *out)
{
    struct strobe_trace *trace;
    const char *slash = strrchr(path, '/');
    *out = (struct strobe_served){.path = path, .folder = folder};
    out->host = (struct strobe_engine_host){is_live, read_source, name_address, out};
    enum strobe_err err = strobe_trace_open(path, 0, &trace);
    if (!err)
        err = strobe_engine_open(trace, slash ? slash + 1 : path, &out->engine);
    if (!err)
        out->engine->host = &out->host;
    return err;
}

void strobe_served_close(struct strobe_served *served)
{
    strobe_symbols_close(served->symbols);
    served->symbols = NULL;
    strobe_engine_close(served->engine);
    served->engine = NULL;
}

/* ---- saving ---- */

void strobe_serve_answer_save(struct strobe_served *served, const struct strobe_json *question,
                              struct strobe_reply *reply)
{
    char name[300], path[4500];
    uint64_t lo, hi, n_bytes = 0;
    size_t n =
        strobe_json_text(question, strobe_json_member(question, 0, "name"), name, sizeof name);
    if (!strobe_guard_is_trace_name(name) || n < 8 || strcmp(name + n - 7, ".strobe")) {
        strobe_engine_answer_error(reply,
                                   "a trace's name has no folders in it, and ends in .strobe");
        return;
    }
    strobe_engine_range(served->engine, question, &lo, &hi);
    snprintf(path, sizeof path, "%s/%s", served->folder, name);
    const struct strobe_cut_options range = {
        .by_tick = 1, .tick_min = lo, .tick_max = hi, .closed = 1};
    enum strobe_err err = strobe_cut_write(served->engine->view->trace, &range, path, &n_bytes);
    if (err) {
        strobe_engine_answer_error(reply, err == STROBE_ERR_BUSY ? "there is a trace of that name"
                                                                 : strobe_err_text(err));
        return;
    }
    strobe_reply_string(reply, "name", name);
    strobe_reply_u64(reply, "bytes", n_bytes);
}

/* ---- questions ---- */

static const struct {
    const char *ask;
    void (*answer)(struct strobe_served *, const struct strobe_json *, struct strobe_reply *);
} answers[] = {{"save", strobe_serve_answer_save},
               {"notes", strobe_serve_answer_notes}}; /* slow ones */

/* The index of an own question, -1: it is the engine's. */
static int find_own(const struct strobe_json *question)
{
    uint32_t ask = strobe_json_member(question, 0, "ask");
    for (size_t i = 0; ask && i < sizeof answers / sizeof answers[0]; i++)
        if (strobe_json_is(question, ask, answers[i].ask))
            return (int)i;
    return -1;
}

int strobe_served_is_slow(const struct strobe_json *question)
{
    return find_own(question) >= 0 || strobe_engine_is_slow(question);
}

void strobe_served_answer(struct strobe_served *served, const struct strobe_json *question,
                          struct strobe_reply *reply)
{
    int own = find_own(question);
    if (own >= 0)
        answers[own].answer(served, question, reply);
    else
        strobe_engine_answer(served->engine, question, reply);
}
