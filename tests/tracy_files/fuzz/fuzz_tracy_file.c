/* fuzz_tracy_file.c - damaged .tracy files are read without harm: no crash, no hang, bounded memory.
 *
 * The first byte of an input says what the rest is, and how it is read.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../fuzz/made.h"
#include "../../fuzz/seeds.h"
#include "../../fuzz/threads.h"
#include "tracy_file/content.h"
#include "tracy_file/import_internal.h"

/* Bits of the first byte. */
enum {
    FORM_FILE =
        1, /* else content without its container, so that damage gets past the compression */
    FORM_IMPORT = 2,   /* run the import too, into a file */
    FORM_OPENED = 4,   /* with FORM_FILE: by its name, unpacked by threads, as the commands do it */
    FORM_TIMES = 8,    /* what zones took is enough */
    FORM_THREADS = 16, /* where threads unpack, they do */
};

static uint64_t sum; /* so that reading is not optimised away */

static void touch(struct strobe_tracy_text text)
{
    for (uint32_t i = 0; i < text.n; i += 61)
        sum += (uint8_t)text.at[i];
}

static enum strobe_err take_lock(void *context, const struct strobe_tracy_lock *lock)
{
    (void)context;
    touch(lock->name);
    return STROBE_OK;
}

static enum strobe_err take_zone(void *context, struct strobe_tracy_zone *stack, uint32_t depth)
{
    struct strobe_tracy_content *content = context;
    struct strobe_tracy_extra extra;
    touch(strobe_tracy_loc_name(content, stack[depth].loc));
    if (strobe_tracy_extra(content, stack[depth].extra, &extra)) {
        touch(extra.text);
        touch(extra.name);
    }
    return STROBE_OK;
}

static enum strobe_err take_times(void *context, const struct strobe_tracy_time *times, uint32_t n)
{
    struct strobe_tracy_content *content = context;
    for (uint32_t i = 0; i < n; i++)
        touch(strobe_tracy_loc_name(content, times[i].loc));
    return STROBE_OK;
}

static enum strobe_err take_message(void *context, const struct strobe_tracy_message *message)
{
    (void)context;
    touch(message->text);
    return STROBE_OK;
}

static enum strobe_err take_image(void *context, uint16_t width, uint16_t height, uint8_t flip,
                                  const uint8_t *dxt1, uint32_t n_bytes)
{
    (void)context, (void)width, (void)height;
    sum += flip + (n_bytes ? dxt1[n_bytes - 1] : 0u);
    return STROBE_OK;
}

/* A file that is there by its name alone, with these bytes. */
static const char *file_of(const uint8_t *data, size_t n)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz_tracy_file", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
        abort();
    return path;
}

static enum strobe_err open_bytes(const uint8_t *data, size_t n, unsigned form,
                                  struct strobe_tracy_content *content)
{
    if (form & FORM_FILE && form & FORM_OPENED)
        return strobe_tracy_content_open(file_of(data, n), content);
    if (form & FORM_FILE)
        return strobe_tracy_bytes_over_file(data, n, &content->in);
    strobe_tracy_bytes_over(data, n, &content->in);
    return STROBE_OK;
}

static void walk(const uint8_t *data, size_t n, unsigned form)
{
    struct strobe_tracy_content content = {0};
    struct strobe_tracy_visitor visitor = {.context = &content,
                                           .lock = take_lock,
                                           .zone_end = take_zone,
                                           .times = form & FORM_TIMES ? take_times : NULL,
                                           .message = take_message,
                                           .image = take_image};
    if (!open_bytes(data, n, form, &content))
        strobe_tracy_walk(&content, &visitor);
    strobe_tracy_content_close(&content);
}

/* As strobe_tracy_import, from memory. */
static void import(const uint8_t *data, size_t n, int is_file)
{
    struct strobe_tracy_import result;
    strobe_tracy_import_bytes(data, n, is_file, made_path(), &result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    has_threads = data[0] & FORM_THREADS;
    walk(data + 1, n - 1, data[0]);
    if (data[0] & FORM_IMPORT)
        import(data + 1, n - 1, data[0] & FORM_FILE);
    return 0;
}
