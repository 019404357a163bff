/* content_code.c - functions of the program, their machine code, and source files that a server kept: sections 30, 31 and 33
 * of a .tracy file.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "tracy_file/content.h"

static enum strobe_err read_function(struct strobe_tracy_content *content,
                                     const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    struct strobe_tracy_function function = {.start = strobe_tracy_u64(in)};
    function.name = strobe_tracy_read_idx(content);
    function.file = strobe_tracy_read_idx(content);
    function.line = strobe_tracy_u32(in);
    function.image = strobe_tracy_read_idx(content);
    function.call_file = strobe_tracy_read_idx(content);
    function.call_line = strobe_tracy_u32(in);
    function.is_inline = strobe_tracy_u8(in);
    function.size = strobe_tracy_u24(in);
    if (!in->err)
        STROBE_TRACY_TELL(function, &function);
    return in->err;
}

enum strobe_err strobe_tracy_read_functions(struct strobe_tracy_content *content,
                                            const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    strobe_tracy_skip(in, 16); /* counts of those that are whole functions, and of inlined ones */
    uint64_t n = strobe_tracy_u64(in);
    return visitor->function ? strobe_tracy_read_each(content, visitor, n, read_function)
                             : strobe_tracy_skip_items(content, n, 32);
}

/* Hand the `total` bytes that follow to a hook, so many at a time as there are in one run. One that is empty is one empty piece. */
static enum strobe_err read_pieces(struct strobe_tracy_content *content,
                                   enum strobe_err (*hook)(void *context,
                                                           const struct strobe_tracy_piece *piece),
                                   void *context, struct strobe_tracy_piece *piece)
{
    struct strobe_tracy_bytes *in = &content->in;
    if (!hook) {
        strobe_tracy_skip(in, piece->total);
        return in->err;
    }
    do {
        uint32_t left = piece->total - piece->offset;
        piece->n_bytes = left < STROBE_TRACY_PIECE ? left : STROBE_TRACY_PIECE;
        piece->bytes = strobe_tracy_get(in, piece->n_bytes);
        enum strobe_err err = in->err ? in->err : hook(context, piece);
        if (err)
            return err;
        piece->offset += piece->n_bytes;
        STROBE_ASSERT(piece->offset <= piece->total);
    } while (piece->offset < piece->total);
    return STROBE_OK;
}

static enum strobe_err read_code(struct strobe_tracy_content *content,
                                 const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_piece piece = {.start = strobe_tracy_u64(&content->in)};
    piece.total = strobe_tracy_u32(&content->in);
    return read_pieces(content, visitor->code, visitor->context, &piece);
}

/* The code, and a table that says which function an address of a call stack is in: the frames of the stacks say it too. */
enum strobe_err strobe_tracy_read_code(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    enum strobe_err err = strobe_tracy_read_each(content, visitor, strobe_tracy_u64(in), read_code);
    return err ? err : strobe_tracy_skip_items(content, strobe_tracy_u64(in), 16);
}

static enum strobe_err read_source(struct strobe_tracy_content *content,
                                   const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    char path[STROBE_TRACY_PIECE];
    uint32_t n_path = strobe_tracy_u32(in);
    struct strobe_tracy_piece piece = {.path = path, .n_path = n_path};
    if (n_path > sizeof path)
        piece.n_path = sizeof path;
    strobe_tracy_copy(in, path, piece.n_path);
    strobe_tracy_skip(in, n_path - piece.n_path);
    piece.total = strobe_tracy_u32(in);
    return read_pieces(content, visitor->source, visitor->context, &piece);
}

enum strobe_err strobe_tracy_read_sources(struct strobe_tracy_content *content,
                                          const struct strobe_tracy_visitor *visitor)
{
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(&content->in), read_source);
}
