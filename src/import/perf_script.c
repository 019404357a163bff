/* perf_script.c - the text of `perf script`: a head for each event, then its frames, the innermost first, behind a tab; an empty line.
 *
 *   comm  1234/1235 [001] 12.345678901:    1003009 cpu-clock:u:
 *   	    55d0c0ffee10 main+0x12 (/usr/bin/app)
 *
 * What a head leaves out (processor, thread, period) need not be there.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/stacks_file.h"

struct head {
    struct strobe_stacks_text comm, event;
    uint64_t pid, tid, cpu, period;
    int64_t time_ns;
    const char *rest; /* behind the event: the one frame of a head without a stack; "" */
};

struct script {
    struct strobe_stacks_in *in; /* borrowed */
    uint32_t thread;             /* of the event that is read; 0: none */
    int64_t time_ns;
    uint64_t cpu;
    uint64_t addresses[STROBE_STACKS_IN_DEPTH];
    size_t n;
    char first_event[128];
    int has_others; /* events of another name came */
};

/* Digits, a point and digits before a colon: the time. The place behind it; NULL: it is none. */
static const char *read_time(const char *at, int64_t *out)
{
    uint64_t seconds = 0, ns = 0, unit = 1000000000;
    const char *begin = at;
    for (; *at >= '0' && *at <= '9' && seconds < 1000000000; at++)
        seconds = seconds * 10 + (uint64_t)(*at - '0');
    if (at == begin || *at++ != '.')
        return NULL;
    for (begin = at; *at >= '0' && *at <= '9'; at++) {
        unit /= 10;
        ns += unit * (uint64_t)(*at - '0');
    }
    *out = (int64_t)(seconds * 1000000000 + ns);
    return at > begin && *at == ':' ? at + 1 : NULL;
}

/* The word before `end`, back to a space. */
static const char *word_before(const char *line, const char *end, const char **out_end)
{
    while (end > line && end[-1] == ' ')
        end--;
    *out_end = end;
    while (end > line && end[-1] != ' ')
        end--;
    return end;
}

static int read_ids(const char *word, const char *end, struct head *head)
{
    char *at;
    head->pid = head->tid = strtoull(word, &at, 10);
    if (at == word)
        return 0;
    if (*at == '/') {
        word = at + 1;
        head->tid = strtoull(word, &at, 10);
    }
    return at == end;
}

/* What stands before the time: name, numbers, processor. */
static int read_front(const char *line, const char *time, struct head *head)
{
    const char *end, *word = word_before(line, time, &end);
    head->cpu = 0;
    if (end > word && *word == '[') {
        head->cpu = strtoull(word + 1, NULL, 10);
        word = word_before(line, word, &end);
    }
    if (!read_ids(word, end, head))
        return 0;
    while (word > line && word[-1] == ' ')
        word--;
    while (line < word && *line == ' ')
        line++;
    head->comm = (struct strobe_stacks_text){line, (size_t)(word - line)};
    return 1;
}

/* Period and event. */
static void read_back(const char *at, struct head *head)
{
    char *behind;
    while (*at == ' ')
        at++;
    head->period = strtoull(at, &behind, 10);
    if (behind == at || *behind != ' ')
        head->period = 0;
    else
        for (at = behind; *at == ' ';)
            at++;
    size_t n = strcspn(at, " ");
    head->rest = at + n;
    while (n && at[n - 1] == ':')
        n--;
    head->event = (struct strobe_stacks_text){at, n};
    while (*head->rest == ' ')
        head->rest++;
}

static int read_head(const char *line, struct head *head)
{
    if (*line == '\t')
        return 0;
    for (const char *at = line; *at;) {
        at += strspn(at, " ");
        const char *behind = read_time(at, &head->time_ns);
        if (behind && read_front(line, at, head)) {
            read_back(behind, head);
            return 1;
        }
        at += strcspn(at, " ");
    }
    return 0;
}

/* ---- frames ---- */

/* "symbol+0x12" without its offset. */
static size_t without_offset(const char *text, size_t n)
{
    for (size_t i = n; i > 3; i--)
        if (text[i - 3] == '+' && text[i - 2] == '0' && text[i - 1] == 'x')
            return i - 3;
    return n;
}

