/* alive.h - does a process image still run, and by which pid can it be reached from here?
 *
 * Ids mean nothing in another pid namespace, so life is asked of the kernel by locks. An image opens its file a second time, maps
 * one page of that with MADV_DONTFORK, locks a byte through it, and closes the descriptor: the lock belongs
 * to the open file, which only the mapping keeps. So it goes with the image (exec, exit, kill) and with nothing
 * else: not with a descriptor that the program closes, and a forked child has no part in it.
 *
 *   BYTE  LOCK                        OF                 TELLS
 *      0  POSIX, whole process        pool, session      the holder's pid in the asker's namespace
 *      1  of an open file (OFD)       pool               the image lives
 *
 * What is used by the traced process allocates nothing and never prints.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_ALIVE_H
#define STROBE_RING_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/ring_layout.h"

/* Hold both locks of the file `path` for as long as this image lives; `fd` is a descriptor of it, closed here.
 * The features (enum strobe_feature) that a reader of the locks may count on. */
uint32_t strobe_alive_hold(const char *path, int fd);

/* The second of them alone: a page of the file that goes with the image, or by munmap; the lock goes with it. NULL: not held. */
void *strobe_alive_lock_image(const char *path);

/* The number of the caller's pid namespace, 0: not known (no /proc). */
uint32_t strobe_alive_namespace(void);

/* Whether the image that made the file still runs. `fd`: the file, open for reading; `control`: a copy or mapping of its
 * control page; `name`: the file's name. Where nothing proves its death it lives. */
bool strobe_alive_image(int fd, const struct strobe_control *control, const char *name);

/* Whether somebody else holds the image's lock of the file. `fd`: the file, open for reading. For files whose makers always hold it. */
bool strobe_alive_file(int fd);

/* The pid by which the image's process can be reached from here; 0: not known, or not visible. */
uint32_t strobe_alive_pid(int fd, const struct strobe_control *control);

/* The pid that process `outer` of /proc has in its own namespace; 0: not known. */
uint32_t strobe_alive_inner_pid(uint32_t outer);

/* Whether /proc/PID, as it is mounted here, is of the image's process. */
bool strobe_alive_is_pid(uint32_t pid, const struct strobe_control *control);

/* Whether somebody else holds the lock of a session's page. `fd`: the page's file. */
bool strobe_alive_holder(int fd);

/* Whether a recorder that lives holds the session in folder `dir`, for all of its programs or for one of them. */
bool strobe_session_is_held(const char *dir);

/* Whether the session in folder `dir` is being recorded, by a recorder that lives. A copy of its page is in *out, magic 0: there is none.
 * (A copy, since a page that is cut while it is mapped would end the program that looks at it.) */
bool strobe_alive_session(const char *dir, struct strobe_session_page *out);

#endif
