/* test_base_json_read.c - JSON token by token, whole and in pieces of any size.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/out.h"

/* A source that gives `piece` bytes at once. */
struct pieces {
    const char *bytes;
    size_t n, at, piece;
};

static enum strobe_err give(void *context, char *out, size_t room, size_t *n)
{
    struct pieces *p = context;
    *n = p->n - p->at;
    *n = *n < p->piece ? *n : p->piece;
    *n = *n < room ? *n : room;
    memcpy(out, p->bytes + p->at, *n);
    p->at += *n;
    return STROBE_OK;
}

/* All tokens as one line: {k"a"v... */
static enum strobe_err show(struct strobe_json_reader *reader, struct strobe_out *out)
{
    static const char marks[] = "E{}[]ksntf0";
    enum strobe_json_token token;
    enum strobe_err err;
    while (!(err = strobe_json_read_next(reader, &token)) && token != STROBE_TOKEN_END) {
        strobe_out_char(out, marks[token]);
        if (token == STROBE_TOKEN_KEY || token == STROBE_TOKEN_STRING ||
            token == STROBE_TOKEN_NUMBER) {
            strobe_out_char(out, '<');
            strobe_out_bytes(out, reader->text, reader->n_text);
            strobe_out_char(out, '>');
        }
    }
    return err;
}

/* Of memory and of pieces of 1, 2, 3, 7 and all bytes the same comes out. */
static void check_all(const char *text, size_t n, unsigned flags, enum strobe_err expected_err,
                      const char *expected)
{
    static const size_t sizes[] = {1, 2, 3, 7, SIZE_MAX};
    struct strobe_json_options options = {.flags = flags};
    uint64_t line = 0, column = 0;
    for (int i = -1; i < 5; i++) {
        struct strobe_json_reader reader;
        struct strobe_out out = {0};
        struct pieces pieces = {text, n, 0, i < 0 ? 0 : sizes[i]};
        char *copy = malloc(n ? n : 1); /* so that a sanitizer sees a byte too far */
        memcpy(copy, text, n);
        if (i < 0)
            strobe_json_read_memory(&reader, copy, n, &options);
        else
            assert_int_equal(strobe_json_read_source(&reader, give, &pieces, &options), STROBE_OK);
        enum strobe_err err = show(&reader, &out);
        assert_int_equal(err, expected_err);
        if (expected)
            assert_string_equal(strobe_out_string(&out), expected);
        assert_true(!err == !reader.complaint);
        uint64_t at_line, at_column;
        strobe_json_read_where(&reader, &at_line, &at_column);
        assert_true(i < 0 ||
                    (at_line == line && at_column == column)); /* wherever the pieces end */
        line = at_line;
        column = at_column;
        strobe_out_free(&out);
        strobe_json_read_close(&reader);
        free(copy);
    }
}

static void check(const char *text, unsigned flags, enum strobe_err err, const char *expected)
{
    check_all(text, strlen(text), flags, err, expected);
}

static void values_become_tokens(void **state)
{
    (void)state;
    check("{}", 0, STROBE_OK, "{}");
    check(" [ ] ", 0, STROBE_OK, "[]");
    check("7", 0, STROBE_OK, "n<7>");
    check("{\"a\" : [1, -2.5e+3 ,true,false,null,\"x\"], \"b\":{\"c\":{}}}\n", 0, STROBE_OK,
          "{k<a>[n<1>n<-2.5e+3>tf0s<x>]k<b>{k<c>{}}}");
}

