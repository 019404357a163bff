/* build.c - kernels as shared objects: the compiler marks every basic block (trace-pc), blocks.c turns each mark into a charge of as
 * many cycles as the block has instructions. What is built when: device_board/build.c.  SPDX-License-Identifier: MIT */
#include "device_sim/build.h"

#include <dlfcn.h>
#include <stdio.h>

static enum strobe_err make(const struct strobe_recipe *recipe,
                            const struct strobe_recipe_paths *paths, uint32_t unit, uint32_t risc,
                            char *reason)
{
    (void)risc; /* the source says it, and a shared object lies anywhere */
    static const char *const flags[] = {"-fPIC", "-fvisibility=hidden",
                                        "-fsanitize-coverage=trace-pc", "-S", NULL};
    const char *const link[] = {recipe->compiler,     "-shared", "-nostartfiles",
                                "-Wl,-z,noexecstack", "-o",      paths->made,
                                paths->scratch[1],    NULL};
    enum strobe_err err =
        strobe_recipe_compile(recipe, paths, flags, paths->scratch[0], unit, reason);
    if (!err)
        err = strobe_sim_blocks_charge(paths->scratch[0], paths->scratch[1], reason);
    return err ? err : strobe_recipe_run(link, reason);
}

/* The facts of a loaded kernel; what dlopen returned is found again by their address. */
static enum strobe_err load(const char *path, void **code, char *reason)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct strobe_sim_kernel *facts = handle ? dlsym(handle, "strobe_sim_kernel_facts") : NULL;
    if (!facts || facts->abi != STROBE_SIM_ABI) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES, "can't load the built kernel %s: %s", path,
                 handle ? "another version" : dlerror());
        if (handle)
            dlclose(handle);
        return STROBE_ERR_FORMAT;
    }
    *facts->calls = &strobe_sim_call_table;
    *code = facts;
    return STROBE_OK;
}

static void unload(void *code)
{
    Dl_info info;
    void *handle = dladdr(code, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!handle)
        return;
    dlclose(handle); /* this one's, and the one of load */
    dlclose(handle);
}

const struct strobe_recipe_tools strobe_sim_tools = {
    .backend = "sim",
    .end = ".so",
    .compilers = {"g++", "clang++"},
    .variable = "STROBE_KERNEL_CXX",
    .missing = "no C++ compiler: kernels are built with g++ or clang++; install one, or name it in "
               "STROBE_KERNEL_CXX",
    .define = "",
    .make = make,
    .load = load,
    .unload = unload,
};
