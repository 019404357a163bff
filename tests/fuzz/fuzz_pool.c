/* fuzz_pool.c - a real collector drains pools that change under it: a round has processes that behave and one or two whose
 * file is written over, cut, punched and lengthened while it is mapped, between the rounds of the collector and in the midst
 * of them. It must not crash, hang, or grow; and of the processes that behave it must store every event.
 *
 * An input is the number of a round (8 bytes), from which all its choices follow, and then choices that come before those.
 * A round depends on its input alone: the clock stands still but for the steps that it is asked in, and the changes in the
 * midst happen at calls from one room to another, which the linker leads through here (--wrap, targets.txt).
 * SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>

#include "../fake_pool.h"
#include "kept_files.h"
#include "seeds.h"
#include "sleeper.h"
#include "tape.h"

enum {
    N_GOOD_MAX = 2,
    N_BAD_MAX = 2,
    N_POLLS_MAX = 12,
    HEAP_MAX = 96 << 20, /* an encoder, its records, and what 2 * 2 MiB of pools can name */
};

static struct {
    char dir[64], trace[96];
    pid_t pid;
    uint64_t number; /* of the round */
    struct fake *good[N_GOOD_MAX], *bad[N_BAD_MAX];
    unsigned n_good, n_bad;
    bool is_open;      /* the bad ones may be changed now */
    bool is_inside;    /* a change is under way: its own calls are let through */
    uint64_t ns;       /* the clock */
    uint32_t last_tid; /* a thread of the same tid would end the former */
} fuzz;

/* ---- choices ---- */

static struct tape tape;
static uint64_t random_state; /* never 0 */

/* From the input, and from numbers that follow from the round's behind it. */
static uint64_t next_random(void)
{
    if (tape_left(&tape) >= 8)
        return tape_number(&tape, 8);
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t below(size_t n)
{
    if (n && n <= 256 && tape_left(&tape))
        return tape_byte(&tape) % n;
    return n ? next_random() % n : 0;
}

/* ---- what must hold ---- */

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
                                                   : mallinfo2().uordblks;
}

static void fail(const char *what, uint64_t is, uint64_t should)
{
    dprintf(2, "fuzz_pool: %s: %llu, not %llu\n", what, (unsigned long long)is,
            (unsigned long long)should);
    abort();
}

/* ---- changes: by system calls, which a file that was cut does no harm ---- */

static uint64_t odd_number(void)
{
    static const uint64_t odd[] = {
        0,        1,          2,          3,          7,          8,     63,        64,
        65,       120,        1016,       8184,       65535,      65536, 1 << 20,   0x7fffffff,
        1u << 31, 0xffffffff, 1ull << 32, 1ull << 59, 1ull << 60, ~0ull, ~0ull >> 1};
    uint64_t any = next_random();
    switch (below(4)) {
    case 0:
        return odd[below(sizeof odd / sizeof odd[0])];
    case 1:
        return any >> below(64);
    case 2:
        return below(200);
    default:
        return any;
    }
}

/* A word of a stream, of any kind, with lengths that are right now and then. */
static uint64_t odd_word(void)
{
    static const uint64_t kinds[] = {
        STROBE_WORD_BEGIN, STROBE_WORD_END,     STROBE_WORD_RECORD,    STROBE_WORD_EPOCH,
        STROBE_WORD_PAD,   STROBE_WORD_FILLING, STROBE_WORD_ABANDONED, 0};
    uint64_t word = kinds[below(sizeof kinds / sizeof kinds[0])];
    if (word == STROBE_WORD_RECORD)
        word |= (uint64_t)below(100) << 48;
    if (below(2))
        word |= (uint64_t)below(below(2) ? 8 : 1100) << 32;
    return word | (uint32_t)next_random() >> below(32);
}

static void put(struct fake *bad, uint64_t offset, const void *bytes, size_t n)
{
    struct stat st;
    if (fstat(bad->fd, &st) || offset + n > (uint64_t)st.st_size)
        return;
    if (pwrite(bad->fd, bytes, n, (off_t)offset) < 0)
        return;
}

static void put_number(struct fake *bad, uint64_t offset, size_t n)
{
    uint64_t value = odd_number();
    put(bad, offset, &value, n);
}

static uint64_t data_off(const struct fake *bad)
{
    return strobe_ring_data_off(bad->pool.n_chunks_max);
}

