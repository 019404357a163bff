/* cmd_tracy_capture.c - tracy-capture, capture-release, iree-tracy-capture: records one Tracy client
 * into a .tracy file, with the options and the words of the real ones.
 *
 * The recording is that of `strobe record --tracy`, made by a child process into OUT.strobe, so that
 * nothing is lost if either dies; this process shows how it goes and writes the .tracy file at the
 * end.  SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/doctor_ports.h"
#include "cli/export_tracy.h"
#include "cli/input.h"
#include "cli/record_run.h"
#include "base/out.h"
#include "query/client_facts.h"

static const char help[] =
    "usage: tracy-capture -o OUT [options]\n"
    "\n"
    "Records one Tracy client, of any protocol from 56 on, until it ends or Ctrl-C. Waits for it "
    "to\n"
    "appear. OUT is a .tracy file, which Tracy 0.11.1 and later open, or a trace if it ends in\n"
    ".strobe.\n"
    "\n"
    "  -o, --output OUT   where it goes\n"
    "  -a ADDRESS         where the client is; default: 127.0.0.1\n"
    "  -p PORT            its port; default: 8086\n"
    "  -f, --force        replace OUT if it is there\n"
    "  -s SECONDS         stop after that time, counted from the connection\n"
    "  -m PERCENT         stop when the trace is as large as that share of the machine's memory; "
    "the\n"
    "                     recorder's own memory does not grow\n"
    "  -h, --help         this text\n"
    "  -V, --version      the version\n";

enum { EXIT_USAGE_HERE = 1, EXIT_THERE = 4, EXIT_NO_OUTPUT = 5 }; /* as the real one */
enum { PROTOCOL_14 = 82 };

struct options {
    const char *output, *address;
    int port, force;
    double seconds;
    double percent; /* of the machine's memory; 0: no bound */
};

struct capture {
    const struct options *options;
    char trace[PATH_MAX]; /* what is recorded into */
    int is_trace;         /* it is the output itself */
    pid_t recorder;
    int64_t start_ms, connected_ms; /* connected_ms 0: not yet */
    int64_t looked_ms, shown_ms;
    int is_told;                     /* who holds the port */
    int is_asked;                    /* the recorder was asked to end */
    enum strobe_tracy_layout layout; /* that the Tracy of its client has */
};

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static int64_t now_ms(void)
{
    return (int64_t)(strobe_clock_mono_ns() / 1000000);
}

/* ---- the recorder ---------------------------------------------------------------------------- */

/* In the child: never returns. */
static void record(const struct capture *capture)
{
    static struct strobe_recorder_options record;
    char where[300];
    int is_v6 = strchr(capture->options->address, ':') != NULL;
    record.pool_bytes = STROBE_DEFAULT_POOL;
    record.ready_fd = -1;
    record.bridge_port = -1;
    snprintf(where, sizeof where, is_v6 ? "[%s]:%d" : "%s:%d", capture->options->address,
             capture->options->port);
    snprintf(record.path, sizeof record.path, "%s", capture->trace);
    record.tracy[record.n_tracy++] = where;
    prctl(PR_SET_PDEATHSIG, SIGINT);
    exit(strobe_cli_record_run(&record, true, -1));
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* 1: the recorder has a client. */
static int look_for_client(struct capture *capture)
{
    struct strobe_trace *trace;
    struct strobe_client_facts facts;
    if (strobe_trace_open(capture->trace, STROBE_TRACE_NO_LOCS, &trace))
        return 0;
    int found = 0;
    if (trace->n_processes && !strobe_client_facts_load(trace, &facts)) {
        const struct strobe_client_fact *client = strobe_client_of(&facts, 0);
        found = client != NULL;
        if (client && client->protocol >= PROTOCOL_14)
            capture->layout = STROBE_TRACY_LAYOUT_14;
        if (client)
            printf("\nTimer resolution: %.0f ns\n", (double)client->resolution * client->timer_mul);
    }
    if (trace->n_processes)
        strobe_client_facts_free(&facts);
    strobe_trace_close(trace);
    fflush(stdout);
    return found;
}

/* The first port from 8086 on that nobody holds; 0: none of the 20. */
static int find_free_port(void)
{
    for (int port = STROBE_DOCTOR_PORT_FIRST; port <= STROBE_DOCTOR_PORT_LAST; port++) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int is_free = fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at);
        if (fd >= 0)
            close(fd);
        if (is_free)
            return port;
    }
    return 0;
}

