/* chosen.c - see chosen.h.  SPDX-License-Identifier: MIT */
#include "sample/chosen.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

enum { TEXT = 600 }; /* of a name or a pattern */

struct text {
    char *bytes;
    size_t n, room;
};

static void put(struct text *text, const char *bytes, size_t n)
{
    if (n < text->room - text->n) {
        memcpy(text->bytes + text->n, bytes, n);
        text->n += n;
    }
    text->bytes[text->n] = 0;
}

static bool put_scopes(struct text *out, const char *name)
{
    const char *last = NULL;
    size_t n_last = 0;
    if (strncmp(name, "_Z", 2))
        return false;
    name += 2;
    bool is_nested = *name == 'N';
    for (name += is_nested; is_nested && (*name == 'K' || *name == 'V' || *name == 'r'); name++)
        ;
    name += *name == 'L';
    for (;;) {
        char *end;
        size_t n = *name >= '1' && *name <= '9' ? strtoul(name, &end, 10) : 0;
        if (n && strnlen(end, n) == n) {
            put(out, "::", last ? 2 : 0);
            put(out, last = end, n_last = n);
            name = end + n;
        } else if (last && (*name == 'C' || *name == 'D') && name[1] >= '0' && name[1] <= '5') {
            put(out, *name == 'C' ? "::" : "::~", *name == 'C' ? 2 : 3);
            put(out, last, n_last);
            return true;
        } else {
            return last != NULL;
        }
        if (!is_nested)
            return true;
    }
}

size_t strobe_chosen_scopes(const char *symbol, char *out, size_t room)
{
    struct text text = {out, 0, room};
    out[0] = 0;
    return put_scopes(&text, symbol) ? text.n : 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A text against a pattern that ends at `end`: the whole of it. */
static bool fits(const char *pattern, const char *end, const char *text)
{
    char copy[TEXT];
    size_t n = (size_t)(end - pattern);
    if (n >= sizeof copy)
        return false;
    memcpy(copy, pattern, n);
    copy[n] = 0;
    return strpbrk(copy, "*?[\\") ? strobe_glob_fits(copy, text) : !strcmp(copy, text);
}

/* The colon between module and function: none of C++'s. NULL: there is none. */
static const char *colon_of(const char *at, const char *end)
{
    for (; at < end; at++)
        if (*at == ':') {
            if (at + 1 >= end || at[1] != ':')
                return at;
            at++;
        }
    return NULL;
}

static bool fits_line(const char *line, const char *end, const char *module, const char *name)
{
    char scopes[TEXT];
    const char *colon = colon_of(line, end), *function = colon ? colon + 1 : line;
    if (colon && colon > line && !fits(line, colon, base_of(module)))
        return false;
    return fits(function, end, name) ||
           (strobe_chosen_scopes(name, scopes, sizeof scopes) && fits(function, end, scopes));
}

bool strobe_chosen_function(const char *patterns, const char *module, const char *name)
{
    bool has_any = false, is_in = false;
    for (const char *line = patterns; *line;) {
        const char *end = line + strcspn(line, "\n");
        bool is_out = *line == '!';
        has_any |= !is_out;
        if (fits_line(line + is_out, end, module, name)) {
            if (is_out)
                return false;
            is_in = true;
        }
        line = end + (*end == '\n');
    }
    return is_in || !has_any;
}

/* A line's part that names a file, or the rest; NULL: it has none. */
static const char *file_of(const char *line, const char *end)
{
    const char *colon = colon_of(line, end);
    return colon && colon > line ? colon : NULL;
}

bool strobe_chosen_file(const char *patterns, const char *module)
{
    for (const char *line = patterns; *line;) {
        const char *end = line + strcspn(line, "\n"), *colon = file_of(line, end);
        if (*line != '!' && colon && fits(line, colon, base_of(module)))
            return true;
        line = end + (*end == '\n');
    }
    return false;
}

bool strobe_chosen_mark(const char *patterns, const char *module, const char *mark)
{
    bool is_in = false;
    for (const char *line = patterns; *line;) {
        const char *end = line + strcspn(line, "\n");
        bool is_out = *line == '!';
        const char *colon = file_of(line + is_out, end);
        if (colon && colon_of(colon + 1, end) && fits(line + is_out, colon, base_of(module)) &&
            fits(colon + 1, end, mark)) {
            if (is_out)
                return false;
            is_in = true;
        }
        line = end + (*end == '\n');
    }
    return is_in;
}
