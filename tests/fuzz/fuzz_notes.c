/* fuzz_notes.c - notes on a trace: an input's first part is the file beside the trace as somebody left it, the rest is a question `notes`
 * of a page. What was kept has to be what is read again.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/notes.h"
#include "seeds.h"
#include "serve/answers.h"
#include "tape.h"

static char folder[] = "/dev/shm/strobe-fuzz-XXXXXX", trace[64], beside[96];

static void remove_folder(void)
{
    unlink(beside);
    rmdir(folder);
}

static void open_folder(void)
{
    if (trace[0])
        return;
    if (!mkdtemp(folder))
        abort();
    snprintf(trace, sizeof trace, "%s/a.strobe", folder);
    snprintf(beside, sizeof beside, "%s.notes.json", trace);
    atexit(remove_folder);
}

static void leave_file(const uint8_t *bytes, size_t n)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    close(fd);
}

static void ask(const uint8_t *bytes, size_t n)
{
    static struct strobe_json json;
    struct strobe_served served = {.path = trace, .folder = folder};
    struct strobe_reply reply = {0};
    char *exact = malloc(n ? n : 1); /* so that a byte too far is seen */
    memcpy(exact, bytes, n);
    if (strobe_json_parse(&json, exact, n) && strobe_json_is_object(&json)) {
        strobe_serve_answer_notes(&served, &json, &reply);
        strobe_reply_free(&reply);
    }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tape tape = {data, data + n};
    char *text = NULL;
    struct stat st;
    open_folder();
    size_t n_left = (size_t)tape_number(&tape, 2) % (n + 1);
    const uint8_t *left = tape_take(&tape, &n_left);
    if (n_left)
        leave_file(left, n_left);
    else
        unlink(beside);
    ask(tape.at, tape_left(&tape));
    if (!stat(beside, &st) && st.st_mode & 077)
        abort();
    if (!strobe_notes_read(trace, &text))
        strobe_notes_state(text);
    free(text);
    return 0;
}
