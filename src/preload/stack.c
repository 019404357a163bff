/* stack.c - the calling thread's stack as a number, cheap enough for every malloc.
 *
 * Frames are found by rows of .eh_frame (sample/cfi.h), which a table keeps by address; where the code has none, by the frame pointer. A
 * thread keeps the frames of its last walk: as soon as a frame of the new one is where a frame of the old one was, and what lies further
 * out is still there word by word, the rest is the same. So a walk looks at the few frames that changed. Stacks get numbers by a hash of
 * their addresses; a stack that is new is emitted, once, as a STACK event. The inner ends of the last walks are kept, too, so that a loop
 * which allocates in several places walks none of them again.
 *
 * Nothing is read that is not known to be readable. x86-64 has rows; elsewhere frame pointers alone.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "preload/functions.h"
#include "preload/preload.h"
#include "preload/rows.h"

enum {
    DEPTH = 64,     /* frames of a stack, the innermost */
    ROWS = 1 << 15, /* addresses whose rows are kept */
    PATHS_LOG2 = 4, /* inner ends of walks that a thread keeps */
    WAYS_LOG2 = 2,  /* of them those that begin at the same place */
    PATH_PAIRS = 4, /* words of each, likewise as the memo's */
    PATH_SINGLES = 8,
    STACKS = 1 << 17,     /* slots for stacks; three quarters are used */
    MODULES = 256,        /* files with rows */
    BARE = 8,             /* ranges of addresses without a file that are kept */
    PAGES_AT_ONCE = 2048, /* of a stack that are looked at in one walk */
    PAGE = 4096,
    BP = 6,
    SP = 7,
};

/* Two words that lie side by side. */
typedef uint64_t pair_t __attribute__((vector_size(16), aligned(8), may_alias));

/* A frame: the return address pc + 1 was found at `slot`, the frame pointer of the function that it is in at `bp_slot` (0: it was in the
 * register all the way from the frame inside). `hash` is that of this frame and all further out. Most functions do not ask for the frame
 * pointer of their caller: it is compared only where it says what lies further out. */
struct frame {
    uint64_t slot, pc, bp_slot, bp, hash;
    uint8_t n_pairs,
        n_singles; /* of the memo's: what has to be unchanged for this frame and all further out */
    bool reads_bp, keeps_bp; /* its function's row: by bp; bp is the caller's, too */
    bool needs_bp;           /* what lies further out depends on its bp */
};

/* Per thread, outermost first. */
static STROBE_PRELOAD_TLS struct {
    uint32_t n;
    uint64_t low, high;           /* of the stack that is known to be readable */
    uint64_t number_hash, number; /* of the last stack that has a number */
    struct frame frames[DEPTH];
    /* What must be unchanged for the frames to be the same: a frame pointer with the return address behind it, and single words. */
    const volatile pair_t *pairs_at[DEPTH];
    pair_t pairs[DEPTH];
    const volatile uint64_t *singles_at[2 * DEPTH];
    uint64_t singles[2 * DEPTH];
} memo;

/* The frames of a walk up to one that the memo has: what they were found by, and the number of the whole. */
struct path {
    uint64_t base, number; /* where it began; 0: none */
    uint64_t outer_slot, outer_hash, outer_bp;
    uint8_t n_outer, n_pairs, n_singles;
    uint8_t n_kept; /* of the first of its ways: how often one was written */
    const volatile pair_t *pairs_at[PATH_PAIRS];
    pair_t pairs[PATH_PAIRS];
    const volatile uint64_t *singles_at[PATH_SINGLES];
    uint64_t singles[PATH_SINGLES];
};
static STROBE_PRELOAD_TLS struct path paths[1 << PATHS_LOG2];

/* ---- rows ---- */

enum {
    UNKNOWN = 15
}; /* packed, of a kind that no row has: it can't be looked up now, the stack is cut here */

struct kept_row {
    uint64_t pc;     /* 0: empty, or being written */
    uint64_t packed; /* pack_row; 0: the address has none */
};

