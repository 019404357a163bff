/* csv.c - rows and sums of csvexport's tables, wherever the zones come from.
 * The inner loop of -u: what the rows of a location share is quoted once and copied.
 * SPDX-License-Identifier: MIT */
#include "tracy_file/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_sep(const struct strobe_tracy_csv_table *table)
{
    strobe_out_bytes(table->out, table->options->sep, table->n_sep);
}

static int needs_quotes(const struct strobe_tracy_csv_table *table, const char *text, size_t n)
{
    if (table->n_sep && memmem(text, n, table->options->sep, table->n_sep))
        return 1;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '"' || text[i] == '\n' || text[i] == '\r')
            return 1;
    return 0;
}

static void put_quoted(struct strobe_out *out, const char *text, size_t n, char quote)
{
    strobe_out_char(out, quote);
    while (n) {
        const char *found = memchr(text, quote, n);
        size_t now = found ? (size_t)(found - text) + 1 : n;
        strobe_out_bytes(out, text, now);
        if (found)
            strobe_out_char(out, quote);
        text += now;
        n -= now;
    }
    strobe_out_char(out, quote);
}

static void put_cell(const struct strobe_tracy_csv_table *table, const char *text, size_t n)
{
    if (n && needs_quotes(table, text, n))
        put_quoted(table->out, text, n, '"');
    else
        strobe_out_bytes(table->out, text, n);
}

/* Cells of a head, written with commas between. */
static void put_cells(const struct strobe_tracy_csv_table *table, const char *cells)
{
    for (const char *at = cells; *at; at++) {
        if (*at == ',')
            put_sep(table);
        else
            strobe_out_char(table->out, *at);
    }
}

/* ---- heads ----------------------------------------------------------------------------------- */

void strobe_tracy_put_head(const struct strobe_tracy_csv_table *table)
{
    static const char *const unwrapped[] = {
        [STROBE_TRACY_FLAVOR_0_11] = "name,src_file,src_line,ns_since_start,exec_time_ns,thread",
        [STROBE_TRACY_FLAVOR_0_14] =
            "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value",
        [STROBE_TRACY_FLAVOR_TT] = "name,src_file,src_line,zone_name,zone_text,ns_since_start,"
                                   "exec_time_ns,thread,value,special_parent_text",
    };
    const struct strobe_tracy_csv_options *options = table->options;
    if (options->messages)
        put_cells(table, "MessageName,total_ns");
    else if (options->gpu)
        put_cells(table, "name,src_file,Time from start of program,GPU execution time");
    else if (options->unwrap)
        put_cells(table, unwrapped[options->flavor]);
    else
        put_cells(table, "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,"
                         "std_ns");
    if (options->truncate && !options->unwrap && !options->messages && !options->gpu)
        put_cells(table, ",percentile_ns,truncated_mean_ns");
    strobe_out_char(table->out, '\n');
}

/* ---- locations ------------------------------------------------------------------------------- */

static int contains(const char *text, size_t n, const char *part, int case_sensitive)
{
    size_t n_part = strlen(part);
    if (case_sensitive)
        return memmem(text, n, part, n_part) != NULL;
    for (size_t i = 0; i + n_part <= n; i++) {
        size_t j = 0;
        while (j < n_part && tolower((unsigned char)text[i + j]) == tolower((unsigned char)part[j]))
            j++;
        if (j == n_part)
            return 1;
    }
    return 0;
}

/* 1: the name is one of a list with commas between. */
static int is_listed(const char *list, const char *name, size_t n)
{
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        size_t n_item = strcspn(at, ",");
        if (n_item == n && !memcmp(at, name, n))
            return 1;
        if (!at[n_item])
            break;
        at += n_item;
    }
    return 0;
}

void strobe_tracy_csv_ready(const struct strobe_tracy_csv_table *table,
                            struct strobe_tracy_row_loc *loc)
{
    const struct strobe_tracy_csv_options *options = table->options;
    loc->is_ready = 1;
    loc->is_wanted = !*options->filter ||
                     contains(loc->name, loc->n_name, options->filter, options->case_sensitive);
    loc->is_special = options->specials && options->parent &&
                      is_listed(options->specials, loc->name, loc->n_name);
    loc->is_parent = options->parent && contains(loc->name, loc->n_name, options->parent, 1);
}

