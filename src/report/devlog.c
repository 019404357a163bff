/* devlog.c - the device log's lines as markers.
 *
 * This loop sees every byte of logs of gigabytes, so it does per line: one search for the line end,
 * one comparison with the first four cells of the line before (the series hardly ever changes),
 * four numbers, and one comparison of the zone's four cells with the zone that followed the last
 * one the time before. Everything else is the slow path. The file is read, not mapped: memory stays
 * at one buffer.  SPDX-License-Identifier: MIT */
#include "report/devlog.h"
#include "report/zones.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ready.h"

typedef struct strobe_report_span span;

enum { PAGE = 4096, BUFFER = 1 << 20, LINE_MAX_BYTES = 1 << 19, TIMERS = 65536 };

#define FILE_NAME STROBE_REPORT_DEVICE_FILE

/* The usual columns and their place in a line; the trace columns and meta data may be absent. */
static const char *const usual[] = {"PCIe slot",   "core_x",
                                    "core_y",      "RISC processor type",
                                    "timer_id",    "time[cycles since reset]",
                                    "data",        "run host ID",
                                    "trace id",    "trace id counter",
                                    "zone name",   "type",
                                    "source line", "source file",
                                    "meta data"};
static const char *const older[] = {NULL, NULL,         NULL,     NULL, NULL,
                                    NULL, "stat value", "Run ID", NULL, NULL,
                                    NULL, "zone phase", NULL,     NULL, NULL};
enum { N_USUAL = 15, TRACE_COLUMN = 8, META_COLUMN = 14 };

void strobe_report_log_open(struct strobe_report_log *log, struct strobe_report_faults *faults)
{
    *log = (struct strobe_report_log){.faults = faults, .max_cores = -1, .freq_mhz = 1000};
}

void strobe_report_log_close(struct strobe_report_log *log)
{
    strobe_report_zones_free(log);
    strobe_out_free(&log->scratch);
    free(log->order);
    free(log->timers);
    *log = (struct strobe_report_log){0};
}

static void note(struct strobe_report_log *log, enum strobe_report_fault kind, const char *what)
{
    if (log->faults)
        strobe_report_fault_add(log->faults, kind, FILE_NAME, log->n_lines, "%s", what);
}

/* ---- the two lines at the top ---- */

/* The text after the ':' that follows `key`, up to the next ','. */
static bool find_value(span line, const char *key, span *out)
{
    const char *at = memmem(line.at, line.len, key, strlen(key));
    const char *end = line.at + line.len;
    const char *colon = at ? memchr(at, ':', (size_t)(end - at)) : NULL;
    if (!colon)
        return false;
    const char *comma = memchr(colon, ',', (size_t)(end - colon));
    *out = strobe_report_span_trim((span){colon + 1, (size_t)((comma ? comma : end) - colon - 1)});
    return true;
}

static bool read_preamble(struct strobe_report_log *log, span line)
{
    span value;
    if (strobe_report_span_has(line, "Chip clock is at ")) {
        strcpy(log->arch, "grayskull");
        log->freq_mhz = 1200;
        return true;
    }
    if (!find_value(line, "ARCH", &value))
        return false;
    size_t len = value.len < sizeof log->arch - 1 ? value.len : sizeof log->arch - 1;
    memcpy(log->arch, value.at, len);
    log->arch[len] = 0;
    log->is_quasar = strcasestr(log->arch, "quasar");
    if (find_value(line, "Max Compute Cores", &value))
        strobe_report_span_int(value, &log->max_cores);
    return find_value(line, "CHIP_FREQ", &value) && strobe_report_span_int(value, &log->freq_mhz) &&
           log->freq_mhz > 0;
}

static int find_usual(span name)
{
    for (int i = 0; i < N_USUAL; i++)
        if (strobe_report_span_is(name, usual[i]) ||
            (older[i] && strobe_report_span_is(name, older[i])))
            return i;
    return -1;
}

/* Learn the columns from the header. False when needed ones are absent. */
static bool read_header(struct strobe_report_log *log, span line)
{
    int place[N_USUAL], n = 0, last = -1;
    bool sorted = true;
    for (int i = 0; i < N_USUAL; i++)
        place[i] = -1;
    while (line.len) {
        const char *comma = memchr(line.at, ',', line.len);
        size_t len = comma ? (size_t)(comma - line.at) : line.len;
        int column = find_usual(strobe_report_span_trim((span){line.at, len}));
        sorted = sorted && column > last;
        last = column;
        if (column >= 0)
            place[column] = n;
        n++;
        line.at += len + (comma ? 1 : 0);
        line.len -= len + (comma ? 1 : 0);
    }
    for (int i = 0; i < META_COLUMN; i++)
        if (place[i] < 0 && i != TRACE_COLUMN && i != TRACE_COLUMN + 1)
            return false;
    log->has_trace = place[TRACE_COLUMN] >= 0 && place[TRACE_COLUMN + 1] >= 0;
    log->has_meta = place[META_COLUMN] >= 0;
    log->n_columns = n;
    free(log->order);
    log->order = NULL;
    if (!sorted && (log->order = malloc(sizeof place)))
        memcpy(log->order, place, sizeof place);
    return true;
}

