/* content_rest.c - what comes behind the zones in a .tracy file: plots, memory, call stacks, images,
 * context switches, symbols, source files.  SPDX-License-Identifier: MIT */
#include "tracy_file/content.h"

#include <stdlib.h>

enum { N_CPUS = 256, N_HW_COUNTERS = 6, MAX_IMAGE = 16 << 20 };

static enum strobe_err read_plot(struct strobe_tracy_content *content,
                                 const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    struct strobe_tracy_plot plot = {.type = strobe_tracy_u8(in)};
    plot.format = strobe_tracy_u8(in);
    plot.step = strobe_tracy_u8(in);
    plot.fill = strobe_tracy_u8(in);
    plot.color = strobe_tracy_u32(in);
    plot.name = strobe_tracy_pointer(content, strobe_tracy_u64(in));
    plot.min = strobe_tracy_f64(in);
    plot.max = strobe_tracy_f64(in);
    plot.sum = strobe_tracy_f64(in);
    plot.n_points = strobe_tracy_u64(in);
    if (in->err)
        return in->err;
    STROBE_TRACY_TELL(plot, &plot);
    if (!visitor->plot_point)
        return strobe_tracy_skip_items(content, plot.n_points, 16);
    uint64_t ref = 0;
    for (uint64_t i = 0; i < plot.n_points && !in->err; i++) {
        ref += strobe_tracy_u64(in);
        double value = strobe_tracy_f64(in);
        if (!in->err)
            STROBE_TRACY_TELL(plot_point, (int64_t)ref, value);
    }
    return in->err;
}

static enum strobe_err read_plots(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor)
{
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(&content->in), read_plot);
}

static enum strobe_err read_alloc(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor, uint64_t *ref)
{
    struct strobe_tracy_bytes *in = &content->in;
    struct strobe_tracy_alloc alloc = {.address = strobe_tracy_u64(in)};
    alloc.size = strobe_tracy_u64(in);
    alloc.callstack = strobe_tracy_u24(in);
    alloc.free_callstack = strobe_tracy_u24(in);
    *ref += strobe_tracy_u64(in);
    alloc.time = (int64_t)*ref;
    int64_t lived = strobe_tracy_i64(in);
    alloc.free_time = lived < 0 ? STROBE_TRACY_OPEN : (int64_t)(*ref + (uint64_t)lived);
    alloc.thread = strobe_tracy_u16(in);
    alloc.free_thread = strobe_tracy_u16(in);
    if (!in->err)
        STROBE_TRACY_TELL(alloc, &alloc);
    return in->err;
}

static enum strobe_err read_pool(struct strobe_tracy_content *content,
                                 const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t pointer = strobe_tracy_u64(in), n = strobe_tracy_u64(in), ref = 0;
    strobe_tracy_u64(in); /* live */
    strobe_tracy_u64(in); /* frees */
    if (in->err)
        return in->err;
    STROBE_TRACY_TELL(pool, strobe_tracy_pointer(content, pointer), pointer, n);
    enum strobe_err err = STROBE_OK;
    if (!visitor->alloc)
        err = strobe_tracy_skip_items(content, n, 42);
    else
        for (uint64_t i = 0; i < n && !in->err && !err; i++)
            err = read_alloc(content, visitor, &ref);
    strobe_tracy_skip(in, 32); /* high, low, usage, name */
    if (err || in->err)
        return err ? err : in->err;
    STROBE_TRACY_TELL(pool_end);
    return STROBE_OK;
}

static enum strobe_err read_memory(struct strobe_tracy_content *content,
                                   const struct strobe_tracy_visitor *visitor)
{
    uint64_t n = strobe_tracy_u64(&content->in);
    strobe_tracy_u64(&content->in); /* events of all pools */
    return strobe_tracy_read_each(content, visitor, n, read_pool);
}

/* ---- call stacks ----------------------------------------------------------------------------- */

static enum strobe_err read_stacks(struct strobe_tracy_content *content,
                                   const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    uint64_t frames[STROBE_TRACY_PIECE / 8];
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint16_t n_frames = strobe_tracy_u16(in);
        uint32_t kept = n_frames < STROBE_TRACY_PIECE / 8 ? n_frames : STROBE_TRACY_PIECE / 8;
        memcpy(frames, strobe_tracy_get(in, kept * 8), kept * 8);
        strobe_tracy_skip(in, (uint64_t)(n_frames - kept) * 8);
        if (!in->err && i < UINT32_MAX)
            STROBE_TRACY_TELL(stack, (uint32_t)i + 1, frames, kept);
    }
    return in->err;
}

static enum strobe_err read_stack_frame(struct strobe_tracy_content *content,
                                        const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    struct strobe_tracy_frame frame = {.id = strobe_tracy_u64(in)};
    uint8_t n = strobe_tracy_u8(in);
    frame.image = strobe_tracy_read_idx(content);
    for (frame.inlined = 0; frame.inlined < n && !in->err; frame.inlined++) {
        frame.name = strobe_tracy_read_idx(content);
        frame.file = strobe_tracy_read_idx(content);
        frame.line = strobe_tracy_u32(in);
        frame.symbol = strobe_tracy_u64(in);
        if (!in->err)
            STROBE_TRACY_TELL(stack_frame, &frame);
    }
    return in->err;
}

static enum strobe_err read_stack_frames(struct strobe_tracy_content *content,
                                         const struct strobe_tracy_visitor *visitor)
{
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(&content->in),
                                  read_stack_frame);
}

