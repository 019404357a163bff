/* build.c - kernels as shared objects: finds the compiler, builds each kernel once, keeps what was built in a folder, loads it.
 * What is built: a small file that includes the kernel between the simulator's headers. The compiler marks every basic block
 * (trace-pc); blocks.c turns each mark into a charge of as many cycles as the block has instructions.
 *
 *   cache/<hash>.cc   the file that was compiled       cache/<hash>.so  what came out
 *   cache/<hash>.d    the files it was made of: older than the object, or it is built anew
 *   cache/units       the last number given to a translation unit, under a lock
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
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
#include "device_sim/build.h"

#define PATH_BYTES 1024
#define MAX_UNITS  8187

struct object {
    struct strobe_device_built built; /* first: what others see */
    uint64_t hash;
    void *handle; /* owned: of dlopen */
    const struct strobe_sim_kernel *code;
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

/* Whether the object is newer than all files that its .d file names. */
static int is_fresh(const char *object_path, const char *deps_path)
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

static void put_lines(FILE *out, const struct strobe_sim_recipe *recipe,
                      const struct strobe_device_source *source)
{
    const struct strobe_device_kernel *kernel = &source->kernel;
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
static enum strobe_err make_text(const struct strobe_sim_recipe *recipe,
                                 const struct strobe_device_source *source, char **text,
                                 size_t *bytes, uint64_t *hash, char *reason)
{
    *hash = fold(14695981039346656037ull, recipe->compiler, strlen(recipe->compiler));
    *hash = fold(*hash, recipe->kernel_dir, strlen(recipe->kernel_dir));
    for (uint32_t i = 0; i < STROBE_SIM_INCLUDES; i++)
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
    fprintf(out, "/* made by the simulator, version %d */\n", STROBE_SIM_ABI);
    put_lines(out, recipe, source);
    if (fclose(out))
        return STROBE_ERR_NOMEM;
    *hash = fold(*hash, *text, *bytes);
    return STROBE_OK;
}

/* ---- compile ---- */

/* Paths of one build: what is made on the way has the process in its name, so that two do not meet. */
struct paths {
    char source[PATH_BYTES], assembly[PATH_BYTES], charged[PATH_BYTES], object[PATH_BYTES];
    char deps[PATH_BYTES], final[PATH_BYTES];
};

static void set_paths(struct paths *paths, const char *base)
{
    long pid = (long)getpid();
    snprintf(paths->source, PATH_BYTES, "%s.cc", base);
    snprintf(paths->assembly, PATH_BYTES, "%s.%ld.s", base, pid);
    snprintf(paths->charged, PATH_BYTES, "%s.%ld.c.s", base, pid);
    snprintf(paths->object, PATH_BYTES, "%s.%ld.so", base, pid);
    snprintf(paths->deps, PATH_BYTES, "%s.d", base);
    snprintf(paths->final, PATH_BYTES, "%s.so", base);
}

/* Compile to assembly, charge the blocks, link. */
static enum strobe_err run_steps(const struct strobe_sim_recipe *recipe, const struct paths *paths,
                                 uint32_t unit, char *reason)
{
    char include[1 + STROBE_SIM_INCLUDES][PATH_BYTES], unit_text[64];
    const char *first[24 + 1 + STROBE_SIM_INCLUDES + 8] = {recipe->compiler,
                                                           "-std=c++17",
                                                           "-O2",
                                                           "-fPIC",
                                                           "-w",
                                                           "-fno-exceptions",
                                                           "-fno-rtti",
                                                           "-fno-stack-protector",
                                                           "-fno-asynchronous-unwind-tables",
                                                           "-fno-threadsafe-statics",
                                                           "-fno-strict-aliasing",
                                                           "-fvisibility=hidden",
                                                           "-fsanitize-coverage=trace-pc",
                                                           "-U_FORTIFY_SOURCE",
                                                           unit_text,
                                                           "-MMD",
                                                           "-MF",
                                                           paths->deps,
                                                           "-S",
                                                           "-o",
                                                           paths->assembly,
                                                           paths->source};
    uint32_t n = 22;
    STROBE_ASSERT(!first[n] && first[n - 1]);
    snprintf(unit_text, sizeof unit_text, "-DSTROBE_DEVICE_UNIT=%u", unit);
    snprintf(include[0], PATH_BYTES, "-I%s", recipe->kernel_dir);
    first[n++] = include[0];
    for (uint32_t i = 0; i < STROBE_SIM_INCLUDES && *recipe->include_dirs[i]; i++) {
        snprintf(include[i + 1], PATH_BYTES, "-I%s", recipe->include_dirs[i]);
        first[n++] = include[i + 1];
    }
    const char *const second[] = {recipe->compiler,     "-shared", "-nostartfiles",
                                  "-Wl,-z,noexecstack", "-o",      paths->object,
                                  paths->charged,       NULL};
    enum strobe_err err = strobe_sim_build_run(first, reason);
    if (!err)
        err = strobe_sim_blocks_charge(paths->assembly, paths->charged, reason);
    if (!err)
        err = strobe_sim_build_run(second, reason);
    return err;
}

static enum strobe_err compile(const struct strobe_sim_recipe *recipe, const char *base,
                               const char *text, size_t bytes, char *reason)
{
    struct paths paths;
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
    err = run_steps(recipe, &paths, unit, reason);
    if (!err && rename(paths.object, paths.final))
        err = STROBE_ERR_IO;
    unlink(paths.assembly);
    unlink(paths.charged);
    unlink(paths.object);
    return err;
}

static enum strobe_err load(const char *path, struct object *object, char *reason)
{
    object->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    object->code = object->handle ? dlsym(object->handle, "strobe_sim_kernel_facts") : NULL;
    if (!object->code || object->code->abi != STROBE_SIM_ABI) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES, "can't load the built kernel %s: %s", path,
                 object->handle ? "another version" : dlerror());
        return STROBE_ERR_FORMAT;
    }
    *object->code->calls = &strobe_sim_call_table;
    return STROBE_OK;
}

