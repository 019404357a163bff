/* cmd_import.c - strobe import: a file of another profiler as a trace, or a run's folder. Its first bytes say what it is. The reading is done by a
 * child that can do nothing else (cli/confined.h).
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ready.h"
#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/import_device.h"
#include "cli/import_file.h"
#include "cli/input.h"
#include "import/chrome.h"
#include "import/perfetto.h"
#include "import/stacks_file.h"
#include "tracy_file/content.h"
#include "tracy_file/import.h"

static const char help[] =
    "usage: strobe import [options] FILE | FOLDER\n"
    "\n"
    "A trace made of a file of another profiler: what Tracy 0.9 to 0.14 saved (.tracy), Chrome's "
    "JSON trace format\n"
    "(.json, .json.gz) as Chromium, PyTorch and many others write it, Perfetto's protobuf "
    "(.pftrace, "
    ".perfetto-trace); stack\n"
    "samples: perf.data, the text of perf script, speedscope's JSON, profiles of pprof, folded "
    "stacks; "
    "or the device log of\n"
    "a tt-metal run:\n"
    "profile_log_device.csv, or the folder that it is in or that has it in .logs, with the run's "
    "capture, clock samples\n"
    "and op messages where they are there.\n"
    "\n"
    "  -o, --out OUT   the trace; default: FILE with .strobe at its end, or in FOLDER\n"
    "  -f, --force     replace OUT if it is there\n"
    "\n"
    "examples:\n"
    "  strobe import run.tracy\n"
    "  strobe import trace.json.gz\n"
    "  strobe import trace.pftrace\n"
    "  perf record -g ./app && strobe import perf.data\n"
    "  strobe import cpu.pb.gz\n"
    "  strobe import generated/profiler\n"
    "  strobe import -f -o run.strobe capture.tracy\n";

/* FILE with .strobe instead of its own end; the caller frees it. */
static char *default_out(const char *path)
{
    static const char *const ends[] = {".tracy",   ".speedscope.json",
                                       ".json.gz", ".json",
                                       ".pb.gz",   ".folded",
                                       ".perf",    ".txt",
                                       ".pprof",   ".data",
                                       ".csv",     ".pftrace.gz",
                                       ".pftrace", ".perfetto-trace"};
    static const char in_folder[] = "/profile_log_device.strobe";
    size_t n = strlen(path);
    struct stat st;
    char *out = malloc(n + sizeof in_folder);
    if (!out)
        return NULL;
    if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
        while (n > 1 && path[n - 1] == '/')
            n--;
        memcpy(out, path, n);
        strcpy(out + n, in_folder);
        return out;
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t n_end = strlen(ends[i]);
        if (n > n_end && !strcmp(path + n - n_end, ends[i])) {
            n -= n_end;
            break;
        }
    }
    memcpy(out, path, n);
    strcpy(out + n, ".strobe");
    return out;
}

/* What the confined part is to do, and says by its exit code. */
struct job {
    const char *from, *to;
    struct strobe_cli_device_log *run; /* borrowed; NULL: it is another file */
    int is_pipe;
    int is_part; /* of another command, which says what came of it */
};
enum { MADE, MADE_IN_PART, MADE_NOTHING };

/* What failed leaves nothing behind, and what it did not touch alone. */
static void remove_half(const char *path, const struct stat *before)
{
    struct stat now;
    if (!stat(path, &now) &&
        (now.st_ino != before->st_ino || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
         now.st_mtim.tv_nsec != before->st_mtim.tv_nsec))
        unlink(path);
}

static int fail_chrome(const char *from, enum strobe_err err, uint64_t offset)
{
    if (err == STROBE_ERR_FORMAT)
        strobe_cli_error("import",
                         "%s: neither a .tracy file nor Chrome's JSON or Perfetto's protobuf, nor "
                         "stack samples of "
                         "perf, perf script, speedscope, pprof or folded stacks",
                         from);
    else if (err == STROBE_ERR_INVALID)
        strobe_cli_error("import", "%s: compressed, and this program was built without zlib", from);
    else if (err == STROBE_ERR_CORRUPT)
        strobe_cli_error("import", "%s: ends too early or is damaged at byte %" PRIu64, from,
                         offset);
    else
        return strobe_cli_fail("import", from, err);
    return STROBE_EXIT_FAILED;
}

