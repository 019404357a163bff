/* perf_record.c - see perf_record.h.  SPDX-License-Identifier: MIT */
#include "sample/perf_record.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/assert.h"
#include "sample/probe_kernel.h"
#include "sample/py_kernel.h"

enum { TRAILER_BYTES = 24, HEAD_BYTES = 8, SAMPLE_HEAD = HEAD_BYTES + TRAILER_BYTES };

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

/* DWARF's numbers of the registers in a sample, in the order of their bits. */
static const uint8_t dwarf_of[STROBE_PERF_N_REGS] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                     8, 9, 10, 11, 12, 13, 14, 15};

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t u64_at(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* pid, tid, time and cpu: in front of a sample, at the end of all else. */
static void read_who(const uint8_t *at, struct strobe_perf_record *out)
{
    out->pid = u32_at(at);
    out->tid = u32_at(at + 4);
    out->time = u64_at(at + 8);
    out->cpu = u32_at(at + 16);
}

/* `n` words at *at, and step over them. NULL: so many are not left. */
static const uint64_t *take_words(const uint8_t **at, const uint8_t *end, uint64_t n)
{
    const uint64_t *words = (const uint64_t *)(const void *)*at;
    STROBE_ASSERT(!((uintptr_t)*at & 7) && *at <= end);
    if (n > (uint64_t)(end - *at) / sizeof *words)
        return NULL;
    *at += n * sizeof *words;
    return words;
}

static bool read_stack(const uint8_t *at, const uint8_t *end, struct strobe_perf_record *out)
{
    const uint64_t *abi = take_words(&at, end, 1), *regs, *size, *valid;
    if (!abi)
        return false;
    if (*abi) {
        if (!(regs = take_words(&at, end, STROBE_PERF_N_REGS)))
            return false;
        for (int i = 0; i < STROBE_PERF_N_REGS; i++)
            out->sample.user.regs[dwarf_of[i]] = regs[i];
        out->sample.has_regs = true;
        out->sample.is_32bit = *abi == PERF_SAMPLE_REGS_ABI_32;
    }
    if (!(size = take_words(&at, end, 1)))
        return false;
    if (!*size)
        return true;
    if (*size & 7)
        return false;
    const uint64_t *stack = take_words(&at, end, *size / 8);
    if (!stack || !(valid = take_words(&at, end, 1)) || *valid > *size)
        return false;
    out->sample.user.stack = (const uint8_t *)stack;
    out->sample.user.n_stack = *valid;
    return true;
}

/* A system call's begin or end. */
static bool read_call(const uint8_t *raw, size_t n_raw, const struct strobe_perf_trace *trace,
                      bool is_enter, struct strobe_perf_record *out)
{
    uint64_t number, result = 0;
    if (!strobe_tracefs_value(is_enter ? &trace->entered : &trace->left, raw, n_raw, &number) ||
        (!is_enter && !strobe_tracefs_value(&trace->result, raw, n_raw, &result)))
        return false;
    out->what = is_enter ? STROBE_PERF_CALLS : STROBE_PERF_RETURNS;
    out->call.number = (int64_t)number;
    out->call.result = (int64_t)result;
    return true;
}

/* What a program of probe_kernel.h wrote: as many values as there were. */
static bool read_probe(const uint8_t *raw, size_t n_raw, struct strobe_perf_record *out)
{
    struct strobe_probe_record probe = {0};
    if (n_raw < offsetof(struct strobe_probe_record, values))
        return false;
    memcpy(&probe, raw, n_raw < sizeof probe ? n_raw : sizeof probe);
    out->what = STROBE_PERF_PROBES;
    out->probe.number = probe.probe;
    out->probe.is_return = probe.is_return;
    out->probe.sp = probe.sp;
    memcpy(out->probe.values, probe.values, sizeof out->probe.values);
    return true;
}

/* The raw data of a tracepoint. */
static bool read_trace(const uint8_t *at, const uint8_t *end, const struct strobe_perf_trace *trace,
                       struct strobe_perf_record *out)
{
    enum { IN_INTERRUPT = 8 | 16 }; /* of the flags: a hard or a soft one */
    uint64_t id, flags, woken, target;
    STROBE_ASSERT(at <= end);
    if (end - at < 4 || u32_at(at) > (size_t)(end - at) - 4)
        return false;
    const uint8_t *raw = at + 4;
    size_t n_raw = u32_at(at);
    const struct strobe_tracefs_field number = {0, 2};
    if (!strobe_tracefs_value(&number, raw, n_raw, &id))
        return false;
    if (id == trace->state_id) {
        out->what = STROBE_PERF_OFF;
        return true;
    }
    if (id == STROBE_PROBE_KERNEL_ID)
        return read_probe(raw, n_raw, out);
    if (id == STROBE_PY_KERNEL_ID) {
        out->what = STROBE_PERF_FRAMES;
        out->frames.bytes = raw;
        out->frames.n_bytes = n_raw;
        return true;
    }
    if (id && (id == trace->enter_id || id == trace->exit_id))
        return read_call(raw, n_raw, trace, id == trace->enter_id, out);
    out->what = STROBE_PERF_OTHER;
    if (id != trace->wake_id)
        return true;
    if (!strobe_tracefs_value(&trace->flags, raw, n_raw, &flags) ||
        !strobe_tracefs_value(&trace->woken, raw, n_raw, &woken) ||
        !strobe_tracefs_value(&trace->target, raw, n_raw, &target))
        return false;
    out->what = STROBE_PERF_WAKES;
    out->wake.tid = (uint32_t)woken;
    out->wake.cpu = (uint32_t)target;
    out->wake.is_interrupt = flags & IN_INTERRUPT;
    return true;
}

static bool read_sample(const uint8_t *bytes, size_t n_bytes, const struct strobe_perf_shape *shape,
                        struct strobe_perf_record *out)
{
    STROBE_ASSERT(!((uintptr_t)bytes & 7));
    const uint8_t *at = bytes + SAMPLE_HEAD, *end = bytes + n_bytes;
    if (n_bytes < SAMPLE_HEAD)
        return false;
    out->what = STROBE_PERF_SAMPLE;
    read_who(bytes + HEAD_BYTES, out);
    if (shape->has_chain) {
        const uint64_t *n = take_words(&at, end, 1);
        if (!n || !(out->sample.chain = take_words(&at, end, *n)))
            return false;
        out->sample.n_chain = *n;
    }
    if (shape->trace)
        return read_trace(at, end, shape->trace, out);
    return !shape->has_stack || read_stack(at, end, out);
}

/* A text that ends inside of the record. NULL: it does not. */
static const char *text_in(const uint8_t *at, const uint8_t *end)
{
    return at < end && memchr(at, 0, (size_t)(end - at)) ? (const char *)at : NULL;
}

/* pid, tid, address, length, offset, (device and inode | build id), protection, flags, path. */
static bool read_map(const uint8_t *at, const uint8_t *end, bool has_build_id,
                     struct strobe_perf_record *out)
{
    STROBE_ASSERT(at <= end);
    enum { PATH = 64, PROT = 56, BUILD_ID = 36 };
    struct strobe_module_file *file = &out->map.file;
    if (end - at < PATH + 1 || !(file->path = text_in(at + PATH, end)))
        return false;
    out->what = STROBE_PERF_MMAP;
    out->pid = file->pid = u32_at(at);
    out->tid = u32_at(at + 4);
    file->start = u64_at(at + 8);
    file->end = file->start + u64_at(at + 16);
    out->map.offset = u64_at(at + 24);
    if (has_build_id) {
        file->n_build_id = at[32];
        if (file->n_build_id > sizeof file->build_id)
            return false;
        memcpy(file->build_id, at + BUILD_ID, file->n_build_id);
    } else {
        file->major = u32_at(at + 32);
        file->minor = u32_at(at + 36);
        file->inode = u64_at(at + 40);
    }
    return file->end >= file->start;
}

/* FORK and EXIT: pid, parent, tid, parent's thread, time. */
static bool read_life(const uint8_t *at, const uint8_t *end, bool is_fork,
                      struct strobe_perf_record *out)
{
    STROBE_ASSERT(at <= end);
    if (end - at < 24)
        return false;
    out->what = is_fork ? STROBE_PERF_FORK : STROBE_PERF_EXIT;
    out->pid = u32_at(at);
    out->life.parent_pid = u32_at(at + 4);
    out->tid = u32_at(at + 8);
    return true;
}

static bool read_comm(const uint8_t *at, const uint8_t *end, bool is_exec,
                      struct strobe_perf_record *out)
{
    STROBE_ASSERT(at <= end);
    if (end - at < 9 || !(out->comm.name = text_in(at + 8, end)))
        return false;
    out->what = STROBE_PERF_COMM;
    out->pid = u32_at(at);
    out->tid = u32_at(at + 4);
    out->comm.is_exec = is_exec;
    return true;
}

bool strobe_perf_record_read(const void *bytes, size_t n_bytes,
                             const struct strobe_perf_shape *shape, struct strobe_perf_record *out)
{
    struct perf_event_header head;
    STROBE_ASSERT(!((uintptr_t)bytes & 7));
    memset(out, 0, sizeof *out);
    if (n_bytes < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.size != n_bytes || n_bytes & 7)
        return false;
    if (head.type == PERF_RECORD_SAMPLE)
        return read_sample(bytes, n_bytes, shape, out);
    if (n_bytes < SAMPLE_HEAD)
        return false;
    const uint8_t *at = (const uint8_t *)bytes + HEAD_BYTES;
    const uint8_t *end = (const uint8_t *)bytes + n_bytes - TRAILER_BYTES;
    read_who(end, out);
    switch (head.type) {
    case PERF_RECORD_SWITCH:
        out->what = STROBE_PERF_SWITCH;
        out->turn.is_out = head.misc & PERF_RECORD_MISC_SWITCH_OUT;
        out->turn.is_preempted = head.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        return true;
    case PERF_RECORD_MMAP2:
        return read_map(at, end, head.misc & PERF_RECORD_MISC_MMAP_BUILD_ID, out);
    case PERF_RECORD_COMM:
        return read_comm(at, end, head.misc & PERF_RECORD_MISC_COMM_EXEC, out);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        return read_life(at, end, head.type == PERF_RECORD_FORK, out);
    case PERF_RECORD_LOST:
        if (end - at < 16)
            return false;
        out->what = STROBE_PERF_LOST;
        out->count = u64_at(at + 8);
        return true;
    case PERF_RECORD_THROTTLE:
        out->what = STROBE_PERF_THROTTLE;
        return true;
    default:
        return true; /* OTHER */
    }
}

uint64_t strobe_perf_record_time(const void *bytes, size_t n_bytes)
{
    STROBE_ASSERT(n_bytes >= HEAD_BYTES);
    struct perf_event_header head;
    const uint8_t *at = bytes;
    memcpy(&head, bytes, sizeof head);
    if (n_bytes < SAMPLE_HEAD)
        return 0;
    return u64_at(head.type == PERF_RECORD_SAMPLE ? at + HEAD_BYTES + 8
                                                  : at + n_bytes - TRAILER_BYTES + 8);
}
