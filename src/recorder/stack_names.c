/* stack_names.c - see the header. The file is read once more, as far as it is written, for the addresses of its samples; the names come from
 * the same child process as those of the recorder's own samples (sample/symbolize.h).  SPDX-License-Identifier: MIT */
#include "recorder/stack_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/walk.h"
#include "recorder/internal.h"
#include "sample/symbolize.h"

struct naming {
    struct strobe_trace *trace; /* owned */
    struct strobe_modules modules;
    struct strobe_wanted wanted;
};

static uint8_t digit(char c)
{
    return (uint8_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

/* A module of the trace as the file that it is. */
static struct strobe_sample_module *open_module(struct naming *naming, uint64_t pid,
                                                const struct strobe_module *module)
{
    uint32_t n_id = 0;
    const char *id = strobe_trace_text(naming->trace, module->build_id, &n_id);
    struct strobe_module_file file = {
        .pid = (uint32_t)pid,
        .start = module->base,
        .end = module->base + module->size,
        .path = strobe_trace_text(naming->trace, module->path, NULL),
    };
    for (uint32_t i = 0; i + 1 < n_id && i / 2 < sizeof file.build_id; i += 2)
        file.build_id[file.n_build_id++] = (uint8_t)(digit(id[i]) << 4 | digit(id[i + 1]));
    return file.n_build_id ? strobe_modules_find(&naming->modules, &file) : NULL;
}

/* An address that is in no module was made at run time. */
static void want(struct naming *naming, uint32_t process, uint64_t address)
{
    const struct strobe_trace *trace = naming->trace;
    const struct strobe_process *row = &trace->processes[process];
    uint64_t pid = row->outer_pid ? row->outer_pid : row->pid;
    struct strobe_mapping mapping = {.start = address, .end = address + 1};
    for (uint32_t i = trace->n_modules; i-- > 0;) {
        const struct strobe_module *module = &trace->modules[i];
        if (module->process != process || address - module->base >= module->size)
            continue;
        mapping = (struct strobe_mapping){.start = module->base,
                                          .end = module->base + module->size,
                                          .offset = module->offset,
                                          .module = open_module(naming, pid, module)};
        if (!mapping.module)
            return;
        break;
    }
    strobe_wanted_add(&naming->wanted, (uint32_t)row->proc, pid << 32 | (uint32_t)row->pid, address,
                      &mapping);
}

static enum strobe_err take_sample(void *context, const struct strobe_happening *happening)
{
    struct naming *naming = context;
    const struct strobe_field *stack = &happening->event->fields[1];
    const struct strobe_process *process = &naming->trace->processes[happening->process];
    STROBE_ASSERT(happening->event->kind == STROBE_KIND_SAMPLE);
    if (process->is_timed && !strobe_wanted_knows_stack(&naming->wanted, (uint32_t)process->proc,
                                                        stack->list, (uint32_t)stack->u))
        for (uint64_t i = 0; i < stack->u; i++)
            want(naming, happening->process, stack->list[i]);
    return STROBE_OK;
}

static enum strobe_err collect(struct naming *naming, struct strobe_file_writer *writer)
{
    struct strobe_walk walk = {
        .context = naming, .happens = take_sample, .kinds = 1ull << STROBE_KIND_SAMPLE};
    struct strobe_file *file = NULL;
    int fd = strobe_file_dup(writer);
    if (fd < 0)
        return STROBE_ERR_IO;
    enum strobe_err err = strobe_file_open_fd(fd, &file);
    if (!err)
        err = strobe_trace_open_file(file, STROBE_TRACE_NO_LOCS, &naming->trace);
    walk.trace = naming->trace;
    return err ? err : strobe_walk_run(&walk);
}

void strobe_recorder_name_stacks(struct strobe_recorder *r)
{
    struct naming naming = {0};
    struct strobe_build_store_options options = strobe_recorder_store(r);
    struct strobe_build_store *store = NULL;
    if (!r->timer_hz || r->flight)
        return;
    STROBE_ASSERT(r->writer);
    options.new_proc = NULL; /* the collector is closed; no process and no event is added */
    options.lose = NULL;
    if (!strobe_modules_init(&naming.modules) && !collect(&naming, r->writer) &&
        !strobe_build_store_open(&options, &store))
        strobe_symbolize_run(store, &naming.wanted, &naming.modules);
    strobe_build_store_close(store);
    strobe_trace_close(naming.trace);
    strobe_wanted_free(&naming.wanted);
    strobe_modules_free(&naming.modules);
}
