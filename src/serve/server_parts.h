/* server_parts.h - what the parts of the server share: server.c (life), server_http.c (routes), server_ws.c (frames),
 * server_pages.c (pages), server_acts.c (the start page).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_SERVER_PARTS_H
#define STROBE_SERVE_SERVER_PARTS_H

#include <libwebsockets.h>
#include <pthread.h>

#include "serve/desk.h"
#include "serve/folder.h"
#include "serve/imports.h"
#include "engine/json.h"
#include "serve/server.h"

enum {
    STROBE_SERVER_MAX_UNSENT = 32 << 20, /* bytes that may wait for a page that does not read */
    STROBE_SERVER_MAX_PIECES =
        1024, /* fragments, and pieces that a packet brings, of one question */
};

/* A frame on its way; LWS_PRE free bytes are in front of its bytes. */
struct strobe_frame {
    struct strobe_frame *next;
    struct strobe_desk_trace *trace;
    uint64_t who;
    uint8_t *bytes; /* owned */
    size_t n_bytes;
};

/* A page that is connected. */
struct strobe_page {
    struct strobe_page *next;
    struct lws *wsi;                 /* borrowed */
    int fd;                          /* borrowed: its socket */
    struct strobe_desk_trace *trace; /* borrowed; NULL: none */
    struct strobe_import *import;    /* borrowed: the trace is being made; NULL: none */
    uint32_t told_per_mille;         /* of the import */
    struct strobe_held *held;        /* owned: questions that wait for it */
    uint64_t who;
    struct strobe_frame *first, *last; /* owned: to be sent */
    size_t n_unsent;
    char *text; /* owned: the question that is coming in; STROBE_JSON_MAX_BYTES */
    size_t n_text;
    uint32_t n_pieces; /* that it came in */
};

struct strobe_server {
    struct strobe_server_options options;
    char token[STROBE_TOKEN_DIGITS + 1];
    struct lws_context *lws; /* owned */
    int port;
    int has_come;                   /* a request with the token in its link was answered */
    struct strobe_desk *desk;       /* owned */
    struct strobe_imports *imports; /* owned; NULL: nobody knows how */
    struct strobe_page *pages;      /* owned */
    uint64_t last_who;
    pthread_mutex_t lock;        /* of the outbox */
    struct strobe_frame *outbox; /* owned: from the desk's threads, newest first */
    struct strobe_json json;
    struct strobe_folder folder;
    int64_t folder_mtime; /* of the list that pages know */
    uint64_t last_look_ms;
};

/* A request that is being answered. */
struct strobe_request {
    uint8_t *owned;       /* to be freed */
    const uint8_t *bytes; /* what is sent */
    size_t n_left;
    int fd; /* else from a file; -1 */
    uint64_t file_at, file_left;
    int is_started;
};

int strobe_server_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                       size_t len);
int strobe_server_ws(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len);

/* 1: Host, Origin and token are right. is_ws: Origin must be there. */
int strobe_server_is_allowed(struct strobe_server *server, struct lws *wsi, int is_ws);

/* The value of ?name= in a request, decoded; NULL: none. */
const char *strobe_server_argument(struct lws *wsi, const char *name, char *room, int n_room);

/* A page comes (0: it can't) and goes. */
int strobe_page_open(struct strobe_server *server, struct lws *wsi, struct strobe_page **slot);
void strobe_page_close(struct strobe_server *server, struct strobe_page *page);
/* Its question, parsed in server->json: 1: it was an act, and is answered. */
int strobe_page_act(struct strobe_server *server, struct strobe_page *page);
/* Its question about its trace. 0: too many wait. */
int strobe_page_ask(struct strobe_server *server, struct strobe_page *page, const char *text,
                    size_t n_bytes);
/* Send it an answer, which is freed, or what it is told (id 0). */
void strobe_page_send(struct strobe_page *page, uint32_t id, struct strobe_reply *reply);
void strobe_page_drop_frames(struct strobe_page *page);

/* Pages whose files are being imported: tell them how far, or give them their trace. */
void strobe_server_follow_imports(struct strobe_server *server);

/* Frames from the desk to their pages. */
void strobe_server_deliver(struct strobe_server *server);

/* What the start page lists may have changed: tell the pages. */
void strobe_server_look(struct strobe_server *server);

#endif
