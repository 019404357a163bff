/* names.c - pointers of the client: their ids in the trace, the queries that tell what they are, the
 * answers.
 *
 * A pointer is asked for once, at its first use, and only if the client sent it. Texts go before
 * locations (so that few locations wait for theirs), both before symbols. No more than `limit`
 * queries are unanswered at a time: the client reads them between batches only.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "tracy/internal.h"

/* ---- the table of all pointers ---- */

static uint32_t slot_of(const struct strobe_tracy_session *s, enum space space, uint64_t key)
{
    uint64_t hash = (key ^ (uint64_t)space << 56) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(hash >> 32) & (s->n_slots - 1);
}

struct entry *strobe_tracy_find(struct strobe_tracy_session *s, enum space space, uint64_t key)
{
    if (!s->n_slots)
        return NULL;
    for (uint32_t i = slot_of(s, space, key); s->entries[i].space; i = (i + 1) & (s->n_slots - 1))
        if (s->entries[i].key == key && s->entries[i].space == space)
            return &s->entries[i];
    return NULL;
}

static struct entry *free_slot(struct strobe_tracy_session *s, enum space space, uint64_t key)
{
    uint32_t i = slot_of(s, space, key);
    STROBE_ASSERT(s->n_entries < s->n_slots); /* there is a free one */
    while (s->entries[i].space)
        i = (i + 1) & (s->n_slots - 1);
    return &s->entries[i];
}

static bool grow_entries(struct strobe_tracy_session *s)
{
    uint32_t n_old = s->n_slots, n = n_old ? 2 * n_old : 256;
    struct entry *old = s->entries;
    if (!strobe_tracy_charge(s, (int64_t)((n - n_old) * sizeof *old)))
        return false;
    STROBE_ASSERT((n & (n - 1)) == 0);
    struct entry *entries = calloc(n, sizeof *entries);
    if (!entries)
        return false;
    s->entries = entries;
    s->n_slots = n;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].space)
            *free_slot(s, old[i].space, old[i].key) = old[i];
    free(old);
    return true;
}

struct entry *strobe_tracy_entry(struct strobe_tracy_session *s, enum space space, uint64_t key)
{
    struct entry *entry = strobe_tracy_find(s, space, key);
    if (entry)
        return entry;
    if (4 * (uint64_t)(s->n_entries + 1) > 3 * (uint64_t)s->n_slots && !grow_entries(s))
        return NULL;
    entry = free_slot(s, space, key);
    STROBE_ASSERT(space && !entry->space);
    *entry = (struct entry){.key = key, .space = (uint8_t)space};
    s->n_entries++;
    return entry;
}

void strobe_tracy_free_names(struct strobe_tracy_session *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->entries[i].space != SPACE_LOCK)
            free(s->entries[i].text);
    for (uint32_t i = 0; i < s->n_threads; i++) {
        free(s->threads[i]->stack.list);
        free(s->threads[i]);
    }
    free(s->entries);
    free(s->threads);
    free(s->waiting);
    free(s->strings.items);
    free(s->locs.items);
    free(s->symbols.items);
    free(s->asked_locs.items);
    free(s->asked_symbols.items);
}

/* ---- queries ---- */

static bool push(struct strobe_tracy_session *s, struct fifo *fifo, enum space space, uint64_t key)
{
    if (fifo->n == fifo->room) {
        uint32_t room = fifo->room ? 2 * fifo->room : 64;
        if (!strobe_tracy_charge(s, (int64_t)((room - fifo->room) * sizeof *fifo->items)))
            return false;
        struct ask *items = malloc(room * sizeof *items);
        if (!items)
            return false;
        for (uint32_t i = 0; i < fifo->n; i++)
            items[i] = fifo->items[(fifo->first + i) & (fifo->room - 1)];
        free(fifo->items);
        *fifo = (struct fifo){items, 0, fifo->n, room};
    }
    STROBE_ASSERT(fifo->n < fifo->room && (fifo->room & (fifo->room - 1)) == 0);
    fifo->items[(fifo->first + fifo->n++) & (fifo->room - 1)] = (struct ask){key, space};
    return true;
}

