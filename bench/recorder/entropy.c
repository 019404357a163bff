/* entropy.c - how many bytes the zones of recorder/nested.h take at least: runs the same generator,
 * keeps the clock's differences and the symbols, and prints their entropy: "BENCH {json}".
 *
 * A symbol is "end" or "begin at location i". Order 0: each event stands alone. `given`: the
 * difference is coded knowing which kinds of event are at its two sides.  SPDX-License-Identifier:
 * MIT */
#include "recorder/nested.h"
#include "zone/loops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_SYMBOLS = NESTED_LOCATIONS + 1, N_DIFFERENCES = 65536, N_CONTEXTS = 4 };

static uint32_t *differences; /* owned: one per event */
static uint8_t *symbols;      /* owned: one per event */
static uint64_t n_events, n_events_max, last_ticks;

static void keep(unsigned symbol)
{
    uint64_t ticks = bench_ticks();
    if (n_events < n_events_max) {
        differences[n_events] = (uint32_t)(ticks - last_ticks);
        symbols[n_events++] = (uint8_t)symbol;
    }
    last_ticks = ticks;
}

void nested_begin(unsigned location)
{
    keep(1 + location);
}

void nested_end(void)
{
    keep(0);
}

int nested_is_recorded(void)
{
    return 1;
}

/* Bits per value of a list of counts. */
static double entropy_bits(const uint64_t *counts, unsigned n, uint64_t *total_out)
{
    uint64_t total = 0;
    double bits = 0;
    for (unsigned i = 0; i < n; i++)
        total += counts[i];
    for (unsigned i = 0; i < n; i++)
        if (counts[i])
            bits -= (double)counts[i] * log2((double)counts[i] / (double)total);
    *total_out = total;
    return total ? bits / (double)total : 0;
}

int main(int argc, char **argv)
{
    static uint64_t symbol_counts[N_SYMBOLS], counts[N_DIFFERENCES];
    static uint64_t context_counts[N_CONTEXTS][N_DIFFERENCES];
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000, total;
    n_events_max = 2 * n;
    differences = (uint32_t *)calloc(n_events_max, sizeof *differences);
    symbols = (uint8_t *)calloc(n_events_max, 1);
    if (!differences || !symbols)
        return 1;
    last_ticks = bench_ticks();
    nested_zones(n, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    for (uint64_t i = 1; i < n_events; i++) {
        uint32_t d = differences[i] < N_DIFFERENCES ? differences[i] : N_DIFFERENCES - 1;
        symbol_counts[symbols[i]]++;
        counts[d]++;
        context_counts[(symbols[i] != 0) * 2 + (symbols[i - 1] != 0)][d]++;
    }
    double given = 0;
    for (int c = 0; c < N_CONTEXTS; c++) {
        double bits = entropy_bits(context_counts[c], N_DIFFERENCES, &total);
        given += bits * (double)total / (double)(n_events - 1);
    }
    double symbol_bits = entropy_bits(symbol_counts, N_SYMBOLS, &total);
    double difference_bits = entropy_bits(counts, N_DIFFERENCES, &total);
    printf(
        "BENCH {\"symbol_bits\": %.3f, \"difference_bits\": %.3f, \"difference_bits_given\": %.3f, "
        "\"bytes_per_zone\": %.3f, \"bytes_per_zone_given\": %.3f}\n",
        symbol_bits, difference_bits, given, 2 * (symbol_bits + difference_bits) / 8,
        2 * (symbol_bits + given) / 8);
    free(differences);
    free(symbols);
    return 0;
}
