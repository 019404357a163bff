/* emitter.c - a host's program: zones every few milliseconds, each with the real tick at which it began.
 *
 *     emitter FILE        emits until the file is there, two minutes at most
 *     emitter             prints a real tick and the real counter's rate: what the test's clocks are made of
 *
 * The tick is read before and after the begin, and the zone carries the later one: what is checked is wider by the distance,
 * which a second value says.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "strobe/strobe.h"

static double mono(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int print_rate(void)
{
    double begin = mono();
    uint64_t tick = strobe_real_ticks();
    while (mono() - begin < 0.2)
        ;
    double seconds = mono() - begin;
    printf("%llu %.0f\n", (unsigned long long)tick, (double)(strobe_real_ticks() - tick) / seconds);
    return 0;
}

/* A number that hosts share, as a message would bring it: STROBE_TEST_BOARD=send:FILE or get:FILE. NULL: none. */
static uint64_t *open_board(int *is_sender)
{
    const char *text = getenv("STROBE_TEST_BOARD");
    const char *path = text ? strchr(text, ':') : NULL;
    int fd = path ? open(path + 1, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, 4096))
        return NULL;
    *is_sender = !strncmp(text, "send", 4);
    void *board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return board == MAP_FAILED ? NULL : board;
}

/* A flow from one host to another: it begins before the number is written, and ends when it was read. */
static void flow(uint64_t *board, int is_sender)
{
    static uint64_t last;
    if (is_sender) {
        strobe_flow_begin(1000 + ++last);
        __atomic_store_n(board, last, __ATOMIC_SEQ_CST);
        return;
    }
    uint64_t now = __atomic_load_n(board, __ATOMIC_SEQ_CST);
    if (now != last)
        strobe_flow_end(1000 + now);
    last = now;
}

int main(int argc, char **argv)
{
    int is_sender = 0;
    if (argc < 2)
        return print_rate();
    uint64_t *board = open_board(&is_sender);
    double end = mono() + 120;
    while (mono() < end && access(argv[1], F_OK)) {
        uint64_t before = strobe_real_ticks();
        {
            STROBE_SCOPE("beat");
            uint64_t after = strobe_real_ticks();
            strobe_zone_value(before);
            char text[32];
            snprintf(text, sizeof text, "%llu", (unsigned long long)(after - before));
            strobe_zone_text(text, strlen(text));
        }
        if (board)
            flow(board, is_sender);
        struct timespec pause = {0, 3000000};
        nanosleep(&pause, NULL);
    }
    return 0;
}