static struct ask pop(struct fifo *fifo)
{
    STROBE_ASSERT(fifo->n && fifo->first < fifo->room);
    struct ask ask = fifo->items[fifo->first];
    fifo->first = (fifo->first + 1) & (fifo->room - 1);
    fifo->n--;
    return ask;
}

bool strobe_tracy_query(struct strobe_tracy_session *s, enum strobe_tracy_query query,
                        uint64_t pointer)
{
    int number = strobe_tracy_query_number(s->table.protocol, query);
    uint8_t *at = s->out + s->n_out;
    if (number < 0 || s->n_out + STROBE_TRACY_QUERY_BYTES > OUT_BYTES)
        return false;
    memset(at, 0, STROBE_TRACY_QUERY_BYTES);
    STROBE_ASSERT(number < 256 && s->n_out + STROBE_TRACY_QUERY_BYTES <= sizeof s->out);
    at[0] = (uint8_t)number;
    memcpy(at + 1, &pointer, sizeof pointer);
    s->n_out += STROBE_TRACY_QUERY_BYTES;
    return true;
}

static enum strobe_tracy_query query_of(enum space space)
{
    static const uint8_t queries[N_SPACES] = {
        [SPACE_LOC] = STROBE_TRACY_ASK_LOC,
        [SPACE_STRING] = STROBE_TRACY_ASK_STRING,
        [SPACE_PLOT] = STROBE_TRACY_ASK_PLOT,
        [SPACE_FRAME] = STROBE_TRACY_ASK_FRAME,
        [SPACE_FIBER] = STROBE_TRACY_ASK_FIBER,
        [SPACE_THREAD] = STROBE_TRACY_ASK_THREAD,
        [SPACE_EXTERNAL] = STROBE_TRACY_ASK_EXTERNAL,
        [SPACE_SYMBOL] = STROBE_TRACY_ASK_CALLSTACK_FRAME,
    };
    STROBE_ASSERT(space > 0 && space < N_SPACES && (space == SPACE_STRING || queries[space]));
    return queries[space];
}

/* Send the first of a queue. False: there is no room for it now. */
static bool send_first(struct strobe_tracy_session *s, struct fifo *fifo)
{
    struct ask ask = fifo->items[fifo->first];
    if (ask.space == SPACE_LOC && !push(s, &s->asked_locs, ask.space, ask.key))
        return false;
    if (ask.space == SPACE_SYMBOL && !push(s, &s->asked_symbols, ask.space, ask.key))
        return false;
    if (!strobe_tracy_query(s, query_of(ask.space), ask.key))
        return false;
    pop(fifo);
    s->n_asked++;
    STROBE_ASSERT(s->asked_symbols.n <= SYMBOLS_AT_ONCE && s->n_asked <= s->limit);
    return true;
}

void strobe_tracy_pump(struct strobe_tracy_session *s)
{
    if (s->n_asked == 0)
        s->last_answer = s->now; /* patience starts with the first question */
    while (s->n_asked < s->limit && s->n_out + 2 * STROBE_TRACY_QUERY_BYTES <= OUT_BYTES) {
        struct fifo *fifo = s->strings.n ? &s->strings : s->locs.n ? &s->locs : &s->symbols;
        if (!fifo->n || (fifo == &s->symbols && s->asked_symbols.n >= SYMBOLS_AT_ONCE))
            return;
        if (!send_first(s, fifo))
            return;
    }
}

uint64_t strobe_tracy_n_missing(const struct strobe_tracy_session *s)
{
    return (uint64_t)s->n_asked + s->strings.n + s->locs.n + s->symbols.n;
}

static void ask_for(struct strobe_tracy_session *s, struct entry *entry)
{
    struct fifo *fifo = entry->space == SPACE_LOC      ? &s->locs
                        : entry->space == SPACE_SYMBOL ? &s->symbols
                                                       : &s->strings;
    if (entry->state == ENTRY_NEW && push(s, fifo, entry->space, entry->key))
        entry->state = ENTRY_ASKED;
}

static void answered(struct strobe_tracy_session *s, struct entry *entry)
{
    STROBE_ASSERT(entry->space); /* it is one of the table's */
    entry->state = ENTRY_KNOWN;
    if (s->n_asked)
        s->n_asked--;
    s->last_answer = s->now;
}

/* ---- ids ---- */

