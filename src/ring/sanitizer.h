/* sanitizer.h - what the thread sanitizer of a program needs to know about this library, which is built without it.
 * It sees the calls that it intercepts (memcpy, mmap) and the program's own inline emits, and knows nothing of the
 * futex that orders them: so the lock says what it orders, and the slow paths are not looked at. Resolved when the
 * program is loaded: without that sanitizer there is nothing to call.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_SANITIZER_H
#define STROBE_RING_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

#ifndef __SANITIZE_THREAD__ /* where the library is built with it, it sees all */
void __tsan_acquire(void *at) __attribute__((weak));
void __tsan_release(void *at) __attribute__((weak));
void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));
#define STROBE_SANITIZER_CALL(function, ...) \
    do {                                     \
        if (function)                        \
            function(__VA_ARGS__);           \
    } while (0)
#else
#define STROBE_SANITIZER_CALL(function, ...) ((void)0)
#endif

/* Whether the program is built with it. */
static inline bool strobe_sanitizer_is_there(void)
{
#ifndef __SANITIZE_THREAD__
    return __tsan_acquire != NULL;
#else
    return true;
#endif
}

static inline void strobe_sanitizer_ignore(void)
{
    STROBE_SANITIZER_CALL(AnnotateIgnoreReadsBegin, "src/ring/sanitizer.h", __LINE__);
    STROBE_SANITIZER_CALL(AnnotateIgnoreWritesBegin, "src/ring/sanitizer.h", __LINE__);
}

static inline void strobe_sanitizer_look(void)
{
    STROBE_SANITIZER_CALL(AnnotateIgnoreWritesEnd, "src/ring/sanitizer.h", __LINE__);
    STROBE_SANITIZER_CALL(AnnotateIgnoreReadsEnd, "src/ring/sanitizer.h", __LINE__);
}

/* What was done before the release of `at` happened before what is done after its acquire. */
static inline void strobe_sanitizer_acquire(void *at)
{
    (void)at;
    STROBE_SANITIZER_CALL(__tsan_acquire, at);
}

static inline void strobe_sanitizer_release(void *at)
{
    (void)at;
    STROBE_SANITIZER_CALL(__tsan_release, at);
}

#endif
