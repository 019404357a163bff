/* dropping.pml - a thread without room drops without the lock, over a change of recorders.
 *
 * The real code: src/client/dry.c, strobe_ring_next_segment in src/ring/ring_write.c; strobe_collector_skip_losses, the end of a recording
 * and its hearing (ending.pml) in src/collector. A thread that found no room notes what it saw: the recorder (generation) and n_given. While both
 * stand it drops: test of the gate, then one count, and nothing else. All else is the slow path, under the lock, which is one step here but for its
 * entry and its leave. A look that found no room may also be forgotten at any time: it holds for a moment.
 *
 * Proved: what passed a recorder's gate is in its part of the stream, or counted in its time; who drops was described to the recorder that counts it; room
 * that was given back before an event began is found by it.
 * Planted faults: BUG_NO_GENERATION  what was noted holds for the next recorder too
 *                 BUG_NO_GIVEN       what was noted holds until it is forgotten, room or not
 *                 BUG_NOT_HEARD      the end does not wait for a thread between its test and its count
 * SPDX-License-Identifier: MIT */
#ifndef EVENTS
#define EVENTS 6
#endif
#define RECORDERS 2

byte gate;                  /* generation of the recorder whose gate is open, 0: shut */
byte n_given, n_free;         /* segments given back, ever; free now (each holds one event) */
byte n_inside;                /* slow emits */
bool is_between;              /* a fast drop: between its test of the gate and its count */
byte n_dropped;               /* the count in the thread's slot */
byte n_emitted[RECORDERS + 1], n_stored[RECORDERS + 1];
bool is_described[RECORDERS + 1];
bool thread_over;

byte dry_generation, dry_given;   /* the thread's own; generation 0: nothing noted */

active proctype Thread()
{
    byte n = 0, seen, given_before;
    do
    :: n == EVENTS -> break
    :: n < EVENTS && dry_generation -> dry_generation = 0 /* a moment is over */
    :: n < EVENTS ->
       n++;
       given_before = n_given;
       if
       :: atomic { gate == 0 -> skip }
       :: atomic { gate != 0 -> seen = gate;
#ifdef BUG_NO_GENERATION
                   is_between = (dry_generation != 0) };
#else
                   is_between = (dry_generation == seen) };
#endif
#ifndef BUG_NO_GIVEN
          if
          :: is_between && n_given != dry_given -> is_between = false
          :: else
          fi;
#endif
          if
          :: is_between ->
             assert(dry_given == given_before || given_before != n_given || n_free == 0);
             assert(is_described[seen]);
             atomic { n_dropped++; n_emitted[seen]++; is_between = false }
          :: else -> /* the slow path: enter, then test the gate again */
             n_inside++;
             seen = gate;
             if
             :: seen == 0
             :: else ->
                atomic {
                    is_described[seen] = true;
                    n_emitted[seen]++;
                    if
                    :: n_free -> n_free--; n_stored[seen]++; dry_generation = 0
                    :: else -> dry_generation = seen; dry_given = n_given; n_dropped++
                    fi
                }
             fi;
             n_inside--
          fi
       fi
    od;
    thread_over = true
}

active proctype Recorders()
{
    byte me = 1, base;
    do
    :: me > RECORDERS -> break
    :: else ->
       base = n_dropped; /* those of the time before are not its own */
       gate = me;
       do
       :: n_given < 2 -> atomic { n_free++; n_given++ }
       :: break
       od;
       gate = 0;
#ifndef BUG_NOT_HEARD
       !is_between;
#endif
       n_inside == 0;
       assert(n_emitted[me] == n_stored[me] + n_dropped - base);
       me++
    od
}
