/* program.c - programs as the host builds them, and jobs: what is enqueued, a copy that does not change.
 * A program belongs to one thread at a time; jobs are shared and counted.  SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "device_host/internal.h"

#define MOST_ARGS 341

struct kernel {
    struct strobe_device_kernel is; /* owned: all texts and arrays */
};

struct strobe_program {
    char *name; /* owned */
    uint32_t runtime_id;
    struct kernel *kernels; /* owned, like the arrays below */
    struct strobe_job_args *args;
    uint32_t *words;
    struct strobe_job_ring *rings;
    struct strobe_job_semaphore *semaphores;
    uint32_t n_kernels, n_args, n_words, n_rings, n_semaphores;
    uint32_t room_kernels, room_args, room_words, room_rings, room_semaphores;
    struct {
        const struct strobe_device *device; /* borrowed: compared, not read */
        uint64_t device_number;
        struct strobe_device_job *job; /* shared: one reference */
    } made[4];                         /* what was made of it, while it does not change */
    uint32_t n_made;
};

static _Atomic uint32_t last_id;

static enum strobe_device_result no_memory(void)
{
    return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a program");
}

enum strobe_device_result strobe_program_create(struct strobe_program **program)
{
    *program = calloc(1, sizeof **program);
    return *program ? STROBE_DEVICE_OK : no_memory();
}

static void changed(struct strobe_program *program)
{
    for (uint32_t i = 0; i < program->n_made; i++)
        strobe_device_job_release(program->made[i].job);
    program->n_made = 0;
}

static void free_kernel(struct strobe_device_kernel *kernel)
{
    free((void *)(uintptr_t)kernel->path);
    free((void *)(uintptr_t)kernel->text);
    free((void *)(uintptr_t)kernel->name);
    free((void *)(uintptr_t)kernel->compile_args);
    for (uint32_t i = 0; kernel->defines && i < kernel->n_defines; i++) {
        free((void *)(uintptr_t)kernel->defines[i].name);
        free((void *)(uintptr_t)kernel->defines[i].value);
    }
    free((void *)(uintptr_t)kernel->defines);
}

void strobe_program_free(struct strobe_program *program)
{
    if (!program)
        return;
    changed(program);
    for (uint32_t i = 0; i < program->n_kernels; i++)
        free_kernel(&program->kernels[i].is);
    free(program->kernels);
    free(program->args);
    free(program->words);
    free(program->rings);
    free(program->semaphores);
    free(program->name);
    free(program);
}

enum strobe_device_result strobe_program_rename(struct strobe_program *program, const char *name)
{
    char *copy = strdup(name);
    if (!copy)
        return no_memory();
    free(program->name);
    program->name = copy;
    changed(program);
    return STROBE_DEVICE_OK;
}

void strobe_program_set_id(struct strobe_program *program, uint32_t runtime_id)
{
    program->runtime_id = runtime_id;
}

uint32_t strobe_program_id(const struct strobe_program *program)
{
    return program->runtime_id;
}

uint32_t strobe_program_number(struct strobe_program *program)
{
    if (!program->runtime_id)
        program->runtime_id = ++last_id;
    return program->runtime_id;
}

/* ---- parts of a program ---- */

static const char *copy_text(const char *text, int *failed)
{
    char *copy = text ? strdup(text) : NULL;
    *failed |= text && !copy;
    return copy;
}

/* The absolute path of a kernel's source, as the program finds it now: the compiler runs later and elsewhere. Below TT_METAL_HOME where
 * the working folder does not have it. A file that is nowhere keeps its name for the message of the build. */
static const char *find_source(const char *path, int *failed)
{
    if (!path)
        return NULL;
    char *found = realpath(path, NULL);
    const char *home = getenv("TT_METAL_HOME");
    char below[PATH_MAX];
    if (!found && home && path[0] != '/' &&
        snprintf(below, sizeof below, "%s/%s", home, path) < (int)sizeof below)
        found = realpath(below, NULL);
    return found ? found : copy_text(path, failed);
}

