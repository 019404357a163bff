/* names_side.c - see the header.  SPDX-License-Identifier: MIT */
#include "recorder/names_side.h"

#include "recorder/internal.h"

static void hear_module(void *context, const struct strobe_mapped_file *file)
{
    struct strobe_recorder *r = context;
    strobe_addresses_module(&r->addresses, file);
}

static void hear_stack(void *context, uint32_t proc, const uint64_t *addresses, uint32_t n)
{
    struct strobe_recorder *r = context;
    strobe_addresses_stack(&r->addresses, proc, addresses, n);
}

static void hear_function(void *context, uint32_t proc, uint64_t id, const char *path,
                          uint64_t vaddr)
{
    struct strobe_recorder *r = context;
    r->n_functions++;
    strobe_addresses_function(&r->addresses, proc, id, path, vaddr);
}

struct strobe_collector_listener strobe_recorder_names_listener(struct strobe_recorder *r)
{
    return (struct strobe_collector_listener){
        .module = hear_module, .stack = hear_stack, .function = hear_function, .context = r};
}

void strobe_recorder_names_end(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->collector && r->writer);
    if (r->options.zones && !r->n_functions && !r->probes.n && !r->says_no_functions)
        strobe_recorder_say(r,
                            (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_FUNCTIONS});
    struct strobe_build_store_options store = strobe_recorder_store(r);
    if (r->sampler)
        strobe_sampler_take(r->sampler, &r->addresses);
    else
        strobe_addresses_name(&r->addresses, &store);
}
