/* cmd_record.c - strobe record: options, the command to run, the last lines.
 * What is printed: cli/record_run.c; the recording itself: recorder/.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/record_hosts.h"
#include "cli/record_rank.h"
#include "cli/record_run.h"
#include "recorder/frameworks.h"
#include "recorder/python.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: strobe record [-o FILE] [options] -- command [arguments]\n"
    "       strobe record [-o FILE] [options] --pid PID | --session NAME | --tracy HOST:PORT\n"
    "\n"
    "Runs a command and records what it and all its children emit, and where they spend their "
    "time,\n"
    "or attaches to what already runs.\n"
    "The exit code is the command's own.\n"
    "\n"
    "  -o, --output FILE    where the trace goes (default: <program>-<date>-<time>.strobe);\n"
    "                       an older trace is replaced, another file is not\n"
    "      --ranks FOLDER   under mpirun, srun or torchrun: FOLDER/rank-00003.strobe, by the rank\n"
    "                       that the launcher gives; strobe merge FOLDER makes one trace of them\n"
    "      --rank N         with --ranks: this rank, whatever the launcher says\n"
    "      --listen PORT    answer recorders of other hosts that ask for this one's clock, on\n"
    "                       loopback; ADDRESS:PORT: there\n"
    "      --peer HOST:PORT  compare clocks with the recorder there while both record, so that "
    "strobe\n"
    "                       merge puts both on one axis; may be repeated\n"
    "      --clock-key FILE  the key that these recorders share, 16 bytes and more; "
    "STROBE_CLOCK_KEY has\n"
    "                       the key itself\n"
    "      --pid PID        attach to a running program: to what it emits, if it is linked with "
    "the\n"
    "                       library, and with samples to any program\n"
    "      --session NAME   record all processes of a session (those started with "
    "STROBE_SESSION=NAME)\n"
    "      --for TIME       stop after that time: 10s, 500ms, 2m; a command goes on unrecorded\n"
    "      --all            until all processes that the command started have ended, and not the\n"
    "                       command alone; without it those that go on are named\n"
    "      --sample HZ      stack samples per second of CPU time (default 997), and context "
    "switches,\n"
    "                       of any program; STROBE_SAMPLE=HZ or 0 means the same. Where the "
    "kernel\n"
    "                       refuses perf events, timers in the command: samples, no switches\n"
    "      --no-sample      no samples and no context switches\n"
    "      --waits          as root: why threads wait and who wakes them, by the kernel's\n"
    "                       tracepoints; some 4 to 8 us more per switch\n"
    "      --syscalls       as root: every system call of the threads as a zone, with its result; "
    "some\n"
    "                       2 us more per call (docs/sampling.md)\n"
    "      --zone WHAT      functions as zones without a mark: FUNCTION, FILE:FUNCTION with * ? "
    "[a-z];\n"
    "                       !WHAT leaves out; may be repeated. Of code that was built with\n"
    "                       -finstrument-functions (a program's own are zones without this option, "
    "too)\n"
    "                       or clang's -fxray-instrument: some 20 ns a call. As root of any other "
    "C code,\n"
    "                       by the kernel's probes: some 4 us a call. FILE:PROVIDER:NAME: USDT "
    "marks as\n"
    "                       messages, likewise, 2 us each (docs/sampling.md)\n"
    "      --memory[=WHAT]  what the command allocates, with stacks: sampled, a block per 512K on "
    "average\n"
    "                       (default), another mean like 64K, or all blocks: all (strobe memory)\n"
    "      --locks[=all]    waits for mutexes, rwlocks, conditions and semaphores, and who had "
    "them;\n"
    "                       all: every lock and unlock too (strobe locks)\n"
    "      --max-memory N   shared memory per process (default 16M): 64M, 1G\n"
    "      --max-file N     stop storing when the file is that big; the rest is counted\n"
    "      --policy P       when the pool is full: wait (default; bounded) or drop\n"
    "      --python WHAT    what Python programs trace of themselves: functions (default), lines,\n"
    "                       marks (zones by hand and what frameworks mark), off\n"
    "      --include WHAT   trace these Python modules or files alone: numpy, my.*, */tests/*.py; "
    "may be\n"
    "                       repeated\n"
    "      --exclude WHAT   leave these out; wins over --include; may be repeated\n"
    "      --min-duration TIME  Python calls shorter than that leave no zone: 10us, 1ms\n"
    "      --max-depth N    Python calls nested deeper leave no zone\n"
    "      --c-functions    C functions that Python calls leave zones too\n"
    "      --frameworks LIST  whose marks are recorded: torch,jax,logging,greenlet,nvtx,opencl\n"
    "                       (default: all), or off\n"
    "      --flight TIME    keep only the last TIME; a trigger saves it\n"
    "      --after TIME     of a flight recording: go on so long after the trigger (default: a "
    "tenth)\n"
    "      --trigger WHEN   'zone NAME > 5ms'; also: strobe_trigger() in the program, SIGUSR2 to "
    "strobe,\n"
    "                       the death of the program by a signal\n"
    "      --tracy HOST:PORT  record that Tracy client too, as soon as it listens (may be "
    "repeated);\n"
    "                       without a command: until it ends, or Ctrl-C\n"
    "      --tracy-announced WHERE  follow announcements of Tracy clients: loopback (default), "
    "any\n"
    "                       (all interfaces), none\n"
    "      --tracy-bridge[=PORT]  show the trace to a Tracy server while it is recorded "
    "(port 8086 or the\n"
    "                       next that is free; STROBE_TRACY_BRIDGE=1 means the same)\n"
    "      --no-tracy       leave Tracy clients alone: nothing is preloaded into the command\n"
    "      --live           show the trace in the browser while it is made (strobe view)\n"
    "  -q, --quiet          no status line, no last lines\n"
    "  -h, --help\n"
    "\n"
    "examples:\n"
    "  strobe record -- ./app --size 10\n"
    "  strobe record -o app.strobe --for 10s --pid 1234\n"
    "  strobe record --tracy 127.0.0.1:8086\n"
    "  strobe record --flight 30s --trigger 'zone frame > 20ms' -- ./server\n";

/* "10s", "500ms", "2m", "1h" or a plain number of seconds, in ns. 0: not a time. */
static uint64_t parse_time(const char *text)
{
    char *unit;
    errno = 0;
    double value = strtod(text, &unit);
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                 {"ns", 1}, {"m", 6e10}, {"min", 6e10}, {"h", 3.6e12}};
    if (unit == text || errno || !(value > 0) || value > 1e9)
        return 0;
    while (*unit == ' ')
        unit++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (!strcmp(unit, units[i].name))
            return (uint64_t)(value * units[i].ns);
    return 0;
}

