/* sync.c - sync_device_info.csv: samples of a device's clock and the line through them.
 *
 * The stream has samples of all cores, through the whole run; those of the first core are kept, evenly thinned out. The host's clock
 * here is CLOCK_MONOTONIC in ns: so a tick is a nanosecond, and base time is 0.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "device_files/internal.h"

void strobe_files_sample(struct strobe_device_files *files, const struct strobe_device_clock *clock)
{
    if (!files->sync.path[0] || clock->core >= files->n_cores || clock->after_ns < clock->before_ns)
        return;
    uint32_t core_yx = files->cores[clock->core].core_yx;
    if (!files->has_sample_core) {
        files->has_sample_core = true;
        files->sample_core_yx = core_yx;
        files->sample_step = 1;
    }
    if (core_yx != files->sample_core_yx || ++files->sample_skip < files->sample_step)
        return;
    files->sample_skip = 0;
    if (files->n_samples == STROBE_FILES_SAMPLES) {
        for (uint32_t i = 0; i < STROBE_FILES_SAMPLES / 2; i++)
            files->samples[i] = files->samples[2 * i];
        files->n_samples /= 2;
        files->sample_step *= 2;
    }
    STROBE_ASSERT(files->n_samples < STROBE_FILES_SAMPLES);
    files->samples[files->n_samples].cycles = clock->cycles;
    files->samples[files->n_samples].before_ns = clock->before_ns;
    files->samples[files->n_samples++].after_ns = clock->after_ns;
}

void strobe_files_dump_sync(struct strobe_device_files *files)
{
    struct strobe_clock_sample samples[STROBE_FILES_SAMPLES];
    struct strobe_clock_line line;
    char text[512];
    uint64_t first = files->n_samples ? files->samples[0].before_ns : 0;
    for (uint32_t i = 0; i < files->n_samples; i++)
        samples[i] = (struct strobe_clock_sample){
            files->samples[i].cycles,
            files->samples[i].before_ns - first +
                (files->samples[i].after_ns - files->samples[i].before_ns) / 2};
    if (strobe_clock_line_fit(samples, files->n_samples, 1, &line) ||
        !strobe_files_begin(files, &files->sync))
        return;
    if (files->sync.is_new) {
        strobe_out_text(&files->sync.out, strobe_clock_row_head);
        strobe_out_char(&files->sync.out, '\n');
    }
    for (uint32_t i = 0; i < files->n_samples; i++) {
        struct strobe_clock_row row = {.device = files->device,
                                       .core_x = files->sample_core_yx & 0xffff,
                                       .core_y = files->sample_core_yx >> 16,
                                       .cycles = samples[i].cycles,
                                       .host = samples[i].host,
                                       .write_overhead =
                                           files->samples[i].after_ns - files->samples[i].before_ns,
                                       .host_start = first,
                                       .host_real = (double)samples[i].host,
                                       .delay = line.delay,
                                       .frequency = line.cycles_per_ns,
                                       .ratio = 1};
        int n = strobe_clock_row_print(text, sizeof text, &row);
        STROBE_ASSERT(n > 0 && (size_t)n < sizeof text);
        strobe_out_bytes(&files->sync.out, text, (size_t)n);
        strobe_out_char(&files->sync.out, '\n');
    }
    if (files->link.n_messages) {
        struct strobe_clock_link link = {files->link.scale, files->link.shift};
        int n = strobe_clock_link_print(text, sizeof text, files->device, &link);
        STROBE_ASSERT(n > 0 && (size_t)n < sizeof text);
        strobe_out_bytes(&files->sync.out, text, (size_t)n);
        strobe_out_char(&files->sync.out, '\n');
    }
    strobe_files_end(files, &files->sync);
}
