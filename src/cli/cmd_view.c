/* cmd_view.c - strobe view: serves the viewer until Ctrl-C, and says where it is.
 * The server itself: serve/.  SPDX-License-Identifier: MIT */
#include "cli/merge_set.h"
#include "cli/cli.h"
#include "cli/import_device.h"
#include "cli/input.h"
#include "cli/view.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "file/file_write.h"
#include "recorder/recorder.h"
#include "ring/session.h"
#include "serve/server.h"

static const char help[] =
    "usage: strobe view [options] [FILE | FOLDER]\n"
    "\n"
    "Shows a trace in the browser: prints a link, and serves it on this machine's loopback until "
    "Ctrl-C.\n"
    "FILE may be Tracy's (.tracy) or Chrome's (.json, .json.gz), stack samples of other profilers "
    "(strobe import), or a\n"
    "tt-metal run's profile_log_device.csv, too; a FOLDER that\n"
    "has that log, there or in .logs, is such a run, one with rank-….strobe files is a job: they "
    "are shown as one trace.\n"
    "Without FILE, a page with the traces of this "
    "folder, live sessions and\n"
    "Tracy clients. A trace that is still being recorded is followed.\n"
    "\n"
    "  --port N     listen on port N, and keep the link's token from one run to the next (default: "
    "any port)\n"
    "  --web DIR    the page's files from there, for editing them\n"
    "  --no-open    do not open a browser\n"
    "  -h, --help\n"
    "\n"
    "examples:\n"
    "  strobe view run.strobe\n"
    "  strobe view --port 8090 --no-open traces/\n";

struct options {
    const char *web_dir;
    int port;
    int is_quiet; /* no browser */
    pid_t recorder;
    char folder[PATH_MAX], trace[256];
};

/* What the server's questions are answered from. */
struct view {
    struct options options;
    struct strobe_view_clients *clients;     /* owned */
    struct strobe_view_recorders *recorders; /* owned */
    struct strobe_view_imports *imports;     /* owned */
    uint64_t sessions_state;
};

static struct strobe_server *serving; /* for the signal handler */
static volatile sig_atomic_t is_ended, is_interrupted, is_recorded;

static void on_signal(int number)
{
    if (number == SIGINT)
        is_interrupted = 1;
    else if (number == SIGUSR1)
        is_recorded = 1;
    else
        is_ended = 1;
    if (serving)
        strobe_server_wake(serving);
}

static void on_alarm(int number)
{
    (void)number;
    if (serving)
        strobe_server_wake(serving);
}

/* ---- options ---- */

enum { OPT_PORT = 256, OPT_WEB, OPT_NO_OPEN, OPT_RECORDER };

static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"port", 1, NULL, OPT_PORT},
                                          {"web", 1, NULL, OPT_WEB},
                                          {"no-open", 0, NULL, OPT_NO_OPEN},
                                          {"recorder", 1, NULL, OPT_RECORDER},
                                          {"help", 0, NULL, 'h'},
                                          {0}};
    optind = 1;
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == OPT_PORT && ((options->port = atoi(optarg)) < 1 || options->port > 65535)) {
            strobe_cli_error("view", "'%s' is no port: 1 to 65535", optarg);
            return STROBE_EXIT_USAGE;
        }
        if (c == '?')
            return STROBE_EXIT_USAGE;
        options->web_dir = c == OPT_WEB ? optarg : options->web_dir;
        options->is_quiet |= c == OPT_NO_OPEN;
        options->recorder = c == OPT_RECORDER ? (pid_t)atoi(optarg) : options->recorder;
    }
    return -1;
}

/* A recorder that was started a moment ago may not have made its file yet. */
static int wait_for_file(const char *path, pid_t recorder)
{
    struct stat st;
    for (int i = 0; i < 200 && recorder; i++) {
        if (!stat(path, &st) && st.st_size > 0)
            return 1;
        nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL);
    }
    return !stat(path, &st);
}

/* The log of a folder that a tt-metal run left is what is to be shown. */
static void find_run(struct options *options)
{
    static struct strobe_cli_device_log run;
    if (!strobe_cli_device_log_find(options->folder, &run))
        return;
    char *slash = strrchr(run.log, '/');
    snprintf(options->trace, sizeof options->trace, "%.255s", slash + 1);
    snprintf(options->folder, sizeof options->folder, "%s", run.folder);
}

/* It is called a trace, and is none. */
static int is_no_trace(const char *name, const char *path, const struct stat *st)
{
    size_t n = strlen(name);
    return S_ISREG(st->st_mode) && n > 7 && !strcmp(name + n - 7, ".strobe") &&
           (!st->st_size || strobe_file_is_foreign(path));
}