/* "64M", "1G", "1048576". 0: not a size. */
static uint64_t parse_size(const char *text)
{
    char *unit;
    errno = 0;
    double value = strtod(text, &unit);
    double factor = 1;
    if (unit == text || errno || !(value > 0))
        return 0;
    switch (*unit | 32) {
    case 'k':
        factor = 1 << 10;
        break;
    case 'm':
        factor = 1 << 20;
        break;
    case 'g':
        factor = 1 << 30;
        break;
    case 't':
        factor = 1e12;
        break;
    case 32:
    case 'b':
        break;
    default:
        return 0;
    }
    if (*unit && *unit != 'b' && *unit != 'B')
        unit++;
    if (*unit == 'i')
        unit++;
    if (*unit == 'B' || *unit == 'b')
        unit++;
    return *unit || value * factor > 1e18 ? 0 : (uint64_t)(value * factor);
}

/* 'zone NAME > 5ms' */
static bool parse_trigger(const char *text, struct strobe_recorder_options *options)
{
    const char *over = strrchr(text, '>');
    if (strncmp(text, "zone ", 5) || !over)
        return false;
    const char *name = text + 5, *end = over;
    while (end > name && end[-1] == ' ')
        end--;
    size_t n = (size_t)(end - name);
    over++;
    while (*over == ' ')
        over++;
    options->trigger_ns = parse_time(over);
    if (!n || n >= sizeof options->trigger_zone || !options->trigger_ns)
        return false;
    memcpy(options->trigger_zone, name, n);
    return true;
}

