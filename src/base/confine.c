/* confine.c - see confine.h. The filter is a list: processor, calls whose arguments are looked at, calls that are refused with an error, calls that are
 * allowed; all others end the process. It is plain BPF, so that it needs no library.  SPDX-License-Identifier: MIT */
#include "base/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif
#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

/* ---- limits ---- */

/* Never more than there is: what a shell or a container set stays. */
static void lower(int what, uint64_t bound)
{
    struct rlimit limit;
    if (getrlimit(what, &limit))
        return;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > bound)
        limit.rlim_cur = bound;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > bound)
        limit.rlim_max = bound;
    setrlimit(what, &limit);
}

static int compare(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

/* What the C library asks the system for once, some of it from files: the bound of qsort's memory, the number of arenas. There is one for all
 * threads: another one's memory is given back by whether the system lets it, which is a file, too. */
static void ask_ahead(void)
{
    enum { ARENAS = 1, N_SORTED = 4096 };
    char bytes[N_SORTED] = {0};
    qsort(bytes, N_SORTED, 1, compare);
    mallopt(M_ARENA_MAX, ARENAS);
}

/* What a file may stand for is bounded by 256 times its size (import/events_in.h); sorting writes it twice, and a second is enough for a megabyte of it. */
void strobe_confine_limits(uint64_t n_bytes)
{
    enum { UNPACKED = 256 };
    const uint64_t gib = 1ull << 30;
    if (n_bytes > UINT64_MAX / (4 * UNPACKED))
        n_bytes = UINT64_MAX / (4 * UNPACKED);
    ask_ahead();
    signal(SIGXFSZ, SIG_IGN); /* the write says it */
    if (!HAS_SANITIZER)
        lower(RLIMIT_AS, 4 * gib + UNPACKED * n_bytes);
    lower(RLIMIT_FSIZE, 2 * gib + 4 * UNPACKED * n_bytes);
    lower(RLIMIT_CPU, 120 + n_bytes / (1 << 20) * UNPACKED);
    lower(RLIMIT_CORE, 0);
}

/* ---- the filter ---- */

#ifdef THIS_ARCH

#define AT(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOW(argument)     AT(args[argument]) /* both processors are little-endian */
#define GIVE(what)        BPF_STMT(BPF_RET | BPF_K, what)
#define IF_NOT(value, n)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n)
#define IF_SET(bits)      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1)
#define ALLOW(name)       IF_NOT(__NR_##name, 1), GIVE(SECCOMP_RET_ALLOW)
#define REFUSE(name, why) IF_NOT(__NR_##name, 1), GIVE(SECCOMP_RET_ERRNO | (why))
/* A call that is allowed where none of these bits of an argument is set, and ends the process where one is. */
#define ALLOW_WITHOUT(name, argument, bits)                                              \
    IF_NOT(__NR_##name, 4), LOW(argument), IF_SET(bits), GIVE(SECCOMP_RET_KILL_PROCESS), \
        GIVE(SECCOMP_RET_ALLOW)

static const struct sock_filter filter[] = {
    AT(arch),
    IF_NOT(THIS_ARCH, 1),
    BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
    GIVE(SECCOMP_RET_KILL_PROCESS),
    AT(nr),
    /* most frequent first */
    ALLOW(read),
    ALLOW(write),
    ALLOW(pread64),
    ALLOW(pwrite64),
    ALLOW(futex),
    ALLOW(munmap),
    ALLOW(madvise),
    ALLOW(brk),
    ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
    ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
    ALLOW(mremap),
    ALLOW(lseek),
    ALLOW(readv),
    ALLOW(writev),
    ALLOW(close),
    ALLOW(fcntl),
    ALLOW(fstat),
    ALLOW(newfstatat),
    ALLOW(statx),
    ALLOW(ftruncate),
    ALLOW(fallocate),
    ALLOW(fadvise64),
    ALLOW(fsync),
    ALLOW(fdatasync),
    ALLOW(sync_file_range),
    ALLOW(clock_gettime),
    ALLOW(clock_nanosleep),
    ALLOW(nanosleep),
    ALLOW(gettimeofday),
    ALLOW(getrandom),
    ALLOW(getpid),
    ALLOW(gettid),
    ALLOW(getrusage),
    ALLOW(sched_yield),
    ALLOW(sched_getaffinity),
    ALLOW(sysinfo),
    ALLOW(rt_sigaction),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigreturn),
    ALLOW(sigaltstack),
    ALLOW(restart_syscall),
    ALLOW(set_robust_list),
    ALLOW(exit),
    ALLOW(exit_group),
#ifdef __NR_rseq
    ALLOW(rseq),
#endif
    /* a thread is no new process; the C library falls back from clone3, whose flags can't be looked at */
    IF_NOT(__NR_clone, 4),
    LOW(0),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
    GIVE(SECCOMP_RET_KILL_PROCESS),
    GIVE(SECCOMP_RET_ALLOW),
#ifdef __NR_clone3
    REFUSE(clone3, ENOSYS),
#endif
    /* limits may be read */
    IF_NOT(__NR_prlimit64, 6),
    LOW(2),
    IF_NOT(0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + 4),
    IF_NOT(0, 1),
    GIVE(SECCOMP_RET_ALLOW),
    GIVE(SECCOMP_RET_KILL_PROCESS),
    REFUSE(tgkill, EPERM), /* abort ends it another way */
    REFUSE(ioctl, ENOTTY),
    REFUSE(unlinkat, EACCES),
#ifdef __NR_unlink
    REFUSE(unlink, EACCES),
    ALLOW(time),
#endif
    GIVE(SECCOMP_RET_KILL_PROCESS),
};

bool strobe_confine_calls(void)
{
    struct sock_fprog program = {sizeof filter / sizeof filter[0], (struct sock_filter *)filter};
    if (HAS_SANITIZER || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return false;
    return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

bool strobe_confine_calls(void)
{
    return false;
}

#endif
