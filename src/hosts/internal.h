/* internal.h - what the files of this room share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_HOSTS_INTERNAL_H
#define STROBE_HOSTS_INTERNAL_H

#include <pthread.h>

#include "base/assert.h"
#include "file/records.h"
#include "hosts/hosts.h"
#include "hosts/packet.h"
#include "hosts/stamps.h"

enum { STROBE_HOSTS_BURST = 8 };

struct strobe_hosts_exchange {
    uint64_t sent, received, answered, back;
    uint32_t kernel; /* STROBE_CLOCK_KERNEL_… */
};

/* Somebody who is asked. */
struct strobe_hosts_peer {
    int fd;              /* owned: connected to it */
    const char *address; /* owned */
    struct strobe_clock_id id;
    bool is_known, is_silent; /* it has answered; it did, and does not any more */
    char name[STROBE_HOSTS_NAME];
    uint32_t number; /* of the last question */
    bool waits;      /* for its answer, until deadline_ns */
    uint64_t sent, deadline_ns, next_ns, answered_ns;
    uint32_t n_asked; /* of this burst */
    uint32_t n_bursts;
    struct strobe_hosts_exchange burst[STROBE_HOSTS_BURST];
    uint32_t n_burst; /* answered */
};

/* Somebody who asked us, and from where. */
struct strobe_hosts_asking {
    struct strobe_clock_id id;
    struct sockaddr_storage at;
    socklen_t n_at;
};

struct strobe_hosts {
    struct strobe_sha256_key key;
    struct strobe_clock_id id;
    char name[STROBE_HOSTS_NAME];
    struct strobe_stamps stamps;
    struct strobe_file_writer *writer; /* borrowed */
    struct strobe_records records;
    int listen_fd;                   /* owned; -1: none */
    int wake[2];                     /* owned: a pipe; a byte, or its end, means stop */
    struct strobe_hosts_peer *peers; /* owned */
    uint32_t n_peers;
    struct strobe_hosts_asking asking[STROBE_HOSTS_PEERS]; /* status.n_asking of them */
    struct strobe_hosts_status status;
    pthread_t thread;
    bool runs;
};

/* ---- burst.c: the questions to one peer ---- */

/* What is due for a peer now: a question, a timeout. When it wants to be looked at again. */
uint64_t strobe_hosts_peer_tick(struct strobe_hosts *hosts, struct strobe_hosts_peer *peer,
                                uint64_t now_ns, bool is_last);
/* Its socket can be read. */
void strobe_hosts_peer_read(struct strobe_hosts *hosts, struct strobe_hosts_peer *peer,
                            uint64_t now_ns);

/* ---- hosts.c ---- */

/* The socket that others ask at can be read. */
void strobe_hosts_answer(struct strobe_hosts *hosts);
/* Who somebody is, for the trace. */
void strobe_hosts_note_id(struct strobe_hosts *hosts, struct strobe_clock_id id, uint32_t role,
                          const char *name, const char *address);
/* What was learned goes to the trace. What the file can't take is kept for the next time, up to a bound, and then counted
 * (status.n_unstored); is_last: there is no next time. */
void strobe_hosts_store(struct strobe_hosts *hosts, bool is_last);
/* A remark for the trace. */
void strobe_hosts_note(struct strobe_hosts *hosts, const char *text);

#endif