static void fail_tracy(const char *from, enum strobe_err err)
{
    size_t n = strlen(from);
    int is_named = n > 6 && !strcmp(from + n - 6, ".tracy");
    if (err == STROBE_ERR_FORMAT && !is_named)
        fail_chrome(from, err, 0);
    else
        strobe_cli_tracy_fail("import", from, err);
}

static int import_tracy(void *context)
{
    const struct job *job = context;
    struct strobe_tracy_import import;
    enum strobe_err err = strobe_tracy_import(job->from, job->to, &import);
    if (err && !import.is_cut) {
        fail_tracy(job->from, err);
        return MADE_NOTHING;
    }
    fprintf(stderr,
            "strobe import: wrote %s: %" PRIu64 " zones, %" PRIu64 " GPU zones, %" PRIu64
            " messages (a file of Tracy 0.%u.%u)\n",
            job->to, import.n_zones, import.n_gpu_zones, import.n_messages, import.version / 100,
            import.version % 100);
    if (err)
        strobe_cli_tracy_fail("import", job->from, err);
    return err ? MADE_IN_PART : MADE;
}

static void say_made(const char *to, const struct strobe_timeline_result *import, const char *parts)
{
    fprintf(stderr,
            "strobe import: wrote %s: %" PRIu64 " zones, %" PRIu64 " spans, %" PRIu64
            " messages, %" PRIu64 " values, %" PRIu64 " flow points",
            to, import->n_zones, import->n_spans, import->n_messages, import->n_values,
            import->n_flows);
    if (import->n_switches)
        fprintf(stderr, ", %" PRIu64 " switches", import->n_switches);
    fprintf(stderr, " of %" PRIu64 " %s\n", import->n_events, parts);
}

typedef enum strobe_err import_timeline(const char *from, const char *to,
                                        struct strobe_timeline_result *out);

/* Chrome's JSON or Perfetto's protobuf, whose `parts` it is made of. */
static int import_events(const struct job *job, import_timeline *read, const char *parts)
{
    struct strobe_timeline_result import;
    enum strobe_err err = read(job->from, job->to, &import);
    if (err && !import.is_cut) {
        fail_chrome(job->from, err, import.offset);
        return MADE_NOTHING;
    }
    if (!job->is_part)
        say_made(job->to, &import, parts);
    if (import.n_set_aside)
        fprintf(stderr, "strobe import: set aside: %" PRIu64 " events; 'strobe info' says why\n",
                import.n_set_aside);
    if (err)
        fail_chrome(job->from, err, import.offset);
    return err ? MADE_IN_PART : MADE;
}

static int import_chrome(void *context)
{
    return import_events(context, strobe_chrome_import, "events");
}

static int import_device(void *context)
{
    const struct job *job = context;
    return strobe_cli_device_log_import(job->run, job->to);
}

static int import_stacks(const struct job *job, enum strobe_stacks_format format)
{
    struct strobe_stacks_result result;
    enum strobe_err err = strobe_stacks_file_import(job->from, job->to, format, &result);
    if (err == STROBE_ERR_FORMAT)
        strobe_cli_error("import", "%s: %s without a sample", job->from,
                         strobe_stacks_format_name(format));
    else if (err == STROBE_ERR_CORRUPT)
        strobe_cli_error("import", "%s: %s, but damaged", job->from,
                         strobe_stacks_format_name(format));
    else if (err == STROBE_ERR_INVALID && format == STROBE_STACKS_PERF_DATA)
        strobe_cli_error("import",
                         "%s: perf wrote this to a pipe; record to a file, or import the text of "
                         "perf script -i %s",
                         job->from, job->from);
    else if (err)
        strobe_cli_fail("import", job->from, err);
    if (err)
        return MADE_NOTHING;
    fprintf(stderr, "strobe import: wrote %s: %" PRIu64 " samples of %" PRIu64 " threads (%s)\n",
            job->to, result.n_samples, result.n_threads, strobe_stacks_format_name(format));
    if (result.n_set_aside)
        fprintf(stderr, "strobe import: set aside: %" PRIu64 " things; 'strobe info' says which\n",
                result.n_set_aside);
    return MADE;
}

