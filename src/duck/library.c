/* library.c - see library.h. STROBE_DUCKDB names the library, or the system's loader finds it.  SPDX-License-Identifier: MIT */
#include "duck/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define NAME(result, name, arguments) "duckdb_" #name,
    STROBE_DUCK_FUNCTIONS(NAME)
#undef NAME
};
enum { N_NAMES = sizeof names / sizeof names[0] };
_Static_assert(sizeof(struct strobe_duck_library) == N_NAMES * sizeof(void *), "one pointer each");

const struct strobe_duck_library *strobe_duck_library(char why[512])
{
    static struct strobe_duck_library library;
    static int is_loaded;
    const char *given = getenv("STROBE_DUCKDB");
    if (is_loaded)
        return &library;
    void *handle = dlopen(given && *given ? given : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, 512, "DuckDB's library is not there: %s", dlerror());
        return NULL;
    }
    for (int i = 0; i < N_NAMES; i++) {
        void *function = dlsym(handle, names[i]);
        if (!function) {
            snprintf(why, 512, "DuckDB's library has no %s: a version from 1.0 on is needed",
                     names[i]);
            dlclose(handle);
            return NULL;
        }
        memcpy((char *)&library + (size_t)i * sizeof function, &function, sizeof function);
    }
    is_loaded = 1; /* its threads may outlive a connection: it stays */
    return &library;
}