static void strings_are_decoded(void **state)
{
    (void)state;
    check("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", 0, STROBE_OK, "s<a\"\\/\b\f\n\r\tz>");
    check("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"", 0, STROBE_OK,
          "s<A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80>");
    check("\"\xc3\xa9 plain and long enough for eight at once\"", 0, STROBE_OK,
          "s<\xc3\xa9 plain and long enough for eight at once>");
    /* halves of pairs and broken bytes */
    check("\"\\ud800x\\udc00\"", 0, STROBE_OK, "s<\xef\xbf\xbdx\xef\xbf\xbd>");
    check("\"\\ud800\\u0041\"", 0, STROBE_OK,
          "s<\xef\xbf\xbd"
          "A>");
    check("\"a\xff\xe2\x82\"", 0, STROBE_OK, "s<a\xef\xbf\xbd\xef\xbf\xbd>");
    check("\"a\xff\\ud800\"", STROBE_JSON_ANY_BYTES, STROBE_OK, "s<a\xff\xed\xa0\x80>");
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"x",
                                      "{a:1}",
                                      "[1 2]",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "[,1]",
                                      "{,}",
                                      "{\"a\" 1}",
                                      "{\"a\":}",
                                      "[}",
                                      "{]",
                                      "01",
                                      "1.x",
                                      "+1",
                                      "-x",
                                      ".5",
                                      "1.e5 ",
                                      "[1e+]",
                                      "nul_",
                                      "tru ",
                                      "\"\\x\"",
                                      "\"\\u12g4\"",
                                      "\"a\nb\"",
                                      "{} {}",
                                      "1 2",
                                      "NaN",
                                      "[Infinity]",
                                      "-Infinity",
                                      "'a'",
                                      "[1],",
                                      "{\"a\":1 \"b\":2}",
                                      "\"\\u123\"",
                                      "0x10",
                                      "1-2",
                                      "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check(bad[i], 0, STROBE_ERR_FORMAT, NULL);
}

static void a_text_that_ends_early_is_cut_off(void **state)
{
    (void)state;
    static const char whole[] = "{\"ab\":[1.5e+3,true,\"\\u00e9\\n\",null],\"c\":{}}";
    for (size_t n = 0; n < sizeof whole - 1; n++)
        check_all(whole, n, 0, STROBE_ERR_CORRUPT, NULL);
    check_all(whole, sizeof whole - 1, 0, STROBE_OK, NULL);
}

static void flags_allow_more(void **state)
{
    (void)state;
    check("[NaN,Infinity,-Infinity]", STROBE_JSON_NAN, STROBE_OK,
          "[n<NaN>n<Infinity>n<-Infinity>]");
    check("[,1,,2,]", STROBE_JSON_MORE_COMMAS, STROBE_OK, "[n<1>n<2>]");
    check("{\"a\":1,}", STROBE_JSON_MORE_COMMAS, STROBE_OK, "{k<a>n<1>}");
    check("[,]", STROBE_JSON_MORE_COMMAS, STROBE_OK, "[]");
    check("[1 2]", STROBE_JSON_MORE_COMMAS, STROBE_ERR_FORMAT, NULL);
    check("{\"a\":,1}", STROBE_JSON_MORE_COMMAS, STROBE_ERR_FORMAT, NULL);
    check("[1],", STROBE_JSON_MORE_COMMAS, STROBE_ERR_FORMAT, NULL);
}

static void integers_of_64_bits_are_exact(void **state)
{
    (void)state;
    struct strobe_json_reader reader;
    enum strobe_json_token token;
    uint64_t u;
    int64_t i;
    double d;
    const char *text =
        "[18446744073709551615,18446744073709551616,-9223372036854775808,9223372036854775808,"
        "-1,1.0,1e3,-0,9007199254740993]";
    strobe_json_read_memory(&reader, text, strlen(text), NULL);
#define NEXT() assert_int_equal(strobe_json_read_next(&reader, &token), STROBE_OK)
    NEXT();
    NEXT();
    assert_true(strobe_json_read_u64(&reader, &u) && u == UINT64_MAX &&
                !strobe_json_read_i64(&reader, &i));
    NEXT();
    assert_true(!strobe_json_read_u64(&reader, &u) && strobe_json_read_double(&reader, &d) &&
                d == 0x1p64);
    NEXT();
    assert_true(strobe_json_read_i64(&reader, &i) && i == INT64_MIN &&
                !strobe_json_read_u64(&reader, &u));
    NEXT();
    assert_true(!strobe_json_read_i64(&reader, &i) && strobe_json_read_u64(&reader, &u));
    NEXT();
    assert_true(strobe_json_read_i64(&reader, &i) && i == -1);
    NEXT();
    assert_true(!strobe_json_read_i64(&reader, &i) && strobe_json_read_double(&reader, &d) &&
                d == 1);
    NEXT();
    assert_true(!reader.is_integer && strobe_json_read_double(&reader, &d) && d == 1000);
    NEXT();
    assert_true(strobe_json_read_u64(&reader, &u) && u == 0);
    NEXT();
    assert_true(strobe_json_read_u64(&reader, &u) && u == 9007199254740993);
    strobe_json_read_close(&reader);
}

