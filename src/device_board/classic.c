/* classic.c - the classic profiler's DRAM buffers: every core and RISC has a part of a bank, of a size set by the number of programs
 * that are to be supported. The kernels' writer pushes into it; the host reads and clears all of it.
 * Layout: the parts of a core lie behind each other, RISC by RISC; cores go to the banks in blocks.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "device/classic.h"
#include "device_board/board.h"

#define BYTES_PER_PROGRAM      48 /* ids and guaranteed markers */
#define BYTES_PER_PROGRAM_SUMS 64 /* and two sums */
#define BUFFER_BYTES           (4 * STROBE_L1_BUFFER_WORDS)

static uint32_t program_bytes(const struct strobe_device_options *options)
{
    return options->record & STROBE_DEVICE_RECORD_SUM ? BYTES_PER_PROGRAM_SUMS : BYTES_PER_PROGRAM;
}

uint32_t strobe_board_classic_words(const struct strobe_device_options *options)
{
    uint32_t least = (BUFFER_BYTES + BYTES_PER_PROGRAM - 1) / BYTES_PER_PROGRAM;
    uint32_t count =
        options->support_count > BUFFER_BYTES / BYTES_PER_PROGRAM ? options->support_count : least;
    return count * program_bytes(options) / 4;
}

static uint32_t cores_per_bank(const struct strobe_board *board)
{
    return (board->n_cores + board->setup.options.n_banks - 1) / board->setup.options.n_banks;
}

/* Offset in the core's bank of a RISC's part. */
static uint64_t part_of(const struct strobe_board *board, uint32_t core, uint32_t risc)
{
    STROBE_ASSERT(core < board->n_cores && risc < STROBE_BOARD_RISCS);
    return ((uint64_t)(core % cores_per_bank(board)) * STROBE_BOARD_RISCS + risc) *
           board->risc_words * 4;
}

static uint32_t *words_of(const struct strobe_board *board, uint32_t core, uint32_t risc)
{
    return (uint32_t *)(void *)(board->banks[core / cores_per_bank(board)] +
                                part_of(board, core, risc));
}

uint64_t strobe_board_classic_bytes(const struct strobe_board *board)
{
    return part_of(board, 0, 0) +
           (uint64_t)cores_per_bank(board) * STROBE_BOARD_RISCS * board->risc_words * 4;
}

/* After open, reset and every read. */
void strobe_board_classic_arm(const struct strobe_board *board, struct strobe_board_core *core)
{
    uint32_t *control = strobe_board_control(core);
    memset(control, 0, 4 * STROBE_L1_CONTROL_WORDS);
    control[STROBE_CC_DRAM_ADDRESS] = (uint32_t)part_of(board, core->index, 0);
    control[STROBE_CC_FLAT_ID] = core->index;
    control[STROBE_CC_CORES_PER_DRAM] = cores_per_bank(board);
    control[STROBE_CC_NOC_X] = core->x;
    control[STROBE_CC_NOC_Y] = core->y;
    control[STROBE_CC_DISPATCH_CORE] = core->kind == STROBE_CORE_DISPATCH;
    strobe_board_facts(core)->risc_words = board->risc_words;
    for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++)
        strobe_board_lane(core, risc)->lost_words = 0;
}

enum strobe_err strobe_board_classic_push(const struct strobe_board *board,
                                          const struct strobe_board_core *core, uint32_t risc,
                                          uint32_t at_word, uint32_t from, uint32_t n_words)
{
    uint32_t offset = from & STROBE_SIM_L1_MASK;
    if (risc >= STROBE_BOARD_RISCS || n_words > board->risc_words ||
        at_word > board->risc_words - n_words || offset + 4ull * n_words > STROBE_SIM_L1_BYTES)
        return STROBE_ERR_LIMIT;
    memcpy(words_of(board, core->index, risc) + at_word, core->l1 + offset, 4ull * n_words);
    return STROBE_OK;
}

/* What a RISC's part of DRAM holds, and would hold. */
static struct strobe_device_full_buffer
extent_of(const struct strobe_board *board, const struct strobe_board_core *core, uint32_t risc)
{
    uint32_t end = strobe_board_control(core)[STROBE_CC_HOST_END + risc];
    return (struct strobe_device_full_buffer){
        .device = board->setup.index,
        .core_yx = core->y << 16 | core->x,
        .risc = strobe_board_risc_name(risc),
        .end_words = end,
        .needed_words = end + strobe_board_lane(core, risc)->lost_words,
        .program_words = program_bytes(&board->setup.options) / 4};
}

