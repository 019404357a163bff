/* device_fifo.h - the shared memory between a program that has a device open and its recorder, byte by byte.
 * No code, no I/O. What goes through it: docs/device-protocol.md.
 *
 * One file per open device, in the session's folder, named <pid>-<start time>-<device>-<n>.device:
 *
 *   OFFSET          SIZE         WHAT
 *   0               4096         head: struct strobe_device_fifo_head
 *   4096            2 * 135168   where the recorder's decoder stands, twice: struct strobe_device_fifo_state
 *   head.data_off   data_bytes   the stream: a ring of bytes. Both sides map it twice in a row, so that
 *                                every frame is in one piece
 *
 * `written` and `read` count bytes for ever; byte n of the stream is at data_off + n % data_bytes. The producer
 * writes frames, then stores `written`. The recorder stores `read` when what it made of the bytes before it is in the
 * trace's file, so that whoever dies, the bytes that count are in one of both places.
 *
 *   `recorder`   moved by                       meaning for the producer
 *   NONE         the producer, when it makes    nobody records: frames are discarded
 *                the file outside of a
 *                recording; a recorder that
 *                leaves
 *   WANTED       the producer, when it makes    a recorder is about to come: frames are kept, a full ring waits
 *                the file in a recording
 *   ATTACHED     a recorder                     likewise
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_DEVICE_FIFO_H
#define STROBE_WIRE_DEVICE_FIFO_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/at.h"

#define STROBE_DEVICE_FIFO_MAGIC  0x4f46454442525453ull /* "STRBDEFO" */
#define STROBE_DEVICE_FIFO_SUFFIX ".device"

enum {
    STROBE_DEVICE_FIFO_VERSION = 1,
    STROBE_DEVICE_FIFO_ALIGN = 64,        /* bytes: frames are multiples of it */
    STROBE_DEVICE_FIFO_FRAME_MAX = 65536, /* bytes of one frame */
    STROBE_DEVICE_FIFO_LANES = 4096,      /* whose decoder's state is kept */
};

enum strobe_device_fifo_recorder {
    STROBE_DEVICE_FIFO_NONE = 0,
    STROBE_DEVICE_FIFO_WANTED = 1,
    STROBE_DEVICE_FIFO_ATTACHED = 2,
};

/* OFFSET SIZE FIELD       shared; page 0 of the file
 *      0    8 magic       stored last
 *      8    4 version
 *     12    4 data_off    a multiple of 4096
 *     16    8 data_bytes  a power of two, 1 MiB at least
 *     24    4 pid         of the producer, in its own namespace
 *     28    4 device      its number
 *     32    8 start_time  of the producer, as in ring_layout.h
 *     40    4 clock       enum strobe_clock_kind of host times in the stream
 *     44    4 locked      1: byte 1 of the file is locked while the producer lives (ring/alive.h)
 *     48   16 reserved
 *     64    8 written     bytes put, ever; producer, release
 *     72    8 n_dropped   frames that found no room; producer counts
 *     80    8 waited_ns   time spent waiting for room; producer counts
 *     88    4 closed      1: the producer has put its last frame
 *     92   36 reserved
 *    128    8 read        bytes that are in the trace's file, ever; recorder, release
 *    136    4 recorder    enum strobe_device_fifo_recorder
 *    140    4 attach      recorders that attached; the producer describes its device to each; recorder counts
 *    144    4 n_given     futex that a waiting producer sleeps on; recorder counts
 *    148    4 n_waiting   1: it sleeps; producer
 *    152    8 heartbeat   recorder counts up while it lives
 *    160   32 reserved */
