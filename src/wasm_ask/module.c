/* module.c - the asker as a WebAssembly module of the page, with SQLite in it: it is loaded when the first long question is asked
 * (docs/viewer-protocol.md). Bytes of traces come from the page's functions below; a trace's path is its number there, 0 the one that is
 * shown. Stopping is the page's: it ends the worker.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/asker.h"
#include "base/ready.h"
#include "query/trace.h"

#define EXPORT(name) __attribute__((export_name(name), used))
#define IMPORT(name) __attribute__((import_module("strobe"), import_name(name)))

/* ---- the page ---- */

/* Put n bytes at `offset` of a trace to `out`; 0: it can't be read, or ends before. */
IMPORT("read") int strobe_page_read(uint32_t trace, void *out, uint32_t n, double offset);
/* Bytes of a trace; below 0: there is none of that number. */
IMPORT("size") double strobe_page_size(uint32_t trace);
/* The number of the trace of that name, -1: there is none. */
IMPORT("find") int32_t strobe_page_find_trace(const char *name, uint32_t n);

static enum strobe_err read_at(void *context, void *out, size_t n, uint64_t offset)
{
    uint32_t trace = (uint32_t)(uintptr_t)context;
    double at = (double)offset;
    if (at + (double)n > strobe_page_size(trace))
        return STROBE_ERR_END;
    return strobe_page_read(trace, out, (uint32_t)n, at) ? STROBE_OK : STROBE_ERR_IO;
}

static enum strobe_err size(void *context, uint64_t *n_bytes)
{
    *n_bytes = (uint64_t)strobe_page_size((uint32_t)(uintptr_t)context);
    return STROBE_OK;
}

enum strobe_err strobe_trace_open(const char *path, unsigned flags, struct strobe_trace **out)
{
    uint32_t number = (uint32_t)strtoul(path, NULL, 10);
    struct strobe_source source = {
        .read_at = read_at, .size = size, .context = (void *)(uintptr_t)number};
    struct strobe_file *file;
    *out = NULL;
    if (strobe_page_size(number) < 0)
        return STROBE_ERR_NOTFOUND;
    enum strobe_err err = strobe_file_open_source(&source, &file);
    return err ? err : strobe_trace_open_file(file, flags, out);
}

/* Sorts would put what is too much for memory into a file (base/sort.h): there are none. */
int strobe_ready_unnamed(const char *folder)
{
    (void)folder;
    errno = ENOSYS;
    return -1;
}

static int find_trace(void *context, const char *name, char path[STROBE_ASKER_PATH_ROOM])
{
    int32_t number = strobe_page_find_trace(name, (uint32_t)strlen(name));
    (void)context;
    snprintf(path, STROBE_ASKER_PATH_ROOM, "%d", (int)number);
    return number >= 0;
}

/* ---- what the page calls ---- */

static size_t n_frame;

/* Memory for a question; the page writes into it, and frees what it gets by strobe_module_free. */
EXPORT("alloc") void *strobe_module_alloc(uint32_t n)
{
    return malloc(n);
}

EXPORT("free") void strobe_module_free(void *memory)
{
    free(memory);
}

/* Bytes of the frame that was handed out last. */
EXPORT("frame_bytes") uint32_t strobe_module_frame_bytes(void)
{
    return (uint32_t)n_frame;
}

/* The frame of a question's answer; NULL: no memory. */
EXPORT("ask") uint8_t *strobe_module_ask(const char *text, uint32_t n)
{
    static const struct strobe_asker_host host = {find_trace, NULL};
    static struct strobe_asker asker = {.path = "0", .host = &host};
    static struct strobe_json question;
    struct strobe_reply reply = {0};
    int is_json = strobe_json_parse(&question, text, n);
    uint32_t id = is_json ? (uint32_t)strobe_json_count(
                                &question, strobe_json_member(&question, 0, "id"), 0, UINT32_MAX)
                          : 0;
    strobe_reply_u64(&reply, "id", id);
    if (is_json)
        strobe_asker_answer(&asker, &question, &reply);
    else
        strobe_reply_string(&reply, "error", "this is no question");
    return strobe_reply_finish(&reply, id, 0, &n_frame);
}
