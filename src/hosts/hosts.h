/* hosts.h - the recorder's clock compared with those of other recorders while all of them record (docs/merge.md, "The exchange").
 *
 * One thread asks the peers in bursts and answers who asks; what it learns goes into the trace as CLOCK_ID and CLOCK_EXCHANGE
 * records. It never waits for anybody: a peer that is not there, or dies, costs a question a second.  SPDX-License-Identifier: MIT */
#ifndef STROBE_HOSTS_HOSTS_H
#define STROBE_HOSTS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "file/file_write.h"

struct strobe_hosts;

enum {
    STROBE_HOSTS_PEERS = 64,
    STROBE_HOSTS_KEY_MIN = 16, /* bytes of a key */
    STROBE_HOSTS_KEY_MAX = 4096,
    STROBE_HOSTS_NAME = 64,
};

struct strobe_hosts_options {
    const char *
        listen; /* borrowed: [ADDRESS:]PORT, of loopback where no address is named; NULL: nobody may ask */
    const char *const *peers; /* borrowed: HOST:PORT */
    uint32_t n_peers;
    const void *key; /* borrowed for the call */
    size_t n_key;
    bool is_mono;     /* ticks of the trace are CLOCK_MONOTONIC */
    bool may_be_busy; /* somebody may have the port already: then nobody is answered here */
    struct strobe_file_writer *writer; /* borrowed: records go there */
};

/* How it went. */
struct strobe_hosts_status {
    uint32_t n_peers, n_answering; /* that were asked; that answered at all */
    uint32_t n_asking;             /* that asked */
    uint32_t n_refused;            /* datagrams without the right code, at most UINT32_MAX */
    uint64_t n_exchanges;
    uint64_t n_unstored; /* records that the file did not take */
    uint64_t best_ns;    /* the shortest way there and back, 0: none */
    bool listens, has_kernel;
    char silent[STROBE_HOSTS_NAME]; /* one that never answered, "": none */
};

/* Bind, look the peers up, start the thread. *what: which address an error is about (borrowed from the options), NULL: none. BUSY:
 * its port is taken; NOTFOUND: no such host; INVALID: no address, or the key is too short. */
enum strobe_err strobe_hosts_open(const struct strobe_hosts_options *options,
                                  struct strobe_hosts **out, const char **what);

/* Ask once more, say farewell, end the thread. Bounded: a fifth of a second. */
void strobe_hosts_stop(struct strobe_hosts *hosts);
/* After strobe_hosts_stop. */
struct strobe_hosts_status strobe_hosts_status(const struct strobe_hosts *hosts);
void strobe_hosts_close(struct strobe_hosts *hosts); /* NULL is allowed */

#endif
