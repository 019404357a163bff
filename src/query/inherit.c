/* inherit.c - see inherit.h.  SPDX-License-Identifier: MIT */
#include "query/inherit.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "file/file_write.h"
#include "query/overview.h"

struct heir {
    struct strobe_trace *from;
    const struct strobe_inherit_options *options;
    struct strobe_file_writer *to;
    struct strobe_records records;
    uint64_t first, last; /* ticks of the new trace between which events are missing */
};

static void put_note(struct heir *heir, const char *text)
{
    const struct strobe_trace *from = heir->from;
    uint64_t proc = from->n_processes ? from->processes[0].proc + heir->options->proc_shift : 0;
    strobe_records_begin(&heir->records, STROBE_FACT_NOTE);
    strobe_records_u(&heir->records, proc);
    strobe_records_s(&heir->records, text, strlen(text));
    strobe_records_end(&heir->records);
}

static void put_loss(struct heir *heir, uint32_t process, uint64_t track, enum strobe_loss cause,
                     uint64_t count)
{
    const struct strobe_trace *from = heir->from;
    STROBE_ASSERT(count);
    uint64_t proc = process < from->n_processes ? from->processes[process].proc : 0;
    const uint64_t loss[] = {
        proc + heir->options->proc_shift, track, cause, count, heir->first, heir->last};
    strobe_records_numbers(&heir->records, STROBE_FACT_LOSS, loss, 6);
    strobe_records_tick(&heir->records, heir->last);
    if (heir->options->closed)
        strobe_file_count_lost(heir->to, cause, count);
}

/* On the tracks that have gaps, as far as these go; what is left is on no track that is known. */
static void put_all(struct heir *heir, uint64_t n_missing)
{
    const struct strobe_trace *from = heir->from;
    for (uint32_t i = 0; i < from->thread_ids.n && n_missing; i++) {
        const struct strobe_trace_thread *thread = &from->threads[i];
        uint64_t n = thread->gap_words < n_missing ? thread->gap_words : n_missing;
        if (n)
            put_loss(heir, thread->process, thread->track, STROBE_LOSS_DAMAGED, n);
        n_missing -= n;
    }
    if (n_missing)
        put_loss(heir, 0, 0, STROBE_LOSS_DAMAGED, n_missing);
}

static void put_damage(struct heir *heir)
{
    const struct strobe_file_facts *facts = strobe_file_facts(heir->from->file);
    struct strobe_coverage coverage;
    char text[192];
    strobe_trace_coverage(heir->from, &coverage);
    snprintf(text, sizeof text,
             "made of a damaged trace: %llu %s, %llu bytes; at most %llu of its events are missing",
             (unsigned long long)facts->n_holes, facts->n_holes == 1 ? "hole" : "holes",
             (unsigned long long)facts->hole_bytes, (unsigned long long)coverage.n_hole_words);
    put_note(heir, text);
    if (heir->options->is_part && coverage.n_hole_words)
        put_loss(heir, 0, 0, STROBE_LOSS_HOLE, 1);
    else
        put_all(heir, coverage.n_hole_words);
}

static uint64_t to_new_tick(const struct heir *heir, uint64_t tick)
{
    uint32_t hint = 0;
    return heir->options->retime ? strobe_retime_tick(heir->options->retime, tick, &hint) : tick;
}

enum strobe_err strobe_inherit_losses(struct strobe_trace *from,
                                      const struct strobe_inherit_options *options,
                                      struct strobe_file_writer *to)
{
    const struct strobe_file_facts *facts = strobe_file_facts(from->file);
    int has_end = facts->closed || !options->closed;
    struct strobe_overview counted = {0};
    if (!facts->n_holes && has_end)
        return STROBE_OK;
    enum strobe_err err = strobe_overview_count(from, 1, &counted);
    if (err)
        return err;
    const struct strobe_trace_totals *totals = &facts->totals;
    struct heir heir = {.from = from, .options = options, .to = to};
    heir.first = to_new_tick(&heir, totals->has_totals ? totals->tick_first : counted.tick_first);
    heir.last = to_new_tick(&heir, totals->has_totals ? totals->tick_last : counted.tick_last);
    if (facts->n_holes)
        put_damage(&heir);
    if (!has_end) {
        put_note(&heir,
                 "made of a trace that is not closed: what it would have had behind its last "
                 "event is not known");
        heir.first = heir.last;
        put_loss(&heir, 0, 0, STROBE_LOSS_HOLE, 1);
    }
    err = strobe_file_put_records(to, &heir.records);
    strobe_records_free(&heir.records);
    return err;
}
