/* sha256.h - SHA-256 of bytes in memory, and the code that proves who wrote them (HMAC, RFC 2104).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_SHA256_H
#define STROBE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { STROBE_SHA256_BYTES = 32, STROBE_SHA256_BLOCK = 64 };

void strobe_sha256_of(const void *bytes, size_t n_bytes, uint8_t out[STROBE_SHA256_BYTES]);

/* A key, made ready once for many messages. */
struct strobe_sha256_key {
    uint8_t inner[STROBE_SHA256_BLOCK], outer[STROBE_SHA256_BLOCK];
};
void strobe_sha256_key(const void *key, size_t n_bytes, struct strobe_sha256_key *out);

/* The code of a message of at most STROBE_SHA256_MESSAGE bytes. */
enum { STROBE_SHA256_MESSAGE = 512 };
void strobe_sha256_sign(const struct strobe_sha256_key *key, const void *message, size_t n_bytes,
                        uint8_t out[STROBE_SHA256_BYTES]);

/* 1: both codes are the same. Takes as long where they differ early. */
int strobe_sha256_is_same(const uint8_t a[STROBE_SHA256_BYTES],
                          const uint8_t b[STROBE_SHA256_BYTES]);

#endif
