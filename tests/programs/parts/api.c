/* api.c - every function and macro of the client API once, as C and as C++.  SPDX-License-Identifier: MIT */
#include <strobe/strobe.h>

#include <stdio.h>
#include <string.h>

static void scoped(void)
{
    STROBE_FUNCTION();
    STROBE_SCOPE("scope");
    STROBE_SCOPE_COLOR("coloured scope", 0x00ff00);
}

static void zones(void)
{
    STROBE_ZONE(plain, "plain");
    int n_bytes = 3;
    STROBE_TEXT("text");
    STROBE_TEXTF("text %d", n_bytes);
    STROBE_RENAME("renamed");
    STROBE_VALUE(42);
    STROBE_RECOLOR(0xff0000);
    STROBE_ZONE_END(plain);
    STROBE_ZONE_COLOR(coloured, "coloured", 0x0000ff);
    STROBE_ZONE_END(coloured);
    STROBE_ZONE_STACK(with_stack, "with stack", 8);
    STROBE_ZONE_END(with_stack);
    scoped();
    struct strobe_zone at = strobe_zone_begin_at("api.txt", 7, "function", "run-time", 8, 0);
    strobe_zone_text("bytes", 5);
    strobe_zone_textf("%s", "format");
    strobe_zone_name("name", 4);
    strobe_zone_value(1);
    strobe_zone_color(2);
    STROBE_ZONE(inside, "inside"); /* what follows is about the zones around it */
    strobe_zone_add_text(&at, "outer bytes", 11);
    strobe_zone_set_name(&at, "outer name", 10);
    strobe_zone_set_value(&at, 3);
    strobe_zone_set_color(&at, 4);
    STROBE_ZONE_TEXT(inside, "inner text");
    STROBE_ZONE_RENAME(inside, "inner");
    STROBE_ZONE_VALUE(inside, 5);
    STROBE_ZONE_RECOLOR(inside, 6);
    STROBE_ZONE_END(inside);
    strobe_zone_end_call(at);
    STROBE_LOC(loc, "called", 0);
    strobe_zone_end_call(strobe_zone_begin_call(&loc));
}

static void values(void)
{
    double level = 0.5;
    int64_t depth = -3;
    STROBE_NAME(plot, "plot");
    STROBE_PLOT_CONFIG("level", STROBE_PERCENT, 1, 0x123456);
    STROBE_PLOT("level", level);
    STROBE_PLOT_INT("depth", depth);
    strobe_plot_config(&plot, STROBE_BYTES, 0, 0);
    strobe_plot_int(&plot, 1);
    strobe_plot_double(&plot, 2.0);
    strobe_plot_named("by name", 1.5);
    strobe_plot_named_int("by name", 2);
    STROBE_MESSAGE(STROBE_WARNING, "message");
    STROBE_MESSAGEF(STROBE_INFO, "message %d", 2);
    strobe_message(STROBE_ERROR, 0xff0000, "message", 7);
    strobe_messagef(STROBE_FATAL, 0, "%s", "message");
    STROBE_FRAME();
    STROBE_FRAME_NAMED("named");
    STROBE_FRAME_START("partial");
    STROBE_FRAME_END("partial");
    STROBE_NAME(frame, "frame of a function");
    strobe_frame_mark(&frame);
    strobe_frame_start(&frame);
    strobe_frame_end(&frame);
}

static void things(void)
{
    int object;
    STROBE_ALLOC(&object, sizeof object);
    STROBE_FREE(&object);
    STROBE_ALLOC_IN("pool", &object, sizeof object);
    STROBE_FREE_IN("pool", &object);
    STROBE_NAME(pool, "pool of a function");
    strobe_mem_alloc(&pool, &object, sizeof object);
    strobe_mem_free(&pool, &object);
    STROBE_LOC(where, "lock", 0);
    struct strobe_lock lock;
    strobe_lock_open(&lock, &where, 0);
    strobe_lock_rename(&lock, "renamed lock", 12);
    strobe_lock_will_wait(&lock, 0);
    strobe_lock_mark(&lock, &where);
    strobe_lock_obtained(&lock, 0);
    strobe_lock_released(&lock, 0);
    strobe_lock_close(&lock);
    STROBE_FIBER_ENTER("fiber");
    STROBE_FIBER_LEAVE();
    STROBE_NAME(fiber, "fiber of a function");
    strobe_fiber_enter(&fiber);
    strobe_fiber_leave();
}

static void links(void)
{
    uint64_t span = strobe_span_new_id(), flow = 77;
    STROBE_SPAN_BEGIN(span, "span");
    STROBE_SPAN_END(span);
    STROBE_LOC(where, "span of a function", 0);
    strobe_span_begin(span + 1, &where);
    strobe_span_end(span + 1);
    STROBE_FLOW_BEGIN(flow);
    STROBE_FLOW_STEP(flow);
    STROBE_FLOW_END(flow);
    strobe_flow_begin(78);
    strobe_flow_step(78);
    strobe_flow_end(78);
    strobe_callstack(4);
    STROBE_APP_INFO("about the program");
    strobe_app_info("about", 5);
    STROBE_TRIGGER("why");
    strobe_trigger("why");
}

int main(void)
{
    STROBE_PROGRAM_NAME("api");
    STROBE_THREAD_NAME("first");
    strobe_set_program_name("api");
    strobe_set_thread_name("first");
    zones();
    values();
    things();
    links();
#ifdef __cplusplus
    STROBE_LOC(of_class, "class", 0);
    {
        strobe::Zone zone(&of_class);
    }
#endif
    printf("%d\n", strobe_recording());
    return 0;
}
