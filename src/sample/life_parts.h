/* life_parts.h - what life.c and life_events.c share. Inside src/sample only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_LIFE_PARTS_H
#define STROBE_SAMPLE_LIFE_PARTS_H

#include "sample/life.h"

/* The process of a pid, the thread of a tid; NULL: there is none, or no room for one. */
struct strobe_life_process *strobe_life_process(struct strobe_life *life, uint32_t pid,
                                                bool may_make);
struct strobe_life_thread *strobe_life_thread(struct strobe_life *life,
                                              struct strobe_life_process *process, uint32_t tid,
                                              bool may_make);

/* The last number of the line NSpid of a status file: what the process or thread itself takes for its number. 0: not to be told. */
uint32_t strobe_life_inner_number(const char *path);

/* Its start time, as /proc has it while it lives. */
void strobe_life_look(struct strobe_life_process *process);

/* The Python in a process, looked for when its mappings have changed; NULL: none. */
struct strobe_py_process *strobe_life_python(struct strobe_life *life,
                                             struct strobe_life_process *process);
/* The kernel's frames of a thread whose sample comes next. */
void strobe_life_frames(struct strobe_life *life, const struct strobe_perf_record *record);
/* The stack life->user with Python's frames, to `out`: how many. */
uint32_t strobe_life_join(struct strobe_life *life, struct strobe_life_process *process,
                          struct strobe_life_thread *thread, uint64_t sample_ns, uint64_t *out);
/* Say in the trace what became of the samples of all Pythons. */
void strobe_life_tell_pythons(struct strobe_life *life);

/* Whom an event is of; its track is made at its first one. False: the trace has no room for it, which is counted. */
bool strobe_life_owner(struct strobe_life *life, const struct strobe_perf_record *record,
                       uint64_t tick, struct strobe_life_process **process,
                       struct strobe_pending_event *out);
/* The same of an event in a zone: on the thread's track of zones. */
bool strobe_life_zone_owner(struct strobe_life *life, const struct strobe_perf_record *record,
                            uint64_t tick, struct strobe_life_process **process,
                            struct strobe_pending_event *out);

/* ---- life_zones.c ---- */

void strobe_life_call(struct strobe_life *life, const struct strobe_perf_record *record,
                      uint64_t tick);
/* A thread comes by a probe: a function begins or returns, or a mark is passed. */
void strobe_life_probe(struct strobe_life *life, const struct strobe_perf_record *record,
                       uint64_t tick);
/* A thread ends: the system call that it is in does not return. */
void strobe_life_leave_calls(struct strobe_life *life, struct strobe_life_process *process,
                             struct strobe_life_thread *thread);

void strobe_life_sample(struct strobe_life *life, const struct strobe_perf_record *record,
                        uint64_t tick);
/* ---- life_waits.c ---- */

/* The kernel's stack of a thread that is about to leave its processor. */
void strobe_life_off(struct strobe_life *life, const struct strobe_perf_record *record);
void strobe_life_wakes(struct strobe_life *life, const struct strobe_perf_record *record,
                       uint64_t tick);
/* The reason of a switch, as the file numbers it; what is known of the thread changes. */
uint32_t strobe_life_reason(struct strobe_life *life, struct strobe_life_process *process,
                            struct strobe_life_thread *thread,
                            const struct strobe_perf_record *record);

/* A thread ends, or exec gives it another image: the kernel has no record of a turn's end or begin then. */
void strobe_life_begin_turn(struct strobe_life *life, struct strobe_life_thread *thread,
                            const struct strobe_perf_record *record, uint64_t tick);
void strobe_life_end_turn(struct strobe_life *life, struct strobe_life_thread *thread,
                          const struct strobe_perf_record *record, uint64_t tick);
void strobe_life_switch(struct strobe_life *life, const struct strobe_perf_record *record,
                        uint64_t tick);

/* ---- life_turns.c ---- */

/* A thread comes to a processor or leaves it; what is known of it is still that of before. */
void strobe_life_turn(struct strobe_life *life, struct strobe_life_thread *thread,
                      const struct strobe_perf_record *record);
/* The number of the thread's window for a pending event; 0: it has none. */
uint32_t strobe_life_window(struct strobe_life *life, struct strobe_life_thread *thread);
/* The thread is about to be freed. */
void strobe_life_close_window(struct strobe_life *life, struct strobe_life_thread *thread);
/* Put the begins of pending turns where the threads' clocks say. They are flushed next. */
void strobe_life_mend_turns(struct strobe_life *life);

#endif