struct module {
    uint64_t start, end, bias; /* of its code, and what its addresses are off by */
    uint64_t offset;           /* of its code in the file */
    char path[4096]; /* as the kernel lists it: some characters escaped, " (deleted)" behind it */
    struct strobe_cfi_file cfi;
    bool has_cfi;
    int is_registered; /* with the recorder */
};

/* Addresses of no file: code that was made at run time, or nothing at all. They are looked at again after a while. */
struct fileless {
    uint64_t start, end, until_s;
};

static struct {
    struct kept_row *rows;  /* owned: ROWS */
    struct module *modules; /* owned: MODULES */
    uint8_t *scratch;       /* owned: STROBE_CFI_SCRATCH */
    uint32_t n_modules;
    struct fileless bare[BARE]; /* the last ones that were found; under `owner` */
    uint32_t n_bare;
    int owner; /* tid of who looks a row up; 0: nobody */
} tables;

static uint64_t *stacks; /* owned: STACKS hashes; the number of a stack is its slot + 1 */
static uint32_t n_stacks;

static uint64_t pack_row(const struct strobe_cfi_row *row)
{
    return (uint64_t)(uint32_t)row->cfa_offset << 32 | (uint64_t)(uint16_t)row->bp_offset << 16 |
           (uint64_t)row->bp << 10 | (uint64_t)(row->reg & 31) << 4 | row->kind;
}

static struct strobe_cfi_row unpack_row(uint64_t packed)
{
    return (struct strobe_cfi_row){.cfa_offset = (int32_t)(packed >> 32),
                                   .bp_offset = (int16_t)(packed >> 16),
                                   .bp = packed >> 10 & 3,
                                   .reg = packed >> 4 & 31,
                                   .kind = packed & 15};
}

/* Once, by the first who needs them; others wait for him. */
static bool make_tables(void)
{
    static bool is_tried;
    if (!strobe_preload_take(&tables.owner))
        return false;
    if (!is_tried) {
        tables.rows = strobe_preload_map(ROWS * sizeof *tables.rows);
        tables.modules = strobe_preload_map(MODULES * sizeof *tables.modules);
        tables.scratch = strobe_preload_map(STROBE_CFI_SCRATCH);
        uint64_t *made = strobe_preload_map(STACKS * sizeof *stacks);
        if (tables.rows && tables.modules && tables.scratch && made)
            __atomic_store_n(&stacks, made, __ATOMIC_RELEASE);
        is_tried = true;
    }
    strobe_preload_give(&tables.owner);
    return __atomic_load_n(&stacks, __ATOMIC_ACQUIRE) != NULL;
}

void strobe_preload_stack_forked(void)
{
    strobe_preload_wipe(stacks, STACKS * sizeof *stacks);
    n_stacks = 0;
    memo.number_hash = 0;
    memset(paths, 0, sizeof paths);
    tables.owner = 0;
    for (uint32_t i = 0; i < tables.n_modules; i++)
        tables.modules[i].is_registered = 0;
}

void strobe_preload_stack_mend(void)
{
    strobe_preload_free(&tables.owner);
}

/* ---- modules ---- */

static uint64_t now_s(void)
{
    struct timespec now = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec;
}

static bool is_bare(uint64_t pc)
{
    uint64_t now = now_s();
    for (uint32_t i = 0; i < BARE; i++)
        if (pc >= tables.bare[i].start && pc < tables.bare[i].end && now < tables.bare[i].until_s)
            return true;
    return false;
}

/* Rows of a file, or of the vdso, which is in memory. */
static void open_rows(struct module *module, uint64_t pc, bool is_vdso)
{
    struct strobe_cfi_source source = {.fd = -1};
    uint64_t vaddr;
    if (is_vdso) {
        source.bytes = (const uint8_t *)module->start;
        source.n_bytes = module->end - module->start;
    } else {
        const struct strobe_preload_file file = {module->start, module->end, module->offset,
                                                 module->path};
        source.bytes = strobe_preload_map_code(&file, &source.n_bytes);
    }
    module->has_cfi = source.bytes && strobe_cfi_open(&module->cfi, source, tables.scratch) &&
                      strobe_cfi_vaddr(&module->cfi, pc - module->start + module->offset, &vaddr);
    module->bias = module->has_cfi ? pc - vaddr : 0;
}