/* One location for all that there is no room for. */
static uint64_t loc_over_limit(struct strobe_tracy_session *s)
{
    if (!s->over_loc) {
        const char *text = "too many source locations";
        struct strobe_build_loc loc = {.function = text, .n_function = strlen(text)};
        s->over_loc = strobe_build_loc(s->build, &loc);
        strobe_build_note(s->build, "no room for the names of all source locations");
    }
    return s->over_loc;
}

uint64_t strobe_tracy_loc(struct strobe_tracy_session *s, uint64_t pointer)
{
    struct entry *entry = strobe_tracy_entry(s, SPACE_LOC, pointer);
    if (!entry)
        return loc_over_limit(s);
    if (!entry->id) {
        entry->id = strobe_build_new_loc(s->build, pointer);
        if (pointer)
            ask_for(s, entry);
    }
    return entry->id;
}

uint64_t strobe_tracy_name(struct strobe_tracy_session *s, enum space space, uint64_t pointer)
{
    struct entry *entry = pointer ? strobe_tracy_entry(s, space, pointer) : NULL;
    if (!entry)
        return 0; /* the unnamed one */
    if (!entry->id) {
        if (space == SPACE_STRING && entry->state == ENTRY_KNOWN) {
            entry->id = strobe_build_string(s->build, entry->text, entry->n_text);
            return entry->id;
        }
        entry->id = strobe_build_new_string(s->build, pointer);
        ask_for(s, entry);
    }
    return entry->id;
}

uint64_t strobe_tracy_fiber(struct strobe_tracy_session *s, uint64_t pointer)
{
    struct entry *entry = strobe_tracy_entry(s, SPACE_FIBER, pointer);
    if (!entry)
        return ++s->last_fiber;
    if (!entry->id) {
        char text[32];
        const char *texts[] = {text};
        entry->id = ++s->last_fiber;
        size_t n = (size_t)snprintf(text, sizeof text, "%#llx", (unsigned long long)pointer);
        strobe_build_record(s->build, STROBE_META_FIBER_NAME, &entry->id, texts, &n);
        ask_for(s, entry);
    }
    return entry->id;
}

static struct thread *new_thread(struct strobe_tracy_session *s, uint64_t tid, uint64_t raw)
{
    if (!strobe_tracy_grow(s, &s->threads, s->n_threads, &s->cap_threads, sizeof *s->threads,
                           UINT32_MAX) ||
        !strobe_tracy_charge(s, sizeof(struct thread)))
        return NULL;
    struct thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    uint64_t tick = s->own_clock ? strobe_clock_map_tick(&s->clock.map, (int64_t)raw) : raw;
    thread->tid = tid;
    thread->track = strobe_build_thread(s->build, tid, tick);
    if (!thread->track) {
        free(thread);
        return NULL;
    }
    s->threads[s->n_threads++] = thread;
    return thread;
}

struct thread *strobe_tracy_thread(struct strobe_tracy_session *s, uint64_t tid, uint64_t raw)
{
    struct entry *entry = strobe_tracy_entry(s, SPACE_THREAD, tid);
    if (!entry)
        return NULL;
    if (!entry->id) {
        struct thread *thread = new_thread(s, tid, raw);
        if (!thread)
            return NULL;
        entry->id = s->n_threads;
        if (tid)
            ask_for(s, entry);
    }
    return s->threads[entry->id - 1];
}

const struct entry *strobe_tracy_text(struct strobe_tracy_session *s, uint64_t pointer)
{
    static const struct entry nothing = {.state = ENTRY_KNOWN};
    struct entry *entry = pointer ? strobe_tracy_entry(s, SPACE_STRING, pointer) : NULL;
    if (!entry)
        return &nothing;
    if (entry->state == ENTRY_KNOWN)
        return entry;
    ask_for(s, entry);
    return entry->state == ENTRY_ASKED ? NULL : &nothing;
}

void strobe_tracy_want_symbols(struct strobe_tracy_session *s, const uint64_t *addresses,
                               uint32_t n)
{
    for (uint32_t i = 0; i < n && !s->no_symbols; i++) {
        bool is_kernel = addresses[i] >> 63; /* the client can't look these up safely */
        if (is_kernel || !addresses[i] || s->n_symbols >= SYMBOLS_MAX)
            continue;
        struct entry *entry = strobe_tracy_entry(s, SPACE_SYMBOL, addresses[i]);
        if (entry && entry->state == ENTRY_NEW) {
            ask_for(s, entry);
            s->n_symbols++;
        }
    }
}

