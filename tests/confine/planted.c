/* planted.c - stands between the command and its readers (--wrap, confine.cmake): a reader that was taken over, in a program of the tests alone. STROBE_PLANTED says what it
 * does before it reads.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "import/chrome.h"
#include "tracy_file/import.h"

static volatile int sink;

static void use_memory(void)
{
    for (;;) {
        void *more = malloc(64 << 20);
        if (!more) {
            fprintf(stderr, "planted: no more memory\n");
            _exit(99);
        }
        memset(more, 1, 1);
    }
}

static void fill_disk(const char *to)
{
    int fd = open(to, O_RDWR); /* never reached where files can't be opened */
    sink = fd;
}

static void do_planted(const char *to)
{
    const char *what = getenv("STROBE_PLANTED");
    what = what ? what : "";
    if (!strcmp(what, "open"))
        sink = open("/etc/passwd", O_RDONLY);
    else if (!strcmp(what, "write"))
        fill_disk(to);
    else if (!strcmp(what, "socket"))
        sink = socket(AF_INET, SOCK_STREAM, 0);
    else if (!strcmp(what, "exec"))
        execl("/bin/true", "true", NULL);
    else if (!strcmp(what, "fork"))
        sink = fork();
    else if (!strcmp(what, "code"))
        sink = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0) == MAP_FAILED;
    else if (!strcmp(what, "memory"))
        use_memory();
    else if (!strcmp(what, "crash"))
        *(volatile int *)strtoul("8", NULL, 10) = 1;
    if (*what)
        fprintf(stderr, "planted: it was let do it\n");
}

enum strobe_err __real_strobe_chrome_import(const char *from, const char *to,
                                            struct strobe_timeline_result *out);
enum strobe_err __wrap_strobe_chrome_import(const char *from, const char *to,
                                            struct strobe_timeline_result *out);
enum strobe_err __wrap_strobe_chrome_import(const char *from, const char *to,
                                            struct strobe_timeline_result *out)
{
    do_planted(to);
    return __real_strobe_chrome_import(from, to, out);
}

enum strobe_err __real_strobe_tracy_import(const char *from, const char *to,
                                           struct strobe_tracy_import *out);
enum strobe_err __wrap_strobe_tracy_import(const char *from, const char *to,
                                           struct strobe_tracy_import *out);
enum strobe_err __wrap_strobe_tracy_import(const char *from, const char *to,
                                           struct strobe_tracy_import *out)
{
    do_planted(to);
    return __real_strobe_tracy_import(from, to, out);
}
