/* outliving.c - see the header.  SPDX-License-Identifier: MIT */
#include "recorder/outliving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/descendants.h"
#include "recorder/internal.h"

enum { MOST = 1024, NAMED = 16 };

/* Its parent and its name; false: it has ended. */
static bool read_process(uint32_t pid, uint32_t *parent, char name[64])
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    if (strobe_descendants_read_text(path, text, sizeof text) <= 0)
        return false;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || strlen(close) < 5)
        return false;
    snprintf(name, 64, "%.*s", (int)(close - open - 1), open + 1);
    *parent = (uint32_t)strtoul(close + 4, NULL, 10);
    return close[2] != 'Z' && close[2] != 'X';
}

static bool is_listed(const uint32_t *pids, uint32_t n, uint32_t pid)
{
    for (uint32_t i = 0; i < n; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* The command's processes that live; their number. Parents come before their children: what is below the viewer (a browser) or
 * the bridge is theirs. */
static uint32_t list_outliving(const struct strobe_recorder *r, uint32_t pids[MOST])
{
    uint32_t all[MOST], own[MOST] = {(uint32_t)r->bridge, r->options.viewer}, n_own = 2;
    uint32_t n = strobe_descendants_list(all, MOST, UINT32_MAX), n_out = 0, parent;
    char name[64];
    STROBE_ASSERT(n <= MOST);
    for (uint32_t i = 0; i < n; i++) {
        bool lives = read_process(all[i], &parent, name);
        if (is_listed(own, n_own, all[i]) || is_listed(own, n_own, parent)) {
            if (n_own < MOST)
                own[n_own++] = all[i];
        } else if (lives) {
            pids[n_out++] = all[i];
        }
    }
    return n_out;
}

bool strobe_recorder_is_outlived(const struct strobe_recorder *r)
{
    uint32_t pids[MOST];
    return list_outliving(r, pids) > 0;
}

static void name_one(struct strobe_recorder *r, uint32_t pid, const char *name)
{
    char note[256];
    bool has_joined = strobe_collector_knows(r->collector, pid); /* then the collector noted it */
    snprintf(note, sizeof note,
             "process %u (%s) was still running when the recording ended, and had not joined it",
             pid, name);
    if (!has_joined)
        strobe_collector_note(r->collector, 0, note);
    struct strobe_recorder_word word = {
        .event = STROBE_RECORDER_OUTLIVED, .subject = name, .pid = pid, .number = has_joined};
    strobe_recorder_say(r, word);
}

void strobe_recorder_name_outliving(struct strobe_recorder *r)
{
    uint32_t pids[MOST], parent, n_named = 0;
    char name[64];
    STROBE_ASSERT(r->state == STROBE_RECORDER_ENDING && r->collector);
    if (!r->outcome.command_ended) /* --for, or somebody asked: then it is no surprise */
        return;
    uint32_t n = list_outliving(r, pids);
    for (uint32_t i = 0; i < n && n_named < NAMED; i++)
        if (read_process(pids[i], &parent, name)) {
            name_one(r, pids[i], name);
            n_named++;
        }
    if (n > NAMED)
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_MORE_OUTLIVED,
                                                             .number = (int)(n - NAMED)});
}
