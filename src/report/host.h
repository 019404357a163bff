/* host.h - what the host's two logs say: ops, signposts, trace replays, zone times.
 * Filled by messages.c (tracy_ops_data.csv) and times.c (tracy_ops_times.csv). The join needs both,
 * either may be missing or damaged.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_HOST_H
#define STROBE_REPORT_HOST_H

#include "base/map.h"
#include "report/desc.h"
#include "report/faults.h"

enum { STROBE_REPORT_DEVICE_BITS = 10, STROBE_REPORT_NONE = -1 };

#define STROBE_REPORT_MESSAGES_FILE "tracy_ops_data.csv"
#define STROBE_REPORT_TIMES_FILE    "tracy_ops_times.csv"

struct strobe_report_op {
    uint64_t id; /* fallback bit, program id, device id */
    uint64_t hash;
    int64_t device;     /* -1: none, a host op */
    int64_t trace;      /* -1: not captured into a trace */
    int64_t message_ns; /* -1: no message */
    int64_t start_ns;   /* of the host zone; -1: none */
    int64_t exec_ns;
    uint64_t line;    /* where it was first seen */
    uint32_t desc;    /* UINT32_MAX: nothing is known */
    uint32_t child;   /* first of its child calls; UINT32_MAX: none */
    uint32_t mlir[3]; /* place, const eval, metadata: into strings; UINT32_MAX: none */
    int8_t cache_hit; /* -1 unknown */
    bool has_message;
    bool waits_for_full; /* a cached message, or a full one with bad JSON */
    bool bad_json;
};

struct strobe_report_child {
    uint32_t name; /* into child_names */
    uint32_t next;
    int64_t ns;
};

struct strobe_report_signpost {
    int64_t ns;
    uint32_t at, len; /* into texts: all of the message after its keyword */
};

/* The replays of one trace on one device. */
struct strobe_report_replays {
    int64_t device, trace;
    int64_t *ns; /* owned: n times, in the order of the messages */
    uint32_t n;
};

struct strobe_report_host {
    struct strobe_report_faults *faults; /* borrowed: outlives the host tables */
    struct strobe_report_descs descs;
    struct strobe_report_op *ops; /* owned: in the order of their first message */
    uint32_t n_ops, cap_ops;
    struct strobe_map by_id;
    struct strobe_index by_hash;              /* (device, hash) -> description */
    struct strobe_report_signpost *signposts; /* owned */
    uint32_t n_signposts, cap_signposts;
    struct strobe_report_replays *replays; /* owned */
    uint32_t n_replays;
    struct strobe_index by_trace;
    struct strobe_report_child *children; /* owned */
    uint32_t n_children, cap_children;
    char **child_names; /* owned */
    uint32_t n_child_names;
    struct strobe_index by_child_name;
    struct strobe_out texts; /* of signposts and MLIR messages */
    struct {
        int64_t device, trace, last_id;
    } * devices; /* owned: the trace being captured and the newest op, per device */
    uint32_t n_devices;
    struct {
        int64_t ns;
        uint32_t desc;
    } * unplaced; /* owned: messages that do not say whose they are; the zone around them does */
    uint32_t n_unplaced;
    uint32_t mlir[3]; /* the newest MLIR message of each kind */
    bool has_mlir, has_messages, has_times;
    struct strobe_json_tree json; /* used again for every message */
};

/* Start with empty tables. */
void strobe_report_host_open(struct strobe_report_host *host, struct strobe_report_faults *faults);

/* Take one message. Every fault goes to the ledger; only NOMEM is returned. */
enum strobe_err strobe_report_host_message(struct strobe_report_host *host,
                                           struct strobe_report_span text, int64_t ns,
                                           uint64_t line, bool cut);

/* Read the messages of a folder; without the file a fault is noted. IO and NOMEM stop it. */
enum strobe_err strobe_report_host_read_messages(struct strobe_report_host *host,
                                                 const char *folder);

/* Read the zone times of a folder, after the messages. */
enum strobe_err strobe_report_host_read_times(struct strobe_report_host *host, const char *folder);

/* Give ops that came before their full message its description. After all messages. */
void strobe_report_host_resolve(struct strobe_report_host *host);

/* The op with this id, added when it is new. NULL without memory. */
struct strobe_report_op *strobe_report_host_op(struct strobe_report_host *host, uint64_t id,
                                               bool *is_new);
struct strobe_report_op *strobe_report_host_find(const struct strobe_report_host *host,
                                                 uint64_t id);

/* Time of a trace's replay number `session` (from 1); -1 when the host did not say. */
int64_t strobe_report_host_replay(const struct strobe_report_host *host, int64_t device,
                                  int64_t trace, int64_t session);
const struct strobe_report_replays *
strobe_report_host_replays(const struct strobe_report_host *host, int64_t device, int64_t trace);

void strobe_report_host_close(struct strobe_report_host *host);

#endif
