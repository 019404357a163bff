/* functions.c - LIKE, GLOB, instr, replace, trim, length and printf in place of SQLite's own: the same answers, in a time that is bounded.
 *
 * SQLite looks at the clock between two steps of its machine, and a call of a function is one step. Its own LIKE takes a time that
 * is exponential in the wildcards of the pattern, the others one that grows with the product of both lengths: a statement of a line
 * would run for years. Here patterns go back to their last wildcard alone, texts are searched in linear time, and what is left of
 * products looks at the clock.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "sql/table.h"

enum {
    LOOK_EVERY = 1 << 14, /* steps */
    MAX_PATTERN = 1000,
    MAX_WIDTH = 1 << 20,
};

/* Steps of one call. */
struct pace {
    struct strobe_sql *sql;
    uint32_t n;
};

/* 1: the run is over. */
static int is_late(struct pace *pace)
{
    return (++pace->n & (LOOK_EVERY - 1)) == 0 && strobe_sql_is_over(pace->sql);
}

/* ---- LIKE and GLOB ---- */

struct pattern {
    uint32_t all, one, set, escape; /* letters; 0: it has none */
    int folds;                      /* A is a */
};

/* A character of UTF-8, of which anything may have been made, and past it. 0 at the end of the text. */
static uint32_t next_char(const unsigned char **at)
{
    uint32_t c = *(*at)++;
    if (c < 0xc0)
        return c;
    c &= c < 0xe0 ? 0x1f : c < 0xf0 ? 0x0f : 0x07;
    while ((**at & 0xc0) == 0x80)
        c = c << 6 | (*(*at)++ & 0x3f);
    return c;
}

