/* missing.c - processes of the command that could not join the session, so that a trace says what is missing.
 *
 * Three ways, because none reaches everywhere. A process with the library in it that can't join calls (wire/call.h): exact,
 * at once, but not from another network namespace. And the recorder looks at the mounts of its descendants in /proc: the
 * session's folder is not the same one under their root. That alone is no loss; only a program with the client in it is missed. And it
 * looks whether one of them runs with rights of its own (program.h): the library leaves such a process alone, which then calls nobody.
 * SPDX-License-Identifier: MIT */
#include "recorder/missing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descendants.h"
#include "recorder/internal.h"
#include "recorder/program.h"
#include "wire/call.h"

/* A process may change its root, or its program, without being new. */
#define LOOK_ANYWAY_NS 500000000ull

/* ---- opening ---- */

static int open_socket(struct strobe_missing *missing)
{
    uint64_t random[2] = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int on = 1;
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -1;
    int n = snprintf(missing->name, sizeof missing->name, "strobe-%016llx%016llx",
                     (unsigned long long)random[0], (unsigned long long)random[1]);
    memcpy(address.sun_path + 1, missing->name, (size_t)n);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) ||
        bind(fd, (const struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n))) {
        close(fd);
        return -1;
    }
    return fd;
}

int strobe_recorder_missing_open(struct strobe_missing *missing,
                                 const struct strobe_recorder *recorder, const char *session_dir)
{
    STROBE_ASSERT(missing->fd < 0 && session_dir[0] == '/');
    *missing = (struct strobe_missing){.recorder = recorder, .dir = session_dir};
    missing->fd = open_socket(missing);
    if (missing->fd >= 0 ? setenv(STROBE_CALL_ENV, missing->name, 1) : unsetenv(STROBE_CALL_ENV))
        return errno;
    /* the default depends on the user's number, which is another one in a user namespace */
    const char *slash = strrchr(session_dir, '/');
    snprintf(missing->root, sizeof missing->root, "%.*s", slash ? (int)(slash - session_dir) : 0,
             session_dir);
    return setenv("STROBE_DIR", missing->root, 1) ? errno : 0;
}

void strobe_recorder_missing_close(struct strobe_missing *missing)
{
    if (missing->fd >= 0)
        close(missing->fd);
    missing->fd = -1;
}

/* ---- telling ---- */

static bool was_told(const struct strobe_missing *missing, uint32_t pid)
{
    for (uint32_t i = 0; i < missing->n_told; i++)
        if (missing->told[i] == pid)
            return true;
    return false;
}

static void tell(struct strobe_missing *missing, struct strobe_collector *collector, uint32_t pid,
                 const char *program, const char *why)
{
    enum { LINES_MAX = 8 };
    if (was_told(missing, pid))
        return;
    STROBE_ASSERT(missing->n_told <= STROBE_MISSING_MAX && missing->n_told <= missing->n_all);
    if (missing->n_told < STROBE_MISSING_MAX)
        missing->told[missing->n_told++] = pid;
    strobe_collector_unrecorded(collector, pid, program, why);
    if (++missing->n_all > LINES_MAX + 1)
        return;
    strobe_recorder_say(missing->recorder,
                        (struct strobe_recorder_word){
                            .event = missing->n_all <= LINES_MAX ? STROBE_RECORDER_UNRECORDED
                                                                 : STROBE_RECORDER_MORE_UNRECORDED,
                            .subject = program,
                            .text = why,
                            .pid = pid,
                        });
}

/* ---- calls ---- */

/* What is in the way, and what to type against it. */
static void explain(const struct strobe_missing *missing, const struct strobe_call *call,
                    uint32_t outer_uid, char *out, size_t cap)
{
    const char *dir = missing->root;
    switch (call->error) {
    case ENOENT:
        snprintf(
            out, cap,
            "the session's folder is not visible to it at %s; bind it into its mounts: docker run "
            "-v %s:%s",
            call->folder[0] ? call->folder : missing->dir, dir, dir);
        return;
    case EACCES:
    case EPERM:
        snprintf(
            out, cap,
            "the sessions' folder %s is not its own: it runs as user %u (%u inside), the recorder "
            "as %u; run both as one user: docker run --user %u, or strobe as that user",
            dir, outer_uid, call->uid, (unsigned)geteuid(), (unsigned)geteuid());
        return;
    case EROFS:
        snprintf(
            out, cap,
            "the sessions' folder %s is mounted read-only for it; mount it writable: docker run "
            "-v %s:%s:rw",
            dir, dir, dir);
        return;
    case ENOSPC:
    case EDQUOT:
        snprintf(out, cap,
                 "no room for its pool in %s; make it larger (docker run --shm-size=256m), or name "
                 "another folder in STROBE_DIR",
                 dir);
        return;
    default:
        snprintf(out, cap, "it can't make its file in %s: %s", dir, strerror((int)call->error));
    }
}

