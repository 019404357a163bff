/* view.h - the parts of `strobe view` beside its server: what the start page shows and begins, and files of other profilers.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_VIEW_H
#define STROBE_CLI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "serve/imports.h"
#include "engine/reply.h"

/* Start `strobe` with these words, the first of which is its name; NULL behind the last. What it says goes to `said`, -1: to where
 * ours goes. -1: it can't be started. Any thread. */
pid_t strobe_view_spawn(const char *const *words, int said);

/* ---- the browser ---- */

struct strobe_browser;
/* Open the browser with a file that leads to the link: the link has the token, which must never be an argument of a process.
 * What can't be done is said. NULL without memory. To be freed after strobe_browser_end. */
struct strobe_browser *strobe_browser_open(const char *link);
/* Now and then: remove the file when the page has come, or say that none comes. NULL is allowed. */
void strobe_browser_look(struct strobe_browser *opened, bool has_come);
void strobe_browser_end(struct strobe_browser *opened); /* remove the file; NULL is allowed */

/* ---- sessions ---- */

/* The member `sessions` of the start page's list: this user's sessions, and who records them. */
void strobe_view_put_sessions(struct strobe_reply *reply);
/* A number that changes with them. */
uint64_t strobe_view_sessions_state(void);
/* The trace that a session is recorded into; 0: it is not recorded now. */
int strobe_view_session_trace(const char *session, char *out, size_t room);

/* ---- Tracy clients that announce themselves ---- */

struct strobe_view_clients;
/* Listen for them, on loopback; NULL without memory. Where that can't be, none are ever heard. */
struct strobe_view_clients *strobe_view_clients_open(void);
void strobe_view_clients_close(struct strobe_view_clients *clients); /* NULL is allowed */
/* Hear what has come. True: the list has changed. */
bool strobe_view_clients_look(struct strobe_view_clients *clients);
/* The member `clients`: those heard of within the last seconds. */
void strobe_view_put_clients(const struct strobe_view_clients *clients, struct strobe_reply *reply);

/* ---- recordings that were begun from the page ---- */

struct strobe_view_recorders;
/* Their traces go to `folder`, which must outlive them. NULL without memory. */
struct strobe_view_recorders *strobe_view_recorders_open(const char *folder);
/* Ends those that run, and waits until their traces are whole. NULL is allowed. */
void strobe_view_recorders_close(struct strobe_view_recorders *recorders);
/* Begin one: of a Tracy client (HOST:PORT), or of a session; the other is "". False: `why` says why not. */
bool strobe_view_recorders_begin(struct strobe_view_recorders *recorders, const char *tracy,
                                 const char *session, char *name, size_t n_name, char *why,
                                 size_t n_why);
/* End the one whose trace has this name. False: there is none. */
bool strobe_view_recorders_stop(struct strobe_view_recorders *recorders, const char *name);
/* True: one has ended, or its client has come. */
bool strobe_view_recorders_look(struct strobe_view_recorders *recorders);
/* The member `recordings`. */
void strobe_view_put_recordings(const struct strobe_view_recorders *recorders,
                                struct strobe_reply *reply);

/* ---- files of other profilers ---- */

struct strobe_view_imports;
struct strobe_view_imports *strobe_view_imports_open(void); /* NULL without memory */
void strobe_view_imports_close(
    struct strobe_view_imports *imports); /* removes what was made; NULL is allowed */
/* strobe_convert (serve/imports.h); `imports` is a struct strobe_view_imports. Any thread. */
int strobe_view_import(void *imports, const char *path, char *out, size_t room,
                       struct strobe_import_watch *watch);

#endif
