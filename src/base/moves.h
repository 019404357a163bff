/* moves.h - a table of the legal moves between the states of a life, for the one function that moves it to assert by.
 * How a life is drawn: tests/check_states.py.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_MOVES_H
#define STROBE_BASE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool strobe_moves_have(const uint8_t (*moves)[2], size_t n_moves, unsigned from,
                                     unsigned to)
{
    for (size_t i = 0; i < n_moves; i++)
        if (moves[i][0] == from && moves[i][1] == to)
            return true;
    return false;
}

/* `moves`: an array of {from, to}. */
#define STROBE_MOVE_IS_LEGAL(moves, from, to) \
    strobe_moves_have(moves, sizeof(moves) / sizeof((moves)[0]), from, to)

#endif
