/* faults.c - the ledger of faults.  SPDX-License-Identifier: MIT */
#include "report/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct {
    const char *word, *text;
} kinds[] = {
#define X(name, word, text) {word, text},
    STROBE_REPORT_FAULTS(X)
#undef X
};

static struct strobe_report_fault_entry *new_entry(struct strobe_report_faults *faults)
{
    if (STROBE_ARRAY_RESERVE(faults->entries, faults->cap_entries, (uint64_t)faults->n_entries + 1))
        return NULL;
    return &faults->entries[faults->n_entries++];
}

static uint32_t keep_text(struct strobe_report_faults *faults, const char *text)
{
    uint32_t at = (uint32_t)faults->texts.len;
    strobe_out_bytes(&faults->texts, text, strlen(text) + 1);
    return at;
}

void strobe_report_fault_add(struct strobe_report_faults *faults, enum strobe_report_fault kind,
                             const char *file, uint64_t line, const char *format, ...)
{
    if (faults->counts[kind]++ >= STROBE_REPORT_FAULTS_KEPT)
        return;
    struct strobe_report_fault_entry *entry = new_entry(faults);
    if (!entry)
        return;
    char detail[200];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    entry->kind = kind;
    entry->line = line;
    entry->file = keep_text(faults, file);
    entry->detail = keep_text(faults, detail);
}

uint64_t strobe_report_faults_total(const struct strobe_report_faults *faults)
{
    uint64_t total = 0;
    for (int i = 0; i < STROBE_REPORT_N_FAULTS; i++)
        total += faults->counts[i];
    return total;
}

const char *strobe_report_fault_word(enum strobe_report_fault kind)
{
    return kinds[kind].word;
}

const char *strobe_report_fault_text(enum strobe_report_fault kind)
{
    return kinds[kind].text;
}

const char *strobe_report_fault_file(const struct strobe_report_faults *faults, uint32_t entry)
{
    return faults->texts.error ? "" : faults->texts.at + faults->entries[entry].file;
}

const char *strobe_report_fault_detail(const struct strobe_report_faults *faults, uint32_t entry)
{
    return faults->texts.error ? "" : faults->texts.at + faults->entries[entry].detail;
}

struct strobe_report_faults_mark
strobe_report_faults_mark(const struct strobe_report_faults *faults)
{
    struct strobe_report_faults_mark mark = {.n_entries = faults->n_entries,
                                             .texts = faults->texts.len};
    memcpy(mark.counts, faults->counts, sizeof mark.counts);
    return mark;
}

void strobe_report_faults_rewind(struct strobe_report_faults *faults,
                                 const struct strobe_report_faults_mark *mark)
{
    memcpy(faults->counts, mark->counts, sizeof mark->counts);
    faults->n_entries = mark->n_entries;
    faults->texts.len = mark->texts;
}

void strobe_report_faults_free(struct strobe_report_faults *faults)
{
    free(faults->entries);
    strobe_out_free(&faults->texts);
    *faults = (struct strobe_report_faults){0};
}
