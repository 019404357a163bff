/* guard.c - checks of what a stranger sends.  SPDX-License-Identifier: MIT */
#include "serve/guard.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int strobe_guard_make_token(char token[STROBE_TOKEN_DIGITS + 1])
{
    uint8_t bytes[STROBE_TOKEN_DIGITS / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 1;
}

static int same_bytes(const char *token, const char *given, size_t n)
{
    unsigned difference = 0;
    for (size_t i = 0; i < n; i++)
        difference |= (unsigned char)token[i] ^ (unsigned char)given[i];
    return !difference;
}

int strobe_guard_is_token(const char *token, const char *given)
{
    return strlen(given) == STROBE_TOKEN_DIGITS && same_bytes(token, given, STROBE_TOKEN_DIGITS);
}

void strobe_guard_cookie_name(const char *token, int port, char out[STROBE_COOKIE_NAME])
{
    snprintf(out, STROBE_COOKIE_NAME, "strobe_%d_%.8s", port, token);
}

int strobe_guard_has_cookie(const char *token, int port, const char *header)
{
    char name[STROBE_COOKIE_NAME + 1];
    strobe_guard_cookie_name(token, port, name);
    size_t n_name = strlen(name);
    name[n_name++] = '=';
    name[n_name] = 0;
    for (const char *at = header; (at = strstr(at, name)); at += n_name) {
        const char *value = at + n_name;
        int is_start = at == header || at[-1] == ' ' || at[-1] == ';';
        size_t n = strcspn(value, "; ");
        if (is_start && n == STROBE_TOKEN_DIGITS && same_bytes(token, value, n))
            return 1;
    }
    return 0;
}

int strobe_guard_is_host(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(host, names[i], n))
            continue;
        const char *rest = host + n;
        if (!*rest)
            return 1;
        size_t n_digits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
        if (n_digits && n_digits <= 5 && !rest[1 + n_digits])
            return 1;
    }
    return 0;
}

int strobe_guard_is_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return !strncmp(origin, scheme, sizeof scheme - 1) && !strcmp(origin + sizeof scheme - 1, host);
}

static int ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), n_end = strlen(end);
    return n > n_end && !strcmp(name + n - n_end, end);
}

/* Files of stack samples and of Perfetto: the importer looks at their content. */
static int is_stacks_name(const char *name)
{
    static const char *const ends[] = {".folded",  ".collapsed",  ".perf",
                                       ".pprof",   ".pb.gz",      ".perf.data",
                                       ".pftrace", ".pftrace.gz", ".perfetto-trace"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(name, ends[i]))
            return 1;
    return !strcmp(name, "perf.data");
}

int strobe_guard_is_trace_name(const char *name)
{
    if (name[0] == '.' || strlen(name) > 255)
        return 0;
    for (const char *at = name; *at; at++)
        if (*at == '/' || *at == '\\' || (unsigned char)*at < 0x20 || *at == 0x7f)
            return 0;
    return ends_with(name, ".strobe") || ends_with(name, ".tracy") ||
           !strcmp(name, "profile_log_device.csv") || strobe_guard_is_json_name(name) ||
           is_stacks_name(name);
}

int strobe_guard_is_json_name(const char *name)
{
    return ends_with(name, ".json") || ends_with(name, ".json.gz");
}

int strobe_guard_is_page_path(const char *path)
{
    char before = '/';
    if (*path != '/' || strlen(path) > 200)
        return 0;
    for (const char *at = path + 1; *at; at++) {
        int is_plain =
            isalnum((unsigned char)*at) || *at == '-' || *at == '_' || *at == '.' || *at == '/';
        if (!is_plain || (before == '/' && (*at == '.' || *at == '/')))
            return 0;
        before = *at;
    }
    return 1;
}
