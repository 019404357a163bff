/* resource.h - for the page's module: no limit on the size of files.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WASM_IMPORT_RESOURCE_H
#define STROBE_WASM_IMPORT_RESOURCE_H

#define RLIMIT_FSIZE 1

struct rlimit {
    unsigned long long rlim_cur, rlim_max;
};

static inline int getrlimit(int which, struct rlimit *limit)
{
    (void)which;
    limit->rlim_cur = limit->rlim_max = ~0ull;
    return 0;
}

#endif
