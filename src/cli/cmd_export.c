/* cmd_export.c - strobe export: a trace in another format.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "export/chrome.h"
#include "export/html.h"
#include "export/jsonl.h"
#include "export/otlp.h"
#include "export/perfetto.h"
#include "page/page.h"
#include "file/notes.h"
#include "query/cut.h"
#include "cli/cli.h"
#include "cli/export_samples.h"
#include "cli/export_tables.h"
#include "cli/export_tracy.h"
#include "cli/choice.h"
#include "cli/out.h"

static const char help[] =
    "usage: strobe export [options] [FILE]\n"
    "\n"
    "A trace in another format. FILE is a .strobe trace; without one, the newest in this folder.\n"
    "\n"
    "  --to FORMAT     chrome: JSON for ui.perfetto.dev and chrome://tracing; tracy: a file that\n"
    "                  Tracy 0.11.1 and later open; tracy-0.14: one for 0.14 and later, with\n"
    "                  severities, sections and notes of GPU zones too; html: the viewer with the\n"
    "                  trace in it, one file that any browser opens; stack samples as folded (for "
    "flame\n"
    "                  graphs), speedscope (of a trace without samples its zones), pprof or\n"
    "                  firefox (for the Firefox Profiler); parquet: every table of `strobe query`\n"
    "                  as Parquet files in folders below OUT, for DuckDB, polars, ClickHouse and\n"
    "                  Spark; jsonl: the same tables, an object of JSON per line; perfetto:\n"
    "                  protobuf for ui.perfetto.dev and trace_processor; otlp: spans for\n"
    "                  OpenTelemetry, JSON; default: by the name of OUT, else chrome\n"
    "  -o, --out OUT   where it goes, - for stdout; default: FILE with another end to its name\n"
    "  --source        html: with the source files that symbols name, where they are on this\n"
    "                  machine, and with the disassembler: 1 MiB more, and the sources\n"
    "  --sql           html: with SQL in the page, for the panels of queries, explanations and\n"
    "                  comparisons; half a megabyte more\n"
    "  --run NAME      parquet: the name of the run; default: that of FILE\n"
    "  --range A..B    what happens between A and B after the start, and little more\n"
    "  --process P     of the process with this pid, or this in its name, and of its devices\n"
    "  --device N      of device N; 0..3: of these\n"
    "  --from-signpost NAME, --to-signpost NAME\n"
    "                  what happens behind the first signpost of that name, and before the next\n"
    "\n"
    "examples:\n"
    "  strobe export -o run.json run.strobe\n"
    "  strobe export --to chrome -o - | gzip >run.json.gz\n"
    "  strobe export --to tracy run.strobe\n"
    "  strobe export --to folded -o - run.strobe | flamegraph.pl >run.svg\n"
    "  strobe export --to parquet -o lake --run build-117 run.strobe\n"
    "  strobe export --to pprof run.strobe && go tool pprof -top run.pb.gz\n"
    "  strobe export --to html --range 10s..12s -o slow.html run.strobe\n";

struct options {
    const char *format, *out, *run;
    bool with_source, with_sql;
    struct strobe_cli_choice choice;
};

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"to", 1, NULL, 't'},   {"out", 1, NULL, 'o'},
                                          {"run", 1, NULL, 'r'},  {"source", 0, NULL, 's'},
                                          {"sql", 0, NULL, 'q'},  STROBE_CLI_CHOICE_OPTIONS,
                                          {"help", 0, NULL, 'h'}, {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "ho:", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        } else if (c == 't') {
            options->format = optarg;
        } else if (c == 'o') {
            options->out = optarg;
        } else if (c == 's') {
            options->with_source = true;
        } else if (c == 'r') {
            options->run = optarg;
        } else if (c == 'q') {
            options->with_sql = true;
        } else if (strobe_cli_choice_set("export", c, optarg, &options->choice) != 1) {
            return STROBE_EXIT_USAGE;
        }
    }
    return -1;
}

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && !strcmp(text + n - n_end, end);
}

enum {
    SPEEDSCOPE,
    PPROF,
    FIREFOX,
    CHROME,
    TRACY,
    HTML,
    TRACY_14,
    FOLDED,
    PARQUET,
    JSONL,
    PERFETTO,
    OTLP,
    N_FORMATS
};
static const struct {
    const char *name, *end, *words;
} formats[N_FORMATS] = {{"speedscope", ".speedscope.json", "speedscope opens it"},
                        {"pprof", ".pb.gz", "open it by go tool pprof"},
                        {"firefox", ".firefox.json", "open it at https://profiler.firefox.com"},
                        {"chrome", ".json", "open it at https://ui.perfetto.dev"},
                        {"tracy", ".tracy", "Tracy 0.11.1 and later open it"},
                        {"html", ".html", "open it with a browser"},
                        {"tracy-0.14", ".tracy", "Tracy 0.14 and later open it"},
                        {"folded", ".folded", "flamegraph.pl, inferno and speedscope read it"},
                        {"parquet", ".parquet", "a folder"},
                        {"jsonl", ".jsonl", "an object per line"},
                        {"perfetto", ".pftrace", "open it at https://ui.perfetto.dev"},
                        {"otlp", ".otlp", "collectors of OpenTelemetry read it"}};

/* The format that was asked for, by its name or that of the output. -1: there is none, and that was
 * printed. */
