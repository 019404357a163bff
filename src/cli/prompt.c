/* prompt.c - see prompt.h. The terminal is raw only while a line is typed, so that Ctrl-C ends a query and not the prompt. A line is
 * drawn anew after each key, in one write; one that is longer than the terminal is wide shows the part around the cursor.
 * SPDX-License-Identifier: MIT */
#include "cli/prompt.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/array.h"

enum {
    MAX_HISTORY = 1000,
    MAX_LINE = 1 << 16,
    CTRL_A = 1,
    CTRL_B = 2,
    CTRL_C = 3,
    CTRL_D = 4,
    CTRL_E = 5,
    CTRL_F = 6,
    BACKSPACE = 8,
    TAB = 9,
    CTRL_K = 11,
    CTRL_L = 12,
    ENTER = 13,
    CTRL_N = 14,
    CTRL_P = 16,
    CTRL_U = 21,
    CTRL_W = 23,
    ESCAPE = 27,
    DELETE = 127,
    /* Keys that are several bytes. */
    KEY_UP = 256,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_NONE,
};

/* ---- history ---- */

static void keep(struct strobe_prompt *prompt, const char *line)
{
    char *copy = strdup(line);
    if (!copy || !*copy ||
        (prompt->n_history && !strcmp(prompt->history[prompt->n_history - 1], copy))) {
        free(copy);
        return;
    }
    if (prompt->n_history == MAX_HISTORY) {
        free(prompt->history[0]);
        memmove(prompt->history, prompt->history + 1,
                --prompt->n_history * sizeof *prompt->history);
    }
    char **place = STROBE_ARRAY_PUSH(prompt->history, prompt->n_history, prompt->history_room);
    if (place)
        *place = copy;
    else
        free(copy);
}

static void load_history(struct strobe_prompt *prompt)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = prompt->history_path ? fopen(prompt->history_path, "re") : NULL;
    prompt->has_history = 1;
    for (ssize_t n; file && (n = getline(&line, &room, file)) > 0;) {
        line[line[n - 1] == '\n' ? n - 1 : n] = 0;
        keep(prompt, line);
    }
    free(line);
    if (file)
        fclose(file);
}

