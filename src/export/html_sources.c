/* html_sources.c - source files for a page with a trace in it: those that symbols of the trace name, as texts by path.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "export/html.h"
#include "query/source_files.h"
#include "query/stack_symbols.h"

enum { MAX_BYTES = 8 << 20, MAX_FILES = 4096 };

/* A file that is named for the first time. 0: that is enough. */
static int put_file(struct strobe_trace *trace, const char *path, struct strobe_json_writer *json,
                    size_t *n_left, uint32_t *n_files)
{
    const char *why;
    size_t n = 0;
    char *text = strobe_source_file_read(trace, path, &n, &why);
    if (text && n <= *n_left) {
        strobe_json_write_name(json, path, strlen(path));
        strobe_json_write_text(json, NULL, text, n);
        *n_left -= n;
        ++*n_files;
    }
    free(text);
    return *n_files < MAX_FILES && !json->out->error;
}

char *strobe_html_sources(struct strobe_trace *trace, uint32_t *n_files)
{
    struct strobe_stack_symbols symbols = {0};
    struct strobe_out out = {0};
    struct strobe_json_writer json = {.out = &out};
    struct strobe_idmap seen = {0};
    size_t n_left = MAX_BYTES;
    *n_files = 0;
    enum strobe_err err = strobe_stack_symbols_load(trace, &symbols);
    strobe_json_write_open(&json, NULL, '{');
    for (uint32_t i = 0; !err && i < symbols.n_rows; i++) {
        uint32_t known = seen.n, file = symbols.rows[i].file;
        const char *path = strobe_texts_get(&symbols.texts, file, NULL);
        if (*path && strobe_idmap_add(&seen, 0, file) == known &&
            !put_file(trace, path, &json, &n_left, n_files))
            break;
    }
    strobe_json_write_close(&json, '}');
    strobe_out_char(&out, 0);
    strobe_idmap_free(&seen);
    strobe_stack_symbols_free(&symbols);
    if (!err && !out.error)
        return out.at;
    strobe_out_free(&out);
    return NULL;
}
