/* owed.pml - ends of zones that find no room: a thread that begins and ends zones, a recorder that gives room back, then leaves; a kill at any step.
 *
 * The real code: src/client/owed.c, emit_blocked in src/client/emit.c; src/collector/owed.c. The stream is what the thread stored: the reader's depth
 * follows from it. KEPT ends have a place of their own; here that changes nothing but their time, so all are one number. Room is counted in words.
 *
 * Proved: when nothing is owed, the reader's depth is the number of open zones whose begin is stored; an end never closes a zone that is not its own (the
 * depth never falls below 0); emitted = stored + dropped at the end, where a kill between a store and its count may count one too many.
 * Planted faults: BUG_ENDS_DROPPED   an end that finds no room is dropped
 *                 BUG_NEW_FIRST      what comes when there is room again is stored before what is owed
 *                 BUG_ORPHAN_END     the end of a dropped begin is emitted
 *                 BUG_LEFT_UNCOUNTED what is owed at the end is not counted
 * SPDX-License-Identifier: MIT */
#ifndef STEPS
#define STEPS 8
#endif
#define DEPTH 3

byte room = 1, n_given;
byte n_emitted, n_stored, n_dropped, n_owed;
byte reader_depth;
bool is_open = true, inside, killed, thread_over, between;   /* between a store of an owed end and its count */

#define DIES if :: killed -> goto over :: else fi

/* Store one word: a begin or an end. */
inline store(is_begin)
{
    atomic {
        room--;
        n_stored++;
        if
        :: is_begin -> reader_depth++
        :: else -> assert(reader_depth > 0); reader_depth--
        fi
    }
}

/* What is owed, as far as there is room. */
inline settle()
{
    do
    :: n_owed && room ->
       atomic { room--; n_stored++; assert(reader_depth > 0); reader_depth--; between = true };
       DIES;
       atomic { n_owed--; between = false }
    :: else -> break
    od
}

active proctype Thread()
{
    byte n = 0, depth = 0, n_true = 0; /* open zones; those whose begin is stored */
    bool is_stored[DEPTH];
    do
    :: n == STEPS -> break
    :: killed -> goto over
    :: n < STEPS && depth < DEPTH -> /* a begin */
       n++;
       inside = true;
       if
       :: !is_open -> inside = false; break
       :: else
       fi;
#ifndef BUG_NEW_FIRST
       settle();
#endif
       if
#ifdef BUG_NEW_FIRST
       :: room -> is_stored[depth] = true; n_true++; n_emitted++; store(true); assert(n_owed || reader_depth == n_true); assert(reader_depth <= n_true)
#else
       :: room && !n_owed -> is_stored[depth] = true; n_true++; atomic { n_emitted++; store(true) }; assert(reader_depth == n_true)
#endif
       :: else -> is_stored[depth] = false; atomic { n_emitted++; n_dropped++ }
       fi;
       depth++;
       inside = false
    :: n < STEPS && depth > 0 -> /* the end of the innermost */
       n++;
       depth--;
       inside = true;
       if
       :: !is_open -> inside = false; break
       :: else
       fi;
       if
#ifndef BUG_ORPHAN_END
       :: !is_stored[depth] -> atomic { n_emitted++; n_dropped++ }
#endif
       :: else ->
          settle();
          n_true = n_true - is_stored[depth];
          if
          :: room && !n_owed -> atomic { n_emitted++; store(false) }; assert(reader_depth == n_true)
#ifdef BUG_ENDS_DROPPED
          :: else -> atomic { n_emitted++; n_dropped++ }
#else
          :: else -> atomic { n_emitted++; n_owed++ }
#endif
          fi
       fi;
       inside = false
    od;
    goto done;
over:
    skip;
done:
    thread_over = true
}

active proctype Recorder()
{
    do
    :: n_given < 3 -> atomic { room++; n_given++ }
    :: break
    od;
    if
    :: killed = true; thread_over
    :: skip
    fi;
    is_open = false;
    !inside || thread_over;
#ifndef BUG_LEFT_UNCOUNTED
    n_dropped = n_dropped + n_owed;
#endif
    assert(n_emitted == n_stored + n_dropped || (between && n_emitted + 1 == n_stored + n_dropped))
}