void strobe_prompt_remember(struct strobe_prompt *prompt, const char *line)
{
    keep(prompt, line);
    int fd = prompt->history_path && *line && !strchr(line, '\n')
                 ? open(prompt->history_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                 : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%s\n", line); /* where it can't be written there is no history; that is no error */
    close(fd);
}

/* ---- drawing ---- */

static int is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t count_characters(const char *text, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !is_inside(text[i]);
    return count;
}

static size_t terminal_width(void)
{
    struct winsize size;
    return !ioctl(2, TIOCGWINSZ, &size) && size.ws_col > 20 ? size.ws_col : 80;
}

static void write_all(const struct strobe_out *out)
{
    for (size_t at = 0; at < out->len;) {
        ssize_t n = write(2, out->at + at, out->len - at);
        if (n < 0 && errno != EINTR)
            return;
        at += n > 0 ? (size_t)n : 0;
    }
}

static void draw(struct strobe_prompt *prompt, const char *shown)
{
    struct strobe_out out = {0};
    const char *line = strobe_out_string(&prompt->line);
    size_t room = terminal_width() - strlen(shown) - 1, first = 0, end = prompt->line.len;
    while (count_characters(line + first, prompt->at - first) > room)
        do
            first++;
        while (is_inside(line[first]));
    while (count_characters(line + first, end - first) > room)
        do
            end--;
        while (is_inside(line[end]));
    strobe_out_format(&out, "\r%s", shown);
    strobe_out_bytes(&out, line + first, end - first);
    strobe_out_text(&out, "\x1b[K\r");
    strobe_out_format(&out, "\x1b[%zuC",
                      strlen(shown) + count_characters(line + first, prompt->at - first));
    write_all(&out);
    strobe_out_free(&out);
}

/* ---- editing ---- */

static void set_line(struct strobe_prompt *prompt, const char *text)
{
    strobe_out_clear(&prompt->line);
    strobe_out_text(&prompt->line, text);
    prompt->at = prompt->line.len;
}

static void insert(struct strobe_prompt *prompt, const char *text, size_t n)
{
    struct strobe_out *line = &prompt->line;
    if (line->len + n > MAX_LINE)
        return;
    size_t before = line->len;
    strobe_out_bytes(line, text, n); /* makes room */
    if (line->error)
        return;
    memmove(line->at + prompt->at + n, line->at + prompt->at, before - prompt->at);
    memcpy(line->at + prompt->at, text, n);
    prompt->at += n;
}

/* Take out what is between two places; the cursor is at the first then. */
static void cut(struct strobe_prompt *prompt, size_t from, size_t to)
{
    struct strobe_out *line = &prompt->line;
    if (from < to)
        memmove(line->at + from, line->at + to, line->len - to);
    line->len -= to - from;
    prompt->at = from;
}

static size_t left_of(const struct strobe_prompt *prompt)
{
    size_t at = prompt->at;
    do
        at -= at > 0;
    while (at && is_inside(prompt->line.at[at]));
    return at;
}

static size_t right_of(const struct strobe_prompt *prompt)
{
    size_t at = prompt->at;
    do
        at += at < prompt->line.len;
    while (at < prompt->line.len && is_inside(prompt->line.at[at]));
    return at;
}

static size_t word_left_of(const struct strobe_prompt *prompt)
{
    size_t at = prompt->at;
    while (at && prompt->line.at[at - 1] == ' ')
        at--;
    while (at && prompt->line.at[at - 1] != ' ')
        at--;
    return at;
}

/* Tab: as much as all words agree in that begin so; twice, and they are listed. */
static void complete(struct strobe_prompt *prompt, int is_second)
{
    size_t from = prompt->at, n = 0, common = 0;
    const char *found = NULL;
    while (from && (isalnum((unsigned char)prompt->line.at[from - 1]) ||
                    prompt->line.at[from - 1] == '_' || prompt->line.at[from - 1] == '.'))
        from--;
    size_t n_typed = prompt->at - from;
    struct strobe_out list = {0};
    for (size_t i = 0; n_typed && prompt->words[i]; i++) {
        const char *word = prompt->words[i];
        if (strncasecmp(word, prompt->line.at + from, n_typed))
            continue;
        if (!n++) {
            found = word;
            common = strlen(word);
        }
        while (strncasecmp(word, found, common))
            common--;
        strobe_out_text(&list, word);
        strobe_out_text(&list, "  ");
    }
    if (n && common > n_typed)
        insert(prompt, found + n_typed, common - n_typed);
    if (n == 1)
        insert(prompt, " ", 1);
    if (n > 1 && is_second) {
        struct strobe_out text = {0};
        strobe_out_format(&text, "\r\n%s\r\n", strobe_out_string(&list));
        write_all(&text);
        strobe_out_free(&text);
    }
    strobe_out_free(&list);
}

/* ---- keys ---- */

static int read_byte(void)
{
    unsigned char byte;
    ssize_t n;
    do
        n = read(0, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? byte : -1;
}

/* ESC [ A and the like, with numbers between: ESC [ 3 ~, or ESC [ 1 ; 5 C where Ctrl is held. */
static int read_escape(void)
{
    int c = read_byte();
    if (c != '[' && c != 'O')
        return c < 0 ? -1 : KEY_NONE;
    c = read_byte();
    int numbers[2] = {0}, is_behind = 0; /* the first one, and those behind it */
    for (; (c >= '0' && c <= '9') || c == ';'; c = read_byte())
        if (c == ';')
            is_behind = 1;
        else if (numbers[is_behind] < 1000)
            numbers[is_behind] = 10 * numbers[is_behind] + c - '0';
    if (c == '~')
        return numbers[0] == 3                      ? KEY_DELETE
               : numbers[0] == 1 || numbers[0] == 7 ? KEY_HOME
               : numbers[0] == 4 || numbers[0] == 8 ? KEY_END
                                                    : KEY_NONE;
    return c == 'A'   ? KEY_UP
           : c == 'B' ? KEY_DOWN
           : c == 'C' ? KEY_RIGHT
           : c == 'D' ? KEY_LEFT
           : c == 'H' ? KEY_HOME
           : c == 'F' ? KEY_END
           : c < 0    ? -1
                      : KEY_NONE;
}

static int read_key(void)
{
    int c = read_byte();
    return c == ESCAPE   ? read_escape()
           : c == CTRL_P ? KEY_UP
           : c == CTRL_N ? KEY_DOWN
           : c == CTRL_B ? KEY_LEFT
           : c == CTRL_F ? KEY_RIGHT
           : c == CTRL_A ? KEY_HOME
           : c == CTRL_E ? KEY_END
           : c == DELETE ? BACKSPACE
           : c == '\n'   ? ENTER
                         : c;
}

/* A key that moves or cuts. */
static void edit(struct strobe_prompt *prompt, int key)
{
    size_t end = prompt->line.len;
    switch (key) {
    case KEY_LEFT:
        prompt->at = left_of(prompt);
        break;
    case KEY_RIGHT:
        prompt->at = right_of(prompt);
        break;
    case KEY_HOME:
        prompt->at = 0;
        break;
    case KEY_END:
        prompt->at = end;
        break;
    case BACKSPACE:
        cut(prompt, left_of(prompt), prompt->at);
        break;
    case KEY_DELETE:
    case CTRL_D:
        cut(prompt, prompt->at, right_of(prompt));
        break;
    case CTRL_K:
        cut(prompt, prompt->at, end);
        break;
    case CTRL_U:
        cut(prompt, 0, prompt->at);
        break;
    case CTRL_W:
        cut(prompt, word_left_of(prompt), prompt->at);
        break;
    default:
        if (key >= ' ' && key < 256) {
            char byte = (char)key;
            insert(prompt, &byte, 1);
        }
    }
}

/* Up and down; the line that was being typed comes after the newest. */
static void recall(struct strobe_prompt *prompt, int key, size_t *which, char **typed)
{
    if (key == KEY_UP ? *which == 0 : *which == prompt->n_history)
        return;
    if (*which == prompt->n_history) {
        free(*typed);
        *typed = strdup(strobe_out_string(&prompt->line));
    }
    *which += key == KEY_UP ? (size_t)-1 : 1;
    set_line(prompt, *which < prompt->n_history ? prompt->history[*which] : *typed ? *typed : "");
}

/* Until the line ends: 1; 0: there is no more input. */
static int edit_line(struct strobe_prompt *prompt, const char *shown, int *is_cancelled)
{
    size_t which = prompt->n_history;
    char *typed = NULL;
    int key, last = 0, is_over = 0;
    for (; !is_over; last = key) {
        draw(prompt, shown);
        key = read_key();
        is_over = key < 0 || key == ENTER || key == CTRL_C || (key == CTRL_D && !prompt->line.len);
        if (is_over)
            break;
        if (key == KEY_UP || key == KEY_DOWN)
            recall(prompt, key, &which, &typed);
        else if (key == TAB)
            complete(prompt, last == TAB);
        else
            edit(prompt, key);
    }
    free(typed);
    *is_cancelled = key == CTRL_C;
    if (key == CTRL_C)
        set_line(prompt, "");
    return key == ENTER || key == CTRL_C;
}

const char *strobe_prompt_read(struct strobe_prompt *prompt, const char *shown, int *is_cancelled)
{
    struct termios before, raw;
    *is_cancelled = 0;
    set_line(prompt, "");
    if (!isatty(2) || tcgetattr(0, &before)) {
        char *line = NULL;
        size_t room = 0;
        fputs(shown, stderr);
        ssize_t n = getline(&line, &room, stdin);
        if (n > 0)
            strobe_out_bytes(&prompt->line, line, (size_t)(line[n - 1] == '\n' ? n - 1 : n));
        free(line);
        return n > 0 ? strobe_out_string(&prompt->line) : NULL;
    }
    if (!prompt->has_history)
        load_history(prompt);
    raw = before;
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(0, TCSADRAIN, &raw);
    int has_line = edit_line(prompt, shown, is_cancelled);
    tcsetattr(0, TCSADRAIN, &before);
    if (has_line)
        fputs("\r\n", stderr);
    return has_line ? strobe_out_string(&prompt->line) : NULL;
}

void strobe_prompt_close(struct strobe_prompt *prompt)
{
    for (size_t i = 0; i < prompt->n_history; i++)
        free(prompt->history[i]);
    free(prompt->history);
    strobe_out_free(&prompt->line);
}
