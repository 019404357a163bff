/* recipe.c - what kernels are built with: the compiler, the headers, the folder of what was built; and how a compiler is run.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_board/build.h"

extern char **environ;

#define MARKER_FILE "sim/strobe_sim.h"
/* What kernels do not know (kernel/sim looks at the other bits): the same build serves with and without. */
#define HOSTS_ALONE                                                                               \
    (STROBE_DEVICE_RECORD_MID_RUN | STROBE_DEVICE_RECORD_FIRMWARE | STROBE_DEVICE_RECORD_MEMORY | \
     STROBE_DEVICE_RECORD_FILES)

/* Whether the headers are in `folder`; its path is then made the shortest: it is in the names of zones' files. */
static int has_headers(char *folder, size_t bytes)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/" MARKER_FILE, folder);
    if (access(path, R_OK))
        return 0;
    char *real = realpath(folder, NULL);
    if (real)
        snprintf(folder, bytes, "%s", real);
    free(real);
    return 1;
}

/* Where the kernels' headers are: as said, or beside this library: installed, or in the tree it was built in. */
static enum strobe_err find_headers(char *folder, size_t bytes, const char *wish)
{
    static const char *const places[] = {
        "/../share/strobe/kernel", "/../../share/strobe/kernel", "/../../../share/strobe/kernel",
        "/../../kernel",           "/../../../kernel",           "/../kernel"};
    const char *said = wish ? wish : getenv("STROBE_KERNEL_DIR");
    if (said && *said) {
        snprintf(folder, bytes, "%s", said);
        return has_headers(folder, bytes) ? STROBE_OK : STROBE_ERR_NOTFOUND;
    }
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)strobe_recipe_open, &info) && info.dli_fname) {
        char self[1024], *real = realpath(info.dli_fname, NULL), *slash;
        snprintf(self, sizeof self, "%s", real ? real : info.dli_fname);
        free(real);
        if ((slash = strrchr(self, '/')))
            *slash = 0;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            snprintf(folder, bytes, "%s%s", self, places[i]);
            if (has_headers(folder, bytes))
                return STROBE_OK;
        }
    }
#ifdef STROBE_INSTALLED_KERNELS
    snprintf(folder, bytes, "%s", STROBE_INSTALLED_KERNELS);
    if (has_headers(folder, bytes))
        return STROBE_OK;
#endif
    return STROBE_ERR_NOTFOUND;
}

enum strobe_err strobe_recipe_find(const char *name, char *path, size_t bytes)
{
    if (strchr(name, '/')) {
        snprintf(path, bytes, "%s", name);
        return access(path, X_OK) ? STROBE_ERR_NOTFOUND : STROBE_OK;
    }
    const char *paths = getenv("PATH");
    for (const char *at = paths ? paths : "/usr/bin:/bin"; *at;) {
        size_t n = strcspn(at, ":");
        snprintf(path, bytes, "%.*s/%s", (int)n, at, name);
        if (access(path, X_OK) == 0)
            return STROBE_OK;
        at += n + (at[n] == ':');
    }
    return STROBE_ERR_NOTFOUND;
}

static enum strobe_err find_compiler(struct strobe_recipe *recipe, const char *wish)
{
    const char *said = wish ? wish : getenv(recipe->tools->variable);
    enum strobe_err err = STROBE_ERR_NOTFOUND;
    if (said && *said)
        return strobe_recipe_find(said, recipe->compiler, sizeof recipe->compiler);
    for (int i = 0; i < 2 && recipe->tools->compilers[i] && err; i++)
        err = strobe_recipe_find(recipe->tools->compilers[i], recipe->compiler,
                                 sizeof recipe->compiler);
    return err;
}

/* Make a folder and those above it. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* A folder of this user alone, made if it is not there: what lies in it is loaded and run. */
static bool is_own_folder(const char *folder)
{
    struct stat st;
    return (mkdir(folder, 0700) == 0 || errno == EEXIST) && lstat(folder, &st) == 0 &&
           S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 022);
}