static struct module *find_module(uint64_t pc)
{
    struct strobe_preload_mapping mapped;
    for (uint32_t i = 0; i < tables.n_modules; i++)
        if (pc >= tables.modules[i].start && pc < tables.modules[i].end)
            return &tables.modules[i];
    if (tables.n_modules == MODULES || is_bare(pc))
        return NULL;
    struct module *module = &tables.modules[tables.n_modules];
    bool is_found =
        strobe_preload_find_mapping(pc, (char *)tables.scratch, STROBE_CFI_SCRATCH, &mapped) &&
        mapped.is_code;
    bool is_vdso = is_found && mapped.n_path == 6 && !memcmp(mapped.path, "[vdso]", 6);
    if (!is_found || !(is_vdso || (mapped.n_path && mapped.path[0] == '/')) ||
        mapped.n_path >= sizeof module->path) {
        tables.bare[tables.n_bare++ % BARE] =
            (struct fileless){mapped.start, mapped.end, now_s() + 2};
        return NULL;
    }
    module->start = mapped.start;
    module->end = mapped.end;
    module->offset = mapped.offset;
    memcpy(module->path, mapped.path, mapped.n_path);
    module->path[mapped.n_path] = 0;
    open_rows(module, pc, is_vdso);
    __atomic_store_n(&tables.n_modules, tables.n_modules + 1, __ATOMIC_RELEASE);
    return module;
}

/* Look a row up and keep it, one thread at a time. UNKNOWN: somebody else does, for too long, or this thread is in his way: a signal
 * handler. */
static uint64_t look_up(uint64_t pc, struct kept_row *kept)
{
    int saved = errno;
    if (!strobe_preload_take(&tables.owner))
        return UNKNOWN;
    struct strobe_cfi_row row = {0};
    struct module *module = find_module(pc);
    bool has_row =
        module && module->has_cfi && strobe_cfi_row(&module->cfi, pc - module->bias, &row, NULL);
    uint64_t packed = has_row ? pack_row(&row) : 0;
    __atomic_store_n(&kept->pc, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&kept->packed, packed, __ATOMIC_RELEASE);
    __atomic_store_n(&kept->pc, pc, __ATOMIC_RELEASE);
    strobe_preload_give(&tables.owner);
    errno = saved;
    return packed;
}

static uint64_t row_of(uint64_t pc)
{
    struct kept_row *kept = &tables.rows[pc * 0x9fb21c651e98df25u >> 49];
    uint64_t packed = __atomic_load_n(&kept->packed, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&kept->pc, __ATOMIC_ACQUIRE) == pc &&
        __atomic_load_n(&kept->packed, __ATOMIC_RELAXED) == packed)
        return packed;
    return look_up(pc, kept);
}

/* ---- the walk ---- */

/* Look whether the pages up to `at` can be read. */
static __attribute__((noinline)) bool grow_stack(uint64_t at)
{
    int saved = errno;
    bool is_readable = true;
    for (int i = 0; at + 16 > memo.high && is_readable; i++) {
        is_readable = i < PAGES_AT_ONCE && strobe_ring_is_readable((const char *)memo.high);
        memo.high += is_readable ? PAGE : 0;
    }
    errno = saved;
    return is_readable;
}

/* Whether two words at `at` may be read: on this stack, and not below where the walk is. */
static bool is_on_stack(uint64_t at, uint64_t sp)
{
    if (at < sp || at & 7)
        return false;
    return at + 16 <= memo.high || grow_stack(at);
}

static uint64_t word_at(uint64_t at)
{
    return *(const volatile uint64_t *)at;
}

/* The frame around: of a function whose code is at `pc`, its stack pointer and frame pointer as they are in it. What its row asks for is
 * noted in `inner`, the frame as it was. False: it was the last. */
