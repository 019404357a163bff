/* cmd_view.c - strobe view: serves the viewer until Ctrl-C, and says where it is.
 * The server itself: serve/.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring/session.h"
#include "serve/server.h"
#include "tracy/import.h"

static const char help[] =
    "usage: strobe view [options] [FILE | FOLDER]\n"
    "\n"
    "Shows a trace in the browser: prints a link, and serves it on this machine's loopback until "
    "Ctrl-C.\n"
    "FILE may be Tracy's (.tracy), too. Without FILE, a page with the traces of this folder. A "
    "trace that is still being recorded is "
    "followed.\n"
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
    char made[64]; /* folder of the traces that were made of other files; "": none yet */
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
    for (int c; (c = getopt_long(argc, argv, "h", known, NULL)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == OPT_PORT && ((options->port = atoi(optarg)) < 1 || options->port > 65535)) {
            strobe_cli_error("view", "'%s' is no port: 1 to 65535", optarg);
            return STROBE_EXIT_USAGE;
        }
        if (c == '?') {
            fputs("'strobe view --help' shows the options\n", stderr);
            return STROBE_EXIT_USAGE;
        }
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
    } else {
        snprintf(options->trace, sizeof options->trace, "%s", slash + 1);
        *slash = 0;
        snprintf(options->folder, sizeof options->folder, "%s", *real ? real : "/");
    }
    free(real);
    if (!options->trace[0] || strobe_guard_is_trace_name(options->trace))
        return 1;
    strobe_cli_error("view", "%s: a trace's name ends in .strobe or .tracy", path);
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

static void open_browser(const char *link)
{
    pid_t child = fork();
    if (child)
        return;
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 1);
        dup2(null, 2);
    }
    execlp("xdg-open", "xdg-open", link, (char *)NULL);
    _exit(127);
}

static void show_link(const struct strobe_server *server, const struct options *options)
{
    char link[512];
    const char *connection = getenv("SSH_CONNECTION");
    int port = strobe_server_port(server);
    snprintf(link, sizeof link, "http://127.0.0.1:%d/?token=%s", port, strobe_server_token(server));
    printf("%s\n", link);
    if (connection && *connection)
        print_tunnel(connection, port);
    else if (!options->is_quiet && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
        open_browser(link);
    fflush(stdout);
}

/* ---- the recorder ---- */

static int is_recording(const struct options *options)
{
    return options->recorder && !is_recorded && !kill(options->recorder, 0);
}

static void stop_recorder(void *context)
{
    const struct options *options = context;
    if (!is_recording(options))
        return;
    union sigval value = {.sival_int = STROBE_VIEW_STOP};
    sigqueue(options->recorder, SIGUSR1, value);
}

/* ---- files of other profilers ---- */

/* They are read into a folder that goes when the viewer does; again only if the file has changed. */
static int convert(void *context, const char *path, char *out, size_t room)
{
    struct options *options = context;
    struct strobe_tracy_import result = {0};
    struct stat st;
    size_t n = strlen(path);
    const char *slash = strrchr(path, '/');
    if (n < 7 || strcmp(path + n - 6, ".tracy") || !slash || stat(path, &st))
        return 0;
    if (!options->made[0]) {
        snprintf(options->made, sizeof options->made, "/tmp/strobe-view-XXXXXX");
        if (!mkdtemp(options->made)) {
            options->made[0] = 0;
            return 0;
        }
    }
    snprintf(out, room, "%s/%s.%llx.strobe", options->made, slash + 1,
             (unsigned long long)st.st_mtim.tv_sec * 1000000000ull +
                 (unsigned long long)st.st_mtim.tv_nsec);
    if (!access(out, R_OK))
        return 1;
    enum strobe_err err = strobe_tracy_import(path, out, &result);
    if (!err || err == STROBE_ERR_END || err == STROBE_ERR_CORRUPT)
        return 1; /* of a damaged file what comes before the damage */
    unlink(out);
    return 0;
}

static void remove_made(const struct options *options)
{
    char path[PATH_MAX];
    DIR *folder = options->made[0] ? opendir(options->made) : NULL;
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "%s/%s", options->made, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (folder) {
        closedir(folder);
        rmdir(options->made);
    }
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
    signal(SIGCHLD, SIG_IGN);
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

int strobe_cli_view(int argc, char **argv)
{
    struct options options = {0};
    char token[STROBE_TOKEN_DIGITS + 1];
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    watch_signals();
    if (!find_target(optind < argc ? argv[optind] : NULL, &options))
        return STROBE_EXIT_FAILED;
    struct strobe_server_options server = {
        .folder = options.folder,
        .trace = options.trace[0] ? options.trace : NULL,
        .web_dir = options.web_dir,
        .port = options.port,
        .token = options.port ? keep_token(options.port, token) : NULL,
        .context = &options,
        .put_sessions = strobe_view_put_sessions,
        .convert = convert,
        .stop = options.recorder ? stop_recorder : NULL,
    };
    enum strobe_err err = strobe_server_open(&server, &serving);
    if (err) {
        strobe_cli_error("view", "port %d: %s", options.port,
                         err == STROBE_ERR_BUSY ? "something listens there already"
                                                : strobe_err_text(err));
        return STROBE_EXIT_FAILED;
    }
    show_link(serving, &options);
    while (!has_to_end(&options))
        strobe_server_serve(serving, 1000);
    struct strobe_server *ended = serving;
    serving = NULL;
    strobe_server_close(ended);
    remove_made(&options);
    return STROBE_EXIT_OK;
}
