/* nvtx.c - libstrobe-nvtx: what programs mark with NVTX, recorded. The program loads this library by itself (nvtx_abi.h), because `strobe record`
 * names it in the environment; the program needs no NVIDIA library and is not changed.
 *
 *   push, pop     zones of the thread. A domain has a stack of its own, so that a pop finds the innermost range of its domain
 *   start, end    spans: they may overlap and end on another thread
 *   mark          messages
 *   domain        the function of the location: "domain" or "domain/category"
 *
 * Runs inside the traced program: never prints, never exits; where memory is missing, a range is not recorded.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/names.h"
#include "layers/nvtx_abi.h"

enum { MAX_DEPTH = 4096, GROUP_BYTES = 256 };

struct category {
    struct category *next;
    uint32_t id;
    char name[];
};

/* Made once, never freed: locations and open ranges refer to it. */
struct domain {
    struct category *categories; /* owned: pushed in front, never taken away */
    char name[];
};

struct open_range {
    const struct domain *domain; /* borrowed; compared only */
    struct strobe_zone zone;
    int is_begun; /* somebody recorded */
};

struct stack {
    struct open_range *rows; /* owned: freed at the thread's end */
    uint32_t n, room;
    uint32_t n_over; /* pushes that found no room */
};

static __thread struct stack stack __attribute__((tls_model("initial-exec")));
static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static struct domain *default_domain;
static int is_python; /* its functions' zones begin and end in between */

/* ---- what a range is called ---- */

struct text {
    const char *at;
    size_t n;
};

static struct text text_of(const char *text)
{
    text = text ? text : "";
    return (struct text){text, strnlen(text, STROBE_LAYERS_TEXT_MAX)};
}

static struct text message_of(const struct strobe_nvtx_attributes *attributes, char *room,
                              size_t cap)
{
    switch (attributes->message ? attributes->message_type : 0) {
    case STROBE_NVTX_MESSAGE_ASCII:
    case STROBE_NVTX_MESSAGE_STRING: /* registered: our copy of it */
        return text_of(attributes->message);
    case STROBE_NVTX_MESSAGE_WIDE:
        return (struct text){room, strobe_layers_narrow(attributes->message, room, cap)};
    }
    return text_of("(no name)");
}

static const struct domain *domain_or_default(const struct domain *domain)
{
    return domain ? domain : default_domain;
}

static void group_of(const struct domain *domain, uint32_t category, char *out, size_t cap)
{
    const struct category *at = __atomic_load_n(&domain->categories, __ATOMIC_ACQUIRE);
    while (at && at->id != category)
        at = at->next;
    if (!category)
        snprintf(out, cap, "%s", domain->name);
    else if (at)
        snprintf(out, cap, "%s/%s", domain->name, at->name);
    else
        snprintf(out, cap, "%s/category %u", domain->name, category);
}

/* An event as it is recorded. */
struct event {
    const struct domain *domain;
    struct text name;
    uint32_t color, category;
    const struct strobe_nvtx_attributes *attributes; /* NULL: a name alone */
    char room[STROBE_LAYERS_TEXT_MAX];
};

static void read_attributes(const struct domain *domain,
                            const struct strobe_nvtx_attributes *attributes, struct event *out)
{
    static const struct strobe_nvtx_attributes nothing;
    if (!attributes || attributes->n_bytes < sizeof *attributes)
        attributes = &nothing;
    out->domain = domain_or_default(domain);
    out->attributes = attributes;
    out->name = message_of(attributes, out->room, sizeof out->room);
    out->category = attributes->category;
    out->color =
        attributes->color_type == STROBE_NVTX_COLOR_ARGB ? attributes->color & 0xffffff : 0;
}

static void read_text(const char *text, struct event *out)
{
    out->domain = default_domain;
    out->attributes = NULL;
    out->name = text_of(text);
    out->category = out->color = 0;
}

static void read_wide(const wchar_t *text, struct event *out)
{
    read_text("", out);
    out->name = (struct text){out->room, strobe_layers_narrow(text, out->room, sizeof out->room)};
}

/* The location of an event; *is_shared: it is that of names beyond the table. */
static struct strobe_loc *loc_of(const struct event *event, int *is_shared)
{
    static struct strobe_loc many = {0, "NVTX range", "NVTX", "", 0, 0};
    char group[GROUP_BYTES];
    group_of(event->domain, event->category, group, sizeof group);
    struct strobe_loc *loc = strobe_layers_loc(event->name.at, event->name.n, group, event->color);
    *is_shared = !loc;
    return loc ? loc : &many;
}

