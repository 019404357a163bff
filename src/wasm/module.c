/* module.c - the engine as the page's WebAssembly module. The page hands over questions as text and gets frames
 * (docs/viewer-protocol.md); bytes of the trace come from the page's two functions below. One trace per
 * instance. After a trap the instance is of no use any more.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ready.h"
#include "engine/engine.h"

#define EXPORT(name) __attribute__((export_name(name), used))
#define IMPORT(name) __attribute__((import_module("strobe"), import_name(name)))

/* ---- the page ---- */

/* Put n bytes at `offset` of the trace to `out`; 0: it can't be read, or ends before. */
IMPORT("read") int strobe_page_read(void *out, uint32_t n, double offset);
/* Bytes of the trace. */
IMPORT("size") double strobe_page_size(void);

static enum strobe_err read_at(void *context, void *out, size_t n, uint64_t offset)
{
    double at = (double)offset;
    (void)context;
    if (at + (double)n > strobe_page_size())
        return STROBE_ERR_END;
    return strobe_page_read(out, (uint32_t)n, at) ? STROBE_OK : STROBE_ERR_IO;
}

static enum strobe_err size(void *context, uint64_t *n_bytes)
{
    (void)context;
    *n_bytes = (uint64_t)strobe_page_size();
    return STROBE_OK;
}

/* Sorts would put what is too much for memory into a file (base/sort.h): there are none. */
int strobe_ready_unnamed(const char *folder)
{
    (void)folder;
    errno = ENOSYS;
    return -1;
}

/* ---- opening ---- */

static struct strobe_engine *engine;
static struct strobe_json question;
static size_t n_frame;

/* What to do with a file that is no trace. */
static const char *words_for(enum strobe_err err)
{
    char start[64] = {0};
    size_t n =
        strobe_page_size() < (double)sizeof start ? (size_t)strobe_page_size() : sizeof start;
    if (err != STROBE_ERR_FORMAT)
        return err == STROBE_ERR_VERSION ? "the trace is of a newer version than this page reads"
                                         : strobe_err_text(err);
    if (!n)
        return "this file is empty";
    if (!strobe_page_read(start, (uint32_t)n, 0))
        return strobe_err_text(STROBE_ERR_IO);
    if (!memcmp(start, "tlZ", 3) || !memcmp(start, "tZst", 4) || !memcmp(start, "tr\xfdP", 4) ||
        !memcmp(start, "tracy", 5))
        return "this is a trace of Tracy: dropped on a page of `strobe view` it is shown, `strobe "
               "import FILE` makes a .strobe trace of it";
    size_t blanks = strspn(start, " \t\r\n");
    if ((blanks < n && strchr("{[", start[blanks])) || !memcmp(start, "\x1f\x8b", 2))
        return "this looks like a trace in JSON: dropped on a page of `strobe view` it is shown, "
               "`strobe import FILE` makes a .strobe trace of it";
    return "this is no .strobe trace: its first bytes are others";
}

static enum strobe_err open_trace(const char *name)
{
    static const struct strobe_source source = {.read_at = read_at, .size = size};
    struct strobe_file *file;
    struct strobe_trace *trace;
    enum strobe_err err = strobe_file_open_source(&source, &file);
    if (!err)
        err = strobe_trace_open_file(file, 0, &trace);
    return err ? err : strobe_engine_open(trace, name, &engine);
}

/* ---- what the page calls ---- */

/* Memory for a name or a question; the page writes into it, and frees what it gets by strobe_module_free. */
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

/* Open the trace, once; `name` with a NUL behind; `is_held`: strobe_engine_hold. A frame that says `opened`, or why not. */
EXPORT("open") uint8_t *strobe_module_open(const char *name, uint32_t is_held)
{
    struct strobe_reply reply = {0};
    enum strobe_err err = open_trace(name);
    if (err)
        strobe_engine_answer_error(&reply, words_for(err));
    else
        strobe_reply_bool(&reply, "opened", 1);
    if (!err && is_held)
        strobe_engine_hold(engine);
    return strobe_reply_finish(&reply, 0, 0, &n_frame);
}

/* The frame of a question's answer; NULL: no memory. */
EXPORT("ask") uint8_t *strobe_module_ask(const char *text, uint32_t n)
{
    struct strobe_reply reply = {0};
    int is_json = strobe_json_parse(&question, text, n);
    uint32_t id = is_json ? (uint32_t)strobe_engine_count(&question, "id", 0, UINT32_MAX) : 0;
    strobe_reply_u64(&reply, "id", id);
    if (!is_json)
        strobe_engine_answer_error(&reply, "this is no question");
    else if (!engine)
        strobe_engine_answer_error(&reply, "no trace is open");
    else
        strobe_engine_answer(engine, &question, &reply);
    return strobe_reply_finish(&reply, id, 0, &n_frame);
}
