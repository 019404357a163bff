/* fuzz_hosts.c - datagrams by which hosts compare their clocks (docs/merge.md), at the socket that is asked and at the one that asks: of any bytes, or
 * signed with the right key and wrong in all else. An input is a byte of options, then a row of steps. What comes through sockets comes from it, what goes
 * out and into the trace is looked at and dropped (the linker leads these calls through here).
 *
 * Nine tenths of a run were SHA-256. Where the options don't have all of CODES, a code is a hash of the key and the message instead: as hard to meet by chance, and checked by the same lines.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <xxhash.h>

#include "hosts/internal.h"
#include "seeds.h"
#include "tape.h"

enum { STEPS_MAX = 100, N_PEERS = 2, RECORDS_MAX = 1 << 20 };
/* Of the first byte. */
enum { MONO = 1, CODES = 0xf0 };

static struct tape tape;
static struct strobe_hosts hosts;
static uint64_t n_sent;
static bool has_codes; /* real ones */

/* ---- led through here by the linker ---- */

void __real_strobe_sha256_sign(const struct strobe_sha256_key *key, const void *message,
                               size_t n_bytes, uint8_t out[STROBE_SHA256_BYTES]);
void __wrap_strobe_sha256_sign(const struct strobe_sha256_key *key, const void *message,
                               size_t n_bytes, uint8_t out[STROBE_SHA256_BYTES]);
void __wrap_strobe_sha256_sign(const struct strobe_sha256_key *key, const void *message,
                               size_t n_bytes, uint8_t out[STROBE_SHA256_BYTES])
{
    if (has_codes) {
        __real_strobe_sha256_sign(key, message, n_bytes, out);
        return;
    }
    uint64_t hash = XXH64(message, n_bytes, XXH64(key, sizeof *key, 0));
    for (int i = 0; i < STROBE_SHA256_BYTES; i += 8)
        memcpy(out + i, &hash, sizeof hash);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
    struct strobe_clock_packet packet;
    (void)fd, (void)flags;
    if (!strobe_clock_packet_read(bytes, n, &hosts.key, &packet))
        abort(); /* what leaves is signed */
    n_sent++;
    return (ssize_t)n;
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
                      socklen_t n_to);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
                      socklen_t n_to)
{
    (void)to;
    if (n_to > sizeof(struct sockaddr_storage))
        abort();
    return __wrap_send(fd, bytes, n, flags);
}

/* A packet whose fields are the input's; one in four has the number and the receiver that are waited for. */
static void make_packet(struct strobe_clock_packet *packet)
{
    uint8_t how = tape_byte(&tape);
    size_t n = sizeof packet->name;
    memset(packet, 0, sizeof *packet);
    packet->kind = 1 + how % 3;
    packet->number = how & 4 ? hosts.peers[0].number : (uint32_t)tape_number(&tape, 4);
    packet->from.low = how & 8 ? tape_byte(&tape) : tape_number(&tape, 8);
    packet->to = how & 4 ? hosts.id : packet->from;
    packet->received = tape_number(&tape, 8);
    packet->answered = tape_number(&tape, 8);
    packet->flags = tape_byte(&tape);
    n = how & 16 ? n : 4;
    const uint8_t *name = tape_take(&tape, &n);
    memcpy(packet->name, name, n);
    strobe_clock_packet_sign(packet, &hosts.key);
}

/* A stamp of the kernel, right or not. */
static void put_stamp(struct msghdr *message, uint8_t how)
{
    struct timespec stamps[3] = {{0, 0}, {0, 0}, {0, 0}};
    struct cmsghdr *head = message->msg_control;
    size_t n = how & 2 ? sizeof stamps : 8;
    if (message->msg_controllen < CMSG_SPACE(sizeof stamps))
        abort();
    if (how & 1) {
        stamps[0].tv_sec = (time_t)tape_number(&tape, 4);
        stamps[0].tv_nsec = (long)tape_number(&tape, 4);
    } else {
        clock_gettime(CLOCK_REALTIME, &stamps[0]);
    }
    memset(message->msg_control, 0, CMSG_SPACE(sizeof stamps));
    *head = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(n), .cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPING};
    memcpy(CMSG_DATA(head), stamps, n);
    message->msg_controllen = CMSG_SPACE(n);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    struct strobe_clock_packet packet;
    uint8_t how = tape_byte(&tape);
    const uint8_t *bytes = (const uint8_t *)&packet;
    size_t n = sizeof packet, room = message->msg_iov->iov_len;
    (void)fd, (void)flags;
    if (how == 255) {
        errno = ECONNREFUSED;
        return -1;
    }
    if (how & 1) {
        make_packet(&packet);
    } else {
        n = tape_byte(&tape);
        bytes = tape_take(&tape, &n);
    }
    n = n < room ? n : room;
    memcpy(message->msg_iov->iov_base, bytes, n);
    message->msg_namelen = how & 2 ? sizeof(struct sockaddr_storage) : 0;
    memset(message->msg_name, how, message->msg_namelen);
    if (how & 4)
        put_stamp(message, how >> 3);
    else
        message->msg_controllen = 0;
    return (ssize_t)n;
}

enum strobe_err __wrap_strobe_file_put_records(struct strobe_file_writer *writer,
                                               struct strobe_records *records);
enum strobe_err __wrap_strobe_file_put_records(struct strobe_file_writer *writer,
                                               struct strobe_records *records)
{
    (void)writer;
    if (records->n_bytes > RECORDS_MAX)
        abort();
    return STROBE_OK;
}

/* ---- one input ---- */

static void open_hosts(void)
{
    static char address[] = "127.0.0.1:1";
    static struct strobe_hosts_peer peers[N_PEERS];
    memset(peers, 0, sizeof peers);
    memset(&hosts, 0, sizeof hosts);
    strobe_sha256_key("a key of sixteen bytes", 22, &hosts.key);
    hosts.id = (struct strobe_clock_id){1, 2};
    hosts.listen_fd = hosts.wake[0] = hosts.wake[1] = -1;
    hosts.peers = peers;
    hosts.n_peers = N_PEERS;
    memcpy(hosts.name, "fuzz", 5);
    for (int i = 0; i < N_PEERS; i++)
        peers[i] = (struct strobe_hosts_peer){.fd = -1, .address = address};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint64_t now = 1000000000;
    tape = (struct tape){data, data + n};
    open_hosts();
    uint8_t options = tape_byte(&tape);
    hosts.stamps.is_mono = options & MONO;
    has_codes = (options & CODES) == CODES;
    for (int i = 0; i < STEPS_MAX && tape_left(&tape); i++) {
        uint8_t step = tape_byte(&tape);
        struct strobe_hosts_peer *peer = &hosts.peers[step >> 2 & 1];
        if (step % 4 == 0)
            strobe_hosts_answer(&hosts);
        else if (step % 4 == 1)
            strobe_hosts_peer_read(&hosts, peer, now);
        else
            strobe_hosts_peer_tick(&hosts, peer, now += (uint64_t)tape_byte(&tape) << 24,
                                   step & 64);
        if (hosts.status.n_asking > STROBE_HOSTS_PEERS || peer->n_burst > STROBE_HOSTS_BURST)
            abort();
        if (memchr(peer->name, 27, sizeof peer->name))
            abort(); /* nothing that a terminal would act on */
    }
    strobe_records_free(&hosts.records);
    return 0;
}
