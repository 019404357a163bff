/* view_browser.c - opens the browser without showing the link's token to anyone else.
 *
 * Arguments of a process can be read by every user of the machine (/proc/PID/cmdline), so the browser is given a file instead: a
 * page that leads on to the link, of mode 0600, in a folder that only its owner may enter. It goes as soon as the page has come,
 * after a while, or with the viewer. A browser in a sandbox (snap, flatpak) may not be allowed to read it: nothing comes then,
 * and the terminal says what to do. The token never becomes an argument.  SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring/session.h"

enum { ASK_S = 15, KEEP_S = 120 };

struct strobe_browser {
    char path[STROBE_PATH_MAX + 64]; /* of the file; "": it is gone */
    time_t since;
    bool is_told;
};

static time_t now_s(void)
{
    return (time_t)(strobe_clock_mono_ns() / 1000000000u);
}

static bool write_file(int fd, const char *link)
{
    char page[2048];
    int n = snprintf(page, sizeof page,
                     "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
                     "content=\"no-referrer\"><title>strobe view</title>\n"
                     "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n"
                     "<p><a href=\"%s\" rel=\"noreferrer\">strobe view</a></p>\n",
                     link, link);
    return n > 0 && (size_t)n < sizeof page && write(fd, page, (size_t)n) == n;
}

/* The file, made anew; "" in `path`: it can't be. */
static void make_file(struct strobe_browser *opened, const char *link)
{
    char dir[STROBE_PATH_MAX], name[48];
    snprintf(name, sizeof name, "view-%ld.html", (long)getpid());
    if (strobe_session_dir(STROBE_DEFAULT_SESSION, true, dir))
        return;
    snprintf(opened->path, sizeof opened->path, "%s/%s", dir, name);
    unlink(opened->path); /* of a process that had this number before */
    int fd = strobe_session_open(dir, name, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0 || !write_file(fd, link))
        strobe_browser_end(opened);
    if (fd >= 0)
        close(fd);
}

/* Twice forked: nobody has to wait for it. */
static void start_browser(const char *path)
{
    pid_t child = fork();
    if (child) {
        while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
        return;
    }
    if (fork())
        _exit(0);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 1);
        dup2(null, 2);
    }
    execlp("xdg-open", "xdg-open", path, (char *)NULL);
    _exit(127);
}

struct strobe_browser *strobe_browser_open(const char *link)
{
    struct strobe_browser *opened = calloc(1, sizeof *opened);
    if (!opened)
        return NULL;
    make_file(opened, link);
    opened->since = now_s();
    if (opened->path[0])
        start_browser(opened->path);
    else
        puts("the browser was not opened, as no folder of your own was found: open the link");
    return opened;
}

void strobe_browser_look(struct strobe_browser *opened, bool has_come)
{
    if (!opened || !opened->path[0])
        return;
    time_t age = now_s() - opened->since;
    if (has_come || age >= KEEP_S)
        strobe_browser_end(opened);
    else if (age >= ASK_S && !opened->is_told) {
        opened->is_told = true;
        puts("no page has come; a browser in a sandbox (snap, flatpak) can't read the file that "
             "leads to it: open the "
             "link");
        fflush(stdout);
    }
}

void strobe_browser_end(struct strobe_browser *opened)
{
    if (opened && opened->path[0])
        unlink(opened->path);
    if (opened)
        opened->path[0] = 0;
}
