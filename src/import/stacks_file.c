/* stacks_file.c - see stacks_file.h: what a file is, and the way of any of them into a trace.  SPDX-License-Identifier: MIT */
#include "import/stacks_file.h"

#include <string.h>

#include "base/protobuf.h"

enum { HEAD_BYTES = 64 << 10, TYPE_BYTES = 22 };

static const struct {
    const char *name;
    enum strobe_err (*read)(struct strobe_bytes_in *source, struct strobe_stacks_in *in);
} formats[STROBE_STACKS_N_FORMATS] = {
    {"", NULL},
    {"folded stacks", strobe_folded_read},
    {"the text of perf script", strobe_perf_script_read},
    {"speedscope's JSON", strobe_speedscope_read},
    {"a profile of pprof", strobe_pprof_read},
    {"a perf.data file", strobe_perf_data_read},
};

const char *strobe_stacks_format_name(enum strobe_stacks_format format)
{
    return formats[format].name;
}

/* ---- what it is ---- */

/* A ValueType: two numbers. Traces of Perfetto begin with field 1 too, of other content. */
static int is_pprof(const uint8_t *bytes, size_t n)
{
    struct strobe_protobuf profile = strobe_protobuf_over(bytes, n);
    if (!strobe_protobuf_next(&profile) || profile.field != 1 || !profile.bytes ||
        profile.number > TYPE_BYTES || !profile.number)
        return 0;
    struct strobe_protobuf type = strobe_protobuf_inner(&profile);
    while (strobe_protobuf_next(&type))
        if (type.field > 2 || type.type != STROBE_PROTOBUF_VARINT)
            return 0;
    return !type.is_bad;
}

static int has_text(const uint8_t *bytes, size_t n, const char *text)
{
    size_t n_text = strlen(text);
    for (size_t i = 0; i + n_text <= n; i++)
        if (bytes[i] == (uint8_t)text[0] && !memcmp(bytes + i, text, n_text))
            return 1;
    return 0;
}

static int is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* A line that ends with a space and a number. */
static int is_folded_line(const uint8_t *line, size_t n)
{
    size_t at = n;
    while (at && (is_digit(line[at - 1]) || line[at - 1] == '.'))
        at--;
    return at < n && at > 1 && line[at - 1] == ' ' && line[0] != ' ' && line[0] != '\t';
}

/* "[digits.digits:" somewhere in a line: the time of an event. */
static int is_script_line(const uint8_t *line, size_t n)
{
    for (size_t i = 1; i + 1 < n; i++) {
        size_t before = i, behind = i + 1;
        if (line[i] != '.' || !is_digit(line[i - 1]))
            continue;
        while (before && is_digit(line[before - 1]))
            before--;
        while (behind < n && is_digit(line[behind]))
            behind++;
        if (before && line[before - 1] == ' ' && behind > i + 3 && behind < n &&
            line[behind] == ':')
            return 1;
    }
    return 0;
}

/* By the first line that says something. */
static enum strobe_stacks_format text_format(const uint8_t *bytes, size_t n)
{
    if (memchr(bytes, 0, n))
        return STROBE_STACKS_NO_FILE;
    for (size_t at = 0; at < n;) {
        const uint8_t *end = memchr(bytes + at, '\n', n - at);
        size_t n_line = end ? (size_t)(end - bytes) - at : n - at, behind = at + n_line + 1;
        const uint8_t *line = bytes + at;
        if (n_line && line[n_line - 1] == '\r')
            n_line--;
        at = behind;
        if (!n_line || line[0] == '#')
            continue;
        if (is_script_line(line, n_line))
            return STROBE_STACKS_PERF_SCRIPT;
        return is_folded_line(line, n_line) && !memchr(line, ',', n_line)  ? STROBE_STACKS_FOLDED
               : is_folded_line(line, n_line) && memchr(line, ';', n_line) ? STROBE_STACKS_FOLDED
                                                                           : STROBE_STACKS_NO_FILE;
    }
    return STROBE_STACKS_NO_FILE;
}

enum strobe_stacks_format strobe_stacks_file_format(const uint8_t *bytes, size_t n)
{
    size_t i = n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < n && (bytes[i] == ' ' || bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\t'))
        i++;
    if (i < n && bytes[i] == '{')
        return has_text(bytes, n, "speedscope.app/file-format-schema") ? STROBE_STACKS_SPEEDSCOPE
                                                                       : STROBE_STACKS_NO_FILE;
    if (n >= 8 && !memcmp(bytes, "PERFILE2", 8))
        return STROBE_STACKS_PERF_DATA;
    if (is_pprof(bytes, n))
        return STROBE_STACKS_PPROF;
    return n ? text_format(bytes, n) : STROBE_STACKS_NO_FILE;
}

enum strobe_stacks_format strobe_stacks_file_find(const char *path)
{
    struct strobe_bytes_in *source;
    enum strobe_stacks_format format = STROBE_STACKS_NO_FILE;
    const uint8_t *bytes;
    size_t n;
    if (strobe_bytes_in_open(path, &source))
        return format;
    if (!strobe_bytes_in_peek(source, HEAD_BYTES, &bytes, &n))
        format = strobe_stacks_file_format(bytes, n < HEAD_BYTES ? n : HEAD_BYTES);
    strobe_bytes_in_close(source);
    return format;
}

/* ---- its way into a trace ---- */

static enum strobe_err import(struct strobe_bytes_in *source, const char *from, const char *to,
                              enum strobe_stacks_format format, struct strobe_stacks_result *out)
{
    struct strobe_stacks_options options = {.from = from, .to = to};
    struct strobe_stacks_in *in = NULL;
    memset(out, 0, sizeof *out);
    STROBE_ASSERT(format > STROBE_STACKS_NO_FILE && format < STROBE_STACKS_N_FORMATS);
    enum strobe_err err = strobe_stacks_in_open(&options, &in);
    if (!err)
        err = formats[format].read(source, in);
    if (!err)
        err = strobe_stacks_in_write(in, out);
    strobe_stacks_in_close(in);
    return err;
}

enum strobe_err strobe_stacks_file_import(const char *from, const char *to,
                                          enum strobe_stacks_format format,
                                          struct strobe_stacks_result *out)
{
    struct strobe_bytes_in *source;
    enum strobe_err err = strobe_bytes_in_open(from, &source);
    if (err)
        return err;
    err = import(source, from, to, format, out);
    strobe_bytes_in_close(source);
    return err;
}

enum strobe_err strobe_stacks_file_import_bytes(const void *bytes, size_t n, const char *to,
                                                enum strobe_stacks_format format,
                                                struct strobe_stacks_result *out)
{
    struct strobe_bytes_in *source;
    enum strobe_err err = strobe_bytes_in_over(bytes, n, &source);
    if (err)
        return err;
    err = import(source, "", to, format, out);
    strobe_bytes_in_close(source);
    return err;
}
