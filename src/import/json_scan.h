/* json_scan.h - the members of an object that is plain JSON, in one pass that keeps no state: so are nearly all events of a file. What is
 * not is for base's reader (json_fields.h), which knows what else is allowed, and why something is refused.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_JSON_SCAN_H
#define STROBE_IMPORT_JSON_SCAN_H

#include "import/json_fields.h"

/* The members of the object at `at`, which ends somewhere before `end`; *n of them. The place behind it. NULL: it is cut off, nested deep, has
 * more than STROBE_JSON_FIELDS_MAX members, or is not as RFC 8259 has it: nothing is said of it. */
const char *strobe_json_scan(const char *at, const char *end, struct strobe_json_field *fields,
                             int *n);

#endif
