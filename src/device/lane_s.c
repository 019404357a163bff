/* lane_s.c - the one loop that counts: S zones, two words each, to zones of 24 bytes. Scalar, and with AVX2.
 * Reads no word behind n_words; the vector path writes whole vectors, within the room of a batch.
 * SPDX-License-Identifier: MIT */
#include "device/lane.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/assert.h"

size_t strobe_device_lane_s_scalar(const uint32_t *words, size_t n_words, uint64_t *cursor,
                                   uint32_t program, struct strobe_device_zone *zones)
{
    struct strobe_device_zone *zone = zones;
    const uint32_t *end = words + (n_words & ~(size_t)1);
    uint64_t now = *cursor;
    for (; words != end && STROBE_ST_TYPE(words[0]) == STROBE_ST_ZONE_S; words += 2, zone++) {
        uint32_t word = words[1];
        now += word >> 16;
        zone->start = now - (word & 0xffff);
        zone->end = now;
        zone->id = STROBE_ST_ID(words[0]);
        zone->program = program;
    }
    STROBE_ASSERT(2 * (size_t)(zone - zones) <= n_words);
    *cursor = now;
    return (size_t)(zone - zones);
}

#if defined(__x86_64__)

/* Four zones a turn: as 64-bit lanes, {id word, delta << 16 | duration} each. Ends are a prefix sum of the
 * deltas; then {end - duration, end, id | program << 32} are woven into three stores. */
__attribute__((target("avx2"))) size_t strobe_device_lane_s_avx2(const uint32_t *words,
                                                                 size_t n_words, uint64_t *cursor,
                                                                 uint32_t program,
                                                                 struct strobe_device_zone *zones)
{
    const __m256i types = _mm256_set1_epi64x((int64_t)0xf8000000u);
    const __m256i s_type = _mm256_set1_epi64x((int64_t)STROBE_ST_ZONE_S << 27);
    const __m256i ids = _mm256_set1_epi64x(0x7ffffff), low16 = _mm256_set1_epi64x(0xffff);
    const __m256i programs = _mm256_set1_epi64x((int64_t)((uint64_t)program << 32));
    const __m256i zero = _mm256_setzero_si256();
    __m256i now = _mm256_set1_epi64x((int64_t)*cursor);
    size_t i = 0, n = 0;
    for (; i + 8 <= n_words; i += 8, n += 4) {
        __m256i pairs = _mm256_loadu_si256((const __m256i *)(const void *)(words + i));
        __m256i same = _mm256_cmpeq_epi64(_mm256_and_si256(pairs, types), s_type);
        if (_mm256_movemask_epi8(same) != -1)
            break;
        __m256i sum = _mm256_srli_epi64(pairs, 48);
        sum = _mm256_add_epi64(sum, _mm256_slli_si256(sum, 8));
        __m256i half = _mm256_permute4x64_epi64(sum, 0x55); /* the lower half's sum, everywhere */
        sum = _mm256_add_epi64(sum, _mm256_blend_epi32(zero, half, 0xf0));
        __m256i ends = _mm256_add_epi64(now, sum);
        now = _mm256_permute4x64_epi64(ends, 0xff);
        __m256i starts =
            _mm256_sub_epi64(ends, _mm256_and_si256(_mm256_srli_epi64(pairs, 32), low16));
        __m256i tags = _mm256_or_si256(_mm256_and_si256(pairs, ids), programs);
        __m256i a = _mm256_unpacklo_epi64(starts, ends); /* s0 e0 s2 e2 */
        __m256i b = _mm256_unpackhi_epi64(starts, ends); /* s1 e1 s3 e3 */
        __m256i t0s1 = _mm256_unpacklo_epi64(tags, b);   /* t0 s1 t2 s3 */
        __m256i e1t1 = _mm256_unpackhi_epi64(b, tags);   /* e1 t1 e3 t3 */
        __m256i *out = (__m256i *)(void *)(zones + n);
        _mm256_storeu_si256(out, _mm256_permute2x128_si256(a, t0s1, 0x20));        /* s0 e0 t0 s1 */
        _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(e1t1, a, 0x30));    /* e1 t1 s2 e2 */
        _mm256_storeu_si256(out + 2, _mm256_permute2x128_si256(t0s1, e1t1, 0x31)); /* t2 s3 e3 t3 */
    }
    STROBE_ASSERT(i == 2 * n && i <= n_words); /* two words each */
    *cursor = (uint64_t)_mm256_extract_epi64(now, 0);
    return n + strobe_device_lane_s_scalar(words + i, n_words - i, cursor, program, zones + n);
}

#else

size_t strobe_device_lane_s_avx2(const uint32_t *words, size_t n_words, uint64_t *cursor,
                                 uint32_t program, struct strobe_device_zone *zones)
{
    return strobe_device_lane_s_scalar(words, n_words, cursor, program, zones);
}

#endif

strobe_device_decode_s *strobe_device_lane_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return strobe_device_lane_s_avx2;
#endif
    return strobe_device_lane_s_scalar;
}