static void bounds_hold(void **state)
{
    (void)state;
    struct strobe_json_reader reader;
    struct strobe_out out = {0};
    char deep[300];
    struct strobe_json_options options = {.max_depth = 5, .max_string = 10, .max_bytes = 100};
    static const struct {
        const char *text;
        enum strobe_err err;
    } cases[] = {{"[[[[[]]]]]", STROBE_OK},
                 {"[[[[[[]]]]]]", STROBE_ERR_LIMIT},
                 {"\"1234567890\"", STROBE_OK},
                 {"\"12345678901\"", STROBE_ERR_LIMIT},
                 {"12345678901", STROBE_ERR_LIMIT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        strobe_json_read_memory(&reader, cases[i].text, strlen(cases[i].text), &options);
        assert_int_equal(show(&reader, &out), cases[i].err);
        strobe_json_read_close(&reader);
    }
    memset(deep, ' ', sizeof deep);
    for (size_t piece = 1; piece < 400; piece *= 7) {
        struct pieces pieces = {deep, sizeof deep, 0, piece};
        assert_int_equal(strobe_json_read_source(&reader, give, &pieces, &options), STROBE_OK);
        assert_int_equal(show(&reader, &out), STROBE_ERR_LIMIT);
        assert_true(pieces.at <= 100 + piece || piece == SIZE_MAX);
        strobe_json_read_close(&reader);
    }
    strobe_out_free(&out);
}

static void an_error_has_line_and_column_and_stays(void **state)
{
    (void)state;
    struct strobe_json_reader reader;
    enum strobe_json_token token;
    uint64_t line, column;
    const char *text = "{\n  \"a\": 1,\n  \"b\": ?\n}";
    for (size_t piece = 1; piece < 40; piece++) {
        struct pieces pieces = {text, strlen(text), 0, piece};
        strobe_json_read_source(&reader, give, &pieces, NULL);
        enum strobe_err err;
        while (!(err = strobe_json_read_next(&reader, &token)))
            assert_true(token != STROBE_TOKEN_END);
        assert_int_equal(err, STROBE_ERR_FORMAT);
        strobe_json_read_where(&reader, &line, &column);
        assert_int_equal(line, 3);
        assert_int_equal(column, 8);
        assert_int_equal(strobe_json_read_next(&reader, &token), STROBE_ERR_FORMAT);
        strobe_json_read_close(&reader);
    }
}

static void a_value_can_be_skipped(void **state)
{
    (void)state;
    struct strobe_json_reader reader;
    enum strobe_json_token token;
    const char *text = "{\"a\":[1,{\"b\":[]}],\"c\":5,\"d\":6}";
    strobe_json_read_memory(&reader, text, strlen(text), NULL);
    NEXT();
    NEXT();
    NEXT();
    assert_int_equal(strobe_json_read_skip(&reader, token), STROBE_OK);
    NEXT();
    assert_true(strobe_json_read_is(&reader, "c"));
    NEXT();
    assert_int_equal(strobe_json_read_skip(&reader, token), STROBE_OK);
    NEXT();
    assert_true(strobe_json_read_is(&reader, "d"));
    strobe_json_read_close(&reader);
}

/* A long text, produced on the way: a thousand times the buffer would take too long for a test, a hundred do. */
static enum strobe_err endless(void *context, char *out, size_t room, size_t *n)
{
    uint64_t *left = context;
    static const char item[] = "{\"name\":\"zone \\u00e9\",\"ts\":12345.678,\"args\":{}},\n";
    size_t length = sizeof item - 1;
    *n = 0;
    while (*left && room - *n >= length) {
        memcpy(out + *n, item, length);
        *n += length;
        if (!--*left)
            out[*n - 2] = ']';
    }
    return STROBE_OK;
}

static void a_long_file_streams_through_one_buffer(void **state)
{
    (void)state;
    struct strobe_json_reader reader;
    enum strobe_json_token token = STROBE_TOKEN_NULL;
    uint64_t left = 130000, n_objects = 0;
    assert_int_equal(strobe_json_read_source(&reader, endless, &left, NULL), STROBE_OK);
    size_t room = reader.buffer_room;
    reader.buffer[0] = '[';
    reader.end++;
    while (token != STROBE_TOKEN_END) {
        NEXT();
        n_objects += token == STROBE_TOKEN_OBJECT;
    }
    assert_int_equal(n_objects, 260000);
    assert_int_equal(reader.buffer_room, room);
    assert_true(strobe_json_read_offset(&reader) > 6 << 20);
    strobe_json_read_close(&reader);
}

static enum strobe_err broken(void *context, char *out, size_t room, size_t *n)
{
    (void)context, (void)out, (void)room;
    *n = 0;
    return STROBE_ERR_IO;
}

static void an_error_of_the_source_comes_out(void **state)
{
    (void)state;
    struct strobe_json_reader reader;
    enum strobe_json_token token;
    assert_int_equal(strobe_json_read_source(&reader, broken, NULL, NULL), STROBE_OK);
    assert_int_equal(strobe_json_read_next(&reader, &token), STROBE_ERR_IO);
    strobe_json_read_close(&reader);
}

/* Damaged texts are read without harm, and the same in pieces as whole. */
static void random_damage_is_seen_the_same_in_pieces(void **state)
{
    (void)state;
    static const char seed[] =
        "{\"a\":[1,-2.5e3,true,\"x\\u00e9\\ud83d\\ude00\xc3\xa9\",null],\"b\":{\"c\":\"\\n\"}}";
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        char text[sizeof seed];
        struct strobe_out whole = {0}, cut = {0};
        struct strobe_json_reader reader;
        memcpy(text, seed, sizeof seed);
        for (int k = 0; k < 3; k++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            static const char marks[] = "[]{},:\"\\ue0\x80";
            int is_mark = random >> 32 & 1;
            text[random % (sizeof seed - 1)] =
                is_mark ? marks[random >> 40 & 7] : (char)(random >> 48);
        }
        struct strobe_json_options options = {.flags = (unsigned)(random >> 20 & 7)};
        struct pieces pieces = {text, sizeof seed - 1, 0, 1 + random % 9};
        strobe_json_read_memory(&reader, text, sizeof seed - 1, &options);
        enum strobe_err err = show(&reader, &whole);
        strobe_json_read_close(&reader);
        strobe_json_read_source(&reader, give, &pieces, &options);
        assert_int_equal(show(&reader, &cut), err);
        strobe_json_read_close(&reader);
        assert_int_equal(whole.len, cut.len);
        assert_true(!whole.len || !memcmp(whole.at, cut.at, whole.len));
        strobe_out_free(&whole);
        strobe_out_free(&cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_become_tokens),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(a_text_that_ends_early_is_cut_off),
        cmocka_unit_test(flags_allow_more),
        cmocka_unit_test(integers_of_64_bits_are_exact),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(an_error_has_line_and_column_and_stays),
        cmocka_unit_test(a_value_can_be_skipped),
        cmocka_unit_test(a_long_file_streams_through_one_buffer),
        cmocka_unit_test(an_error_of_the_source_comes_out),
        cmocka_unit_test(random_damage_is_seen_the_same_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
