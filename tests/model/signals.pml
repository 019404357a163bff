/* signals.pml - one thread whose signal handler emits in the middle of an emit, returns or jumps out of it, and a recorder.
 *
 * The real code: strobe_reserve and the store in include/strobe/strobe.h; the request of a mend in src/collector/drain.c; the mend in
 * the slow path of src/client. An emit that a handler interrupted is pending: the address of its word stands on the stack. After a
 * siglongjmp it stands nowhere, and the word stays unwritten for ever: the thread itself writes ABANDONED over it.
 *
 * Proved: every event whose store was executed is stored once, whatever handlers do; a reservation that was jumped out of is counted
 * once, if anything follows it; the recorder comes to the end of the stream.
 * Planted faults: BUG_TIMER    the recorder itself steps over a hole that it sees for long
 *                 BUG_NO_SCAN  the thread mends without a look at its stack
 * SPDX-License-Identifier: MIT */
#ifndef EVENTS
#define EVENTS 3          /* of the program, each of which may be interrupted by a handler with one event of its own */
#endif
#define WORDS (2 * EVENTS)
#define ABANDONED 99

byte word[WORDS];         /* 0: not written, ABANDONED, else the number of the event */
bool pending[WORDS];      /* the address of the word stands on the thread's stack */
byte cursor, request;     /* request: number of the word + 1 that the recorder waits for */
byte n_stored[WORDS + 1];
bool was_emitted[WORDS + 1];
byte n_left, n_counted;   /* reservations that a jump left; the recorder's count of them */
bool thread_over;

#ifdef BUG_NO_SCAN
#define MAY_MEND(at) true
#else
#define MAY_MEND(at) (!pending[at])
#endif

/* The slow path: before an emit that finds no word, or a new epoch. */
inline slow_path()
{
    if
    :: request && word[request - 1] == 0 && MAY_MEND(request - 1) -> atomic { word[request - 1] = ABANDONED; request = 0 } /* STEP mend: = 99 */
    :: request && word[request - 1] -> request = 0
    :: skip
    fi
}

inline handler()
{
    slow_path();
    atomic { inner = cursor; cursor++; pending[inner] = true }; /* STEP hreserve */
    atomic { word[inner] = event; was_emitted[event] = true; pending[inner] = false; event++ }; /* STEP hemit */
    slow_path()
}

active proctype Thread()
{
    byte event = 1, outer, inner, n = 0;
    do
    :: n == EVENTS -> break
    :: else ->
       n++;
       slow_path();
       atomic { outer = cursor; cursor++; pending[outer] = true }; /* STEP reserve */
       if
       :: skip                                  /* no signal */
       :: handler()                             /* it returns */
       :: handler();                            /* it jumps out: the frame is gone */
          atomic { pending[outer] = false; n_left++; goto next } /* STEP jump */
       fi;
       atomic { word[outer] = event; was_emitted[event] = true; pending[outer] = false; event++ }; /* STEP emit */
next:  skip
    od;
    thread_over = true
}

inline is_followed(at)
{
    is_hole = false;
    i = at + 1;
    do
    :: i < WORDS -> is_hole = is_hole || word[i]; i++
    :: else -> break
    od
}

active proctype Recorder()
{
    byte pos = 0, i;
    bool is_hole, waited = false;
    do
    :: atomic {
           pos < WORDS && word[pos] ->
           if
           :: word[pos] == ABANDONED -> n_counted++
           :: else -> n_stored[word[pos]]++; assert(n_stored[word[pos]] == 1)
           fi;
           pos++; waited = false /* STEP drain */
       }
    :: atomic {
           pos < WORDS && !word[pos] && !thread_over && !request ->
           is_followed(pos);
           if
#ifdef BUG_TIMER
           :: is_hole -> n_counted++; pos++
#else
           :: is_hole -> request = pos + 1 /* STEP ask */
#endif
           :: else
           fi
       }
    :: atomic { /* its thread has ended: nobody will write it */
           thread_over && pos < WORDS && !word[pos] ->
           is_followed(pos);
           if
           :: is_hole -> n_counted++; pos++
           :: else -> break
           fi
       }
    :: thread_over && pos == WORDS -> break
    od;
    atomic {
        i = 1;
        do
        :: i <= WORDS -> assert(n_stored[i] == was_emitted[i]); i++
        :: else -> break
        od;
        assert(n_counted == n_left) /* a handler's event always follows what it jumped out of */
    }
}