static int copy_kernel(struct strobe_device_kernel *to, const struct strobe_device_kernel *from)
{
    int failed = 0;
    *to = *from;
    to->path = find_source(from->path, &failed);
    to->text = copy_text(from->text, &failed);
    to->name = copy_text(from->name, &failed);
    uint32_t *args = malloc(from->n_compile_args * sizeof *args + 1);
    struct strobe_device_define *defines = calloc(from->n_defines + 1, sizeof *defines);
    if (args && from->n_compile_args)
        memcpy(args, from->compile_args, from->n_compile_args * sizeof *args);
    for (uint32_t i = 0; defines && i < from->n_defines; i++) {
        defines[i].name = copy_text(from->defines[i].name, &failed);
        defines[i].value = copy_text(from->defines[i].value, &failed);
    }
    to->compile_args = args;
    to->defines = defines;
    return failed || !args || !defines;
}

static int is_range(const struct strobe_device_cores *cores)
{
    return cores->x0 <= cores->x1 && cores->y0 <= cores->y1;
}

enum strobe_device_result strobe_program_kernel(struct strobe_program *program,
                                                const struct strobe_device_kernel *kernel,
                                                uint32_t *id)
{
    if ((!kernel->path && !kernel->text) || !is_range(&kernel->cores) ||
        (kernel->risc > STROBE_DEVICE_COMPUTE && kernel->risc != STROBE_DEVICE_ERISC))
        return strobe_host_fail(
            STROBE_DEVICE_INVALID,
            "a kernel needs a source, cores from (x0, y0) to (x1, y1), and a RISC");
    struct kernel *slot =
        STROBE_ARRAY_PUSH(program->kernels, program->n_kernels, program->room_kernels);
    if (!slot)
        return no_memory();
    if (copy_kernel(&slot->is, kernel)) {
        free_kernel(&slot->is);
        program->n_kernels--;
        return no_memory();
    }
    if (id)
        *id = program->n_kernels - 1;
    changed(program);
    return STROBE_DEVICE_OK;
}

