/* server_pages.c - a page from its coming to its going: which trace it wants, and what it asks before that is there.
 *
 *   opened ──► no trace: only acts are answered
 *         ├──► a trace: questions go to the desk
 *         └──► a file of another profiler: questions are held while it is imported (serve/imports.h), then asked
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/frames_in.h"
#include "serve/server_parts.h"

/* A question that waits for its trace. */
struct strobe_held {
    struct strobe_held *next; /* owned */
    size_t n_bytes;
    char text[];
};

static void tell_gone(struct strobe_page *page, const char *why)
{
    struct strobe_reply reply = {0};
    strobe_reply_string(&reply, "tell", "gone");
    strobe_reply_string(&reply, "why", why);
    strobe_page_send(page, 0, &reply);
}

static void tell_importing(struct strobe_page *page, uint32_t per_mille)
{
    struct strobe_reply reply = {0};
    strobe_reply_string(&reply, "tell", "importing");
    strobe_reply_number(&reply, "share", per_mille / 1000.0);
    strobe_page_send(page, 0, &reply);
}

/* ---- questions that wait ---- */

static int hold(struct strobe_page *page, const char *text, size_t n_bytes)
{
    struct strobe_held **last = &page->held, *held;
    uint32_t n = 0;
    for (; *last; last = &(*last)->next)
        n++;
    if (n >= STROBE_DESK_MAX_WAITING || !(held = malloc(sizeof *held + n_bytes)))
        return 0;
    held->next = NULL;
    held->n_bytes = n_bytes;
    memcpy(held->text, text, n_bytes);
    *last = held;
    return 1;
}

int strobe_page_ask(struct strobe_server *server, struct strobe_page *page, const char *text,
                    size_t n_bytes)
{
    return page->import ? hold(page, text, n_bytes)
                        : strobe_desk_ask(server->desk, page->trace, page->who, text, n_bytes);
}

/* Answer what nobody can answer any more. */
static void refuse(struct strobe_server *server, struct strobe_page *page, const char *why,
                   const struct strobe_held *held)
{
    const struct strobe_json *json = &server->json;
    struct strobe_reply reply = {0};
    if (!strobe_json_parse(&server->json, held->text, held->n_bytes))
        return;
    uint32_t id =
        (uint32_t)strobe_json_count(json, strobe_json_member(json, 0, "id"), 0, UINT32_MAX);
    strobe_reply_u64(&reply, "id", id);
    strobe_reply_string(&reply, "error", why);
    strobe_page_send(page, id, &reply);
}

/* The trace is there, or will never be (why): ask or refuse what was held. */
static void let_go(struct strobe_server *server, struct strobe_page *page, const char *why)
{
    struct strobe_held *held = page->held;
    page->held = NULL;
    while (held) {
        struct strobe_held *next = held->next;
        if (why)
            refuse(server, page, why, held);
        else
            strobe_desk_ask(server->desk, page->trace, page->who, held->text, held->n_bytes);
        free(held);
        held = next;
    }
}

/* ---- imports ---- */

/* Why a trace can't be shown, in words for the page. */
static void say_why(const char *path, enum strobe_err err, char *out, size_t room)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (err == STROBE_ERR_NOTFOUND)
        snprintf(out, room, "%.256s is not there: it was deleted, renamed or moved", name);
    else
        snprintf(out, room, "%.256s: %s", name, strobe_err_text(err));
}

static void use_trace(struct strobe_server *server, struct strobe_page *page, const char *path)
{
    enum strobe_err err = strobe_desk_use(server->desk, path, server->options.folder, &page->trace);
    char why[512];
    if (err) {
        say_why(path, err, why, sizeof why);
        tell_gone(page, why);
    }
    let_go(server, page, err ? why : NULL);
}

static void follow_import(struct strobe_server *server, struct strobe_page *page)
{
    struct strobe_import *import = page->import;
    uint32_t per_mille = strobe_import_per_mille(import);
    const char *text;
    enum strobe_import_state state = strobe_import_state(import, &text);
    if (state == STROBE_IMPORT_RUNNING) {
        if (per_mille != page->told_per_mille)
            tell_importing(page, per_mille);
        page->told_per_mille = per_mille;
        return;
    }
    page->import = NULL;
    if (state == STROBE_IMPORT_DONE) {
        use_trace(server, page, text);
    } else {
        tell_gone(page, text);
        let_go(server, page, text);
    }
    strobe_imports_leave(server->imports, import);
}

void strobe_server_follow_imports(struct strobe_server *server)
{
    for (struct strobe_page *page = server->pages; page; page = page->next)
        if (page->import)
            follow_import(server, page);
}

/* ---- coming and going ---- */

/* The file that a page wants; 0: none, or one that may not be. */
static int path_of(struct strobe_server *server, struct lws *wsi, char *out, size_t room)
{
    const struct strobe_server_options *options = &server->options;
    char arg[300];
    const char *name = strobe_server_argument(wsi, "session", arg, sizeof arg);
    if (name && *name)
        return options->session_trace && options->session_trace(options->context, name, out, room);
    name = strobe_server_argument(wsi, "trace", arg, sizeof arg);
    if (!name || !*name)
        name = options->trace;
    if (!name || !strobe_guard_is_trace_name(name))
        return 0;
    return (size_t)snprintf(out, room, "%s/%s", options->folder, name) < room;
}

static void choose_trace(struct strobe_server *server, struct strobe_page *page, const char *path)
{
    size_t n = strlen(path);
    if (n > 7 && !strcmp(path + n - 7, ".strobe")) {
        use_trace(server, page, path);
        return;
    }
    page->import = server->imports ? strobe_imports_want(server->imports, path) : NULL;
    if (page->import)
        tell_importing(page, 0);
    else
        tell_gone(page, "too many files are being imported");
}

int strobe_page_open(struct strobe_server *server, struct lws *wsi, struct strobe_page **slot)
{
    char path[4096];
    struct strobe_page *page = calloc(1, sizeof *page);
    *slot = page;
    if (!page)
        return 0;
    page->fd = lws_get_socket_fd(wsi);
    if (!strobe_frames_in_watch(page->fd) || !(page->text = malloc(STROBE_JSON_MAX_BYTES)))
        return 0;
    page->wsi = wsi;
    page->who = ++server->last_who;
    if (!server->pages)
        server->folder_mtime = 0; /* nobody has looked for a while */
    page->next = server->pages;
    server->pages = page;
    strobe_server_look(server);
    if (path_of(server, wsi, path, sizeof path))
        choose_trace(server, page, path);
    return 1;
}

void strobe_page_close(struct strobe_server *server, struct strobe_page *page)
{
    struct strobe_page **at = &server->pages;
    strobe_frames_in_unwatch(page->fd);
    while (*at && *at != page)
        at = &(*at)->next;
    if (*at)
        *at = page->next;
    if (page->trace && server->desk)
        strobe_desk_leave(server->desk, page->trace, page->who);
    if (page->import && server->imports)
        strobe_imports_leave(server->imports, page->import);
    while (page->held) {
        struct strobe_held *next = page->held->next;
        free(page->held);
        page->held = next;
    }
    strobe_page_drop_frames(page);
    free(page->text);
    free(page);
}
