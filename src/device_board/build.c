/* build.c - builds each kernel once, keeps what was built in a folder, loads it once per process.
 * What is built: a small file that includes the kernel between the headers of its backend.
 *
 *   cache/<hash>.cc   the file that was compiled       cache/<hash>.<end>  what came out
 *   cache/<hash>.d    the files it was made of: older than the object, or it is built anew
 *   cache/units       the last number given to a translation unit, under a lock
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "device_board/build.h"
#include "sim/strobe_sim.h"

#define PATH_BYTES STROBE_RECIPE_PATH_BYTES
#define MAX_UNITS  8187
#define MOST_WORDS 48 /* of a compiler's command */

struct object {
    struct strobe_device_built built;        /* first: what others see */
    const struct strobe_recipe_tools *tools; /* borrowed: lives for ever */
    uint64_t hash;
    void *code; /* owned: of the tools */
    uint32_t n_references;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object **objects; /* owned: all that is loaded */
static uint32_t n_objects, room_objects;

static uint64_t fold(uint64_t hash, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 1099511628211ull;
    return hash;
}

static enum strobe_err read_all(const char *path, char **text, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return STROBE_ERR_NOTFOUND;
    char *all = NULL;
    size_t n = 0, room = 0, got;
    do {
        if (STROBE_ARRAY_RESERVE(all, room, n + 65536)) {
            free(all);
            fclose(file);
            return STROBE_ERR_NOMEM;
        }
        n += got = fread(all + n, 1, room - n - 1, file);
    } while (got);
    fclose(file);
    all[n] = 0;
    *text = all;
    *bytes = n;
    return STROBE_OK;
}

static enum strobe_err write_all(const char *path, const char *text, size_t bytes)
{
    char temporary[PATH_BYTES + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "we");
    if (!file)
        return STROBE_ERR_IO;
    int bad = fwrite(text, 1, bytes, file) != bytes;
    bad |= fclose(file) != 0;
    return bad || rename(temporary, path) ? STROBE_ERR_IO : STROBE_OK;
}

/* ---- is it built already? ---- */

int strobe_recipe_is_fresh(const char *object_path, const char *deps_path)
{
    struct stat object, part;
    char *text;
    size_t bytes;
    if (stat(object_path, &object) || read_all(deps_path, &text, &bytes))
        return 0;
    int fresh = 1;
    char *save = NULL, *colon = strchr(text, ':');
    for (char *path = strtok_r(colon ? colon + 1 : text, " \\\n", &save); path && fresh;
         path = strtok_r(NULL, " \\\n", &save))
        fresh = !stat(path, &part) && (part.st_mtim.tv_sec < object.st_mtim.tv_sec ||
                                       (part.st_mtim.tv_sec == object.st_mtim.tv_sec &&
                                        part.st_mtim.tv_nsec <= object.st_mtim.tv_nsec));
    free(text);
    return fresh;
}

/* The next number of a translation unit: ids of zones begin with it. */
static enum strobe_err next_unit(const char *cache, uint32_t *unit)
{
    char path[PATH_BYTES], text[32] = "";
    snprintf(path, sizeof path, "%s/units", cache);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX)) {
        if (fd >= 0)
            close(fd);
        return STROBE_ERR_IO;
    }
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    *unit = n > 0 ? (uint32_t)strtoul(text, NULL, 10) % MAX_UNITS : 0;
    n = snprintf(text, sizeof text, "%u\n", *unit + 1);
    ssize_t put = pwrite(fd, text, (size_t)n, 0);
    close(fd);
    return put == n ? STROBE_OK : STROBE_ERR_IO;
}

/* ---- the file that is compiled ---- */

static void put_lines(FILE *out, const struct strobe_recipe *recipe,
                      const struct strobe_device_source *source)
{
    const struct strobe_device_kernel *kernel = &source->kernel;
    fputs(recipe->tools->define, out);
    fprintf(
        out,
        "#define STROBE_SIM_RISC %u\n#define STROBE_SIM_MODE %u\n#define STROBE_SIM_RECORD %u\n",
        source->risc, (unsigned)recipe->mode, recipe->record);
    fprintf(out, "#define KERNEL_COMPILE_TIME_ARGS ");
    for (uint32_t i = 0; i < kernel->n_compile_args; i++)
        fprintf(out, "%s%uu", i ? ", " : "", kernel->compile_args[i]);
    fprintf(out, "\n#define STROBE_SIM_N_COMPILE_ARGS %u\n#define STROBE_SIM_ARGS_END %s\n",
            kernel->n_compile_args, kernel->n_compile_args ? ", 0" : "0");
    for (uint32_t i = 0; i < kernel->n_defines; i++)
        fprintf(out, "#define %s %s\n", kernel->defines[i].name,
                kernel->defines[i].value ? kernel->defines[i].value : "1");
    fprintf(out, "#include \"sim/prelude.h\"\n#include \"sim/any.h\"\n");
    if (kernel->path)
        fprintf(out, "#include \"%s\"\n", kernel->path);
    else if (kernel->text)
        fprintf(out, "#line 1 \"%s\"\n%s\n", kernel->name ? kernel->name : "kernel", kernel->text);
    fprintf(out, "#include \"sim/firmware.h\"\n");
}

