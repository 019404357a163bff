/* merge_set.c - see merge_set.h.  SPDX-License-Identifier: MIT */
#include "cli/merge_set.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

static int add_path(struct strobe_merge_set *set, const char *path)
{
    if (STROBE_ARRAY_RESERVE(set->paths, set->paths_room, set->n + 1u) ||
        STROBE_ARRAY_RESERVE(set->names, set->names_room, set->n + 1u) ||
        STROBE_ARRAY_RESERVE(set->traces, set->traces_room, set->n + 1u) ||
        !(set->paths[set->n] = strdup(path)))
        return 0;
    set->names[set->n] = NULL;
    set->traces[set->n++] = NULL;
    return 1;
}

/* 1: the file is among them already, by whatever name. */
static int is_in(const struct strobe_merge_set *set, const struct stat *file)
{
    struct stat other;
    for (uint32_t i = 0; i < set->n; i++)
        if (!stat(set->paths[i], &other) && other.st_dev == file->st_dev &&
            other.st_ino == file->st_ino)
            return 1;
    return 0;
}

/* What can't be looked at is added: opening it says why. */
static int add_once(struct strobe_merge_set *set, const char *path)
{
    struct stat file;
    if (stat(path, &file) || !is_in(set, &file))
        return add_path(set, path);
    set->n_again++;
    return 1;
}

int strobe_merge_set_add_made(struct strobe_merge_set *set, const char *path, const char *name)
{
    return add_path(set, path) && (set->names[set->n - 1] = strdup(name));
}

static int is_trace(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 7 && !strcmp(entry->d_name + n - 7, ".strobe") &&
           strcmp(entry->d_name, STROBE_MERGE_RANKS) != 0;
}

static int is_rank(const struct dirent *entry)
{
    return is_trace(entry) && !strncmp(entry->d_name, "rank-", 5);
}

static int add_folder(struct strobe_merge_set *set, const char *path,
                      int (*wants)(const struct dirent *entry))
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, wants, alphasort), ok = n > 0;
    for (int i = 0; i < n; i++) {
        char name[PATH_MAX];
        int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        ok = ok && length > 0 && (size_t)length < sizeof name && add_once(set, name);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

int strobe_merge_set_add(struct strobe_merge_set *set, const char *path)
{
    struct stat facts;
    if (stat(path, &facts) || !S_ISDIR(facts.st_mode))
        return add_once(set, path);
    return add_folder(set, path, is_trace);
}

enum strobe_err strobe_merge_set_write(struct strobe_merge_set *set, const char *out,
                                       struct strobe_merge_result *result, uint32_t *failed)
{
    for (uint32_t i = 0; i < set->n; i++) {
        enum strobe_err err = strobe_trace_open(set->paths[i], 0, &set->traces[i]);
        *failed = i;
        if (err)
            return err;
    }
    *failed = set->n;
    const char **called = calloc(set->n, sizeof *called);
    if (!called)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < set->n; i++)
        called[i] = set->names[i] ? set->names[i] : set->paths[i];
    enum strobe_err err = strobe_merge_write(set->traces, called, set->n, out, result);
    free(called);
    return err;
}

void strobe_merge_set_free(struct strobe_merge_set *set)
{
    for (uint32_t i = 0; i < set->n; i++) {
        strobe_trace_close(set->traces[i]);
        if (set->names[i])
            unlink(set->paths[i]);
        free(set->names[i]);
        free(set->paths[i]);
    }
    free(set->names);
    free(set->paths);
    free(set->traces);
    *set = (struct strobe_merge_set){0};
}

/* 1: `made` is there, and none of the ranks is younger. */
static int is_fresh(const struct strobe_merge_set *set, const char *made)
{
    struct stat ours, its;
    if (stat(made, &ours))
        return 0;
    for (uint32_t i = 0; i < set->n; i++)
        if (stat(set->paths[i], &its) || its.st_mtime > ours.st_mtime)
            return 0;
    return 1;
}

int strobe_merge_set_ranks(const char *folder)
{
    struct strobe_merge_set set = {0};
    struct strobe_merge_result result;
    char made[PATH_MAX], part[PATH_MAX];
    uint32_t failed;
    int n = snprintf(made, sizeof made, "%s/%s", folder, STROBE_MERGE_RANKS);
    int n_part =
        snprintf(part, sizeof part, "%s/.%s.%d", folder, STROBE_MERGE_RANKS, (int)getpid());
    int ok = n > 0 && (size_t)n < sizeof made && n_part > 0 && (size_t)n_part < sizeof part &&
             add_folder(&set, folder, is_rank) && set.n > 1;
    if (ok && !is_fresh(&set, made)) {
        ok = !strobe_merge_set_write(&set, part, &result, &failed) && !rename(part, made);
        if (failed == set.n)
            strobe_merge_result_free(&result);
    }
    strobe_merge_set_free(&set);
    return ok;
}