/* 'loopback', 'any', 'none', with a port of their own behind a colon. */
static bool parse_announced(const char *text, struct strobe_recorder_options *options)
{
    static const char *const words[] = {"loopback", "none",
                                        "any"}; /* enum strobe_tracy_announced */
    size_t n = strcspn(text, ":");
    for (uint32_t i = 0; i < 3; i++)
        if (strlen(words[i]) == n && !strncmp(text, words[i], n)) {
            options->tracy_announced = (enum strobe_tracy_announced)i;
            options->tracy_announce_port = text[n] ? (uint16_t)strtoul(text + n + 1, NULL, 10) : 0;
            return !text[n] || options->tracy_announce_port;
        }
    return false;
}

/* The port that --tracy-bridge[=PORT] asks for: 0 for the usual ones, -2: `value` is no port. `value` NULL: the option has none. */
static int bridge_port(const char *value)
{
    char *end;
    if (!value)
        return 0;
    long port = strtol(value, &end, 10);
    return *end || end == value || port < 1 || port > 65535 ? -2 : (int)port;
}

/* STROBE_TRACY_BRIDGE: 1: the usual ports; any other number: that one. -1: no bridge is wanted. */
static int bridge_port_of_environment(void)
{
    const char *value = getenv("STROBE_TRACY_BRIDGE");
    if (!value || !*value || !strcmp(value, "0"))
        return -1;
    return strcmp(value, "1") ? bridge_port(value) : 0;
}

enum {
    OPT_PID = 256,
    OPT_SESSION,
    OPT_FOR,
    OPT_MEMORY,
    OPT_BLOCKS,
    OPT_LOCKS,
    OPT_FILE,
    OPT_POLICY,
    OPT_FLIGHT,
    OPT_AFTER,
    OPT_TRIGGER,
    OPT_TRACY,
    OPT_ANNOUNCED,
    OPT_NO_TRACY,
    OPT_BRIDGE,
    OPT_SERVE,
    OPT_READY,
    OPT_LIVE,
    OPT_PYTHON,
    OPT_INCLUDE,
    OPT_EXCLUDE,
    OPT_MIN_DURATION,
    OPT_MAX_DEPTH,
    OPT_C_FUNCTIONS,
    OPT_FRAMEWORKS,
    OPT_ALL,
    OPT_SAMPLE,
    OPT_NO_SAMPLE,
    OPT_WAITS,
    OPT_SYSCALLS,
    OPT_ZONE,
    OPT_RANKS,
    OPT_RANK,
    OPT_LISTEN,
    OPT_PEER,
    OPT_CLOCK_KEY,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"ranks", required_argument, NULL, OPT_RANKS},
    {"rank", required_argument, NULL, OPT_RANK},
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"peer", required_argument, NULL, OPT_PEER},
    {"clock-key", required_argument, NULL, OPT_CLOCK_KEY},
    {"pid", required_argument, NULL, OPT_PID},
    {"session", required_argument, NULL, OPT_SESSION},
    {"for", required_argument, NULL, OPT_FOR},
    {"all", no_argument, NULL, OPT_ALL},
    {"sample", required_argument, NULL, OPT_SAMPLE},
    {"no-sample", no_argument, NULL, OPT_NO_SAMPLE},
    {"waits", no_argument, NULL, OPT_WAITS},
    {"syscalls", no_argument, NULL, OPT_SYSCALLS},
    {"zone", required_argument, NULL, OPT_ZONE},
    {"memory", optional_argument, NULL, OPT_BLOCKS},
    {"locks", optional_argument, NULL, OPT_LOCKS},
    {"max-memory", required_argument, NULL, OPT_MEMORY},
    {"max-file", required_argument, NULL, OPT_FILE},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"python", required_argument, NULL, OPT_PYTHON},
    {"include", required_argument, NULL, OPT_INCLUDE},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"min-duration", required_argument, NULL, OPT_MIN_DURATION},
    {"max-depth", required_argument, NULL, OPT_MAX_DEPTH},
    {"c-functions", no_argument, NULL, OPT_C_FUNCTIONS},
    {"frameworks", required_argument, NULL, OPT_FRAMEWORKS},
    {"flight", required_argument, NULL, OPT_FLIGHT},
    {"after", required_argument, NULL, OPT_AFTER},
    {"trigger", required_argument, NULL, OPT_TRIGGER},
    {"tracy", required_argument, NULL, OPT_TRACY},
    {"tracy-announced", required_argument, NULL, OPT_ANNOUNCED},
    {"no-tracy", no_argument, NULL, OPT_NO_TRACY},
    {"tracy-bridge", optional_argument, NULL, OPT_BRIDGE},
    {"serve-session", required_argument, NULL, OPT_SERVE},
    {"ready-fd", required_argument, NULL, OPT_READY},
    {"live", no_argument, NULL, OPT_LIVE},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* A filter of Python's calls: what the command's interpreters find in their environment. */
