/* test_engine_reply.c - the frames of answers (docs/viewer-protocol.md).  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "engine/reply.h"

enum { BEFORE = 16 };

/* A frame that was taken apart. */
struct frame {
    uint8_t *bytes; /* owned: BEFORE free ones are in front */
    size_t n;
    uint32_t id;
    struct strobe_json_tree json;
};

static void open_frame(struct strobe_reply *reply, uint32_t id, struct frame *out)
{
    uint32_t words[2];
    *out = (struct frame){0};
    out->bytes = strobe_reply_finish(reply, id, BEFORE, &out->n);
    assert_non_null(out->bytes);
    memcpy(words, out->bytes + BEFORE, sizeof words);
    out->id = words[0];
    assert_true(8 + words[1] <= out->n);
    assert_int_equal(words[1] % 8, 0);
    assert_int_equal(
        strobe_json_tree_parse(&out->json, (char *)out->bytes + BEFORE + 8, words[1], NULL),
        STROBE_OK);
}

static void close_frame(struct frame *frame)
{
    strobe_json_tree_free(&frame->json);
    free(frame->bytes);
}

static const char *text_of(const struct frame *frame, uint32_t node, const char *name)
{
    size_t n;
    return strobe_json_tree_text(&frame->json, strobe_json_tree_get(&frame->json, node, name), &n);
}

static void members_come_back_as_they_were_put(void **state)
{
    struct strobe_reply reply = {0};
    struct frame frame;
    (void)state;
    strobe_reply_number(&reply, "half", 0.5);
    strobe_reply_number(&reply, "none", NAN);
    strobe_reply_u64(&reply, "most", UINT64_MAX);
    strobe_reply_open(&reply, "list", '[');
    strobe_reply_string(&reply, "", "a\"b\xff");
    strobe_reply_key(&reply, "");
    strobe_reply_printf(&reply, "[%u,%u]", 1u, 2u);
    strobe_reply_bool(&reply, "", 1);
    strobe_reply_close(&reply, ']');
    open_frame(&reply, 7, &frame);
    assert_int_equal(frame.id, 7);
    assert_string_equal(text_of(&frame, 1, "half"), "0.5");
    assert_string_equal(text_of(&frame, 1, "most"), "18446744073709551615");
    uint32_t list = strobe_json_tree_get(&frame.json, 1, "list"), none = 0;
    none = strobe_json_tree_get(&frame.json, 1, "none");
    assert_int_equal(strobe_json_tree_node(&frame.json, none)->type, STROBE_JSON_NULL);
    assert_int_equal(strobe_json_tree_node(&frame.json, list)->n_children, 3);
    size_t n;
    uint32_t first = strobe_json_tree_node(&frame.json, list)->first;
    assert_string_equal(strobe_json_tree_text(&frame.json, first, &n), "a\"b\xef\xbf\xbd");
    close_frame(&frame);
}

static void arrays_lie_where_the_json_says_on_eight_bytes(void **state)
{
    struct strobe_reply reply = {0};
    struct frame frame;
    (void)state;
    uint8_t *small = strobe_reply_u8(&reply, "small", 3);
    double *large = strobe_reply_f64(&reply, "large", 2);
    assert_true(small && large);
    memcpy(small, "abc", 3);
    large[0] = 1.5, large[1] = -2;
    open_frame(&reply, 1, &frame);
    uint32_t arrays = strobe_json_tree_get(&frame.json, 1, "arrays");
    uint32_t a = strobe_json_tree_get(&frame.json, arrays, "small");
    uint32_t b = strobe_json_tree_get(&frame.json, arrays, "large");
    assert_string_equal(text_of(&frame, a, "type"), "u8");
    assert_string_equal(text_of(&frame, b, "n"), "2");
    size_t at_a = strtoul(text_of(&frame, a, "at"), NULL, 10);
    size_t at_b = strtoul(text_of(&frame, b, "at"), NULL, 10);
    assert_int_equal(at_a % 8 + at_b % 8, 0);
    assert_memory_equal(frame.bytes + BEFORE + at_a, "abc", 3);
    assert_true(at_b + 16 <= frame.n);
    double read[2];
    memcpy(read, frame.bytes + BEFORE + at_b, sizeof read);
    assert_true(read[0] == 1.5 && read[1] == -2);
    close_frame(&frame);
}

static void an_answer_that_is_too_large_says_so(void **state)
{
    struct strobe_reply reply = {0};
    struct frame frame;
    (void)state;
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    assert_non_null(piece);
    memset(piece, 'x', PIECE);
    for (int i = 0; i < 70; i++)
        strobe_reply_text(&reply, "more", piece, PIECE);
    assert_true(reply.failed);
    assert_true(reply.text.room <= STROBE_REPLY_MAX_BYTES + 1);
    open_frame(&reply, 9, &frame);
    assert_int_equal(frame.id, 9);
    assert_string_equal(text_of(&frame, 1, "error"), "the answer is too large");
    assert_string_equal(text_of(&frame, 1, "id"), "9");
    close_frame(&frame);
    free(piece);
}

static void there_is_no_array_behind_the_last(void **state)
{
    struct strobe_reply reply = {0};
    (void)state;
    for (int i = 0; i < STROBE_REPLY_ARRAYS; i++)
        assert_non_null(strobe_reply_u32(&reply, "a", 1));
    assert_null(strobe_reply_u32(&reply, "a", 1));
    strobe_reply_free(&reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_back_as_they_were_put),
        cmocka_unit_test(arrays_lie_where_the_json_says_on_eight_bytes),
        cmocka_unit_test(an_answer_that_is_too_large_says_so),
        cmocka_unit_test(there_is_no_array_behind_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
