/* sites.c - names of zones, and of kernels' sources, for records that are handed to this program: they live as long as the process,
 * so there is one of each, whatever runs how often. Any thread.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "device_host/records.h"

#define MOST_SITES (1u << 20)

struct list {
    const char **texts; /* owned; the texts are too */
    uint32_t n;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct strobe_map by_id = {.max = MOST_SITES};
static struct strobe_device_site *sites; /* owned, like their texts */
static uint32_t n_sites, room_sites;
static struct list *lists; /* owned */
static uint32_t n_lists, room_lists;

static const char *copy_of(const struct strobe_device_text *text)
{
    char *copy = malloc((size_t)text->n_bytes + 1);
    if (!copy)
        return "";
    memcpy(copy, text->bytes, text->n_bytes);
    copy[text->n_bytes] = 0;
    return copy;
}

void strobe_records_name(const struct strobe_device_name *name)
{
    if (name->flags & STROBE_NAME_CLASSIC)
        return;
    pthread_mutex_lock(&lock);
    if (!strobe_map_find(&by_id, name->id) && !strobe_map_put(&by_id, name->id, n_sites)) {
        struct strobe_device_site *site = STROBE_ARRAY_PUSH(sites, n_sites, room_sites);
        if (site)
            *site =
                (struct strobe_device_site){copy_of(&name->name), copy_of(&name->file), name->line};
    }
    pthread_mutex_unlock(&lock);
}

struct strobe_device_site strobe_device_site_of(uint32_t site)
{
    struct strobe_device_site found = {"", "", 0};
    pthread_mutex_lock(&lock);
    const uint64_t *at = strobe_map_find(&by_id, site);
    if (site == STROBE_ID_STALL)
        found.name = "PROFILER-STALL";
    else if (site == STROBE_ID_STACK)
        found.name = "STACK-OVERFLOW";
    else if (at && *at < n_sites)
        found = sites[*at];
    pthread_mutex_unlock(&lock);
    return found;
}

static int is_list_of(const struct list *list, const struct strobe_device_job *job)
{
    if (list->n != job->n_kernels)
        return 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (strcmp(list->texts[i], job->kernels[i].built[0]->source) != 0)
            return 0;
    return 1;
}

const char *const *strobe_records_sources(const struct strobe_device_job *job, uint32_t *n)
{
    const char *const *found = NULL;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n_lists && !found; i++)
        if (is_list_of(&lists[i], job))
            found = lists[i].texts;
    struct list *list = found ? NULL : STROBE_ARRAY_PUSH(lists, n_lists, room_lists);
    if (list) {
        *list = (struct list){.texts = calloc(job->n_kernels + 1, sizeof *list->texts)};
        for (; list->texts && list->n < job->n_kernels; list->n++) {
            const char *source = job->kernels[list->n].built[0]->source;
            list->texts[list->n] = copy_of(
                &(struct strobe_device_text){.bytes = source, .n_bytes = (uint32_t)strlen(source)});
        }
        found = list->texts;
    }
    *n = found ? job->n_kernels : 0;
    pthread_mutex_unlock(&lock);
    return found;
}
