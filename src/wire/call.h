/* call.h - a process that can't join its session says so.
 *
 * The session's folder may be out of its sight: another mount namespace, a chroot, a root that is read-only, another
 * user's rights. So the way goes around files: one datagram to an abstract socket (AF_UNIX) of the recorder, whose
 * name is in STROBE_CALL beside STROBE_SESSION. The sender never waits and never asks again. Such names belong to a
 * network namespace: from another one the datagram goes nowhere, and the recorder has /proc alone to look at.
 *
 * The name has random digits in it, so that nobody but the recorded programs knows it. Who sends is taken from the socket
 * (SCM_CREDENTIALS): the kernel puts the pid into the recorder's namespace.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_CALL_H
#define STROBE_WIRE_CALL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/at.h"

#define STROBE_CALL_ENV   "STROBE_CALL"         /* the name, without its first byte 0 */
#define STROBE_CALL_MAGIC 0x4c4c414342525453ull /* "STRBCALL" */

/* OFFSET SIZE FIELD    little-endian
 *      0    8 magic
 *      8    4 version  1; another one is not read
 *     12    4 error    errno of what failed
 *     16    4 pid      as the sender knows itself
 *     20    4 uid      likewise
 *     24   16 program  its name, NUL-padded
 *     40  512 folder   the session's folder as it looked for it, NUL-terminated; empty: none could be named */
struct strobe_call {
    uint64_t magic;
    uint32_t version;
    uint32_t error;
    uint32_t pid;
    uint32_t uid;
    char program[16];
    char folder[512];
};
STROBE_AT(strobe_call, magic, 0);
STROBE_AT(strobe_call, version, 8);
STROBE_AT(strobe_call, error, 12);
STROBE_AT(strobe_call, pid, 16);
STROBE_AT(strobe_call, uid, 20);
STROBE_AT(strobe_call, program, 24);
STROBE_AT(strobe_call, folder, 40);
static_assert(sizeof(struct strobe_call) == 552, "between programs");

#endif
