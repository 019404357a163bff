/* nesting.c - zones, spans, flows and fibers that are not nested as they should be.
 *   nesting zones|spans|flows|fibers|open   SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "strobe/strobe.h"

static void zones(void)
{
    STROBE_ZONE(a, "a");
    STROBE_ZONE(b, "b");
    STROBE_ZONE_END(a); /* b is unfinished */
    STROBE_ZONE_END(b); /* nothing of that name is open */
    STROBE_ZONE_END(a); /* nor of this */
    STROBE_ZONE(c, "c");
    STROBE_ZONE_END(c);
}

static void *end_span(void *span)
{
    STROBE_SPAN_END((uint64_t)span);
    return NULL;
}

static void spans(void)
{
    pthread_t thread;
    STROBE_SPAN_BEGIN(1, "first");
    STROBE_SPAN_BEGIN(2, "second");
    STROBE_SPAN_END(1); /* they overlap */
    pthread_create(&thread, NULL, end_span, (void *)2);
    pthread_join(thread, NULL);
    STROBE_SPAN_END(9); /* never begun */
    STROBE_SPAN_BEGIN(3, "never ended");
}

static void *step_flow(void *flow)
{
    STROBE_SCOPE("middle");
    STROBE_FLOW_STEP((uint64_t)flow);
    return NULL;
}

static void flows(void)
{
    pthread_t thread;
    STROBE_ZONE(first, "begin");
    STROBE_FLOW_BEGIN(7);
    STROBE_ZONE_END(first);
    pthread_create(&thread, NULL, step_flow, (void *)7);
    pthread_join(thread, NULL);
    STROBE_FLOW_END(7); /* outside of any zone */
    STROBE_FLOW_END(8); /* never begun */
}

static struct strobe_name fiber = {0, "traveller"};
static struct strobe_loc journey = {0, "journey", "fibers", "nesting.c", 1, 0};
static struct strobe_loc stage = {0, "stage", "fibers", "nesting.c", 2, 0};
static struct strobe_zone on_journey, on_stage;

static void *go_on(void *unused)
{
    STROBE_SCOPE("thread's own");
    strobe_fiber_enter(&fiber);
    strobe_zone_end(&on_stage);
    strobe_zone_text("arrived", 7);
    strobe_zone_end(&on_journey);
    strobe_fiber_leave();
    return unused;
}

static void fibers(void)
{
    pthread_t thread;
    STROBE_ZONE(own, "main's own");
    strobe_fiber_enter(&fiber);
    on_journey = strobe_zone_begin(&journey);
    on_stage = strobe_zone_begin(&stage);
    strobe_fiber_leave();
    STROBE_ZONE_END(own);
    pthread_create(&thread, NULL, go_on, NULL);
    pthread_join(thread, NULL);
}

static void open_at_exit(void)
{
    STROBE_ZONE(outer, "outer");
    STROBE_ZONE(inner, "inner");
    (void)outer, (void)inner;
    STROBE_SCOPE("done");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"zones", zones},
                 {"spans", spans},
                 {"flows", flows},
                 {"fibers", fibers},
                 {"open", open_at_exit}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name))
            modes[i].run();
    return 0;
}
