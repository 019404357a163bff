/* rewrite.c - sees that a statement is of this form, and of no other:
 *
 *   SELECT item, … FROM zone|slice|slices [WHERE condition AND …] [GROUP BY key, …] [ORDER BY …] [LIMIT n [OFFSET n]] [;]
 *
 *   key        name, loc_id, track_id, process_id, depth, trace_id
 *   item       keys, count(*), count(dur), sum(dur), sum(self), min(dur), max(dur), avg(dur), min(depth),
 *              max(depth), numbers, texts, + - * / % ( ) and the functions below, with or without a name (AS x);
 *              without GROUP BY an aggregate at least, and no key
 *   condition  ts or dur >, >=, <, <= a whole number, or BETWEEN two of them; key = a number or a text
 *
 * Perfetto's slice has neither loc_id nor process_id nor self, and where a zone did not end the duration -1: of its durations
 * only those from 0 on are taken.
 *
 * Every aggregate becomes one over zone_sum, where a row stands for many zones; SQLite does the rest. A word that is not in
 * these lists ends the attempt, and the statement goes to SQLite as it is: better slow than wrong.
 * SPDX-License-Identifier: MIT */
#include "sql/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { WORD, NUMBER, TEXT, SIGN, STOP };
enum { MAX_ITEMS = 64 };

struct token {
    enum kind kind;
    const char *at; /* borrowed from the statement */
    size_t n;
};

/* Whole numbers, both inclusive. */
struct bounds {
    int64_t least, most;
};

struct reader {
    const char *at;
    struct token now;
    struct strobe_out *out; /* borrowed */
    int failed;
    int of_slices;          /* FROM slice, else FROM zone */
    unsigned used, grouped; /* keys in items, and those of GROUP BY: one bit each */
    unsigned n_aggregates;
    struct bounds ts, dur;
    struct strobe_out conditions;
    /* Names of items, so that ORDER BY may use them. */
    struct token names[32];
    unsigned n_names;
};

static int is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next token; comments and other signs than those of the lists fail. */
static void step(struct reader *reader)
{
    const char *at = reader->at;
    while (*at && strchr(" \t\r\n", *at))
        at++;
    reader->now = (struct token){STOP, at, 0};
    if (!*at || *at == ';')
        return;
    const char *end = at + 1;
    if (isalpha((unsigned char)*at) || *at == '_') {
        reader->now.kind = WORD;
        while (is_word_char(*end))
            end++;
    } else if (isdigit((unsigned char)*at)) {
        reader->now.kind = NUMBER;
        while (isdigit((unsigned char)*end) || *end == '.')
            end++;
        if ((*end == 'e' || *end == 'E') && isdigit((unsigned char)end[1]))
            for (end++; isdigit((unsigned char)*end);)
                end++;
        reader->failed |= is_word_char(*end);
    } else if (*at == '\'') {
        reader->now.kind = TEXT;
        while (*end && (*end != '\'' || end[1] == '\''))
            end += *end == '\'' ? 2 : 1;
        reader->failed |= !*end;
        end += *end == '\'';
    } else {
        reader->now.kind = SIGN;
        if ((*at == '>' || *at == '<') && *end == '=')
            end++;
        reader->failed |= !strchr(",()+-*/%=<>", *at) || (*at == '-' && *end == '-') ||
                          (*at == '/' && *end == '*') || (*at == '<' && *end == '>') ||
                          ((*at == '<' || *at == '>') && end[-1] == *at && *end == *at);
    }
    reader->now.n = (size_t)(end - at);
    reader->at = end;
}

static int is(const struct reader *reader, const char *word)
{
    return reader->now.n == strlen(word) && !strncasecmp(reader->now.at, word, reader->now.n);
}

/* Which one of the words it is, as a bit; 0: none. */
static unsigned is_one_of(const struct reader *reader, const char *const *words)
{
    for (unsigned i = 0; words[i]; i++)
        if (reader->now.kind == WORD && is(reader, words[i]))
            return 1u << i;
    return 0;
}

