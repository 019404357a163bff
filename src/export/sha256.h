/* sha256.h - SHA-256, for the hashes in an exported page's Content-Security-Policy.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_SHA256_H
#define STROBE_EXPORT_SHA256_H

#include <stddef.h>
#include <stdint.h>

void strobe_sha256_of(const void *bytes, size_t n_bytes, uint8_t out[32]);

#endif