/* Folder and name of what is to be shown. */
static int find_target(const char *path, struct options *options)
{
    struct stat st;
    char *real = NULL;
    if (!path) {
        if (getcwd(options->folder, sizeof options->folder))
            return 1;
    } else if (wait_for_file(path, options->recorder) && !stat(path, &st)) {
        real = realpath(path, NULL);
    }
    if (!real) {
        strobe_cli_error("view", "%s: %s", path ? path : ".", strerror(errno));
        return 0;
    }
    char *slash = strrchr(real, '/');
    if (S_ISDIR(st.st_mode)) {
        snprintf(options->folder, sizeof options->folder, "%s", real);
        find_run(options);
        if (!options->trace[0] && strobe_merge_set_ranks(options->folder))
            snprintf(options->trace, sizeof options->trace, "%s", STROBE_MERGE_RANKS);
    } else {
        snprintf(options->trace, sizeof options->trace, "%s", slash + 1);
        *slash = 0;
        snprintf(options->folder, sizeof options->folder, "%s", *real ? real : "/");
    }
    free(real);
    if (!options->recorder && is_no_trace(options->trace, path, &st)) {
        strobe_cli_fail("view", path, STROBE_ERR_FORMAT);
        return 0;
    }
    if (!options->trace[0] || strobe_guard_is_trace_name(options->trace))
        return 1;
    strobe_cli_error(
        "view",
        "%s: a trace's name ends in .strobe, .tracy, .json or .json.gz; of stack samples "
        "in .folded, .collapsed, .perf, .pprof, .pb.gz or perf.data",
        path);
    return 0;
}

/* ---- the token ---- */

/* With a port of one's own the link stays the same: its token is kept in a file that only the user can read. */
static const char *keep_token(int port, char token[STROBE_TOKEN_DIGITS + 1])
{
    char dir[STROBE_PATH_MAX], name[32];
    snprintf(name, sizeof name, "view-%d.token", port);
    if (strobe_session_dir(STROBE_DEFAULT_SESSION, true, dir))
        return NULL;
    int fd = strobe_session_open(dir, name, O_RDWR | O_CREAT);
    if (fd < 0)
        return NULL;
    ssize_t n = read(fd, token, STROBE_TOKEN_DIGITS);
    token[n > 0 ? n : 0] = 0;
    if (strspn(token, "0123456789abcdef") != STROBE_TOKEN_DIGITS) {
        if (!strobe_guard_make_token(token) || ftruncate(fd, 0) ||
            pwrite(fd, token, STROBE_TOKEN_DIGITS, 0) != STROBE_TOKEN_DIGITS)
            token[0] = 0;
    }
    close(fd);
    return token[0] ? token : NULL;
}

/* ---- where it is ---- */

/* SSH_CONNECTION: the client's address and port, then this machine's. */
static void print_tunnel(const char *connection, int port)
{
    char client[64], client_port[16], host[64], ssh_port[16], option[32] = "";
    const struct passwd *user = getpwuid(getuid());
    if (sscanf(connection, "%63s %15s %63s %15s", client, client_port, host, ssh_port) != 4)
        return;
    if (strcmp(ssh_port, "22"))
        snprintf(option, sizeof option, "-p %s ", ssh_port);
    printf("from the machine that you sit at:\n    ssh %s-N -L %d:127.0.0.1:%d %s@%s\n", option,
           port, port, user ? user->pw_name : "user", host);
}