static void expect(struct reader *reader, const char *word)
{
    reader->failed |= !is(reader, word);
    step(reader);
}

static int take(struct reader *reader, const char *word)
{
    if (!is(reader, word))
        return 0;
    step(reader);
    return 1;
}

static const char *const keys[] = {"name",   "track_id",   "depth", "trace_id",
                                   "loc_id", "process_id", NULL};
enum { SLICE_KEYS = 15 }; /* the first four */
static const char *const functions[] = {"round", "abs", "coalesce", "nullif", NULL};

static void put_token(struct reader *reader)
{
    strobe_out_bytes(reader->out, reader->now.at, reader->now.n);
    strobe_out_char(reader->out, ' ');
    step(reader);
}

/* The key that the token is, as a bit; 0: none. */
static unsigned key_of(const struct reader *reader)
{
    return is_one_of(reader, keys) & (reader->of_slices ? SLICE_KEYS : ~0u);
}

/* The sum of the durations of slices, over zone_sum. */
#define SUM_OF_SLICES "coalesce(sum(total), 0) - (sum(count) - sum(ended))"

/* aggregate ( argument ): what it is over zone_sum. NULL: there is none. */
static const char *aggregate_of(const char *function, size_t n, const char *argument,
                                size_t n_argument, int of_slices)
{
    static const struct {
        const char *function, *argument, *of[2]; /* of zones, of slices */
    } known[] = {
        /* without GROUP BY there may be no row */
        {"count", "*", {"coalesce(sum(count), 0)", "coalesce(sum(count), 0)"}},
        {"count", "dur", {"coalesce(sum(ended), 0)", "coalesce(sum(count), 0)"}},
        {"sum", "dur", {"sum(total)", "(" SUM_OF_SLICES ")"}},
        {"sum", "self", {"sum(self)", NULL}},
        {"min", "dur", {"min(min)", "min(CASE WHEN count > ended THEN -1 ELSE min END)"}},
        {"max", "dur", {"max(max)", "max(coalesce(max, -1))"}},
        {"min", "depth", {"min(depth)", "min(depth)"}},
        {"max", "depth", {"max(depth)", "max(depth)"}},
        {"avg",
         "dur",
         {"(CAST(sum(total) AS REAL) / sum(ended))",
          "(CAST(" SUM_OF_SLICES " AS REAL) / sum(count))"}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].function) == n && !strncasecmp(function, known[i].function, n) &&
            strlen(known[i].argument) == n_argument &&
            !strncasecmp(argument, known[i].argument, n_argument))
            return known[i].of[of_slices];
    return NULL;
}

/* A word inside of an expression. */
static void put_word(struct reader *reader, int may_name)
{
    struct token word = reader->now;
    reader->used |= key_of(reader);
    if (key_of(reader) || is_one_of(reader, functions)) {
        put_token(reader);
        return;
    }
    for (unsigned i = 0; may_name && i < reader->n_names; i++)
        if (reader->names[i].n == word.n && !strncasecmp(reader->names[i].at, word.at, word.n)) {
            put_token(reader);
            return;
        }
    step(reader);
    expect(reader, "(");
    const char *over_sums =
        aggregate_of(word.at, word.n, reader->now.at, reader->now.n, reader->of_slices);
    step(reader);
    expect(reader, ")");
    reader->failed |= !over_sums;
    reader->n_aggregates++;
    if (!reader->failed)
        strobe_out_text(reader->out, over_sums);
    strobe_out_char(reader->out, ' ');
}

/* An expression, up to a comma or a word that ends it. */
static void put_expression(struct reader *reader, const char *const *ends, int may_name)
{
    int depth = 0, n = 0;
    for (; !reader->failed && reader->now.kind != STOP; n++) {
        if (!depth && (is(reader, ",") || is_one_of(reader, ends)))
            break;
        if (reader->now.kind == WORD) {
            put_word(reader, may_name);
            continue;
        }
        if (reader->now.kind == SIGN) {
            depth += is(reader, "(") - is(reader, ")");
            reader->failed |= depth < 0 || strchr("=<>", *reader->now.at);
        }
        put_token(reader);
    }
    reader->failed |= depth || !n;
}

