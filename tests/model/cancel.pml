/* cancel.pml - a thread is cancelled while it is in the client's slow path, with the process's lock in reach.
 *
 * The real code: strobe_client_block and strobe_client_unblock in src/client/client.h, the futex lock in src/ring/ring_write.c.
 *
 * Proved: no thread dies with the lock held, deferred or asynchronous cancellation; the other one always gets it.
 * Planted faults: BUG_CANCEL_OPEN  cancellation is left as the program has it
 * SPDX-License-Identifier: MIT */
bool lock_is_held, cancel_is_pending, cancel_is_off[2], is_asynchronous;
byte n_done;

#ifdef BUG_CANCEL_OPEN
#define OFF(me, value) skip
#else
#define OFF(me, value) cancel_is_off[me] = value
#endif
/* The canceller aims at thread 0. A cancellation point, or any instruction where it is asynchronous. */
#define POINT(me, is_point) if :: me == 0 && cancel_is_pending && !cancel_is_off[me] && (is_asynchronous || is_point) -> goto unwound :: else fi

active [2] proctype Thread()
{
    byte me = _pid, n = 0;
    do
    :: n == 2 -> break
    :: n < 2 ->
       n++;
       POINT(me, false);
       OFF(me, true);
       POINT(me, false);
       atomic { !lock_is_held -> lock_is_held = true }; /* STEP lock */
       POINT(me, true);   /* open(), read() of the description */
       POINT(me, false);
       lock_is_held = false; /* STEP unlock */
       POINT(me, false);
       OFF(me, false)
    od;
unwound:
    n_done++
}

active proctype Canceller()
{
    if
    :: is_asynchronous = true /* STEP asynchronous */
    :: skip                   /* STEP deferred */
    fi;
    cancel_is_pending = true /* STEP cancel */
}
