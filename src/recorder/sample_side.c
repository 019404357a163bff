/* sample_side.c - see the header. The source itself: sample/source.h.  SPDX-License-Identifier: MIT */
#include "recorder/sample_side.h"

#include "recorder/internal.h"
#include "ring/session.h"

bool strobe_recorder_sample_may(const struct strobe_recorder *r)
{
    STROBE_ASSERT(r->options.pid);
    bool has_kernel;
    return r->options.sample_hz && !strobe_sampler_probe(r->options.pid, &has_kernel);
}

void strobe_recorder_sample_open(struct strobe_recorder *r, uint32_t pid, bool is_running)
{
    int system_error = 0;
    STROBE_ASSERT(r->collector && r->writer && !r->sampler && pid);
    if (!r->options.sample_hz)
        return;
    struct strobe_sampler_options options = {
        .store = strobe_recorder_store(r),
        .hz = r->options.sample_hz,
        .pid = pid,
        .is_running = is_running,
        .is_mono = strobe_session_clock() == STROBE_CLOCK_MONO,
    };
    if (strobe_sampler_open(&options, &r->sampler, &system_error))
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_SAMPLES,
                                                             .pid = is_running ? pid : 0,
                                                             .number = system_error});
}

/* What the kernel did not give is said once, at the end, when its number is known. */
void strobe_recorder_sample_stop(struct strobe_recorder *r)
{
    if (!r->sampler)
        return;
    strobe_sampler_stop(r->sampler);
    r->outcome.samples = strobe_sampler_status(r->sampler);
    r->outcome.was_sampled = true;
    const struct strobe_sampler_status *samples = &r->outcome.samples;
    if (samples->n_missed)
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_UNSAMPLED,
                                                             .number = (int)samples->n_missed});
    if (samples->switches_off)
        strobe_recorder_say(r,
                            (struct strobe_recorder_word){.event = STROBE_RECORDER_SWITCHES_OFF});
}
