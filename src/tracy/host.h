/* host.h - the recorder's side of all Tracy clients: finds them, connects, keeps every socket read.
 *
 * One thread of its own, made by strobe_tracy_host_open and ended by strobe_tracy_host_close:
 *   - clients under the command, by the notices of the preloaded shim (wire/tracy_notice.h)
 *   - clients that were asked for (strobe_tracy_host_ask)
 *   - clients that announce themselves, and those below the command that no shim could be put into
 * Nothing is connected to before the host is open, which takes file and buffers that are ready.
 *
 * Every socket is read at least every 50 ms, whatever the others do; nothing here waits for a peer. What is found and
 * can't be recorded is named in the file (UNRECORDED) with the reason. Calls are for one thread (the
 * recorder's), but for strobe_tracy_host_status.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_HOST_H
#define STROBE_TRACY_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "file/file_write.h"

struct strobe_tracy_host;

/* Whose announcements (UDP, port 8086) are followed. */
enum strobe_tracy_announced {
    STROBE_TRACY_ANNOUNCED_LOOPBACK = 0, /* those of this host, on loopback */
    STROBE_TRACY_ANNOUNCED_NONE = 1,
    STROBE_TRACY_ANNOUNCED_ANY = 2, /* those of any interface; the sender is connected to */
};

struct strobe_tracy_host_options {
    struct strobe_file_writer *writer;         /* borrowed: takes events */
    struct strobe_file_writer *records_writer; /* borrowed: takes records; NULL: the same */
    const char
        *session_dir; /* borrowed for the call: where the shims' socket is made; NULL: none */
    enum strobe_tracy_announced announced;
    uint16_t announce_port; /* 0: 8086 */
    bool search_children;   /* look below this process for clients without the shim */
    bool no_symbols;        /* don't ask for the names of call stacks' addresses */
    uint64_t max_file_bytes;
    /* From the collector, called on the host's thread: a number for a process, a loss, the tick now. */
    uint32_t (*new_proc)(void *arg);
    void (*lose)(void *arg, uint32_t proc, uint64_t track, uint32_t cause, uint64_t count,
                 uint64_t first_tick, uint64_t last_tick);
    uint64_t (*now)(void *arg);
    void *arg; /* borrowed: must outlive the host */
};

struct strobe_tracy_host_status {
    uint32_t n_live;    /* clients that are connected */
    uint32_t n_waiting; /* asked for, and not there yet */
    uint32_t n_clients; /* taken in so far */
    uint32_t n_unrecorded;
};

enum strobe_err strobe_tracy_host_open(const struct strobe_tracy_host_options *options,
                                       struct strobe_tracy_host **out);

/* Where the shims find the host; "" without a session. */
const char *strobe_tracy_host_socket(const struct strobe_tracy_host *host);

/* Record the client at `where`, HOST:PORT (IPv6: [HOST]:PORT), as soon as it listens. INVALID where
 * that is no address. */
enum strobe_err strobe_tracy_host_ask(struct strobe_tracy_host *host, const char *where);

/* A process was reaped: how it ended, as wait tells it. */
void strobe_tracy_host_exit_status(struct strobe_tracy_host *host, uint32_t pid, int wait_status);

struct strobe_tracy_host_status strobe_tracy_host_status(struct strobe_tracy_host *host);

/* Write what is under construction. */
void strobe_tracy_host_flush(struct strobe_tracy_host *host);

/* Write what is under construction and do nothing more, until events may go to `writer`: for a change of files. Clients
 * wait in their sockets meanwhile. */
void strobe_tracy_host_pause(struct strobe_tracy_host *host);
void strobe_tracy_host_go_on(struct strobe_tracy_host *host, struct strobe_file_writer *writer);

/* Take leave of all clients (their names are fetched first), within 3 s; then everything is written. */
void strobe_tracy_host_stop(struct strobe_tracy_host *host);

/* Stop where it was not, free. NULL is allowed. */
void strobe_tracy_host_close(struct strobe_tracy_host *host);

#endif