static void take_frame(struct script *script, const char *line)
{
    char unknown[300];
    struct strobe_stacks_frame frame = {0};
    line += strspn(line, " \t");
    size_t n_address = strspn(line, "0123456789abcdef");
    if (line[n_address] == ' ')
        line += n_address + 1;
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ')
        n--;
    const char *image = n && line[n - 1] == ')' ? strrchr(line, '(') : NULL;
    if (image) {
        frame.image = (struct strobe_stacks_text){image + 1, (size_t)(line + n - 1 - image - 1)};
        n = (size_t)(image - line);
    }
    while (n && line[n - 1] == ' ')
        n--;
    frame.function = (struct strobe_stacks_text){line, without_offset(line, n)};
    if (!n || !strncmp(line, "[unknown]", 9)) {
        const char *slash = frame.image.n ? strrchr(frame.image.at, '/') : NULL;
        const char *base = slash ? slash + 1 : frame.image.n ? frame.image.at : "unknown";
        int n_base = (int)strcspn(base, ")");
        const char *form = *base == '[' ? "%.*s" : "[%.*s]";
        frame.function.at = unknown;
        snprintf(unknown, sizeof unknown, form, n_base < 256 ? n_base : 256, base);
        frame.function.n = strlen(unknown);
    }
    if (script->n < STROBE_STACKS_IN_DEPTH)
        script->addresses[script->n++] = strobe_stacks_in_frame(script->in, script->thread, &frame);
}

/* ---- events ---- */

static enum strobe_err end_event(struct script *script)
{
    uint32_t thread = script->thread;
    script->thread = 0;
    return thread ? strobe_stacks_in_sample(script->in, thread, script->time_ns, script->cpu, 1,
                                            script->addresses, script->n)
                  : STROBE_OK;
}

/* The first event's period is CPU time where it is a clock. */
static void note_event(struct script *script, const struct head *head)
{
    size_t n =
        head->event.n < sizeof script->first_event ? head->event.n : sizeof script->first_event - 1;
    if (*script->first_event) {
        script->has_others |=
            strncmp(script->first_event, head->event.at, n) != 0 || script->first_event[n] != 0;
        return;
    }
    memcpy(script->first_event, head->event.at, n);
    if (!strncmp(script->first_event, "cpu-clock", 9) ||
        !strncmp(script->first_event, "task-clock", 10))
        strobe_stacks_in_options(script->in)->period_ns = head->period;
}

static enum strobe_err take_line(struct script *script, const char *line)
{
    struct head head;
    if (!*line)
        return end_event(script);
    if (*line == '\t' || (script->thread && *line == ' ' && !read_head(line, &head))) {
        if (script->thread)
            take_frame(script, line);
        return STROBE_OK;
    }
    enum strobe_err err = end_event(script);
    if (err || *line == '#')
        return err;
    if (!read_head(line, &head)) {
        strobe_stacks_in_leave_out(script->in, "lines were left out: neither an event nor a frame",
                                   1);
        return STROBE_OK;
    }
    note_event(script, &head);
    script->thread = strobe_stacks_in_thread(script->in, head.pid, head.comm, head.tid, head.comm);
    script->time_ns = head.time_ns;
    script->cpu = head.cpu;
    script->n = 0;
    if (script->thread && *head.rest)
        take_frame(script, head.rest);
    return STROBE_OK;
}

enum strobe_err strobe_perf_script_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in)
{
    struct script *script = calloc(1, sizeof *script);
    char *line;
    size_t n;
    enum strobe_err err = script ? STROBE_OK : STROBE_ERR_NOMEM;
    if (err)
        return err;
    script->in = in;
    strobe_stacks_in_options(in)->has_times = 1;
    while (!err && !(err = strobe_bytes_in_line(source, &line, &n)))
        err = take_line(script, line);
    if (err == STROBE_ERR_END)
        err = end_event(script);
    if (script->has_others)
        strobe_stacks_in_say(in, "the file has samples of several events; all count alike");
    free(script);
    return err;
}
