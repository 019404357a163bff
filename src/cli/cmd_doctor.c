/* cmd_doctor.c - strobe doctor: what would go wrong on this machine, and the remedy.
 * Looks, never changes anything: every check adds findings, and each finding is a line of the
 * report. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/json_write.h"
#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/doctor_ports.h"
#include "cli/input.h"
#include "cli/out.h"
#include "ring/session.h"
#include "sample/source.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strobe/strobe.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char help[] = "usage: strobe doctor [--json]\n"
                           "\n"
                           "Looks at this machine and says what would go wrong with a recording, "
                           "and the remedy: clock, shared memory,\n"
                           "rights, ports, libraries, disk. Changes nothing. Exit code 1 where "
                           "there is a problem, else 0.\n"
                           "\n"
                           "      --json   the findings as JSON\n"
                           "  -h, --help\n";

enum level { LEVEL_OK, LEVEL_WARNING, LEVEL_PROBLEM };
static const char *const level_names[] = {"ok", "warning", "problem"};

enum { N_FINDINGS_MAX = 64, TEXT_BYTES = 512 };

struct finding {
    enum level level;
    const char *topic;
    char text[TEXT_BYTES];
    const char *remedy; /* NULL where there is nothing to do */
};

struct report {
    struct finding findings[N_FINDINGS_MAX];
    int n;
};

static void add(struct report *report, enum level level, const char *topic, const char *remedy,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

static void add(struct report *report, enum level level, const char *topic, const char *remedy,
                const char *format, ...)
{
    if (report->n == N_FINDINGS_MAX)
        return;
    struct finding *finding = &report->findings[report->n++];
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
    finding->level = level;
    finding->topic = topic;
    finding->remedy = remedy;
}

/* The first line of a small file, "" where it can't be read. */
static const char *first_line(const char *path, char *out, size_t n_bytes)
{
    out[0] = 0;
    FILE *file = fopen(path, "re");
    if (file) {
        if (!fgets(out, (int)n_bytes, file))
            out[0] = 0;
        fclose(file);
    }
    out[strcspn(out, "\n")] = 0;
    return out;
}

static double mib(uint64_t n_bytes)
{
    return (double)n_bytes / (1 << 20);
}

/* ---- clock
 * --------------------------------------------------------------------------------------- */

static bool counter_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
    return true; /* arm64's virtual counter always is */
#endif
}

/* The hypervisor's name, "" on bare metal. */
static void find_hypervisor(char out[16])
{
    out[0] = 0;
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 31))) {
        __cpuid(0x40000000, a, b, c, d);
        memcpy(out, &b, 4);
        memcpy(out + 4, &c, 4);
        memcpy(out + 8, &d, 4);
        out[12] = 0;
        for (char *at = out; *at; at++)
            *at = *at >= ' ' && *at < 127 ? *at : '?';
    }
#endif
}

/* Ticks per second over 20 ms, and the cost of one read. */
static void measure_counter(double *hertz, double *read_ns)
{
    enum { N_READS = 100000 };
    uint64_t ns = strobe_clock_mono_ns(), ticks = strobe_ticks();
    for (int i = 0; i < N_READS; i++)
        strobe_ticks();
    uint64_t reads_ns = strobe_clock_mono_ns() - ns;
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    ticks = strobe_ticks() - ticks;
    ns = strobe_clock_mono_ns() - ns;
    *hertz = (double)ticks * 1e9 / (double)ns;
    *read_ns = (double)reads_ns / N_READS;
}

