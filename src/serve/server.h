/* server.h - the viewer's server: HTTP and WebSocket on one port of the loopback (docs/viewer-protocol.md, "The server").
 * Never listens anywhere else, answers nothing without the token.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_SERVER_H
#define STROBE_SERVE_SERVER_H

#include "base/err.h"
#include "serve/guard.h"
#include "serve/imports.h"
#include "engine/reply.h"

struct strobe_server;

struct strobe_server_options {
    const char *folder;  /* whose traces are listed */
    const char *trace;   /* name of one of them, shown first; NULL: the start page */
    const char *web_dir; /* where the page's files are; NULL: those in the binary */
    int port;            /* 0: any free one */
    const char *token;   /* NULL: a new one */
    void *context;       /* of what follows */
    /* The members `sessions`, `clients` and `recordings` of the start page's list; NULL: none. */
    void (*put_sessions)(void *context, struct strobe_reply *reply);
    /* Called about every second while there are pages. 1: that list has changed. NULL: it never does. */
    int (*look)(void *context);
    /* The trace that a session is recorded into; 0: none is. NULL: no sessions. */
    int (*session_trace)(void *context, const char *session, char *out, size_t room);
    /* A file of another profiler as a trace; on a thread of its own. NULL: nobody knows how. */
    strobe_convert convert;
    /* End the recording that this server belongs to (name NULL), or one that `record` began. 0: there is none. */
    int (*stop)(void *context, const char *name);
    int can_stop; /* there is one that this server belongs to */
    /* Begin to record a Tracy client (HOST:PORT) or a session, the other one ""; the trace's name goes to `name`. 0: `why`
     * says why not. NULL: nothing can be recorded. */
    int (*record)(void *context, const char *tracy, const char *session, char *name, size_t n_name,
                  char *why, size_t n_why);
};

/* Listen. The strings must outlive the server. STROBE_ERR_BUSY: the port is taken. */
enum strobe_err strobe_server_open(const struct strobe_server_options *options,
                                   struct strobe_server **out);

int strobe_server_port(const struct strobe_server *server);
const char *strobe_server_token(const struct strobe_server *server);
/* 1: someone has come with the link. */
int strobe_server_has_come(const struct strobe_server *server);

/* Serve for up to `ms`; call it again and again. */
void strobe_server_serve(struct strobe_server *server, int ms);

/* Let strobe_server_serve return soon. Any thread, signal handlers too. */
void strobe_server_wake(struct strobe_server *server);

void strobe_server_close(struct strobe_server *server); /* NULL is allowed */

#endif