void strobe_tracy_want_external(struct strobe_tracy_session *s, uint64_t tid)
{
    struct entry *entry = tid ? strobe_tracy_entry(s, SPACE_EXTERNAL, tid) : NULL;
    if (entry && entry->state == ENTRY_NEW)
        ask_for(s, entry);
}

/* ---- answers ---- */

/* A text that is known, or NULL. */
static const struct entry *known_text(struct strobe_tracy_session *s, uint64_t pointer)
{
    static const struct entry nothing = {.state = ENTRY_KNOWN};
    const struct entry *entry = pointer ? strobe_tracy_find(s, SPACE_STRING, pointer) : &nothing;
    return entry && entry->state == ENTRY_KNOWN ? entry : NULL;
}

/* Tell the location if all its texts are known. */
static bool complete_loc(struct strobe_tracy_session *s, const struct waiting_loc *waiting)
{
    const struct entry *texts[3];
    for (int i = 0; i < 3; i++)
        if (!(texts[i] = known_text(s, waiting->pointers[i])))
            return false;
    struct strobe_build_loc loc = {
        .line = waiting->line,
        .color = waiting->color,
        .name = texts[0]->text,
        .n_name = texts[0]->n_text,
        .function = texts[1]->text,
        .n_function = texts[1]->n_text,
        .file = texts[2]->text,
        .n_file = texts[2]->n_text,
    };
    strobe_build_set_loc(s->build, waiting->id, &loc);
    return true;
}

void strobe_tracy_got_loc(struct strobe_tracy_session *s, const uint8_t *fields)
{
    if (!s->asked_locs.n) {
        s->n_unasked++;
        return;
    }
    struct ask ask = pop(&s->asked_locs);
    struct entry *entry = strobe_tracy_find(s, SPACE_LOC, ask.key);
    if (!entry)
        return;
    answered(s, entry);
    struct waiting_loc waiting = {
        .id = entry->id,
        .pointers = {get64(fields), get64(fields + 8), get64(fields + 16)},
        .line = get32(fields + 24),
        .color = get_color(fields + 28),
    };
    bool complete = true;
    for (int i = 0; i < 3; i++)
        complete &= strobe_tracy_text(s, waiting.pointers[i]) != NULL;
    if (complete && complete_loc(s, &waiting))
        return;
    if (!strobe_tracy_grow(s, &s->waiting, s->n_waiting, &s->cap_waiting, sizeof *s->waiting,
                           UINT32_MAX))
        return;
    for (int i = 0; i < 3; i++) {
        struct entry *text = strobe_tracy_find(s, SPACE_STRING, waiting.pointers[i]);
        if (text && text->state != ENTRY_KNOWN && text->n_waiting < UINT16_MAX)
            text->n_waiting++;
    }
    s->waiting[s->n_waiting++] = waiting;
}

/* Some of its texts may have been forgotten while others were on their way. */
static void ask_again(struct strobe_tracy_session *s, const struct waiting_loc *waiting)
{
    for (int k = 0; k < 3; k++) {
        struct entry *entry = strobe_tracy_find(s, SPACE_STRING, waiting->pointers[k]);
        if (!entry || entry->state != ENTRY_NEW)
            continue;
        ask_for(s, entry);
        entry->n_waiting = 1;
    }
}

static void complete_locs(struct strobe_tracy_session *s, uint64_t pointer)
{
    for (uint32_t i = 0; i < s->n_waiting;) {
        const struct waiting_loc *waiting = &s->waiting[i];
        bool concerned = waiting->pointers[0] == pointer || waiting->pointers[1] == pointer ||
                         waiting->pointers[2] == pointer;
        if (concerned && complete_loc(s, waiting)) {
            s->waiting[i] = s->waiting[--s->n_waiting];
            continue;
        }
        if (concerned)
            ask_again(s, waiting);
        i++;
    }
}

/* Texts are only a cache: what is needed again is asked again. */
static void evict_texts(struct strobe_tracy_session *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++) {
        struct entry *entry = &s->entries[i];
        if (entry->space != SPACE_STRING || entry->state != ENTRY_KNOWN)
            continue;
        strobe_tracy_charge(s, -(int64_t)entry->n_text);
        free(entry->text);
        entry->text = NULL;
        entry->n_text = 0;
        entry->state = ENTRY_NEW;
    }
}