static void check_clock(struct report *report)
{
    char source[64], hypervisor[16];
    double hertz, read_ns;
    measure_counter(&hertz, &read_ns);
    find_hypervisor(hypervisor);
    const char *forced = getenv("STROBE_CLOCK");
    if (forced && !strcmp(forced, "mono"))
        add(report, LEVEL_WARNING, "clock", "unset STROBE_CLOCK for cheaper zones",
            "STROBE_CLOCK=mono: every event reads CLOCK_MONOTONIC");
    if (counter_is_invariant())
        add(report, LEVEL_OK, "clock", NULL,
            "invariant counter, %.3f MHz, %.1f ns per read (a zone needs two)", hertz / 1e6,
            read_ns);
    else
        add(report, LEVEL_WARNING, "clock",
            "recordings are right, but a zone costs more; use a machine with constant_tsc and "
            "nonstop_tsc",
            "no invariant counter: zones fall back to CLOCK_MONOTONIC");
    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
               sizeof source);
    const char *trusted[] = {"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"};
    bool known = !source[0];
    for (size_t i = 0; i < sizeof trusted / sizeof trusted[0]; i++)
        known |= !strcmp(source, trusted[i]);
    add(report, known ? LEVEL_OK : LEVEL_WARNING, "clock",
        known ? NULL : "the kernel does not trust the counter: look for 'clocksource' in dmesg",
        "the kernel's own clock is '%s'%s%s", source[0] ? source : "not known",
        hypervisor[0] ? ", virtual machine: " : ", no hypervisor seen", hypervisor);
}

/* ---- shared memory
 * ------------------------------------------------------------------------------- */

static void check_room(struct report *report, const char *path)
{
    struct statvfs vfs;
    struct statfs fs;
    struct rlimit limit;
    if (statvfs(path, &vfs) || statfs(path, &fs))
        return;
    uint64_t n_free = (uint64_t)vfs.f_bavail * vfs.f_frsize;
    const char *more =
        "make it larger (docker run --shm-size=1g; mount -o remount,size=1G), name another "
        "folder in STROBE_DIR, or record with a smaller --max-memory";
    enum level level = n_free < STROBE_DEFAULT_POOL       ? LEVEL_PROBLEM
                       : n_free < 8 * STROBE_DEFAULT_POOL ? LEVEL_WARNING
                                                          : LEVEL_OK;
    add(report, level, "shared memory", level ? more : NULL,
        "%.0f MiB free, a process takes up to %.0f MiB: room for %llu", mib(n_free),
        mib(STROBE_DEFAULT_POOL), (unsigned long long)(n_free / STROBE_DEFAULT_POOL));
    enum { TMPFS = 0x01021994, RAMFS = (int)0x858458f6 };
    if ((unsigned)fs.f_type != TMPFS && (unsigned)fs.f_type != (unsigned)RAMFS)
        add(report, LEVEL_WARNING, "shared memory",
            "set STROBE_DIR or XDG_RUNTIME_DIR to a folder on tmpfs",
            "the folder is on a disk: what is emitted is written there too");
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
        add(report, limit.rlim_cur < 2 * STROBE_DEFAULT_POOL ? LEVEL_PROBLEM : LEVEL_WARNING,
            "shared memory", "ulimit -f unlimited",
            "files may not grow over %.0f MiB here: neither pools "
            "nor traces",
            mib(limit.rlim_cur));
}

/* The folder above `path`, in `out`. */
static void parent_of(const char *path, char out[STROBE_PATH_MAX])
{
    snprintf(out, STROBE_PATH_MAX, "%s", path);
    char *slash = strrchr(out, '/');
    if (slash && slash != out)
        *slash = 0;
    else
        snprintf(out, STROBE_PATH_MAX, "/");
}