static const char *take_filter(int option, const char *value)
{
    char text[32];
    switch (option) {
    case OPT_INCLUDE:
        return strobe_recorder_python_add("STROBE_PYTHON_INCLUDE", value) ? NULL
                                                                          : "a module or a file";
    case OPT_EXCLUDE:
        return strobe_recorder_python_add("STROBE_PYTHON_EXCLUDE", value) ? NULL
                                                                          : "a module or a file";
    case OPT_MIN_DURATION:
        snprintf(text, sizeof text, "%lluns", (unsigned long long)parse_time(value));
        return parse_time(value) && !setenv("STROBE_PYTHON_MIN_DURATION", text, 1)
                   ? NULL
                   : "a time like 10us";
    case OPT_MAX_DEPTH:
        snprintf(text, sizeof text, "%d", atoi(value));
        return atoi(value) > 0 && !setenv("STROBE_PYTHON_MAX_DEPTH", text, 1)
                   ? NULL
                   : "a number from 1 on";
    case OPT_FRAMEWORKS:
        return strobe_recorder_frameworks_choose(value)
                   ? NULL
                   : "off, or some of torch,jax,logging,greenlet,nvtx,opencl";
    case OPT_C_FUNCTIONS:
        return setenv("STROBE_PYTHON_C", "1", 1) ? "less of an environment" : NULL;
    }
    return "";
}

/* Clocks of other hosts. */
static const char *take_hosts(int option, char *value, struct strobe_recorder_options *options)
{
    switch (option) {
    case OPT_LISTEN:
        options->listen = value;
        return NULL;
    case OPT_PEER:
        if (options->n_peers == sizeof options->peers / sizeof options->peers[0])
            return "fewer of them";
        options->peers[options->n_peers++] = value;
        return strrchr(value, ':') ? NULL : "an address like node1:7400";
    case OPT_CLOCK_KEY:
        return strobe_record_hosts_read_key(value, options);
    }
    return take_filter(option, value);
}

/* Samples a second. False: it is no such number. */
static bool parse_hz(const char *text, uint32_t *out)
{
    char *end;
    unsigned long hz = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || hz > STROBE_SAMPLER_HZ_MAX)
        return false;
    *out = (uint32_t)hz;
    return true;
}