static bool step(struct frame *inner, struct frame *frame, uint64_t *sp)
{
    struct strobe_cfi_row row = unpack_row(row_of(frame->pc));
    uint64_t cfa;
    frame->bp_slot = 0;
    if (row.kind == STROBE_CFI_REG && (row.reg == SP || row.reg == BP)) {
        cfa = (row.reg == SP ? *sp : frame->bp) + (uint64_t)(int64_t)row.cfa_offset;
        inner->reads_bp =
            row.reg == BP || (row.bp != STROBE_CFI_BP_SAME && row.bp != STROBE_CFI_BP_AT_CFA);
        inner->keeps_bp = row.bp == STROBE_CFI_BP_SAME;
        if (cfa <= *sp || !is_on_stack(cfa - 16, *sp - 16))
            return false;
        if (row.bp != STROBE_CFI_BP_SAME) {
            uint64_t at = (row.bp == STROBE_CFI_BP_AT_CFA ? cfa : frame->bp) +
                          (uint64_t)(int64_t)row.bp_offset;
            if (!is_on_stack(at, *sp - 16))
                return false;
            frame->bp_slot = at;
            frame->bp = word_at(at);
        }
    } else if (row.kind == STROBE_CFI_NONE) {
        inner->reads_bp = true;
        if (!frame->bp || !is_on_stack(frame->bp, *sp))
            return false;
        frame->bp_slot = frame->bp;
        cfa = frame->bp + 16;
        frame->bp = word_at(frame->bp);
    } else {
        return false;
    }
    frame->slot = cfa - 8;
    frame->pc = word_at(frame->slot) - 1;
    *sp = cfa;
    return frame->pc > PAGE && frame->pc != ~0ull;
}

/* Whether a frame of the last walk, and all further out, are as they were. */
static inline bool is_unchanged(const struct frame *frame)
{
    pair_t changes = {0, 0};
    uint64_t change = 0;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < frame->n_pairs; i++)
        changes |= *memo.pairs_at[i] ^ memo.pairs[i];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < frame->n_singles; i++)
        change |= *memo.singles_at[i] ^ memo.singles[i];
    return !(changes[0] | changes[1] | change);
}

/* Whether a frame is one of the last walk, as far as what lies further out depends on it. */
static inline bool is_same(const struct frame *last, const struct frame *frame)
{
    return last->slot == frame->slot && last->pc == frame->pc &&
           (!last->needs_bp || last->bp == frame->bp);
}

/* The frames of the last walk that the new one shares, once it has come to `frame`. 0: none. */
static uint32_t shared_from(const struct frame *frame)
{
    uint32_t n = memo.n;
    while (n && memo.frames[n - 1].slot < frame->slot)
        n--;
    memo.n = n; /* further in nothing is left of it */
    if (!n || !is_same(&memo.frames[n - 1], frame) || !is_unchanged(&memo.frames[n - 1]))
        return 0;
    return n;
}