static void check_shared_memory(struct report *report)
{
    char root[STROBE_PATH_MAX], parent[STROBE_PATH_MAX];
    struct stat st;
    const char *other = "name a folder of your own in STROBE_DIR";
    const char *own = getenv("STROBE_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
    const char *from = own && own[0] == '/'           ? "STROBE_DIR"
                       : runtime && runtime[0] == '/' ? "XDG_RUNTIME_DIR"
                                                      : "the default";
    if (own && own[0] != '/')
        add(report, LEVEL_WARNING, "shared memory", "name an absolute path",
            "STROBE_DIR=%.100s is not used: it is not an absolute path", own);
    if (strobe_session_root(root)) {
        add(report, LEVEL_PROBLEM, "shared memory", "use a shorter path", "%s is too long", from);
        return;
    }
    if (lstat(root, &st) && errno == ENOENT) {
        parent_of(root, parent);
        if (access(parent, W_OK | X_OK)) {
            add(report, LEVEL_PROBLEM, "shared memory", other, "%s (%s) can't be made: %s: %s",
                root, from, parent, strerror(errno));
            return;
        }
        add(report, LEVEL_OK, "shared memory", NULL, "%s (%s) will be made when needed", root,
            from);
        check_room(report, parent);
        return;
    }
    if (!S_ISDIR(st.st_mode))
        add(report, LEVEL_PROBLEM, "shared memory", other, "%s (%s) is not a folder", root, from);
    else if (st.st_uid != geteuid())
        add(report, LEVEL_PROBLEM, "shared memory", other,
            "%s (%s) belongs to user %u, not to you (%u)", root, from, (unsigned)st.st_uid,
            (unsigned)geteuid());
    else if (st.st_mode & 022)
        add(report, LEVEL_PROBLEM, "shared memory", "chmod 700 the folder",
            "%s (%s) can be written by others", root, from);
    else if (access(root, R_OK | W_OK | X_OK))
        add(report, LEVEL_PROBLEM, "shared memory", other, "%s (%s): %s", root, from,
            strerror(errno));
    else {
        add(report, LEVEL_OK, "shared memory", NULL, "%s (%s), yours, closed to others", root,
            from);
        check_room(report, root);
    }
}

/* ---- rights
 * -------------------------------------------------------------------------------------- */

static void check_container(struct report *report)
{
    char limit[64];
    bool inside = !access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK) ||
                  getenv("container") || getenv("KUBERNETES_SERVICE_HOST");
    if (!inside)
        return;
    add(report, LEVEL_OK, "rights", NULL,
        "in a container: to record across its border, share the folder of STROBE_DIR and the user "
        "(docs/containers.md)");
    first_line("/sys/fs/cgroup/memory.max", limit, sizeof limit);
    uint64_t n_bytes = strtoull(limit, NULL, 10);
    if (n_bytes && n_bytes < 8 * STROBE_DEFAULT_POOL)
        add(report, LEVEL_WARNING, "rights",
            "raise its limit, or record with a smaller --max-memory",
            "the container may use %.0f MiB of memory, pools included", mib(n_bytes));
}

static void check_rights(struct report *report)
{
    char paranoid[32], ptrace[32];
    if (getauxval(AT_SECURE))
        add(report, LEVEL_WARNING, "rights", "run strobe without set-user-id or file capabilities",
            "this binary runs with raised privileges (AT_SECURE): programs that do so are never "
            "recorded");
    else
        add(report, LEVEL_OK, "rights", NULL,
            "no raised privileges; programs that have them (AT_SECURE) run unrecorded");
    const char *disabled = getenv("STROBE_DISABLE");
    if (disabled && disabled[0] && strcmp(disabled, "0"))
        add(report, LEVEL_PROBLEM, "rights", "unset STROBE_DISABLE",
            "STROBE_DISABLE=%s: nothing that is started here is recorded", disabled);
    first_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid);
    first_line("/proc/sys/kernel/yama/ptrace_scope", ptrace, sizeof ptrace);
    add(report, LEVEL_OK, "rights", NULL,
        "perf_event_paranoid %s, ptrace_scope %s: recording needs neither",
        paranoid[0] ? paranoid : "not there", ptrace[0] ? ptrace : "not there");
    check_container(report);
}

/* ---- ports
 * --------------------------------------------------------------------------------------- */

/* Stack samples and context switches: what the kernel gives this user. */
static void check_samples(struct report *report)
{
    static const char more[] =
        "root: sysctl kernel.perf_event_paranoid=1, or setcap cap_perfmon=ep "
        "on the strobe file, for the kernel's side";
    bool has_kernel = false;
    int error = strobe_sampler_probe(0, &has_kernel);
    if (error)
        add(report, LEVEL_WARNING, "samples",
            "root: sysctl kernel.perf_event_paranoid=2; in a container: --cap-add PERFMON",
            "the kernel refuses perf events (%s): a timer in the command takes samples instead, "
            "without switches, and --pid has none",
            strerror(error));
    else
        add(report, LEVEL_OK, "samples", has_kernel ? NULL : more,
            has_kernel ? "of programs and of the kernel's side"
                       : "of one's own programs, without the time in system calls");
}

