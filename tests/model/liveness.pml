/* liveness.pml - when is a process dead? A recorder in another PID namespace, forks, closed descriptors, exec.
 *
 * The real code: the lock that a mapping holds (src/client/join.c) and who asks for it (src/ring/session.c, src/collector/process.c).
 * The lock belongs to the open file that the mapping keeps: closing descriptors does not release it, a forked child does not have the
 * mapping, death and exec release it.
 *
 * Proved: segments of a live process are never wiped; a dead process's file is drained and removed in the end.
 * Planted faults: BUG_FOREIGN_ID  the recorder asks for the process's own id in its own namespace
 *                 BUG_INHERITED   a forked child inherits the lock
 *                 BUG_DESCRIPTOR  the lock goes with the last descriptor
 * SPDX-License-Identifier: MIT */
bool process_lives = true, child_lives, lock_is_held = true;
bool id_exists_here;      /* somebody, anybody, has that id in the recorder's namespace */
bool is_wiped, is_removed;

active proctype Process()
{
    if
    :: skip               /* STEP no */
    :: child_lives = true /* a fork, before it dies */ /* STEP fork */
    fi;
    if
    :: skip               /* STEP no */
    :: skip               /* it closes all its descriptors */ /* STEP close */
#ifdef BUG_DESCRIPTOR
       ; lock_is_held = false
#endif
    fi;
    atomic {              /* death, or exec */
        process_lives = false; /* STEP dies */
#ifdef BUG_INHERITED
        lock_is_held = lock_is_held && child_lives
#else
        lock_is_held = false
#endif
    }
}

/* Ids of the recorder's namespace come and go; they have nothing to do with the process. */
active proctype Others()
{
    id_exists_here = true;
    id_exists_here = false
}

#ifdef BUG_FOREIGN_ID
#define IS_DEAD (!id_exists_here)
#else
#define IS_DEAD (!lock_is_held)
#endif

active proctype Recorder()
{
    IS_DEAD;
    atomic { assert(!process_lives); is_wiped = true }; /* STEP ask */
    is_removed = true
}
