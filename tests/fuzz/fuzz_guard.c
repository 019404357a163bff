/* fuzz_guard.c - what decides who may ask (serve/guard.h), over headers of any bytes. An input is a byte that says which of them, then
 * two texts with a NUL between them.
 *
 * Checked beyond what sanitizers find: a name that passes stays in its folder, a path of the page has no way up, and who does not give
 * the token is not let in.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seeds.h"
#include "serve/guard.h"

static const char token[] = "0123456789abcdef0123456789abcdef";
enum { PORT = 8090 };

static void check(int is_right, const char *what, const char *text)
{
    if (is_right)
        return;
    fprintf(stderr, "fuzz_guard: %s: %s\n", what, text);
    abort();
}

static void try_name(const char *text)
{
    if (strobe_guard_is_trace_name(text))
        check(!strchr(text, '/') && text[0] != '.' && text[0], "a name of a trace", text);
    strobe_guard_is_json_name(text);
    if (strobe_guard_is_page_path(text))
        check(!strstr(text, "/.") && text[0] != '.' && !strstr(text, "//"), "a path of the page",
              text);
}

static void try_origin(const char *one, const char *two)
{
    if (strobe_guard_is_host(one))
        check(!strncmp(one, "127.0.0.1", 9) || !strncasecmp(one, "localhost", 9) ||
                  !strncmp(one, "[::1]", 5),
              "a host", one);
    if (strobe_guard_is_origin(one, two))
        check(!strncmp(one, "http://", 7) && !strcasecmp(one + 7, two), "an origin", one);
}

static void try_token(const char *text)
{
    check(!strobe_guard_is_token(token, text) || !strcmp(token, text), "a token", text);
    if (strobe_guard_has_cookie(token, PORT, text))
        check(strstr(text, token) != NULL, "a cookie", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n)
        return 0;
    char *one = malloc(n), *cut; /* as long as it is, so that a byte too far is seen */
    memcpy(one, data + 1, n - 1);
    one[n - 1] = 0;
    cut = one + strlen(one);
    char *two = strdup(cut < one + n - 1 ? cut + 1 : "");
    switch (data[0] % 3) {
    case 0:
        try_name(one);
        break;
    case 1:
        try_origin(one, two);
        break;
    default:
        try_token(one);
    }
    free(two);
    free(one);
    return 0;
}