/* ---- push and pop ---- */

static void free_stack(void *unused)
{
    (void)unused;
    free(stack.rows);
    stack = (struct stack){0};
}

static void make_key(void)
{
    pthread_key_create(&stack_key, free_stack);
}

static struct open_range *push_row(void)
{
    if (stack.n == stack.room) {
        uint32_t room = stack.room ? 2 * stack.room : 16;
        struct open_range *rows =
            room > MAX_DEPTH ? NULL : realloc(stack.rows, room * sizeof *rows);
        if (!rows) {
            stack.n_over++;
            return NULL;
        }
        pthread_once(&stack_once, make_key);
        pthread_setspecific(stack_key, rows);
        stack.rows = rows;
        stack.room = room;
    }
    return &stack.rows[stack.n++];
}

static int depth_of(const struct domain *domain)
{
    int n = 0;
    for (uint32_t i = 0; i < stack.n; i++)
        n += stack.rows[i].domain == domain;
    return n;
}

/* Whole numbers from 0 on are the zone's value; others a text, because a value has no sign. */
static void add_whole(int64_t value)
{
    if (value >= 0)
        strobe_zone_value((uint64_t)value);
    else
        strobe_zone_textf("payload %lld", (long long)value);
}

static void add_payload(const struct strobe_nvtx_attributes *attributes)
{
    switch (attributes->payload_type) {
    case STROBE_NVTX_PAYLOAD_U64:
        strobe_zone_value(attributes->payload.u64);
        break;
    case STROBE_NVTX_PAYLOAD_U32:
        strobe_zone_value(attributes->payload.u32);
        break;
    case STROBE_NVTX_PAYLOAD_I64:
        add_whole(attributes->payload.i64);
        break;
    case STROBE_NVTX_PAYLOAD_I32:
        add_whole(attributes->payload.i32);
        break;
    case STROBE_NVTX_PAYLOAD_F64:
        strobe_zone_textf("payload %.17g", attributes->payload.f64);
        break;
    case STROBE_NVTX_PAYLOAD_F32:
        strobe_zone_textf("payload %.9g", (double)attributes->payload.f32);
        break;
    }
}

/* Whether a range may end after zones around it, or before zones in it. */
static int may_overlap(const struct domain *domain)
{
    return is_python || (stack.n > 1 && stack.rows[stack.n - 2].domain != domain);
}

static int push(const struct event *event)
{
    struct open_range *row = push_row();
    int is_shared;
    if (!row)
        return -1;
    row->domain = event->domain;
    row->is_begun = strobe_gate_is_open(strobe_gate_now);
    if (row->is_begun) {
        row->zone = strobe_zone_begin(loc_of(event, &is_shared));
        if (may_overlap(event->domain))
            strobe_zone_loose();
        if (is_shared)
            strobe_zone_name(event->name.at, event->name.n);
        if (event->attributes)
            add_payload(event->attributes);
    }
    return depth_of(event->domain) - 1;
}

static int pop(const struct domain *domain)
{
    uint32_t i = stack.n;
    if (stack.n_over) {
        stack.n_over--;
        return -1;
    }
    while (i && stack.rows[i - 1].domain != domain)
        i--;
    if (!i)
        return -1;
    struct open_range row = stack.rows[i - 1];
    memmove(&stack.rows[i - 1], &stack.rows[i], (stack.n - i) * sizeof row);
    stack.n--;
    if (row.is_begun)
        strobe_zone_end(&row.zone);
    return depth_of(domain);
}

/* ---- start and end, marks ---- */

static uint64_t start(const struct event *event)
{
    uint64_t span = strobe_span_new_id();
    int is_shared;
    if (strobe_gate_is_open(strobe_gate_now))
        strobe_span_begin(span, loc_of(event, &is_shared));
    return span;
}

static void mark(const struct event *event)
{
    if (strobe_gate_is_open(strobe_gate_now))
        strobe_message(STROBE_INFO, event->color, event->name.at, event->name.n);
}

/* ---- NVTX's functions ---- */

static void mark_ex(const struct strobe_nvtx_attributes *attributes)
{
    struct event event;
    read_attributes(NULL, attributes, &event);
    mark(&event);
}

