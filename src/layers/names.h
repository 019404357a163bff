/* names.h - locations for ranges whose names are only known at run time: one per name, kept for the process's life, found without a lock.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_LAYERS_NAMES_H
#define STROBE_LAYERS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "strobe/strobe.h"

enum { STROBE_LAYERS_NAMES_MAX = 8192, STROBE_LAYERS_TEXT_MAX = 1024 };

/* The location of a range's name, group (shown as its function) and colour. NULL: there is no room for another one, or no memory. Any thread;
 * not in a signal handler. */
struct strobe_loc *strobe_layers_loc(const char *name, size_t n_name, const char *group,
                                     uint32_t color);

/* A wide text as UTF-8 in `out`, cut where that is full. Its length. */
size_t strobe_layers_narrow(const wchar_t *text, char *out, size_t cap);

#endif
