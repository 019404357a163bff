/* csv_events.c - rows of everything that is no zone: what follows thread and time, by kind.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "export/csv.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)
#define TRACK     "process,pid,thread,tid,time_ns,"

static void put_string(struct strobe_csv *csv, const struct strobe_happening *happening,
                       uint64_t id)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *text = strobe_trace_string(csv->trace, happening->process, id, room, &n);
    strobe_out_csv(csv->out, text, n);
}

static void put_loc_name(struct strobe_csv *csv, const struct strobe_happening *happening,
                         uint64_t id)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, loc = strobe_trace_loc(csv->trace, happening->process, id);
    const char *name = strobe_trace_loc_name(csv->trace, loc, id, room, &n);
    strobe_out_csv(csv->out, name, n);
}

static void put_kind_name(struct strobe_csv *csv, unsigned kind)
{
    strobe_out_csv(csv->out, csv->trace->schema.kind[kind].name,
                   csv->trace->schema.kind[kind].n_name);
}

static void put_message(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    static const char *const severities[] = {"trace", "debug", "info", "warning", "error", "fatal"};
    const struct strobe_field *f = happening->event->fields;
    enum {
        OF_CLIENT = 256,
        NONE = 512
    }; /* a Tracy client said it itself; it knows no severities */
    uint64_t severity = f[0].u & 255;
    struct strobe_out *out = csv->out;
    if (f[0].u & OF_CLIENT)
        strobe_out_text(out, f[0].u & NONE ? "client" : "client ");
    if (severity >= 6)
        strobe_out_u(out, severity);
    else if (!(f[0].u & NONE))
        strobe_out_text(out, severities[severity]);
    strobe_out_char(out, ',');
    if (f[1].u)
        strobe_out_format(out, "#%06x", (unsigned)(f[1].u & 0xffffff));
    strobe_out_char(out, ',');
    strobe_out_csv(out, f[2].text, f[2].u);
}

static void put_plot(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    static const char *const formats[] = {"number", "bytes", "percent", "watt"};
    const struct strobe_field *f = happening->event->fields;
    struct strobe_out *out = csv->out;
    put_string(csv, happening, f[0].u);
    strobe_out_char(out, ',');
    if (happening->event->kind == STROBE_KIND_PLOT_DOUBLE)
        strobe_out_double(out, f[1].d);
    else
        strobe_out_i(out, f[1].i);
    uint32_t plot = strobe_idmap_find(&csv->trace->plot_ids, happening->process, f[0].u);
    uint64_t format = plot == STROBE_IDMAP_NONE ? 0 : csv->trace->plots[plot].format;
    strobe_out_char(out, ',');
    strobe_out_text(out, format < 4 ? formats[format] : "number");
}

static void put_frame(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    put_kind_name(csv, happening->event->kind);
    strobe_out_char(csv->out, ',');
    put_string(csv, happening, happening->event->fields[0].u);
}

static void put_memory(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    put_kind_name(csv, happening->event->kind);
    strobe_out_char(csv->out, ',');
    put_string(csv, happening, f[0].u);
    strobe_out_char(csv->out, ',');
    if (happening->event->kind != STROBE_KIND_MEM_DISCARD)
        strobe_out_hex(csv->out, f[1].u);
    strobe_out_char(csv->out, ',');
    if (happening->event->kind == STROBE_KIND_MEM_ALLOC ||
        happening->event->kind == STROBE_KIND_MEM_BLOCK)
        strobe_out_u(csv->out, f[2].u);
}

static void put_lock(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    put_kind_name(csv, happening->event->kind);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, f[0].u);
    strobe_out_char(csv->out, ',');
    const char *name = strobe_trace_lock_name(csv->trace, happening->process, f[0].u, room, &n);
    strobe_out_csv(csv->out, name, n);
    strobe_out_char(csv->out, ',');
    if (happening->event->n_fields > 1 && f[1].letter == 'u')
        strobe_out_u(csv->out, f[1].u);
    strobe_out_char(csv->out, ',');
    if (happening->event->kind == STROBE_KIND_LOCK_MARK)
        put_loc_name(csv, happening, f[1].u);
}

static void put_fiber(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    int enters = happening->event->kind == STROBE_KIND_FIBER_ENTER;
    uint64_t fiber = enters ? happening->event->fields[0].u : happening->fiber;
    put_kind_name(csv, happening->event->kind);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, fiber);
    strobe_out_char(csv->out, ',');
    const char *name = strobe_trace_fiber_name(csv->trace, happening->process, fiber, room, &n);
    strobe_out_csv(csv->out, name, n);
}