static void free_object(struct object *object)
{
    if (object->handle)
        dlclose(object->handle);
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

/* Build if need be, and load. `base` is the path without its end. */
static enum strobe_err make_object(const struct strobe_sim_recipe *recipe,
                                   const struct strobe_device_source *source, uint64_t hash,
                                   const char *text, size_t bytes, struct object **out,
                                   char *reason)
{
    char base[PATH_BYTES - 64], object_path[PATH_BYTES], deps[PATH_BYTES];
    snprintf(base, sizeof base, "%s/%016llx", recipe->cache_dir, (unsigned long long)hash);
    snprintf(object_path, sizeof object_path, "%s.so", base);
    snprintf(deps, sizeof deps, "%s.d", base);
    enum strobe_err err =
        is_fresh(object_path, deps) ? STROBE_OK : compile(recipe, base, text, bytes, reason);
    if (err)
        return err;
    struct object *object = calloc(1, sizeof *object);
    struct object **slot = object ? STROBE_ARRAY_PUSH(objects, n_objects, room_objects) : NULL;
    if (!slot) {
        free(object);
        return STROBE_ERR_NOMEM;
    }
    object->hash = hash;
    object->built.path = strdup(object_path);
    object->built.source = strdup(source->kernel.path   ? source->kernel.path
                                  : source->kernel.name ? source->kernel.name
                                                        : "kernel");
    err = object->built.path && object->built.source ? load(object_path, object, reason)
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

enum strobe_err strobe_sim_build_kernel(const struct strobe_sim_recipe *recipe,
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

const struct strobe_sim_kernel *strobe_sim_build_code(const struct strobe_device_built *built)
{
    return ((const struct object *)(const void *)built)->code;
}

void strobe_sim_build_free(struct strobe_device_built *built)
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
