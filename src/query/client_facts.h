/* client_facts.h - what processes say of their clocks, GPU contexts, locks and sections: records that
 * few readers need and strobe_trace_open does not keep. Also the axis on which Tracy's tools show a
 * trace: a Tracy client's own zero and multiplier.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_CLIENT_FACTS_H
#define STROBE_QUERY_CLIENT_FACTS_H

#include "query/trace.h"

/* A process that spoke Tracy's protocol, or was read from a .tracy file (protocol 0). */
struct strobe_client_fact {
    uint8_t is_tracy;
    uint64_t protocol;
    double timer_mul;
    uint64_t init_begin, init_end; /* on its own clock */
    uint64_t delay, resolution, epoch, exec_time, flags, arch, cpu_id;
    int64_t sampling;
    uint32_t maker, program, host; /* texts */
    int64_t offset_ns;             /* of its zero on the axis */
};

struct strobe_gpu_context_fact {
    uint32_t process;
    uint64_t id;
    uint64_t type, calibrated, tid;
    uint64_t host; /* on the process's own clock */
    int64_t time;
    double period_ns;
    uint32_t name; /* text */
    uint8_t is_known;
};

struct strobe_lock_fact {
    uint64_t loc;
    uint64_t made; /* time on the process's own clock; 0: not known */
    uint32_t name;
    uint8_t is_shared;
};

struct strobe_section_fact {
    uint32_t process;
    uint64_t category;
    uint32_t name;
};

/* A thread of somebody else that was seen in switches. */
struct strobe_foreign_fact {
    uint64_t pid;
    uint32_t process, name; /* texts */
};

struct strobe_client_facts {
    struct strobe_client_fact *clients; /* owned: by process index */
    uint32_t n_clients, clients_room;
    struct strobe_gpu_context_fact *contexts; /* owned */
    uint32_t contexts_room;
    struct strobe_idmap context_ids; /* (process, id) */
    struct strobe_lock_fact *locks;  /* owned */
    uint32_t locks_room;
    struct strobe_idmap lock_ids;         /* (process, id) */
    struct strobe_section_fact *sections; /* owned */
    uint32_t n_sections, sections_room;
    struct strobe_foreign_fact *foreign; /* owned */
    uint32_t foreign_room;
    struct strobe_idmap foreign_ids;  /* (process, tid) */
    const struct strobe_trace *trace; /* borrowed */
};

/* Read them: one pass over the records. Free after a failure too. */
enum strobe_err strobe_client_facts_load(struct strobe_trace *trace,
                                         struct strobe_client_facts *out);
void strobe_client_facts_free(struct strobe_client_facts *facts);

/* The client that a process is, NULL: none of Tracy's. */
static inline const struct strobe_client_fact *
strobe_client_of(const struct strobe_client_facts *facts, uint32_t process)
{
    return process < facts->n_clients && facts->clients[process].is_tracy ? &facts->clients[process]
                                                                          : NULL;
}

/* A time on a process's own clock in ns as Tracy's tools show it. The zero of a trace of one Tracy
 * client is that client's, of any other the start of the recording. A client's times are those after
 * init_begin, times its multiplier, cut to whole ns. */
static inline int64_t strobe_client_own_ns(const struct strobe_client_facts *facts,
                                           uint32_t process, uint64_t time)
{
    const struct strobe_client_fact *client = strobe_client_of(facts, process);
    if (!client)
        return strobe_clock_rel(&facts->trace->clock, time);
    int64_t ticks = (int64_t)(time - client->init_begin);
    return (int64_t)((double)ticks * client->timer_mul) + client->offset_ns;
}

/* Back: the tick of the trace at a time of that axis. */
static inline uint64_t strobe_client_tick(const struct strobe_client_facts *facts, uint32_t process,
                                          int64_t ns)
{
    const struct strobe_client_fact *client = strobe_client_of(facts, process);
    if (!client)
        return strobe_clock_tick_of(&facts->trace->clock, ns);
    double ticks =
        (double)(ns - client->offset_ns) / (client->timer_mul > 0 ? client->timer_mul : 1);
    ticks = ticks > 9e18 ? 9e18 : ticks < -9e18 ? -9e18 : ticks;
    return strobe_trace_own_tick(facts->trace, process,
                                 (int64_t)(client->init_begin + (uint64_t)(int64_t)ticks));
}

/* As strobe_client_own_ns, of a tick of the trace (what is no client, as a device, has times of the trace's clock); `own`: what an OWN_TIME adds to it (events, zones). */
static inline int64_t strobe_client_ns(const struct strobe_client_facts *facts, uint32_t process,
                                       uint64_t tick, int64_t own)
{
    if (facts->trace->processes[process].n_own && strobe_client_of(facts, process))
        tick = (uint64_t)(strobe_trace_own_time(facts->trace, process, tick) + own);
    return strobe_client_own_ns(facts, process, tick);
}

#endif