/* STROBE_SAMPLE: 0: none; a number: so many a second. */
static uint32_t hz_of_environment(void)
{
    const char *value = getenv("STROBE_SAMPLE");
    uint32_t hz = STROBE_SAMPLER_HZ;
    if (value && *value && !parse_hz(value, &hz))
        strobe_cli_error("record", "STROBE_SAMPLE=%s is not used: it wants a number from 0 to %u",
                         value, STROBE_SAMPLER_HZ_MAX);
    return hz;
}

/* What the command's library would take no notice of, or would keep it from being recorded. */
static void check_environment(void)
{
    const char *clock = getenv("STROBE_CLOCK"), *wait = getenv("STROBE_EXIT_WAIT"),
               *disabled = getenv("STROBE_DISABLE");
    if (clock && *clock && strcmp(clock, "mono") != 0)
        strobe_cli_error("record", "STROBE_CLOCK=%s is not used: it wants the word mono", clock);
    if (wait && (strspn(wait, "0123456789") != strlen(wait) || !*wait || strlen(wait) > 4))
        strobe_cli_error("record", "STROBE_EXIT_WAIT=%s: it wants seconds, from 0 to 3600", wait);
    if (disabled && *disabled && *disabled != '0')
        strobe_cli_error("record",
                         "STROBE_DISABLE=%s: programs with the library in them are not "
                         "recorded; unset it",
                         disabled);
}

/* Tracy's clients and servers. */
static const char *take_tracy(int option, char *value, struct strobe_recorder_options *options)
{
    switch (option) {
    case OPT_TRACY:
        if (options->n_tracy == sizeof options->tracy / sizeof options->tracy[0])
            return "fewer of them";
        options->tracy[options->n_tracy++] = value;
        return strrchr(value, ':') ? NULL : "an address like 127.0.0.1:8086";
    case OPT_ANNOUNCED:
        return parse_announced(value, options) ? NULL : "loopback, any or none, and maybe :PORT";
    case OPT_NO_TRACY:
        options->no_tracy = true;
        return NULL;
    case OPT_BRIDGE:
        options->bridge_port = bridge_port(value);
        return options->bridge_port >= 0 ? NULL : "a port";
    }
    return take_hosts(option, value, options);
}

/* Memory: "all", or bytes between two samples on average. NULL: fine. */
static const char *take_blocks(const char *value, struct strobe_recorder_options *options)
{
    static char mean[24];
    uint64_t bytes = !value ? 512 << 10 : parse_size(value);
    options->memory = value && !strcmp(value, "all") ? "all" : mean;
    snprintf(mean, sizeof mean, "%llu", (unsigned long long)bytes);
    return options->memory != mean || bytes ? NULL : "all, or a size like 64K";
}

/* Functions: one pattern more, a line each. */
static const char *take_zone(const char *value, struct strobe_recorder_options *options)
{
    static char patterns[STROBE_RECORDER_ZONES_MAX];
    size_t n = strlen(patterns), n_value = strlen(value);
    if (!n_value || strchr(value, '\n') || n_value + 2 > sizeof patterns - n)
        return "FUNCTION or FILE:FUNCTION";
    snprintf(patterns + n, sizeof patterns - n, "%s%s", n ? "\n" : "", value);
    options->zones = patterns;
    return NULL;
}

/* Stack samples, functions, memory, locks. */
static const char *take_sample(int option, char *value, struct strobe_recorder_options *options)
{
    switch (option) {
    case OPT_SAMPLE:
        return parse_hz(value, &options->sample_hz) && options->sample_hz
                   ? NULL
                   : "a number from 1 to 20000";
    case OPT_NO_SAMPLE:
        options->sample_hz = 0;
        return NULL;
    case OPT_WAITS:
        options->waits = true;
        return NULL;
    case OPT_SYSCALLS:
        options->syscalls = true;
        return NULL;
    case OPT_ZONE:
        return take_zone(value, options);
    case OPT_BLOCKS:
        return take_blocks(value, options);
    case OPT_LOCKS:
        options->locks = value ? value : "waits";
        return !strcmp(options->locks, "waits") || !strcmp(options->locks, "all") ? NULL : "all";
    }
    return take_tracy(option, value, options);
}

