/* segments.pml - one stream through segments that are used again: a thread, a recorder, a successor, kills at any step.
 *
 * The real code: take_segment, open_segment and the emit in src/ring/ring_write.c and include/strobe/strobe.h; drain, the block
 * writer and strobe_ring_give_back in src/collector and src/ring/ring_read.c. docs/ring-protocol.md has the rules.
 *
 * Plain stores go through a buffer that the process Memory empties at any time and in any order, as arm64 may; a release store
 * waits until the buffer of its process is empty. A block is in the file whole or not at all (its checksum says which).
 *
 * Proved: no event is stored twice; every event that was emitted is stored in the end, unless it was dropped and counted; a segment
 * that a thread takes is empty; nobody waits for good.
 * Planted faults: BUG_GIVE_BACK   the segment is given back when it is drained, before its block is written
 *                 BUG_POSITION    the segment's magic becomes visible before its position
 *                 BUG_FREE_PLAIN  the free bit becomes visible before the words are zero
 * SPDX-License-Identifier: MIT */
#ifndef EVENTS
#define EVENTS 5
#endif
#define WORDS 2
#define SEGS  2
#define SLOTS (SEGS * WORDS)
#define NOWHERE 15

byte word[SLOTS];         /* 0: not written, else the number of the event */
byte base[SEGS];          /* number of the segment's first word in the stream */
bool magic[SEGS];         /* the segment is open */
bool is_free[SEGS] = true;

bool base_waits[SEGS];    /* buffered stores of the thread */
byte base_to[SEGS];
bool zero_waits[SLOTS];   /* buffered stores of the recorder */

byte n_stored[EVENTS + 1];
bool was_emitted[EVENTS + 1], was_dropped[EVENTS + 1];
byte file_pos;            /* words of the stream that blocks in the file cover */

bool thread_over, thread_killed, recorder_killed, recorder_over;

#define THREAD_STORES_OUT   (!base_waits[0] && !base_waits[1])
#define RECORDER_STORES_OUT (!zero_waits[0] && !zero_waits[1] && !zero_waits[2] && !zero_waits[3])

#define FLUSH_BASE(i) :: atomic { base_waits[i] -> base[i] = base_to[i]; base_to[i] = 0; base_waits[i] = false }
#define FLUSH_ZERO(i) :: atomic { zero_waits[i] -> word[i] = 0; zero_waits[i] = false }

active proctype Memory()
{
end:
    do
    FLUSH_BASE(0) /* STEP base 0 */
    FLUSH_BASE(1) /* STEP base 1 */
    FLUSH_ZERO(0) /* STEP zero 0 */
    FLUSH_ZERO(1) /* STEP zero 1 */
    FLUSH_ZERO(2) /* STEP zero 2 */
    FLUSH_ZERO(3) /* STEP zero 3 */
    od
}

#define THREAD_DIES :: thread_killed -> goto over

active proctype Thread()
{
    byte event = 1, seg = NOWHERE, at = 0, next_pos = 0, i;
    do
    :: event > EVENTS -> break
    THREAD_DIES /* STEP dies: thread_killed */
    :: event <= EVENTS && seg != NOWHERE && at < WORDS ->
       /* the reservation is private; a kill here leaves the word unwritten, and the event never was */
       if
       THREAD_DIES /* STEP dies: thread_killed */
       :: THREAD_STORES_OUT -> /* a release store */
          atomic { word[seg * WORDS + at] = event; was_emitted[event] = true; at++; event++ } /* STEP emit */
       fi
    :: event <= EVENTS && (seg == NOWHERE || at == WORDS) ->
       if
       THREAD_DIES /* STEP dies: thread_killed */
       :: atomic { is_free[0] -> is_free[0] = false; seg = 0 } /* STEP take */
       :: atomic { is_free[1] -> is_free[1] = false; seg = 1 } /* STEP take */
       :: !is_free[0] && !is_free[1] && seg != NOWHERE -> /* no room: it may wait, or give up, drop and count */
          if
          THREAD_DIES /* STEP dies: thread_killed */
          :: is_free[0] || is_free[1] -> goto again
          :: atomic { was_dropped[event] = true; event++; goto again } /* STEP drop */
          fi
       fi;
       atomic {
           i = 0;
           do
           :: i < WORDS -> assert(word[seg * WORDS + i] == 0); i++
           :: else -> break
           od;
           assert(!magic[seg]);
           base_waits[seg] = true; base_to[seg] = next_pos; at = 0 /* STEP fill */
       };
       if
       THREAD_DIES /* STEP dies: thread_killed */
#ifdef BUG_POSITION
       :: atomic { magic[seg] = true; next_pos = next_pos + WORDS } /* STEP open */
#else
       :: THREAD_STORES_OUT -> atomic { magic[seg] = true; next_pos = next_pos + WORDS } /* STEP open */
#endif
       fi;
again: skip
    od;
over:
    thread_over = true
}

