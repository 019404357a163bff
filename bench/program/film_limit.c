/* film_limit.c - the film with a clock read and a 16-byte store where a zone begins or ends.
 * SPDX-License-Identifier: MIT */
#include "program/scene.h"
#include "zone/loops.h"

static __thread struct bench_pair pairs[BENCH_LIMIT_PAIRS];
static __thread unsigned n_pairs;

#define STORE(what) bench_limit_store(&pairs[n_pairs++ % BENCH_LIMIT_PAIRS], what)
#define FILM        film_limit
#define FILM_ROW    limit_row
#define BEGIN(handle, name) \
    {                       \
        STORE(__LINE__);
#define END(handle) \
    STORE(0);       \
    }
#include "program/film.h"