/* The command line. */
struct parsed {
    struct strobe_recorder_options record;
    bool quiet;
    bool live;         /* show it in the viewer while it is made */
    const char *ranks; /* borrowed: the folder of a job; NULL: none */
    int64_t rank;      /* -1: as the launcher says */
};

/* Which rank of a job it is. */
static const char *take_rank(int option, const char *value, struct parsed *parsed)
{
    if (option == OPT_RANKS) {
        parsed->ranks = value;
        return NULL;
    }
    parsed->rank = strobe_record_rank_read(value);
    return parsed->rank >= 0 ? NULL : "a number from 0 on";
}

/* One option. NULL: fine; else what is wrong with its value. */
static const char *take_option(int option, char *value, struct parsed *parsed)
{
    struct strobe_recorder_options *options = &parsed->record;
    switch (option) {
    case 'o':
        snprintf(options->path, sizeof options->path, "%s", value);
        return strlen(value) < sizeof options->path ? NULL : "a shorter path";
    case OPT_RANKS:
    case OPT_RANK:
        return take_rank(option, value, parsed);
    case 'q':
        parsed->quiet = true;
        return NULL;
    case OPT_LIVE:
        parsed->live = true;
        return NULL;
    case OPT_PID:
        options->pid = (uint32_t)strtoul(value, NULL, 10);
        return options->pid ? NULL : "the number of a process";
    case OPT_SESSION:
        options->session = value;
        return NULL;
    case OPT_FOR:
        return (options->for_ns = parse_time(value)) ? NULL : "a time like 10s or 500ms";
    case OPT_ALL:
        options->all = true;
        return NULL;
    case OPT_MEMORY:
        options->pool_bytes = parse_size(value);
        return options->pool_bytes >= 256 << 10 && options->pool_bytes <= 2ull << 30
                   ? NULL
                   : "a size from 256K to 2G";
    case OPT_FILE:
        options->max_file_bytes = parse_size(value);
        return options->max_file_bytes >= 1 << 20 ? NULL : "a size of 1M and more";
    case OPT_POLICY:
        options->policy = !strcmp(value, "drop") ? STROBE_POLICY_DROP : STROBE_POLICY_WAIT;
        return !strcmp(value, "drop") || !strcmp(value, "wait") ? NULL : "wait or drop";
    case OPT_PYTHON:
        options->python = value;
        return strobe_recorder_python_mode(value) ? NULL : "functions, lines, marks or off";
    case OPT_FLIGHT:
        return (options->flight_ns = parse_time(value)) ? NULL : "a time like 30s";
    case OPT_AFTER:
        return (options->after_ns = parse_time(value)) ? NULL : "a time like 5s";
    case OPT_TRIGGER:
        return parse_trigger(value, options) ? NULL : "a condition like 'zone frame > 20ms'";
    case OPT_SERVE:
        options->session = value;
        options->serve = true;
        parsed->quiet = true;
        return NULL;
    case OPT_READY:
        options->ready_fd = atoi(value);
        return NULL;
    }
    return take_sample(option, value, options);
}

/* <program>-<date>-<time>.strobe in the current folder. */
static void name_trace(struct strobe_recorder_options *options)
{
    const char *program = options->command ? options->command[0] : options->session;
    char pid_name[32], when[32];
    if (!program) {
        snprintf(pid_name, sizeof pid_name, options->pid ? "pid%u" : "tracy", options->pid);
        program = pid_name;
    }
    const char *slash = strrchr(program, '/');
    time_t now = time(NULL);
    struct tm local;
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    snprintf(options->path, sizeof options->path, "%.200s-%s.strobe", slash ? slash + 1 : program,
             when);
}

