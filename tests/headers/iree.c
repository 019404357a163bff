/* iree.c - every macro of IREE's tracing once, as C and as C++, over a provider.  SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "iree_tracing.h"

static void zones(void)
{
    IREE_TRACE_ZONE_BEGIN(plain);
    IREE_TRACE_ZONE_APPEND_TEXT(plain, "text");
    IREE_TRACE_ZONE_APPEND_TEXT(plain, "longer text", 6);
    IREE_TRACE_ZONE_APPEND_VALUE_I64(plain, -5);
    IREE_TRACE_ZONE_SET_COLOR(plain, 0x00332211u);
    IREE_TRACE_ZONE_BEGIN_NAMED(named, "named");
    IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(dynamic, "dynamic!", 7);
    IREE_TRACE_ZONE_BEGIN_EXTERNAL(external, "file.mlir", 9, 12, "function", 8, "external", 8);
    IREE_TRACE_ZONE_END(external);
    IREE_TRACE_ZONE_END(dynamic);
    IREE_TRACE_ZONE_END(named);
    IREE_TRACE_ZONE_END(plain);
}

static void values(void)
{
    IREE_TRACE_SET_PLOT_TYPE("plot", 1, true, false, 0xff);
    IREE_TRACE_PLOT_VALUE_I64("plot", 1);
    IREE_TRACE_PLOT_VALUE_F32("plot", 2.5f);
    IREE_TRACE_PLOT_VALUE_F64("plot", 3.5);
    IREE_TRACE_FRAME_MARK();
    IREE_TRACE_FRAME_MARK_NAMED("frame");
    IREE_TRACE_FRAME_MARK_BEGIN_NAMED("part");
    IREE_TRACE_FRAME_MARK_END_NAMED("part");
    IREE_TRACE_MESSAGE(WARNING, "literal");
    IREE_TRACE_MESSAGE_COLORED(0x123456, "coloured");
    IREE_TRACE_MESSAGE_DYNAMIC(ERROR, "dynamic!", 7);
    IREE_TRACE_MESSAGE_DYNAMIC_COLORED(0x123456, "dynamic!", 7);
}

static void things(void)
{
    static char block[8];
    (void)block;
    IREE_TRACE_ALLOC(block, 8);
    IREE_TRACE_FREE(block);
    IREE_TRACE_ALLOC_NAMED("pool", block, 8);
    IREE_TRACE_FREE_NAMED("pool", block);
    IREE_TRACE_FIBER_ENTER("fiber");
    IREE_TRACE_FIBER_LEAVE();
    IREE_TRACE_PUBLISH_SOURCE_FILE("a", 1, "b", 1);
#if IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE
    static const iree_tracing_location_t where = {"gpu", "function", "file", 1, 0};
    uint8_t gpu = iree_tracing_gpu_context_allocate(IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN, "queue", 5, true,
                                                    (uint64_t)iree_tracing_time(), 1000, 1.0f);
    iree_tracing_gpu_zone_begin(gpu, 1, &where);
    iree_tracing_gpu_zone_begin_external(gpu, 2, "f", 1, 2, "fn", 2, "gpu external", 12);
    iree_tracing_gpu_zone_end(gpu, 3);
    iree_tracing_gpu_zone_end(gpu, 4);
    iree_tracing_gpu_zone_notify(gpu, 1, 2000);
    iree_tracing_gpu_context_calibrate(gpu, 500, iree_tracing_time(), 3000);
    uint32_t lock;
    iree_tracing_mutex_announce(&where, &lock);
    iree_tracing_mutex_before_lock(lock);
    iree_tracing_mutex_after_lock(lock);
    iree_tracing_mutex_after_unlock(lock);
    iree_tracing_mutex_after_try_lock(lock, true);
    iree_tracing_mutex_terminate(lock);
#endif
}

int main(void)
{
    IREE_TRACE_APP_ENTER();
    IREE_TRACE(int traced = 1);
    IREE_TRACE_SET_APP_INFO("about", 5);
    IREE_TRACE_SET_THREAD_NAME("iree thread");
    zones();
    values();
    things();
#ifdef __cplusplus
    {
        IREE_TRACE_SCOPE();
        IREE_TRACE_ZONE_APPEND_TEXT(IREE_TRACE_SCOPE_ID, "scope");
    }
    {
        IREE_TRACE_SCOPE_NAMED("named scope");
    }
#endif
    IREE_TRACE_APP_EXIT(0);
    return traced - 1;
}