/* Locations and messages to come may name it too. */
void strobe_tracy_keep_text(struct strobe_tracy_session *s, struct entry *entry, const char *text,
                            size_t n)
{
    if (!n || entry->text)
        return;
    if (!strobe_tracy_charge(s, (int64_t)n)) {
        uint8_t state = entry->state;
        entry->state = ENTRY_ASKED; /* spares it */
        evict_texts(s);
        entry->state = state;
        if (!strobe_tracy_charge(s, (int64_t)n)) {
            strobe_tracy_remark(s, "no room for all names");
            return;
        }
    }
    entry->text = malloc(n);
    if (!entry->text)
        return;
    memcpy(entry->text, text, n);
    entry->n_text = (uint32_t)n;
}

static void got_string(struct strobe_tracy_session *s, struct entry *entry, const char *text,
                       size_t n)
{
    strobe_tracy_keep_text(s, entry, text, n);
    if (entry->id)
        strobe_build_set_string(s->build, entry->id, text, n);
    if (entry->n_waiting) {
        entry->n_waiting = 0;
        complete_locs(s, entry->key);
    }
    strobe_tracy_release(s, entry);
}

/* ExternalThreadName comes first (and is kept), ExternalName ends the answer. */
static void got_external(struct strobe_tracy_session *s, struct entry *entry, const char *process,
                         size_t n)
{
    uint64_t numbers[] = {entry->key, entry->id};
    const char *texts[] = {process, entry->text};
    size_t sizes[] = {n, entry->n_text};
    strobe_build_record(s->build, STROBE_META_FOREIGN_THREAD, numbers, texts, sizes);
}

void strobe_tracy_got_text(struct strobe_tracy_session *s, enum space space, uint64_t key,
                           const char *text, size_t n)
{
    struct entry *entry = strobe_tracy_find(s, space, key);
    if (!entry || entry->state != ENTRY_ASKED) {
        s->n_unasked++;
        return;
    }
    answered(s, entry);
    switch (space) {
    case SPACE_STRING:
        got_string(s, entry, text, n);
        break;
    case SPACE_PLOT:
    case SPACE_FRAME:
        strobe_build_set_string(s->build, entry->id, text, n);
        break;
    case SPACE_FIBER:
        strobe_build_record(s->build, STROBE_META_FIBER_NAME, &entry->id, &text, &n);
        break;
    case SPACE_THREAD:
        if (entry->id)
            strobe_build_thread_name(s->build, s->threads[entry->id - 1]->track, text, n);
        break;
    default:
        got_external(s, entry, text, n);
    }
}

void strobe_tracy_got_thread_of(struct strobe_tracy_session *s, uint64_t tid, const char *name,
                                size_t n)
{
    struct entry *entry = strobe_tracy_find(s, SPACE_EXTERNAL, tid);
    if (entry && entry->state == ENTRY_ASKED)
        strobe_tracy_keep_text(s, entry, name, n);
    else
        s->n_unasked++;
}

void strobe_tracy_got_symbol(struct strobe_tracy_session *s, uint64_t address, uint32_t n_frames)
{
    struct entry *entry = strobe_tracy_find(s, SPACE_SYMBOL, address);
    s->n_symbol_frames = 0;
    if (!entry || entry->state != ENTRY_ASKED) {
        s->n_unasked++;
        return;
    }
    if (s->asked_symbols.n)
        pop(&s->asked_symbols);
    answered(s, entry);
    s->symbol_address = address;
    s->n_symbol_frames = n_frames;
    s->symbol_inlined = 0;
}

/* Only symbols are answered so: by a client that was built without call stacks. */
void strobe_tracy_got_nothing(struct strobe_tracy_session *s)
{
    if (!s->asked_symbols.n) {
        s->n_unasked++;
        return;
    }
    struct ask ask = pop(&s->asked_symbols);
    struct entry *entry = strobe_tracy_find(s, SPACE_SYMBOL, ask.key);
    if (entry)
        answered(s, entry);
    s->symbols.n = 0;
    s->no_symbols = true;
}
