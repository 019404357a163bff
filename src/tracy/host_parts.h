/* host_parts.h - what the host's files share: its state, its links, who calls whom.
 * Inside src/tracy only. Everything here runs on the host's thread, under its lock.
 *
 *   host.c      the thread: one epoll set, the rounds, the end
 *   link.c      one client: connecting, the right protocol, bytes in and out, its end
 *   notices.c   the shims' socket
 *   announce.c  announcements by UDP
 *   find.c      clients below the command that have no shim
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_HOST_PARTS_H
#define STROBE_TRACY_HOST_PARTS_H

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "tracy/host.h"
#include "tracy/session.h"

enum {
    HOST_LINKS_MAX = 4096,
    HOST_CALLERS_MAX = 1024,
    HOST_READ_BYTES = 256 << 10,
    HOST_SHARE_BYTES = 32 << 10, /* of one read, while many clients have something to say */
    HOST_KNOWN_MAX = 64,
};

/* What an event of the epoll set belongs to: the first field of whatever has a descriptor in it. */
enum watch_kind { WATCH_WAKE, WATCH_SHIMS, WATCH_CALLER, WATCH_ANNOUNCED, WATCH_LINK };
struct watch {
    enum watch_kind kind;
    int fd; /* owned; -1: none */
};

enum link_origin { LINK_ASKED, LINK_NOTICED, LINK_ANNOUNCED, LINK_FOUND };

/* states of link_state, moved by strobe_tracy_link_move:
 *
 *   WAITING <──► CONNECTING <──► GREETING, TALKING ──► WAITING          any ──► OVER ──► freed
 *
 *   WAITING -> CONNECTING    it is due, and the recording goes on: the next number is tried
 *   CONNECTING -> TALKING    connected; a session has the number
 *   CONNECTING -> GREETING   connected; a number that no session knows is asked for, to find out what the client speaks
 *   GREETING, TALKING -> CONNECTING   it does not speak that number: a new connection for the next one
 *   CONNECTING, GREETING -> WAITING   nobody is there, or nobody answers: somebody asked for it, or its process lives
 *   TALKING -> WAITING       likewise; somebody else has it; or an on-demand client may be met again
 *   WAITING -> OVER          the recording ends, or no number or socket is left
 *   CONNECTING, GREETING, TALKING -> OVER   given up with a reason, or its session is over for good; the host closes
 *
 * OVER lasts until it is known how its process ended. Only while TALKING there is a session; a link that the host closes
 * keeps it until it is freed. */
enum link_state { LINK_WAITING, LINK_CONNECTING, LINK_GREETING, LINK_TALKING, LINK_OVER };

struct link {
    struct watch watch; /* first */
    enum link_origin origin;
    enum link_state state;
    struct sockaddr_storage address;
    socklen_t n_address;
    char where[80];   /* for people */
    uint32_t pid;     /* 0: not known */
    int pidfd;        /* owned; -1: none */
    char exe[256];    /* "": not known */
    char program[65]; /* as its welcome says */
    uint32_t hint;    /* protocol that was announced or is remembered, 0: none */
    uint32_t n_tried; /* numbers of the list that it does not speak */
    uint32_t protocol;
    struct strobe_tracy_session *session; /* owned while TALKING */
    bool taken;                           /* it said welcome, now or before */
    bool welcomed;                        /* in this session */
    bool wants_write, stopping;
    bool busy;        /* it said that it has a server already */
    bool said_end;    /* Terminate came, not asked for by us */
    bool ended;       /* PROCESS_END is written, or will never be */
    uint64_t next_ns; /* WAITING: until then */
    uint64_t last_ns; /* when bytes came last */
    int answer_fd;    /* owned: a shim waits to hear that we are connected; -1: none */
    int exit_fd;      /* owned: a shim waits until its client went quiet; -1: none */
    uint64_t exit_ns; /* since when */
    uint32_t proc;
    uint64_t end_tick; /* when its session ended, 0: not yet */
};

/* A process that said something through the shim and whose connection is still open. */
struct caller {
    struct watch watch; /* first */
    uint32_t pid, parent;
    bool forked;
};

