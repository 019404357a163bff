/* write_files.c FOLDER [--perf] [--ops PATH] [--zones PATH] [--sub PROGRAM SUB MANAGER]... FRAMES...: the files of a run, made of its
 * devices' streams, each a file of frames. For tests/device/test_files.py.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_files/files.h"

static void warn(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "%s\n", sentence);
}

static int feed(struct strobe_device_files *files, const char *path)
{
    FILE *in = fopen(path, "rb");
    static uint32_t words[1 << 22];
    if (!in)
        return 1;
    size_t n = fread(words, 4, sizeof words / 4, in);
    fclose(in);
    return strobe_device_files_feed(files, words, n) != STROBE_OK;
}

int main(int argc, char **argv)
{
    struct strobe_device_files_options options = {.warn = warn};
    int failed = argc < 3;
    uint32_t subs[64][3], n_subs = 0;
    options.folder = argc > 1 ? argv[1] : NULL;
    for (int i = 2; i < argc && !failed; i++) {
        if (!strcmp(argv[i], "--perf")) {
            options.has_perf_report = true;
        } else if (!strcmp(argv[i], "--ops")) {
            options.ops_path = argv[++i];
        } else if (!strcmp(argv[i], "--zones")) {
            options.zones_path = argv[++i];
        } else if (!strcmp(argv[i], "--sub") && n_subs < 64) {
            for (int j = 0; j < 3; j++)
                subs[n_subs][j] = (uint32_t)atoi(argv[++i]);
            n_subs++;
        } else {
            struct strobe_device_files *files = NULL;
            failed = strobe_device_files_open(&options, &files) != STROBE_OK;
            for (uint32_t j = 0; files && j < n_subs; j++)
                strobe_device_files_sub_device(files, subs[j][0], subs[j][1], subs[j][2]);
            failed = failed || feed(files, argv[i]);
            strobe_device_files_close(files);
        }
    }
    return failed;
}
