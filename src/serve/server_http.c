/* server_http.c - routes: the page's files, the folder's traces. Every answer has the same headers; nothing is answered
 * before Host, Origin and token were looked at.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page/page.h"
#include "serve/server_parts.h"

enum { CHUNK = 32768, MAX_PAGE_FILE = 32 << 20 };

static const char *const fixed_headers[][2] = {
    {"cache-control:", "no-store, no-cache, must-revalidate, max-age=0"},
    {"cross-origin-opener-policy:", "same-origin"},
    {"cross-origin-embedder-policy:", "require-corp"},
    {"cross-origin-resource-policy:", "same-origin"},
    {"x-content-type-options:", "nosniff"},
    {"referrer-policy:", "no-referrer"},
    {"content-security-policy:",
     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
     "img-src 'self' data: blob:; connect-src 'self' ws://127.0.0.1:* ws://localhost:*; worker-src "
     "'self'; "
     "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
};

/* ---- who asks ---- */

static int copy_header(struct lws *wsi, enum lws_token_indexes token, char *out, int room)
{
    int n = lws_hdr_copy(wsi, out, room, token);
    if (n < 0)
        return 0; /* too long */
    out[n] = 0;
    return 1;
}

const char *strobe_server_argument(struct lws *wsi, const char *name, char *room, int n_room)
{
    char key[32];
    snprintf(key, sizeof key, "%s=", name);
    return lws_get_urlarg_by_name(wsi, key, room, n_room);
}

int strobe_server_is_allowed(struct strobe_server *server, struct lws *wsi, int is_ws)
{
    char host[128] = "", origin[192] = "", cookie[2048] = "", room[128];
    if (!copy_header(wsi, WSI_TOKEN_HOST, host, sizeof host) ||
        !copy_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) ||
        !copy_header(wsi, WSI_TOKEN_HTTP_COOKIE, cookie, sizeof cookie))
        return 0;
    if (!strobe_guard_is_host(host))
        return 0;
    if ((is_ws || *origin) && !strobe_guard_is_origin(origin, host))
        return 0;
    const char *given = strobe_server_argument(wsi, "token", room, sizeof room);
    return (given && strobe_guard_is_token(server->token, given)) ||
           strobe_guard_has_cookie(server->token, server->port, cookie);
}

/* ---- answers ---- */

struct answer {
    unsigned status;
    const char *type;
    uint64_t n_bytes;
    const char *extra[3][2]; /* name, value */
};

static int put_header(struct lws *wsi, const char *name, const char *value, uint8_t **at,
                      uint8_t *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at, end);
}

static int send_headers(struct strobe_server *server, struct lws *wsi, const struct answer *answer)
{
    uint8_t room[LWS_PRE + 4096], *start = room + LWS_PRE, *at = start;
    uint8_t *end = room + sizeof room - 1;
    char cookie[160], arg[128];
    if (lws_add_http_header_status(wsi, answer->status, &at, end) ||
        put_header(wsi, "content-type:", answer->type, &at, end) ||
        lws_add_http_header_content_length(wsi, answer->n_bytes, &at, end))
        return 1;
    for (size_t i = 0; i < sizeof fixed_headers / sizeof fixed_headers[0]; i++)
        if (put_header(wsi, fixed_headers[i][0], fixed_headers[i][1], &at, end))
            return 1;
    for (size_t i = 0; i < 3 && answer->extra[i][0]; i++)
        if (put_header(wsi, answer->extra[i][0], answer->extra[i][1], &at, end))
            return 1;
    const char *given = strobe_server_argument(wsi, "token", arg, sizeof arg);
    if (answer->status < 400 && given && strobe_guard_is_token(server->token, given)) {
        char name[STROBE_COOKIE_NAME];
        strobe_guard_cookie_name(server->token, server->port, name);
        snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", name,
                 server->token);
        server->has_come = 1;
        if (put_header(wsi, "set-cookie:", cookie, &at, end))
            return 1;
    }
    return lws_finalize_write_http_header(wsi, start, &at, end);
}

