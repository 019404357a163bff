/* symbolize.c - see symbolize.h.  SPDX-License-Identifier: MIT */
#include "sample/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sample/symbol_names.h"

enum { READ_BYTES = 64 << 10 };

static int compare_rows(const void *a, const void *b)
{
    const struct strobe_wanted_row *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->vaddr != y->vaddr)
        return x->vaddr < y->vaddr ? -1 : 1;
    if ((x->address ^ y->address) & STROBE_WANTED_LOC) /* code is that of an address */
        return x->address < y->address ? -1 : 1;
    return x->proc < y->proc ? -1 : x->proc > y->proc;
}

/* ---- the child ---- */

static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now))
        return;
    now.rlim_cur = now.rlim_max < most ? now.rlim_max : most;
    setrlimit(resource, &now);
}

_Noreturn static void run_child(const struct strobe_wanted *wanted,
                                const struct strobe_modules *modules, int fd)
{
    STROBE_ASSERT(fd >= 0 && wanted->n);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    limit(RLIMIT_CPU, 2 * STROBE_SYMBOLIZE_NS / 1000000000u);
    limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    limit(RLIMIT_AS, (rlim_t)4 << 30);
#endif
    strobe_symbol_names_run(wanted, modules, fd);
    _exit(0);
}

/* ---- the parent ---- */

struct reading {
    struct strobe_build_store *store;
    const struct strobe_wanted *wanted;
    struct strobe_map builds; /* number of a process to struct strobe_build *, owned */
    uint8_t *bytes;           /* owned: READ_BYTES, n of them unread */
    size_t n;
    uint32_t n_named, last_row;
    bool told_kinds;
};

/* Records are all that is added: nothing of the process is in question. */
static bool ask_nothing(void *context, uint32_t proc, uint64_t track,
                        struct strobe_build_known *out)
{
    (void)context;
    (void)proc;
    (void)track;
    (void)out;
    return false;
}

/* A process of the trace, to write records of. NULL: over the budget. */
static struct strobe_build *build_of(struct reading *r, uint32_t proc)
{
    uint64_t *value = strobe_map_find(&r->builds, proc);
    struct strobe_build_saved saved = {.proc = proc};
    struct strobe_build *build = NULL;
    if (value)
        return (void *)(uintptr_t)*value;
    if (strobe_build_resume(r->store, &saved, ask_nothing, NULL, &build))
        return NULL;
    if (strobe_map_put(&r->builds, proc, (uint64_t)(uintptr_t)build)) {
        strobe_build_close(build);
        return NULL;
    }
    return build;
}

static bool is_loc(const struct strobe_wanted_row *row)
{
    return row->module != STROBE_WANTED_KERNEL && row->address & STROBE_WANTED_LOC;
}

/* A function that is a location: the answer of the outermost function is its own, and comes last. */
static void put_loc(struct strobe_build *build, const struct strobe_wanted_row *row, uint32_t line,
                    const char *const *texts, const size_t *sizes)
{
    uint64_t numbers[] = {row->address & ~STROBE_WANTED_LOC, line, 0};
    const char *of_loc[] = {texts[0], sizes[1] ? texts[1] : texts[2], ""};
    size_t sizes_of_loc[] = {sizes[0], sizes[1] ? sizes[1] : sizes[2], 0};
    strobe_build_record(build, STROBE_META_LOC, numbers, of_loc, sizes_of_loc);
}

/* One function at one place: a record for each process that has been there. */
static void put_answer(struct reading *r, const struct strobe_symbol_answer *what, const char *text)
{
    STROBE_ASSERT(what->row < r->wanted->n);
    const struct strobe_wanted *wanted = r->wanted;
    const char *texts[] = {text, text + what->n_function, text + what->n_function + what->n_file};
    size_t sizes[] = {what->n_function, what->n_file, what->n_image};
    bool is_new = what->row != r->last_row;
    r->last_row = what->row;
    for (uint32_t i = what->row; i < wanted->n; i++) {
        const struct strobe_wanted_row *row = &wanted->rows[i];
        if (row->module != wanted->rows[what->row].module ||
            row->vaddr != wanted->rows[what->row].vaddr)
            break;
        struct strobe_build *build = build_of(r, row->proc);
        uint64_t start = what->into <= row->address ? row->address - what->into : 0;
        uint64_t numbers[] = {row->address, what->inlined, what->line, start};
        if (build && is_loc(row))
            put_loc(build, row, what->line, texts, sizes);
        else if (build)
            strobe_build_record(build, STROBE_META_SYMBOL, numbers, texts, sizes);
        r->n_named += build && is_new;
    }
}

