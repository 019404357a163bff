/* fifo_state.c - see the header. The file belongs to others, who may store anything in it: what is read is checked, and nothing is
 * mapped. System calls only.  SPDX-License-Identifier: MIT */
#include "ring/fifo_state.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "ring/alive.h"
#include "ring/session.h"
#include "wire/device_fifo.h"

bool strobe_fifo_state_is_name(const char *name)
{
    static const char suffix[] = STROBE_DEVICE_FIFO_SUFFIX;
    size_t n = strlen(name), n_suffix = sizeof suffix - 1;
    return n > n_suffix && n < 96 && !strcmp(name + n - n_suffix, suffix);
}

/* Whether a recorder has saved where it stands: it died, or is at work. */
static bool is_saved(int fd, uint64_t slots_off)
{
    STROBE_ASSERT(slots_off <= (uint64_t)1 << 41); /* checked: no offset of a file is below 0 */
    for (uint64_t i = 0; i < 2; i++) {
        struct strobe_device_fifo_slot slot;
        off_t at = (off_t)(slots_off + i * STROBE_DEVICE_FIFO_SLOT_BYTES);
        if (pread(fd, &slot, sizeof slot, at) == (ssize_t)sizeof slot &&
            slot.magic == STROBE_DEVICE_FIFO_SLOT_MAGIC &&
            slot.read != STROBE_DEVICE_FIFO_SLOT_NONE)
            return true;
    }
    return false;
}

static bool is_alive(int fd, const struct strobe_device_fifo_head *head)
{
    if (head->closed)
        return false;
    return head->locked ? strobe_alive_file(fd)
                        : strobe_session_start_time((int)head->pid) == head->start_time;
}

/* A file without a head is being made, or its maker was killed at that: it has no lock yet that tells. */
static bool is_young(int fd)
{
    enum { MAKING_S = 60 }; /* longer than it takes, however slow the machine */
    struct stat st;
    return fstat(fd, &st) || time(NULL) - st.st_ctime < MAKING_S;
}

bool strobe_fifo_state_look(int fd, struct strobe_fifo_state *out)
{
    struct strobe_device_fifo_head head = {0};
    if (pread(fd, &head, sizeof head, 0) < 0)
        return false;
    if (!head.magic) {
        *out = (struct strobe_fifo_state){.is_alive = is_young(fd)};
        return true;
    }
    if (head.magic != STROBE_DEVICE_FIFO_MAGIC || head.version < STROBE_DEVICE_FIFO_OLDEST ||
        head.version > STROBE_DEVICE_FIFO_VERSION || head.data_bytes > (uint64_t)1 << 40)
        return false;
    *out = (struct strobe_fifo_state){.pid = head.pid,
                                      .device = head.device,
                                      .recorder = head.recorder,
                                      .n_ring_bytes = head.data_bytes,
                                      .is_made = true,
                                      .is_alive = is_alive(fd, &head)};
    uint64_t slots_off = head.data_off + head.data_bytes;
    out->has_data = head.data_bytes && (head.written != head.read || is_saved(fd, slots_off));
    return true;
}
