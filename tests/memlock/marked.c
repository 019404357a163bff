/* marked.c - a program that marks its memory and its locks, with planted causes: a leak, blocks that are freed at once, a convoy, locks
 * that are acquired in two orders. Addresses are made up. What happens is the same in every run; only times differ.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <strobe/strobe.h>

enum { THREADS = 3, TURNS = 12 };

/* ---- memory ---- */

static const void *at(uintptr_t address)
{
    return (const void *)address;
}

static void load(void)
{
    STROBE_SCOPE("load");
    for (uintptr_t i = 0; i < 100; i++)
        STROBE_ALLOC(at(0x10000 + 4096 * i), 1000);
    for (uintptr_t i = 0; i < 100; i++)
        STROBE_FREE(at(0x10000 + 4096 * i));
}

static void leak(void)
{
    STROBE_SCOPE("leak");
    for (uintptr_t i = 0; i < 5; i++)
        STROBE_ALLOC(at(0x900000 + 8192 * i), 4096);
}

static void churn(void)
{
    STROBE_SCOPE("churn");
    for (int i = 0; i < 50; i++) {
        STROBE_ALLOC_IN("scratch", at(0x500000), 256);
        STROBE_FREE_IN("scratch", at(0x500000));
    }
}

/* ---- locks ---- */

/* First come, first served: so that every turn has to wait for the others. */
struct lock {
    unsigned next, serving;
    struct strobe_lock mark;
};

static struct lock table, first, second;
static int n_waiting, n_done;

static void take(struct lock *lock)
{
    strobe_lock_will_wait(&lock->mark, 0);
    __atomic_add_fetch(&n_waiting, 1, __ATOMIC_SEQ_CST);
    unsigned ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&lock->serving, __ATOMIC_SEQ_CST) != ticket)
        sched_yield();
    __atomic_sub_fetch(&n_waiting, 1, __ATOMIC_SEQ_CST);
    strobe_lock_obtained(&lock->mark, 0);
}

static void give(struct lock *lock)
{
    strobe_lock_released(&lock->mark, 0);
    __atomic_add_fetch(&lock->serving, 1, __ATOMIC_SEQ_CST);
}

/* Whoever has the lock keeps it until all others that still run wait for it. */
static void *queue(void *name)
{
    STROBE_THREAD_NAME(name);
    for (int i = 0; i < TURNS; i++) {
        STROBE_SCOPE("turn");
        take(&table);
        while (__atomic_load_n(&n_waiting, __ATOMIC_SEQ_CST) +
                   __atomic_load_n(&n_done, __ATOMIC_SEQ_CST) <
               THREADS - 1)
            sched_yield();
        if (i == TURNS - 1)
            __atomic_add_fetch(&n_done, 1, __ATOMIC_SEQ_CST);
        give(&table);
    }
    return NULL;
}

static void *backwards(void *unused)
{
    (void)unused;
    STROBE_THREAD_NAME("backwards");
    take(&second);
    take(&first);
    give(&first);
    give(&second);
    return NULL;
}

static void open_lock(struct lock *lock, const char *name, size_t n)
{
    strobe_lock_open(&lock->mark, NULL, 0);
    strobe_lock_rename(&lock->mark, name, n);
}

int main(void)
{
    pthread_t threads[THREADS], other;
    static char names[THREADS][8];
    load();
    leak();
    churn();
    open_lock(&table, "table", 5);
    open_lock(&first, "first", 5);
    open_lock(&second, "second", 6);
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "queue%d", i);
        pthread_create(&threads[i], NULL, queue, names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    take(&first);
    take(&second);
    give(&second);
    give(&first);
    pthread_create(&other, NULL, backwards, NULL);
    pthread_join(other, NULL);
    return 0;
}
