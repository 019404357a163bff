/* decode_thread.c - what a thread says beside its zones: messages, plots, frames, fibers, sections,
 * its crash; and the program's parameters.
 * SPDX-License-Identifier: MIT */
#include "tracy/decode.h"

/* ---- messages ---- */

/* Severity of a message by its metadata byte; 512: the client knows none. */
static uint64_t severity_of(const struct strobe_tracy_session *s, uint8_t meta)
{
    if (!s->table.message_has_meta)
        return 2 + 512;
    return (uint64_t)(meta >> 4) + (meta & 15 ? 256 : 0);
}

void strobe_tracy_on_message(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    bool colored = form & FORM_COLORED;
    struct thread *thread = strobe_tracy_current(s);
    uint64_t raw = strobe_tracy_absolute(s, fields);
    uint8_t meta = s->table.message_has_meta ? fields[colored ? 11 : 8] : 0;
    uint64_t numbers[] = {severity_of(s, meta), colored ? get_color(fields + 8) : 0};
    if (!thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    if (form & FORM_WITH_STACK)
        strobe_tracy_put_waiting(s, thread, &thread->stack, raw);
    strobe_tracy_put(s, thread->track, raw, STROBE_KIND_MESSAGE, numbers, s->single.bytes,
                     s->single.n);
    s->single.n = 0;
}

void strobe_tracy_on_literal(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    bool colored = form & FORM_COLORED;
    uint64_t field = get64(fields + (colored ? 11 : 8));
    uint32_t protocol = s->table.protocol;
    uint8_t meta = (uint8_t)(protocol >= 79 ? field : field >> 56);
    struct held held = {
        .kind = STROBE_KIND_MESSAGE,
        .raw = strobe_tracy_absolute(s, fields),
        .pointer = protocol >= 79   ? field >> 8
                   : protocol >= 77 ? field & 0xffffffffffffff
                                    : field,
        .numbers = {severity_of(s, meta), colored ? get_color(fields + 8) : 0},
        .thread = strobe_tracy_current(s),
    };
    if (!held.thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    if (form & FORM_WITH_STACK)
        strobe_tracy_take_stack(&held, &held.thread->stack);
    strobe_tracy_hold(s, &held);
}

void strobe_tracy_on_app_info(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    strobe_tracy_put_current(s, strobe_tracy_absolute(s, fields), STROBE_KIND_APP_INFO, NULL,
                             s->single.bytes, s->single.n);
    s->single.n = 0;
}

void strobe_tracy_on_crash(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    struct held held = {.kind = STROBE_KIND_CRASH,
                        .raw = strobe_tracy_absolute(s, fields),
                        .pointer = get64(fields + 8),
                        .thread = strobe_tracy_current(s)};
    s->crashed = true;
    if (!held.thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    strobe_tracy_take_stack(&held, &held.thread->stack);
    strobe_tracy_hold(s, &held);
}

void strobe_tracy_on_crash_begin(struct strobe_tracy_session *s, const uint8_t *fields,
                                 uint32_t form)
{
    (void)fields, (void)form;
    s->crashed = true;
}

void strobe_tracy_on_parameter(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    struct held held = {
        .kind = STROBE_META_PARAMETER,
        .pointer = get64(fields + 4),
        .numbers = {get32(fields), fields[12], (uint64_t)(int32_t)get32(fields + 13)}};
    strobe_tracy_hold(s, &held);
}

/* ---- plots ---- */

static void plot(struct strobe_tracy_session *s, const uint8_t *fields, const uint8_t *value,
                 enum plot_form type)
{
    uint64_t raw = strobe_tracy_step(s, (int64_t)get64(fields + 8));
    bool is_float = type == FORM_FLOAT, is_int = type == FORM_INT;
    if (s->lost_thread)
        return strobe_tracy_set_aside(s, NULL, "a plot of a thread that is not known");
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_PLOT, get64(fields)),
                          is_float ? strobe_tracy_bits(strobe_tracy_float_at(value))
                                   : get64(value)};
    strobe_tracy_put_current(s, raw, is_int ? STROBE_KIND_PLOT_INT : STROBE_KIND_PLOT_DOUBLE,
                             numbers, NULL, 0);
}

void strobe_tracy_on_plot(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    plot(s, fields, fields + 16, (enum plot_form)form);
}

void strobe_tracy_on_plot_of_any_type(struct strobe_tracy_session *s, const uint8_t *fields,
                                      uint32_t form)
{
    (void)form;
    plot(s, fields, fields + 17, (enum plot_form)fields[16]);
}

void strobe_tracy_on_plot_config(struct strobe_tracy_session *s, const uint8_t *fields,
                                 uint32_t form)
{
    (void)form;
    bool full = s->table.protocol >= 59;
    uint64_t no_fill = full && !fields[10] ? 256 : 0;
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_PLOT, get64(fields)), fields[8] | no_fill,
                          full ? fields[9] : 0, full ? get32(fields + 11) : 0};
    strobe_build_record(s->build, STROBE_META_PLOT_CONFIG, numbers, NULL, NULL);
}