static void warn_dropped(const struct strobe_board *board, const struct strobe_board_core *core,
                         uint32_t risc)
{
    char text[512];
    struct strobe_device_full_buffer full = extent_of(board, core, risc);
    strobe_device_classic_warning(&full, text, sizeof text);
    board->setup.warn(board->setup.warn_context, text);
}

/* The words of one RISC as CLASSIC frames, cut where runs begin. */
static enum strobe_err send(struct strobe_board *board, struct strobe_board_core *core,
                            uint32_t risc, const uint32_t *words, uint32_t n_words, uint32_t flags)
{
    enum { HEAD = sizeof(struct strobe_frame_classic) / 4, MOST = 2048 };
    enum strobe_err err = STROBE_OK;
    struct strobe_device_full_buffer extent = extent_of(board, core, risc);
    for (uint32_t at = 0; at < n_words && (!err || err == STROBE_ERR_LIMIT);) {
        uint32_t end = at, cut = n_words;
        for (end = at + 4; end < n_words; end += 2) { /* up to the last run that fits */
            if (words[end] == 0 && words[end + 1] == 0) {
                if (end - at > MOST)
                    break;
                cut = end;
            }
        }
        if (end >= n_words && n_words - at <= MOST)
            cut = n_words;
        uint32_t n = cut - at;
        struct strobe_frame_classic head = {.word0 =
                                                STROBE_EXT_WORD(STROBE_EXT_CLASSIC, HEAD - 1 + n),
                                            .core_yx = core->y << 16 | core->x,
                                            .risc = risc,
                                            .flags = flags,
                                            .n_words = n,
                                            .end_words = extent.end_words,
                                            .needed_words = extent.needed_words,
                                            .program_words = extent.program_words};
        memcpy(board->frame, &head, sizeof head);
        memcpy(board->frame + HEAD, words + at, n * 4ull);
        err = strobe_board_put(board, board->frame, HEAD + n);
        at = cut;
    }
    return err;
}

enum strobe_err strobe_board_classic_read(struct strobe_board *board)
{
    enum strobe_err err = STROBE_OK;
    int trace_only = (board->setup.options.record & STROBE_DEVICE_RECORD_TRACE_ONLY) != 0;
    for (uint32_t i = 0; i < board->n_cores && (!err || err == STROBE_ERR_LIMIT); i++) {
        struct strobe_board_core *core = &board->cores[i];
        uint32_t *control = strobe_board_control(core), dropped = control[STROBE_CC_DROPPED];
        for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++) {
            uint32_t n = control[STROBE_CC_HOST_END + risc],
                     in_l1 = control[STROBE_CC_DEVICE_END + risc];
            uint32_t flags = (dropped >> risc & 1 ? STROBE_CLASSIC_DROPPED : 0u) |
                             (trace_only ? STROBE_CLASSIC_TRACE_ONLY : 0u);
            const uint32_t *l1 = (const uint32_t *)(const void *)(core->l1 + STROBE_SIM_MAILBOX +
                                                                  STROBE_L1_BUFFER_OFFSET(risc));
            if (flags & STROBE_CLASSIC_DROPPED)
                warn_dropped(board, core, risc);
            if (n && n <= board->risc_words)
                err = send(board, core, risc, words_of(board, i, risc), n, flags);
            if (trace_only && !risc && strobe_board_facts(core)->trace_counter)
                in_l1 = STROBE_CB_OPTIONAL;
            if (in_l1 && in_l1 <= STROBE_L1_BUFFER_WORDS)
                err = send(board, core, risc, l1, in_l1, flags | STROBE_CLASSIC_FROM_L1);
            if (core->hung && strobe_board_lane(core, risc)->flags & STROBE_LANE_IN_LAUNCH) {
                uint32_t used = (strobe_board_lane(core, risc)->next - core->l1_address -
                                 STROBE_SIM_MAILBOX - STROBE_L1_BUFFER_OFFSET(risc)) /
                                4;
                if (used >= STROBE_CB_OPTIONAL && used <= STROBE_L1_BUFFER_WORDS)
                    err = send(board, core, risc, l1, used, flags | STROBE_CLASSIC_FROM_L1);
            }
        }
        strobe_board_classic_arm(board, core);
    }
    return err == STROBE_ERR_LIMIT ? STROBE_OK : err;
}