static struct strobe_browser *show_link(const struct strobe_server *server,
                                        const struct options *options)
{
    char link[512];
    struct strobe_browser *opened = NULL;
    const char *connection = getenv("SSH_CONNECTION");
    int port = strobe_server_port(server);
    snprintf(link, sizeof link, "http://127.0.0.1:%d/?token=%s", port, strobe_server_token(server));
    printf("%s\n", link);
    if (connection && *connection)
        print_tunnel(connection, port);
    else if (!options->is_quiet && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
        opened = strobe_browser_open(link);
    fflush(stdout);
    return opened;
}

/* ---- the recorder ---- */

static int is_recording(const struct options *options)
{
    return options->recorder && !is_recorded && !kill(options->recorder, 0);
}

static int stop(void *context, const char *name)
{
    struct view *view = context;
    union sigval value = {.sival_int = STROBE_RECORDER_STOP_VALUE};
    if (name)
        return strobe_view_recorders_stop(view->recorders, name);
    return is_recording(&view->options) && !sigqueue(view->options.recorder, SIGUSR1, value);
}

/* ---- the start page ---- */

static void put_sessions(void *context, struct strobe_reply *reply)
{
    struct view *view = context;
    strobe_view_put_sessions(reply);
    strobe_view_put_clients(view->clients, reply);
    strobe_view_put_recordings(view->recorders, reply);
}

static int look(void *context)
{
    struct view *view = context;
    uint64_t state = strobe_view_sessions_state(), before = view->sessions_state;
    view->sessions_state = state;
    bool clients = strobe_view_clients_look(view->clients);
    bool recorders = strobe_view_recorders_look(view->recorders);
    return clients || recorders || state != before;
}

static int session_trace(void *context, const char *session, char *out, size_t room)
{
    (void)context;
    return strobe_view_session_trace(session, out, room);
}

static int record(void *context, const char *tracy, const char *session, char *name, size_t n_name,
                  char *why, size_t n_why)
{
    struct view *view = context;
    return strobe_view_recorders_begin(view->recorders, tracy, session, name, n_name, why, n_why);
}

static int import(void *context, const char *path, char *out, size_t room,
                  struct strobe_import_watch *watch)
{
    struct view *view = context;
    return strobe_view_import(view->imports, path, out, room, watch);
}

/* ---- serving ---- */

static void watch_signals(void)
{
    struct sigaction end = {.sa_handler = on_signal}, tick = {.sa_handler = on_alarm};
    struct itimerval every = {{1, 0}, {1, 0}};
    struct rlimit files;
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    sigaction(SIGUSR1, &end, NULL); /* the recorder: it is done */
    sigaction(SIGALRM, &tick, NULL);
    signal(SIGPIPE, SIG_IGN);
    setitimer(ITIMER_REAL, &every, NULL); /* the folder is looked at now and then */
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* Ctrl-C, which the terminal sends to all, ends the recording first, and the viewer the next time. */
static int has_to_end(const struct options *options)
{
    if (is_interrupted && is_recording(options))
        is_interrupted = 0;
    return is_ended || is_interrupted;
}

static bool open_parts(struct view *view)
{
    view->clients = strobe_view_clients_open();
    view->recorders = strobe_view_recorders_open(view->options.folder);
    view->imports = strobe_view_imports_open();
    return view->clients && view->recorders && view->imports;
}

static void close_parts(struct view *view)
{
    strobe_view_recorders_close(view->recorders);
    strobe_view_clients_close(view->clients);
    strobe_view_imports_close(view->imports);
}

static enum strobe_err open_server(struct view *view)
{
    const struct options *options = &view->options;
    char token[STROBE_TOKEN_DIGITS + 1];
    struct strobe_server_options server = {
        .folder = options->folder,
        .trace = options->trace[0] ? options->trace : NULL,
        .web_dir = options->web_dir,
        .port = options->port,
        .token = options->port ? keep_token(options->port, token) : NULL,
        .context = view,
        .put_sessions = put_sessions,
        .look = look,
        .session_trace = session_trace,
        .convert = import,
        .record = record,
        .stop = stop,
        .can_stop = options->recorder != 0,
    };
    return open_parts(view) ? strobe_server_open(&server, &serving) : STROBE_ERR_NOMEM;
}

static void serve(struct view *view)
{
    struct strobe_browser *opened = show_link(serving, &view->options);
    while (!has_to_end(&view->options)) {
        strobe_server_serve(serving, 1000);
        strobe_browser_look(opened, strobe_server_has_come(serving));
    }
    strobe_browser_end(opened);
    free(opened);
    struct strobe_server *ended = serving;
    serving = NULL;
    strobe_server_close(ended);
}

/* Answers are large and short-lived, and made by several threads: what is freed goes back to the system, so that a server that
 * runs for days is no larger than after a minute. */
static void give_memory_back(void)
{
    enum { LARGE = 128 << 10 };
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, LARGE);
}

int strobe_cli_view(int argc, char **argv)
{
    static struct view view;
    give_memory_back();
    int code = read_options(argc, argv, &view.options);
    if (code >= 0)
        return code;
    watch_signals();
    if (!find_target(optind < argc ? argv[optind] : NULL, &view.options))
        return STROBE_EXIT_FAILED;
    enum strobe_err err = open_server(&view);
    if (err)
        strobe_cli_error("view", "port %d: %s", view.options.port,
                         err == STROBE_ERR_BUSY ? "something listens there already"
                                                : strobe_err_text(err));
    else
        serve(&view);
    close_parts(&view);
    return err ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
}