static void read_calls(struct strobe_missing *missing, struct strobe_collector *collector)
{
    STROBE_ASSERT(missing->fd >= 0 && missing->recorder);
    struct strobe_call call;
    char control[CMSG_SPACE(sizeof(struct ucred))] __attribute__((aligned(8)));
    char why[2 * STROBE_PATH_MAX + 800], program[sizeof call.program + 1];
    for (;;) {
        struct iovec data = {&call, sizeof call};
        struct msghdr message = {.msg_iov = &data,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};
        ssize_t n = recvmsg(missing->fd, &message, MSG_DONTWAIT);
        if (n < 0)
            return;
        const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        if (n != sizeof call || call.magic != STROBE_CALL_MAGIC || call.version != 1 || !head ||
            head->cmsg_type != SCM_CREDENTIALS)
            continue;
        struct ucred from;
        memcpy(&from, CMSG_DATA(head), sizeof from);
        call.folder[sizeof call.folder - 1] = 0;
        snprintf(program, sizeof program, "%.16s", call.program);
        explain(missing, &call, (uint32_t)from.uid, why, sizeof why);
        tell(missing, collector, from.pid > 0 ? (uint32_t)from.pid : call.pid, program, why);
    }
}

/* ---- looking ---- */

static bool same_file(const char *a, const char *b, bool *is_known)
{
    struct stat x, y;
    *is_known = !stat(a, &x) && !stat(b, &y);
    return *is_known && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

enum client { CLIENT_NONE, CLIENT_THERE, CLIENT_NOT_KNOWN };

/* Whether one of a process's maps is a file of our library; `any`: it has maps. */
static bool maps_client(FILE *maps, bool *any)
{
    char line[4096 + 128];
    bool found = false;
    while (!found && fgets(line, sizeof line, maps)) {
        *any = true;
        found = strstr(line, "libstrobe.so") || strstr(line, "/strobe/_");
    }
    return found;
}

/* Whether the process has our library in it: as a file of its own, or in the program. One without any memory changes its program
 * just now, and is looked at again, or it ends, and emits nothing. */
static enum client find_client(uint32_t pid)
{
    enum { TRIES = 2 };
    char path[64], exe[64];
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    snprintf(exe, sizeof exe, "/proc/%u/exe", pid);
    for (int i = 0; i < TRIES; i++) {
        FILE *maps = fopen(path, "re");
        bool any = false, is_known;
        if (!maps)
            return errno == ENOENT || errno == ESRCH ? CLIENT_NONE : CLIENT_NOT_KNOWN;
        bool found = maps_client(maps, &any);
        fclose(maps);
        if (found || strobe_program_has_client(exe, &is_known))
            return CLIENT_THERE;
        if (any)
            break;
    }
    return CLIENT_NONE;
}

/* Does the process see the session's folder under our path? */
static bool sees_folder(const struct strobe_missing *missing, uint32_t pid, bool *is_known)
{
    char path[STROBE_PATH_MAX + 64], own[256], its[256];
    snprintf(path, sizeof path, "/proc/%u/ns/mnt", pid);
    ssize_t n = readlink("/proc/self/ns/mnt", own, sizeof own);
    ssize_t n_its = readlink(path, its, sizeof its);
    snprintf(path, sizeof path, "/proc/%u/root", pid);
    if (n > 0 && n == n_its && !memcmp(own, its, (size_t)n) && same_file(path, "/", is_known))
        return true;
    snprintf(path, sizeof path, "/proc/%u/root%s", pid, missing->dir);
    bool sees = same_file(path, missing->dir, is_known);
    if (!*is_known && errno == ENOENT) { /* it is not there; or the process is gone */
        snprintf(path, sizeof path, "/proc/%u/root/", pid);
        struct stat st;
        *is_known = !stat(path, &st);
    }
    return sees || !*is_known;
}

/* ---- rights ---- */

static const char raised_why[] =
    "it runs with rights of its own (set-user-id, set-group-id or file capabilities), where the "
    "library does not listen to its environment; record a copy of the program without them";

static const char class_why[] = "it is a program of 32 bits, for which there is no library: its "
                                "marks, memory and locks are not "
                                "recorded, samples are; build it for 64 bits";

/* What can't be seen of the process itself is looked for in the file that its command line names. */
static enum client find_raised_client(uint32_t pid)
{
    char path[64], words[STROBE_PATH_MAX] = "", file[STROBE_PATH_MAX];
    enum client client = find_client(pid);
    bool is_known = false;
    if (client != CLIENT_NOT_KNOWN)
        return client;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    if (strobe_descendants_read_text(path, words, sizeof words) <= 0 ||
        !strobe_program_find(words, file, sizeof file))
        return CLIENT_NOT_KNOWN;
    bool has = strobe_program_has_client(file, &is_known);
    return has ? CLIENT_THERE : is_known ? CLIENT_NONE : CLIENT_NOT_KNOWN;
}

static const char *comm_of(uint32_t pid, char name[32])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    strobe_descendants_read_text(path, name, 32);
    name[strcspn(name, "\n")] = 0;
    return name;
}

