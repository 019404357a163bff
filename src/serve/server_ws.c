/* server_ws.c - the WebSocket: questions come in, frames go out.
 * A page that does not read gets no more than STROBE_SERVER_MAX_UNSENT bytes; one that sends what is no question is let go.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "serve/server_parts.h"

/* ---- frames ---- */

static void free_frame(struct strobe_frame *frame)
{
    free(frame->bytes);
    free(frame);
}

void strobe_page_drop_frames(struct strobe_page *page)
{
    while (page->first) {
        struct strobe_frame *next = page->first->next;
        free_frame(page->first);
        page->first = next;
    }
    page->last = NULL;
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

void strobe_page_send(struct strobe_page *page, uint32_t id, struct strobe_reply *reply)
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

/* ---- connections ---- */

/* End the connection and say why, as RFC 6455 has it. */
static int refuse(struct lws *wsi, enum lws_close_status why)
{
    lws_close_reason(wsi, why, NULL, 0);
    return -1;
}

static int receive(struct strobe_server *server, struct strobe_page *page, struct lws *wsi,
                   const void *bytes, size_t n)
{
    size_t room = STROBE_JSON_MAX_BYTES - page->n_text;
    if (lws_frame_is_binary(wsi))
        return refuse(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE);
    if (n > room || lws_remaining_packet_payload(wsi) > room - n ||
        ++page->n_pieces > STROBE_SERVER_MAX_PIECES)
        return refuse(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE);
    memcpy(page->text + page->n_text, bytes, n);
    page->n_text += n;
    if (lws_remaining_packet_payload(wsi) || !lws_is_final_fragment(wsi))
        return 0;
    size_t n_text = page->n_text;
    page->n_text = 0;
    page->n_pieces = 0;
    if (!strobe_json_parse(&server->json, page->text, n_text) ||
        !strobe_json_is_object(&server->json))
        return -1;
    if (strobe_page_act(server, page))
        return 0;
    return strobe_page_ask(server, page, page->text, n_text) ? 0 : -1;
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
        return strobe_page_open(server, wsi, page) ? 0 : -1;
    case LWS_CALLBACK_RECEIVE:
        return *page ? receive(server, *page, wsi, in, len) : -1;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return *page ? send_next(*page) : -1;
    case LWS_CALLBACK_CLOSED:
        if (page && *page)
            strobe_page_close(server, *page);
        if (page)
            *page = NULL;
        return 0;
    default:
        return 0;
    }
}