/* ---- one line ---- */

static inline const char *take_number(const char *at, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    const char *from = at;
    unsigned digit;
    while (at < end && (digit = (unsigned char)*at - '0') <= 9) {
        value = value * 10 + digit;
        at++;
    }
    *out = value;
    return at > from && at - from <= 20 && at < end && *at == ',' ? at + 1 : NULL;
}

/* A trace id or counter: empty is -1. */
static inline const char *take_optional(const char *at, const char *end, int64_t *out)
{
    uint64_t value;
    if (at < end && *at == ',') {
        *out = -1;
        return at + 1;
    }
    at = take_number(at, end, &value);
    *out = (int64_t)value;
    return at;
}

static const char *take_prefix(struct strobe_report_log *log, const char *at, const char *end,
                               struct strobe_report_series **series)
{
    if (log->prefix_len && (size_t)(end - at) > log->prefix_len &&
        !memcmp(at, log->prefix, log->prefix_len)) {
        *series = log->prefix_series;
        return at + log->prefix_len;
    }
    const char *comma = at - 1;
    for (int i = 0; i < 4; i++)
        if (!(comma = memchr(comma + 1, ',', (size_t)(end - comma - 1))))
            return NULL;
    span prefix = {at, (size_t)(comma + 1 - at)};
    if (prefix.len > sizeof log->prefix || !(*series = strobe_report_series_intern(log, prefix)))
        return NULL;
    memcpy(log->prefix, prefix.at, prefix.len);
    log->prefix_len = (uint32_t)prefix.len;
    log->prefix_series = *series;
    return comma + 1;
}

/* Where the zone's four cells end: before the meta data, which has no ',' of its own. */
static const char *find_meta(const struct strobe_report_log *log, const char *at, const char *end)
{
    if (!log->has_meta)
        return end;
    if (end > at && end[-1] == ',')
        return end - 1;
    return memrchr(at, ',', (size_t)(end - at));
}

/* Meta data with ',' in it: count the cells from the front. */
static const char *find_meta_slowly(const char *at, const char *end)
{
    for (int i = 0; i < 4; i++)
        if (!(at = memchr(i ? at + 1 : at, ',', (size_t)(end - at - (i ? 1 : 0)))))
            return NULL;
    return at;
}

static struct strobe_report_zone *take_zone(struct strobe_report_log *log, const char *at,
                                            const char *end, const char **meta)
{
    if (!(*meta = find_meta(log, at, end)))
        return NULL;
    size_t len = (size_t)(*meta - at);
    if (log->last_zone < log->n_zones) {
        struct strobe_report_zone *guess = &log->zones[log->zones[log->last_zone].guess];
        if (guess->len == len && !memcmp(guess->text, at, len)) {
            log->last_zone = (uint32_t)(guess - log->zones);
            return guess;
        }
    }
    if (log->has_meta) {
        const char *first = find_meta_slowly(at, end);
        if (!first)
            return NULL;
        *meta = first;
        len = (size_t)(first - at);
    }
    uint32_t before = log->last_zone;
    struct strobe_report_zone *zone = strobe_report_zone_intern(log, (span){at, len});
    if (!zone || zone == &log->loose)
        return zone;
    log->last_zone = (uint32_t)(zone - log->zones);
    if (before < log->n_zones)
        log->zones[before].guess = log->last_zone;
    return zone;
}

/* One hash must not stand for two zones; the name decides, but the ledger tells. */
static void check_hash(struct strobe_report_log *log, struct strobe_report_zone *zone,
                       uint32_t timer)
{
    zone->timer = timer;
    if (zone->flags & STROBE_REPORT_IS_DISPATCH) /* one zone, which its commands rename */
        return;
    if (!zone->name_len || zone->source == UINT32_MAX || zone->type > STROBE_REPORT_ZONE_TOTAL)
        return;
    if (!log->timers && !(log->timers = calloc(TIMERS, sizeof *log->timers)))
        return;
    uint32_t *known = &log->timers[timer % TIMERS];
    if (!*known) {
        *known = zone->source + 1;
    } else if (*known != zone->source + 1 && *known != UINT32_MAX) {
        *known = UINT32_MAX; /* named once */
        if (log->faults)
            strobe_report_fault_add(log->faults, STROBE_REPORT_FAULT_ZONE_HASH, FILE_NAME,
                                    log->n_lines, "hash %u is also %.*s", timer % TIMERS,
                                    (int)zone->name_len, zone->text);
    }
}