struct strobe_device_fifo_head {
    uint64_t magic;
    uint32_t version;
    uint32_t data_off;
    uint64_t data_bytes;
    uint32_t pid;
    uint32_t device;
    uint64_t start_time;
    uint32_t clock;
    uint32_t locked;
    uint32_t reserved1[4];
    uint64_t written;
    uint64_t n_dropped;
    uint64_t waited_ns;
    uint32_t closed;
    uint32_t reserved2[9];
    uint64_t read;
    uint32_t recorder;
    uint32_t attach;
    uint32_t n_given;
    uint32_t n_waiting;
    uint64_t heartbeat;
    uint32_t reserved3[8];
};
STROBE_AT(strobe_device_fifo_head, magic, 0);
STROBE_AT(strobe_device_fifo_head, version, 8);
STROBE_AT(strobe_device_fifo_head, data_off, 12);
STROBE_AT(strobe_device_fifo_head, data_bytes, 16);
STROBE_AT(strobe_device_fifo_head, pid, 24);
STROBE_AT(strobe_device_fifo_head, device, 28);
STROBE_AT(strobe_device_fifo_head, start_time, 32);
STROBE_AT(strobe_device_fifo_head, clock, 40);
STROBE_AT(strobe_device_fifo_head, locked, 44);
STROBE_AT(strobe_device_fifo_head, reserved1, 48);
STROBE_AT(strobe_device_fifo_head, written, 64);
STROBE_AT(strobe_device_fifo_head, n_dropped, 72);
STROBE_AT(strobe_device_fifo_head, waited_ns, 80);
STROBE_AT(strobe_device_fifo_head, closed, 88);
STROBE_AT(strobe_device_fifo_head, reserved2, 92);
STROBE_AT(strobe_device_fifo_head, read, 128);
STROBE_AT(strobe_device_fifo_head, recorder, 136);
STROBE_AT(strobe_device_fifo_head, attach, 140);
STROBE_AT(strobe_device_fifo_head, n_given, 144);
STROBE_AT(strobe_device_fifo_head, n_waiting, 148);
STROBE_AT(strobe_device_fifo_head, heartbeat, 152);
STROBE_AT(strobe_device_fifo_head, reserved3, 160);
static_assert(sizeof(struct strobe_device_fifo_head) == 192, "strobe_device_fifo_head is shared");

/* OFFSET SIZE FIELD    a lane's decoder, after byte `read` of the stream; the recorder's own
 *      0    4 core_yx  of its core
 *      4    4 risc
 *      8    4 program  runtime id in effect
 *     12    4 timer    bits 32 to 63 of its time; 2^32 - 1: not known
 *     16    8 cursor   end of its last zone, in cycles; 2^64 - 1: not known
 *     24    4 head     count of its next word
 *     28    4 reserved 0 */
struct strobe_device_fifo_lane {
    uint32_t core_yx;
    uint32_t risc;
    uint32_t program;
    uint32_t timer;
    uint64_t cursor;
    uint32_t head;
    uint32_t reserved;
};
STROBE_AT(strobe_device_fifo_lane, core_yx, 0);
STROBE_AT(strobe_device_fifo_lane, risc, 4);
STROBE_AT(strobe_device_fifo_lane, program, 8);
STROBE_AT(strobe_device_fifo_lane, timer, 12);
STROBE_AT(strobe_device_fifo_lane, cursor, 16);
STROBE_AT(strobe_device_fifo_lane, head, 24);
STROBE_AT(strobe_device_fifo_lane, reserved, 28);
static_assert(sizeof(struct strobe_device_fifo_lane) == 32, "strobe_device_fifo_lane is shared");

/* OFFSET  SIZE FIELD    two of them, written in turn: the one whose `read` is the head's counts
 *      0     8 read     stored last
 *      8     4 n_lanes  from 0 on
 *     12  4084 reserved
 *   4096 131072 lanes[4096] */
struct strobe_device_fifo_state {
    uint64_t read;
    uint32_t n_lanes;
    uint32_t reserved[1021];
    struct strobe_device_fifo_lane lanes[STROBE_DEVICE_FIFO_LANES];
};
STROBE_AT(strobe_device_fifo_state, read, 0);
STROBE_AT(strobe_device_fifo_state, n_lanes, 8);
STROBE_AT(strobe_device_fifo_state, reserved, 12);
STROBE_AT(strobe_device_fifo_state, lanes, 4096);
static_assert(sizeof(struct strobe_device_fifo_state) == 135168,
              "strobe_device_fifo_state is shared");

#endif
