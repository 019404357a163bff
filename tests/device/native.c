/* native.c - see native.h. The relay follows docs/device-protocol.md: pads, split runs, whole rings.
 * SPDX-License-Identifier: MIT */
#include "native.h"

#include <stdlib.h>
#include <string.h>

#include "platform_native.h"

enum { BASE = 4096, L1_BYTES = 128 * 1024, N_RISCS = 5 };

static _Alignas(64) uint8_t l1[L1_BYTES];
uint8_t *native_l1 = l1;
uint32_t native_risc;
uint64_t native_cycles, native_step = 1;
int native_relay = 1;
uint32_t *native_frames;
size_t native_n_words;
static size_t room;
uint32_t native_dram[24][NATIVE_DRAM_WORDS];

struct strobe_l1_core *native_core(void)
{
    return (void *)(l1 + BASE + STROBE_L1_CORE_OFFSET(N_RISCS));
}

struct strobe_l1_lane *native_lane(uint32_t risc)
{
    return (void *)(l1 + BASE + STROBE_L1_LANE_OFFSET(N_RISCS, risc));
}

uint32_t *native_control(void)
{
    return (void *)(l1 + BASE);
}

uint32_t *native_buffer(uint32_t risc)
{
    return (void *)(l1 + BASE + STROBE_L1_BUFFER_OFFSET(risc));
}

void native_reset(void)
{
    memset(l1, 0, sizeof l1);
    memset(native_dram, 0, sizeof native_dram);
    native_control()[STROBE_SC_ARMED] = 1;
    native_core()->n_riscs = N_RISCS;
    native_core()->base = BASE;
    native_core()->flags = STROBE_CORE_SUMS;
    native_risc = 0;
    native_cycles = 1000;
    native_step = 1;
    native_relay = 1;
    native_n_words = 0;
}

uint64_t native_tick(void)
{
    return native_cycles += native_step;
}

void native_wait(void)
{
    native_cycles += 100;
    if (native_relay)
        native_ship();
}

void native_push(uint32_t risc, uint32_t at_word, uint32_t address, uint32_t n_words)
{
    memcpy(&native_dram[risc][at_word], l1 + address, 4 * n_words);
}

/* Two counters, which count how often they were started. */
static uint32_t n_starts, counting;

void native_counters(uint32_t on)
{
    counting = on;
    n_starts += on;
}

uint32_t native_counter(uint32_t index, uint32_t *type, uint32_t *ref, uint32_t *value)
{
    *type = 110 + index;
    *ref = 1000;
    *value = n_starts;
    return !counting && index < 2;
}

static uint32_t *append(size_t n_words)
{
    size_t padded = (n_words + 15) / 16 * 16;
    if (native_n_words + padded > room) {
        room = 2 * (native_n_words + padded);
        native_frames = realloc(native_frames, 4 * room);
        if (!native_frames)
            abort();
    }
    uint32_t *frame = native_frames + native_n_words;
    memset(frame, 0, 4 * padded);
    native_n_words += padded;
    return frame;
}

void native_ship(void)
{
    uint32_t frame[STROBE_FRAME_PREFIX + STROBE_FRAME_MAX_PAYLOAD] = {0},
                                         *control = native_control();
    uint32_t at = 24, any = 0;
    frame[0] = STROBE_ST_WORD(STROBE_ST_FRAME, 0);
    frame[7] = 3 << 16 | 2;
    memcpy(frame + 8, control + STROBE_SC_STATE, 64);
    for (uint32_t risc = 0; risc < 5; risc++) {
        const uint32_t *ring = native_buffer(risc);
        uint32_t head = control[STROBE_SC_HEAD + risc], tail = control[STROBE_SC_TAIL + risc];
        if ((int32_t)(head - native_lane(risc)->oldest) < 0)
            head = native_lane(risc)->oldest;
        uint32_t n = tail - head, offset = head % 512;
        frame[2 + risc] = head;
        control[STROBE_SC_HEAD + risc] = tail;
        any |= n;
        if (!n)
            continue;
        int image = offset + n > 512 && 512 - n <= STROBE_FRAME_WHOLE_RING_DEAD;
        for (uint32_t pad = ((image ? 0 : offset) - at) & 3; pad; pad--)
            frame[at++] = 0xdeadbeef;
        for (uint32_t i = 0; i < (image ? 512 : n); i++)
            frame[at++] = ring[image ? i : (offset + i) % 512];
    }
    frame[1] = at - STROBE_FRAME_PREFIX;
    if (any)
        memcpy(append(at), frame, 4 * at);
}

void native_ship_wide(void)
{
    uint32_t words[3 + 5 * STROBE_DEVICE_MAX_RISCS], *control = native_control(), n_lanes = 0,
                                                     sum = 0;
    for (uint32_t risc = 0; risc < 5; risc++) {
        uint32_t *head = words + 3 + 5 * n_lanes;
        head[3] = native_lane(risc)->shown_timer;
        head[4] = native_lane(risc)->shown_program;
        head[0] = risc;
        head[1] = control[STROBE_SC_HEAD + risc];
        head[2] = control[STROBE_SC_TAIL + risc];
        control[STROBE_SC_HEAD + risc] = head[2];
        if (head[1] != head[2])
            n_lanes++, sum += head[2] - head[1];
    }
    words[0] = STROBE_EXT_WORD(STROBE_EXT_LANES, 2 + 5 * n_lanes + sum);
    words[1] = 3 << 16 | 2;
    words[2] = n_lanes;
    uint32_t *frame = append(3 + 5 * n_lanes + sum), *at = frame + 3 + 5 * n_lanes;
    memcpy(frame, words, 4 * (3 + 5 * n_lanes));
    for (uint32_t i = 0; i < n_lanes; i++)
        for (uint32_t word = words[4 + 5 * i]; word != words[5 + 5 * i]; word++)
            *at++ = native_buffer(words[3 + 5 * i])[word % 512];
}

void native_ship_open(int is_final)
{
    uint32_t words[6 + 5 * (1 + 3 * STROBE_OPEN_MAX)], at = 6, n_lanes = 0;
    for (uint32_t risc = 0; risc < 5; risc++) {
        struct strobe_l1_lane *lane = native_lane(risc);
        uint32_t table = (uint32_t)((uint8_t *)lane->open - l1);
        uint32_t depth = lane->open_top ? (lane->open_top - table) / 16 : 0;
        if (!depth)
            continue;
        n_lanes++;
        words[at++] = risc | depth << 8;
        for (uint32_t i = 0; i < depth; i++) {
            words[at++] = lane->open[i].id;
            words[at++] = lane->open[i].start_low;
            words[at++] = lane->open[i].start_high;
        }
    }
    words[0] = STROBE_EXT_WORD(STROBE_EXT_OPEN, at - 1);
    words[1] = 3 << 16 | 2;
    words[2] = (uint32_t)native_cycles;
    words[3] = (uint32_t)(native_cycles >> 32);
    words[4] = is_final ? STROBE_OPEN_FINAL : 0;
    words[5] = n_lanes;
    memcpy(append(at), words, 4 * at);
}