static uint32_t fold(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* [a-z], [^a-z]: `at` is behind the bracket, and behind the other one afterwards. -1: there is none. */
static int fits_set(const unsigned char **at, uint32_t c)
{
    int is_inverted = 0, seen = 0;
    uint32_t prior = 0, now = next_char(at);
    if (now == '^') {
        is_inverted = 1;
        now = next_char(at);
    }
    if (now == ']') { /* the first one is a member */
        seen = c == ']';
        now = next_char(at);
    }
    for (; now && now != ']'; now = next_char(at)) {
        if (now == '-' && **at != ']' && **at && prior) {
            now = next_char(at);
            seen |= c >= prior && c <= now;
            prior = 0;
        } else {
            seen |= c == now;
            prior = now;
        }
    }
    return now ? seen ^ is_inverted : -1;
}

/* One character of the text against what the pattern wants there; both go on where it fits. -1: it never does. */
static int fits_one(const struct pattern *p, const unsigned char **at, const unsigned char **text)
{
    uint32_t c = next_char(text), wanted = next_char(at);
    if (p->set && wanted == p->set)
        return fits_set(at, c);
    if (wanted == p->one && wanted != p->escape)
        return 1;
    if (p->escape && wanted == p->escape && !(wanted = next_char(at)))
        return -1;
    return c == wanted || (p->folds && c < 0x80 && wanted < 0x80 && fold(c) == fold(wanted));
}

/* 1: it fits, 0: it does not, -1: the run is over. */
static int fits(const struct pattern *p, const unsigned char *at, const unsigned char *text,
                struct pace *pace)
{
    const unsigned char *behind_star = NULL, *star_text = NULL;
    for (;;) {
        if (is_late(pace))
            return -1;
        if (*at && *at == p->all && p->all != p->escape) {
            behind_star = ++at;
            star_text = text;
            continue;
        }
        int fit = 0;
        const unsigned char *next_at = at, *next_text = text;
        if (*at && !*text)
            return 0;
        if (*at)
            fit = fits_one(p, &next_at, &next_text);
        else if (!*text)
            return 1;
        if (fit < 0)
            return 0;
        if (fit) {
            at = next_at;
            text = next_text;
        } else if (behind_star) {
            next_char(&star_text);
            text = star_text;
            at = behind_star;
        } else {
            return 0;
        }
    }
}

static void match(sqlite3_context *context, int n_values, sqlite3_value **values,
                  struct pattern pattern)
{
    struct pace pace = {sqlite3_user_data(context), 0};
    int has_blob = sqlite3_value_type(values[0]) == SQLITE_BLOB ||
                   sqlite3_value_type(values[1]) == SQLITE_BLOB;
    if (has_blob && sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")) {
        sqlite3_result_int(context, 0);
        return;
    }
    if (sqlite3_value_bytes(values[0]) > MAX_PATTERN) {
        sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
        return;
    }
    if (n_values == 3) {
        const unsigned char *escape = sqlite3_value_text(values[2]), *end = escape;
        if (!escape)
            return;
        pattern.escape = *escape ? next_char(&end) : 0;
        if (!*escape || *end) {
            sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
            return;
        }
    }
    const unsigned char *at = sqlite3_value_text(values[0]), *text = sqlite3_value_text(values[1]);
    if (!at || !text)
        return; /* NULL */
    int fit = fits(&pattern, at, text, &pace);
    if (fit < 0)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    else
        sqlite3_result_int(context, fit);
}

static void on_like(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    match(context, n_values, values, (struct pattern){.all = '%', .one = '_', .folds = 1});
}

static void on_glob(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    match(context, n_values, values, (struct pattern){.all = '*', .one = '?', .set = '['});
}

/* ---- texts in texts ---- */

static int is_inside(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* instr(X, Y): characters of texts, bytes of BLOBs. */
static void on_instr(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    (void)n_values;
    int types[] = {sqlite3_value_type(values[0]), sqlite3_value_type(values[1])};
    if (types[0] == SQLITE_NULL || types[1] == SQLITE_NULL)
        return;
    int is_text = types[0] != SQLITE_BLOB || types[1] != SQLITE_BLOB;
    const unsigned char *in =
        is_text ? sqlite3_value_text(values[0]) : sqlite3_value_blob(values[0]);
    const unsigned char *what =
        is_text ? sqlite3_value_text(values[1]) : sqlite3_value_blob(values[1]);
    size_t n_in = (size_t)sqlite3_value_bytes(values[0]);
    size_t n_what = (size_t)sqlite3_value_bytes(values[1]);
    sqlite3_int64 place = 1;
    if (n_what) {
        const unsigned char *from = in, *at = NULL;
        while (n_in && (at = memmem(from, n_in - (size_t)(from - in), what, n_what)) && is_text &&
               at > in && is_inside(*at))
            from = at + 1;
        for (const unsigned char *to = in; at && to < at; to++)
            place += !is_text || !is_inside(to[1]);
        place = at ? place : 0;
    }
    sqlite3_result_int64(context, place);
}

/* replace(X, Y, Z). */
static void on_replace(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    (void)n_values;
    const char *in = (const char *)sqlite3_value_text(values[0]);
    const char *what = (const char *)sqlite3_value_text(values[1]);
    const char *by = (const char *)sqlite3_value_text(values[2]);
    if (!in || !what || !by)
        return;
    size_t n_in = (size_t)sqlite3_value_bytes(values[0]);
    size_t n_what = (size_t)sqlite3_value_bytes(values[1]);
    size_t n_by = (size_t)sqlite3_value_bytes(values[2]);
    size_t most =
        (size_t)sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
    if (!n_what) {
        sqlite3_result_value(context, values[0]);
        return;
    }
    struct strobe_out out = {0};
    const char *end = in + n_in, *at;
    for (; out.len <= most && (at = memmem(in, (size_t)(end - in), what, n_what));
         in = at + n_what) {
        strobe_out_bytes(&out, in, (size_t)(at - in));
        strobe_out_bytes(&out, by, n_by);
    }
    if (out.len <= most)
        strobe_out_bytes(&out, in, (size_t)(end - in));
    if (out.error)
        sqlite3_result_error_nomem(context);
    else if (out.len > most)
        sqlite3_result_error_toobig(context);
    else
        sqlite3_result_text(context, out.len ? out.at : "", (int)out.len, SQLITE_TRANSIENT);
    strobe_out_free(&out);
}

/* ---- trim ---- */

enum { LEFT = 1, RIGHT = 2 };

/* The bytes of the character at `at`, which has `n` behind it. */
static size_t char_bytes(const char *at, size_t n)
{
    size_t bytes = 1;
    if ((unsigned char)*at >= 0xc0)
        while (bytes < n && is_inside((unsigned char)at[bytes]))
            bytes++;
    return bytes;
}

/* The bytes of a character of `set` that the text begins with, or ends with; 0: none; SIZE_MAX: the run is over. */
static size_t find_end(const char *text, size_t n, int side, const char *set, size_t n_set,
                       struct pace *pace)
{
    for (size_t at = 0, bytes; at < n_set; at += bytes) {
        bytes = char_bytes(set + at, n_set - at);
        if (is_late(pace))
            return SIZE_MAX;
        if (bytes <= n && !memcmp(side == LEFT ? text : text + n - bytes, set + at, bytes))
            return bytes;
    }
    return 0;
}

static void trim(sqlite3_context *context, int n_values, sqlite3_value **values, int sides)
{
    struct pace pace = {sqlite3_user_data(context), 0};
    const char *text = (const char *)sqlite3_value_text(values[0]);
    const char *set = n_values > 1 ? (const char *)sqlite3_value_text(values[1]) : " ";
    if (!text || !set)
        return;
    size_t n = (size_t)sqlite3_value_bytes(values[0]), bytes;
    size_t n_set = n_values > 1 ? (size_t)sqlite3_value_bytes(values[1]) : 1;
    for (int side = LEFT; side <= RIGHT; side++)
        while (sides & side && n && (bytes = find_end(text, n, side, set, n_set, &pace))) {
            if (bytes == SIZE_MAX) {
                sqlite3_result_error_code(context, SQLITE_INTERRUPT);
                return;
            }
            text += side == LEFT ? bytes : 0;
            n -= bytes;
        }
    sqlite3_result_text(context, text, (int)n, SQLITE_TRANSIENT);
}

static void on_trim(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    trim(context, n_values, values, LEFT | RIGHT);
}

static void on_ltrim(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    trim(context, n_values, values, LEFT);
}

static void on_rtrim(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    trim(context, n_values, values, RIGHT);
}

/* ---- length ---- */

/* length(X): characters of a text up to a NUL, bytes of a BLOB. Thousands of calls may stand in one row, and between them SQLite does
 * not look at the clock. */
static void on_length(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    (void)n_values;
    int type = sqlite3_value_type(values[0]), n = sqlite3_value_bytes(values[0]);
    if (type == SQLITE_NULL)
        return;
    if (n >= LOOK_EVERY && strobe_sql_is_over(sqlite3_user_data(context))) {
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
        return;
    }
    const unsigned char *text = type == SQLITE_BLOB ? NULL : sqlite3_value_text(values[0]);
    sqlite3_int64 length = text ? 0 : n;
    for (; text && *text; text++)
        length += !is_inside(*text);
    sqlite3_result_int64(context, length);
}

/* ---- printf ---- */

/* A width or a precision in a format, behind it; 1: it is longer than any text may be. */
static int is_too_wide(const char **at, int n_values, sqlite3_value **values, int *used)
{
    sqlite3_int64 wide = 0;
    if (**at == '*') {
        wide = *used < n_values ? sqlite3_value_int64(values[(*used)++]) : 0;
        ++*at;
    } else {
        for (; **at >= '0' && **at <= '9'; ++*at)
            wide = wide > MAX_WIDTH ? wide : 10 * wide + (**at - '0');
    }
    return wide > MAX_WIDTH || wide < -MAX_WIDTH;
}

/* SQLite counts such a width down, one by one, though nothing more fits. */
static int is_endless(int n_values, sqlite3_value **values)
{
    const char *at = (const char *)sqlite3_value_text(values[0]);
    int used = 1;
    while (at && (at = strchr(at, '%'))) {
        at += 1 + strspn(at + 1, "-+ #!,0");
        if (is_too_wide(&at, n_values, values, &used))
            return 1;
        if (*at == '.' && (++at, is_too_wide(&at, n_values, values, &used)))
            return 1;
        at += strspn(at, "l");
        used += *at != '%' && *at != 'n';
        at += *at != 0;
    }
    return 0;
}

/* printf(FORMAT, …) by SQLite's own, on a connection where it is not replaced: a call of it takes milliseconds at the most, and goes
 * on where it gets no memory. */
static int call_plain(sqlite3 *db, sqlite3_context *context, int n_values, sqlite3_value **values)
{
    struct strobe_out text = {0};
    sqlite3_stmt *statement = NULL;
    strobe_out_text(&text, "SELECT printf(");
    for (int i = 0; i < n_values; i++)
        strobe_out_text(&text, i ? ",?" : "?");
    strobe_out_text(&text, ")");
    int code = text.error ? SQLITE_NOMEM
                          : sqlite3_prepare_v2(db, strobe_out_string(&text), -1, &statement, NULL);
    strobe_out_free(&text);
    for (int i = 0; !code && i < n_values; i++)
        code = sqlite3_bind_value(statement, i + 1, values[i]);
    if (!code)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        sqlite3_result_value(context, sqlite3_column_value(statement, 0));
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

static void on_printf(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    struct strobe_sql *sql = sqlite3_user_data(context);
    int code = strobe_sql_is_over(sql) ? SQLITE_INTERRUPT : SQLITE_OK;
    if (!n_values)
        return; /* NULL */
    if (!code && is_endless(n_values, values))
        code = SQLITE_TOOBIG;
    if (!code && !sql->plain) {
        code =
            sqlite3_open_v2(":memory:", &sql->plain,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);
        if (!code) /* without memory there is none, and it is tried again the next time */
            sqlite3_limit(sql->plain, SQLITE_LIMIT_LENGTH,
                          sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, -1));
    }
    if (!code)
        code = call_plain(sql->plain, context, n_values, values);
    if (code == SQLITE_TOOBIG)
        sqlite3_result_error_toobig(context);
    else if (code == SQLITE_NOMEM)
        sqlite3_result_error_nomem(context);
    else if (code)
        sqlite3_result_error_code(context, code);
}

int strobe_sql_register_functions(struct strobe_sql *sql)
{
    static const struct {
        const char *name;
        int n_values;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"like", 2, on_like},      {"like", 3, on_like},       {"glob", 2, on_glob},
        {"instr", 2, on_instr},    {"replace", 3, on_replace}, {"trim", 1, on_trim},
        {"trim", 2, on_trim},      {"ltrim", 1, on_ltrim},     {"ltrim", 2, on_ltrim},
        {"rtrim", 1, on_rtrim},    {"rtrim", 2, on_rtrim},     {"length", 1, on_length},
        {"printf", -1, on_printf}, {"format", -1, on_printf}};
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code = SQLITE_OK;
    for (size_t i = 0; !code && i < sizeof functions / sizeof functions[0]; i++)
        code = sqlite3_create_function(sql->db, functions[i].name, functions[i].n_values, flags,
                                       sql, functions[i].call, NULL, NULL);
    return code;
}