static void look_at_raised(struct strobe_missing *missing, uint32_t pid,
                           struct strobe_collector *collector)
{
    char program[32] = "", why[sizeof raised_why + 64];
    enum client client = find_raised_client(pid);
    if (client == CLIENT_NONE)
        return;
    comm_of(pid, program);
    snprintf(why, sizeof why, "%s%s",
             client == CLIENT_NOT_KNOWN ? "(whether it has marks is not known) " : "", raised_why);
    tell(missing, collector, pid, program, why);
}

bool strobe_recorder_missing_command(struct strobe_missing *missing,
                                     struct strobe_collector *collector, const char *name,
                                     uint32_t pid, const char *preloaded)
{
    char file[STROBE_PATH_MAX], note[STROBE_PATH_MAX + 160];
    bool is_known;
    if (!strobe_program_find(name, file, sizeof file))
        return false;
    bool is_raised = strobe_program_is_raised(file);
    const char *slash = strrchr(file, '/'), *program = slash ? slash + 1 : file;
    if (is_raised && strobe_program_has_client(file, &is_known))
        tell(missing, collector, pid, program, raised_why);
    if (strobe_program_is_other_class(file)) {
        tell(missing, collector, pid, program, class_why);
        return false;
    }
    bool is_alone = is_raised || strobe_program_is_static(file);
    if (!preloaded || !(is_alone || strobe_program_owns_hooks(file)))
        return false;
    if (is_alone)
        snprintf(note, sizeof note,
                 "%s: its %s not recorded: %s, so nothing can be preloaded into it", program,
                 preloaded,
                 is_raised ? "it runs with rights of its own" : "it is linked statically");
    else
        snprintf(note, sizeof note,
                 "%s: its functions are not recorded: it has hooks of its own "
                 "(__cyg_profile_func_enter), which take the place of the preloaded ones",
                 program);
    strobe_collector_note(collector, 0, note);
    strobe_recorder_say(
        missing->recorder,
        (struct strobe_recorder_word){.event = STROBE_RECORDER_NOT_PRELOADED, .text = note});
    return true;
}

/* ---- each process ---- */

static void look_at(struct strobe_missing *missing, uint32_t pid,
                    struct strobe_collector *collector)
{
    char path[64], program[32] = "", why[2 * STROBE_PATH_MAX + 300];
    bool is_known = false;
    if (was_told(missing, pid) || strobe_collector_knows(collector, pid))
        return;
    if (strobe_program_runs_raised(pid)) {
        look_at_raised(missing, pid, collector);
        return;
    }
    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    if (strobe_program_is_other_class(path)) {
        tell(missing, collector, pid, comm_of(pid, program), class_why);
        return;
    }
    if (sees_folder(missing, pid, &is_known))
        return;
    enum client client = find_client(pid);
    if (client == CLIENT_NONE || strobe_collector_knows(collector, pid))
        return;
    comm_of(pid, program);
    snprintf(why, sizeof why,
             "%sit lives in another mount namespace, where the session's folder %s is not visible; "
             "bind it "
             "into its mounts: docker run -v %s:%s",
             client == CLIENT_NOT_KNOWN ? "(whether it has marks is not known) " : "", missing->dir,
             missing->root, missing->root);
    tell(missing, collector, pid, program, why);
}

void strobe_recorder_missing_look(struct strobe_missing *missing,
                                  struct strobe_collector *collector, bool look)
{
    enum { DESCENDANTS_MAX = 512, TASKS_MAX = 64 };
    uint32_t pids[DESCENDANTS_MAX];
    if (missing->fd >= 0)
        read_calls(missing, collector);
    uint64_t now = strobe_clock_mono_ns();
    if (!look || now < missing->next_ns)
        return;
    uint64_t newest = strobe_recorder_newest(missing->recorder);
    if (newest && newest == missing->newest && now < missing->look_anyway_ns)
        return;
    missing->newest = newest;
    uint32_t n = strobe_descendants_list(pids, DESCENDANTS_MAX, TASKS_MAX);
    for (uint32_t i = 0; i < n; i++)
        look_at(missing, pids[i], collector);
    missing->next_ns = now + n * 2000000ull; /* many cost no more than a few */
    missing->look_anyway_ns = now + LOOK_ANYWAY_NS;
}
