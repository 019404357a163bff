/* test_device_apart.c - a consumer of a device's stream that is too slow misses frames, counted, and nobody else does.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "strobe/device.h"

struct consumer {
    pthread_mutex_t gate; /* held by the test while the consumer is to wait */
    uint64_t n_words, n_calls;
};

static int take(void *context, const uint32_t *words, size_t n_words)
{
    struct consumer *consumer = context;
    (void)words;
    pthread_mutex_lock(&consumer->gate);
    consumer->n_words += n_words;
    consumer->n_calls++;
    pthread_mutex_unlock(&consumer->gate);
    return 0;
}

static struct strobe_device *open_device(void)
{
    struct strobe_device_options options;
    struct strobe_device *device;
    assert_int_equal(strobe_device_options_init(&options), STROBE_DEVICE_OK);
    options.grid_x = options.grid_y = 2;
    options.bank_mib = 1;
    options.mode = STROBE_DEVICE_MODE_STREAMING;
    options.record = STROBE_DEVICE_RECORD_MEMORY; /* a frame per buffer */
    assert_int_equal(strobe_device_open(&options, 0, &device), STROBE_DEVICE_OK);
    return device;
}

static void make_frames(struct strobe_device *device, int n)
{
    for (int i = 0; i < n; i++) {
        struct strobe_device_buffer buffer;
        assert_int_equal(strobe_device_buffer_create(device, STROBE_DEVICE_DRAM, 64, 64, &buffer),
                         STROBE_DEVICE_OK);
        strobe_device_buffer_free(&buffer);
    }
}

static void a_slow_consumer_misses_frames_and_no_other_does(void **state)
{
    (void)state;
    struct strobe_device *device = open_device();
    struct consumer slow = {.gate = PTHREAD_MUTEX_INITIALIZER},
                    good = {.gate = PTHREAD_MUTEX_INITIALIZER},
                    plain = {.gate = PTHREAD_MUTEX_INITIALIZER};
    uint32_t slow_handle, good_handle, plain_handle;
    pthread_mutex_lock(&slow.gate);
    assert_int_equal(strobe_device_listen(device, take, &plain, &plain_handle), STROBE_DEVICE_OK);
    assert_int_equal(strobe_device_listen_apart(device, take, &good, 0, &good_handle),
                     STROBE_DEVICE_OK);
    assert_int_equal(strobe_device_listen_apart(device, take, &slow, 1, &slow_handle),
                     STROBE_DEVICE_OK);
    uint64_t before = plain.n_words;
    make_frames(device, 20000); /* the device's thread does not wait for the slow one */
    assert_true(plain.n_words >= before + 40000 * 16);
    uint64_t missed = strobe_device_listen_missed(device, slow_handle);
    assert_true(missed > 0);
    assert_int_equal(strobe_device_listen_missed(device, good_handle), 0);
    assert_int_equal(strobe_device_listen_missed(device, plain_handle), 0);
    pthread_mutex_unlock(&slow.gate);
    strobe_device_unlisten(device, good_handle);
    strobe_device_unlisten(device, slow_handle);
    assert_true(good.n_words >= 40000 * 16);
    assert_true(slow.n_calls > 0 && slow.n_words < good.n_words);
    strobe_device_close(device);
}

static void what_waits_is_handed_out_when_the_device_is_closed(void **state)
{
    (void)state;
    struct strobe_device *device = open_device();
    struct consumer apart = {.gate = PTHREAD_MUTEX_INITIALIZER},
                    plain = {.gate = PTHREAD_MUTEX_INITIALIZER};
    uint32_t handle;
    assert_int_equal(strobe_device_listen_apart(device, take, &apart, 0, &handle),
                     STROBE_DEVICE_OK);
    assert_int_equal(strobe_device_listen(device, take, &plain, &handle), STROBE_DEVICE_OK);
    uint64_t ahead = plain.n_words; /* both got what describes the device, one a little more */
    make_frames(device, 1000);
    strobe_device_close(device);
    assert_true(apart.n_words >= plain.n_words - ahead);
    assert_true(plain.n_words > ahead + 2000 * 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_consumer_misses_frames_and_no_other_does),
        cmocka_unit_test(what_waits_is_handed_out_when_the_device_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
