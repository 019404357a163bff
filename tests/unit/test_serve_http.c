/* test_serve_http.c - what the viewer's server says to requests, over a socket of the loopback.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/server.h"

static char folder[64], trace[96], answer[65536];
static struct strobe_server *server;

static int open_server(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/strobe-http-%d-XXXXXX", (int)getpid());
    assert_non_null(mkdtemp(folder));
    snprintf(trace, sizeof trace, "%s/a.strobe", folder);
    FILE *file = fopen(trace, "w");
    assert_non_null(file);
    assert_true(fputs("0123456789", file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct strobe_server_options options = {.folder = folder};
    return strobe_server_open(&options, &server);
}

static int close_server(void **state)
{
    (void)state;
    strobe_server_close(server);
    unlink(trace);
    return rmdir(folder);
}

static int connect_to(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* 1: all of it has come that the headers announce. */
static int is_whole(size_t n)
{
    answer[n] = 0;
    const char *body = strstr(answer, "\r\n\r\n"), *length = strcasestr(answer, "content-length:");
    return body && length && n - (size_t)(body + 4 - answer) >= strtoul(length + 15, NULL, 10);
}

/* Ask for a path, with these headers. The status; 0: the server closed without one. */
static int get(const char *path, const char *headers)
{
    char request[1024];
    size_t n_answer = 0;
    int fd = connect_to(strobe_server_port(server));
    int n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n%s\r\n", path, headers);
    assert_int_equal(send(fd, request, (size_t)n, MSG_NOSIGNAL), n);
    while (!is_whole(n_answer)) {
        ssize_t more = recv(fd, answer + n_answer, sizeof answer - 1 - n_answer, MSG_DONTWAIT);
        if (more == 0)
            break;
        if (more > 0)
            n_answer += (size_t)more;
        else
            strobe_server_serve(server, 10);
    }
    close(fd);
    return n_answer > 12 ? atoi(answer + 9) : 0;
}

static int get_with_token(const char *path, const char *headers)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s?token=%s", path, strobe_server_token(server));
    return get(whole, headers);
}

#define HOST "Host: localhost\r\n"

static void without_the_token_nothing_is_answered(void **state)
{
    (void)state;
    assert_int_equal(get("/", HOST), 403);
    assert_int_equal(get("/traces", HOST), 403);
    assert_int_equal(get("/?token=0123456789abcdef0123456789abcdef", HOST), 403);
    assert_null(strstr(answer, "a.strobe"));
}

static void another_host_or_origin_is_refused_with_the_token(void **state)
{
    (void)state;
    assert_int_equal(get_with_token("/", "Host: evil.example\r\n"), 403);
    assert_int_equal(get_with_token("/", HOST "Origin: http://evil.example\r\n"), 403);
    assert_int_not_equal(get_with_token("/", ""), 200);
}

static void the_link_with_the_token_is_answered_and_gives_a_cookie(void **state)
{
    char cookie[160], name[STROBE_COOKIE_NAME];
    (void)state;
    int status = get_with_token("/", HOST);
    assert_true(status == 200 || status == 302 || status == 303);
    assert_non_null(strcasestr(answer, "set-cookie:"));
    assert_non_null(strcasestr(answer, "content-security-policy:"));
    assert_true(strobe_server_has_come(server));
    strobe_guard_cookie_name(strobe_server_token(server), strobe_server_port(server), name);
    snprintf(cookie, sizeof cookie, HOST "Cookie: %s=%s\r\n", name, strobe_server_token(server));
    assert_int_equal(get("/view/link.js", cookie), 200);
}

static void pages_that_are_not_there_are_404_and_others_files_too(void **state)
{
    (void)state;
    assert_int_equal(get_with_token("/no/such/page.js", HOST), 404);
    assert_int_not_equal(get_with_token("/../../etc/passwd", HOST), 200);
    assert_int_not_equal(get_with_token("/..%2f..%2fetc/passwd", HOST), 200);
}

static void no_upgrade_but_to_websocket_is_confirmed(void **state)
{
    (void)state;
    assert_int_equal(get("/", HOST "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                                   "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"),
                     403);
    assert_int_equal(get("/", HOST "Connection: Upgrade\r\nUpgrade: IRC/6.9\r\n"), 403);
}

/* Send requests at once, and read until the server ends the connection. */
static void send_until_end(const char *requests)
{
    size_t n_answer = 0;
    ssize_t more;
    int fd = connect_to(strobe_server_port(server));
    assert_int_equal(send(fd, requests, strlen(requests), MSG_NOSIGNAL), strlen(requests));
    while ((more = recv(fd, answer + n_answer, sizeof answer - 1 - n_answer, MSG_DONTWAIT))) {
        n_answer += more > 0 ? (size_t)more : 0;
        if (more < 0)
            strobe_server_serve(server, 10);
    }
    answer[n_answer] = 0;
    close(fd);
}

static void a_body_behind_another_request_is_the_end_of_the_connection(void **state)
{
    (void)state;
    send_until_end("GET / HTTP/1.1\r\n" HOST "\r\nGET /traces HTTP/1.1\r\n" HOST
                   "Content-Length: 5\r\n\r\nabcde\r\n");
    const char *first = strstr(answer, "HTTP/1.1 403");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "HTTP/1.1 403"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_token_nothing_is_answered),
        cmocka_unit_test(another_host_or_origin_is_refused_with_the_token),
        cmocka_unit_test(the_link_with_the_token_is_answered_and_gives_a_cookie),
        cmocka_unit_test(pages_that_are_not_there_are_404_and_others_files_too),
        cmocka_unit_test(no_upgrade_but_to_websocket_is_confirmed),
        cmocka_unit_test(a_body_behind_another_request_is_the_end_of_the_connection),
    };
    return cmocka_run_group_tests(tests, open_server, close_server);
}