/* The start of some segment, by whatever class. */
static uint64_t some_segment(const struct fake *bad)
{
    static const uint32_t sizes[] = {1024, 8192, 65536};
    uint32_t size = sizes[below(3)];
    return data_off(bad) + below(bad->pool.n_chunks_max) * STROBE_CHUNK_BYTES +
           below(STROBE_CHUNK_BYTES / size) * size;
}

static void change_control(struct fake *bad)
{
    size_t size = below(2) ? 4 : 8;
    put_number(bad, below(sizeof(struct strobe_control) / size) * size, size);
}

static void change_known(struct fake *bad)
{
    static const struct {
        uint16_t at, n;
    } fields[] = {{offsetof(struct strobe_control, n_chunks), 4},
                  {offsetof(struct strobe_control, n_taken), 4},
                  {offsetof(struct strobe_control, n_inside), 4},
                  {offsetof(struct strobe_control, holes_used), 4},
                  {offsetof(struct strobe_control, file_bytes), 8},
                  {offsetof(struct strobe_control, floor), 8},
                  {offsetof(struct strobe_control, next_id), 8},
                  {offsetof(struct strobe_control, n_lost) + 16, 8}};
    size_t i = below(sizeof fields / sizeof fields[0]);
    put_number(bad, fields[i].at, fields[i].n);
}

static void change_chunk(struct fake *bad)
{
    struct strobe_chunk row = {.free_bits = below(3) ? next_random() & next_random() : odd_number(),
                               .class_ = (uint32_t)below(6)};
    put(bad, STROBE_PAGE_BYTES + below(bad->pool.n_chunks_max) * sizeof row, &row,
        below(2) ? sizeof row : 8);
}

static void change_slot(struct fake *bad)
{
    struct strobe_slot slot = {.state = (uint32_t)below(4), .tid = (uint32_t)fuzz.pid};
    slot.track = below(2) ? below(6) : odd_number();
    slot.n_dropped[below(3)] = odd_number();
    slot.waited_low = (uint32_t)odd_number();
    slot.waited_high = (uint16_t)odd_number();
    slot.owed = (uint16_t)odd_number();
    put(bad,
        data_off(bad) + below(bad->pool.n_chunks_max) * STROBE_CHUNK_BYTES + below(8) * sizeof slot,
        &slot, sizeof slot);
}

/* A head that could be right, with its bit cleared and the count of segments moved: the next scan finds it. */
static void change_head(struct fake *bad)
{
    static const uint32_t sizes[] = {0, 0, 1024, 8192, 65536};
    uint32_t class_ = 2 + (uint32_t)below(3), chunk = (uint32_t)below(bad->pool.n_chunks_max);
    struct strobe_chunk row = {.free_bits = next_random() & next_random(), .class_ = class_};
    uint32_t bit = (uint32_t)below(STROBE_CHUNK_BYTES / sizes[class_]),
             taken = (uint32_t)next_random();
    struct strobe_segment_head head = {.magic = STROBE_SEGMENT_MAGIC,
                                       .n_words = sizes[class_] / 8 - STROBE_SEGMENT_HEAD_WORDS,
                                       .track = below(8) ? below(5) : odd_number(),
                                       .base_pos = below(4) ? below(4000) : odd_number(),
                                       .tick = odd_number()};
    if (!below(6))
        head.n_words = (uint32_t)odd_number();
    row.free_bits &= ~(1ull << bit);
    put(bad, data_off(bad) + chunk * (uint64_t)STROBE_CHUNK_BYTES + bit * (uint64_t)sizes[class_],
        &head, sizeof head);
    put(bad, STROBE_PAGE_BYTES + chunk * sizeof row, &row, sizeof row);
    put(bad, offsetof(struct strobe_control, n_taken), &taken, sizeof taken);
}

static void change_words(struct fake *bad)
{
    uint64_t words[64], n = 1 + below(64);
    uint64_t at = some_segment(bad) + 8 * (STROBE_SEGMENT_HEAD_WORDS + below(below(2) ? 8 : 1000));
    for (uint64_t i = 0; i < n; i++)
        words[i] = odd_word();
    put(bad, at, words, 8 * n);
}

static void copy_range(struct fake *bad)
{
    uint8_t bytes[512];
    ssize_t n = pread(bad->fd, bytes, sizeof bytes, (off_t)some_segment(bad));
    if (n > 0)
        put(bad, some_segment(bad), bytes, (size_t)n);
}

