/* build.h - kernels built for a stand-in device, once, and kept in a folder. How a kernel is compiled and loaded is the backend's:
 * struct strobe_recipe_tools. What stands around a kernel's source: kernel/sim/prelude.h.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_BOARD_BUILD_H
#define STROBE_DEVICE_BOARD_BUILD_H

#include "device/backend.h"

#define STROBE_RECIPE_INCLUDES   8
#define STROBE_RECIPE_PATH_BYTES 1024

struct strobe_recipe;

/* Paths of one build: what is made on the way has the process in its name, so that two do not meet. */
struct strobe_recipe_paths {
    char source[STROBE_RECIPE_PATH_BYTES];     /* what is compiled */
    char deps[STROBE_RECIPE_PATH_BYTES];       /* gets the names of the files that it was made of */
    char made[STROBE_RECIPE_PATH_BYTES];       /* gets what came out; renamed when it is whole */
    char scratch[2][STROBE_RECIPE_PATH_BYTES]; /* for steps in between; removed */
};

/* What differs from backend to backend. */
struct strobe_recipe_tools {
    const char *backend;
    const char *end;          /* of the names of built kernels */
    const char *compilers[2]; /* searched in PATH, in this order */
    const char *variable;     /* of the environment, that names another compiler */
    const char *missing;      /* sentence: there is no compiler, and what helps */
    const char *define;       /* line in front of a kernel; "" */
    /* Make paths->made of paths->source. FORMAT: it does not compile, with the compiler's words. */
    enum strobe_err (*make)(const struct strobe_recipe *recipe,
                            const struct strobe_recipe_paths *paths, uint32_t unit, uint32_t risc,
                            char *reason);
    /* Load what was built. *code is what strobe_recipe_code returns. One at a time. */
    enum strobe_err (*load)(const char *path, void **code, char *reason);
    void (*unload)(void *code);
};

/* What kernels are built with, the same for all of a device. */
struct strobe_recipe {
    const struct strobe_recipe_tools *tools; /* borrowed: lives for ever */
    char compiler[512];
    char kernel_dir[512]; /* with the kernels' headers */
    char include_dirs[STROBE_RECIPE_INCLUDES]
                     [512]; /* searched behind it; "": the last was before */
    char cache_dir[512];    /* of built kernels; made when it is missing */
    enum strobe_device_marking mode;
    uint32_t record; /* STROBE_DEVICE_RECORD_... */
};

/* Find compiler, headers and cache. NOTFOUND, with a reason. */
enum strobe_err strobe_recipe_open(struct strobe_recipe *recipe,
                                   const struct strobe_recipe_tools *tools,
                                   const struct strobe_device_options *options, char *reason);

/* Build a kernel, or find it built. FORMAT: it does not compile, and `reason` has the compiler's first words. Thread: any. */
enum strobe_err strobe_recipe_build(const struct strobe_recipe *recipe,
                                    const struct strobe_device_source *source,
                                    struct strobe_device_built **built, char *reason);
void strobe_recipe_unbuild(struct strobe_device_built *built);
const void *strobe_recipe_code(const struct strobe_device_built *built);

/* ---- for tools ---- */

/* Compile paths->source to `to`, with these flags (NULL behind the last) and the folders of headers. */
enum strobe_err strobe_recipe_compile(const struct strobe_recipe *recipe,
                                      const struct strobe_recipe_paths *paths,
                                      const char *const *flags, const char *to, uint32_t unit,
                                      char *reason);
/* Run a program and wait for it. FORMAT: it failed, and `reason` has what it wrote. */
enum strobe_err strobe_recipe_run(const char *const *argv, char *reason);
/* Whether a file is newer than all files that the .d file names. */
int strobe_recipe_is_fresh(const char *path, const char *deps_path);
/* Find an executable file in PATH, or at a path. NOTFOUND. */
enum strobe_err strobe_recipe_find(const char *name, char *path, size_t bytes);

#endif
