/* server.c - the server's life: listening, turning, closing.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "serve/frames_in.h"
#include "serve/server_parts.h"

static const struct lws_protocols protocols[] = {
    {"http", strobe_server_http, sizeof(struct strobe_request), 0, 0, NULL, 0},
    {"strobe.1", strobe_server_ws, sizeof(struct strobe_page *), 16384, 1, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0},
};

/* A page behind a cut cable is asked for a sign of life, and given up without one. */
static const lws_retry_bo_t signs_of_life = {.secs_since_valid_ping = 30,
                                             .secs_since_valid_hangup = 60};

/* Any thread of the desk: the frame goes to the outbox, and the server's thread is woken. */
static void take_frame(void *context, struct strobe_desk_trace *trace, uint64_t who, uint8_t *bytes,
                       size_t n_bytes)
{
    struct strobe_server *server = context;
    struct strobe_frame *frame = malloc(sizeof *frame);
    if (!frame) {
        free(bytes);
        return;
    }
    *frame = (struct strobe_frame){.trace = trace, .who = who, .bytes = bytes, .n_bytes = n_bytes};
    pthread_mutex_lock(&server->lock);
    frame->next = server->outbox;
    server->outbox = frame;
    pthread_mutex_unlock(&server->lock);
    strobe_server_wake(server);
}

static void free_frames(struct strobe_frame *frame)
{
    while (frame) {
        struct strobe_frame *next = frame->next;
        free(frame->bytes);
        free(frame);
        frame = next;
    }
}

static void wake(void *context)
{
    strobe_server_wake(context);
}

static enum strobe_err listen_on(struct strobe_server *server)
{
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    lws_set_log_level(0, NULL);
    info.port = server->options.port;
    info.iface = "127.0.0.1";
    info.protocols = protocols;
    info.gid = (gid_t)-1;
    info.uid = (uid_t)-1;
    info.user = server;
    info.max_http_header_data = 4096;
    info.max_http_header_pool = 4096; /* one for each connection that has not asked yet */
    info.timeout_secs = 10;
    info.keepalive_timeout = 60;
    info.retry_and_idle_policy = &signs_of_life;
    info.options = LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_VALIDATE_UTF8;
    server->lws = lws_create_context(&info);
    if (!server->lws)
        return STROBE_ERR_NOMEM;
    struct lws_vhost *vhost = lws_create_vhost(server->lws, &info);
    if (!vhost)
        return STROBE_ERR_BUSY;
    server->port = lws_get_vhost_listen_port(vhost);
    return STROBE_OK;
}

enum strobe_err strobe_server_open(const struct strobe_server_options *options,
                                   struct strobe_server **out)
{
    *out = NULL;
    struct strobe_server *server = calloc(1, sizeof *server);
    if (!server)
        return STROBE_ERR_NOMEM;
    server->options = *options;
    pthread_mutex_init(&server->lock, NULL);
    server->desk = strobe_desk_new(take_frame, server, LWS_PRE);
    server->imports = options->convert
                          ? strobe_imports_new(options->convert, options->context, wake, server)
                          : NULL;
    enum strobe_err err =
        server->desk && (server->imports || !options->convert) ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err && options->token)
        snprintf(server->token, sizeof server->token, "%s", options->token);
    else if (!err && !strobe_guard_make_token(server->token))
        err = STROBE_ERR_IO;
    if (!err)
        err = listen_on(server);
    if (err) {
        strobe_server_close(server);
        return err;
    }
    *out = server;
    return STROBE_OK;
}

int strobe_server_port(const struct strobe_server *server)
{
    return server->port;
}

const char *strobe_server_token(const struct strobe_server *server)
{
    return server->token;
}

int strobe_server_has_come(const struct strobe_server *server)
{
    return server->has_come;
}

void strobe_server_wake(struct strobe_server *server)
{
    if (server->lws)
        lws_cancel_service(server->lws);
}

void strobe_server_serve(struct strobe_server *server, int ms)
{
    (void)ms; /* libwebsockets waits until there is something to do; a timer wakes it */
    strobe_frames_in_begin();
    lws_service(server->lws, 0);
    strobe_server_deliver(server);
    strobe_server_follow_imports(server);
    uint64_t now_ms = strobe_clock_mono_ns() / 1000000;
    if (now_ms - server->last_look_ms >= 1000) {
        server->last_look_ms = now_ms;
        strobe_server_look(server);
    }
}

void strobe_server_close(struct strobe_server *server)
{
    if (!server)
        return;
    struct lws_context *lws = server->lws;
    strobe_desk_free(server->desk); /* its threads end: nobody wakes the context any more */
    server->desk = NULL;
    strobe_imports_free(server->imports);
    server->imports = NULL;
    if (lws)
        lws_context_destroy(lws);
    free_frames(server->outbox);
    strobe_folder_free(&server->folder);
    pthread_mutex_destroy(&server->lock);
    strobe_json_free(&server->json);
    free(server);
}
