/* cmd_import.c - strobe import: a file of another profiler as a trace. What it is, is told by its first bytes.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "import/chrome.h"
#include "tracy_file/content.h"
#include "tracy_file/import.h"

static const char help[] =
    "usage: strobe import [options] FILE\n"
    "\n"
    "A trace made of a file of another profiler: what Tracy 0.9 to 0.14 saved (.tracy), or "
    "Chrome's "
    "JSON trace format\n"
    "(.json, .json.gz) as Chromium, Perfetto, PyTorch and many others write it.\n"
    "\n"
    "  -o, --out OUT   the trace; default: FILE with .strobe at its end\n"
    "  -f, --force     replace OUT if it is there\n"
    "\n"
    "examples:\n"
    "  strobe import run.tracy\n"
    "  strobe import trace.json.gz\n"
    "  strobe import -f -o run.strobe capture.tracy\n";

/* FILE with .strobe instead of its own end; the caller frees it. */
static char *default_out(const char *path)
{
    static const char *const ends[] = {".tracy", ".json.gz", ".json"};
    size_t n = strlen(path);
    char *out = malloc(n + 8);
    if (!out)
        return NULL;
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
        strobe_cli_error("import", "%s: neither a .tracy file nor Chrome's JSON", from);
    else if (err == STROBE_ERR_INVALID)
        strobe_cli_error("import", "%s: compressed, and this program was built without zlib", from);
    else if (err == STROBE_ERR_CORRUPT)
        strobe_cli_error("import", "%s: ends too early or is damaged at byte %" PRIu64, from,
                         offset);
    else
        return strobe_cli_fail("import", from, err);
    return STROBE_EXIT_FAILED;
}

static int import_tracy(const char *from, const char *to)
{
    struct strobe_tracy_import import;
    struct stat before = {0};
    stat(to, &before);
    enum strobe_err err = strobe_tracy_import(from, to, &import);
    if (err && !import.is_cut) {
        size_t n = strlen(from);
        int is_named = n > 6 && !strcmp(from + n - 6, ".tracy");
        remove_half(to, &before);
        return err == STROBE_ERR_FORMAT && !is_named ? fail_chrome(from, err, 0)
                                                     : strobe_cli_tracy_fail("import", from, err);
    }
    fprintf(stderr,
            "strobe import: wrote %s: %" PRIu64 " zones, %" PRIu64 " GPU zones, %" PRIu64
            " messages (a file of Tracy 0.%u.%u)\n",
            to, import.n_zones, import.n_gpu_zones, import.n_messages, import.version / 100,
            import.version % 100);
    return err ? strobe_cli_tracy_fail("import", from, err) : STROBE_EXIT_OK;
}

static int import_chrome(const char *from, const char *to)
{
    struct strobe_chrome_import import;
    struct stat before = {0};
    stat(to, &before);
    enum strobe_err err = strobe_chrome_import(from, to, &import);
    if (err && !import.is_cut) {
        remove_half(to, &before);
        return fail_chrome(from, err, import.offset);
    }
    fprintf(stderr,
            "strobe import: wrote %s: %" PRIu64 " zones, %" PRIu64 " spans, %" PRIu64
            " messages, %" PRIu64 " values, %" PRIu64 " flow points of %" PRIu64 " events\n",
            to, import.n_zones, import.n_spans, import.n_messages, import.n_values, import.n_flows,
            import.n_events);
    if (import.n_set_aside)
        fprintf(stderr, "strobe import: set aside: %" PRIu64 " events; 'strobe info' says why\n",
                import.n_set_aside);
    return err ? fail_chrome(from, err, import.offset) : STROBE_EXIT_OK;
}

/* Bytes that are nobody's are for the reader of .tracy files, who says so. */
static int is_chrome(const char *path)
{
    uint8_t first[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, first, sizeof first);
    if (fd >= 0)
        close(fd);
    return n > 0 && strobe_chrome_is_file(first, (size_t)n);
}

static int run(const char *from, const char *to, int force)
{
    struct stat st;
    if (!force && !stat(to, &st)) {
        strobe_cli_error("import", "%s is there already; -f replaces it", to);
        return STROBE_EXIT_FAILED;
    }
    return is_chrome(from) ? import_chrome(from, to) : import_tracy(from, to);
}

int strobe_cli_import(int argc, char **argv)
{
    static const struct option known[] = {
        {"out", 1, NULL, 'o'}, {"force", 0, NULL, 'f'}, {"help", 0, NULL, 'h'}, {0}};
    const char *out = NULL;
    int force = 0;
    for (int c; (c = getopt_long(argc, argv, "ho:f", known, NULL)) != -1;) {
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
    int code = out || made ? run(argv[optind], out ? out : made, force)
                           : strobe_cli_fail("import", argv[optind], STROBE_ERR_NOMEM);
    free(made);
    return code;
}