static int find_format(const struct options *options)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (options->format ? !strcmp(options->format, formats[i].name)
                            : options->out && ends_with(options->out, formats[i].end))
            return i;
    if (!options->format && !options->out)
        return CHROME;
    if (options->format)
        strobe_cli_error(
            "export",
            "there is no format '%s'; --to knows: chrome, tracy, tracy-0.14, html, folded, "
            "speedscope, pprof, firefox, parquet, jsonl, perfetto, otlp",
            options->format);
    else
        strobe_cli_error(
            "export",
            "what is '%s' to be? say --to chrome, --to tracy, --to html, --to folded, --to "
            "speedscope, --to pprof or --to firefox, or call it something.json, something.tracy, "
            "something.html, something.folded, something.speedscope.json, something.pb.gz or "
            "something.firefox.json",
            options->out);
    return -1;
}

/* Whether less than the whole trace is asked for. */
static int is_piece(const struct options *options)
{
    const struct strobe_cli_choice *choice = &options->choice;
    return choice->range.is_set || choice->process || choice->by_device || choice->from_signpost ||
           choice->to_signpost;
}

/* 0: something was asked for that can't be done, and that was printed. */
static int check_options(const struct options *options, int format)
{
    if (options->with_source && format != HTML) {
        strobe_cli_error("export", "--source is for --to html");
        return 0;
    }
    if (!options->choice.by_core)
        return 1;
    strobe_cli_error("export",
                     "--core is for csv, stats and report; other formats have whole devices");
    return 0;
}

/* FILE with another end instead of .strobe; the caller frees it. */
static char *default_out(const char *path, const char *end)
{
    size_t n = strlen(path);
    char *out = malloc(n + strlen(end) + 1);
    if (!out)
        return NULL;
    if (ends_with(path, ".strobe"))
        n -= 7;
    memcpy(out, path, n);
    strcpy(out + n, end);
    return out;
}

static int same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* What is written to. A file gets its name once it is whole: what stood under that name stays where an export fails. */
struct target {
    const char *path;
    char *part; /* owned: the name until then; NULL: written in place, a pipe or a device */
    int fd;
};