void strobe_tracy_row_loc_free(struct strobe_tracy_row_loc *loc)
{
    free(loc->prefix);
    free(loc->sum.samples);
    loc->prefix = NULL;
    loc->sum.samples = NULL;
}

static void put_loc(const struct strobe_tracy_csv_table *table,
                    const struct strobe_tracy_row_loc *loc)
{
    put_cell(table, loc->name, loc->n_name);
    put_sep(table);
    put_cell(table, loc->file, loc->n_file);
    put_sep(table);
    strobe_out_u(table->out, loc->line);
    put_sep(table);
}

/* Room for a cell with every byte doubled. */
static size_t cell_bytes(size_t n)
{
    return 2 * n + 2;
}

static char *copy_cell(const struct strobe_tracy_csv_table *table, char *at, const char *text,
                       size_t n)
{
    if (!n || !needs_quotes(table, text, n)) {
        if (n)
            memcpy(at, text, n);
        return at + n;
    }
    *at++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}

static int make_prefix(const struct strobe_tracy_csv_table *table, struct strobe_tracy_row_loc *loc)
{
    char *at = malloc(cell_bytes(loc->n_name) + cell_bytes(loc->n_file) + 20 + 3 * table->n_sep);
    if (!at)
        return 0;
    loc->prefix = at;
    at = copy_cell(table, at, loc->name, loc->n_name);
    at = mempcpy(at, table->options->sep, table->n_sep);
    at = copy_cell(table, at, loc->file, loc->n_file);
    at = mempcpy(at, table->options->sep, table->n_sep);
    at = strobe_number_put_u(at, loc->line);
    at = mempcpy(at, table->options->sep, table->n_sep);
    loc->n_prefix = (uint32_t)(at - loc->prefix);
    return 1;
}

/* ---- zones ----------------------------------------------------------------------------------- */

/* start,time,thread */
static void put_numbers(const struct strobe_tracy_csv_table *table,
                        const struct strobe_tracy_row *row)
{
    if (table->n_sep == 1) { /* as nearly everywhere: in one go */
        char *at = strobe_out_reserve(table->out), *from = at, sep = *table->options->sep;
        at = strobe_number_put_i(at, row->start);
        *at++ = sep;
        at = strobe_number_put_i(at, row->time);
        *at++ = sep;
        at = strobe_number_put_u(at, row->thread);
        table->out->len += (size_t)(at - from);
        return;
    }
    strobe_out_i(table->out, row->start);
    put_sep(table);
    strobe_out_i(table->out, row->time);
    put_sep(table);
    strobe_out_u(table->out, row->thread);
}

int strobe_tracy_put_zone(const struct strobe_tracy_csv_table *table,
                          struct strobe_tracy_row_loc *loc, const struct strobe_tracy_row *row)
{
    enum strobe_tracy_flavor flavor = table->options->flavor;
    if (!loc->prefix && !make_prefix(table, loc))
        return 0;
    if (loc->n_prefix < STROBE_OUT_SLACK / 2) {
        memcpy(strobe_out_reserve(table->out), loc->prefix, loc->n_prefix);
        table->out->len += loc->n_prefix;
    } else {
        strobe_out_bytes(table->out, loc->prefix, loc->n_prefix);
    }
    if (flavor == STROBE_TRACY_FLAVOR_TT) {
        put_cell(table, row->name, row->n_name);
        put_sep(table);
        if (row->text)
            put_quoted(table->out, row->text, row->n_text, '"');
        put_sep(table);
    }
    put_numbers(table, row);
    if (flavor != STROBE_TRACY_FLAVOR_0_11) {
        put_sep(table);
        put_cell(table, row->text, row->n_text);
    }
    if (flavor == STROBE_TRACY_FLAVOR_TT) {
        put_sep(table);
        put_cell(table, row->parent_text, row->n_parent_text);
    }
    strobe_out_char(table->out, '\n');
    return 1;
}

