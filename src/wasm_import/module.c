/* module.c - the importers as the page's second WebAssembly module: files of other profilers become a trace, in the page. The page names the
 * files that were dropped and gets words; bytes go through its files (files.c). One import per instance.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/out.h"
#include "base/ready.h"
#include "device_import/device_log.h"
#include "device_import/pick.h"
#include "import/chrome.h"
#include "import/perfetto.h"
#include "import/stacks_file.h"
#include "query/pair.h"
#include "tracy_file/content.h"
#include "tracy_file/import.h"

#define EXPORT(name) __attribute__((export_name(name), used))

enum { MAX_PATHS = 4096 };
static const char made_path[] = "trace.strobe"; /* the page's name for what is made */

static struct strobe_out words; /* of the last import */

/* A trace that is made in the page is paired by its reader. */
enum strobe_err strobe_pair_write(struct strobe_file_writer *writer, const char *folder)
{
    (void)writer;
    (void)folder;
    return STROBE_OK;
}

/* ---- one import ---- */

static void say_count(const char *before, uint64_t n, const char *what)
{
    strobe_out_text(&words, before);
    strobe_out_u(&words, n);
    strobe_out_text(&words, what);
}

static enum strobe_err import_tracy(const char *path)
{
    struct strobe_tracy_import made = {0};
    enum strobe_err err = strobe_tracy_import(path, made_path, &made);
    if (err && !made.is_cut)
        return err;
    say_count("", made.n_zones, " zones");
    say_count(", ", made.n_gpu_zones, " GPU zones");
    say_count(", ", made.n_messages, " messages of a Tracy trace");
    strobe_out_text(&words, err ? "; the file is cut short or damaged" : "");
    return STROBE_OK;
}

typedef enum strobe_err import_timeline(const char *from, const char *to,
                                        struct strobe_timeline_result *out);

static enum strobe_err import_events(const char *path, import_timeline *read, const char *of)
{
    struct strobe_timeline_result made = {0};
    enum strobe_err err = read(path, made_path, &made);
    if (err && !made.is_cut)
        return err;
    say_count("", made.n_zones, " zones");
    say_count(", ", made.n_spans, " spans of ");
    strobe_out_text(&words, of);
    if (made.n_set_aside)
        say_count("; ", made.n_set_aside, " events were set aside: the panel Info says why");
    if (err)
        say_count("; the file ends too early or is damaged at byte ", made.offset, "");
    return STROBE_OK;
}

static enum strobe_err import_stacks(const char *path, enum strobe_stacks_format format)
{
    struct strobe_stacks_result made = {0};
    enum strobe_err err = strobe_stacks_file_import(path, made_path, format, &made);
    if (err)
        return err;
    say_count("", made.n_samples, " samples");
    say_count(" of ", made.n_threads, made.n_threads == 1 ? " thread (" : " threads (");
    strobe_out_text(&words, strobe_stacks_format_name(format));
    strobe_out_text(&words, ")");
    if (made.n_set_aside)
        say_count("; ", made.n_set_aside, " things were set aside: the panel Info says which");
    return STROBE_OK;
}

static enum strobe_err import_device(const char *const *paths, size_t n_paths, const char *log)
{
    struct strobe_device_log_picked picked;
    struct strobe_device_log_import made = {0};
    strobe_device_log_pick(paths, n_paths, log, &picked);
    const char *slash = strrchr(log, '/');
    char *folder = strndup(slash ? log : ".", slash ? (size_t)(slash - log) : 1);
    if (!folder)
        return STROBE_ERR_NOMEM;
    struct strobe_device_log_files files = {.log = log,
                                            .sync = picked.sync,
                                            .sources = picked.sources,
                                            .new_sources = picked.new_sources,
                                            .folder = picked.messages ? folder : NULL,
                                            .logs = folder,
                                            .tracy = picked.tracy};
    enum strobe_err err = strobe_device_log_import(&files, made_path, &made);
    free(folder);
    if (err)
        return err;
    say_count("", made.n_zones, " zones");
    say_count(" of ", made.n_devices, made.n_devices == 1 ? " device" : " devices");
    say_count(", ", made.n_named_ops, " of ");
    say_count("", made.n_ops, " ops by name");
    strobe_out_text(&words, made.has_host ? ", beside the host's capture" : "");
    if (made.host_err)
        strobe_out_text(&words, "; the host's capture can't be read");
    return STROBE_OK;
}

/* ---- which importer ---- */

static size_t first_bytes(const char *path, uint8_t *out, size_t room)
{
    int fd = strobe_ready_open(path, 0, 0);
    ssize_t n = fd < 0 ? -1 : read(fd, out, room);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* Of a file alone; one that is nobody's is for the reader of .tracy files, who says so. */
static enum strobe_err import_file(const char *path, const uint8_t *first, size_t n)
{
    if (strobe_perfetto_find(path))
        return import_events(path, strobe_perfetto_import, "a trace of Perfetto");
    enum strobe_stacks_format format = strobe_stacks_file_find(path);
    if (format)
        return import_stacks(path, format);
    return strobe_chrome_is_file(first, n)
               ? import_events(path, strobe_chrome_import, "Chrome's JSON")
               : import_tracy(path);
}

static enum strobe_err import_files(const char *const *paths, size_t n_paths)
{
    uint8_t first[64];
    const char *log = strobe_device_log_pick_log(paths, n_paths);
    if (log)
        return import_device(paths, n_paths, log);
    for (size_t i = 0; i < n_paths; i++) {
        size_t n = first_bytes(paths[i], first, sizeof first);
        if (strobe_device_log_is_file(first, n))
            return import_device(paths, n_paths, paths[i]);
        if (n_paths == 1)
            return import_file(paths[i], first, n);
    }
    return STROBE_ERR_FORMAT;
}

static const char *words_for(enum strobe_err err)
{
    if (err == STROBE_ERR_FORMAT)
        return "neither a trace of Strobe or Tracy, nor Chrome's JSON or a trace of Perfetto, nor "
               "stack samples of perf, speedscope, pprof or folded stacks, nor the device log of a "
               "run";
    return err == STROBE_ERR_VERSION ? "the file is of a version that is not read"
                                     : strobe_err_text(err);
}

/* ---- what the page calls ---- */

EXPORT("alloc") void *strobe_module_alloc(uint32_t n)
{
    return malloc(n);
}

/* Make a trace of the files whose paths, each with a NUL behind, are in `list`. JSON with a NUL behind, until the next call:
 * `words` of what was made, or `error`. NULL: no memory. */
EXPORT("import") const char *strobe_module_import(const char *list, uint32_t n_bytes)
{
    static const char *paths[MAX_PATHS];
    static struct strobe_out answer;
    size_t n_paths = 0;
    for (const char *at = list; at < list + n_bytes && n_paths < MAX_PATHS; at += strlen(at) + 1)
        paths[n_paths++] = at;
    strobe_out_clear(&words);
    strobe_out_clear(&answer);
    enum strobe_err err = n_paths ? import_files(paths, n_paths) : STROBE_ERR_INVALID;
    const char *text = err ? words_for(err) : strobe_out_string(&words);
    strobe_out_text(&answer, err ? "{\"error\":" : "{\"words\":");
    strobe_out_json(&answer, text, strlen(text));
    strobe_out_text(&answer, "}");
    return answer.error ? NULL : strobe_out_string(&answer);
}