static void check_ports(struct report *report)
{
    struct strobe_doctor_port ports[STROBE_DOCTOR_PORTS_MAX];
    int n = strobe_cli_doctor_ports(ports);
    for (int i = 0; i < n; i++) {
        char owner[96] = "a process of another user or container";
        if (ports[i].pid)
            snprintf(owner, sizeof owner, "%s (pid %d)", ports[i].program, ports[i].pid);
        add(report, LEVEL_WARNING, "ports",
            "end it, or set TRACY_PORT for programs with a Tracy client; recording itself uses no "
            "port",
            "%d is held by %s%s", ports[i].port, owner,
            ports[i].loopback ? "" : ", open to other machines");
    }
    if (n == 0)
        add(report, LEVEL_OK, "ports", NULL,
            "%d to %d are free (Tracy's; recording itself uses none)", STROBE_DOCTOR_PORT_FIRST,
            STROBE_DOCTOR_PORT_LAST);
}

/* ---- libraries
 * ----------------------------------------------------------------------------------- */

/* Ask the loader for the library in a child, where it can do no harm. Its real path, or "". */
static void find_library(char out[PATH_MAX])
{
    int ends[2];
    out[0] = 0;
    if (pipe(ends))
        return;
    pid_t child = fork();
    if (child == 0) {
        setenv("STROBE_DISABLE", "1", 1);
        unsetenv("STROBE_TRACE");
        void *library = dlopen("libstrobe.so.0", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "strobe_recording") : NULL;
        char path[PATH_MAX];
        Dl_info info;
        if (symbol && dladdr(symbol, &info) && realpath(info.dli_fname, path))
            _exit(write(ends[1], path, strlen(path)) < 0);
        _exit(1);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static bool is_in_path(const char *program)
{
    char path[PATH_MAX];
    for (const char *at = getenv("PATH"); at && *at; at += *at == ':') {
        int n = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", n, at, program);
        if (!access(path, X_OK))
            return true;
        at += n;
    }
    return false;
}

static void check_imports(struct report *report)
{
    if (strobe_cli_can_confine())
        add(report, LEVEL_OK, "imports", NULL,
            "files of other profilers are read by a process that can open nothing (seccomp)");
    else
        add(report, LEVEL_WARNING, "imports",
            "allow seccomp in the container, or import only files that you trust",
            "this system refuses system call filters (seccomp): files of other profilers are read "
            "with bounds of time and "
            "memory alone");
}

static void check_libraries(struct report *report)
{
    char path[PATH_MAX];
    unsigned xxhash = XXH_versionNumber();
    add(report, LEVEL_OK, "libraries", NULL, "strobe %s, zstd %s, xxHash %u.%u.%u, libdw %s",
        STROBE_VERSION, ZSTD_versionString(), xxhash / 10000, xxhash / 100 % 100, xxhash % 100,
        dwfl_version(NULL));
    find_library(path);
    const char *version = strstr(path, ".so.");
    if (!path[0])
        add(report, LEVEL_WARNING, "libraries",
            "link statically or with an rpath, set LD_LIBRARY_PATH, or install and run ldconfig",
            "the loader finds no libstrobe.so.0: programs linked with it start only with a path of "
            "their own");
    else if (version && strcmp(version + 4, STROBE_VERSION))
        add(report, LEVEL_WARNING, "libraries", "install command and library from the same release",
            "the loader finds %s, but this is strobe %s", path, STROBE_VERSION);
    else
        add(report, LEVEL_OK, "libraries", NULL, "the loader finds %s", path);
    if (!is_in_path("strobe") && !getenv("STROBE_BIN"))
        add(report, LEVEL_WARNING, "libraries", "put it into PATH or name it in STROBE_BIN",
            "'strobe' is not in PATH: STROBE_TRACE=out.strobe ./app may not find it");
}

/* ---- disk
 * ---------------------------------------------------------------------------------------- */

static void check_disk(struct report *report)
{
    char here[PATH_MAX];
    struct statvfs vfs;
    if (!getcwd(here, sizeof here) || statvfs(".", &vfs)) {
        add(report, LEVEL_PROBLEM, "disk", "go to a folder that exists", "the current folder: %s",
            strerror(errno));
        return;
    }
    uint64_t n_free = (uint64_t)vfs.f_bavail * vfs.f_frsize;
    if (access(".", W_OK))
        add(report, LEVEL_PROBLEM, "disk", "name a file elsewhere with -o", "%.300s: %s", here,
            strerror(errno));
    else if (n_free < 64u << 20)
        add(report, LEVEL_PROBLEM, "disk", "make room, or name a file elsewhere with -o",
            "%.300s: %.0f MiB free", here, mib(n_free));
    else
        add(report, n_free < 1u << 30 ? LEVEL_WARNING : LEVEL_OK, "disk",
            n_free < 1u << 30 ? "bound the trace with --max-file" : NULL, "%.300s: %.1f GiB free",
            here, mib(n_free) / 1024);
}

/* ---- the report
 * ---------------------------------------------------------------------------------- */

static int count(const struct report *report, enum level level)
{
    int n = 0;
    for (int i = 0; i < report->n; i++)
        n += report->findings[i].level == level;
    return n;
}

static void print_text(const struct report *report)
{
    for (int i = 0; i < report->n; i++) {
        const struct finding *finding = &report->findings[i];
        printf("%-8s %-14s %s\n", level_names[finding->level], finding->topic, finding->text);
        if (finding->remedy)
            printf("%-8s %-14s → %s\n", "", "", finding->remedy);
    }
    printf("\n%d problem%s, %d warning%s\n", count(report, LEVEL_PROBLEM),
           count(report, LEVEL_PROBLEM) == 1 ? "" : "s", count(report, LEVEL_WARNING),
           count(report, LEVEL_WARNING) == 1 ? "" : "s");
}

/* An exit code. */
static int print_json(const struct report *report)
{
    struct strobe_out out;
    struct strobe_json_writer json = {.out = &out, .is_spaced = 1};
    if (!strobe_out_open(&out, STDOUT_FILENO))
        return strobe_cli_fail("doctor", "output", STROBE_ERR_NOMEM);
    strobe_json_write_open(&json, NULL, '{');
    strobe_json_write_string(&json, "version", STROBE_VERSION);
    strobe_json_write_i(&json, "problems", count(report, LEVEL_PROBLEM));
    strobe_json_write_i(&json, "warnings", count(report, LEVEL_WARNING));
    strobe_json_write_open(&json, "findings", '[');
    for (int i = 0; i < report->n; i++) {
        const struct finding *finding = &report->findings[i];
        strobe_json_write_line(&json, 2);
        strobe_json_write_open(&json, NULL, '{');
        strobe_json_write_string(&json, "level", level_names[finding->level]);
        strobe_json_write_string(&json, "topic", finding->topic);
        strobe_json_write_string(&json, "text", finding->text);
        strobe_json_write_string(&json, "remedy", finding->remedy);
        strobe_json_write_close(&json, '}');
    }
    strobe_json_write_line(&json, 0);
    strobe_json_write_close(&json, ']');
    strobe_json_write_close(&json, '}');
    strobe_out_char(&out, '\n');
    return strobe_out_close(&out, "doctor");
}

int strobe_cli_doctor(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool json = false;
    for (int option; (option = strobe_cli_option(argc, argv, "h", options)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (option != 'j')
            return STROBE_EXIT_USAGE;
        json = true;
    }
    if (optind < argc) {
        strobe_cli_error("doctor", "takes no argument '%s'", argv[optind]);
        return STROBE_EXIT_USAGE;
    }
    static struct report report;
    check_clock(&report);
    check_shared_memory(&report);
    check_rights(&report);
    check_samples(&report);
    check_ports(&report);
    check_imports(&report);
    check_libraries(&report);
    check_disk(&report);
    if (json && print_json(&report) != STROBE_EXIT_OK)
        return STROBE_EXIT_FAILED;
    if (!json)
        print_text(&report);
    return count(&report, LEVEL_PROBLEM) ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
}