static enum strobe_device_result set_args(struct strobe_program *program, uint32_t kernel,
                                          struct strobe_device_cores cores, uint32_t is_common,
                                          const uint32_t *args, uint32_t n_args)
{
    if (kernel >= program->n_kernels || !is_range(&cores) || n_args > MOST_ARGS)
        return strobe_host_fail(STROBE_DEVICE_INVALID, "kernel %u of %u, %u arguments (at most %d)",
                                kernel, program->n_kernels, n_args, MOST_ARGS);
    changed(program);
    for (uint32_t i = 0; i < program->n_args;
         i++) /* in place, where the same cores had as many before */
        if (program->args[i].kernel == kernel && program->args[i].n == n_args &&
            program->args[i].is_common == is_common &&
            !memcmp(&program->args[i].cores, &cores, sizeof cores)) {
            if (n_args)
                memcpy(program->words + program->args[i].first, args, n_args * sizeof *args);
            return STROBE_DEVICE_OK;
        }
    if (STROBE_ARRAY_RESERVE(program->words, program->room_words,
                             (uint64_t)program->n_words + n_args + 1))
        return no_memory();
    struct strobe_job_args *slot =
        STROBE_ARRAY_PUSH(program->args, program->n_args, program->room_args);
    if (!slot)
        return no_memory();
    *slot = (struct strobe_job_args){.cores = cores,
                                     .kernel = kernel,
                                     .is_common = is_common,
                                     .first = program->n_words,
                                     .n = n_args};
    if (n_args)
        memcpy(program->words + program->n_words, args, n_args * sizeof *args);
    program->n_words += n_args;
    return STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_program_args(struct strobe_program *program, uint32_t kernel,
                                              struct strobe_device_cores cores,
                                              const uint32_t *args, uint32_t n_args)
{
    return set_args(program, kernel, cores, 0, args, n_args);
}

enum strobe_device_result strobe_program_common_args(struct strobe_program *program,
                                                     uint32_t kernel, const uint32_t *args,
                                                     uint32_t n_args)
{
    struct strobe_device_cores all = {0};
    if (kernel < program->n_kernels)
        all = program->kernels[kernel].is.cores;
    return set_args(program, kernel, all, 1, args, n_args);
}

enum strobe_device_result strobe_program_ring(struct strobe_program *program,
                                              struct strobe_device_cores cores, uint32_t index,
                                              uint32_t page_bytes, uint32_t n_pages,
                                              enum strobe_device_format format)
{
    if (index >= 32 || !page_bytes || !n_pages || !is_range(&cores) ||
        (uint64_t)page_bytes * n_pages > 2u << 20)
        return strobe_host_fail(STROBE_DEVICE_INVALID,
                                "circular buffer %u (0..31) of %u pages of %u bytes", index,
                                n_pages, page_bytes);
    struct strobe_job_ring *slot =
        STROBE_ARRAY_PUSH(program->rings, program->n_rings, program->room_rings);
    if (!slot)
        return no_memory();
    *slot = (struct strobe_job_ring){.cores = cores,
                                     .index = index,
                                     .page_bytes = page_bytes,
                                     .n_pages = n_pages,
                                     .format = (uint32_t)format};
    changed(program);
    return STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_program_semaphore(struct strobe_program *program,
                                                   struct strobe_device_cores cores, uint32_t value,
                                                   uint32_t *id)
{
    if (program->n_semaphores >= 16 || !is_range(&cores))
        return strobe_host_fail(
            STROBE_DEVICE_INVALID,
            "a program has at most 16 semaphores, on cores from (x0, y0) to (x1, y1)");
    struct strobe_job_semaphore *slot =
        STROBE_ARRAY_PUSH(program->semaphores, program->n_semaphores, program->room_semaphores);
    if (!slot)
        return no_memory();
    *id = program->n_semaphores - 1;
    *slot = (struct strobe_job_semaphore){.cores = cores, .id = *id, .value = value};
    changed(program);
    return STROBE_DEVICE_OK;
}

/* ---- jobs ---- */

void strobe_device_job_release(struct strobe_device_job *job)
{
    if (!job || --job->n_references)
        return;
    for (uint32_t i = 0; i < job->n_kernels; i++)
        for (uint32_t j = 0; j < 3; j++)
            if (job->kernels[i].built[j])
                job->unbuild((struct strobe_device_built *)(uintptr_t)job->kernels[i].built[j]);
    free(job->kernels);
    free(job->args);
    free(job->words);
    free(job->rings);
    free(job->semaphores);
    free(job->name);
    free(job);
}

static void *copy_of(const void *from, uint64_t n, size_t item_bytes, int *failed)
{
    void *to = malloc(n * item_bytes + 1);
    *failed |= !to;
    if (to && n)
        memcpy(to, from, n * item_bytes);
    return to;
}

/* Places in L1 for the circular buffers, from the first free byte up. */
static enum strobe_device_result place_rings(struct strobe_device_job *job,
                                             const struct strobe_device *device)
{
    uint64_t at = device->backend->l1_first,
             end = device->l1.n_pieces ? device->l1.pieces[0].address : device->l1.end;
    for (uint32_t i = 0; i < job->n_rings; i++) {
        job->rings[i].address = (uint32_t)at;
        at += ((uint64_t)job->rings[i].page_bytes * job->rings[i].n_pages + 31) & ~31ull;
    }
    return at <= end
               ? STROBE_DEVICE_OK
               : strobe_host_fail(
                     STROBE_DEVICE_NOSPACE,
                     "circular buffers end at L1 offset %llu, where %llu is the last that is free",
                     (unsigned long long)at, (unsigned long long)end);
}

/* Ethernet cores are no part of the grid. */
static enum strobe_device_result check_cores(const struct strobe_device_kernel *kernel,
                                             const struct strobe_device *device)
{
    const struct strobe_device_options *options = &device->setup.options;
    const struct strobe_device_cores *cores = &kernel->cores;
    if (kernel->risc == STROBE_DEVICE_ERISC ||
        (cores->x1 < options->grid_x && cores->y1 < options->grid_y))
        return STROBE_DEVICE_OK;
    return strobe_host_fail(STROBE_DEVICE_INVALID,
                            "a kernel is to run on cores %u,%u to %u,%u: device %u has cores 0,0 "
                            "to %u,%u",
                            cores->x0, cores->y0, cores->x1, cores->y1, device->setup.index,
                            options->grid_x - 1, options->grid_y - 1);
}

static enum strobe_device_result build_kernels(const struct strobe_program *program,
                                               struct strobe_device *device,
                                               struct strobe_device_job *job)
{
    char reason[STROBE_DEVICE_REASON_BYTES] = "";
    for (uint32_t i = 0; i < program->n_kernels; i++) {
        const struct strobe_device_kernel *kernel = &program->kernels[i].is;
        uint32_t n = kernel->risc == STROBE_DEVICE_COMPUTE ? 3 : 1;
        enum strobe_device_result result = check_cores(kernel, device);
        if (result)
            return result;
        job->kernels[i] = (struct strobe_job_kernel){.cores = kernel->cores, .risc = kernel->risc};
        job->n_kernels = i + 1;
        for (uint32_t j = 0; j < n; j++) {
            struct strobe_device_source source = {
                .kernel = *kernel,
                .risc = kernel->risc == STROBE_DEVICE_ERISC ? 0 : (uint32_t)kernel->risc + j};
            struct strobe_device_built *built = NULL;
            enum strobe_err err = device->backend->build(device->unit, &source, &built, reason);
            if (err)
                return strobe_host_fail(strobe_host_result(err), "kernel %s: %s",
                                        kernel->path   ? kernel->path
                                        : kernel->name ? kernel->name
                                                       : "kernel",
                                        reason);
            job->kernels[i].built[j] = built;
        }
    }
    return STROBE_DEVICE_OK;
}

static enum strobe_device_result make_job(const struct strobe_program *program,
                                          struct strobe_device *device,
                                          struct strobe_device_job **out)
{
    struct strobe_device_job *job = calloc(1, sizeof *job);
    if (!job)
        return no_memory();
    int failed = 0;
    char name[32];
    snprintf(name, sizeof name, "program %u", program->runtime_id);
    job->n_references = 1;
    job->unbuild = device->backend->unbuild;
    job->name = strdup(program->name ? program->name : name);
    job->kernels = calloc(program->n_kernels + 1, sizeof *job->kernels);
    job->args = copy_of(program->args, program->n_args, sizeof *job->args, &failed);
    job->words = copy_of(program->words, program->n_words, sizeof *job->words, &failed);
    job->rings = copy_of(program->rings, program->n_rings, sizeof *job->rings, &failed);
    job->semaphores =
        copy_of(program->semaphores, program->n_semaphores, sizeof *job->semaphores, &failed);
    job->n_args = program->n_args;
    job->n_words = program->n_words;
    job->n_rings = program->n_rings;
    job->n_semaphores = program->n_semaphores;
    enum strobe_device_result result =
        failed || !job->name || !job->kernels ? no_memory() : place_rings(job, device);
    if (!result)
        result = build_kernels(program, device, job);
    if (result)
        strobe_device_job_release(job);
    else
        *out = job;
    return result;
}

enum strobe_device_result strobe_program_job(struct strobe_program *program,
                                             struct strobe_device *device,
                                             struct strobe_device_job **job)
{
    strobe_program_number(program);
    for (uint32_t i = 0; i < program->n_made; i++)
        if (program->made[i].device == device && program->made[i].device_number == device->number) {
            *job = program->made[i].job;
            (*job)->n_references++;
            return STROBE_DEVICE_OK;
        }
    if (program->n_made == sizeof program->made / sizeof *program->made)
        changed(program);
    enum strobe_device_result result = make_job(program, device, job);
    if (!result) {
        (*job)->n_references++;
        program->made[program->n_made].device = device;
        program->made[program->n_made].device_number = device->number;
        program->made[program->n_made++].job = *job;
    }
    return result;
}
