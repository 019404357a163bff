/* waiting.pml - threads sleep for room, the recorder gives segments back and wakes them.
 *
 * The real code: sleep_for_room in src/ring/ring_write.c (n_waiting up, then compare n_given and sleep in one system call) and
 * strobe_ring_give_back in src/ring/ring_read.c (n_given up, then wake if n_waiting). The bounds in time are left out: what is proved
 * must not need them.
 *
 * Stores of the two sides to different words may be seen in the other order unless they are sequentially consistent.
 * Proved: no wake-up is lost: everybody gets a segment in the end.
 * Planted faults: BUG_RELAXED    n_waiting is not visible yet when the recorder looks
 *                 BUG_NO_COMPARE the thread sleeps without comparing n_given
 * SPDX-License-Identifier: MIT */
#ifndef THREADS
#define THREADS 3
#endif
byte n_given, n_waiting, n_free, n_wait_late; /* n_wait_late: additions to n_waiting that are not visible yet */
bool is_asleep[THREADS];
byte n_served;

active proctype Memory()
{
end:
    do
    :: atomic { n_wait_late -> n_waiting = n_waiting + n_wait_late; n_wait_late = 0 }
    od
}

active [THREADS] proctype Thread()
{
    byte me = _pid - 1, seen;
again:
    seen = n_given; /* STEP seen */
    if
    :: atomic { n_free -> n_free-- } /* STEP take */
    :: else ->
#ifdef BUG_RELAXED
       n_wait_late++;
#else
       n_waiting++; /* STEP wait */
#endif
       atomic { /* FUTEX_WAIT compares and sleeps in one */
           if
#ifdef BUG_NO_COMPARE
           :: true -> is_asleep[me] = true
#else
           :: n_given == seen -> is_asleep[me] = true /* STEP seen: is_asleep */
           :: else
#endif
           fi
       };
       !is_asleep[me];
       n_waiting--; /* STEP wait */
       goto again
    fi;
    n_served++
}

active proctype Recorder()
{
    byte given = 0, i;
    do
    :: given == THREADS -> break
    :: else ->
       n_free++; /* STEP free */
       n_given++; /* STEP given */
       given++;
       if
       :: n_waiting -> atomic { is_asleep[0] = false; is_asleep[1] = false; is_asleep[2] = false } /* STEP wake */
       :: else
       fi
    od
}