/* Nothing answered as a Tracy client does: say who sits on the port. */
static void tell_holder(const struct options *options)
{
    struct strobe_doctor_port holder;
    int is_here = !strncmp(options->address, "127.", 4) || !strcmp(options->address, "::1") ||
                  !strcmp(options->address, "localhost");
    if (!is_here || !strobe_doctor_port_holder(options->port, &holder))
        return;
    int free_port = find_free_port();
    printf("\nPort %d is held by ", options->port);
    if (holder.pid)
        printf("pid %d (%s)", holder.pid, holder.program);
    else
        printf("a process of another user");
    printf(", which does not answer as a Tracy client that is free does.");
    if (free_port)
        printf(" Port %d is free: TRACY_PORT=%d for the client, -p %d here.", free_port, free_port,
               free_port);
    printf("\nWaiting...");
    fflush(stdout);
}

static void show_progress(struct capture *capture, int64_t now)
{
    char room[32];
    struct stat st;
    if (!isatty(1) || stat(capture->trace, &st))
        return;
    printf("\r%s recorded in %.1f s   ", strobe_number_show_bytes((uint64_t)st.st_size, room),
           (double)(now - capture->connected_ms) / 1000);
    fflush(stdout);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Tracy's own capture holds the trace in memory, and -m bounds that: here it bounds the trace. */
static int is_large(const struct capture *capture)
{
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct stat st;
    return capture->options->percent > 0 && capture->connected_ms && !stat(capture->trace, &st) &&
           (double)st.st_size >= memory * capture->options->percent / 100;
}

static void step(struct capture *capture)
{
    enum { LOOK_MS = 200, TELL_MS = 2000, SHOW_MS = 200 };
    int64_t now = now_ms();
    const struct options *options = capture->options;
    if (!capture->connected_ms && now - capture->looked_ms >= LOOK_MS) {
        capture->looked_ms = now;
        if (look_for_client(capture))
            capture->connected_ms = now;
        else if (!capture->is_told && now - capture->start_ms >= TELL_MS) {
            capture->is_told = 1;
            tell_holder(options);
        }
    }
    if (capture->connected_ms && now - capture->shown_ms >= SHOW_MS) {
        capture->shown_ms = now;
        show_progress(capture, now);
    }
    int is_time = options->seconds > 0 && capture->connected_ms &&
                  now - capture->connected_ms >= (int64_t)(options->seconds * 1000);
    if ((stopped || is_time || is_large(capture)) && !capture->is_asked) {
        capture->is_asked = 1;
        kill(capture->recorder, SIGINT);
    }
}

/* Until the recorder ends; its exit code. */
static int wait_for_recorder(struct capture *capture)
{
    int status;
    for (;;) {
        pid_t ended = waitpid(capture->recorder, &status, WNOHANG);
        if (ended == capture->recorder)
            return WIFEXITED(status) ? WEXITSTATUS(status) : STROBE_EXIT_FAILED;
        if (ended < 0 && errno != EINTR)
            return STROBE_EXIT_FAILED;
        step(capture);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static const char *show_span(int64_t ns, char room[32])
{
    return strobe_number_show_ns(ns < 0 ? 0 : (uint64_t)ns, room);
}

static int write_output(const struct capture *capture, struct strobe_trace *trace)
{
    struct strobe_tracy_folds folds;
    struct stat st = {0};
    char span[32], zones[32], elapsed[32], size[32];
    const char *to = capture->options->output;
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        printf("\nCannot open output file %s for writing!\n", to);
        return EXIT_NO_OUTPUT;
    }
    fflush(stdout);
    int ok = strobe_cli_write_tracy("tracy-capture", trace, fd, to, capture->layout, &folds);
    fstat(fd, &st);
    if (close(fd))
        ok = 0;
    if (!ok)
        return STROBE_EXIT_FAILED;
    printf("\nFrames: %" PRIu64
           "\nTime span: %s\nZones: %s\nElapsed time: %s\nSaving trace... done!\n",
           folds.n_frames, show_span(folds.last_time, span),
           strobe_number_show_count(folds.n_zones, zones),
           show_span((now_ms() - capture->connected_ms) * 1000000, elapsed));
    printf("Trace size %s (%.2f%% ratio)\n", strobe_number_show_bytes((uint64_t)st.st_size, size),
           folds.n_content_bytes ? 100.0 * (double)st.st_size / (double)folds.n_content_bytes : 0);
    return STROBE_EXIT_OK;
}

static int finish(struct capture *capture, int recorded)
{
    struct strobe_trace *trace = strobe_cli_open_trace("tracy-capture", capture->trace, 0);
    if (!trace)
        return STROBE_EXIT_FAILED;
    int has_client = trace->n_processes > 0;
    if (has_client && !capture->connected_ms) {
        look_for_client(capture); /* it was too short to be seen while it ran */
        capture->connected_ms = now_ms();
    }
    int code = STROBE_EXIT_OK;
    if (!has_client)
        printf("\nNo Tracy client was recorded.\n");
    else if (!capture->is_trace)
        code = write_output(capture, trace);
    else
        printf("\nSaved %s.\n", capture->trace);
    strobe_trace_close(trace);
    if (!capture->is_trace && (code == STROBE_EXIT_OK || !has_client))
        unlink(capture->trace);
    if (!has_client || recorded)
        return STROBE_EXIT_FAILED;
    return code;
}

static int run(const struct options *options)
{
    static struct capture capture = {.layout = STROBE_TRACY_LAYOUT_11};
    size_t n = strlen(options->output);
    capture.options = options;
    capture.is_trace = n > 7 && !strcmp(options->output + n - 7, ".strobe");
    char folder[PATH_MAX];
    if (options->output[0] == '/' || !getcwd(folder, sizeof folder))
        folder[0] = 0;
    snprintf(capture.trace, sizeof capture.trace, "%s%s%s%s", folder, folder[0] ? "/" : "",
             options->output, capture.is_trace ? "" : ".strobe");
    printf("Connecting to %s:%d...", options->address, options->port);
    fflush(stdout);
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    unlink(capture.trace);
    capture.start_ms = now_ms();
    capture.recorder = fork();
    if (!capture.recorder)
        record(&capture);
    if (capture.recorder < 0) {
        strobe_cli_error("tracy-capture", "%s", strerror(errno));
        return STROBE_EXIT_FAILED;
    }
    return finish(&capture, wait_for_recorder(&capture));
}

int strobe_cli_tracy_capture(int argc, char **argv)
{
    static const struct option known[] = {{"output", 1, NULL, 'o'},
                                          {"force", 0, NULL, 'f'},
                                          {"help", 0, NULL, 'h'},
                                          {"version", 0, NULL, 'V'},
                                          {0}};
    struct options options = {.address = "127.0.0.1", .port = 8086};
    struct stat st;
    for (int c; (c = getopt_long(argc, argv, "a:o:p:fs:m:hV", known, NULL)) != -1;) {
        switch (c) {
        case 'a':
            options.address = optarg;
            break;
        case 'o':
            options.output = optarg;
            break;
        case 'p':
            options.port = atoi(optarg);
            break;
        case 'f':
            options.force = 1;
            break;
        case 's':
            options.seconds = atof(optarg);
            break;
        case 'm':
            options.percent = atof(optarg);
            break;
        case 'h':
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        case 'V':
            printf("tracy-capture of strobe %s\n", STROBE_VERSION);
            return STROBE_EXIT_OK;
        default:
            return EXIT_USAGE_HERE;
        }
    }
    if (!options.output || options.port <= 0 || options.port > 65535) {
        fputs(help, stdout);
        return EXIT_USAGE_HERE;
    }
    if (!options.force && !stat(options.output, &st)) {
        printf("Output file %s already exists! Use -f to force overwrite.\n", options.output);
        return EXIT_THERE;
    }
    return run(&options);
}
