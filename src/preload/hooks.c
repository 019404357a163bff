/* hooks.c - what a program calls that was built with -finstrument-functions (gcc, clang), and where this library learns of stacks and
 * files that come and go. Exported in the place of the C library's own, which do nothing.  SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "preload/functions.h"
#include "preload/preload.h"

#define EXPORTED STROBE_PRELOAD_EXPORTED

EXPORTED void __cyg_profile_func_enter(void *function, void *call_site);
EXPORTED void __cyg_profile_func_exit(void *function, void *call_site);

/* Before a call the stack pointer is where the callee's canonical frame address is. */
#define CALLER_SP ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())

EXPORTED void __cyg_profile_func_enter(void *function, void *call_site)
{
    if (strobe_gate_is_open(strobe_gate_now))
        strobe_function_enter((uint64_t)(uintptr_t)function, CALLER_SP,
                              (uint64_t)(uintptr_t)__builtin_return_address(0),
                              (uint64_t)(uintptr_t)call_site);
}

EXPORTED void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)call_site;
    if (strobe_gate_is_open(strobe_gate_now))
        strobe_function_exit((uint64_t)(uintptr_t)function, CALLER_SP);
}

static int read_unloads(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    *(unsigned long long *)out = info->dlpi_subs;
    return 1; /* it is the same for all files */
}

/* How many files the loader has unmapped so far. */
static unsigned long long count_unloads(void)
{
    unsigned long long n = 0;
    dl_iterate_phdr(read_unloads, &n);
    return n;
}

EXPORTED int dlclose(void *handle)
{
    static int (*next)(void *);
    if (!next)
        next = (int (*)(void *))strobe_preload_next("dlclose");
    unsigned long long n_before = count_unloads();
    int result = next(handle), before = errno;
    if (count_unloads() != n_before)
        strobe_preload_unloaded();
    errno = before;
    return result;
}