enum outcome { GOOD, CUT, BAD };

static enum outcome parse(struct strobe_report_log *log, const char *at, const char *end,
                          struct strobe_report_marker *marker)
{
    uint64_t timer;
    const char *from = at;
    if (!(at = take_prefix(log, at, end, &marker->series)))
        return memchr(from, ',', (size_t)(end - from)) ? BAD : CUT;
    if (!(at = take_number(at, end, &timer)) || !(at = take_number(at, end, &marker->time)) ||
        !(at = take_number(at, end, &marker->data)) || !(at = take_number(at, end, &marker->run)))
        return BAD;
    marker->trace = marker->counter = -1;
    if (log->has_trace && (!(at = take_optional(at, end, &marker->trace)) ||
                           !(at = take_optional(at, end, &marker->counter))))
        return BAD;
    const char *meta;
    struct strobe_report_zone *zone = take_zone(log, at, end, &meta);
    if (!zone)
        return CUT;
    marker->timer = (uint32_t)timer;
    if (zone->timer != marker->timer)
        check_hash(log, zone, marker->timer);
    marker->zone = zone;
    marker->meta = meta < end ? (span){meta + 1, (size_t)(end - meta - 1)} : (span){"", 0};
    return marker->meta.len && meta[1] == '{' && end[-1] != '}' ? CUT : GOOD;
}

/* A line whose columns are in another order: bring them into the usual one. */
static span reorder(struct strobe_report_log *log, span line)
{
    span cells[64];
    int n = 0;
    while (n < 64) {
        const char *comma = memchr(line.at, ',', line.len);
        size_t len = comma ? (size_t)(comma - line.at) : line.len;
        cells[n++] = (span){line.at, len};
        if (!comma)
            break;
        line.at += len + 1;
        line.len -= len + 1;
    }
    strobe_out_clear(&log->scratch);
    for (int i = 0; i < N_USUAL; i++) {
        int place = log->order[i];
        if (place < 0)
            continue;
        if (i)
            strobe_out_char(&log->scratch, ',');
        if (place < n)
            strobe_out_bytes(&log->scratch, cells[place].at, cells[place].len);
    }
    return (span){log->scratch.at ? log->scratch.at : "", log->scratch.len};
}

static int count_commas(span line)
{
    int n = 0;
    for (const char *at = line.at, *end = at + line.len; (at = memchr(at, ',', (size_t)(end - at)));
         at++)
        n++;
    return n;
}

/* A line that is no marker: blank, a repeated header, or damage. */
static void set_aside(struct strobe_report_log *log, span line, enum outcome outcome)
{
    if (!line.len ||
        (line.len > 5 && (!memcmp(line.at, "ARCH:", 5) || !memcmp(line.at, "PCIe ", 5))))
        return;
    log->n_aside++;
    bool cut = outcome == CUT || count_commas(line) + 1 < log->n_columns;
    char start[64];
    size_t len = line.len < sizeof start - 1 ? line.len : sizeof start - 1;
    memcpy(start, line.at, len);
    start[len] = 0;
    note(log, cut ? STROBE_REPORT_FAULT_CUT_LINE : STROBE_REPORT_FAULT_BAD_CELL, start);
}

static inline bool take_line(struct strobe_report_log *log, const char *at, const char *end,
                             const struct strobe_report_log_options *options)
{
    struct strobe_report_marker marker;
    log->n_lines++;
    if (end > at && end[-1] == '\r')
        end--;
    if (log->order) {
        span line = reorder(log, (span){at, (size_t)(end - at)});
        at = line.at, end = line.at + line.len;
    }
    enum outcome outcome = parse(log, at, end, &marker);
    if (outcome != GOOD) {
        set_aside(log, (span){at, (size_t)(end - at)}, outcome);
        return true;
    }
    log->n_rows++;
    marker.line = log->n_lines;
    return !options->take || options->take(options->context, &marker);
}

/* One of the two lines at the top? Without them the usual form is assumed. */
static bool take_top(struct strobe_report_log *log, span line)
{
    log->n_lines++;
    if (log->n_lines == 1) {
        if (read_preamble(log, line))
            return true;
        note(log, STROBE_REPORT_FAULT_PREAMBLE, "no architecture and frequency; 1000 MHz assumed");
    }
    log->has_header = true;
    if (read_header(log, line))
        return true;
    note(log, STROBE_REPORT_FAULT_PREAMBLE, "no header; the usual columns assumed");
    log->n_lines--;
    return false;
}

