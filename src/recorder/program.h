/* program.h - what a program's file says of it: whether it has our library, runs with rights of its own, or takes no preloaded library.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_PROGRAM_H
#define STROBE_RECORDER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file that execvp would run under this name. False: there is none. */
bool strobe_program_find(const char *name, char *out, size_t cap);

/* Whether the file has the library in it, or asks for it. *is_known false: it can't be read. */
bool strobe_program_has_client(const char *path, bool *is_known);

/* Whether its functions call hooks: it was built with -finstrument-functions. */
bool strobe_program_has_hooks(const char *path);

/* Whether it has such hooks itself: nothing that is preloaded takes their place. */
bool strobe_program_owns_hooks(const char *path);

/* Whether exceptions are thrown in it, or by it: it has what goes through stacks frame by frame, or asks for it. */
bool strobe_program_throws(const char *path);
/* The loader that runs it. False: it needs none, or is no program. */
bool strobe_program_loader(const char *path, char *out, size_t cap);

/* Whether the file runs with more rights than this process has (set-user-id, capabilities): the kernel marks such a process, and the loader
 * and our library then ignore what the environment says. */
bool strobe_program_is_raised(const char *path);

/* The same of a process that runs. */
bool strobe_program_runs_raised(uint32_t pid);

/* Whether what runs it, the file or the interpreter that its first line names, is of another ELF class (32 bits): the loader
 * refuses our libraries, with a line on its stderr. */
bool strobe_program_is_other_class(const char *path);

/* Whether it is linked statically: nothing is preloaded into it. */
bool strobe_program_is_static(const char *path);

#endif