void strobe_tracy_put_gpu(const struct strobe_tracy_csv_table *table,
                          const struct strobe_tracy_row_loc *loc, int64_t start, int64_t time)
{
    put_cell(table, loc->name, loc->n_name);
    put_sep(table);
    put_cell(table, loc->file, loc->n_file);
    put_sep(table);
    strobe_out_i(table->out, start);
    put_sep(table);
    strobe_out_i(table->out, time);
    strobe_out_char(table->out, '\n');
}

/* A text in back-ticks is quoted already, for readers with that quote character. */
void strobe_tracy_put_message(const struct strobe_tracy_csv_table *table, const char *text,
                              uint32_t n, int64_t time)
{
    int is_quoted = n > 1 && text[0] == '`' && text[n - 1] == '`';
    int is_tt = table->options->flavor == STROBE_TRACY_FLAVOR_TT;
    if (is_quoted ||
        (is_tt && !memmem(text, n, table->options->sep, table->n_sep) && !memchr(text, '\n', n)))
        strobe_out_bytes(table->out, text, n);
    else if (is_tt)
        put_quoted(table->out, text, n, '`');
    else
        put_cell(table, text, n);
    put_sep(table);
    strobe_out_i(table->out, time);
    strobe_out_char(table->out, '\n');
}

/* ---- statistics ------------------------------------------------------------------------------ */

static int keep_sample(struct strobe_tracy_sum *sum, int64_t time)
{
    if (STROBE_ARRAY_RESERVE(sum->samples, sum->samples_room, sum->n + 1))
        return 0;
    sum->samples[sum->n] = time;
    return 1;
}

