/* input.c - finding and opening the trace that a command reads.  SPDX-License-Identifier: MIT */
#include "cli/input.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/glob.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "file/file_write.h"

static int is_trace_name(const char *name)
{
    size_t n = strlen(name);
    return n > 7 && !strcmp(name + n - 7, ".strobe");
}

static int newest_trace(char room[STROBE_PATH_ROOM])
{
    struct timespec newest = {0};
    int found = 0;
    DIR *folder = opendir(".");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat st;
        if (!is_trace_name(entry->d_name) || strlen(entry->d_name) >= STROBE_PATH_ROOM ||
            stat(entry->d_name, &st) || !S_ISREG(st.st_mode))
            continue;
        if (found && (st.st_mtim.tv_sec < newest.tv_sec ||
                      (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec <= newest.tv_nsec)))
            continue;
        found = 1;
        newest = st.st_mtim;
        strcpy(room, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return found;
}

const char *strobe_cli_find_trace(const char *command, int argc, char **argv, int first,
                                  char room[STROBE_PATH_ROOM])
{
    if (argc - first > 1) {
        strobe_cli_error(command, "one trace at a time, please: '%s' is too much", argv[first + 1]);
        return NULL;
    }
    if (first < argc)
        return argv[first];
    if (newest_trace(room))
        return room;
    strobe_cli_error(command, "no trace was named and there is no *.strobe in this folder; "
                              "'strobe record' makes one");
    return NULL;
}

int strobe_cli_fail(const char *command, const char *path, enum strobe_err err)
{
    switch (err) {
    case STROBE_ERR_FORMAT:
        strobe_cli_error(command, "%s is not a Strobe trace", path);
        break;
    case STROBE_ERR_VERSION:
        strobe_cli_error(command, "%s was made by a newer version of Strobe; this is %s", path,
                         STROBE_VERSION);
        break;
    case STROBE_ERR_CORRUPT:
        strobe_cli_error(command, "%s is damaged: not even its first 4096 bytes are whole", path);
        break;
    case STROBE_ERR_NOTFOUND:
        strobe_cli_error(command, "%s: no such file", path);
        break;
    default:
        strobe_cli_error(command, "%s: %s", path, strobe_err_text(err));
    }
    return STROBE_EXIT_FAILED;
}

int strobe_cli_may_write(const char *command, const char *path)
{
    struct stat st;
    if (strobe_file_is_foreign(path)) {
        strobe_cli_error(
            command, "%s exists and is no Strobe trace; remove it or choose another name", path);
        return 0;
    }
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
        strobe_cli_error(command, "%s is no regular file; a trace can't be written to it", path);
        return 0;
    }
    return 1;
}

struct strobe_trace *strobe_cli_open_trace(const char *command, const char *path, unsigned flags)
{
    struct strobe_trace *trace;
    enum strobe_err err = strobe_trace_open(path, flags, &trace);
    if (err)
        strobe_cli_fail(command, path, err);
    return trace;
}

struct strobe_trace *strobe_cli_open_named(const char *command, int argc, char **argv,
                                           char room[STROBE_PATH_ROOM], const char **path)
{
    *path = strobe_cli_find_trace(command, argc, argv, optind, room);
    return *path ? strobe_cli_open_trace(command, *path, 0) : NULL;
}

/* A time such as 1.5ms; *text moves past it. 0: it is none. */
static int read_time(const char **text, int64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    char number[64];
    size_t n = strspn(*text, "+-0123456789.eE");
    for (const char *dots = strstr(*text, ".."); dots && (size_t)(dots - *text) < n;)
        n = (size_t)(dots - *text);
    if (!n || n >= sizeof number)
        return 0;
    memcpy(number, *text, n);
    number[n] = 0;
    double value = strtod(number, &end);
    if (*end)
        return 0;
    *text += n;
    double unit = 1e9;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].name);
        if (!strncmp(*text, units[i].name, length)) {
            unit = units[i].ns;
            *text += length;
            break;
        }
    }
    value *= unit;
    if (!(value > -9e18 && value < 9e18))
        return 0;
    *ns = (int64_t)value;
    return 1;
}

int strobe_cli_read_range(const char *text, struct strobe_cli_range *out)
{
    *out = (struct strobe_cli_range){1, INT64_MIN, INT64_MAX};
    if (strncmp(text, "..", 2) && !read_time(&text, &out->from_ns))
        return 0;
    if (strncmp(text, "..", 2))
        return 0;
    text += 2;
    if (*text && !read_time(&text, &out->to_ns))
        return 0;
    return !*text && out->from_ns <= out->to_ns;
}

