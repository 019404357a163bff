/* server_acts.c - what the start page shows and does: traces of the folder, sessions, clients; recording, stopping, deleting.
 * What needs processes is done by the options' functions: nothing is started here.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "serve/server_parts.h"

/* ---- the folder ---- */

static void tell_traces(struct strobe_server *server)
{
    for (struct strobe_page *page = server->pages; page; page = page->next) {
        struct strobe_reply reply = {0};
        strobe_reply_string(&reply, "tell", "traces");
        strobe_page_send(page, 0, &reply);
    }
}

void strobe_server_look(struct strobe_server *server)
{
    const struct strobe_server_options *options = &server->options;
    struct stat st;
    if (!server->pages || stat(options->folder, &st))
        return;
    int64_t mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    int has_news = options->look && options->look(options->context);
    if (has_news || (server->folder_mtime && mtime != server->folder_mtime))
        tell_traces(server);
    server->folder_mtime = mtime;
}

/* ---- acts ---- */

static void answer_traces(struct strobe_server *server, struct strobe_reply *reply)
{
    char mtime[32];
    strobe_folder_list(server->options.folder, &server->folder);
    strobe_reply_string(reply, "folder", server->options.folder);
    strobe_reply_open(reply, "traces", '[');
    for (uint32_t i = 0; i < server->folder.n_files; i++) {
        const struct strobe_folder_file *file = &server->folder.files[i];
        snprintf(mtime, sizeof mtime, "%lld", (long long)file->mtime_ns);
        strobe_reply_open(reply, "", '{');
        strobe_reply_string(reply, "name", file->name);
        strobe_reply_u64(reply, "bytes", file->n_bytes);
        strobe_reply_string(reply, "mtime_ns", mtime);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
    if (server->options.trace)
        strobe_reply_string(reply, "trace", server->options.trace);
    strobe_reply_bool(reply, "can_stop", server->options.can_stop);
    if (server->options.put_sessions)
        server->options.put_sessions(server->options.context, reply);
}

static void answer_delete(struct strobe_server *server, struct strobe_reply *reply)
{
    char name[512];
    strobe_json_text(&server->json, strobe_json_member(&server->json, 0, "name"), name,
                     sizeof name);
    enum strobe_err err = strobe_guard_is_trace_name(name)
                              ? strobe_folder_delete(server->options.folder, name)
                              : STROBE_ERR_INVALID;
    if (err)
        strobe_reply_string(reply, "error", strobe_err_text(err));
    else
        strobe_reply_bool(reply, "deleted", 1);
}

/* The whole recording, or one that was begun from the start page. */
static void answer_stop(struct strobe_server *server, struct strobe_reply *reply)
{
    char name[512];
    size_t n = strobe_json_text(&server->json, strobe_json_member(&server->json, 0, "name"), name,
                                sizeof name);
    const struct strobe_server_options *options = &server->options;
    if (options->stop && options->stop(options->context, n ? name : NULL))
        strobe_reply_bool(reply, "stopped", 1);
    else
        strobe_reply_string(reply, "error", "nothing is being recorded by this server");
}

static void answer_record(struct strobe_server *server, struct strobe_reply *reply)
{
    const struct strobe_json *json = &server->json;
    char tracy[256], session[256], name[256] = "", why[256] = "it can't be recorded from here";
    strobe_json_text(json, strobe_json_member(json, 0, "tracy"), tracy, sizeof tracy);
    strobe_json_text(json, strobe_json_member(json, 0, "session"), session, sizeof session);
    const struct strobe_server_options *options = &server->options;
    if (options->record &&
        options->record(options->context, tracy, session, name, sizeof name, why, sizeof why))
        strobe_reply_string(reply, "name", name);
    else
        strobe_reply_string(reply, "error", why);
}

static void answer_ping(struct strobe_server *server, struct strobe_reply *reply)
{
    (void)server;
    strobe_reply_bool(reply, "here", 1);
}

static const struct {
    const char *ask;
    void (*answer)(struct strobe_server *, struct strobe_reply *);
} acts[] = {
    {"traces", answer_traces}, {"delete", answer_delete}, {"stop", answer_stop},
    {"record", answer_record}, {"ping", answer_ping},
};

int strobe_page_act(struct strobe_server *server, struct strobe_page *page)
{
    const struct strobe_json *json = &server->json;
    uint32_t ask = strobe_json_member(json, 0, "ask");
    uint32_t id =
        (uint32_t)strobe_json_count(json, strobe_json_member(json, 0, "id"), 0, UINT32_MAX);
    size_t i = 0, n = sizeof acts / sizeof acts[0];
    struct strobe_reply reply = {0};
    while (i < n && !strobe_json_is(json, ask, acts[i].ask))
        i++;
    if (i == n && (page->trace || page->import))
        return 0;
    strobe_reply_u64(&reply, "id", id);
    if (i < n)
        acts[i].answer(server, &reply);
    else
        strobe_reply_string(&reply, "error", "no trace was chosen");
    strobe_page_send(page, id, &reply);
    return 1;
}