int strobe_tracy_sum_add(const struct strobe_tracy_csv_table *table, struct strobe_tracy_sum *sum,
                         int64_t time, int64_t self)
{
    if (table->options->truncate && !keep_sample(sum, table->options->self ? self : time))
        return 0;
    if (!sum->n)
        sum->self_min = sum->self_max = self;
    strobe_tracy_sum_time(sum, time);
    sum->self_total += self;
    sum->self_min = self < sum->self_min ? self : sum->self_min;
    sum->self_max = self > sum->self_max ? self : sum->self_max;
    return 1;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The percentile, interpolated, and the mean of what is not above it. */
static void truncate_mean(struct strobe_tracy_sum *sum, double p, int64_t *percentile,
                          int64_t *mean)
{
    qsort(sum->samples, sum->n, sizeof *sum->samples, compare_times);
    double rank = p * ((double)sum->n - 1.0);
    size_t low = (size_t)floor(rank), high = low + 1 < sum->n ? low + 1 : sum->n - 1;
    double below = (double)sum->samples[low], above = (double)sum->samples[high];
    double value = below + (above - below) * (rank - (double)low);
    int64_t total = 0;
    uint64_t n = 0;
    while (n < sum->n && (double)sum->samples[n] <= value)
        total += sum->samples[n++];
    *percentile = llround(value);
    *mean = n ? (int64_t)((uint64_t)total / n) : 0;
}

static void put_sum(const struct strobe_tracy_csv_table *table, struct strobe_tracy_row_loc *loc,
                    int64_t last_time)
{
    struct strobe_tracy_sum *sum = &loc->sum;
    int self = table->options->self;
    int64_t time = self ? sum->self_total : sum->total;
    uint64_t mean = (uint64_t)time / sum->n;
    put_loc(table, loc);
    strobe_out_i(table->out, time);
    put_sep(table);
    strobe_out_format(table->out, "%f", 100. * (double)time / (double)last_time);
    put_sep(table);
    strobe_out_u(table->out, sum->n);
    put_sep(table);
    strobe_out_u(table->out, mean);
    put_sep(table);
    strobe_out_i(table->out, self ? sum->self_min : sum->min);
    put_sep(table);
    strobe_out_i(table->out, self ? sum->self_max : sum->max);
    put_sep(table);
    /* with self times this mixes two sums, as the real one does: the column is to be the same */
    double squares =
        sum->squares - 2. * (double)sum->total * (double)mean + (double)(mean * mean * sum->n);
    strobe_out_format(table->out, "%f", sum->n > 1 ? sqrt(squares / (double)(sum->n - 1)) : 0.);
    if (table->options->truncate) {
        int64_t percentile, truncated;
        truncate_mean(sum, table->options->truncate / 100.0, &percentile, &truncated);
        put_sep(table);
        strobe_out_i(table->out, percentile);
        put_sep(table);
        strobe_out_i(table->out, truncated);
    }
    strobe_out_char(table->out, '\n');
}

static int compare_texts(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t n = n_a < n_b ? n_a : n_b;
    int order = n ? memcmp(a, b, n) : 0;
    return order ? order : n_a < n_b ? -1 : n_a > n_b;
}

/* Larger totals first; then by name, file and line. */
static int compare_locs(const void *a, const void *b)
{
    const struct strobe_tracy_row_loc *x = *(struct strobe_tracy_row_loc *const *)a;
    const struct strobe_tracy_row_loc *y = *(struct strobe_tracy_row_loc *const *)b;
    if (x->sum.total != y->sum.total)
        return x->sum.total > y->sum.total ? -1 : 1;
    int order = compare_texts(x->name, x->n_name, y->name, y->n_name);
    if (!order)
        order = compare_texts(x->file, x->n_file, y->file, y->n_file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

int strobe_tracy_put_sums(const struct strobe_tracy_csv_table *table,
                          struct strobe_tracy_row_loc *const *locs, size_t n, int64_t last_time)
{
    struct strobe_tracy_row_loc **sorted = malloc((n ? n : 1) * sizeof *sorted);
    size_t kept = 0;
    if (!sorted)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (locs[i]->sum.n && locs[i]->is_wanted)
            sorted[kept++] = locs[i];
    qsort(sorted, kept, sizeof *sorted, compare_locs);
    for (size_t i = 0; i < kept; i++)
        put_sum(table, sorted[i], last_time);
    free(sorted);
    return 1;
}

/* ---- plots ----------------------------------------------------------------------------------- */

/* The name first, the time in the column of times and the value in the last of 0.14's. */
void strobe_tracy_put_point(const struct strobe_tracy_csv_table *table, const char *name,
                            uint32_t n, int64_t time, double value)
{
    static const struct {
        int time, value, end;
    } columns[] = {
        [STROBE_TRACY_FLAVOR_0_11] = {3, 5, 6},
        [STROBE_TRACY_FLAVOR_0_14] = {3, 6, 7},
        [STROBE_TRACY_FLAVOR_TT] = {3, 6, 10}, /* by number, as the fork does */
    };
    enum strobe_tracy_flavor flavor = table->options->flavor;
    put_cell(table, name, n);
    for (int i = 1; i < columns[flavor].end; i++) {
        put_sep(table);
        if (i == columns[flavor].time)
            strobe_out_i(table->out, time);
        else if (i == columns[flavor].value)
            strobe_out_format(table->out, "%f", value);
    }
    strobe_out_char(table->out, '\n');
}

/* Frees before allocations of the same time, as Tracy merges the two. */
static int compare_changes(const void *a, const void *b)
{
    const struct strobe_tracy_change *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->size >= 0) - (y->size >= 0);
}

void strobe_tracy_put_memory(const struct strobe_tracy_csv_table *table, const char *name,
                             uint32_t n, int64_t first_time, struct strobe_tracy_change *changes,
                             size_t n_changes)
{
    double usage = 0;
    if (n_changes)
        qsort(changes, n_changes, sizeof *changes, compare_changes);
    strobe_tracy_put_point(table, name, n, first_time, 0);
    for (size_t i = 0; i < n_changes; i++) {
        usage += (double)changes[i].size;
        strobe_tracy_put_point(table, name, n, changes[i].time, usage);
    }
}
