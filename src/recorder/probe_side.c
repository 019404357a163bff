/* probe_side.c - see the header.  SPDX-License-Identifier: MIT */
#include "recorder/probe_side.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/internal.h"
#include "recorder/program.h"
#include "sample/chosen.h"
#include "sample/probe_kernel.h"

enum { FILES = 512 };

/* Files with code of one program, each once. */
struct files {
    char *paths[FILES]; /* owned */
    uint32_t n;
};

static void add_file(struct files *files, const char *path)
{
    char real[PATH_MAX];
    if (path[0] != '/' || files->n == FILES || !realpath(path, real))
        return;
    for (uint32_t i = 0; i < files->n; i++)
        if (!strcmp(files->paths[i], real))
            return;
    if ((files->paths[files->n] = strdup(real)))
        files->n++;
}

static void free_files(struct files *files)
{
    while (files->n)
        free(files->paths[--files->n]);
}

/* What the program's loader would load for it: asked by its name, it prints "NAME => PATH (ADDRESS)" and runs nothing. (The program itself
 * with LD_TRACE_LOADED_OBJECTS would run where its loader does not know that.) */
static void ask_loader(struct files *files, const char *loader, const char *program)
{
    static char list[] = "--list";
    char *const command[] = {(char *)(uintptr_t)loader, list, (char *)(uintptr_t)program, NULL};
    char *const environment[] = {NULL};
    char line[PATH_MAX + 64];
    int fds[2], status;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe2(fds, O_CLOEXEC))
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(&child, loader, &actions, NULL, command, environment);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    FILE *in = error ? NULL : fdopen(fds[0], "r");
    while (in && fgets(line, sizeof line, in)) {
        char *path = strchr(line, '/');
        if (path)
            path[strcspn(path, " \n")] = 0;
        if (path)
            add_file(files, path);
    }
    if (in)
        fclose(in);
    else
        close(fds[0]);
    while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}

static void list_mapped(struct files *files, uint32_t pid)
{
    char path[64], line[PATH_MAX + 128], rights[8], file[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "%*s %7s %*s %*s %*s %4095[^\n]", rights, file) == 2 && rights[2] == 'x')
            add_file(files, file);
    if (in)
        fclose(in);
}

static void list_files(const struct strobe_recorder *r, uint32_t pid, bool is_running,
                       struct files *files)
{
    char path[PATH_MAX], loader[PATH_MAX], exe[64];
    if (is_running) {
        snprintf(exe, sizeof exe, "/proc/%u/exe", pid);
        add_file(files, exe);
        list_mapped(files, pid);
    } else if (r->options.command &&
               strobe_program_find(r->options.command[0], path, sizeof path)) {
        char real[PATH_MAX];
        add_file(files, realpath(path, real) ? real : path);
        if (files->n && strobe_program_loader(files->paths[0], loader, sizeof loader))
            ask_loader(files, loader, files->paths[0]);
    }
}

static bool throws(const struct files *files)
{
    for (uint32_t i = 0; i < files->n; i++)
        if (strobe_program_throws(files->paths[i]))
            return true;
    return false;
}

/* The kernel learns of a function's return by another return address on the stack. An exception that comes by there finds no way out, and ends
 * the program: marks alone, then. */
static void leave_functions(struct strobe_recorder *r, const struct files *files,
                            struct strobe_probes *probes)
{
    uint32_t n_all = probes->n;
    strobe_probes_free(probes);
    probes->no_functions = true;
    for (uint32_t i = 0; i < files->n; i++)
        strobe_probes_find(probes, files->paths[i], r->options.zones, i == 0);
    if (n_all > probes->n)
        strobe_recorder_say(r, (struct strobe_recorder_word){
                                   .event = STROBE_RECORDER_NO_PROBES,
                                   .text = "exceptions, which this program may throw, can't pass a "
                                           "function that has a probe",
                                   .number = (int)(n_all - probes->n)});
}

void strobe_recorder_probe_find(struct strobe_recorder *r, uint32_t pid, bool is_running,
                                struct strobe_probes *out)
{
    struct files files = {.n = 0};
    STROBE_ASSERT(pid && !out->n);
    if (!r->options.zones)
        return;
    list_files(r, pid, is_running, &files);
    out->no_hooked = !is_running;
    for (uint32_t i = 0; i < files.n; i++)
        strobe_probes_find(out, files.paths[i], r->options.zones, i == 0);
    if (out->n && throws(&files))
        leave_functions(r, &files, out);
    free_files(&files);
    const char *refusal = out->n ? strobe_probe_kernel_refusal() : NULL;
    if (!refusal)
        return;
    strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_PROBES,
                                                         .text = refusal,
                                                         .number = (int)out->n});
    strobe_probes_free(out);
}

void strobe_recorder_probe_say(struct strobe_recorder *r)
{
    if (!r->probes.n)
        return;
    struct strobe_sampler_status status = {0};
    if (r->sampler)
        status = strobe_sampler_status(r->sampler);
    if (status.n_probes < r->probes.n)
        strobe_recorder_say(
            r, (struct strobe_recorder_word){
                   .event = STROBE_RECORDER_NO_PROBES,
                   .text = r->sampler ? strerror(status.probe_error ? status.probe_error : EPERM)
                                      : "there are no samples, which it goes with",
                   .number = (int)(r->probes.n - status.n_probes)});
    if (r->probes.n_left_out || r->probes.n_unfit)
        strobe_recorder_say(r, (struct strobe_recorder_word){
                                   .event = STROBE_RECORDER_NO_PROBES,
                                   .text = r->probes.n_left_out
                                               ? "256 are the most at once"
                                               : "they begin with no instruction to stop at",
                                   .number = (int)(r->probes.n_left_out + r->probes.n_unfit)});
}

/* What the probes cost the program stands in the trace, too. */
void strobe_recorder_probe_note(struct strobe_recorder *r)
{
    char text[160];
    uint64_t n = r->outcome.samples.n_probed;
    STROBE_ASSERT(r->outcome.was_sampled);
    if (!n)
        return;
    snprintf(
        text, sizeof text,
        "%llu times a thread came by a probe: that costs the program some 2 us each, %.3f s in "
        "all",
        (unsigned long long)n, (double)n * 2e-6);
    strobe_collector_note(r->collector, 0, text);
}
