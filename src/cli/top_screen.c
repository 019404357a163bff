/* top_screen.c - see top.h: the terminal, taken and given back.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/top.h"

static const char begin_text[] = "\033[?1049h\033[?25l";
static const char end_text[] = "\033[0m\033[?25h\033[?1049l";

static struct termios before;               /* the terminal's settings */
static volatile sig_atomic_t is_taken;      /* it has ours */
static volatile sig_atomic_t is_over;       /* a signal came */
static volatile sig_atomic_t is_other_size; /* likewise */

/* Called from handlers too: async-signal-safe calls alone. */
static void give_back(void)
{
    if (!is_taken)
        return;
    is_taken = 0;
    ssize_t done = write(1, end_text, sizeof end_text - 1);
    (void)done;
    tcsetattr(0, TCSANOW, &before);
}

static void on_end(int number)
{
    (void)number;
    is_over = 1;
}

static void on_size(int number)
{
    (void)number;
    is_other_size = 1;
}

static void on_crash(int number)
{
    give_back();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        sigaction(ends[i], &(struct sigaction){.sa_handler = on_end}, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        sigaction(crashes[i], &(struct sigaction){.sa_handler = on_crash}, NULL);
    sigaction(SIGWINCH, &(struct sigaction){.sa_handler = on_size}, NULL);
    signal(SIGTSTP, SIG_IGN);
}

bool strobe_top_screen_begin(void)
{
    catch_signals();
    if (!isatty(0) || !isatty(1) || tcgetattr(0, &before))
        return false;
    struct termios ours = before;
    ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (tcsetattr(0, TCSANOW, &ours))
        return false;
    is_taken = 1;
    atexit(give_back);
    ssize_t done = write(1, begin_text, sizeof begin_text - 1);
    return done == sizeof begin_text - 1;
}

void strobe_top_screen_end(void)
{
    give_back();
}

void strobe_top_screen_size(uint32_t *width, uint32_t *height)
{
    struct winsize size;
    int is_known = !ioctl(1, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;
    *width = is_known ? size.ws_col : 80;
    *height = is_known ? size.ws_row : 24;
}

bool strobe_top_screen_wait(int timeout_ms)
{
    struct pollfd keys = {.fd = is_taken ? 0 : -1, .events = POLLIN};
    char key;
    is_other_size = 0;
    int n = is_over ? 0 : poll(&keys, 1, timeout_ms);
    if (n > 0) {
        ssize_t got = read(0, &key, 1);
        return got == 0 || (got < 0 && errno != EINTR) || (got == 1 && (key == 'q' || key == 'Q'));
    }
    return is_over != 0;
}

void strobe_top_screen_show(const char *text, size_t n)
{
    struct strobe_out out;
    if (!strobe_out_open(&out, 1))
        return;
    strobe_out_text(&out, "\033[H\033[J"); /* one write with the rest: nothing flickers */
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t n_line = end ? (size_t)(end - text) - at : n - at;
        strobe_out_bytes(&out, text + at, n_line);
        at += n_line + 1;
        if (at < n)
            strobe_out_text(&out, "\r\n");
    }
    strobe_out_end(&out);
}