static void mark_a(const char *text)
{
    struct event event;
    read_text(text, &event);
    mark(&event);
}

static void mark_w(const wchar_t *text)
{
    struct event event;
    read_wide(text, &event);
    mark(&event);
}

static uint64_t domain_start_ex(const struct domain *domain,
                                const struct strobe_nvtx_attributes *attributes)
{
    struct event event;
    read_attributes(domain, attributes, &event);
    return start(&event);
}

static uint64_t start_ex(const struct strobe_nvtx_attributes *attributes)
{
    return domain_start_ex(NULL, attributes);
}

static uint64_t start_a(const char *text)
{
    struct event event;
    read_text(text, &event);
    return start(&event);
}

static uint64_t start_w(const wchar_t *text)
{
    struct event event;
    read_wide(text, &event);
    return start(&event);
}

static void end(uint64_t span)
{
    if (span && strobe_gate_is_open(strobe_gate_now))
        strobe_span_end(span);
}

static void domain_end(const struct domain *domain, uint64_t span)
{
    (void)domain;
    end(span);
}

static int domain_push_ex(const struct domain *domain,
                          const struct strobe_nvtx_attributes *attributes)
{
    struct event event;
    read_attributes(domain, attributes, &event);
    return push(&event);
}

static int push_ex(const struct strobe_nvtx_attributes *attributes)
{
    return domain_push_ex(NULL, attributes);
}

static int push_a(const char *text)
{
    struct event event;
    read_text(text, &event);
    return push(&event);
}

static int push_w(const wchar_t *text)
{
    struct event event;
    read_wide(text, &event);
    return push(&event);
}

static int domain_pop(const struct domain *domain)
{
    return pop(domain_or_default(domain));
}

static int pop_default(void)
{
    return pop(default_domain);
}

static void domain_mark_ex(const struct domain *domain,
                           const struct strobe_nvtx_attributes *attributes)
{
    struct event event;
    read_attributes(domain, attributes, &event);
    mark(&event);
}

/* ---- names ---- */

