/* preload_side.c - see the header.  SPDX-License-Identifier: MIT */
#include "recorder/preload_side.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "recorder/internal.h"
#include "recorder/program.h"
#include "recorder/sample_side.h"

#define LIBRARY "libstrobe-preload.so"

bool strobe_recorder_preload_find(const char *name, char *out, size_t cap)
{
    static const char *const places[] = {"../lib/", "../lib64/", "../" STROBE_LIBDIR "/", ""};
    char exe[PATH_MAX], path[PATH_MAX + 128], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (n > 0)
        exe[n] = 0;
    else if (!started || !realpath(started, exe)) /* without /proc: as it was started */
        return false;
    char *slash = strrchr(exe, '/');
    if (!slash)
        return false;
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s/%s%s", exe, places[i], name);
        if (!access(path, R_OK) && realpath(path, real) && strlen(real) < cap) {
            strcpy(out, real);
            return !strpbrk(real, ": ");
        }
    }
    return false;
}

/* `name` gets `value` in front of, or behind, what it has. */
static bool add_word(const char *name, const char *value, bool in_front)
{
    const char *old = getenv(name);
    char *words = NULL;
    if (!old || !*old)
        return !setenv(name, value, 1);
    if (asprintf(&words, "%s:%s", in_front ? value : old, in_front ? old : value) < 0)
        return false;
    bool done = !setenv(name, words, 1);
    free(words);
    return done;
}

/* A program with the address sanitizer would refuse to run behind a library that it does not know. */
bool strobe_recorder_preload_add(const char *path)
{
    STROBE_ASSERT(path[0] == '/');
    return add_word("LD_PRELOAD", path, true) &&
           add_word("ASAN_OPTIONS", "verify_asan_link_order=0", false);
}

/* Set, or taken away from what this process has. */
static bool set_word(const char *name, const char *value)
{
    return !(value ? setenv(name, value, 1) : unsetenv(name));
}

/* Whether the command's functions call hooks that the library has. */
static bool has_hooks(const struct strobe_recorder *r)
{
    char path[PATH_MAX];
    return r->options.command && strobe_program_find(r->options.command[0], path, sizeof path) &&
           strobe_program_has_hooks(path);
}

int strobe_recorder_preload_environment(struct strobe_recorder *r)
{
    const struct strobe_recorder_options *options = &r->options;
    char path[PATH_MAX], hz[16];
    bool by_timer = strobe_recorder_sample_needs_timer(r);
    bool is_asked = options->memory || options->locks || by_timer || options->zones;
    r->has_hooks = has_hooks(r);
    is_asked = is_asked || r->has_hooks;
    bool is_wanted = is_asked && !r->takes_no_preload;
    bool is_found = is_wanted && strobe_recorder_preload_find(LIBRARY, path, sizeof path);
    if (is_wanted && !is_found)
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_PRELOAD,
                                                             .subject = LIBRARY});
    r->timer_hz = by_timer && is_found ? strobe_recorder_sample_timer_hz(options->sample_hz) : 0;
    snprintf(hz, sizeof hz, "%u", r->timer_hz);
    bool done = (!is_found || strobe_recorder_preload_add(path)) &&
                set_word("STROBE_MEMORY", is_found ? options->memory : NULL) &&
                set_word("STROBE_LOCKS", is_found ? options->locks : NULL) &&
                set_word("STROBE_ZONES", is_found ? options->zones : NULL) &&
                set_word("STROBE_SAMPLE_TIMER", r->timer_hz ? hz : NULL);
    return done ? 0 : errno;
}

const char *strobe_recorder_preload_what(const struct strobe_recorder *r)
{
    const struct strobe_recorder_options *options = &r->options;
    if (options->memory && options->locks)
        return "memory and locks are";
    return options->memory                  ? "memory is"
           : options->locks                 ? "locks are"
           : options->zones && !r->probes.n ? "functions are"
           : r->has_hooks                   ? "functions are"
           : r->timer_hz                    ? "stack samples are"
                                            : NULL;
}
