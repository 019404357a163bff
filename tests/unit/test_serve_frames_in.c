/* test_serve_frames_in.c - heads of frames, whole and in pieces; and what passes recv(2) on a socket that is watched.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/frames_in.h"

static const uint8_t masked[] = {0x81, 0x82, 1, 2, 3, 4, 'a', 'b'};
static const uint8_t plain[] = {0x81, 0x02, 'a', 'b'};

static void masked_frames_pass_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t step = 1; step <= 3 * sizeof masked; step++) {
        struct strobe_frames_in frames = {0};
        uint8_t all[3 * sizeof masked];
        for (int i = 0; i < 3; i++)
            memcpy(all + (size_t)i * sizeof masked, masked, sizeof masked);
        for (size_t at = 0; at < sizeof all; at += step)
            assert_true(strobe_frames_in_take(&frames, all + at,
                                              step < sizeof all - at ? step : sizeof all - at));
        assert_false(strobe_frames_in_take(&frames, plain, sizeof plain));
    }
}

static void a_length_of_eight_bytes_is_counted(void **state)
{
    uint8_t head[] = {0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4}, payload[65536] = {0};
    struct strobe_frames_in frames = {0};
    (void)state;
    assert_true(strobe_frames_in_take(&frames, head, sizeof head));
    assert_true(strobe_frames_in_take(&frames, payload, sizeof payload));
    assert_false(strobe_frames_in_take(&frames, plain, sizeof plain));
}

static int connect_pair(int pair[2], const char *request)
{
    char room[256];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    strobe_frames_in_begin();
    assert_int_equal(send(pair[1], request, strlen(request), 0), strlen(request));
    assert_int_equal(recv(pair[0], room, sizeof room, 0), strlen(request));
    return strobe_frames_in_watch(pair[0]);
}

static void a_watched_socket_ends_with_a_frame_without_a_mask(void **state)
{
    int pair[2];
    char room[64];
    (void)state;
    assert_true(connect_pair(pair, "GET /ws\r\n\r\n"));
    assert_int_equal(send(pair[1], masked, sizeof masked, 0), sizeof masked);
    assert_int_equal(recv(pair[0], room, sizeof room, 0), sizeof masked);
    assert_int_equal(send(pair[1], plain, sizeof plain, 0), sizeof plain);
    assert_int_equal(recv(pair[0], room, sizeof room, 0), 0);
    strobe_frames_in_unwatch(pair[0]);
    close(pair[0]);
    close(pair[1]);
}

static void frames_that_come_with_the_request_are_refused(void **state)
{
    int pair[2];
    (void)state;
    assert_false(connect_pair(pair, "GET /ws\r\n\r\n\x81\x02ok"));
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_frames_pass_in_pieces_of_any_size),
        cmocka_unit_test(a_length_of_eight_bytes_is_counted),
        cmocka_unit_test(a_watched_socket_ends_with_a_frame_without_a_mask),
        cmocka_unit_test(frames_that_come_with_the_request_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