static void name_category(struct domain *domain, uint32_t id, const char *name)
{
    size_t n = text_of(name).n;
    struct category *made = name ? calloc(1, sizeof *made + n + 1) : NULL;
    if (!made)
        return;
    made->id = id;
    memcpy(made->name, name, n);
    made->next = __atomic_load_n(&domain->categories, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&domain->categories, &made->next, made, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
}

static void domain_category_a(struct domain *domain, uint32_t id, const char *name)
{
    name_category(domain ? domain : default_domain, id, name);
}

static void domain_category_w(struct domain *domain, uint32_t id, const wchar_t *name)
{
    char room[STROBE_LAYERS_TEXT_MAX];
    strobe_layers_narrow(name, room, sizeof room);
    domain_category_a(domain, id, room);
}

static void category_a(uint32_t id, const char *name)
{
    domain_category_a(NULL, id, name);
}

static void category_w(uint32_t id, const wchar_t *name)
{
    domain_category_w(NULL, id, name);
}

/* Another thread's name can't be given from here. */
static void thread_a(uint32_t tid, const char *name)
{
    if (name && tid == (uint32_t)gettid())
        strobe_set_thread_name(name);
}

static void thread_w(uint32_t tid, const wchar_t *name)
{
    char room[STROBE_LAYERS_TEXT_MAX];
    strobe_layers_narrow(name, room, sizeof room);
    thread_a(tid, room);
}

static struct domain *domain_create_a(const char *name)
{
    struct text text = text_of(name);
    struct domain *made = calloc(1, sizeof *made + text.n + 1);
    if (made)
        memcpy(made->name, text.at, text.n);
    return made;
}

static struct domain *domain_create_w(const wchar_t *name)
{
    char room[STROBE_LAYERS_TEXT_MAX];
    strobe_layers_narrow(name, room, sizeof room);
    return domain_create_a(room);
}

static void domain_destroy(struct domain *domain)
{
    (void)domain; /* ranges of it may be open, and its strings in use */
}

/* A registered string is a copy of its text, for the process's life. */
static const char *string_a(struct domain *domain, const char *text)
{
    (void)domain;
    return strndup(text ? text : "", STROBE_LAYERS_TEXT_MAX);
}

static const char *string_w(struct domain *domain, const wchar_t *text)
{
    char room[STROBE_LAYERS_TEXT_MAX];
    strobe_layers_narrow(text, room, sizeof room);
    return string_a(domain, room);
}

/* ---- injection ---- */

struct place {
    unsigned int at;
    strobe_nvtx_function function;
};
#define PLACE(at, function)                  \
    {                                        \
        at, (strobe_nvtx_function)(function) \
    }

static const struct place core[] = {
    PLACE(STROBE_NVTX_MARK_EX, mark_ex),
    PLACE(STROBE_NVTX_MARK_A, mark_a),
    PLACE(STROBE_NVTX_MARK_W, mark_w),
    PLACE(STROBE_NVTX_START_EX, start_ex),
    PLACE(STROBE_NVTX_START_A, start_a),
    PLACE(STROBE_NVTX_START_W, start_w),
    PLACE(STROBE_NVTX_END, end),
    PLACE(STROBE_NVTX_PUSH_EX, push_ex),
    PLACE(STROBE_NVTX_PUSH_A, push_a),
    PLACE(STROBE_NVTX_PUSH_W, push_w),
    PLACE(STROBE_NVTX_POP, pop_default),
    PLACE(STROBE_NVTX_CATEGORY_A, category_a),
    PLACE(STROBE_NVTX_CATEGORY_W, category_w),
    PLACE(STROBE_NVTX_THREAD_A, thread_a),
    PLACE(STROBE_NVTX_THREAD_W, thread_w),
};
static const struct place core2[] = {
    PLACE(STROBE_NVTX_DOMAIN_MARK_EX, domain_mark_ex),
    PLACE(STROBE_NVTX_DOMAIN_START_EX, domain_start_ex),
    PLACE(STROBE_NVTX_DOMAIN_END, domain_end),
    PLACE(STROBE_NVTX_DOMAIN_PUSH_EX, domain_push_ex),
    PLACE(STROBE_NVTX_DOMAIN_POP, domain_pop),
    PLACE(STROBE_NVTX_DOMAIN_CATEGORY_A, domain_category_a),
    PLACE(STROBE_NVTX_DOMAIN_CATEGORY_W, domain_category_w),
    PLACE(STROBE_NVTX_DOMAIN_STRING_A, string_a),
    PLACE(STROBE_NVTX_DOMAIN_STRING_W, string_w),
    PLACE(STROBE_NVTX_DOMAIN_CREATE_A, domain_create_a),
    PLACE(STROBE_NVTX_DOMAIN_CREATE_W, domain_create_w),
    PLACE(STROBE_NVTX_DOMAIN_DESTROY, domain_destroy),
};

static int fill(const struct strobe_nvtx_callbacks *callbacks, int module,
                const struct place *places, size_t n_places)
{
    strobe_nvtx_function **table = NULL;
    unsigned int n = 0;
    if (!callbacks->module_table(module, &table, &n) || !table)
        return 0;
    for (size_t i = 0; i < n_places; i++)
        if (places[i].at < n && table[places[i].at])
            *table[places[i].at] = places[i].function;
    return 1;
}

/* NVTX's entry, of version 3 and of version 2. 1: this library is used. Each shared object that has NVTX in it calls once. */
STROBE_API int InitializeInjectionNvtx2(strobe_nvtx_get_table get_table);
STROBE_API int InitializeInjectionNvtx(strobe_nvtx_get_table get_table);

int InitializeInjectionNvtx2(strobe_nvtx_get_table get_table)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const struct strobe_nvtx_callbacks *callbacks =
        get_table ? get_table(STROBE_NVTX_TABLE_CALLBACKS) : NULL;
    if (!callbacks || callbacks->n_bytes < sizeof *callbacks)
        return 0;
    pthread_mutex_lock(&mutex);
    if (!default_domain)
        default_domain = domain_create_a("NVTX");
    is_python = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != NULL;
    int is_made = default_domain != NULL;
    pthread_mutex_unlock(&mutex);
    if (!is_made || !fill(callbacks, STROBE_NVTX_MODULE_CORE, core, sizeof core / sizeof core[0]))
        return 0;
    fill(callbacks, STROBE_NVTX_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
    return 1;
}

int InitializeInjectionNvtx(strobe_nvtx_get_table get_table)
{
    return InitializeInjectionNvtx2(get_table);
}