static uint64_t mix(uint64_t hash, uint64_t pc)
{
    hash = (hash ^ pc) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* What depends on the frames further out: frame `n` is put on top of them. */
static void put_frame(uint32_t n)
{
    struct frame *frame = &memo.frames[n], *outer = n ? frame - 1 : NULL;
    frame->hash = mix(outer ? outer->hash : 0, frame->pc);
    frame->needs_bp = frame->reads_bp || (frame->keeps_bp && outer && outer->needs_bp);
    uint8_t n_pairs = outer ? outer->n_pairs : 0, n_singles = outer ? outer->n_singles : 0;
    bool checks_bp = frame->needs_bp && frame->bp_slot;
    if (checks_bp && frame->bp_slot == frame->slot - 8) {
        memo.pairs_at[n_pairs] = (const volatile pair_t *)frame->bp_slot;
        memo.pairs[n_pairs++] = (pair_t){frame->bp, frame->pc + 1};
    } else {
        memo.singles_at[n_singles] = (const volatile uint64_t *)frame->slot;
        memo.singles[n_singles++] = frame->pc + 1;
        memo.singles_at[n_singles] = (const volatile uint64_t *)frame->bp_slot;
        memo.singles[n_singles] = frame->bp;
        n_singles = (uint8_t)(n_singles + checks_bp);
    }
    frame->n_pairs = n_pairs;
    frame->n_singles = n_singles;
}

/* Word by word: what was stored in words a moment ago is slow to load in pairs. */
static inline void copy_frame(struct frame *to, const struct frame *from)
{
    to->slot = from->slot;
    to->pc = from->pc;
    to->bp_slot = from->bp_slot;
    to->bp = from->bp;
    to->reads_bp = from->reads_bp;
    to->keeps_bp = from->keeps_bp;
}

/* Put the new frames, innermost first in `fresh`, on top of the `n` that are shared. */
static void remember(const struct frame *fresh, uint32_t n_fresh, uint32_t n)
{
    if (n + n_fresh > DEPTH) { /* the outermost have no room */
        uint32_t n_out = n + n_fresh - DEPTH, n_kept = n > n_out ? n - n_out : 0;
        memmove(memo.frames, memo.frames + (n - n_kept), n_kept * sizeof *memo.frames);
        n = n_kept;
        for (uint32_t i = 0; i < n; i++)
            put_frame(i);
    }
    while (n_fresh--) {
        copy_frame(&memo.frames[n], &fresh[n_fresh]);
        put_frame(n++);
    }
    memo.n = n;
}

/* Another stack than last time: a fiber's, a signal handler's. */
static void look_at_stack(uint64_t frame)
{
    if (frame >= memo.low && frame < memo.high)
        return;
    memo.low = frame & ~(uint64_t)(PAGE - 1);
    memo.high = memo.low + PAGE;
    memo.n = 0;
}

/* The frame that the exported function was called from. */
static inline struct frame first_frame(uint64_t base)
{
    return (struct frame){
        .slot = base + 8, .bp_slot = base, .bp = word_at(base), .pc = word_at(base + 8) - 1};
}

/* Walk, and put the frames in front of the memo's. How many are new. */
static __attribute__((noinline)) uint32_t walk(uint64_t base)
{
    struct frame fresh[DEPTH], frame;
    uint64_t sp = base + 16;
    uint32_t n = 0, n_shared = 0;
    look_at_stack(base);
    if (!is_on_stack(base, base)) {
        memo.n = 0;
        return 0;
    }
    frame = first_frame(base);
    do {
        n_shared = shared_from(&frame);
        if (n_shared)
            break;
        copy_frame(&fresh[n++], &frame);
    } while (n < DEPTH && step(&fresh[n - 1], &frame, &sp));
    if (n)
        remember(fresh, n, n_shared);
    return n;
}

/* Whether the stack is that of the last walk: most often a loop that allocates. */
static inline bool is_as_before(uint64_t base)
{
    if (!memo.n || base < memo.low || base + 16 > memo.high)
        return false;
    const struct frame *last = &memo.frames[memo.n - 1];
    struct frame frame = first_frame(base);
    return is_same(last, &frame) && is_unchanged(last);
}

/* ---- paths ---- */

/* The places of those that begin here: a function may be called there by several ways of the same depth. */
static inline struct path *paths_of(uint64_t base)
{
    uint64_t hash = (base ^ word_at(base + 8)) * 0x9e3779b97f4a7c15u;
    return &paths[(hash >> (64 - PATHS_LOG2 + WAYS_LOG2)) << WAYS_LOG2];
}

/* The place for a new one: they take turns. */
static struct path *place_of(struct path *ways)
{
    return &ways[ways->n_kept++ % (1 << WAYS_LOG2)];
}

/* Whether a walk from here would find the path's frames, and behind them the memo's. */
static inline bool is_path(const struct path *path, uint64_t base)
{
    pair_t changes = {0, 0};
    uint64_t change = 0;
    if (path->base != base || base < memo.low || base + 16 > memo.high || path->n_outer > memo.n)
        return false;
    const struct frame *outer = &memo.frames[path->n_outer - 1];
    if (outer->slot != path->outer_slot || outer->hash != path->outer_hash ||
        (outer->needs_bp && outer->bp != path->outer_bp))
        return false;
    for (uint32_t i = 0; i < path->n_pairs; i++)
        changes |= *path->pairs_at[i] ^ path->pairs[i];
    for (uint32_t i = 0; i < path->n_singles; i++)
        change |= *path->singles_at[i] ^ path->singles[i];
    return !(changes[0] | changes[1] | change) && is_unchanged(outer);
}

/* Keep the memo's `n_fresh` innermost frames, if there is room for what they were found by. */
static void keep_path(struct path *path, uint64_t base, uint32_t n_fresh, uint64_t number)
{
    path->base = 0;
    if (!n_fresh || n_fresh >= memo.n || !number)
        return;
    const struct frame *top = &memo.frames[memo.n - 1], *outer = top - n_fresh;
    uint8_t n_pairs = (uint8_t)(top->n_pairs - outer->n_pairs);
    uint8_t n_singles = (uint8_t)(top->n_singles - outer->n_singles);
    if (n_pairs > PATH_PAIRS || n_singles > PATH_SINGLES)
        return;
    for (uint8_t i = 0; i < n_pairs; i++) {
        path->pairs_at[i] = memo.pairs_at[outer->n_pairs + i];
        path->pairs[i] = memo.pairs[outer->n_pairs + i];
    }
    for (uint8_t i = 0; i < n_singles; i++) {
        path->singles_at[i] = memo.singles_at[outer->n_singles + i];
        path->singles[i] = memo.singles[outer->n_singles + i];
    }
    path->number = number;
    path->outer_slot = outer->slot;
    path->outer_hash = outer->hash;
    path->outer_bp = outer->bp;
    path->n_outer = (uint8_t)(memo.n - n_fresh);
    path->n_pairs = n_pairs;
    path->n_singles = n_singles;
    path->base = base;
}

/* ---- numbers ---- */

/* Say which file is mapped where: a program may be over before the recorder has looked. */
static void tell_module(const struct module *module)
{
    static const char digits[] = "0123456789abcdef";
    char id[2 * sizeof module->cfi.build_id];
    uint32_t n = module->has_cfi ? module->cfi.n_build_id : 0;
    for (uint32_t i = 0; i < n; i++) {
        id[2 * i] = digits[module->cfi.build_id[i] >> 4];
        id[2 * i + 1] = digits[module->cfi.build_id[i] & 15];
    }
    uint64_t low = module->start & ~(uint64_t)(PAGE - 1);
    uint64_t numbers[] = {low, module->end - low, module->offset & ~(uint64_t)(PAGE - 1)};
    const char *const texts[] = {id, module->path};
    const size_t sizes[] = {2 * n, strlen(module->path)};
    strobe_client_tell_texts(STROBE_META_MODULE, numbers, 3, texts, sizes, 2);
}

static void tell_module_of(uint64_t pc)
{
    uint32_t n = __atomic_load_n(&tables.n_modules, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++) {
        struct module *module = &tables.modules[i];
        if (pc >= module->start && pc < module->end &&
            !__atomic_exchange_n(&module->is_registered, 1, __ATOMIC_RELAXED))
            tell_module(module);
    }
}

bool strobe_preload_file_of(uint64_t pc, struct strobe_preload_file *out)
{
    if ((!__atomic_load_n(&stacks, __ATOMIC_ACQUIRE) && !make_tables()) ||
        !strobe_preload_take(&tables.owner))
        return false;
    const struct module *module = find_module(pc);
    if (module)
        *out =
            (struct strobe_preload_file){module->start, module->end, module->offset, module->path};
    strobe_preload_give(&tables.owner);
    if (module)
        tell_module_of(pc);
    return module != NULL;
}

/* Whether the kernel still has the file's code there. Locked. */
static bool is_mapped(const struct module *module)
{
    struct strobe_preload_mapping mapped;
    return strobe_preload_find_mapping(module->start, (char *)tables.scratch, STROBE_CFI_SCRATCH,
                                       &mapped) &&
           mapped.start == module->start && mapped.n_path == strlen(module->path) &&
           !memcmp(mapped.path, module->path, mapped.n_path);
}

void strobe_preload_unloaded(void)
{
    bool is_any_gone = false;
    if (!__atomic_load_n(&stacks, __ATOMIC_ACQUIRE) || !strobe_preload_take(&tables.owner))
        return;
    for (uint32_t i = 0; i < tables.n_modules; i++) {
        struct module *module = &tables.modules[i];
        if (module->start == module->end || is_mapped(module))
            continue;
        strobe_function_unloaded(module->start, module->end);
        module->end = module->start; /* nothing is in it any more */
        is_any_gone = true;
    }
    if (is_any_gone)
        strobe_preload_wipe(tables.rows, ROWS * sizeof *tables.rows);
    strobe_preload_give(&tables.owner);
}

/* Emit what a number stands for. False: it was lost on its way. */
static bool emit_stack(uint64_t number)
{
    uint64_t words[3 + DEPTH];
    uint32_t n = memo.n;
    for (uint32_t i = 0; i < n; i++)
        tell_module_of(memo.frames[i].pc);
    words[0] = STROBE_RECORD_WORD(STROBE_KIND_STACK, 3 + n);
    words[1] = number;
    words[2] = n;
    for (uint32_t i = 0; i < n; i++)
        words[3 + i] = memo.frames[n - 1 - i].pc;
    return strobe_client_emit(words, 3 + n) == 1;
}

static uint64_t number_of(uint64_t hash)
{
    enum { PROBES = 32 };
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t slot = (hash + i) % STACKS,
                 known = __atomic_load_n(&stacks[slot], __ATOMIC_RELAXED);
        if (known == hash)
            return slot + 1;
        if (known)
            continue;
        if (__atomic_load_n(&n_stacks, __ATOMIC_RELAXED) > STACKS / 4 * 3)
            return 0;
        if (!__atomic_compare_exchange_n(&stacks[slot], &known, hash, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED)) {
            if (known == hash)
                return slot + 1;
            continue;
        }
        __atomic_add_fetch(&n_stacks, 1, __ATOMIC_RELAXED);
        if (emit_stack(slot + 1))
            return slot + 1;
        __atomic_store_n(&stacks[slot], 0, __ATOMIC_RELAXED); /* said again the next time */
        __atomic_sub_fetch(&n_stacks, 1, __ATOMIC_RELAXED);
        return 0;
    }
    return 0;
}

