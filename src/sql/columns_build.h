/* columns_build.h - cells of rows put into columns.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_COLUMNS_BUILD_H
#define STROBE_SQL_COLUMNS_BUILD_H

#include "base/map.h"
#include "sql/columns.h"
#include "sql/pump.h"

enum { STROBE_COLUMNS_CACHE = 512 };

/* A column that is being filled. */
struct strobe_column_build {
    struct strobe_column column; /* owned parts, as in the batch that it becomes */
    uint32_t max_rows;
    struct strobe_textmap names; /* ENUM: texts to their codes */
    struct strobe_column_kept {
        const char *text; /* borrowed: from the model */
        uint32_t n, code;
    } kept[STROBE_COLUMNS_CACHE]; /* ENUM: codes of texts of the model, by their place */
};

/* Buffers for max_rows rows. NOMEM: those that there are stay to be freed. */
enum strobe_err strobe_column_build_start(struct strobe_column_build *build,
                                          enum strobe_column_type type, uint32_t max_rows);

/* Put the cells of the rows `chosen` (n_chosen numbers) behind the n_rows that are there. The cell of row r is
 * cells[r * stride]; `texts` is what TEXT cells are offsets of. INVALID: one does not fit the type. */
enum strobe_err strobe_column_build_put(struct strobe_column_build *build,
                                        const struct strobe_sql_cell *cells, unsigned stride,
                                        const char *texts, const uint32_t *chosen,
                                        uint32_t n_chosen, uint32_t n_rows);

/* Bytes of its texts so far. */
uint64_t strobe_column_build_bytes(const struct strobe_column_build *build);

/* Hand the column over, and begin with an empty one. With one in *out that this build made before, its memory is used for that. */
enum strobe_err strobe_column_build_end(struct strobe_column_build *build, uint32_t n_rows,
                                        struct strobe_column *out);

void strobe_column_build_free(struct strobe_column_build *build);

#endif