/* A new file beside `path`, with the mode of what is replaced: no file that is there already is lost. -1: there can be none. */
static int open_part(struct target *target, const char *path, const struct stat *old)
{
    int fd = -1;
    for (int i = 0; i < 2 && fd < 0; i++) {
        free(target->part);
        if ((i ? asprintf(&target->part, "%s.part-%d", path, getpid())
               : asprintf(&target->part, "%s.part", path)) < 0) {
            target->part = NULL;
            return -1;
        }
        fd = open(target->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0 && old)
        (void)!fchmod(fd, old->st_mode & 0777);
    return fd;
}

static bool open_target(struct target *target, const char *path, const char *from)
{
    struct stat st;
    *target = (struct target){.path = path, .fd = 1};
    if (!strcmp(path, "-"))
        return true;
    if (same_file(path, from)) {
        strobe_cli_error("export", "%s is the trace itself", path);
        return false;
    }
    bool is_there = !lstat(path, &st), in_place = is_there && !S_ISREG(st.st_mode);
    target->fd = in_place ? -1 : open_part(target, path, is_there ? &st : NULL);
    if (target->fd < 0 &&
        is_there) { /* in a folder where nothing can be made a file may be written still */
        free(target->part);
        target->part = NULL;
        target->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    }
    if (target->fd < 0) {
        strobe_cli_error("export", "can't write %s: %s", path, strerror(errno));
        free(target->part);
    }
    return target->fd >= 0;
}

/* Give it its name, or remove it. Whether all is well; a failure was printed. */
static bool close_target(struct target *target, bool ok)
{
    if (target->fd == 1)
        return ok;
    if ((close(target->fd) || (ok && target->part && rename(target->part, target->path))) && ok) {
        strobe_cli_error("export", "can't write %s: %s", target->path, strerror(errno));
        ok = false;
    }
    if (!ok && target->part)
        unlink(target->part);
    free(target->part);
    return ok;
}

/* The text formats. 1: it went well; a failure was printed. */
static int write_chrome(const char *path, int fd, struct strobe_trace *trace)
{
    struct strobe_out out;
    uint64_t n_bad_parts = 0;
    if (!strobe_out_open(&out, fd)) {
        strobe_cli_fail("export", path, STROBE_ERR_NOMEM);
        return 0;
    }
    enum strobe_err err = strobe_chrome_write(trace, &out, &n_bad_parts);
    if (err && !out.error)
        strobe_cli_fail("export", path, err);
    int ok = !strobe_out_close(&out, "export") && !err;
    strobe_cli_warn_damage("export", trace, n_bad_parts);
    return ok;
}

static int write_tracy(int fd, const char *to, struct strobe_trace *trace,
                       enum strobe_tracy_layout layout)
{
    struct strobe_tracy_folds folds;
    int ok = strobe_cli_write_tracy("export", trace, fd, to, layout, &folds);
    strobe_cli_warn_damage("export", trace, folds.n_bad_parts);
    return ok;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The devices that the chosen processes opened belong to them: a device is a process without a pid of its own. */
static void add_devices(const struct strobe_trace *trace, uint8_t *chosen)
{
    for (uint32_t i = 0; chosen && i < trace->n_processes; i++)
        for (uint32_t k = 0; !trace->processes[i].pid && k < trace->n_processes; k++)
            if (chosen[k] && trace->processes[k].pid &&
                trace->processes[k].pid == trace->processes[i].parent_pid)
                chosen[i] = 1;
}

/* Write the chosen piece of the trace to a new file, called `made`, which the caller removes. 0: that failed, and was printed. */
static int cut(const struct options *options, const char *path, struct strobe_trace *trace,
               char made[STROBE_PATH_ROOM])
{
    struct strobe_cli_chosen chosen;
    const char *folder = getenv("TMPDIR");
    if (!strobe_cli_choose("export", trace, &options->choice, &chosen)) {
        strobe_cli_chosen_free(&chosen);
        return 0;
    }
    if (options->choice.process)
        add_devices(trace, chosen.processes);
    const struct strobe_cut_options piece = {.by_tick = chosen.by_tick,
                                             .tick_min = chosen.tick_min,
                                             .tick_max = chosen.tick_max,
                                             .processes = chosen.processes,
                                             .n_processes = chosen.n_processes};
    snprintf(made, STROBE_PATH_ROOM, "%s/strobe-export-XXXXXX",
             folder && *folder ? folder : "/tmp");
    int fd = mkstemp(made);
    enum strobe_err err = fd < 0 ? STROBE_ERR_IO : strobe_cut_write(trace, &piece, made, NULL);
    strobe_cli_chosen_free(&chosen);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && err)
        unlink(made);
    if (err)
        strobe_cli_fail("export", path, err);
    return !err;
}

/* The piece as a trace; NULL: that failed, and was printed. */
static struct strobe_trace *cut_trace(const struct options *options, const char *path,
                                      struct strobe_trace *trace)
{
    char made[STROBE_PATH_ROOM];
    if (!cut(options, path, trace, made))
        return NULL;
    struct strobe_trace *piece = strobe_cli_open_trace("export", made, 0);
    unlink(made);
    return piece;
}

/* The piece as a file without a name. -1: that failed, and was printed. */
static int cut_file(const struct options *options, const char *path, struct strobe_trace *trace)
{
    char made[STROBE_PATH_ROOM];
    if (!cut(options, path, trace, made))
        return -1;
    int fd = open(made, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        strobe_cli_error("export", "can't read %s: %s", made, strerror(errno));
    unlink(made);
    return fd;
}

/* 1: it went well; a failure was printed. */
static int write_html(const struct options *options, const char *path, int fd,
                      struct strobe_trace *trace)
{
    struct strobe_out out;
    int is_cut = is_piece(options);
    int from = is_cut ? cut_file(options, path, trace) : open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        if (!is_cut)
            strobe_cli_error("export", "can't read %s: %s", path, strerror(errno));
        return 0;
    }
    if (!strobe_out_open(&out, fd)) {
        strobe_cli_fail("export", path, STROBE_ERR_NOMEM);
        close(from);
        return 0;
    }
    const struct strobe_cli_range *range = &options->choice.range;
    char *notes;
    if (strobe_notes_read(path, &notes))
        strobe_cli_error("export", "the notes beside %s can't be read; the page has none", path);
    uint32_t n_sources = 0;
    char *sources = options->with_source ? strobe_html_sources(trace, &n_sources) : NULL;
    if (options->with_source && !n_sources)
        strobe_cli_error("export", "no source file that the trace names is on this machine as it "
                                   "was; the page has its disassembler alone");
    const struct strobe_html_options page = {
        .name = base_name(path),
        .is_piece = is_cut,
        .has_range = range->is_set && range->from_ns != INT64_MIN && range->to_ns != INT64_MAX,
        .from_ns = range->from_ns,
        .to_ns = range->to_ns,
        .with_sql = options->with_sql,
        .notes = notes,
        .sources = sources};
    enum strobe_err err = strobe_html_write(from, &page, &out);
    free(notes);
    free(sources);
    close(from);
    if (err && !out.error)
        strobe_cli_fail("export", path, err);
    return !strobe_out_close(&out, "export") && !err;
}

/* Tables are read from a file by its path: a piece has one until they are written. */
static int write_tables(const struct options *options, int format, const char *path, const char *to,
                        struct strobe_trace *trace)
{
    char made[STROBE_PATH_ROOM] = "";
    struct target target;
    int ok = 0;
    if (is_piece(options) && !cut(options, path, trace, made))
        return STROBE_EXIT_FAILED;
    const char *from = *made ? made : path;
    if (format == PARQUET)
        ok = strobe_cli_write_lake(from, path, to, options->run);
    else if (open_target(&target, to, path))
        ok =
            close_target(&target, strobe_cli_write_rows(from, path, target.fd,
                                                        format == JSONL      ? strobe_jsonl_write
                                                        : format == PERFETTO ? strobe_perfetto_write
                                                                             : strobe_otlp_write));
    if (*made)
        unlink(made);
    return ok ? STROBE_EXIT_OK : STROBE_EXIT_FAILED;
}

/* Formats of zones have no place for the rest: that is said, with how many there are. */
static void say_left_out(int format, const struct strobe_trace *trace)
{
    enum { OF_CHROME = 1, OF_PERFETTO = 2, OF_OTLP = 4 };
#define KIND(name) (1ull << STROBE_KIND_##name)
    static const struct {
        const char *what;
        uint64_t kinds;
        int has; /* formats that have a place for it */
    } rows[] = {
        {"texts and values of zones",
         KIND(ZONE_TEXT) | KIND(ZONE_VALUE) | KIND(ZONE_TEXT_AT) | KIND(ZONE_VALUE_AT),
         OF_CHROME | OF_OTLP},
        {"messages", KIND(MESSAGE), OF_CHROME | OF_PERFETTO},
        {"values of plots", KIND(PLOT_INT) | KIND(PLOT_DOUBLE), OF_CHROME | OF_PERFETTO},
        {"frames", KIND(FRAME_MARK) | KIND(FRAME_START), OF_CHROME},
        {"points of flows", KIND(FLOW_BEGIN) | KIND(FLOW_STEP) | KIND(FLOW_END),
         OF_CHROME | OF_PERFETTO},
        {"events of memory", KIND(MEM_ALLOC) | KIND(MEM_FREE) | KIND(MEM_DISCARD) | KIND(MEM_BLOCK),
         0},
        {"events of locks",
         KIND(LOCK_WAIT) | KIND(LOCK_OBTAIN) | KIND(LOCK_RELEASE) | KIND(LOCK_WAITED), 0},
        {"call stacks", KIND(CALLSTACK) | KIND(STACK), 0},
        {"stack samples", KIND(SAMPLE), 0},
        {"context switches", KIND(SWITCH_OUT) | KIND(CPU_SWITCH), 0},
    };
#undef KIND
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    int of = format == CHROME     ? OF_CHROME
             : format == PERFETTO ? OF_PERFETTO
             : format == OTLP     ? OF_OTLP
                                  : 0;
    int n_said = 0;
    for (size_t i = 0; of && totals->has_totals && i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t n = 0;
        char room[32];
        for (int kind = 0; kind < STROBE_KIND_COUNT; kind++)
            n += rows[i].kinds >> kind & 1 ? totals->n_of_kind[kind] : 0;
        if (!n || rows[i].has & of)
            continue;
        fprintf(stderr, "%s%s (%s)", n_said++ ? ", " : "strobe export: not in it: ", rows[i].what,
                strobe_number_show_count(n, room));
    }
    if (n_said)
        fputs(totals->n_of_kind[STROBE_KIND_SAMPLE]
                  ? ": the format is one of zones; folded, speedscope, pprof and firefox have "
                    "samples\n"
                  : ": the format has no place for them\n",
              stderr);
}

/* The one of the formats of samples; -1: it is another. */
static int samples_format(int format)
{
    return format == FOLDED       ? STROBE_CLI_FOLDED
           : format == SPEEDSCOPE ? STROBE_CLI_SPEEDSCOPE
           : format == PPROF      ? STROBE_CLI_PPROF
           : format == FIREFOX    ? STROBE_CLI_FIREFOX
                                  : -1;
}

static int write_out(const struct options *options, int format, const char *path, const char *to,
                     struct strobe_trace *trace)
{
    struct target target;
    int ok;
    struct strobe_trace *piece = NULL;
    int samples = samples_format(format);
    if (format == PARQUET || format == JSONL || format == PERFETTO || format == OTLP)
        return write_tables(options, format, path, to, trace);
    if (format != HTML && samples < 0 && is_piece(options)) { /* these choose themselves */
        piece = cut_trace(options, path, trace);
        if (!piece)
            return STROBE_EXIT_FAILED;
        trace = piece;
    }
    if (!open_target(&target, to, path)) {
        strobe_trace_close(piece);
        return STROBE_EXIT_FAILED;
    }
    if (format == TRACY || format == TRACY_14)
        ok = write_tracy(target.fd, to, trace,
                         format == TRACY ? STROBE_TRACY_LAYOUT_11 : STROBE_TRACY_LAYOUT_14);
    else if (samples >= 0)
        ok = strobe_cli_export_samples(path, trace, target.fd,
                                       (enum strobe_cli_samples_format)samples, &options->choice);
    else
        ok = format == HTML ? write_html(options, path, target.fd, trace)
                            : write_chrome(path, target.fd, trace);
    ok = close_target(&target, ok);
    strobe_trace_close(piece);
    if (ok && target.fd != 1)
        fprintf(stderr, "strobe export: wrote %s; %s\n", to, formats[format].words);
    return ok ? STROBE_EXIT_OK : STROBE_EXIT_FAILED;
}

/* What a page with a trace in it needs was built; else it is said. */
static int has_modules(const struct options *options)
{
    if (!strobe_page_find(STROBE_PAGE_MODULE)) {
        strobe_cli_error("export",
                         "this strobe was built without the page's reader (WebAssembly), which a "
                         "page with a trace in it needs; `strobe view` shows traces");
        return 0;
    }
    if (options->with_sql && !strobe_page_find(STROBE_PAGE_ASK_MODULE)) {
        strobe_cli_error("export", "this strobe was built without the page's SQL (WebAssembly); "
                                   "`strobe view` has it");
        return 0;
    }
    return 1;
}

int strobe_cli_export(int argc, char **argv)
{
    struct options options = {0};
    char room[STROBE_PATH_ROOM];
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    int format = find_format(&options);
    if (format < 0 || !check_options(&options, format))
        return STROBE_EXIT_USAGE;
    if (format == HTML && !has_modules(&options))
        return STROBE_EXIT_FAILED;
    const char *path;
    struct strobe_trace *trace = strobe_cli_open_named("export", argc, argv, room, &path);
    if (!trace)
        return STROBE_EXIT_FAILED;
    char *made = options.out ? NULL : default_out(path, formats[format].end);
    const char *to = options.out ? options.out : made;
    code = to ? write_out(&options, format, path, to, trace)
              : strobe_cli_fail("export", path, STROBE_ERR_NOMEM);
    if (!code)
        say_left_out(format, trace);
    free(made);
    strobe_trace_close(trace);
    return code;
}