/* The client's own measurement of the machine: a plot of percents. */
void strobe_tracy_on_cpu_usage(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    if (!s->cpu_plot) {
        s->cpu_plot = strobe_build_string(s->build, "CPU usage", 9);
        uint64_t config[] = {s->cpu_plot, 2, 0, 0};
        strobe_build_record(s->build, STROBE_META_PLOT_CONFIG, config, NULL, NULL);
    }
    uint64_t numbers[] = {s->cpu_plot, strobe_tracy_bits(strobe_tracy_float_at(fields + 8))};
    strobe_tracy_put_current(s, strobe_tracy_absolute(s, fields), STROBE_KIND_PLOT_DOUBLE, numbers,
                             NULL, 0);
}

void strobe_tracy_on_power(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_STRING, get64(fields + 16)),
                          get64(fields + 8)};
    strobe_tracy_put_current(s, strobe_tracy_absolute(s, fields), STROBE_KIND_PLOT_INT, numbers,
                             NULL, 0);
}

/* ---- frames ---- */

void strobe_tracy_on_frame(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    uint64_t name = strobe_tracy_name(s, SPACE_FRAME, get64(fields + 8));
    strobe_tracy_put_current(s, strobe_tracy_absolute(s, fields), (enum strobe_kind)form, &name,
                             NULL, 0);
}

void strobe_tracy_on_frame_image(struct strobe_tracy_session *s, const uint8_t *fields,
                                 uint32_t form)
{
    (void)form;
    uint64_t numbers[] = {get32(fields) - s->on_demand_frames, get16(fields + 4), get16(fields + 6),
                          fields[8]};
    strobe_tracy_put_current(s, s->last_raw, STROBE_KIND_FRAME_IMAGE, numbers, s->image.bytes,
                             s->image.n);
    s->image.n = 0;
}

void strobe_tracy_on_frame_vsync(struct strobe_tracy_session *s, const uint8_t *fields,
                                 uint32_t form)
{
    (void)form;
    uint64_t display = get32(fields + 8);
    strobe_tracy_put_current(s, strobe_tracy_absolute(s, fields), STROBE_KIND_FRAME_VSYNC, &display,
                             NULL, 0);
}

/* ---- fibers and sections ---- */

void strobe_tracy_on_fiber(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    bool enter = form & FORM_ENTER;
    uint64_t raw = strobe_tracy_step(s, (int64_t)get64(fields));
    struct thread *thread = strobe_tracy_thread_of(s, get32(fields + (enter ? 16 : 8)));
    int64_t own;
    if (!thread || s->lost_thread)
        return strobe_tracy_set_aside(s, thread, "a fiber of a thread that is not known");
    uint64_t tick = strobe_tracy_time(s, raw, &own);
    strobe_build_fiber(s->build, thread->track, tick,
                       enter ? strobe_tracy_fiber(s, get64(fields + 8)) : 0);
    if (own)
        strobe_build_own_time(s->build, thread->track, own);
}

void strobe_tracy_on_section(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    bool enter = form & FORM_ENTER;
    uint64_t raw = strobe_tracy_step(s, (int64_t)get64(fields));
    bool has_category = enter && s->table.protocol >= 82;
    uint64_t numbers[] = {get32(fields + 8), has_category ? get16(fields + 12) : 0};
    if (s->lost_thread)
        return strobe_tracy_set_aside(s, NULL, "a section of a thread that is not known");
    if (!enter)
        return strobe_tracy_put_current(s, raw, STROBE_KIND_SECTION_LEAVE, numbers, NULL, 0);
    strobe_tracy_put_current(s, raw, STROBE_KIND_SECTION_ENTER, numbers, s->single.bytes,
                             s->single.n);
    s->single.n = 0;
}

void strobe_tracy_on_section_name(struct strobe_tracy_session *s, const uint8_t *fields,
                                  uint32_t form)
{
    (void)form;
    uint64_t category = get16(fields);
    const char *name = s->single.bytes;
    strobe_build_record(s->build, STROBE_META_SECTION_NAME, &category, &name, &s->single.n);
    s->single.n = 0;
}
