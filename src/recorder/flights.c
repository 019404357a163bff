/* flights.c - a flight recording's triggers: noticed in the rounds, saved when the time after one is over. The spool itself:
 * collector/flight.h.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "query/pair.h"
#include "recorder/internal.h"

/* The next of these; names of files that are no traces are passed over. */
static void kept_path(struct strobe_recorder *r, char *out, size_t cap)
{
    do
        strobe_trace_nth_path(r->options.path, ++r->n_names, out, cap);
    while (strobe_file_is_foreign(out));
}

static void keep(struct strobe_recorder *r)
{
    char path[STROBE_RECORDER_PATH_MAX + 64];
    STROBE_ASSERT(r->flight && r->triggered_ns && r->reason[0]);
    kept_path(r, path, sizeof path);
    strobe_collector_flush(r->collector);
    if (r->tracy)
        strobe_tracy_host_flush(r->tracy);
    if (r->devices)
        strobe_devices_flush(r->devices);
    if (r->sampler)
        strobe_sampler_flush(r->sampler);
    enum strobe_err err =
        strobe_flight_save(r->flight, path, r->triggered_tick, r->reason, strobe_pair_write_last);
    strobe_recorder_say(r, (struct strobe_recorder_word){
                               .event = err ? STROBE_RECORDER_NOT_KEPT : STROBE_RECORDER_KEPT,
                               .subject = path,
                               .text = r->reason,
                               .err = err,
                           });
    r->outcome.n_kept += !err;
    r->n_names -= !!err;
    STROBE_ASSERT(r->n_names >= r->outcome.n_kept); /* no two traces have one name */
    r->triggered_ns = 0;
    strobe_collector_clear_trigger(r->collector);
}

static void notice_trigger(struct strobe_recorder *r, uint64_t now)
{
    bool crashed = r->outcome.command_ended && WIFSIGNALED(r->outcome.command_status);
    bool seen = strobe_collector_status(r->collector).triggered;
    if (r->triggered_ns)
        return;
    bool asked = strobe_recorder_was_triggered();
    if (!seen && !asked && !crashed)
        return;
    r->triggered_ns = now;
    r->triggered_tick = strobe_collector_now(r->collector);
    snprintf(r->reason, sizeof r->reason, "%s",
             crashed ? "the program died by a signal"
             : asked ? "SIGUSR2"
                     : "asked for by the program, or a zone over its limit");
}

void strobe_recorder_fly(struct strobe_recorder *r, uint64_t now)
{
    STROBE_ASSERT(r->flight && r->writer == strobe_flight_events(r->flight));
    uint64_t after = r->options.after_ns ? r->options.after_ns : r->options.flight_ns / 10;
    notice_trigger(r, now);
    STROBE_ASSERT(now >= r->triggered_ns);
    if (r->triggered_ns && now - r->triggered_ns >= after)
        keep(r);
    if (!strobe_flight_is_due(r->flight, now))
        return;
    strobe_collector_flush(r->collector);
    if (r->tracy)
        strobe_tracy_host_pause(r->tracy);
    strobe_devices_pause(r->devices);
    if (r->sampler)
        strobe_sampler_pause(r->sampler);
    if (!strobe_flight_rotate(r->flight, now)) {
        r->writer = strobe_flight_events(r->flight);
        strobe_collector_set_writer(r->collector, r->writer);
    }
    if (r->tracy)
        strobe_tracy_host_go_on(r->tracy, r->writer);
    strobe_devices_go_on(r->devices, r->writer);
    if (r->sampler)
        strobe_sampler_go_on(r->sampler, r->writer);
}

void strobe_recorder_land(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->flight && r->state == STROBE_RECORDER_ENDING);
    STROBE_ASSERT(!r->threads_run);
    notice_trigger(r, strobe_clock_mono_ns());
    if (r->triggered_ns)
        keep(r);
}