/* The path as other processes would have to write it. */
static void make_absolute(char *path, size_t cap)
{
    char folder[PATH_MAX], text[PATH_MAX + 1024];
    if (path[0] == '/' || !getcwd(folder, sizeof folder))
        return;
    snprintf(text, sizeof text, "%s/%s", folder[1] ? folder : "", path);
    if (strlen(text) < cap)
        strcpy(path, text);
}

/* The viewer runs beside the recorder, as a process of its own that only reads the file. */
static pid_t start_viewer(const char *path)
{
    char recorder[32];
    snprintf(recorder, sizeof recorder, "%d", (int)getpid());
    pid_t viewer = fork();
    if (viewer == 0) {
        execl("/proc/self/exe", "strobe", "view", "--recorder", recorder, path, (char *)NULL);
        _exit(127);
    }
    return viewer;
}

/* Fill in what the command line left open. An exit code, or -1: it can be recorded. */
static int complete(struct strobe_recorder_options *options)
{
    bool only_tracy = options->n_tracy && !options->no_tracy;
    if (!!options->command + !!options->pid + !!options->session != 1 &&
        !(only_tracy && !options->command && !options->pid && !options->session)) {
        strobe_cli_error("record", "name one thing to record: a command after '--', --pid, "
                                   "--session or --tracy");
        fputs("'strobe record --help' shows how\n", stderr);
        return STROBE_EXIT_USAGE;
    }
    if (!strobe_record_hosts_complete(options))
        return STROBE_EXIT_USAGE;
    if (!options->path[0])
        name_trace(options);
    make_absolute(options->path, sizeof options->path);
    if (!strobe_cli_may_write("record", options->path))
        return STROBE_EXIT_USAGE;
    if (options->bridge_port < 0)
        options->bridge_port = bridge_port_of_environment();
    unsetenv("STROBE_TRACY_BRIDGE"); /* one bridge, and not one for each of its children */
    return -1;
}

/* The trace of a rank. An exit code, or -1: it has its name, or is none. */
static int name_rank(struct parsed *parsed)
{
    struct strobe_recorder_options *options = &parsed->record;
    if (!parsed->ranks)
        return -1;
    const char *wrong = strobe_record_rank_name_trace(parsed->ranks, parsed->rank, options->path,
                                                      sizeof options->path);
    options->listen_may_be_busy = true; /* ranks of one host have one port and one clock */
    if (!wrong)
        return -1;
    strobe_cli_error("record", "--ranks %s wants %s", parsed->ranks, wrong);
    return STROBE_EXIT_USAGE;
}

int strobe_cli_record(int argc, char **argv)
{
    struct parsed parsed = {.rank = -1,
                            .record = {.pool_bytes = STROBE_DEFAULT_POOL,
                                       .ready_fd = -1,
                                       .bridge_port = -1,
                                       .sample_hz = hz_of_environment()}};
    int option;
    optind = 1;
    while ((option = strobe_cli_option(argc, argv, "+o:qh", long_options)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (option == '?')
            return STROBE_EXIT_USAGE;
        const char *wanted = take_option(option, optarg, &parsed);
        if (wanted) {
            if (*wanted)
                strobe_cli_error("record", "'%s' is not what this option takes: it wants %s",
                                 optarg, wanted);
            fputs("'strobe record --help' shows the options\n", stderr);
            return STROBE_EXIT_USAGE;
        }
    }
    parsed.record.command = optind < argc ? argv + optind : NULL;
    if (parsed.record.command)
        check_environment();
    int code = name_rank(&parsed);
    if (code < 0)
        code = complete(&parsed.record);
    if (code >= 0)
        return code;
    if (parsed.live)
        unlink(parsed.record.path); /* nobody must take an old trace for this one */
    pid_t viewer = parsed.live ? start_viewer(parsed.record.path) : -1;
    return strobe_cli_record_run(&parsed.record, parsed.quiet, viewer);
}