/* The file's text; its hash also covers the source, the compiler and the version of the headers. */
static enum strobe_err make_text(const struct strobe_recipe *recipe,
                                 const struct strobe_device_source *source, char **text,
                                 size_t *bytes, uint64_t *hash, char *reason)
{
    *hash = fold(14695981039346656037ull, recipe->compiler, strlen(recipe->compiler));
    *hash = fold(*hash, recipe->kernel_dir, strlen(recipe->kernel_dir));
    for (uint32_t i = 0; i < STROBE_RECIPE_INCLUDES; i++)
        *hash = fold(*hash, recipe->include_dirs[i], strlen(recipe->include_dirs[i]) + 1);
    if (source->kernel.path) {
        char *all;
        size_t n;
        if (read_all(source->kernel.path, &all, &n)) {
            snprintf(reason, STROBE_DEVICE_REASON_BYTES, "can't read the kernel %s",
                     source->kernel.path);
            return STROBE_ERR_NOTFOUND;
        }
        *hash = fold(*hash, all, n);
        free(all);
    }
    FILE *out = open_memstream(text, bytes);
    if (!out)
        return STROBE_ERR_NOMEM;
    fprintf(out, "/* made for the backend %s, version %d */\n", recipe->tools->backend,
            STROBE_SIM_ABI);
    put_lines(out, recipe, source);
    if (fclose(out))
        return STROBE_ERR_NOMEM;
    *hash = fold(*hash, *text, *bytes);
    return STROBE_OK;
}

/* ---- compile ---- */

static void set_paths(struct strobe_recipe_paths *paths, const char *base)
{
    long pid = (long)getpid();
    snprintf(paths->source, PATH_BYTES, "%s.cc", base);
    snprintf(paths->scratch[0], PATH_BYTES, "%s.%ld.s", base, pid);
    snprintf(paths->scratch[1], PATH_BYTES, "%s.%ld.c.s", base, pid);
    snprintf(paths->made, PATH_BYTES, "%s.%ld.o", base, pid);
    snprintf(paths->deps, PATH_BYTES, "%s.d", base);
}

enum strobe_err strobe_recipe_compile(const struct strobe_recipe *recipe,
                                      const struct strobe_recipe_paths *paths,
                                      const char *const *flags, const char *to, uint32_t unit,
                                      char *reason)
{
    static const char *const always[] = {"-std=c++17",
                                         "-O2",
                                         "-w",
                                         "-fno-exceptions",
                                         "-fno-rtti",
                                         "-fno-stack-protector",
                                         "-fno-asynchronous-unwind-tables",
                                         "-fno-threadsafe-statics",
                                         "-fno-strict-aliasing",
                                         "-U_FORTIFY_SOURCE"};
    char include[1 + STROBE_RECIPE_INCLUDES][PATH_BYTES], unit_text[64];
    const char *words[MOST_WORDS] = {recipe->compiler};
    uint32_t n = 1;
    for (uint32_t i = 0; i < sizeof always / sizeof *always; i++)
        words[n++] = always[i];
    while (*flags && n < MOST_WORDS - STROBE_RECIPE_INCLUDES - 9)
        words[n++] = *flags++;
    STROBE_ASSERT(!*flags);
    snprintf(unit_text, sizeof unit_text, "-DSTROBE_DEVICE_UNIT=%u", unit);
    snprintf(include[0], PATH_BYTES, "-I%s", recipe->kernel_dir);
    const char *const rest[] = {unit_text, "-MMD", "-MF",         paths->deps,
                                "-o",      to,     paths->source, include[0]};
    for (uint32_t i = 0; i < sizeof rest / sizeof *rest; i++)
        words[n++] = rest[i];
    for (uint32_t i = 0; i < STROBE_RECIPE_INCLUDES && *recipe->include_dirs[i]; i++) {
        snprintf(include[i + 1], PATH_BYTES, "-I%s", recipe->include_dirs[i]);
        words[n++] = include[i + 1];
    }
    STROBE_ASSERT(n < MOST_WORDS && !words[n]);
    return strobe_recipe_run(words, reason);
}

