/* assert.h - what must be true between our own lines. On in debug, sanitizer and fuzz builds
 * (STROBE_ASSERTS, see CMakeLists.txt); in a release build nothing is evaluated and no code is left.
 * Bad input is never an assert: it is an error code.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_ASSERT_H
#define STROBE_BASE_ASSERT_H

#ifdef STROBE_ASSERTS

#include <stdio.h>
#include <stdlib.h>

/* Print where and what to stderr, and abort. In the header, since the client links none of base. */
__attribute__((noreturn, cold, noinline, unused)) static void
strobe_assert_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

#define STROBE_ASSERT(condition)                  \
    (__builtin_expect(!!(condition), 1) ? (void)0 \
                                        : strobe_assert_fail(__FILE__, __LINE__, #condition))

#else

#define STROBE_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0)) /* parsed, never evaluated */

#endif

#endif
