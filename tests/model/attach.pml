/* attach.pml - a second recorder comes to a program that was recorded before: names must be registered again.
 *
 * The real code: strobe_zone_begin reads `active`, then `floor`, in include/strobe/strobe.h; the recorder writes `floor`, then
 * `active`, in src/collector. A location's id that was registered with the first recorder lies below the second one's floor.
 *
 * arm64 may execute two loads in the other order unless the first one has acquire order, and make two stores visible in the other
 * order unless the second one has release order: both are spelled out here.
 *
 * Proved: a thread that saw the second recorder's gate emits no id that this recorder does not know.
 * Planted faults: BUG_NO_ACQUIRE, BUG_NO_RELEASE
 * SPDX-License-Identifier: MIT */
#ifndef ROUNDS
#define ROUNDS 3
#endif

byte active_now = 1, floor_now = 1;  /* `active`: which recorder; 0: none */
bool active_waits, floor_waits;      /* the second recorder's stores that are not visible yet */
byte floor_to;
byte next_id = 2, loc_id = 1;        /* the location was registered with recorder 1 as id 1 */
byte n_meta = 1, registered_at[6];   /* records in the meta stream, and which of them an id has */
byte skip_to;                        /* recorder 2 steps over the records before this one */

active proctype Memory()
{
end:
    do
    :: atomic { floor_waits -> floor_now = floor_to; floor_waits = false } /* STEP floor */
    :: atomic { active_waits -> active_now = 2; active_waits = false } /* STEP active */
    od
}

active proctype Thread()
{
    byte gate, least, n = 0, id;
    do
    :: n == ROUNDS -> break
    :: n < ROUNDS ->
       n++;
       if
       :: gate = active_now; /* STEP gate */
          least = floor_now  /* STEP least */
#ifdef BUG_NO_ACQUIRE
       :: least = floor_now; /* STEP early */
          gate = active_now  /* STEP gate */
#endif
       fi;
       if
       :: gate && loc_id < least -> /* a new id, then its record, under the process's lock */
          id = next_id;
          next_id++; /* STEP id */
          atomic { registered_at[id] = n_meta; n_meta++ };
          loc_id = id /* STEP name */
       :: gate && loc_id >= least ->
          id = loc_id
       :: else -> id = 0
       fi;
       assert(gate != 2 || id == 0 || registered_at[id] >= skip_to)
    od
}

active proctype Recorders()
{
    active_now = 0;       /* the first one leaves */ /* STEP leave */
    skip_to = n_meta;
    floor_to = next_id; /* STEP skip */
    floor_waits = true; /* STEP floor */
#ifndef BUG_NO_RELEASE
    !floor_waits;
#endif
    active_waits = true /* STEP open */
}
