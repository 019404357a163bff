/* device_fifo.h - the shared memory between a program that has a device open and its recorder, byte by byte.
 * No code, no I/O. What goes through it: docs/device-protocol.md.
 *
 * One file per open device, in the session's folder, named <pid>-<start time>-<device>-<n>.device:
 *
 *   OFFSET          SIZE         WHAT
 *   0               4096         head: struct strobe_device_fifo_head
 *   head.data_off   data_bytes   the stream: a ring of bytes. Both sides map it twice in a row, so that
 *                                every frame is in one piece
 *   behind it       2 slots      where the recorder stands: struct strobe_device_fifo_slot and its bytes, each slot with room for
 *                                STROBE_DEVICE_FIFO_SLOT_BYTES. They are the recorder's own; the file grows when it stores them
 *
 * `written` and `read` count bytes for ever; byte n of the stream is at data_off + n % data_bytes. The producer
 * writes frames, then stores `written`. The recorder stores `read` when what it made of the bytes before it is in the
 * trace's file, so that whoever dies, the bytes that count are in one of both places.
 *
 * What a recorder made of the bytes before `read` and has not put into the file yet (zones whose parents are still to come, the fit of the
 * device's clock, names) is in a slot. So a successor goes on at `read` as if nothing had happened. The moves, by the recorder:
 *
 *        stream   ……………│ given back │ taken: in the block, or in the slot │ not taken │
 *                               read of the head                    read of the reader
 *
 *   1  the block goes to the trace's file           killed here: the successor takes the bytes again from the head's `read` on, and
 *                                                   leaves out what the file has already, which it counts track by track
 *   2  slot.read = none; the slot's bytes;          killed here: the other slot is the one of the head's `read`; as above
 *      slot.read = what was taken
 *   3  head.read = what was taken                   killed before: both slots are whole; the greater `read` counts
 *   4  the producer may write over what was given back
 *
 *   `recorder`   moved by                       meaning for the producer
 *   NONE         the producer, when it makes    nobody records: frames are discarded
 *                the file outside of a
 *                recording; a recorder that
 *                leaves
 *   WANTED       the producer, when it makes    a recorder is about to come: frames are kept, a full ring waits
 *                the file in a recording; a
 *                recorder that finds no ring
 *   ATTACHED     a recorder                     likewise
 *
 * The ring comes when somebody wants it: outside of a recording the file is its head alone, and `data_bytes` is 0. A recorder that finds
 * such a file stores WANTED (`strobe_device_fifo_ask`) and looks again later; the producer, with its next frames, makes the file longer and then stores
 * `data_bytes` (`strobe_device_fifo_extend`), which never changes again. Who dies in between leaves a file without a stream, which anybody may remove.
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
    STROBE_DEVICE_FIFO_VERSION = 3,
    STROBE_DEVICE_FIFO_OLDEST = 2, /* it always has a ring; all else of the head is the same */
    STROBE_DEVICE_FIFO_ALIGN = 64, /* bytes: frames are multiples of it */
    STROBE_DEVICE_FIFO_FRAME_MAX =
        65536, /* bytes of one frame; so much is kept free for the last ones */
};

#define STROBE_DEVICE_FIFO_SLOT_MAGIC 0x544f4c5342525453ull /* "STRBSLOT" */
#define STROBE_DEVICE_FIFO_SLOT_BYTES (256ull << 20)
#define STROBE_DEVICE_FIFO_SLOT_NONE  UINT64_MAX /* `read` of a slot that is being written */

enum strobe_device_fifo_recorder {
    STROBE_DEVICE_FIFO_NONE = 0,
    STROBE_DEVICE_FIFO_WANTED = 1,
    STROBE_DEVICE_FIFO_ATTACHED = 2,
};

/* OFFSET SIZE FIELD       shared; page 0 of the file
 *      0    8 magic       stored last
 *      8    4 version
 *     12    4 data_off    a multiple of 4096
 *     16    8 data_bytes  a power of two, 1 MiB at least; 0: there is no ring yet; producer, release
 *     24    4 pid         of the producer, in its own namespace
 *     28    4 device      its number
 *     32    8 start_time  of the producer, as in ring_layout.h
 *     40    4 clock       enum strobe_clock_kind of host times in the stream
 *     44    4 locked      1: byte 1 of the file is locked while the producer lives (ring/alive.h)
 *     48   16 reserved
 *     64    8 written     bytes put, ever; producer, release
 *     72    8 n_dropped   times that frames found no room; producer counts
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

/* OFFSET SIZE FIELD    the recorder's own; two of them, written in turn
 *      0    8 magic
 *      8    8 read     bytes of the stream that it stands behind; stored last. 2^64 - 1: it is being written
 *     16   16 trace    uuid of the trace's file that it goes with
 *     32    8 n_bytes  behind this head: device_record/saved.c
 *     40    4 layout   of these bytes: another one is of another Strobe, and nobody reads it
 *     44   20 reserved 0 */
struct strobe_device_fifo_slot {
    uint64_t magic;
    uint64_t read;
    uint8_t trace[16];
    uint64_t n_bytes;
    uint32_t layout;
    uint32_t reserved[5];
};
STROBE_AT(strobe_device_fifo_slot, magic, 0);
STROBE_AT(strobe_device_fifo_slot, read, 8);
STROBE_AT(strobe_device_fifo_slot, trace, 16);
STROBE_AT(strobe_device_fifo_slot, n_bytes, 32);
STROBE_AT(strobe_device_fifo_slot, layout, 40);
STROBE_AT(strobe_device_fifo_slot, reserved, 44);
static_assert(sizeof(struct strobe_device_fifo_slot) == 64, "strobe_device_fifo_slot is shared");

#endif
