/* threads.h - threads for some of the runs. A thread costs more than the rest of a short run, and what it does is done without one where none can be made: both ways
 * are run, and the input says which. The harness has pthread_create among its led functions (targets.txt).  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_THREADS_H
#define STROBE_TESTS_THREADS_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

static bool has_threads; /* set for every run */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *context)
{
    return has_threads ? __real_pthread_create(thread, attr, run, context) : EAGAIN;
}

#endif
