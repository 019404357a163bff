/* hash.h - 64-bit hashes with a seed. Keys come from strangers: with the seed of the process nobody
 * can prepare keys that all fall into one slot. Hashes differ from run to run: never store or print
 * one.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_HASH_H
#define STROBE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The seed of this process, never 0. */
uint64_t strobe_hash_seed(void);

/* Both halves of the product of 128 bits, folded: every bit of either factor reaches every bit. */
static inline uint64_t strobe_hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu), high = (a >> 32) * (b >> 32);
    uint64_t cross = (a >> 32) * (b & 0xffffffffu), other = (a & 0xffffffffu) * (b >> 32);
    uint64_t middle = (low >> 32) + (cross & 0xffffffffu) + (other & 0xffffffffu);
    high += (cross >> 32) + (other >> 32) + (middle >> 32);
    return (middle << 32 | (low & 0xffffffffu)) ^ high;
#endif
}

static inline uint64_t strobe_hash_u64(uint64_t key, uint64_t seed)
{
    return strobe_hash_fold(key ^ seed, 0xd1342543de82ef95u ^ seed >> 32);
}

/* Two numbers as one key. */
static inline uint64_t strobe_hash_pair(uint64_t a, uint64_t b, uint64_t seed)
{
    return strobe_hash_fold(strobe_hash_u64(a, seed) + b, 0x9fb21c651e98df25u);
}

static inline uint64_t strobe_hash_load(const unsigned char *at, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, at, n);
    return word;
}

static inline uint64_t strobe_hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t hash = strobe_hash_fold(seed ^ 0xb5ad4eceda1ce2a9u, (uint64_t)n ^ 0xc6bc279692b5cc83u);
    size_t left = n;
    for (; left > 16; at += 16, left -= 16)
        hash = strobe_hash_fold(strobe_hash_load(at, 8) ^ 0x94d049bb133111ebu,
                                strobe_hash_load(at + 8, 8) ^ hash);
    uint64_t a = 0, b = 0;
    if (left >= 8) {
        a = strobe_hash_load(at, 8);
        b = strobe_hash_load(at + left - 8, 8);
    } else if (left >= 4) {
        a = strobe_hash_load(at, 4);
        b = strobe_hash_load(at + left - 4, 4);
    } else if (left) {
        a = (uint64_t)at[0] << 16 | (uint64_t)at[left / 2] << 8 | at[left - 1];
    }
    return strobe_hash_fold(a ^ 0xaf251af3b0f025b5u, b ^ hash);
}

#endif
