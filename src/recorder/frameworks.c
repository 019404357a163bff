/* frameworks.c - see frameworks.h; docs/frameworks.md.  SPDX-License-Identifier: MIT */
#include "recorder/frameworks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/preload_side.h"

#define CHOICE "STROBE_FRAMEWORKS"

static const char *const known[] = {"torch", "jax", "logging", "greenlet", "nvtx", "opencl"};

/* Whether a list has a word of `n` bytes. */
static bool has_word(const char *list, const char *word, size_t n)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",:");
        if (length == n && !memcmp(at, word, n))
            return true;
        at += length + (at[length] != 0);
    }
    return false;
}

static bool is_known(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == n && !memcmp(known[i], word, n))
            return true;
    return false;
}

bool strobe_recorder_frameworks_choose(const char *list)
{
    if (!list[0])
        return false;
    for (const char *at = list; *at && strcmp(list, "off") != 0;) {
        size_t n = strcspn(at, ",");
        if (!is_known(at, n))
            return false;
        at += n + (at[n] != 0);
    }
    return !setenv(CHOICE, list, 1);
}

static bool is_wanted(const char *name)
{
    const char *list = getenv(CHOICE);
    return !list || !list[0] || has_word(list, name, strlen(name));
}

/* NVTX loads one library: whoever is named already (another profiler) has the place. */
static bool inject_nvtx(void)
{
    char path[PATH_MAX];
    if (!is_wanted("nvtx") || !strobe_recorder_preload_find("libstrobe-nvtx.so", path, sizeof path))
        return true;
    return !setenv("NVTX_INJECTION64_PATH", path, 0);
}

/* OpenCL's loaders take several layers; ours is nearest to the program. */
static bool add_opencl_layer(void)
{
    char path[PATH_MAX], *both = NULL;
    const char *old = getenv("OPENCL_LAYERS");
    if (!is_wanted("opencl") ||
        !strobe_recorder_preload_find("libstrobe-opencl.so", path, sizeof path))
        return true;
    if (!old || !old[0])
        return !setenv("OPENCL_LAYERS", path, 1);
    if (has_word(old, path, strlen(path)))
        return true;
    bool done = asprintf(&both, "%s:%s", old, path) > 0 && !setenv("OPENCL_LAYERS", both, 1);
    free(both);
    return done;
}

int strobe_recorder_frameworks_environment(void)
{
    return inject_nvtx() && add_opencl_layer() ? 0 : errno;
}