/* ---- the file ---- */

/* The chunk just read starts at a page; what is left of the chunk before it lies right in front. */
struct reading {
    int fd;
    char *buffer;           /* owned: LINE_MAX_BYTES in front of the chunk */
    size_t before;          /* bytes left from the chunk before */
    bool stopped, skipping; /* skipping: inside a line that is too long */
    uint64_t done, total;
};

/* All whole lines; the rest moves in front of the next chunk. */
static void take_lines(struct strobe_report_log *log, struct reading *reading, size_t len,
                       bool last, const struct strobe_report_log_options *options)
{
    char *chunk = reading->buffer + LINE_MAX_BYTES;
    char *at = chunk - reading->before, *end = chunk + len, *line_end;
    while (!reading->stopped && (line_end = memchr(at, '\n', (size_t)(end - at)))) {
        if (reading->skipping)
            reading->skipping = false;
        else if (log->has_header || !take_top(log, (span){at, (size_t)(line_end - at)}))
            reading->stopped = !take_line(log, at, line_end, options);
        at = line_end + 1;
    }
    if (last && at < end && !reading->stopped && !reading->skipping && log->has_header) {
        take_line(log, at, end, options);
        at = end;
    }
    reading->before = (size_t)(end - at);
    if (reading->before >= LINE_MAX_BYTES) {
        log->n_lines += !reading->skipping;
        note(log, STROBE_REPORT_FAULT_CUT_LINE, "a line of over 512 KiB");
        reading->skipping = true;
        reading->before = 0;
    }
    memmove(chunk - reading->before, at, reading->before);
}

/* The copy is written past the page cache where that is allowed; its end cannot be. */
static enum strobe_err write_copy(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINVAL && fcntl(fd, F_GETFL) & O_DIRECT)
            fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_DIRECT);
        else if (n < 0 && errno != EINTR)
            return strobe_err_from_errno(errno);
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return STROBE_OK;
}

static enum strobe_err read_some(struct strobe_report_log *log, struct reading *reading,
                                 const struct strobe_report_log_options *options, bool *last)
{
    ssize_t n = read(reading->fd, reading->buffer + LINE_MAX_BYTES, BUFFER);
    if (n < 0)
        return errno == EINTR ? STROBE_OK : strobe_err_from_errno(errno);
    *last = n == 0;
    if (options->copy_fd >= 0 && !log->copy_err)
        log->copy_err = write_copy(options->copy_fd, reading->buffer + LINE_MAX_BYTES, (size_t)n);
    reading->done += (uint64_t)n;
    if (!reading->stopped)
        take_lines(log, reading, (size_t)n, *last, options);
    if (options->progress)
        options->progress(options->progress_context, reading->done, reading->total);
    return STROBE_OK;
}

static void start_reading(struct strobe_report_log *log)
{
    log->n_lines = log->n_rows = log->n_aside = 0;
    log->has_trace = log->has_meta = true;
    log->has_header = false;
    log->n_columns = N_USUAL;
    log->prefix_len = 0;
    log->last_zone = UINT32_MAX;
    for (uint32_t i = 0; i < log->n_series; i++)
        log->series[i]->depth = 0;
    free(log->timers);
    log->timers = NULL;
}

enum strobe_err strobe_report_log_read(struct strobe_report_log *log, const char *path,
                                       const struct strobe_report_log_options *options)
{
    struct reading reading = {.fd = strobe_ready_open(path, O_RDONLY, 0)};
    struct stat stat;
    bool last = false;
    if (reading.fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = STROBE_OK;
    reading.buffer = aligned_alloc(PAGE, LINE_MAX_BYTES + BUFFER);
    if (!reading.buffer)
        err = STROBE_ERR_NOMEM;
    if (!fstat(reading.fd, &stat))
        reading.total = (uint64_t)stat.st_size;
    start_reading(log);
    while (!err && !last && (!reading.stopped || options->copy_fd >= 0))
        err = read_some(log, &reading, options, &last);
    free(reading.buffer);
    close(reading.fd);
    return err;
}

enum strobe_err strobe_report_log_read_memory(struct strobe_report_log *log, const char *bytes,
                                              size_t len, strobe_report_take *take, void *context)
{
    struct strobe_report_log_options options = {.take = take, .context = context, .copy_fd = -1};
    struct reading reading = {.fd = -1, .buffer = malloc(LINE_MAX_BYTES + len + 1)};
    if (!reading.buffer)
        return STROBE_ERR_NOMEM;
    if (len)
        memcpy(reading.buffer + LINE_MAX_BYTES, bytes, len);
    start_reading(log);
    take_lines(log, &reading, len, true, &options);
    free(reading.buffer);
    return STROBE_OK;
}