/* An item of SELECT, with the name that its column has: the one that it was given, else its text. */
static void put_item(struct reader *reader)
{
    static const char *const ends[] = {"as", "from", NULL};
    const char *start = reader->now.at;
    put_expression(reader, ends, 0);
    const char *end = reader->now.at;
    while (end > start && strchr(" \t\r\n", end[-1]))
        end--;
    strobe_out_text(reader->out, "AS ");
    if (!take(reader, "as")) {
        strobe_out_char(reader->out, '"');
        for (const char *at = start; at < end; at++) {
            reader->failed |= *at == '"';
            strobe_out_char(reader->out, *at);
        }
        strobe_out_text(reader->out, "\" ");
        return;
    }
    reader->failed |= reader->now.kind != WORD || is_one_of(reader, keys) || reader->n_names == 32;
    if (!reader->failed)
        reader->names[reader->n_names++] = reader->now;
    put_token(reader);
}

/* A whole number; fails where it is none. */
static int64_t read_whole(struct reader *reader)
{
    char *end;
    int is_minus = take(reader, "-");
    reader->failed |= reader->now.kind != NUMBER || memchr(reader->now.at, '.', reader->now.n) ||
                      reader->now.n > 18;
    int64_t value = reader->failed ? 0 : strtoll(reader->now.at, &end, 10);
    reader->failed |= !reader->failed && end != reader->now.at + reader->now.n;
    step(reader);
    return is_minus ? -value : value;
}

static void raise_least(struct bounds *bounds, int64_t value)
{
    bounds->least = value > bounds->least ? value : bounds->least;
}

static void lower_most(struct bounds *bounds, int64_t value)
{
    bounds->most = value < bounds->most ? value : bounds->most;
}

static void read_bounds(struct reader *reader, struct bounds *bounds)
{
    if (take(reader, "between")) {
        raise_least(bounds, read_whole(reader));
        expect(reader, "and");
        lower_most(bounds, read_whole(reader));
    } else if (take(reader, ">=")) {
        raise_least(bounds, read_whole(reader));
    } else if (take(reader, ">")) {
        raise_least(bounds, read_whole(reader) + 1);
    } else if (take(reader, "<=")) {
        lower_most(bounds, read_whole(reader));
    } else if (take(reader, "<")) {
        lower_most(bounds, read_whole(reader) - 1);
    } else {
        reader->failed = 1;
    }
}

static void read_condition(struct reader *reader)
{
    struct strobe_out *conditions = &reader->conditions;
    struct token key = reader->now;
    if (is(reader, "ts") || is(reader, "dur")) {
        struct bounds *bounds = is(reader, "ts") ? &reader->ts : &reader->dur;
        step(reader);
        read_bounds(reader, bounds);
        return;
    }
    reader->failed |= !key_of(reader);
    step(reader);
    expect(reader, "=");
    reader->failed |= reader->now.kind != NUMBER && reader->now.kind != TEXT;
    strobe_out_text(conditions, conditions->len ? " AND " : " WHERE ");
    strobe_out_bytes(conditions, key.at, key.n);
    strobe_out_text(conditions, " = ");
    strobe_out_bytes(conditions, reader->now.at, reader->now.n);
    step(reader);
}

static int is_bounded(const struct bounds *bounds)
{
    return bounds->least != INT64_MIN || bounds->most != INT64_MAX;
}

/* Two arguments. */
static void put_bounds(struct strobe_out *out, const struct bounds *bounds)
{
    if (bounds->least == INT64_MIN)
        strobe_out_text(out, "NULL");
    else
        strobe_out_i(out, bounds->least);
    strobe_out_char(out, ',');
    if (bounds->most == INT64_MAX)
        strobe_out_text(out, "NULL");
    else
        strobe_out_i(out, bounds->most);
}

