/* at.h - a field of a shared or stored struct lies where its table says.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_AT_H
#define STROBE_WIRE_AT_H

#include <assert.h>
#include <stddef.h>

#define STROBE_AT(type, field, offset) \
    static_assert(offsetof(struct type, field) == (offset), #type " is shared")

#endif