/* Bytes that are nobody's are for the reader of .tracy files, who says so. */
int strobe_cli_is_chrome(const char *path)
{
    uint8_t first[64];
    int fd = strobe_ready_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : read(fd, first, sizeof first);
    if (fd >= 0)
        close(fd);
    return n > 0 && strobe_chrome_is_file(first, (size_t)n);
}

/* What it is, is for the confined part to find out: it may have to be unpacked. A pipe gives its bytes once: its name has to do. */
static int import_file(void *context)
{
    const struct job *job = context;
    if (job->is_pipe)
        return strstr(job->from, ".json") ? import_chrome(context) : import_tracy(context);
    if (strobe_perfetto_find(job->from))
        return import_events(job, strobe_perfetto_import, "packets");
    enum strobe_stacks_format format = strobe_stacks_file_find(job->from);
    if (format)
        return import_stacks(job, format);
    return strobe_cli_is_chrome(job->from) ? import_chrome(context) : import_tracy(context);
}

static int prepare(const struct job *job)
{
    if (job->run)
        return strobe_cli_device_log_prepare(job->run);
    return strobe_ready_prepare(job->from, O_RDONLY, 0) < 0 ? errno : 0;
}

/* Read it, by a process that can open nothing: all that it needs is open before. */
static int run(const char *from, const char *to, int force, int is_part)
{
    enum { N_UNNAMED = 14 }; /* for sorting what does not fit into memory */
    static struct strobe_cli_device_log log;
    struct job job = {from, to, strobe_cli_device_log_find(from, &log) ? &log : NULL, 0, is_part};
    struct stat before = {0}, source;
    int is_there = !stat(from, &source);
    job.is_pipe = is_there && S_ISFIFO(source.st_mode);
    if (!job.run && is_there && S_ISDIR(source.st_mode)) {
        strobe_cli_error("import",
                         "%s: a folder without a profile_log_device.csv, here or in .logs", from);
        return STROBE_EXIT_FAILED;
    }
    if (!stat(to, &before) && !force) {
        strobe_cli_error("import", "%s is there already; -f replaces it", to);
        return STROBE_EXIT_FAILED;
    }
    int (*work)(void *context) = job.run ? import_device : import_file;
    int error = prepare(&job), code = MADE_NOTHING;
    if (error)
        return strobe_cli_fail("import", from, strobe_err_from_errno(error));
    if (strobe_ready_prepare(to, O_RDWR | O_CREAT, 0600) < 0)
        return strobe_cli_fail("import", to, strobe_err_from_errno(errno));
    if (strobe_ready_prepare_folder(to, N_UNNAMED) < 0)
        strobe_cli_fail("import", to, strobe_err_from_errno(errno));
    else if (job.run)
        code = strobe_cli_confined_sized("import", from, job.run->n_bytes, work, &job);
    else
        code = strobe_cli_confined("import", from, work, &job);
    strobe_ready_forget();
    if (code != MADE && code != MADE_IN_PART)
        remove_half(to, &before);
    return code == MADE ? STROBE_EXIT_OK : STROBE_EXIT_FAILED;
}

int strobe_cli_import_file(const char *from, const char *to)
{
    return run(from, to, 0, 1);
}

int strobe_cli_import(int argc, char **argv)
{
    static const struct option known[] = {
        {"out", 1, NULL, 'o'}, {"force", 0, NULL, 'f'}, {"help", 0, NULL, 'h'}, {0}};
    const char *out = NULL;
    int force = 0;
    for (int c; (c = strobe_cli_option(argc, argv, "ho:f", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        } else if (c == 'o') {
            out = optarg;
        } else if (c == 'f') {
            force = 1;
        } else {
            return STROBE_EXIT_USAGE;
        }
    }
    if (argc != optind + 1) {
        strobe_cli_error("import", "which file? 'strobe import --help' tells more");
        return STROBE_EXIT_USAGE;
    }
    char *made = out ? NULL : default_out(argv[optind]);
    int code = out || made ? run(argv[optind], out ? out : made, force, 0)
                           : strobe_cli_fail("import", argv[optind], STROBE_ERR_NOMEM);
    free(made);
    return code;
}
