/* root.c - a program that changes its root directory, and what it runs there: where our libraries are not below the new root, the
 * loader of each program would complain of them on its standard error. So LD_PRELOAD loses those that are not there. What the user
 * put into it stays. Never allocates: the text gets shorter in its place.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static bool is_separator(char c)
{
    return c == ':' || c == ' ';
}

/* Whether a path of LD_PRELOAD is one of ours and can't be found. It ends where `end` is. */
static bool is_gone(char *path, char *end)
{
    static const char ours[] = "libstrobe-";
    char *name = path, was = *end;
    for (char *at = path; at < end; at++)
        name = *at == '/' ? at + 1 : name;
    if (name == path || (size_t)(end - name) < sizeof ours - 1 ||
        memcmp(name, ours, sizeof ours - 1))
        return false;
    *end = 0;
    bool is_there = !syscall(SYS_faccessat, -100 /* AT_FDCWD */, path, F_OK);
    *end = was;
    return !is_there;
}

static void keep_what_is_here(char *list)
{
    char *to = list;
    for (char *at = list, *end; *at; at = end) {
        for (; is_separator(*at); at++)
            ;
        for (end = at; *end && !is_separator(*end); end++)
            ;
        if (at == end || is_gone(at, end))
            continue;
        if (to != list)
            *to++ = ':';
        memmove(to, at, (size_t)(end - at));
        to += end - at;
    }
    *to = 0;
}

EXPORTED int chroot(const char *path)
{
    static const char name[] = "LD_PRELOAD=";
    long result = syscall(SYS_chroot, path);
    int saved = errno;
    for (char **at = environ; !result && at && *at; at++)
        if (!strncmp(*at, name, sizeof name - 1) && strstr(*at, "libstrobe-"))
            keep_what_is_here(*at + sizeof name - 1);
    errno = saved;
    return (int)result;
}
