/* json_fields.h - the members of one JSON object in memory, as places in its text. Bytes come from strangers: what is no
 * JSON (base/json_read.h) is no object; a member that is nested deeper than 1,024 is left out, and those behind it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_JSON_FIELDS_H
#define STROBE_IMPORT_JSON_FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum { STROBE_JSON_FIELDS_MAX = 32 };

struct strobe_json_text {
    const char *at;
    size_t n;
};

struct strobe_json_field {
    struct strobe_json_text name;
    struct strobe_json_text value; /* of a string: what is between the quotes, as it stands there */
    char type;                     /* '"', '{', '[', '0' number, 't', 'f', 'n'; 0: there is none */
};

/* The members of the object that fills `text`, at most STROBE_JSON_FIELDS_MAX. Their number; -1: it is no object. */
int strobe_json_fields(struct strobe_json_text text, struct strobe_json_field *fields);

/* The one of that name; of type 0 where there is none. */
const struct strobe_json_field *strobe_json_field(const struct strobe_json_field *fields, int n,
                                                  const char *name);

/* A string's bytes without escapes, valid UTF-8, into `out` of at least 3 * text.n bytes; what follows an escape that is
 * cut off is left out. How many. */
size_t strobe_json_unescape(struct strobe_json_text text, char *out);

/* A number of us (or a string with one in it) as ns, to the ns; 0 where it is none. */
int strobe_json_ns(const struct strobe_json_field *field, int64_t *out, int *has_fraction);

/* A number, or a string with one in it, hex too. 0: it is none. */
int strobe_json_whole(const struct strobe_json_field *field, uint64_t *out);
int strobe_json_real(const struct strobe_json_field *field, double *out);

#endif
