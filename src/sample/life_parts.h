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
/* Say in the trace what became of the samples of all Pythons. */
void strobe_life_tell_pythons(struct strobe_life *life);

void strobe_life_sample(struct strobe_life *life, const struct strobe_perf_record *record,
                        uint64_t tick);
/* ---- life_waits.c ---- */

/* The kernel's stack of a thread that is about to leave its processor. */
void strobe_life_off(struct strobe_life *life, const struct strobe_perf_record *record);
void strobe_life_wakes(struct strobe_life *life, const struct strobe_perf_record *record,
                       uint64_t tick);
/* The reason of a switch, as the file numbers it; what is known of the thread changes. */
uint32_t strobe_life_reason(struct strobe_life *life, struct strobe_life_thread *thread,
                            const struct strobe_perf_record *record);

void strobe_life_switch(struct strobe_life *life, const struct strobe_perf_record *record,
                        uint64_t tick);

#endif