static void put_source(struct reader *reader)
{
    expect(reader, "from");
    if (!reader->of_slices || !take(reader, "slices"))
        expect(reader, reader->of_slices ? "slice" : "zone");
    if (take(reader, "where")) {
        do
            read_condition(reader);
        while (!reader->failed && take(reader, "and"));
    }
    strobe_out_text(reader->out, "FROM zone_sum");
    int by_dur = is_bounded(&reader->dur);
    reader->failed |= by_dur && reader->of_slices && reader->dur.least < 0;
    if (by_dur || is_bounded(&reader->ts)) {
        strobe_out_char(reader->out, '(');
        put_bounds(reader->out, &reader->ts);
        if (by_dur) {
            strobe_out_char(reader->out, ',');
            put_bounds(reader->out, &reader->dur);
        }
        strobe_out_char(reader->out, ')');
    }
    strobe_out_bytes(reader->out, reader->conditions.at, reader->conditions.len);
}

static void put_keys(struct reader *reader)
{
    if (!take(reader, "group")) { /* one row for all, but only of aggregates */
        reader->failed |= !reader->n_aggregates;
        strobe_out_char(reader->out, ' ');
        return;
    }
    expect(reader, "by");
    strobe_out_text(reader->out, " GROUP BY ");
    do {
        reader->grouped |= key_of(reader);
        reader->failed |= !key_of(reader);
        put_token(reader);
        if (is(reader, ","))
            strobe_out_text(reader->out, ", ");
    } while (!reader->failed && take(reader, ","));
}

static void put_order(struct reader *reader)
{
    static const char *const ends[] = {"asc", "desc", "limit", NULL};
    if (!take(reader, "order"))
        return;
    expect(reader, "by");
    strobe_out_text(reader->out, "ORDER BY ");
    do {
        put_expression(reader, ends, 1);
        if (is(reader, "asc") || is(reader, "desc"))
            put_token(reader);
        if (is(reader, ","))
            strobe_out_text(reader->out, ", ");
    } while (!reader->failed && take(reader, ","));
}

static void put_limit(struct reader *reader)
{
    if (!is(reader, "limit"))
        return;
    put_token(reader);
    reader->failed |= reader->now.kind != NUMBER;
    put_token(reader);
    if (!is(reader, "offset"))
        return;
    put_token(reader);
    reader->failed |= reader->now.kind != NUMBER;
    put_token(reader);
}

static size_t rewrite(const char *text, struct strobe_out *out, int of_slices)
{
    const struct bounds none = {INT64_MIN, INT64_MAX};
    struct reader reader = {
        .at = text, .out = out, .of_slices = of_slices, .ts = none, .dur = none};
    strobe_out_clear(out);
    step(&reader);
    expect(&reader, "select");
    reader.failed |= is(&reader, "distinct") || is(&reader, "all");
    strobe_out_text(out, "SELECT ");
    for (unsigned n = 0; !reader.failed; n++) {
        reader.failed |= n == MAX_ITEMS; /* nobody asks so, and nothing looks at the clock here */
        put_item(&reader);
        if (!take(&reader, ","))
            break;
        strobe_out_text(out, ", ");
    }
    if (!reader.failed)
        put_source(&reader);
    if (!reader.failed)
        put_keys(&reader);
    if (!reader.failed)
        put_order(&reader);
    if (!reader.failed)
        put_limit(&reader);
    strobe_out_free(&reader.conditions);
    reader.failed |= reader.used & ~reader.grouped; /* SQLite would take it from any row */
    if (reader.failed || reader.now.kind != STOP || out->error)
        return 0;
    return (size_t)(reader.now.at - text) + (*reader.now.at == ';');
}

size_t strobe_sql_rewrite(const char *text, struct strobe_out *out)
{
    size_t n = rewrite(text, out, 0);
    return n || out->error ? n : rewrite(text, out, 1);
}
