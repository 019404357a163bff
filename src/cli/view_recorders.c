/* view_recorders.c - recordings that are begun from the viewer's start page: each is a `strobe record` of its own, so that
 * neither can harm the other.
 *
 *   WAITING (its client does not listen yet) ──► RECORDING ──► gone from the list when the process has ended
 *
 * SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "query/trace.h"

enum { RECORDERS_MAX = 16 };

struct recorder {
    pid_t pid;
    bool has_begun; /* its trace has a process */
    char what[300]; /* address or session, for people */
    char name[256]; /* of the trace */
};

struct strobe_view_recorders {
    const char *folder; /* borrowed */
    struct recorder rows[RECORDERS_MAX];
    uint32_t n;
};

struct strobe_view_recorders *strobe_view_recorders_open(const char *folder)
{
    struct strobe_view_recorders *recorders = calloc(1, sizeof *recorders);
    if (recorders)
        recorders->folder = folder;
    return recorders;
}

void strobe_view_recorders_close(struct strobe_view_recorders *recorders)
{
    for (uint32_t i = 0; recorders && i < recorders->n; i++)
        kill(recorders->rows[i].pid, SIGTERM);
    for (uint32_t i = 0; recorders && i < recorders->n; i++)
        while (waitpid(recorders->rows[i].pid, NULL, 0) < 0 && errno == EINTR)
            ;
    free(recorders);
}

/* ---- beginning ---- */

/* HOST:PORT with nothing in it that could mean anything else. */
static bool is_address(const char *text)
{
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || text[0] == '-' || strlen(text) > 200)
        return false;
    for (const char *at = text; at < colon; at++)
        if (!isalnum((unsigned char)*at) && !strchr(".-_:[]", *at))
            return false;
    size_t n = strspn(colon + 1, "0123456789");
    return n >= 1 && n <= 5 && !colon[1 + n] && atoi(colon + 1) >= 1 && atoi(colon + 1) <= 65535;
}

static bool is_session(const char *text)
{
    size_t n = strlen(text);
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(".-_", *at))
            return false;
    return n >= 1 && n <= 60 && text[0] != '-' && text[0] != '.';
}

static void name_trace(struct recorder *recorder, const char *prefix)
{
    char when[32];
    time_t now = time(NULL);
    struct tm local;
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    snprintf(recorder->name, sizeof recorder->name, "%s%.200s-%s.strobe", prefix, recorder->what,
             when);
    for (char *at = recorder->name; *at; at++)
        if (strchr("[]:", *at))
            *at = '-';
}

static bool is_taken(const struct strobe_view_recorders *recorders, const char *what)
{
    for (uint32_t i = 0; i < recorders->n; i++)
        if (!strcmp(recorders->rows[i].what, what))
            return true;
    return false;
}

bool strobe_view_recorders_begin(struct strobe_view_recorders *recorders, const char *tracy,
                                 const char *session, char *name, size_t n_name, char *why,
                                 size_t n_why)
{
    char path[4500];
    struct recorder recorder = {0};
    const char *what = *tracy ? tracy : session, *problem = NULL;
    if (*tracy ? !is_address(tracy) : !is_session(session))
        problem = *tracy ? "that is no address: HOST:PORT" : "that is no session";
    else if (is_taken(recorders, what))
        problem = "that is being recorded already";
    else if (recorders->n == RECORDERS_MAX)
        problem = "too many recordings at the same time";
    if (!problem) {
        snprintf(recorder.what, sizeof recorder.what, "%s", what);
        name_trace(&recorder, *tracy ? "tracy-" : "");
        snprintf(path, sizeof path, "%s/%s", recorders->folder, recorder.name);
        const char *const words[] = {"strobe", "record",
                                     "-q",     "-o",
                                     path,     "--tracy-announced",
                                     "none",   *tracy ? "--tracy" : "--session",
                                     what,     NULL};
        recorder.pid = strobe_view_spawn(words, -1);
        problem = recorder.pid < 0 ? "the recorder could not be started" : NULL;
    }
    if (problem) {
        snprintf(why, n_why, "%s", problem);
        return false;
    }
    recorders->rows[recorders->n++] = recorder;
    snprintf(name, n_name, "%s", recorder.name);
    return true;
}

/* ---- watching ---- */

bool strobe_view_recorders_stop(struct strobe_view_recorders *recorders, const char *name)
{
    for (uint32_t i = 0; i < recorders->n; i++)
        if (!strcmp(recorders->rows[i].name, name))
            return !kill(recorders->rows[i].pid, SIGINT);
    return false;
}

/* Somebody is in its trace. */
static bool has_process(const struct strobe_view_recorders *recorders,
                        const struct recorder *recorder)
{
    char path[4500];
    struct strobe_trace *trace = NULL;
    snprintf(path, sizeof path, "%s/%s", recorders->folder, recorder->name);
    bool has = strobe_trace_open(path, 0, &trace) == STROBE_OK && trace->n_processes > 0;
    strobe_trace_close(trace);
    return has;
}

bool strobe_view_recorders_look(struct strobe_view_recorders *recorders)
{
    bool has_changed = false;
    for (uint32_t i = recorders->n; i-- > 0;) {
        struct recorder *recorder = &recorders->rows[i];
        if (waitpid(recorder->pid, NULL, WNOHANG) == recorder->pid) {
            *recorder = recorders->rows[--recorders->n];
            has_changed = true;
        } else if (!recorder->has_begun && has_process(recorders, recorder)) {
            recorder->has_begun = has_changed = true;
        }
    }
    return has_changed;
}

void strobe_view_put_recordings(const struct strobe_view_recorders *recorders,
                                struct strobe_reply *reply)
{
    strobe_reply_open(reply, "recordings", '[');
    for (uint32_t i = 0; i < recorders->n; i++) {
        strobe_reply_open(reply, "", '{');
        strobe_reply_string(reply, "name", recorders->rows[i].name);
        strobe_reply_string(reply, "what", recorders->rows[i].what);
        strobe_reply_bool(reply, "waiting", !recorders->rows[i].has_begun);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}