uint64_t strobe_preload_stack(const void *frame)
{
    if (!__atomic_load_n(&stacks, __ATOMIC_ACQUIRE) && !make_tables())
        return 0;
    uint64_t base = (uint64_t)(uintptr_t)frame;
    struct path *path = NULL;
    uint32_t n_fresh = 0;
    if (!is_as_before(base)) {
        path = paths_of(base);
        for (int i = 0; i < 1 << WAYS_LOG2; i++)
            if (is_path(&path[i], base))
                return path[i].number;
        n_fresh = walk(base);
        path = place_of(path);
    }
    if (!memo.n)
        return 0;
    uint64_t hash = memo.frames[memo.n - 1].hash;
    hash = hash ? hash : 1;
    if (hash != memo.number_hash) {
        memo.number = number_of(hash);
        memo.number_hash = memo.number ? hash : 0;
    }
    if (path)
        keep_path(path, base, n_fresh, memo.number);
    return memo.number;
}

/* ---- for samples ---- */

bool strobe_preload_rows_make(void)
{
    return __atomic_load_n(&stacks, __ATOMIC_ACQUIRE) || make_tables();
}

struct strobe_cfi_row strobe_preload_row(uint64_t pc)
{
    return unpack_row(row_of(pc));
}

void strobe_preload_tell_code(uint64_t pc)
{
    tell_module_of(pc);
}