/* Cut, and maybe as long again, with holes; or a hole in the middle. */
static void change_length(struct fake *bad)
{
    off_t full = (off_t)bad->map_bytes;
    off_t cut = below(2) ? (off_t)below(4) * STROBE_PAGE_BYTES : (off_t)below(bad->map_bytes);
    if (below(3) == 0) {
        fallocate(bad->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)below(bad->map_bytes) / STROBE_PAGE_BYTES * STROBE_PAGE_BYTES,
                  STROBE_CHUNK_BYTES);
        return;
    }
    if (ftruncate(bad->fd, cut) || (below(2) && ftruncate(bad->fd, below(8) ? full : 2 * full)))
        return;
}

static void live_or_die(struct fake *bad)
{
    fake_lock(bad, below(2) ? F_UNLCK : F_WRLCK);
}

static void change_once(void)
{
    static void (*const changes[])(struct fake * bad) = {
        change_control, change_known, change_chunk, change_chunk, change_slot,
        change_slot,    change_head,  change_head,  change_head,  change_words,
        change_words,   change_words, change_words, copy_range};
    struct fake *bad = fuzz.bad[below(fuzz.n_bad)];
    fuzz.is_inside = true;
    if (below(60) == 0)
        change_length(bad);
    else if (below(60) == 0)
        live_or_die(bad);
    else
        changes[below(sizeof changes / sizeof changes[0])](bad);
    fuzz.is_inside = false;
}

/* At a call from one room to another. */
static void maybe_change(void)
{
    if (fuzz.is_open && !fuzz.is_inside && below(24) == 0)
        change_once();
}

/* ---- led through here by the linker ---- */

#define LED(type, name, parameters, arguments) \
    type __real_##name parameters;             \
    type __wrap_##name parameters;             \
    type __wrap_##name parameters              \
    {                                          \
        maybe_change();                        \
        return __real_##name arguments;        \
    }

LED(const uint64_t *, strobe_encode_words,
    (struct strobe_encoder * enc, const uint64_t *at, const uint64_t *end, uint32_t epoch,
     uint64_t *prev_tick),
    (enc, at, end, epoch, prev_tick))
LED(void, strobe_encode_zone_begin, (struct strobe_encoder * enc, uint64_t tick, uint64_t loc),
    (enc, tick, loc))
LED(void, strobe_encode_zone_end, (struct strobe_encoder * enc, uint64_t tick, uint64_t loc),
    (enc, tick, loc))
LED(void, strobe_records_begin, (struct strobe_records * records, uint32_t kind), (records, kind))
LED(void, strobe_build_block_lose,
    (struct strobe_build_block * block, uint32_t proc, uint64_t track, uint32_t cause,
     uint64_t count, uint64_t first, uint64_t last),
    (block, proc, track, cause, count, first, last))
LED(bool, strobe_collector_add_segment, (void *context, const struct strobe_segment *segment),
    (context, segment))

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    maybe_change();
    return kept_fstat ? kept_fstat(fd, st) : __real_fstat(fd, st);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    maybe_change();
    fuzz.ns += 20000;
    (void)clock;
    *out = (struct timespec){(time_t)(fuzz.ns / 1000000000), (long)(fuzz.ns % 1000000000)};
    return 0;
}

int __wrap_nanosleep(const struct timespec *step, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *step, struct timespec *rest)
{
    (void)rest;
    fuzz.ns += (uint64_t)step->tv_sec * 1000000000ull + (uint64_t)step->tv_nsec;
    return 0;
}

/* ---- a round ---- */

/* Few for the most part, and now and then as many as fill segments. */
static uint32_t some_zones(void)
{
    uint32_t choice = (uint32_t)below(128);
    return choice < 96 ? choice / 8 : (choice - 96) * 4;
}

static void emit_some(struct fake *fake, struct strobe_thread **threads, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct strobe_thread **thread = &threads[below(4)];
        uint64_t plot[] = {1, below(100)};
        if (!*thread)
            *thread = fake_thread(fake, ++fuzz.last_tid);
        fake_zones(fake, *thread, some_zones());
        fake_record(fake, *thread, STROBE_KIND_PLOT_INT, plot, 2);
        if (below(10) == 0) {
            fake_end_thread(fake, *thread);
            *thread = NULL;
        }
    }
    if (below(4) == 0)
        fake_loc(fake, 1 + below(50), "zone");
}

