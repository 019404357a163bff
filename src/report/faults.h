/* faults.h - the ledger of everything that was missing or wrong in the logs.
 * Nothing here stops a report: a fault is counted, named with its place, and the work goes on.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_FAULTS_H
#define STROBE_REPORT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/text.h"

/* Name, word for scripts, sentence for people. */
#define STROBE_REPORT_FAULTS(X)                                                               \
    X(NO_MESSAGES, "no-messages", "there are no op messages")                                 \
    X(NO_TIMES, "no-host-zones", "there are no host zones")                                   \
    X(NO_DEVICE_LOG, "no-device-log", "there is no device log")                               \
    X(PREAMBLE, "bad-preamble", "the device log's first lines are not understood")            \
    X(CUT_LINE, "cut-line", "line set aside: it is cut")                                      \
    X(BAD_CELL, "bad-cell", "line set aside: a number is expected")                           \
    X(BAD_MESSAGE, "bad-message", "message set aside: not in the expected form")              \
    X(BAD_JSON, "bad-json", "op description is not valid JSON")                               \
    X(CACHED_EARLY, "cached-before-full", "cached message before the full one of its hash")   \
    X(CACHED_ALONE, "cached-without-full", "cached message without any full one of its hash") \
    X(ID_ORDER, "id-order", "op id out of order")                                             \
    X(DOUBLE_OP, "double-op", "op id described twice; the last description counts")           \
    X(DOUBLE_ZONE, "double-host-zone", "two host zones with one op id; the last counts")      \
    X(LOST_ZONE, "lost-host-zone", "op without a host zone")                                  \
    X(LOST_MESSAGE, "lost-message", "host zone without an op message")                        \
    X(TRACE, "trace-mismatch", "trace messages do not fit together")                          \
    X(REPLAY, "lost-replay", "device replay without a replay message")                        \
    X(NO_DEVICE_ROWS, "op-without-device-rows", "op without device rows")                     \
    X(NO_HOST_OP, "device-rows-without-op", "device rows without an op")                      \
    X(MORE_RUNS, "op-ran-again", "op ran on the device more often than the host says")        \
    X(ORPHAN_START, "orphan-start", "zone start without an end")                              \
    X(ORPHAN_END, "orphan-end", "zone end without a start")                                   \
    X(ZONE_HASH, "zone-hash", "two zones with one hash")                                      \
    X(SUB_DEVICE, "sub-device", "op with two sub device ids")                                 \
    X(SCATTERED, "scattered-log", "device log is not ordered by core; sorted in memory")      \
    X(DISPATCH, "dispatch-without-op", "dispatch rows without an op")                         \
    X(NOC_FILE, "bad-noc-trace", "NoC trace that can't be read to its end")

enum strobe_report_fault {
#define X(name, word, text) STROBE_REPORT_FAULT_##name,
    STROBE_REPORT_FAULTS(X)
#undef X
        STROBE_REPORT_N_FAULTS
};

enum { STROBE_REPORT_FAULTS_KEPT = 1000 }; /* of one kind; the rest is only counted */

struct strobe_report_fault_entry {
    enum strobe_report_fault kind;
    uint64_t line;         /* 0: the file as a whole */
    uint32_t file, detail; /* offsets into texts */
};

/* All zero is an empty ledger. */
struct strobe_report_faults {
    uint64_t counts[STROBE_REPORT_N_FAULTS];
    struct strobe_report_fault_entry *entries; /* owned */
    uint32_t n_entries, cap_entries;
    struct strobe_out texts;
};

/* Note one fault at `file`:`line`; `format` tells what it was about. Never fails: without memory
 * the count still rises. */
void strobe_report_fault_add(struct strobe_report_faults *faults, enum strobe_report_fault kind,
                             const char *file, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

uint64_t strobe_report_faults_total(const struct strobe_report_faults *faults);
const char *strobe_report_fault_word(enum strobe_report_fault kind);
const char *strobe_report_fault_text(enum strobe_report_fault kind);
const char *strobe_report_fault_file(const struct strobe_report_faults *faults, uint32_t entry);
const char *strobe_report_fault_detail(const struct strobe_report_faults *faults, uint32_t entry);

/* A place in the ledger to go back to. */
struct strobe_report_faults_mark {
    uint64_t counts[STROBE_REPORT_N_FAULTS];
    uint32_t n_entries;
    size_t texts;
};
struct strobe_report_faults_mark
strobe_report_faults_mark(const struct strobe_report_faults *faults);

/* Forget all that was noted since. */
void strobe_report_faults_rewind(struct strobe_report_faults *faults,
                                 const struct strobe_report_faults_mark *mark);
void strobe_report_faults_free(struct strobe_report_faults *faults);

#endif