/* Kinds whose fields are plain numbers: flows, switches. */
static void put_numbers(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    put_kind_name(csv, happening->event->kind);
    for (unsigned i = 0; i < happening->event->n_fields; i++) {
        strobe_out_char(csv->out, ',');
        strobe_out_u(csv->out, happening->event->fields[i].u);
    }
}

static void put_text_event(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    put_kind_name(csv, happening->event->kind);
    strobe_out_char(csv->out, ',');
    strobe_out_csv(csv->out, happening->event->fields[0].text, happening->event->fields[0].u);
}

/* A quote in a name is doubled: frames stand in one quoted field. */
static void put_frames(struct strobe_csv *csv, uint32_t process, const uint64_t *list, uint64_t n)
{
    strobe_out_char(csv->out, '"');
    for (uint64_t i = 0; i < n; i++) {
        uint32_t length = 0;
        const char *name =
            csv->symbols ? strobe_symbols_name(csv->symbols, process, list[i], &length) : "";
        if (i)
            strobe_out_char(csv->out, ';');
        for (uint32_t k = 0; k < length; k++) {
            if (name[k] == '"')
                strobe_out_char(csv->out, '"');
            strobe_out_char(csv->out, name[k]);
        }
    }
    strobe_out_char(csv->out, '"');
}

static void put_callstack(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    const struct strobe_event *event = happening->event;
    put_kind_name(csv, event->kind);
    strobe_out_char(csv->out, ',');
    if (event->loc)
        put_loc_name(csv, happening, event->loc);
    strobe_out_format(csv->out, ",%llu,", (unsigned long long)happening->n_stack);
    put_frames(csv, happening->process, happening->stack, happening->n_stack);
}

static void put_sample(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    strobe_out_u(csv->out, f[0].u);
    strobe_out_format(csv->out, ",%llu,", (unsigned long long)f[1].u);
    put_frames(csv, happening->process, f[1].list, f[1].u);
}

/* One field of any kind, by its letter. */
static void put_field(struct strobe_csv *csv, const struct strobe_happening *happening,
                      const struct strobe_field *field)
{
    switch (field->letter) {
    case 'i':
        strobe_out_i(csv->out, field->i);
        break;
    case 'd':
        strobe_out_double(csv->out, field->d);
        break;
    case 'n':
        put_string(csv, happening, field->u);
        break;
    case 'l':
        put_loc_name(csv, happening, field->u);
        break;
    case 's':
        strobe_out_csv(csv->out, field->text, field->u);
        break;
    case 'a':
        put_frames(csv, happening->process, field->list, field->u);
        break;
    default:
        strobe_out_u(csv->out, field->u);
    }
}

/* The field of an event that is called `name` (n bytes); NULL: it has none. */
static const struct strobe_field *find_field(const struct strobe_csv *csv,
                                             const struct strobe_event *event, const char *name,
                                             size_t n)
{
    const char *at = csv->trace->schema.kind[event->kind].field_names;
    const char *last = at + csv->trace->schema.kind[event->kind].n_field_names;
    for (unsigned i = 0; i < event->n_fields && at < last; i++) {
        const char *comma = memchr(at, ',', (size_t)(last - at));
        size_t length = (size_t)((comma ? comma : last) - at);
        if (length == n && !memcmp(at, name, n))
            return &event->fields[i];
        at += length + 1;
    }
    return NULL;
}

/* A family of kinds in one table: what it is, then each field under the column of its name. */
static void put_family(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    put_kind_name(csv, happening->event->kind);
    const char *column = csv->kind->head + sizeof TRACK "what," - 1;
    while (*column) {
        size_t n = strcspn(column, ",\n");
        const struct strobe_field *field = find_field(csv, happening->event, column, n);
        strobe_out_char(csv->out, ',');
        if (field)
            put_field(csv, happening, field);
        column += n + 1;
    }
}

/* Pixels are not for a table: their number of bytes. */
static void put_image(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    for (unsigned i = 0; i < 5; i++) {
        if (i)
            strobe_out_char(csv->out, ',');
        strobe_out_u(csv->out, f[i].u);
    }
}

/* Any event: its kind and up to eight fields. Begins of zones name their location first. */
static void put_any(struct strobe_csv *csv, const struct strobe_happening *happening)
{
    enum { COLUMNS = 8 };
    const struct strobe_event *event = happening->event;
    put_kind_name(csv, event->kind);
    for (unsigned i = 0; i < COLUMNS; i++) {
        strobe_out_char(csv->out, ',');
        if (i == 0 && event->kind == STROBE_KIND_ZONE_BEGIN)
            put_field(csv, happening, &(struct strobe_field){.letter = 'l', .u = event->loc});
        else if (i < event->n_fields && event->kind == STROBE_KIND_FRAME_IMAGE)
            strobe_out_u(csv->out, event->fields[i].u);
        else if (i < event->n_fields)
            put_field(csv, happening, &event->fields[i]);
    }
    strobe_out_char(csv->out, ',');
    if (happening->n_stack)
        put_frames(csv, happening->process, happening->stack, happening->n_stack);
}