/* Every step of a recorder that may be killed. */
#define STEP(action) if :: mortal && recorder_killed -> goto dead :: else -> action fi

inline give_back(s)
{
    zero_waits[s * WORDS] = true;
    zero_waits[s * WORDS + 1] = true; /* STEP zero */
    STEP(skip);
#ifdef BUG_FREE_PLAIN
    STEP(atomic { magic[s] = false; is_free[s] = true }) /* STEP free: is_free */
#else
    STEP(magic[s] = false);
    STEP(RECORDER_STORES_OUT -> is_free[s] = true) /* STEP free: is_free */
#endif
}

#ifdef BUG_GIVE_BACK
#define COVERED pos
#else
#define COVERED file_pos
#endif

/* The recorder, and after its death another one that goes on where the file ends. */
proctype Recorder(bool mortal)
{
    byte pos, n_block = 0, block[2], s, i;
    pos = file_pos;
    do
    :: mortal && recorder_killed -> goto dead
    :: n_block < 2 && (magic[0] || magic[1]) -> /* drain a word, if the next one is there */
       atomic {
           s = 0;
           do
           :: s < SEGS && !(magic[s] && base[s] <= pos && pos < base[s] + WORDS) -> s++
           :: else -> break
           od;
           if
           :: s < SEGS && word[s * WORDS + pos - base[s]] && !zero_waits[s * WORDS + pos - base[s]] ->
              block[n_block] = word[s * WORDS + pos - base[s]]; n_block++; pos++ /* STEP drain */
           :: else
           fi
       }
    :: n_block -> /* the block is written: one write, whole or not at all */
       atomic {
           i = 0;
           do
           :: i < n_block -> n_stored[block[i]]++; assert(n_stored[block[i]] == 1); block[i] = 0; i++
           :: else -> break
           od;
           n_block = 0; file_pos = pos /* STEP write */
       }
    :: magic[0] && base[0] + WORDS <= COVERED -> give_back(0)
    :: magic[1] && base[1] + WORDS <= COVERED -> give_back(1)
    :: thread_over && THREAD_STORES_OUT && RECORDER_STORES_OUT && n_block == 0 &&
       !(magic[0] && (base[0] + WORDS <= COVERED || (base[0] <= pos && pos < base[0] + WORDS && word[pos - base[0]]))) &&
       !(magic[1] && (base[1] + WORDS <= COVERED || (base[1] <= pos && pos < base[1] + WORDS && word[WORDS + pos - base[1]]))) ->
       break
    od;
    recorder_over = true;
    atomic {
        i = 1;
        do
        :: i <= EVENTS ->
           assert(n_stored[i] == was_emitted[i]);
           assert(thread_killed || was_emitted[i] + was_dropped[i] == 1);
           i++
        :: else -> break
        od
    };
    goto done;
dead:
    run Recorder(false); /* STEP dies */
done:
    skip
}

active proctype Killer()
{
    if
    :: recorder_killed = true
    :: thread_killed = true
    :: atomic { recorder_killed = true; thread_killed = true }
    :: skip
    fi
}

init { run Recorder(true) }