static enum strobe_err find_cache(char *folder, size_t bytes, const char *wish)
{
    const char *said = wish ? wish : getenv("STROBE_KERNEL_CACHE"),
               *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *folder = 0;
    if (said && *said)
        snprintf(folder, bytes, "%s", said);
    else if (cache && *cache == '/')
        snprintf(folder, bytes, "%s/strobe/kernels", cache);
    else if (home && *home == '/')
        snprintf(folder, bytes, "%s/.cache/strobe/kernels", home);
    if (*folder && make_folders(folder) && access(folder, W_OK) == 0)
        return STROBE_OK;
    if (said && *said)
        return STROBE_ERR_ACCESS;
    snprintf(folder, bytes, "/tmp/strobe-kernels-%u",
             (unsigned)getuid()); /* no home, or not ours */
    return is_own_folder(folder) ? STROBE_OK : STROBE_ERR_ACCESS;
}

/* Folders with : between them, as many as there is room for. */
static enum strobe_err split_includes(struct strobe_recipe *recipe, const char *wish)
{
    const char *at = wish ? wish : getenv("STROBE_KERNEL_INCLUDE");
    for (uint32_t n = 0; at && *at; n++) {
        size_t bytes = strcspn(at, ":");
        if (n == STROBE_RECIPE_INCLUDES || bytes >= sizeof recipe->include_dirs[0])
            return STROBE_ERR_LIMIT;
        memcpy(recipe->include_dirs[n], at, bytes);
        at += bytes + (at[bytes] == ':');
    }
    return STROBE_OK;
}

enum strobe_err strobe_recipe_open(struct strobe_recipe *recipe,
                                   const struct strobe_recipe_tools *tools,
                                   const struct strobe_device_options *options, char *reason)
{
    recipe->tools = tools;
    recipe->mode = options->mode;
    recipe->record = options->record & ~HOSTS_ALONE;
    if (find_headers(recipe->kernel_dir, sizeof recipe->kernel_dir, options->kernel_dir)) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "the kernels' headers (" MARKER_FILE
                 ") were not found; STROBE_KERNEL_DIR names their folder");
        return STROBE_ERR_NOTFOUND;
    }
    if (split_includes(recipe, options->include_dirs)) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "STROBE_KERNEL_INCLUDE: at most %d folders, of less than %zu characters each",
                 STROBE_RECIPE_INCLUDES, sizeof recipe->include_dirs[0]);
        return STROBE_ERR_INVALID;
    }
    if (find_compiler(recipe, options->compiler)) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES, "%s", tools->missing);
        return STROBE_ERR_NOTFOUND;
    }
    if (find_cache(recipe->cache_dir, sizeof recipe->cache_dir, options->cache_dir)) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "can't write into %s, where built kernels are kept; STROBE_KERNEL_CACHE names "
                 "another folder",
                 recipe->cache_dir);
        return STROBE_ERR_ACCESS;
    }
    return STROBE_OK;
}

enum strobe_err strobe_recipe_run(const char *const *argv, char *reason)
{
    int pipes[2], status = 0;
    if (pipe2(pipes, O_CLOEXEC))
        return STROBE_ERR_IO;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 2);
    pid_t pid;
    int failed =
        posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    size_t length = 0;
    char rest[512];
    for (ssize_t got = 1;
         !failed && got > 0;) { /* the first words are kept, the others read and dropped */
        int keep = length < STROBE_DEVICE_REASON_BYTES - 1;
        got = keep ? read(pipes[0], reason + length, STROBE_DEVICE_REASON_BYTES - 1 - length)
                   : read(pipes[0], rest, sizeof rest);
        if (keep && got > 0)
            length += (size_t)got;
        if (got < 0 && errno == EINTR)
            got = 1;
    }
    reason[length] = 0;
    close(pipes[0]);
    if (failed) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES, "can't run %s: %s", argv[0], strerror(failed));
        return STROBE_ERR_IO;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? STROBE_OK : STROBE_ERR_FORMAT;
}
