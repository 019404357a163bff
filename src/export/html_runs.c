/* html_runs.c - the trace in an exported page, piece by piece. A browser takes long texts in pieces in half the time, and the page, which
 * begins before them, can say how far they are. Each piece is whole threes of bytes, but for the last of each kind, and has base64 of
 * its own.  SPDX-License-Identifier: MIT */
#include "export/html_runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "file/file_read.h"

enum { PIECE = 3 << 18 };

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void strobe_html_put_base64(struct strobe_out *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? bytes[i + 2] : 0);
        char *at = strobe_out_reserve(out);
        at[0] = digits[three >> 18];
        at[1] = digits[three >> 12 & 63];
        at[2] = i + 1 < n ? digits[three >> 6 & 63] : '=';
        at[3] = i + 2 < n ? digits[three & 63] : '=';
        out->len += 4;
    }
}

/* ---- which ---- */

/* The bytes from `from` to `to` are first, if there are any. */
static enum strobe_err add_first(struct strobe_html_runs *runs, uint64_t from, uint64_t to)
{
    if (from >= to)
        return STROBE_OK;
    struct strobe_html_run *run = STROBE_ARRAY_PUSH(runs->first, runs->n_first, runs->first_room);
    if (!run)
        return STROBE_ERR_NOMEM;
    *run = (struct strobe_html_run){from, to - from};
    runs->n_first_bytes += to - from;
    return STROBE_OK;
}

/* A block of events: behind the one before, or after what is first. */
static enum strobe_err add_events(struct strobe_html_runs *runs, const struct strobe_block_ref *ref,
                                  uint64_t *end)
{
    if (ref->offset < *end || ref->n_bytes > runs->n_bytes - ref->offset)
        return STROBE_OK; /* of a file that changes */
    enum strobe_err err = add_first(runs, *end, ref->offset);
    if (!err && runs->n_rest && *end == ref->offset) {
        runs->rest[runs->n_rest - 1].n_bytes += ref->n_bytes;
    } else if (!err) {
        struct strobe_html_run *run = STROBE_ARRAY_PUSH(runs->rest, runs->n_rest, runs->rest_room);
        if (!run)
            return STROBE_ERR_NOMEM;
        *run = (struct strobe_html_run){ref->offset, ref->n_bytes};
    }
    *end = ref->offset + ref->n_bytes;
    return err;
}

static enum strobe_err find_events(struct strobe_file *file, struct strobe_html_runs *runs,
                                   uint64_t *end)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS, .unread = 1};
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    enum strobe_err err = strobe_file_iterate(file, &filter, &iter);
    while (!err && (err = strobe_file_next(iter, &ref)) == STROBE_OK)
        err = ref.offset < runs->n_bytes ? add_events(runs, &ref, end) : STROBE_OK;
    strobe_file_end_iterate(iter);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_html_runs_find(int fd, struct strobe_html_runs *out)
{
    struct stat known;
    struct strobe_file *file = NULL;
    uint64_t end = 0;
    int own = fstat(fd, &known) ? -1 : dup(fd);
    if (own < 0)
        return STROBE_ERR_IO;
    out->n_bytes = (uint64_t)known.st_size;
    enum strobe_err err = strobe_file_open_fd(own, &file);
    if (!err)
        err = find_events(file, out, &end);
    strobe_file_close(file);
    return err == STROBE_ERR_NOMEM ? err : add_first(out, end, out->n_bytes);
}

void strobe_html_runs_free(struct strobe_html_runs *runs)
{
    free(runs->first);
    free(runs->rest);
    *runs = (struct strobe_html_runs){0};
}

/* ---- pieces ---- */

uint64_t strobe_html_runs_first_pieces(const struct strobe_html_runs *runs)
{
    return (runs->n_first_bytes + PIECE - 1) / PIECE;
}

static enum strobe_err read_all(int fd, uint8_t *bytes, uint64_t n, uint64_t at)
{
    while (n) {
        ssize_t got = pread(fd, bytes, n, (off_t)at);
        if (got <= 0)
            return STROBE_ERR_IO;
        bytes += got;
        n -= (uint64_t)got;
        at += (uint64_t)got;
    }
    return STROBE_OK;
}

/* The next piece: as much as fits from `*done` bytes of the run `*i` on. */
static enum strobe_err put_piece(const struct strobe_html_run *runs, uint32_t n_runs, uint32_t *i,
                                 uint64_t *done, int fd, uint8_t *bytes, struct strobe_out *out)
{
    uint64_t n = 0;
    enum strobe_err err = STROBE_OK;
    strobe_out_text(out, "<script type=\"text/plain\" data-trace=\"");
    while (!err && n < PIECE && *i < n_runs) {
        const struct strobe_html_run *run = &runs[*i];
        uint64_t left = run->n_bytes - *done, take = left < PIECE - n ? left : PIECE - n;
        strobe_out_format(out, "%s%" PRIu64 "+%" PRIu64, n ? " " : "", run->at + *done, take);
        err = read_all(fd, bytes + n, take, run->at + *done);
        n += take;
        *done += take;
        if (*done == run->n_bytes) {
            ++*i;
            *done = 0;
        }
    }
    strobe_out_text(out, "\">");
    strobe_html_put_base64(out, bytes, n);
    strobe_out_text(out, "</script>\n");
    return err;
}

static enum strobe_err put_runs(const struct strobe_html_run *runs, uint32_t n_runs, int fd,
                                uint8_t *bytes, struct strobe_out *out)
{
    enum strobe_err err = STROBE_OK;
    uint64_t done = 0;
    for (uint32_t i = 0; i < n_runs && !err;)
        err = put_piece(runs, n_runs, &i, &done, fd, bytes, out);
    return err;
}

enum strobe_err strobe_html_runs_put(const struct strobe_html_runs *runs, int fd,
                                     struct strobe_out *out)
{
    uint8_t *bytes = malloc(PIECE);
    if (!bytes)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = put_runs(runs->first, runs->n_first, fd, bytes, out);
    if (!err)
        err = put_runs(runs->rest, runs->n_rest, fd, bytes, out);
    free(bytes);
    return err;
}
