/* hosts_side.c - see the header. The exchange itself: hosts/hosts.h.  SPDX-License-Identifier: MIT */
#include "recorder/hosts_side.h"

#include "recorder/internal.h"
#include "ring/session.h"

enum strobe_err strobe_recorder_hosts_open(struct strobe_recorder *r)
{
    const struct strobe_recorder_options *options = &r->options;
    STROBE_ASSERT(r->writer && !r->hosts);
    struct strobe_hosts_options hosts = {
        .listen = options->listen,
        .peers = options->peers,
        .n_peers = options->n_peers,
        .key = options->clock_key,
        .n_key = options->n_clock_key,
        .is_mono = strobe_session_clock() == STROBE_CLOCK_MONO,
        .may_be_busy = options->listen_may_be_busy,
        .writer = r->flight ? strobe_flight_records(r->flight) : r->writer,
    };
    if (!options->listen && !options->n_peers)
        return STROBE_OK;
    return strobe_hosts_open(&hosts, &r->hosts, &r->outcome.address);
}

void strobe_recorder_hosts_stop(struct strobe_recorder *r)
{
    if (!r->hosts)
        return;
    strobe_hosts_stop(r->hosts);
    r->outcome.hosts = strobe_hosts_status(r->hosts);
    r->outcome.was_compared = true;
    strobe_hosts_close(r->hosts);
    r->hosts = NULL;
}
