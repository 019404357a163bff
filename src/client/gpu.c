/* gpu.c - GPU contexts and zones of include/strobe/facade.h: begin and end when the program asks for them,
 * the GPU's own times whenever they are known. What zones come of it: docs/file-format.md.
 * Runs inside the traced program: never allocates, prints or exits.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <string.h>
#include <unistd.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The thread's number, asked for once. A forked child's first thread is another one. */
static uint64_t own_tid(void)
{
    static __thread uint32_t tid __attribute__((tls_model("initial-exec")));
    static __thread uint32_t pid __attribute__((tls_model("initial-exec")));
    struct strobe_pool *pool = strobe_client_pool();
    if (!tid || !pool || pid != pool->pid) {
        tid = (uint32_t)gettid();
        pid = pool ? pool->pid : 0;
    }
    return tid;
}

uint64_t strobe_gpu_context_number(void)
{
    static uint64_t next;
    return __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
}

void strobe_gpu_context_new(const struct strobe_gpu_context *context)
{
    uint64_t numbers[] = {context->context,
                          context->type,
                          context->is_calibrated != 0,
                          context->tid,
                          context->tick ? context->tick : strobe_clock_now(),
                          (uint64_t)context->time,
                          bits_of(context->period_ns)};
    strobe_client_keep(STROBE_META_GPU_CONTEXT, numbers, 7, 1, NULL, 0);
}

void strobe_gpu_context_name(uint64_t context, const char *name, size_t n_bytes)
{
    strobe_client_keep(STROBE_META_GPU_NAME, &context, 1, 1, name, n_bytes);
}

void strobe_gpu_note_name(uint64_t context, uint64_t note, const char *name, size_t n_bytes)
{
    uint64_t numbers[] = {context, note};
    strobe_client_keep(STROBE_META_GPU_NOTE_NAME, numbers, 2, 2, name, n_bytes);
}

void strobe_gpu_begin_id(uint64_t context, uint64_t query, uint64_t loc_id)
{
    static struct strobe_loc early = {0, "(named before the recording)", "", "", 0, 0};
    if (!strobe_gate_now->active)
        return;
    uint64_t fields[] = {context, query, own_tid(), loc_id ? loc_id : strobe_client_loc_id(&early)};
    if (fields[3])
        strobe_client_emit_numbers(STROBE_KIND_GPU_BEGIN, fields, 4);
    else
        strobe_client_lose_unnamed();
}

void strobe_gpu_begin(uint64_t context, uint64_t query, struct strobe_loc *loc)
{
    if (!strobe_gate_now->active)
        return;
    uint64_t id = strobe_client_loc_id(loc);
    if (id)
        strobe_gpu_begin_id(context, query, id);
    else
        strobe_client_lose_unnamed();
}

void strobe_gpu_end(uint64_t context, uint64_t query)
{
    if (!strobe_gate_now->active)
        return;
    uint64_t fields[] = {context, query, own_tid()};
    strobe_client_emit_numbers(STROBE_KIND_GPU_END, fields, 3);
}

void strobe_gpu_time(uint64_t context, uint64_t query, int64_t time)
{
    uint64_t fields[] = {context, query, (uint64_t)time};
    strobe_client_emit_numbers(STROBE_KIND_GPU_TIME, fields, 3);
}

void strobe_gpu_calibrate(uint64_t context, int64_t time, uint64_t tick, int64_t delta_ns)
{
    uint64_t fields[] = {context, (uint64_t)time, tick ? tick : strobe_clock_now(),
                         (uint64_t)delta_ns};
    strobe_client_emit_numbers(STROBE_KIND_GPU_CALIBRATION, fields, 4);
}

void strobe_gpu_sync(uint64_t context, int64_t time, uint64_t tick)
{
    uint64_t fields[] = {context, (uint64_t)time, tick ? tick : strobe_clock_now()};
    strobe_client_emit_numbers(STROBE_KIND_GPU_SYNC, fields, 3);
}

void strobe_gpu_note(uint64_t context, uint64_t query, uint64_t note, double value)
{
    if (!strobe_gate_now->active)
        return;
    uint64_t fields[] = {context, query, own_tid(), note, bits_of(value)};
    strobe_client_emit_numbers(STROBE_KIND_GPU_NOTE, fields, 5);
}
