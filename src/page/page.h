/* page.h - the viewer's files (web/, the engine as engine.wasm.gz, SQL and its like as ask.wasm.gz, the importers as import.wasm.gz and a
 * disassembler as code.wasm.gz), linked into the binary. A room without code that does anything:
 * who serves or exports the page takes its files from here.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PAGE_PAGE_H
#define STROBE_PAGE_PAGE_H

#include <stddef.h>

/* The engine as a WebAssembly module; not there where the build had no tools to make it. */
#define STROBE_PAGE_MODULE "engine.wasm.gz"
/* What answers long questions: SQL, explain, compare; likewise. */
#define STROBE_PAGE_ASK_MODULE "ask.wasm.gz"

struct strobe_page_file {
    const char *path;           /* below web/, with slashes: "view/draw.js" */
    const char *type;           /* for Content-Type: "text/javascript; charset=utf-8" */
    const unsigned char *bytes; /* static */
    const unsigned char *end;   /* a NUL is there */
};

static inline size_t strobe_page_size(const struct strobe_page_file *file)
{
    return (size_t)(file->end - file->bytes);
}

/* All of them, by path. Static. */
const struct strobe_page_file *strobe_page_files(size_t *n_files);

/* One of them; NULL: there is none of that path. */
const struct strobe_page_file *strobe_page_find(const char *path);

#endif
