/* writer.h - the writer of both forms behind functions, so that one test can use both. Each records what it wrote,
 * as the test expects to read it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_WRITER_H
#define STROBE_TESTS_WRITER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
struct writer_zone {
    uint32_t low, high, top;
};
void writer_begin(void);
void writer_end(void);
void writer_program(uint32_t program);
void writer_validate(int valid);
void writer_open(uint32_t id, struct writer_zone *zone);
void writer_close(uint32_t id, const struct writer_zone *zone);
void writer_sum(uint32_t id, const struct writer_zone *zone);
void writer_event(uint32_t id);
void writer_data(uint32_t id, const uint64_t *values, uint32_t n_values);
#ifdef __cplusplus
}
#endif
#endif