void strobe_cli_range_ticks(const struct strobe_trace *trace, const struct strobe_cli_range *range,
                            uint64_t *tick_min, uint64_t *tick_max)
{
    *tick_min =
        range->from_ns == INT64_MIN ? 0 : strobe_clock_tick_of(&trace->clock, range->from_ns);
    *tick_max = UINT64_MAX;
    if (range->to_ns != INT64_MAX) {
        uint64_t after = strobe_clock_tick_of(&trace->clock, range->to_ns);
        *tick_max = after ? after - 1 : 0;
    }
}

uint8_t *strobe_cli_pick_processes(const char *command, const struct strobe_trace *trace,
                                   const char *wanted)
{
    uint8_t *picked = calloc(trace->n_processes + 1u, 1);
    int n_picked = 0;
    char *end, room[STROBE_NAME_ROOM];
    uint64_t pid = strtoull(wanted, &end, 10);
    int is_number = *wanted && !*end;
    for (uint32_t i = 0; picked && i < trace->n_processes; i++) {
        uint32_t n;
        const char *name = strobe_trace_process_name(trace, i, room, &n);
        picked[i] = is_number ? trace->processes[i].pid == pid : strobe_glob_fits(wanted, name);
        n_picked += picked[i];
    }
    if (n_picked)
        return picked;
    strobe_cli_error(command, "no process of this trace is called or numbered '%s'", wanted);
    free(picked);
    return NULL;
}

unsigned strobe_cli_coverage(uint64_t n_stored, uint64_t n_emitted)
{
    double part = n_emitted ? (double)n_stored / (double)n_emitted : 1;
    unsigned hundredths = n_stored == n_emitted ? 10000 : (unsigned)(part * 10000);
    return n_stored != n_emitted && hundredths >= 10000 ? 9999 : hundredths;
}

void strobe_cli_put_coverage(struct strobe_out *out, const struct strobe_trace *trace)
{
    struct strobe_coverage cover;
    char emitted[32], stored[32], dropped[32], holes[32];
    strobe_trace_coverage(trace, &cover);
    unsigned hundredths = strobe_cli_coverage(cover.n_stored, cover.n_emitted);
    strobe_out_format(out, "coverage: %u.%02u %% (%s emitted = %s stored + %s dropped", //
                      hundredths / 100, hundredths % 100,
                      strobe_number_show_count(cover.n_emitted, emitted),
                      strobe_number_show_count(cover.n_stored, stored),
                      strobe_number_show_count(cover.n_dropped, dropped));
    if (cover.n_hole_words)
        strobe_out_format(out, " + at most %s in holes",
                          strobe_number_show_count(cover.n_hole_words, holes));
    strobe_out_char(out, ')');
    if (!strobe_file_facts(trace->file)->closed)
        strobe_out_text(out,
                        " of what is in the file; it is not closed, and what more there was is "
                        "not known");
    if (trace->n_unrecorded)
        strobe_out_format(out, " of what was recorded; %u %s not", //
                          trace->n_unrecorded,
                          trace->n_unrecorded == 1 ? "process was" : "processes were");
}

void strobe_cli_put_coverage_json(struct strobe_json_writer *json, const struct strobe_trace *trace)
{
    struct strobe_coverage cover;
    strobe_trace_coverage(trace, &cover);
    strobe_json_write_u(json, "emitted", cover.n_emitted);
    strobe_json_write_u(json, "stored", cover.n_stored);
    strobe_json_write_u(json, "dropped", cover.n_dropped);
    strobe_json_write_u(json, "in_holes_at_most", cover.n_hole_words);
    strobe_json_write_u(json, "processes_not_recorded", trace->n_unrecorded);
    strobe_json_write_bool(json, "is_closed", strobe_file_facts(trace->file)->closed);
}

void strobe_cli_say_damage(const char *command, uint64_t n_holes, uint64_t hole_bytes,
                           uint64_t n_bad_parts)
{
    if (n_holes)
        strobe_cli_error(command,
                         "the file is damaged: %" PRIu64 " holes, %" PRIu64 " bytes skipped",
                         n_holes, hole_bytes);
    if (n_bad_parts)
        strobe_cli_error(command, "%" PRIu64 " runs of events could be read in part only",
                         n_bad_parts);
}

void strobe_cli_warn_damage(const char *command, const struct strobe_trace *trace,
                            uint64_t n_bad_parts)
{
    const struct strobe_file_facts *facts = strobe_file_facts(trace->file);
    strobe_cli_say_damage(command, facts->n_holes, facts->hole_bytes, n_bad_parts);
}
