/* guard.h - who may ask: token, Host, Origin, names of files. Decides on text alone.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_GUARD_H
#define STROBE_SERVE_GUARD_H

#include <stddef.h>

enum { STROBE_TOKEN_DIGITS = 32 };

/* Fill a random token of hex digits, NUL-terminated. 0: the system gave no random bytes. */
int strobe_guard_make_token(char token[STROBE_TOKEN_DIGITS + 1]);

/* 1: `given` is the token; takes as long whatever differs. */
int strobe_guard_is_token(const char *token, const char *given);

/* The name of this server's cookie. A browser gives a host's cookies to all of its ports, and tunnels give one port to several
 * servers: the name has the port and something of the token, so that none takes another's place. */
enum { STROBE_COOKIE_NAME = 32 };
void strobe_guard_cookie_name(const char *token, int port, char out[STROBE_COOKIE_NAME]);

/* 1: a Cookie header has the token under its name; cookies of others are stepped over. */
int strobe_guard_has_cookie(const char *token, int port, const char *header);

/* 1: a Host header names this machine's loopback, with any port or none. */
int strobe_guard_is_host(const char *host);

/* 1: an Origin header is http:// and the very host of the Host header. */
int strobe_guard_is_origin(const char *origin, const char *host);

/* 1: a plain name of a trace: no folders, no tricks, ".strobe", ".tracy", ".json" or ".json.gz",
 * ".folded", ".collapsed", ".perf", ".pprof", ".pb.gz", "perf.data", ".pftrace", ".pftrace.gz" or ".perfetto-trace", or a device log's. */
int strobe_guard_is_trace_name(const char *name);
/* 1: its content must be looked at, for not every such file is a trace. */
int strobe_guard_is_json_name(const char *name);

/* 1: a path of the page's files: names of letters, digits, '.', '-', '_' between slashes, none of
 * them starting with a dot. */
int strobe_guard_is_page_path(const char *path);

#endif