enum strobe_err strobe_csv_put_event(void *context, const struct strobe_happening *happening)
{
    struct strobe_csv *csv = context;
    if (!strobe_csv_wants_thread(csv, happening->process, happening->thread) ||
        (csv->kind->kinds == BIT(CALLSTACK) && !happening->n_stack))
        return STROBE_OK;
    strobe_csv_put_thread(csv, happening->process, happening->thread);
    strobe_out_i(csv->out, strobe_clock_rel(&csv->trace->clock, happening->event->tick));
    strobe_out_char(csv->out, ',');
    csv->kind->put_rest(csv, happening);
    strobe_out_char(csv->out, '\n');
    return csv->out->error ? STROBE_ERR_IO : STROBE_OK;
}

const struct strobe_csv_kind strobe_csv_kinds[] = {
    {"messages", TRACK "severity,color,text\n", BIT(MESSAGE), put_message, "texts of the program"},
    {"plots", TRACK "plot,value,format\n", BIT(PLOT_INT) | BIT(PLOT_DOUBLE), put_plot,
     "values over time"},
    {"frames", TRACK "what,frame\n", BIT(FRAME_MARK) | BIT(FRAME_START) | BIT(FRAME_END), put_frame,
     "frame marks"},
    {"images", TRACK "frame,width,height,flip,bytes\n", BIT(FRAME_IMAGE), put_image,
     "images of frames"},
    {"vsyncs", TRACK "what,display\n", BIT(FRAME_VSYNC), put_family, "vertical blanks of displays"},
    {"memory", TRACK "what,pool,address,size\n",
     BIT(MEM_ALLOC) | BIT(MEM_FREE) | BIT(MEM_DISCARD) | BIT(MEM_BLOCK), put_memory,
     "allocations and frees"},
    {"locks", TRACK "what,lock,name,shared,location\n",
     BIT(LOCK_WAIT) | BIT(LOCK_OBTAIN) | BIT(LOCK_RELEASE) | BIT(LOCK_MARK) | BIT(LOCK_GONE) |
         BIT(LOCK_WAITED),
     put_lock, "waits for locks"},
    {"sections", TRACK "what,section,category,text\n", BIT(SECTION_ENTER) | BIT(SECTION_LEAVE),
     put_family, "sections of the program's run"},
    {"gpu_events", TRACK "what,context,query,tid,location,time,host,delta_ns,note,value\n",
     BIT(GPU_BEGIN) | BIT(GPU_END) | BIT(GPU_TIME) | BIT(GPU_CALIBRATION) | BIT(GPU_SYNC) |
         BIT(GPU_NOTE),
     put_family, "what GPU zones are made of, as it was emitted"},
    {"fibers", TRACK "what,fiber,name\n", BIT(FIBER_ENTER) | BIT(FIBER_LEAVE), put_fiber,
     "which fiber ran where"},
    {"flows", TRACK "what,flow\n", BIT(FLOW_BEGIN) | BIT(FLOW_STEP) | BIT(FLOW_END), put_numbers,
     "arrows between events"},
    {"callstacks", TRACK "of,name,n_frames,frames\n", BIT(CALLSTACK), put_callstack,
     "call stacks of events, innermost first"},
    {"samples", TRACK "cpu,n_frames,frames\n", BIT(SAMPLE), put_sample, "sampled call stacks"},
    {"switches", TRACK "what,cpu,reason\n", BIT(SWITCH_IN) | BIT(SWITCH_OUT), put_numbers,
     "context switches"},
    {"wakeups", TRACK "what,cpu,by\n", BIT(WOKEN), put_numbers,
     "threads that were woken, to run on which processor, by which thread"},
    {"cpus",
     TRACK "what,cpu,from,to,tid,reason,state,c_state,to_priority,from_priority,increment\n",
     BIT(CPU_SWITCH) | BIT(WAKEUP), put_family, "who ran on each processor, who was woken"},
    {"counters", TRACK "what,counter,address\n", BIT(HW_SAMPLE), put_family,
     "samples of the processor's counters"},
    {"notes", TRACK "what,text\n", BIT(TRIGGER) | BIT(APP_INFO) | BIT(CRASH), put_text_event,
     "triggers, crashes, what the program said about itself"},
    {"all", TRACK "kind,field1,field2,field3,field4,field5,field6,field7,field8,callstack\n", ~0ull,
     put_any, "every event as it was emitted, in one table"},
};
const size_t strobe_csv_n_kinds = sizeof strobe_csv_kinds / sizeof strobe_csv_kinds[0];
