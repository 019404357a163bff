/* links.c - clocks of several devices against each other, by messages over the links between them: with TT_METAL_PROFILER_SYNC=1, when a device is
 * opened and when it is closed. The device that was opened first is the root of all others of its backend; a line through all messages
 * of both times holds for what lies between them. Thread: the worker.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device_host/internal.h"

enum { MESSAGES = 240, PAIRS = 2 * MESSAGES }; /* as many as tt-metal exchanges, at either end */

static struct strobe_device *linked; /* all that are open, the root last */

static struct strobe_device *find_root(const struct strobe_device *device)
{
    struct strobe_device *root = NULL;
    for (struct strobe_device *at = linked; at; at = at->link.next)
        if (at != device && at->backend == device->backend && !at->link.root)
            root = at;
    return root;
}

/* One time's messages. False: there is no link. */
static bool exchange(struct strobe_device *device)
{
    struct strobe_host_link *link = &device->link;
    struct strobe_device *root = link->root;
    STROBE_ASSERT(root && root != device && link->n_pairs + MESSAGES <= PAIRS);
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (root->backend->link(root->unit, device->unit, &link->pairs[link->n_pairs++]))
            return false;
    return true;
}

/* The line through what there is goes to the stream. */
static void tell(struct strobe_device *device)
{
    struct strobe_host_link *link = &device->link;
    struct strobe_clock_pair kept[PAIRS];
    struct strobe_clock_link line;
    uint32_t n_kept = 0;
    for (uint32_t first = 0; first < link->n_pairs; first += MESSAGES) { /* the best of each time */
        memcpy(kept + n_kept, link->pairs + first, MESSAGES * sizeof *kept);
        n_kept += (uint32_t)strobe_clock_link_shortest(kept + n_kept, MESSAGES);
    }
    if (strobe_clock_link_fit(kept, n_kept, &line))
        return;
    double cycles = strobe_clock_link_error(kept, n_kept, &line);
    strobe_frames_link(device, link->root->setup.index, n_kept, &line,
                       cycles * 1e3 / link->root->setup.options.frequency_mhz);
}

void strobe_host_link_open(struct strobe_device *device)
{
    const char *value = getenv("TT_METAL_PROFILER_SYNC");
    if (!value || *value != '1' || !device->backend->link ||
        device->setup.options.mode == STROBE_DEVICE_MODE_OFF)
        return;
    struct strobe_host_link *link = &device->link;
    link->root = find_root(device);
    link->pairs = link->root ? calloc(PAIRS, sizeof *link->pairs) : NULL;
    if (link->root && (!link->pairs || !exchange(device)))
        link->root = NULL, link->n_pairs = 0;
    else if (link->root)
        tell(device);
    link->next = linked;
    link->is_listed = true;
    linked = device;
}

static void end_link(struct strobe_device *device)
{
    if (device->link.root && exchange(device))
        tell(device);
    device->link.root = NULL;
    free(device->link.pairs);
    device->link.pairs = NULL;
}

void strobe_host_link_close(struct strobe_device *device)
{
    if (!device->link.is_listed)
        return;
    end_link(device);
    for (struct strobe_device *at = linked; at; at = at->link.next)
        if (at->link.root == device)
            end_link(at);
    struct strobe_device **place = &linked;
    while (*place != device)
        place = &(*place)->link.next;
    *place = device->link.next;
    device->link.is_listed = false;
}