/* ---- app info, images ------------------------------------------------------------------------ */

static enum strobe_err read_app_info(struct strobe_tracy_content *content,
                                     const struct strobe_tracy_visitor *visitor)
{
    uint64_t n = strobe_tracy_u64(&content->in);
    for (uint64_t i = 0; i < n && !content->in.err; i++) {
        struct strobe_tracy_text text = strobe_tracy_read_ref(content);
        if (!content->in.err)
            STROBE_TRACY_TELL(app_info, text);
    }
    return content->in.err;
}

static enum strobe_err read_image(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint16_t width = strobe_tracy_u16(in), height = strobe_tracy_u16(in);
    uint8_t flip = strobe_tracy_u8(in);
    size_t n = (size_t)((uint64_t)width * height / 2);
    if (in->err || !visitor->image || n > MAX_IMAGE) {
        strobe_tracy_skip(in, n);
        return in->err;
    }
    uint8_t *dxt1 = malloc(n ? n : 1);
    if (!dxt1)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = STROBE_OK;
    if (strobe_tracy_copy(in, dxt1, n))
        err = visitor->image(visitor->context, width, height, flip, dxt1, (uint32_t)n);
    free(dxt1);
    return err ? err : in->err;
}

static enum strobe_err read_images(struct strobe_tracy_content *content,
                                   const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    strobe_tracy_skip(in, strobe_tracy_u32(in)); /* a dictionary for the viewer */
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(in), read_image);
}

/* ---- context switches ------------------------------------------------------------------------ */

static enum strobe_err read_thread_switches(struct strobe_tracy_content *content,
                                            const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    int has_wakeup_cpu = content->head.version >= STROBE_TRACY_VERSION(11, 3);
    uint64_t tid = strobe_tracy_u64(in), n = strobe_tracy_u64(in), ref = 0;
    for (uint64_t i = 0; i < n && !in->err; i++) {
        struct strobe_tracy_switch run = {.thread = tid};
        run.wakeup = (int64_t)(ref += strobe_tracy_u64(in));
        run.start = (int64_t)(ref += strobe_tracy_u64(in));
        run.end = (int64_t)(ref += strobe_tracy_u64(in));
        run.cpu = strobe_tracy_u8(in);
        run.reason = (int8_t)strobe_tracy_u8(in);
        run.state = (int8_t)strobe_tracy_u8(in);
        run.carrier = strobe_tracy_u64(in);
        run.wakeup_cpu = has_wakeup_cpu ? strobe_tracy_u8(in) : run.cpu;
        if (!in->err)
            STROBE_TRACY_TELL(context_switch, &run);
    }
    return in->err;
}

static enum strobe_err read_switches(struct strobe_tracy_content *content,
                                     const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(in), read_thread_switches);
}

static enum strobe_err read_cpu_runs(struct strobe_tracy_content *content,
                                     const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    strobe_tracy_u64(in); /* runs of all CPUs */
    for (unsigned cpu = 0; cpu < N_CPUS; cpu++) {
        uint64_t n = strobe_tracy_u64(in), ref = 0;
        for (uint64_t i = 0; i < n && !in->err; i++) {
            uint64_t start = ref += strobe_tracy_u64(in), end = ref += strobe_tracy_u64(in);
            uint16_t number = strobe_tracy_u16(in);
            uint64_t tid =
                number < content->n_foreign_threads ? content->foreign_threads[number] : 0;
            if (!in->err)
                STROBE_TRACY_TELL(cpu_run, (uint8_t)cpu, (int64_t)start, (int64_t)end, tid);
        }
    }
    return in->err;
}

static enum strobe_err read_pids(struct strobe_tracy_content *content,
                                 const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint64_t tid = strobe_tracy_u64(in), pid = strobe_tracy_u64(in);
        if (!in->err)
            STROBE_TRACY_TELL(tid_pid, tid, pid);
    }
    return strobe_tracy_skip_items(content, strobe_tracy_u64(in),
                                   24); /* sums of the runs per thread */
}

/* ---- hardware samples; functions, code and sources: content_code.c ---------------------------- */

static enum strobe_err read_hw_samples(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint64_t address = strobe_tracy_u64(in);
        for (uint32_t counter = 0; counter < N_HW_COUNTERS; counter++) {
            uint64_t n_times = strobe_tracy_u64(in), ref = 0;
            for (uint64_t j = 0; j < n_times && !in->err; j++) {
                ref += strobe_tracy_u64(in);
                if (!in->err)
                    STROBE_TRACY_TELL(hw_sample, address, counter, (int64_t)ref);
            }
        }
    }
    return in->err;
}

static const struct strobe_tracy_step steps[] = {
    {STROBE_TRACY_PLOTS, read_plots},
    {STROBE_TRACY_MEMORY, read_memory},
    {23, read_stacks},
    {STROBE_TRACY_STACKS, read_stack_frames},
    {STROBE_TRACY_APP_INFO, read_app_info},
    {STROBE_TRACY_IMAGES, read_images},
    {27, read_switches},
    {STROBE_TRACY_SWITCHES, read_cpu_runs},
    {29, read_pids},
    {30, strobe_tracy_read_functions},
    {31, strobe_tracy_read_code},
    {32, read_hw_samples},
    {STROBE_TRACY_SOURCES, strobe_tracy_read_sources},
};

enum strobe_err strobe_tracy_read_rest(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor)
{
    return strobe_tracy_read_steps(content, visitor, steps, sizeof steps / sizeof steps[0]);
}