static enum strobe_err compile(const struct strobe_recipe *recipe, const char *base,
                               const char *final, const char *text, size_t bytes, uint32_t risc,
                               char *reason)
{
    struct strobe_recipe_paths paths;
    uint32_t unit = 0;
    set_paths(&paths, base);
    enum strobe_err err = next_unit(recipe->cache_dir, &unit);
    if (!err)
        err = write_all(paths.source, text, bytes);
    if (err) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES,
                 "can't write into the folder of built kernels, %s", recipe->cache_dir);
        return err;
    }
    err = recipe->tools->make(recipe, &paths, unit, risc, reason);
    if (!err && rename(paths.made, final))
        err = STROBE_ERR_IO;
    unlink(paths.scratch[0]);
    unlink(paths.scratch[1]);
    unlink(paths.made);
    return err;
}

static void free_object(struct object *object)
{
    if (object->code)
        object->tools->unload(object->code);
    free(object->built.path);
    free(object->built.source);
    free(object);
}

static struct object *find_loaded(uint64_t hash)
{
    for (uint32_t i = 0; i < n_objects; i++)
        if (objects[i]->hash == hash)
            return objects[i];
    return NULL;
}

/* One builder of a kernel at a time, over all processes: a second one would replace what the first has loaded by a build whose zones
 * have other ids, and the first would find no names for its own. -1: there is no lock, and no harm but that. */
static int hold(const char *base)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.lock", base);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)!flock(fd, LOCK_EX);
    return fd;
}

/* Build if need be, and load. `base` is the path without its end. */
static enum strobe_err make_object(const struct strobe_recipe *recipe,
                                   const struct strobe_device_source *source, uint64_t hash,
                                   const char *text, size_t bytes, struct object **out,
                                   char *reason)
{
    char base[PATH_BYTES - 64], object_path[PATH_BYTES], deps[PATH_BYTES];
    snprintf(base, sizeof base, "%s/%016llx", recipe->cache_dir, (unsigned long long)hash);
    snprintf(object_path, sizeof object_path, "%s%s", base, recipe->tools->end);
    snprintf(deps, sizeof deps, "%s.d", base);
    enum strobe_err err = STROBE_OK;
    if (!strobe_recipe_is_fresh(object_path, deps)) {
        int held = hold(base);
        if (!strobe_recipe_is_fresh(object_path, deps))
            err = compile(recipe, base, object_path, text, bytes, source->risc, reason);
        if (held >= 0)
            close(held);
    }
    if (err)
        return err;
    struct object *object = calloc(1, sizeof *object);
    struct object **slot = object ? STROBE_ARRAY_PUSH(objects, n_objects, room_objects) : NULL;
    if (!slot) {
        free(object);
        return STROBE_ERR_NOMEM;
    }
    object->tools = recipe->tools;
    object->hash = hash;
    object->built.path = strdup(object_path);
    object->built.source = strdup(source->kernel.path   ? source->kernel.path
                                  : source->kernel.name ? source->kernel.name
                                                        : "kernel");
    err = object->built.path && object->built.source
              ? object->tools->load(object_path, &object->code, reason)
              : STROBE_ERR_NOMEM;
    if (err) {
        n_objects--;
        free_object(object);
        return err;
    }
    object->built.number = n_objects;
    *slot = *out = object;
    return STROBE_OK;
}

enum strobe_err strobe_recipe_build(const struct strobe_recipe *recipe,
                                    const struct strobe_device_source *source,
                                    struct strobe_device_built **built, char *reason)
{
    char *text = NULL;
    size_t bytes;
    uint64_t hash;
    struct object *object = NULL;
    enum strobe_err err = make_text(recipe, source, &text, &bytes, &hash, reason);
    pthread_mutex_lock(&lock);
    if (!err && !(object = find_loaded(hash)))
        err = make_object(recipe, source, hash, text, bytes, &object, reason);
    if (!err) {
        object->n_references++;
        *built = &object->built;
    }
    pthread_mutex_unlock(&lock);
    free(text);
    return err;
}

const void *strobe_recipe_code(const struct strobe_device_built *built)
{
    return ((const struct object *)(const void *)built)->code;
}

void strobe_recipe_unbuild(struct strobe_device_built *built)
{
    if (!built)
        return;
    struct object *object = (struct object *)(void *)built;
    pthread_mutex_lock(&lock);
    if (!--object->n_references) {
        for (uint32_t i = 0; i < n_objects; i++)
            if (objects[i] == object)
                objects[i] = objects[--n_objects];
        free_object(object);
    }
    if (!n_objects) {
        free(objects);
        objects = NULL;
        room_objects = 0;
    }
    pthread_mutex_unlock(&lock);
}