static void open_pools(struct strobe_thread *threads[][4])
{
    fuzz.n_good = below(4) ? 1 : N_GOOD_MAX; /* most of a round's time is spent on opening pools */
    fuzz.n_bad = below(4) ? 1 : N_BAD_MAX;
    for (unsigned i = 0; i < fuzz.n_good; i++)
        fuzz.good[i] = fake_open(fuzz.dir, fuzz.pid, i, 24, true);
    for (unsigned i = 0; i < fuzz.n_bad; i++) {
        struct strobe_thread *own[4] = {0};
        fuzz.bad[i] =
            fake_open(fuzz.dir, fuzz.pid, N_GOOD_MAX + i, 4 + (uint32_t)below(20), below(3) != 0);
        emit_some(fuzz.bad[i], own, (unsigned)below(20));
    }
    for (unsigned i = 0; i < fuzz.n_good; i++)
        emit_some(fuzz.good[i], threads[i], (unsigned)below(6));
}

static const char *const loss_texts[] = {
#define X(name, number, text) [number] = "losses of a process that behaves: " text,
    STROBE_LOSS_LIST(X)
#undef X
};

static void check_good(const uint32_t *ids)
{
    for (unsigned i = 0; i < fuzz.n_good; i++) {
        struct fake_found found = fake_find(fuzz.trace, ids[i]);
        if (found.n_events != fuzz.good[i]->n_emitted)
            fail("events of a process that behaves", found.n_events, fuzz.good[i]->n_emitted);
        for (uint32_t cause = 0; cause < STROBE_LOSS_COUNT; cause++)
            if (found.lost[cause])
                fail(loss_texts[cause], found.lost[cause], 0);
    }
}

static void record_round(struct strobe_thread *threads[][4])
{
    struct strobe_file_writer *writer = NULL;
    struct strobe_collector *c = NULL;
    struct strobe_collector_options options = {.session_dir = fuzz.dir,
                                               .post_mortem = fuzz.number % 8 == 7};
    uint32_t ids[N_GOOD_MAX];
    size_t heap = heap_bytes();
    if (strobe_file_create(fuzz.trace, fuzz.dir, 0, &writer) ||
        strobe_collector_open(&options, writer, &c))
        abort();
    if (below(2)) /* else they are odd when they are found */
        strobe_collector_poll(c, true);
    fuzz.is_open = true;
    /* short rounds for the most part: they end sooner, and few polls are enough for most of what can happen */
    for (unsigned i = 0, n = 1 + (unsigned)below(below(8) ? 3 : N_POLLS_MAX); i < n; i++) {
        for (unsigned k = 0, n_changes = (unsigned)below(12); k < n_changes; k++)
            change_once();
        for (unsigned k = 0; k < fuzz.n_good; k++)
            emit_some(fuzz.good[k], threads[k], (unsigned)below(5));
        strobe_collector_poll(c, below(2));
        strobe_collector_beat(c);
        if (heap_bytes() > heap + HEAP_MAX)
            fail("bytes of heap", heap_bytes() - heap, HEAP_MAX);
    }
    for (unsigned i = 0; i < fuzz.n_good; i++)
        ids[i] = fake_id(c, fuzz.good[i]);
    if (below(3) == 0)
        fake_die(fuzz.good[0]);
    strobe_collector_stop(c);
    fuzz.is_open = false;
    if (strobe_collector_close(c) || strobe_file_finish(writer))
        abort();
    check_good(ids);
}

static void run_round(uint64_t number)
{
    struct strobe_thread *threads[N_GOOD_MAX][4] = {{0}};
    fuzz.number = number;
    fuzz.ns = 1000000000000ull;
    fuzz.last_tid = 1000;
    random_state = (number + 1) * 0x9e3779b97f4a7c15ull;
    open_pools(threads);
    record_round(threads);
    for (unsigned i = 0; i < fuzz.n_good; i++)
        fake_close(fuzz.good[i]);
    for (unsigned i = 0; i < fuzz.n_bad; i++)
        fake_close(fuzz.bad[i]);
}

static void remove_folder(void)
{
    unlink(fuzz.trace);
    rmdir(fuzz.dir);
}

static void open_folder(void)
{
    if (fuzz.pid)
        return;
    snprintf(fuzz.dir, sizeof fuzz.dir, "/dev/shm/strobe-fuzz-XXXXXX");
    if (!mkdtemp(fuzz.dir))
        abort();
    snprintf(fuzz.trace, sizeof fuzz.trace, KEPT_BEGIN "%d" KEPT_END, (int)getpid());
    fuzz.pid = sleeping_process();
    atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    open_folder();
    tape = (struct tape){data, data + n};
    run_round(tape_number(&tape, 8));
    return 0;
}
