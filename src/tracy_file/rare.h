/* rare.h - events of which a trace has few, for a .tracy file that is to be written: sections, samples of counters, a crash.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_RARE_H
#define STROBE_TRACY_FILE_RARE_H

#include "query/texts.h"
#include "tracy_file/spool.h"

struct strobe_tracy_model;
struct strobe_tracy_out;
struct strobe_happening;

/* A section. Either end may come first. */
struct strobe_tracy_section_row {
    int64_t start, end; /* end: -1 until it comes */
    uint32_t text;      /* string */
    uint16_t category;
    uint8_t is_begun;
};

/* A sample of a counter. */
struct strobe_tracy_count_row {
    uint64_t address;
    int64_t time;
    uint8_t counter;
};

struct strobe_tracy_crash_row {
    uint64_t tid;
    int64_t time;
    uint32_t text, stack;
    uint8_t is_there;
};

struct strobe_tracy_rare {
    struct strobe_idmap section_ids;           /* (process, id) */
    struct strobe_tracy_section_row *sections; /* owned: by index in section_ids */
    uint32_t sections_room;
    struct strobe_spool counts;
    struct strobe_tracy_crash_row crash;
};

void strobe_tracy_rare_start(struct strobe_tracy_rare *rare, const char *folder);
void strobe_tracy_rare_free(struct strobe_tracy_rare *rare);
/* SECTION_ENTER, SECTION_LEAVE, HW_SAMPLE, CRASH. 0 without room. */
int strobe_tracy_rare_take(struct strobe_tracy_model *model,
                           const struct strobe_happening *happening);

/* Sections of the file: the crash; sections (from 0.14 on, before the strings); samples of counters. */
void strobe_tracy_put_crash(const struct strobe_tracy_model *model, struct strobe_tracy_out *out);
void strobe_tracy_put_sections(struct strobe_tracy_model *model, struct strobe_tracy_out *out);
void strobe_tracy_put_counts(struct strobe_tracy_model *model, struct strobe_tracy_out *out);

#endif
