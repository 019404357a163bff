/* pending.c - see pending.h.  SPDX-License-Identifier: MIT */
#include "sample/pending.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sample/syscalls.h"

enum strobe_err strobe_pending_init(struct strobe_pending *pending)
{
    memset(pending, 0, sizeof *pending);
    pending->events = malloc(STROBE_PENDING_EVENTS * sizeof *pending->events);
    pending->addresses = malloc(STROBE_PENDING_ADDRESSES * sizeof *pending->addresses);
    return pending->events && pending->addresses ? STROBE_OK : STROBE_ERR_NOMEM;
}

void strobe_pending_free(struct strobe_pending *pending)
{
    free(pending->events);
    free(pending->addresses);
    memset(pending, 0, sizeof *pending);
}

bool strobe_pending_has_room(const struct strobe_pending *pending, uint32_t n_addresses)
{
    STROBE_ASSERT(pending->events && pending->addresses);
    return pending->n_events < STROBE_PENDING_EVENTS &&
           n_addresses <= STROBE_PENDING_ADDRESSES - pending->n_addresses;
}

static void add(struct strobe_pending *pending, struct strobe_pending_event event)
{
    STROBE_ASSERT(pending->n_events < STROBE_PENDING_EVENTS && event.build && event.track);
    event.order = pending->n_events;
    pending->events[pending->n_events++] = event;
}

void strobe_pending_sample(struct strobe_pending *pending, struct strobe_pending_event event,
                           const uint64_t *addresses, uint32_t n)
{
    STROBE_ASSERT(strobe_pending_has_room(pending, n) && n <= UINT16_MAX);
    event.kind = STROBE_KIND_SAMPLE;
    event.first = pending->n_addresses;
    event.n = (uint16_t)n;
    memcpy(pending->addresses + pending->n_addresses, addresses, n * sizeof *addresses);
    pending->n_addresses += n;
    add(pending, event);
}

void strobe_pending_switch(struct strobe_pending *pending, struct strobe_pending_event event)
{
    STROBE_ASSERT(event.kind == STROBE_KIND_SWITCH_IN || event.kind == STROBE_KIND_SWITCH_OUT ||
                  event.kind == STROBE_KIND_WOKEN);
    add(pending, event);
}

void strobe_pending_zone(struct strobe_pending *pending, struct strobe_pending_event event,
                         enum strobe_kind kind, uint64_t number)
{
    STROBE_ASSERT(strobe_pending_has_room(pending, 1));
    event.kind = (uint8_t)kind;
    event.first = (uint32_t)number;
    if (kind == STROBE_KIND_ZONE_VALUE) {
        event.first = pending->n_addresses;
        pending->addresses[pending->n_addresses++] = number;
    }
    add(pending, event);
}

void strobe_pending_message(struct strobe_pending *pending, struct strobe_pending_event event,
                            const char *text, size_t n_bytes)
{
    uint32_t n_words = (uint32_t)(n_bytes + 7) / 8;
    STROBE_ASSERT(strobe_pending_has_room(pending, n_words) && n_bytes <= UINT16_MAX);
    event.kind = STROBE_KIND_MESSAGE;
    event.first = pending->n_addresses;
    event.n = (uint16_t)n_bytes;
    memcpy(pending->addresses + pending->n_addresses, text, n_bytes);
    pending->n_addresses += n_words;
    add(pending, event);
}

/* A step of a zone to its build. */
static void put_zone(const struct strobe_pending *pending, const struct strobe_pending_event *event)
{
    static const uint64_t info[] = {2, 0}; /* severity, colour */
    const char *text;
    switch (event->kind) {
    case STROBE_KIND_MESSAGE:
        strobe_build_event(event->build, event->track, event->tick, STROBE_KIND_MESSAGE, info,
                           (const char *)&pending->addresses[event->first], event->n);
        break;
    case STROBE_KIND_ZONE_BEGIN:
        strobe_build_zone_begin(event->build, event->track, event->tick, event->first);
        break;
    case STROBE_KIND_ZONE_END:
        strobe_build_zone_end(event->build, event->track, event->tick);
        break;
    case STROBE_KIND_ZONE_VALUE:
        strobe_build_event(event->build, event->track, event->tick, STROBE_KIND_ZONE_VALUE,
                           &pending->addresses[event->first], NULL, 0);
        break;
    default:
        STROBE_ASSERT(event->kind == STROBE_KIND_ZONE_TEXT);
        text = strobe_syscalls_error((int)event->first);
        strobe_build_event(event->build, event->track, event->tick, STROBE_KIND_ZONE_TEXT, NULL,
                           text, strlen(text));
    }
}

/* By process and thread; as they came within one. */
static int compare(const void *a, const void *b)
{
    const struct strobe_pending_event *x = a, *y = b;
    if (x->proc != y->proc)
        return x->proc < y->proc ? -1 : 1;
    uint64_t x_track = strobe_build_track_id(x->track), y_track = strobe_build_track_id(y->track);
    if (x_track != y_track)
        return x_track < y_track ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

void strobe_pending_flush(struct strobe_pending *pending)
{
    STROBE_ASSERT(pending->n_events <= STROBE_PENDING_EVENTS &&
                  pending->n_addresses <= STROBE_PENDING_ADDRESSES);
    if (!pending->n_events)
        return;
    qsort(pending->events, pending->n_events, sizeof *pending->events, compare);
    for (uint32_t i = 0; i < pending->n_events; i++) {
        const struct strobe_pending_event *event = &pending->events[i];
        uint64_t numbers[] = {event->cpu, event->first};
        if (event->kind == STROBE_KIND_SAMPLE)
            strobe_build_stack(event->build, event->track, event->tick, STROBE_KIND_SAMPLE,
                               event->cpu, pending->addresses + event->first, event->n);
        else if (event->kind == STROBE_KIND_SWITCH_IN || event->kind == STROBE_KIND_SWITCH_OUT ||
                 event->kind == STROBE_KIND_WOKEN)
            strobe_build_event(event->build, event->track, event->tick,
                               (enum strobe_kind)event->kind, numbers, NULL, 0);
        else
            put_zone(pending, event);
    }
    pending->n_events = pending->n_addresses = 0;
}