/* Send bytes that stay where they are, or are freed with the request. */
static int answer_bytes(struct strobe_server *server, struct lws *wsi,
                        struct strobe_request *request, unsigned status, const char *type,
                        const void *bytes, size_t n)
{
    struct answer answer = {.status = status, .type = type, .n_bytes = n};
    if (send_headers(server, wsi, &answer))
        return 1;
    request->bytes = bytes;
    request->n_left = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) ? 0 : n;
    request->is_started = 1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int answer_text(struct strobe_server *server, struct lws *wsi,
                       struct strobe_request *request, unsigned status, const char *text)
{
    return answer_bytes(server, wsi, request, status, "text/plain; charset=utf-8", text,
                        strlen(text));
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".mjs", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".json", "application/json"},
                                           {".woff2", "font/woff2"},
                                           {".wasm", "application/wasm"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(dot, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}

/* ---- the page ---- */

static uint8_t *read_page_file(const char *folder, const char *path, size_t *n)
{
    char name[1200];
    struct stat st;
    snprintf(name, sizeof name, "%s%s", folder, path);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    uint8_t *bytes = NULL;
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MAX_PAGE_FILE &&
        (bytes = malloc((size_t)st.st_size + 1))) {
        ssize_t got = read(fd, bytes, (size_t)st.st_size);
        *n = got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

static int answer_page(struct strobe_server *server, struct lws *wsi,
                       struct strobe_request *request, const char *path)
{
    path = strcmp(path, "/") ? path : "/index.html";
    if (!strobe_guard_is_page_path(path))
        return answer_text(server, wsi, request, 404, "There is no such page.\n");
    if (server->options.web_dir) {
        size_t n = 0;
        request->owned = read_page_file(server->options.web_dir, path, &n);
        if (request->owned)
            return answer_bytes(server, wsi, request, 200, type_of(path), request->owned, n);
    }
    const struct strobe_page_file *file = strobe_page_find(path + 1);
    if (file) /* with a folder: what is made for the page is not in it */
        return answer_bytes(server, wsi, request, 200, file->type, file->bytes,
                            strobe_page_size(file));
    return answer_text(server, wsi, request, 404, "There is no such page.\n");
}

/* ---- traces ---- */

static int answer_list(struct strobe_server *server, struct lws *wsi,
                       struct strobe_request *request)
{
    struct strobe_folder folder = {0};
    struct strobe_out text = {0};
    struct strobe_json_writer json = {.out = &text};
    strobe_folder_list(server->options.folder, &folder);
    strobe_json_write_open(&json, NULL, '[');
    for (uint32_t i = 0; i < folder.n_files; i++)
        strobe_json_write_string(&json, NULL, folder.files[i].name);
    strobe_json_write_close(&json, ']');
    strobe_folder_free(&folder);
    request->owned = (uint8_t *)text.at;
    return answer_bytes(server, wsi, request, 200, "application/json", text.at, text.len);
}

/* "bytes=a-b" of a file of n bytes. 0: nothing that could be served. */
static int read_range(const char *text, uint64_t n, uint64_t *from, uint64_t *to)
{
    char *end;
    if (strncmp(text, "bytes=", 6) || !n)
        return 0;
    text += 6;
    if (*text == '-') {
        uint64_t last = strtoull(text + 1, &end, 10);
        *from = last < n ? n - last : 0;
        *to = n - 1;
        return !*end && last;
    }
    *from = strtoull(text, &end, 10);
    if (end == text || *end != '-')
        return 0;
    const char *second = end + 1;
    *to = *second ? strtoull(second, &end, 10) : n - 1;
    *to = *to < n ? *to : n - 1;
    return (!*second || !*end) && *from <= *to;
}

static int answer_file(struct strobe_server *server, struct lws *wsi,
                       struct strobe_request *request, const char *name)
{
    char range[64] = "", place[96], attachment[300];
    struct stat st;
    struct answer answer = {.status = 200, .type = "application/octet-stream"};
    request->fd = strobe_folder_open(server->options.folder, name);
    if (request->fd < 0 || fstat(request->fd, &st))
        return answer_text(server, wsi, request, 404, "There is no such trace.\n");
    uint64_t n = (uint64_t)st.st_size, from = 0, to = n ? n - 1 : 0;
    snprintf(attachment, sizeof attachment, "attachment; filename=\"%s\"",
             strpbrk(name, "\"") ? "trace" : name);
    answer.extra[0][0] = "accept-ranges:";
    answer.extra[0][1] = "bytes";
    answer.extra[1][0] = "content-disposition:";
    answer.extra[1][1] = attachment;
    copy_header(wsi, WSI_TOKEN_HTTP_RANGE, range, sizeof range);
    if (*range && read_range(range, n, &from, &to)) {
        snprintf(place, sizeof place, "bytes %llu-%llu/%llu", (unsigned long long)from,
                 (unsigned long long)to, (unsigned long long)n);
        answer.status = 206;
        answer.extra[2][0] = "content-range:";
        answer.extra[2][1] = place;
    } else if (*range) {
        return answer_text(server, wsi, request, 416, "There is nothing at that range.\n");
    }
    answer.n_bytes = n ? to - from + 1 : 0;
    if (send_headers(server, wsi, &answer))
        return 1;
    request->file_at = from;
    request->file_left = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) ? 0 : answer.n_bytes;
    request->is_started = 1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int answer_delete(struct strobe_server *server, struct lws *wsi,
                         struct strobe_request *request, const char *name)
{
    enum strobe_err err = strobe_folder_delete(server->options.folder, name);
    if (err == STROBE_ERR_NOTFOUND)
        return answer_text(server, wsi, request, 404, "There is no such trace.\n");
    if (err)
        return answer_text(server, wsi, request, 500, "It could not be deleted.\n");
    return answer_text(server, wsi, request, 200, "Deleted");
}

static int answer_request(struct strobe_server *server, struct lws *wsi,
                          struct strobe_request *request, const char *path)
{
    int is_delete = lws_hdr_total_length(wsi, WSI_TOKEN_DELETE_URI) > 0;
    int is_get = lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0 ||
                 lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
    if (!strobe_server_is_allowed(server, wsi, 0))
        return answer_text(server, wsi, request, 403,
                           "Open the link that strobe view has printed: it has the token.\n");
    if (!is_get && !is_delete)
        return answer_text(server, wsi, request, 405, "GET or DELETE only.\n");
    if (!strcmp(path, "/traces") && is_get)
        return answer_list(server, wsi, request);
    if (!strncmp(path, "/traces/", 8)) {
        if (!strobe_guard_is_trace_name(path + 8))
            return answer_text(server, wsi, request, 400, "That is no name of a trace.\n");
        return is_delete ? answer_delete(server, wsi, request, path + 8)
                         : answer_file(server, wsi, request, path + 8);
    }
    if (!is_get)
        return answer_text(server, wsi, request, 405, "Only traces can be deleted.\n");
    return answer_page(server, wsi, request, path);
}

/* ---- sending ---- */

static void free_request(struct strobe_request *request)
{
    if (request->fd >= 0)
        close(request->fd);
    free(request->owned);
    memset(request, 0, sizeof *request);
    request->fd = -1;
}

static int send_more(struct lws *wsi, struct strobe_request *request)
{
    uint8_t room[LWS_PRE + CHUNK];
    size_t n = request->n_left < CHUNK ? request->n_left : CHUNK;
    if (!request->is_started)
        return 0;
    if (request->file_left) {
        n = request->file_left < CHUNK ? (size_t)request->file_left : CHUNK;
        ssize_t got = pread(request->fd, room + LWS_PRE, n, (off_t)request->file_at);
        if (got <= 0)
            return -1; /* it was cut meanwhile: so is the answer */
        n = (size_t)got;
        request->file_at += n;
        request->file_left -= n;
    } else if (n) {
        memcpy(room + LWS_PRE, request->bytes, n);
        request->bytes += n;
        request->n_left -= n;
    }
    int is_last = !request->n_left && !request->file_left;
    if (lws_write(wsi, room + LWS_PRE, n, is_last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
        return -1;
    if (!is_last) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    free_request(request);
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* WebSocket or nothing: libwebsockets would turn to HTTP/2 before anybody has looked at Host and token, and frames_in.h does not see what is in there. What it does
 * not know itself it has answered, and freed the headers with their text: no upgrade is left in them, and the connection has to end. */
static int confirm_upgrade(struct lws *wsi)
{
    char to[16] = "";
    if (!lws_hdr_total_length(wsi, WSI_TOKEN_UPGRADE))
        return -1;
    if (copy_header(wsi, WSI_TOKEN_UPGRADE, to, sizeof to) && !strcasecmp(to, "websocket"))
        return 0;
    return lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL) ? -1 : 1;
}

int strobe_server_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                       size_t len)
{
    struct strobe_server *server = lws_context_user(lws_get_context(wsi));
    struct strobe_request *request = user;
    char path[512];
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        memset(request, 0, sizeof *request);
        request->fd = -1;
        if (len >= sizeof path)
            return answer_text(server, wsi, request, 414, "That path is too long.\n");
        memcpy(path, in, len);
        path[len] = 0;
        return answer_request(server, wsi, request, path);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return send_more(wsi, request);
    case LWS_CALLBACK_CLOSED_HTTP:
        if (request && request->is_started)
            free_request(request);
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        if (server)
            strobe_server_deliver(server);
        return 0;
    case LWS_CALLBACK_HTTP_BODY_COMPLETION: /* nobody wants one; while the answer is not sent, this would come again and again */
        send_more(wsi, request);
        return -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return confirm_upgrade(wsi);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: /* a WebSocket that names no protocol of ours */
        return 1;
    default:
        return 0;
    }
}
