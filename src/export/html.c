/* html.c - puts page and trace into one file.
 *
 *   <style>               style sheets, allowed by their hash
 *   <script type="text/plain" data-path="…">   each module as text; never run as such
 *   <script type="text/plain" id="module">     the engine: WebAssembly, compressed, base64
 *   <script type="text/plain" id="ask">        what answers long questions, where it is wanted: likewise
 *   <script type="text/plain" id="notes">      the notes that people made on it, JSON
 *   <script type="text/plain" id="sources">    source files, JSON, where they were asked for
 *   <script type="text/plain" id="code">       the disassembler, likewise
 *   <script type="text/plain" id="trace">      the trace's name, its size, how many of the pieces below come first
 *   <script>              web/single.js, allowed by its hash: makes blobs of the modules and starts
 *   <script type="text/plain" data-trace="…">  the trace in pieces, base64: html_runs.c
 *
 * The policy allows scripts with that hash and blobs only, so that nothing in a trace can run.
 * SPDX-License-Identifier: MIT */
#include "export/html.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/sha256.h"
#include "export/html_runs.h"
#include "page/page.h"

#define DISASSEMBLER "code.wasm.gz"

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && !strcmp(text + n - n_end, end);
}

/* 'sha256-…' of a file as it will stand between its tags. */
static void put_hash(struct strobe_out *out, const struct strobe_page_file *file)
{
    uint8_t hash[32];
    strobe_sha256_of(file->bytes, strobe_page_size(file), hash);
    strobe_out_text(out, " 'sha256-");
    strobe_html_put_base64(out, hash, sizeof hash);
    strobe_out_char(out, '\'');
}

/* The text of a script element must not hold its end: "</script" becomes "<\/script". */
static void put_script(struct strobe_out *out, const struct strobe_page_file *file)
{
    const char *at = (const char *)file->bytes, *end = at + strobe_page_size(file);
    while (at < end) {
        const char *less = memchr(at, '<', (size_t)(end - at));
        if (!less || end - less < 8 || strncasecmp(less, "</script", 8)) {
            const char *next = less ? less + 1 : end;
            strobe_out_bytes(out, at, (size_t)(next - at));
            at = next;
            continue;
        }
        strobe_out_bytes(out, at, (size_t)(less - at));
        strobe_out_text(out, "<\\/script");
        at = less + 8;
    }
}

static void put_policy(struct strobe_out *out, const struct strobe_page_file *files, size_t n_files)
{
    strobe_out_text(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                         "'none'; script-src 'wasm-unsafe-eval' blob:");
    put_hash(out, strobe_page_find("single.js"));
    strobe_out_text(out, "; worker-src blob:; img-src data: blob:; style-src");
    for (size_t i = 0; i < n_files; i++)
        if (ends_with(files[i].path, ".css"))
            put_hash(out, &files[i]);
    strobe_out_text(out, "; base-uri 'none'; form-action 'none'\">\n");
}

static void put_module(struct strobe_out *out, const char *id, const struct strobe_page_file *file)
{
    strobe_out_format(out, "<script type=\"text/plain\" id=\"%s\">", id);
    strobe_html_put_base64(out, file->bytes, strobe_page_size(file));
    strobe_out_text(out, "</script>\n");
}

static void put_files(struct strobe_out *out, const struct strobe_page_file *files, size_t n_files,
                      int with_sql)
{
    for (size_t i = 0; i < n_files; i++) {
        const struct strobe_page_file *file = &files[i];
        if (ends_with(file->path, ".css")) {
            strobe_out_text(out, "<style>");
            strobe_out_bytes(out, (const char *)file->bytes, strobe_page_size(file));
            strobe_out_text(out, "</style>\n");
        } else if (!strcmp(file->path, STROBE_PAGE_MODULE)) {
            put_module(out, "module", file);
        } else if (with_sql && !strcmp(file->path, STROBE_PAGE_ASK_MODULE)) {
            put_module(out, "ask", file);
        } else if (!ends_with(file->path, ".html") && !ends_with(file->path, ".gz") &&
                   strcmp(file->path, "single.js")) { /* other modules stay with the server */
            strobe_out_format(out, "<script type=\"text/plain\" data-path=\"%s\">", file->path);
            put_script(out, file);
            strobe_out_text(out, "</script>\n");
        }
    }
}

/* In text and in attributes. */
static void put_escaped(struct strobe_out *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            strobe_out_text(out, "&lt;");
        else if (*text == '&')
            strobe_out_text(out, "&amp;");
        else if (*text == '"')
            strobe_out_text(out, "&quot;");
        else
            strobe_out_char(out, *text);
    }
}

/* JSON has '<' in strings only, where it can be escaped. */
static void put_json(struct strobe_out *out, const char *id, const char *text)
{
    strobe_out_format(out, "<script type=\"text/plain\" id=\"%s\">", id);
    for (; *text; text++) {
        if (*text == '<')
            strobe_out_text(out, "\\u003c");
        else
            strobe_out_char(out, *text);
    }
    strobe_out_text(out, "</script>\n");
}

static void put_trace_tag(struct strobe_out *out, const struct strobe_html_options *options,
                          const struct strobe_html_runs *runs)
{
    strobe_out_text(out, "<script type=\"text/plain\" id=\"trace\" data-name=\"");
    put_escaped(out, options->name);
    strobe_out_char(out, '"');
    if (options->is_piece)
        strobe_out_text(out, " data-piece=\"1\"");
    if (options->has_range)
        strobe_out_format(out, " data-view=\"%" PRId64 ",%" PRId64 "\"", options->from_ns,
                          options->to_ns);
    strobe_out_format(out, " data-bytes=\"%" PRIu64 "\" data-first=\"%" PRIu64 "\"></script>\n",
                      runs->n_bytes, strobe_html_runs_first_pieces(runs));
    strobe_out_text(out, "<script>");
}

enum strobe_err strobe_html_write(int fd, const struct strobe_html_options *options,
                                  struct strobe_out *out)
{
    size_t n_files;
    const struct strobe_page_file *files = strobe_page_files(&n_files);
    struct strobe_html_runs runs = {0};
    enum strobe_err err = strobe_html_runs_find(fd, &runs);
    if (err) {
        strobe_html_runs_free(&runs);
        return err;
    }
    strobe_out_text(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put_policy(out, files, n_files);
    strobe_out_text(out, "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    put_escaped(out, options->name);
    strobe_out_text(out, " – Strobe</title>\n");
    put_files(out, files, n_files, options->with_sql);
    strobe_out_text(out, "</head>\n<body>\n");
    if (options->notes)
        put_json(out, "notes", options->notes);
    if (options->sources)
        put_json(out, "sources", options->sources);
    if (options->sources && strobe_page_find(DISASSEMBLER))
        put_module(out, "code", strobe_page_find(DISASSEMBLER));
    put_trace_tag(out, options, &runs);
    const struct strobe_page_file *start = strobe_page_find("single.js");
    strobe_out_bytes(out, (const char *)start->bytes, strobe_page_size(start));
    strobe_out_text(out, "</script>\n");
    err = strobe_html_runs_put(&runs, fd, out);
    strobe_html_runs_free(&runs);
    strobe_out_text(out, "</body>\n</html>\n");
    return err;
}
