/* folded.c - see folded.h.  SPDX-License-Identifier: MIT */
#include "export/folded.h"

#include <stdlib.h>
#include <string.h>

/* What qsort compares with: one export at a time. */
static const struct strobe_texts *texts_of_sort;

static int compare(const void *a, const void *b)
{
    const struct strobe_samples_row *x = a, *y = b;
    uint32_t n_x, n_y;
    const char *x_text = strobe_texts_get(texts_of_sort, x->name, &n_x);
    const char *y_text = strobe_texts_get(texts_of_sort, y->name, &n_y);
    return strcmp(x_text, y_text);
}

enum strobe_err strobe_folded_write(struct strobe_trace *trace,
                                    const struct strobe_samples_options *options,
                                    struct strobe_out *out, uint64_t *n_samples,
                                    uint64_t *n_bad_parts)
{
    struct strobe_samples_options folded = *options;
    struct strobe_samples samples;
    folded.folded = 1;
    enum strobe_err err = strobe_samples_run(trace, &folded, &samples);
    texts_of_sort = &samples.texts;
    if (!err && samples.ids.n)
        qsort(samples.rows, samples.ids.n, sizeof *samples.rows, compare);
    for (uint32_t i = 0; !err && i < samples.ids.n; i++) {
        uint32_t n;
        const char *text = strobe_texts_get(&samples.texts, samples.rows[i].name, &n);
        strobe_out_bytes(out, text, n);
        strobe_out_char(out, ' ');
        strobe_out_u(out, samples.rows[i].total);
        strobe_out_char(out, '\n');
        err = out->error ? STROBE_ERR_IO : STROBE_OK;
    }
    *n_samples = samples.n_samples;
    *n_bad_parts = samples.n_bad_parts;
    strobe_samples_free(&samples);
    return err;
}
