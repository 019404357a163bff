/* losses.c - one list of what is lost, and its way to the file.  SPDX-License-Identifier: MIT */
#include "build/losses.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum { FIRST_ROOM = 64 };

enum strobe_err strobe_build_losses_init(struct strobe_build_losses *losses)
{
    memset(losses, 0, sizeof *losses);
    strobe_records_reset(&losses->records);
    if (STROBE_ARRAY_RESERVE(losses->items, losses->room, FIRST_ROOM) ||
        !strobe_records_reserve(&losses->records, STROBE_FILE_LEDGER_SLOT)) {
        free(losses->items);
        memset(losses, 0, sizeof *losses);
        return STROBE_ERR_NOMEM;
    }
    losses->max = STROBE_BUILD_LOSSES_MAX;
    pthread_mutex_init(&losses->lock, NULL);
    return STROBE_OK;
}

void strobe_build_losses_free(struct strobe_build_losses *losses)
{
    if (losses->items)
        pthread_mutex_destroy(&losses->lock);
    free(losses->items);
    strobe_records_free(&losses->records);
    memset(losses, 0, sizeof *losses);
}

/* Room for one more, beside those that sum up what has no room. */
static bool has_room(struct strobe_build_losses *losses)
{
    uint32_t want = losses->n + 1 + STROBE_LOSS_COUNT;
    return want <= losses->max &&
           !STROBE_ARRAY_RESERVE_MAX(losses->items, losses->room, want, losses->max);
}

/* The entry to add to, NULL: there is none yet. The latest are the likeliest. */
static struct strobe_build_loss *find(struct strobe_build_losses *losses, uint32_t proc,
                                      uint64_t track, uint32_t cause)
{
    for (uint32_t i = losses->n; i-- > 0;) {
        struct strobe_build_loss *loss = &losses->items[i];
        if (loss->proc == proc && loss->track == track && loss->cause == cause)
            return loss;
    }
    return NULL;
}

static void sum(struct strobe_build_loss *into, const struct strobe_build_loss *loss)
{
    into->first = !into->count || loss->first < into->first ? loss->first : into->first;
    into->last = loss->last > into->last ? loss->last : into->last;
    into->count += loss->count;
    STROBE_ASSERT(into->count >= loss->count);
}

void strobe_build_losses_add(struct strobe_build_losses *losses,
                             const struct strobe_build_loss *loss)
{
    STROBE_ASSERT(loss->cause < STROBE_LOSS_COUNT && losses->items);
    if (!loss->count)
        return;
    pthread_mutex_lock(&losses->lock);
    losses->total += strobe_loss_is_of_events(loss->cause) ? loss->count : 0;
    struct strobe_build_loss *into = find(losses, loss->proc, loss->track, loss->cause);
    if (into) {
        sum(into, loss);
    } else if (has_room(losses)) {
        losses->items[losses->n++] = *loss;
    } else if ((into = find(losses, 0, 0, loss->cause))) {
        sum(into, loss);
    } else { /* has_room leaves a place for each cause */
        losses->items[losses->n] = *loss;
        losses->items[losses->n].proc = 0;
        losses->items[losses->n++].track = 0;
    }
    STROBE_ASSERT(losses->n <= losses->room && losses->n <= losses->max);
    pthread_mutex_unlock(&losses->lock);
}

/* ---- to the file ---- */

static void put_record(struct strobe_records *records, const struct strobe_build_loss *loss)
{
    uint64_t numbers[] = {loss->proc,  loss->track, loss->cause,
                          loss->count, loss->first, loss->last};
    strobe_records_numbers(records, STROBE_FACT_LOSS, numbers, 6);
    strobe_records_tick(records, loss->last);
}

/* The losses in the reserved area: one by one while they fit, then summed by cause. */
static void keep_in_ledger(struct strobe_build_losses *losses, struct strobe_file_writer *writer)
{
    struct strobe_records *records = &losses->records;
    struct strobe_build_loss rest[STROBE_LOSS_COUNT] = {{0}};
    strobe_records_reset(records);
    for (uint32_t i = 0; i < losses->n; i++) {
        const struct strobe_build_loss *loss = &losses->items[i];
        if (records->n_bytes < STROBE_FILE_LEDGER_SLOT - 2048) {
            put_record(records, loss);
            continue;
        }
        rest[loss->cause].cause = loss->cause;
        sum(&rest[loss->cause], loss);
    }
    for (int i = 0; i < STROBE_LOSS_COUNT; i++)
        if (rest[i].count)
            put_record(records, &rest[i]);
    if (losses->end_tick)
        strobe_records_numbers(records, STROBE_FACT_RECORDING,
                               (const uint64_t[]){losses->end_tick, 1}, 2);
    losses->ledger_failed = strobe_file_put_ledger(writer, records) != STROBE_OK;
    losses->in_ledger = true;
}

static void empty_ledger(struct strobe_build_losses *losses, struct strobe_file_writer *writer)
{
    if (!losses->in_ledger)
        return;
    strobe_records_reset(&losses->records);
    strobe_file_put_ledger(writer, &losses->records);
    losses->in_ledger = false;
}

/* Under the lock. */
static enum strobe_err put_losses(struct strobe_build_losses *losses,
                                  struct strobe_file_writer *writer)
{
    if (!losses->n)
        return STROBE_OK;
    strobe_records_reset(&losses->records);
    for (uint32_t i = 0; i < losses->n; i++)
        put_record(&losses->records, &losses->items[i]);
    enum strobe_err err = strobe_file_put_records(writer, &losses->records);
    if (err) {
        keep_in_ledger(losses, writer);
        return err;
    }
    empty_ledger(losses, writer);
    losses->n = 0;
    losses->ledger_failed = false;
    return STROBE_OK;
}

void strobe_build_losses_end(struct strobe_build_losses *losses, struct strobe_file_writer *writer,
                             uint64_t tick)
{
    pthread_mutex_lock(&losses->lock);
    losses->end_tick = tick;
    keep_in_ledger(losses, writer);
    pthread_mutex_unlock(&losses->lock);
}

enum strobe_err strobe_build_losses_put(struct strobe_build_losses *losses,
                                        struct strobe_file_writer *writer)
{
    pthread_mutex_lock(&losses->lock);
    enum strobe_err err = put_losses(losses, writer);
    pthread_mutex_unlock(&losses->lock);
    return err;
}

uint32_t strobe_build_losses_n(struct strobe_build_losses *losses)
{
    pthread_mutex_lock(&losses->lock);
    uint32_t n = losses->n;
    pthread_mutex_unlock(&losses->lock);
    return n;
}

uint64_t strobe_build_losses_total(struct strobe_build_losses *losses)
{
    pthread_mutex_lock(&losses->lock);
    uint64_t total = losses->total;
    pthread_mutex_unlock(&losses->lock);
    return total;
}
