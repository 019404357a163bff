/* imports.c - threads that make traces of other files.  SPDX-License-Identifier: MIT */
#include "serve/imports.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strobe_import {
    struct strobe_imports *all; /* borrowed */
    struct strobe_import_watch watch;
    _Atomic int state; /* enum strobe_import_state; moved by its thread alone, once */
    uint32_t n_wanting;
    pthread_t thread;
    char path[4096], made[4096];
};

struct strobe_imports {
    strobe_convert convert;
    void *context;
    void (*wake)(void *);
    void *wake_context;
    struct strobe_import *running[STROBE_IMPORTS_MAX]; /* owned */
};

struct strobe_imports *strobe_imports_new(strobe_convert convert, void *context,
                                          void (*wake)(void *wake_context), void *wake_context)
{
    struct strobe_imports *imports = calloc(1, sizeof *imports);
    if (imports)
        *imports = (struct strobe_imports){convert, context, wake, wake_context, {0}};
    return imports;
}

static void *run(void *context)
{
    struct strobe_import *import = context;
    struct strobe_imports *all = import->all;
    int ok =
        all->convert(all->context, import->path, import->made, sizeof import->made, &import->watch);
    import->state = ok ? STROBE_IMPORT_DONE : STROBE_IMPORT_FAILED;
    all->wake(all->wake_context);
    return NULL;
}

static void end(struct strobe_import *import)
{
    import->watch.is_cancelled = 1;
    pthread_join(import->thread, NULL);
    free(import);
}

void strobe_imports_free(struct strobe_imports *imports)
{
    for (int i = 0; imports && i < STROBE_IMPORTS_MAX; i++)
        if (imports->running[i])
            imports->running[i]->watch.is_cancelled = 1;
    for (int i = 0; imports && i < STROBE_IMPORTS_MAX; i++)
        if (imports->running[i])
            end(imports->running[i]);
    free(imports);
}

static struct strobe_import *begin(struct strobe_imports *imports, const char *path)
{
    struct strobe_import *import = calloc(1, sizeof *import);
    if (!import || strlen(path) >= sizeof import->path) {
        free(import);
        return NULL;
    }
    import->all = imports;
    snprintf(import->path, sizeof import->path, "%s", path);
    if (pthread_create(&import->thread, NULL, run, import)) {
        free(import);
        return NULL;
    }
    return import;
}

struct strobe_import *strobe_imports_want(struct strobe_imports *imports, const char *path)
{
    int room = -1;
    for (int i = 0; i < STROBE_IMPORTS_MAX; i++) {
        struct strobe_import *import = imports->running[i];
        if (!import)
            room = room < 0 ? i : room;
        else if (!strcmp(import->path, path) && !import->watch.is_cancelled) {
            import->n_wanting++;
            return import;
        }
    }
    struct strobe_import *import = room < 0 ? NULL : begin(imports, path);
    if (!import)
        return NULL;
    import->n_wanting = 1;
    return imports->running[room] = import;
}

void strobe_imports_leave(struct strobe_imports *imports, struct strobe_import *import)
{
    if (--import->n_wanting)
        return;
    for (int i = 0; i < STROBE_IMPORTS_MAX; i++)
        if (imports->running[i] == import)
            imports->running[i] = NULL;
    end(import);
}

enum strobe_import_state strobe_import_state(const struct strobe_import *import, const char **text)
{
    enum strobe_import_state state = (enum strobe_import_state)import->state;
    *text = state == STROBE_IMPORT_DONE     ? import->made
            : state == STROBE_IMPORT_FAILED ? import->watch.why
                                            : "";
    return state;
}

uint32_t strobe_import_per_mille(const struct strobe_import *import)
{
    return import->watch.per_mille;
}
