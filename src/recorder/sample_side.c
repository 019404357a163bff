/* sample_side.c - see the header. The source itself: sample/source.h.  SPDX-License-Identifier: MIT */
#include "recorder/sample_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/descendants.h"
#include "recorder/internal.h"
#include "recorder/probe_side.h"
#include "recorder/program.h"
#include "ring/session.h"

uint64_t strobe_recorder_newest(const struct strobe_recorder *r)
{
    return r->sampler ? strobe_sampler_n_begun(r->sampler) : strobe_descendants_newest();
}

bool strobe_recorder_sample_may(const struct strobe_recorder *r)
{
    STROBE_ASSERT(r->options.pid);
    bool has_kernel;
    return r->options.sample_hz && !strobe_sampler_probe(r->options.pid, &has_kernel);
}

bool strobe_recorder_sample_needs_timer(const struct strobe_recorder *r)
{
    bool has_kernel;
    return r->options.sample_hz && strobe_sampler_probe(0, &has_kernel);
}

uint32_t strobe_recorder_sample_timer_hz(uint32_t hz)
{
    struct timespec tick;
    STROBE_ASSERT(hz);
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec <= 0)
        return hz;
    uint32_t most = (uint32_t)(1000000000 / tick.tv_nsec);
    return hz < most ? hz : most;
}

/* Whether the command's file is a Python, or a script that names one. */
static bool is_python_file(const char *path)
{
    char line[128] = "";
    const char *file = strrchr(path, '/');
    if (!strncmp(file ? file + 1 : path, "python", strlen("python")))
        return !access(path, X_OK);
    FILE *in = fopen(path, "re");
    bool is_script = in && fgets(line, sizeof line, in) && !strncmp(line, "#!", 2);
    if (in)
        fclose(in);
    return is_script && strstr(line, "python");
}

static bool may_be_python(const struct strobe_recorder *r, uint32_t pid, bool is_running)
{
    char exe[256], file[4096];
    if (is_running)
        return strobe_recorder_python_is(pid, exe, sizeof exe);
    return r->options.command && r->options.command[0] &&
           strobe_program_find(r->options.command[0], file, sizeof file) && is_python_file(file);
}

static void open_sampler(struct strobe_recorder *r, uint32_t pid, bool is_running)
{
    int system_error = 0;
    STROBE_ASSERT(r->collector && r->writer && !r->sampler && pid);
    if (r->timer_hz && !is_running) {
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_TIMERS,
                                                             .number = (int)r->timer_hz});
        r->outcome.timer_hz = r->timer_hz;
        return;
    }
    strobe_recorder_probe_find(r, pid, is_running, &r->probes);
    struct strobe_sampler_options options = {
        .store = strobe_recorder_store(r),
        .hz = r->options.sample_hz,
        .pid = pid,
        .is_running = is_running,
        .has_waits = r->options.waits,
        .has_syscalls = r->options.syscalls,
        .probes = &r->probes,
        .is_prompt = may_be_python(r, pid, is_running),
        .is_mono = strobe_session_clock() == STROBE_CLOCK_MONO,
    };
    if (strobe_sampler_open(&options, &r->sampler, &system_error))
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_SAMPLES,
                                                             .pid = is_running ? pid : 0,
                                                             .number = system_error});
    strobe_recorder_probe_say(r);
}

void strobe_recorder_sample_open(struct strobe_recorder *r, uint32_t pid, bool is_running)
{
    if (r->options.sample_hz)
        open_sampler(r, pid, is_running);
    if (r->options.syscalls && !(r->sampler && strobe_sampler_status(r->sampler).has_syscalls))
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_CALLS});
}

/* What the calls cost the program stands in the trace, too. */
static void note_calls(struct strobe_recorder *r)
{
    char text[160];
    const struct strobe_sampler_status *samples = &r->outcome.samples;
    STROBE_ASSERT(r->outcome.was_sampled);
    if (!samples->n_calls)
        return;
    snprintf(text, sizeof text,
             "%llu system calls were recorded: that costs the program some 2 us each, %.3f s in "
             "all",
             (unsigned long long)samples->n_calls, (double)samples->n_calls * 2e-6);
    strobe_collector_note(r->collector, 0, text);
}

/* What the kernel did not give is said once, at the end, when its number is known. */
void strobe_recorder_sample_stop(struct strobe_recorder *r)
{
    if (!r->sampler)
        return;
    strobe_sampler_stop(r->sampler);
    r->outcome.samples = strobe_sampler_status(r->sampler);
    r->outcome.was_sampled = true;
    note_calls(r);
    strobe_recorder_probe_note(r);
    const struct strobe_sampler_status *samples = &r->outcome.samples;
    if (samples->n_missed)
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_UNSAMPLED,
                                                             .number = (int)samples->n_missed});
    if (samples->switches_off)
        strobe_recorder_say(r,
                            (struct strobe_recorder_word){.event = STROBE_RECORDER_SWITCHES_OFF});
}
