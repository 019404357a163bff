/* ending.pml - a recorder leaves a program that runs on: the gate is shut while threads are between their test of it and their store.
 *
 * The real code: strobe_zone_begin (test of the gate, then the emit) in include/strobe/strobe.h; the end of a recording in
 * src/collector. Evidence that a thread is past its store: it sleeps in a system call, or it has run for longer than an emit takes since
 * the gate was shut, so it was outside at least once. Without evidence within the bound the thread is named in the file.
 *
 * Proved: an event that was emitted for this recorder is in the file, or its thread is named as unheard. Nobody waits for good.
 * Planted faults: BUG_NO_HANDSHAKE  the end drains once and leaves
 *                 BUG_NO_FENCE      evidence is read before the shut gate is visible
 * SPDX-License-Identifier: MIT */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

bool is_open = true;        /* the gate, as the threads see it */
bool shut_waits;            /* the recorder's store to it is not visible yet */
bool is_inside[THREADS];    /* between the test of an open gate and the store */
bool was_outside[THREADS];  /* since the evidence is being gathered */
byte n_words[THREADS], n_drained[THREADS];
bool is_named[THREADS], gathers, is_over;

active proctype Memory()
{
end:
    do
    :: atomic { shut_waits -> is_open = false; shut_waits = false } /* STEP Recorder.shut */
    od
}

active [THREADS] proctype Thread()
{
    byte me = _pid - 1, n = 0;
    do
    :: n == ROUNDS -> break
    :: n < ROUNDS ->
       n++;
       if
       :: atomic { is_open -> is_inside[me] = true }; /* STEP test */
          atomic { n_words[me]++; is_inside[me] = false; was_outside[me] = gathers } /* STEP emit */
       :: atomic { !is_open -> was_outside[me] = gathers } /* STEP idle */
       fi
    od
}

inline drain(t)
{
    n_drained[t] = n_words[t] /* STEP drain */
}

active proctype Recorder()
{
    byte t;
    do /* while it records */
    :: drain(0)
    :: drain(1)
    :: break
    od;
    shut_waits = true;
#ifndef BUG_NO_FENCE
    !shut_waits;
#endif
    gathers = true;
    t = 0;
    do
    :: t == THREADS -> break
    :: t < THREADS ->
#ifndef BUG_NO_HANDSHAKE
       if
       :: !is_inside[t] || was_outside[t] /* STEP heard */
       :: is_named[t] = true /* the bound is over */ /* STEP named */
       fi;
#endif
       t++
    od;
    atomic { drain(0); drain(1); is_over = true } /* STEP over */
}

/* When all have come to rest: what nobody drained is owned up to. */
active proctype Judge()
{
    atomic {
        timeout ->
        assert(is_over);
        assert(n_words[0] == n_drained[0] || is_named[0]);
        assert(n_words[1] == n_drained[1] || is_named[1])
    }
}