struct strobe_tracy_host {
    struct strobe_tracy_host_options options;
    struct strobe_build_store *store;
    struct strobe_records records; /* of the host itself: UNRECORDED, PROCESS_END */
    pthread_t thread;
    bool thread_runs;
    pthread_mutex_t lock; /* held while the thread works; given up while it waits */
    uint32_t n_at_lock;   /* atomic: others who want it */
    int epoll;
    struct watch wake, shims, announced;
    char socket_path[1024];
    bool stop, stopped;
    uint64_t stop_ns;
    uint8_t *buffer;     /* owned: HOST_READ_BYTES */
    struct link **links; /* owned */
    uint32_t n_links, cap_links, n_ready;
    struct caller **callers; /* owned */
    uint32_t n_callers;
    struct known { /* what programs spoke: the next one of them is asked right away */
        char exe[256];
        uint32_t protocol;
    } known[HOST_KNOWN_MAX];
    uint32_t n_known;
    uint32_t told[256]; /* pids that were named as not recorded: a ring */
    uint32_t n_told;
    struct strobe_tracy_host_status status;
    struct strobe_tracy_host_status shown; /* atomic: a copy for others */
    uint64_t first_tick, first_ns;         /* for the rate of the trace's clock */
    uint64_t next_block_ns;
    uint64_t next_search_ns, search_every_ns;
    uint32_t newest_pid;    /* of the machine, at the last search */
    bool search_is_done;    /* which left nobody to be looked at again */
    struct find_seen *seen; /* owned by find.c */
};

/* host.c */
uint64_t strobe_tracy_host_ns(void);
uint64_t strobe_tracy_host_tick(const struct strobe_tracy_host *host);
double strobe_tracy_host_tick_ns(const struct strobe_tracy_host *host);
bool strobe_tracy_host_watch(struct strobe_tracy_host *host, struct watch *watch, uint32_t events);
void strobe_tracy_host_unwatch(struct strobe_tracy_host *host, struct watch *watch);
/* Name something that can't be recorded, once per process (pid 0: always). */
void strobe_tracy_host_unrecorded(struct strobe_tracy_host *host, uint32_t pid, const char *what,
                                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* link.c */
struct link *strobe_tracy_link_new(struct strobe_tracy_host *host, enum link_origin origin,
                                   const struct sockaddr *address, socklen_t n_address,
                                   uint32_t pid);
void strobe_tracy_link_free(struct strobe_tracy_host *host, struct link *link);
/* The socket is ready. */
void strobe_tracy_link_event(struct strobe_tracy_host *host, struct link *link, uint32_t events);
/* Whatever time asks for. When it has to be called again. */
uint64_t strobe_tracy_link_tick(struct strobe_tracy_host *host, struct link *link, uint64_t now_ns);
/* See the drawing above. */
void strobe_tracy_link_move(struct link *link, enum link_state to);
/* Take leave of the client. */
void strobe_tracy_link_stop(struct strobe_tracy_host *host, struct link *link);
struct link *strobe_tracy_link_of_pid(struct strobe_tracy_host *host, uint32_t pid);
/* Whether the client of that process at that port is connected or will be. */
bool strobe_tracy_link_is_due(const struct strobe_tracy_host *host, uint32_t pid, uint32_t port);

/* notices.c */
enum strobe_err strobe_tracy_notices_open(struct strobe_tracy_host *host, const char *dir);
void strobe_tracy_notices_accept(struct strobe_tracy_host *host);
void strobe_tracy_notices_read(struct strobe_tracy_host *host, struct caller *caller);
/* Free the callers that have gone. */
void strobe_tracy_notices_sweep(struct strobe_tracy_host *host);
/* What the copies that are still there are. */
void strobe_tracy_notices_last(struct strobe_tracy_host *host);
void strobe_tracy_notices_close(struct strobe_tracy_host *host);

/* announce.c */
void strobe_tracy_announce_open(struct strobe_tracy_host *host);
void strobe_tracy_announce_read(struct strobe_tracy_host *host);

/* find.c */
void strobe_tracy_search(struct strobe_tracy_host *host, uint64_t now_ns);
void strobe_tracy_find_close(struct strobe_tracy_host *host);
/* A descriptor of a process, -1: none; and how it ended, as wait tells it. False: it has not, or it can't be told. */
int strobe_tracy_find_pidfd(uint32_t pid);
bool strobe_tracy_find_end(uint32_t pid, int pidfd, int *wait_status);
/* The path of the program that a process runs; "" where it can't be told. */
void strobe_tracy_find_exe(uint32_t pid, char *out, size_t cap);
/* Field `n` (from 3, after the name) of a process's stat; 0 where there is none. */
uint64_t strobe_tracy_find_stat(uint32_t pid, int field);

#endif
