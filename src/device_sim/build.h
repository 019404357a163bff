/* build.h - kernels as shared objects of this machine. What a built kernel exports: kernel/sim/strobe_sim.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SIM_BUILD_H
#define STROBE_DEVICE_SIM_BUILD_H

#include "device_sim/internal.h"

#define STROBE_SIM_INCLUDES 8

/* What kernels are built with, the same for all of a device. */
struct strobe_sim_recipe {
    char compiler[512];
    char kernel_dir[512];                        /* with the kernels' headers */
    char include_dirs[STROBE_SIM_INCLUDES][512]; /* searched behind it; "": the last was before */
    char cache_dir[512];                         /* of built kernels; made when it is missing */
    enum strobe_device_marking mode;
    uint32_t record; /* STROBE_DEVICE_RECORD_... */
};

/* Find compiler, headers and cache. NOTFOUND, with a reason. */
enum strobe_err strobe_sim_recipe_open(struct strobe_sim_recipe *recipe,
                                       const struct strobe_device_options *options, char *reason);

/* Build a kernel, or find it built. FORMAT: it does not compile, and `reason` has the compiler's first words. Thread: any. */
enum strobe_err strobe_sim_build_kernel(const struct strobe_sim_recipe *recipe,
                                        const struct strobe_device_source *source,
                                        struct strobe_device_built **built, char *reason);
void strobe_sim_build_free(struct strobe_device_built *built);
const struct strobe_sim_kernel *strobe_sim_build_code(const struct strobe_device_built *built);

/* Run a program and wait for it. FORMAT: it failed, and `reason` has what it wrote. */
enum strobe_err strobe_sim_build_run(const char *const *argv, char *reason);

/* Turn every mark of a block into a charge of as many cycles as the block has instructions. */
enum strobe_err strobe_sim_blocks_charge(const char *from, const char *to, char *reason);

#endif
