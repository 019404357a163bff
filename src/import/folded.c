/* folded.c - folded stacks: a line for each stack, its frames from the outermost to the innermost with semicolons between them, a space, and how often it was seen.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "import/stacks_file.h"

/* The number at the end of a line, and where its space is. 0: there is none. */
static int read_count(const char *line, size_t n, size_t *n_stack, uint64_t *out)
{
    size_t at = n, whole;
    while (at && ((line[at - 1] >= '0' && line[at - 1] <= '9') || line[at - 1] == '.'))
        at--;
    if (at == n || at < 2 || line[at - 1] != ' ')
        return 0;
    *n_stack = at - 1;
    *out = 0;
    for (whole = at; whole < n && line[whole] != '.'; whole++) {
        if (*out > UINT64_MAX / 16)
            return 0;
        *out = *out * 10 + (uint64_t)(line[whole] - '0');
    }
    return whole > at;
}

static enum strobe_err take_line(struct strobe_stacks_in *in, uint32_t thread, const char *line,
                                 size_t n)
{
    uint64_t addresses[STROBE_STACKS_IN_DEPTH], count;
    size_t n_stack, n_frames = 0;
    if (!read_count(line, n, &n_stack, &count)) {
        strobe_stacks_in_leave_out(in, "lines were left out: no stack with a number", 1);
        return STROBE_OK;
    }
    for (size_t end = n_stack; end && n_frames < STROBE_STACKS_IN_DEPTH;) {
        size_t begin = end;
        while (begin && line[begin - 1] != ';')
            begin--;
        struct strobe_stacks_frame frame = {.function = {line + begin, end - begin}};
        if (end > begin)
            addresses[n_frames++] = strobe_stacks_in_frame(in, thread, &frame);
        end = begin ? begin - 1 : 0;
    }
    return strobe_stacks_in_sample(in, thread, 0, 0, count, addresses, n_frames);
}

enum strobe_err strobe_folded_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in)
{
    static const struct strobe_stacks_text name = {"folded stacks", 13};
    char *line;
    size_t n;
    enum strobe_err err = STROBE_OK;
    uint32_t thread = strobe_stacks_in_thread(in, 1, name, 1, (struct strobe_stacks_text){"", 0});
    if (!thread)
        return STROBE_ERR_LIMIT;
    while (!err && !(err = strobe_bytes_in_line(source, &line, &n)))
        if (n && line[0] != '#')
            err = take_line(in, thread, line, n);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}