/* A piece of a function's code: for one process, others have it by their module. */
static void put_code(struct reading *r, const struct strobe_symbol_answer *what, const char *bytes)
{
    STROBE_ASSERT(what->row < r->wanted->n && what->n_code);
    const struct strobe_wanted_row *row = &r->wanted->rows[what->row];
    struct strobe_build *build = build_of(r, row->proc);
    uint64_t numbers[] = {row->address - what->into, what->inlined, what->line};
    size_t size = what->n_code;
    if (!build || is_loc(row) || what->into > row->address)
        return;
    if (!r->told_kinds)
        strobe_build_kinds(build);
    r->told_kinds = true;
    strobe_build_record(build, STROBE_META_CODE, numbers, &bytes, &size);
}

/* Take the whole answers that are there. False: what came can't be right. */
static bool take_answers(struct reading *r)
{
    STROBE_ASSERT(r->n <= READ_BYTES);
    size_t at = 0;
    while (r->n - at >= sizeof(struct strobe_symbol_answer)) {
        struct strobe_symbol_answer what;
        memcpy(&what, r->bytes + at, sizeof what);
        size_t n_text = (size_t)what.n_function + what.n_file + what.n_image + what.n_code;
        if (what.row >= r->wanted->n ||
            n_text > (what.n_code ? STROBE_SYMBOL_PIECE : 3 * STROBE_SYMBOL_TEXT))
            return false;
        if (r->n - at < sizeof what + n_text)
            break;
        (what.n_code ? put_code : put_answer)(r, &what, (const char *)r->bytes + at + sizeof what);
        at += sizeof what + n_text;
    }
    memmove(r->bytes, r->bytes + at, r->n - at);
    r->n -= at;
    return true;
}

/* Until the child is done, or its time is over. */
static void read_answers(struct reading *r, int fd)
{
    STROBE_ASSERT(fd >= 0 && r->bytes);
    uint64_t deadline = strobe_clock_mono_ns() + STROBE_SYMBOLIZE_NS;
    for (;;) {
        uint64_t now = strobe_clock_mono_ns();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (now >= deadline)
            return;
        if (poll(&wait, 1, (int)((deadline - now) / 1000000) + 1) <= 0)
            continue;
        STROBE_ASSERT(r->n < READ_BYTES);
        ssize_t n = read(fd, r->bytes + r->n, READ_BYTES - r->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        r->n += (size_t)n;
        if (!take_answers(r))
            return;
    }
}

static void close_builds(struct reading *r)
{
    for (uint32_t i = 0; i < r->builds.n; i++)
        strobe_build_close((void *)(uintptr_t)r->builds.entries[i].value);
    strobe_map_free(&r->builds);
}

uint32_t strobe_symbolize_run(struct strobe_build_store *store, struct strobe_wanted *wanted,
                              const struct strobe_modules *modules)
{
    struct reading r = {.store = store, .wanted = wanted, .last_row = UINT32_MAX};
    int fds[2], status;
    if (!wanted->n || !(r.bytes = malloc(READ_BYTES)))
        return 0;
    qsort(wanted->rows, wanted->n, sizeof *wanted->rows, compare_rows);
    if (pipe2(fds, O_CLOEXEC)) {
        free(r.bytes);
        return 0;
    }
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        run_child(wanted, modules, fds[1]);
    }
    close(fds[1]);
    if (child > 0) {
        read_answers(&r, fds[0]);
        kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close(fds[0]);
    close_builds(&r);
    free(r.bytes);
    strobe_build_store_flush(store);
    return r.n_named;
}
