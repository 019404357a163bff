/* held.c - messages, crashes and parameters whose text the client has still to tell.
 * They wait in a list of fixed size; when it is full, or the session ends, they are stored with the
 * pointer in place of the text.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "tracy/internal.h"

static void store(struct strobe_tracy_session *s, const struct held *held, const char *text,
                  size_t n)
{
    if (!held->thread) {
        strobe_build_record(s->build, held->kind, held->numbers, &text, &n);
        return;
    }
    STROBE_ASSERT(!held->n_stack == !held->stack);
    if (held->n_stack)
        strobe_tracy_put_stack(s, held->thread->track, held->raw, held->stack, held->n_stack);
    strobe_tracy_put(s, held->thread->track, held->raw, (enum strobe_kind)held->kind, held->numbers,
                     text, n);
}

static void store_without_text(struct strobe_tracy_session *s, const struct held *held)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%#llx", (unsigned long long)held->pointer);
    store(s, held, text, (size_t)n);
}

/* The oldest goes, so that there is room. */
static void make_room(struct strobe_tracy_session *s)
{
    STROBE_ASSERT(s->n_held);
    store_without_text(s, &s->held[0]);
    free(s->held[0].stack);
    memmove(s->held, s->held + 1, --s->n_held * sizeof *s->held);
}

void strobe_tracy_hold(struct strobe_tracy_session *s, struct held *held)
{
    const struct entry *text = strobe_tracy_text(s, held->pointer);
    if (!text) {
        if (s->n_held == HELD_MAX)
            make_room(s);
        if (strobe_tracy_grow(s, &s->held, s->n_held, &s->cap_held, sizeof *s->held, HELD_MAX)) {
            STROBE_ASSERT(s->n_held < s->cap_held && s->cap_held <= HELD_MAX);
            s->held[s->n_held++] = *held;
            return;
        }
        store_without_text(s, held);
    } else {
        store(s, held, text->text, text->n_text);
    }
    free(held->stack);
}

void strobe_tracy_release(struct strobe_tracy_session *s, const struct entry *entry)
{
    uint64_t pointer = entry->key;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        if (s->held[i].pointer != pointer) {
            s->held[kept++] = s->held[i];
            continue;
        }
        store(s, &s->held[i], entry->text, entry->n_text);
        free(s->held[i].stack);
    }
    STROBE_ASSERT(kept <= s->n_held);
    s->n_held = kept;
}

void strobe_tracy_release_all(struct strobe_tracy_session *s)
{
    for (uint32_t i = 0; i < s->n_held; i++) {
        store_without_text(s, &s->held[i]);
        free(s->held[i].stack);
    }
    s->n_held = 0;
}
