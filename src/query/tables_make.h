/* tables_make.h - what tables.c and tables_pair.c share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_TABLES_MAKE_H
#define STROBE_QUERY_TABLES_MAKE_H

#include "base/array.h"
#include "base/spill.h"
#include "query/tables.h"

/* Room for one item more. OK, or NOMEM. */
#define STROBE_TABLES_RESERVE(items, n, room) STROBE_SPILL_RESERVE(items, room, (n) + 1ull)

#define STROBE_BIT(kind) (1ull << STROBE_KIND_##kind)

/* The table of a track, made if need be; NULL: too many. Tables that were found before may move. */
struct strobe_table *strobe_tables_make(struct strobe_tables *tables, enum strobe_table_kind kind,
                                        uint32_t process, uint64_t id, uint64_t sub);

/* 1: there is room for so many bytes more. Frames and holds are made of points: these count with them. */
int strobe_tables_has_room(const struct strobe_tables *tables, uint64_t n_bytes);

/* Keep a text: its id in tables->texts, 0 without memory. One that came a moment ago is there once. */
uint32_t strobe_tables_keep_text(struct strobe_tables *tables, const char *text, uint64_t n);

/* One more zone; what has no room is counted. */
void strobe_tables_add(struct strobe_tables *tables, struct strobe_table *table,
                       struct strobe_pixel_row row);

/* Pair what one track alone can't: fibers, spans, shared threads, GPU zones. Anew if the file has grown. */
enum strobe_err strobe_tables_pair(struct strobe_tables *tables);

#endif
