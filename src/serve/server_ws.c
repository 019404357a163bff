/* server_ws.c - pages: their questions to the desk, its answers to them, and acts.
 * A page that does not read gets no more than STROBE_SERVER_MAX_UNSENT bytes; one that sends what is no question is let go.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "serve/server_parts.h"

/* ---- frames ---- */

static void free_frame(struct strobe_frame *frame)
{
    free(frame->bytes);
    free(frame);
}

/* Give a frame to a page; it owns it now. */
static void queue_frame(struct strobe_page *page, struct strobe_frame *frame)
{
    frame->next = NULL;
    if (page->last)
        page->last->next = frame;
    else
        page->first = frame;
    page->last = frame;
    page->n_unsent += frame->n_bytes;
    if (page->n_unsent > STROBE_SERVER_MAX_UNSENT) {
        lws_set_timeout(page->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        return;
    }
    lws_callback_on_writable(page->wsi);
}

static struct strobe_frame *copy_frame(const struct strobe_frame *frame)
{
    struct strobe_frame *copy = malloc(sizeof *copy);
    uint8_t *bytes = malloc(LWS_PRE + frame->n_bytes);
    if (!copy || !bytes) {
        free(copy);
        free(bytes);
        return NULL;
    }
    memcpy(bytes + LWS_PRE, frame->bytes + LWS_PRE, frame->n_bytes);
    *copy = (struct strobe_frame){.bytes = bytes, .n_bytes = frame->n_bytes};
    return copy;
}

static void deliver(struct strobe_server *server, struct strobe_frame *frame)
{
    for (struct strobe_page *page = server->pages; page; page = page->next) {
        if (page->trace != frame->trace || (frame->who && frame->who != page->who))
            continue;
        if (frame->who) {
            queue_frame(page, frame);
            return;
        }
        struct strobe_frame *copy = copy_frame(frame);
        if (copy)
            queue_frame(page, copy);
    }
    free_frame(frame);
}

void strobe_server_deliver(struct strobe_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct strobe_frame *newest = server->outbox, *oldest = NULL;
    server->outbox = NULL;
    pthread_mutex_unlock(&server->lock);
    while (newest) { /* turn them round */
        struct strobe_frame *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct strobe_frame *next = oldest->next;
        deliver(server, oldest);
        oldest = next;
    }
}

static void send_reply(struct strobe_page *page, uint32_t id, struct strobe_reply *reply)
{
    struct strobe_frame *frame = calloc(1, sizeof *frame);
    if (frame)
        frame->bytes = strobe_reply_frame(reply, id, LWS_PRE, &frame->n_bytes);
    if (frame && frame->bytes)
        queue_frame(page, frame);
    else
        free(frame);
    strobe_reply_free(reply);
}

/* ---- the folder ---- */

static void tell_traces(struct strobe_server *server)
{
    for (struct strobe_page *page = server->pages; page; page = page->next) {
        struct strobe_reply reply = {0};
        strobe_reply_string(&reply, "tell", "traces");
        send_reply(page, 0, &reply);
    }
}

void strobe_server_look(struct strobe_server *server)
{
    struct stat st;
    if (!server->pages || stat(server->options.folder, &st))
        return;
    int64_t mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (server->folder_mtime && mtime != server->folder_mtime)
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
    strobe_reply_bool(reply, "can_stop", server->options.stop != NULL);
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

/* 1: the question was an act, and is answered. */
static int answer_act(struct strobe_server *server, struct strobe_page *page)
{
    const struct strobe_json *json = &server->json;
    uint32_t ask = strobe_json_member(json, 0, "ask");
    uint32_t id =
        (uint32_t)strobe_json_count(json, strobe_json_member(json, 0, "id"), 0, UINT32_MAX);
    struct strobe_reply reply = {0};
    strobe_reply_u64(&reply, "id", id);
    if (strobe_json_is(json, ask, "traces"))
        answer_traces(server, &reply);
    else if (strobe_json_is(json, ask, "delete"))
        answer_delete(server, &reply);
    else if (strobe_json_is(json, ask, "stop") && server->options.stop) {
        server->options.stop(server->options.context);
        strobe_reply_bool(&reply, "stopped", 1);
    } else if (strobe_json_is(json, ask, "stop"))
        strobe_reply_string(&reply, "error", "nothing is being recorded by this server");
    else if (!page->trace)
        strobe_reply_string(&reply, "error", "no trace was chosen");
    else {
        strobe_reply_free(&reply);
        return 0;
    }
    send_reply(page, id, &reply);
    return 1;
}

/* ---- connections ---- */

/* The file that a page wants; 0: none, or one that may not be. */
static int path_of(struct strobe_server *server, struct lws *wsi, char *out, size_t room)
{
    char arg[300];
    const char *name = strobe_server_argument(wsi, "trace", arg, sizeof arg);
    if (!name || !*name)
        name = server->options.trace;
    if (!name || !strobe_guard_is_trace_name(name))
        return 0;
    return (size_t)snprintf(out, room, "%s/%s", server->options.folder, name) < room;
}

static void tell_gone(struct strobe_page *page, const char *why)
{
    struct strobe_reply reply = {0};
    strobe_reply_string(&reply, "tell", "gone");
    strobe_reply_string(&reply, "why", why);
    send_reply(page, 0, &reply);
}

/* Files of other profilers become traces first. */
static int convert(struct strobe_server *server, char *path, size_t room)
{
    char made[4096];
    size_t n = strlen(path);
    if (n > 7 && !strcmp(path + n - 7, ".strobe"))
        return 1;
    if (!server->options.convert ||
        !server->options.convert(server->options.context, path, made, sizeof made))
        return 0;
    return (size_t)snprintf(path, room, "%s", made) < room;
}

static int open_page(struct strobe_server *server, struct lws *wsi, struct strobe_page **slot)
{
    char path[4096];
    struct strobe_page *page = calloc(1, sizeof *page);
    *slot = page;
    if (!page || !(page->text = malloc(STROBE_JSON_MAX_BYTES)))
        return -1;
    page->wsi = wsi;
    page->who = ++server->last_who;
    if (!server->pages)
        server->folder_mtime = 0; /* nobody has looked for a while */
    page->next = server->pages;
    server->pages = page;
    strobe_server_look(server);
    if (!path_of(server, wsi, path, sizeof path))
        return 0;
    enum strobe_err err = convert(server, path, sizeof path)
                              ? strobe_desk_use(server->desk, path, &page->trace)
                              : STROBE_ERR_FORMAT;
    if (err)
        tell_gone(page, strobe_err_text(err));
    return 0;
}

static void close_page(struct strobe_server *server, struct strobe_page *page)
{
    struct strobe_page **at = &server->pages;
    while (*at && *at != page)
        at = &(*at)->next;
    if (*at)
        *at = page->next;
    if (page->trace && server->desk)
        strobe_desk_leave(server->desk, page->trace, page->who);
    while (page->first) {
        struct strobe_frame *next = page->first->next;
        free_frame(page->first);
        page->first = next;
    }
    free(page->text);
    free(page);
}

static int receive(struct strobe_server *server, struct strobe_page *page, struct lws *wsi,
                   const void *bytes, size_t n)
{
    if (lws_frame_is_binary(wsi) || n > STROBE_JSON_MAX_BYTES - page->n_text)
        return -1;
    memcpy(page->text + page->n_text, bytes, n);
    page->n_text += n;
    if (lws_remaining_packet_payload(wsi) || !lws_is_final_fragment(wsi))
        return 0;
    size_t n_text = page->n_text;
    page->n_text = 0;
    if (!strobe_json_parse(&server->json, page->text, n_text) ||
        server->json.values[0].type != STROBE_JSON_OBJECT)
        return -1;
    if (answer_act(server, page))
        return 0;
    return strobe_desk_ask(server->desk, page->trace, page->who, page->text, n_text) ? 0 : -1;
}

static int send_next(struct strobe_page *page)
{
    struct strobe_frame *frame = page->first;
    if (!frame)
        return 0;
    page->first = frame->next;
    if (!page->first)
        page->last = NULL;
    page->n_unsent -= frame->n_bytes;
    int n = lws_write(page->wsi, frame->bytes + LWS_PRE, frame->n_bytes, LWS_WRITE_BINARY);
    free_frame(frame);
    if (n < 0)
        return -1;
    if (page->first)
        lws_callback_on_writable(page->wsi);
    return 0;
}

int strobe_server_ws(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len)
{
    struct strobe_server *server = lws_context_user(lws_get_context(wsi));
    struct strobe_page **page = user;
    char path[64] = "";
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        if (lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) < 0 || strcmp(path, "/ws"))
            return 1;
        return !strobe_server_is_allowed(server, wsi, 1);
    case LWS_CALLBACK_ESTABLISHED:
        return open_page(server, wsi, page);
    case LWS_CALLBACK_RECEIVE:
        return *page ? receive(server, *page, wsi, in, len) : -1;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return *page ? send_next(*page) : -1;
    case LWS_CALLBACK_CLOSED:
        if (page && *page)
            close_page(server, *page);
        if (page)
            *page = NULL;
        return 0;
    default:
        return 0;
    }
}
