/* write_values.c - plots and memory of a .tracy file.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tracy_file/write_parts.h"

static int compare_points(const void *a, const void *b)
{
    const struct strobe_tracy_point_row *x = a, *y = b;
    if (x->plot != y->plot)
        return x->plot < y->plot ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void put_plot(const struct strobe_tracy_model_plot *plot,
                     const struct strobe_tracy_point_row *points, uint64_t n,
                     struct strobe_tracy_out *out)
{
    double min = n ? points[0].value : 0, max = min, sum = 0;
    int64_t ref = 0;
    for (uint64_t i = 0; i < n; i++) {
        min = points[i].value < min ? points[i].value : min;
        max = points[i].value > max ? points[i].value : max;
        sum += points[i].value;
    }
    strobe_tracy_out_u8(out, plot->type);
    strobe_tracy_out_u8(out, plot->format);
    strobe_tracy_out_u8(out, plot->step);
    strobe_tracy_out_u8(out, plot->fill);
    strobe_tracy_out_u32(out, plot->color);
    strobe_tracy_out_u64(out, strobe_tracy_pointer_of(plot->name));
    strobe_tracy_out_f64(out, min);
    strobe_tracy_out_f64(out, max);
    strobe_tracy_out_f64(out, sum);
    strobe_tracy_out_u64(out, n);
    for (uint64_t i = 0; i < n; i++) {
        strobe_tracy_put_time(out, &ref, points[i].time);
        strobe_tracy_out_f64(out, points[i].value);
    }
}

void strobe_tracy_write_plots(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_tracy_point_row *points = model->points.rows;
    uint64_t n = model->points.n, at = 0;
    if (n)
        qsort(points, n, sizeof *points, compare_points);
    strobe_tracy_out_u64(out, model->plot_ids.n);
    for (uint32_t plot = 0; plot < model->plot_ids.n; plot++) {
        uint64_t first = at;
        while (at < n && points[at].plot == plot)
            at++;
        put_plot(&model->plots[plot], points + first, at - first, out);
    }
}

static void put_block(struct strobe_tracy_model *model, const struct strobe_mem_block *block,
                      int64_t *ref, struct strobe_tracy_out *out)
{
    uint32_t process = model->memory.pools.keys[block->pool].scope;
    int64_t time = strobe_tracy_when(model, process, block->alloc_tick, block->alloc_own);
    strobe_tracy_out_u64(out, block->address);
    strobe_tracy_out_u64(out, block->size);
    strobe_tracy_out_u24(out, strobe_tracy_stack_of(model, process, STROBE_KIND_MEM_ALLOC,
                                                    block->alloc_tick, block->address));
    strobe_tracy_out_u24(out, block->is_freed
                                  ? strobe_tracy_stack_of(model, process, STROBE_KIND_MEM_FREE,
                                                          block->free_tick, block->address)
                                  : 0);
    strobe_tracy_put_time(out, ref, time);
    strobe_tracy_out_i64(
        out, block->is_freed
                 ? strobe_tracy_when(model, process, block->free_tick, block->free_own) - time
                 : STROBE_TRACY_ENDLESS);
    strobe_tracy_out_u16(
        out, strobe_tracy_model_number(model, strobe_tracy_model_thread(model, block->thread)));
    strobe_tracy_out_u16(out, block->is_freed
                                  ? strobe_tracy_model_number(
                                        model, strobe_tracy_model_thread(model, block->free_thread))
                                  : 0);
}

static void put_pool(struct strobe_tracy_model *model, uint32_t pool, uint32_t name,
                     struct strobe_tracy_out *out)
{
    const struct strobe_memory *memory = &model->memory;
    uint64_t n = 0, n_live = 0, high = 0, low = UINT64_MAX, usage = 0;
    int64_t ref = 0;
    for (uint64_t i = 0; i < memory->n_blocks; i++) {
        const struct strobe_mem_block *block = &memory->blocks[i];
        if (block->pool != pool)
            continue;
        n++;
        n_live += !block->is_freed;
        usage += block->is_freed ? 0 : block->size;
        low = block->address < low ? block->address : low;
        high = block->address + block->size > high ? block->address + block->size : high;
    }
    strobe_tracy_out_u64(out, strobe_tracy_pointer_of(name));
    strobe_tracy_out_u64(out, n);
    strobe_tracy_out_u64(out, n_live);
    strobe_tracy_out_u64(out, n - n_live);
    for (uint64_t i = 0; n && i < memory->n_blocks; i++)
        if (memory->blocks[i].pool == pool)
            put_block(model, &memory->blocks[i], &ref, out);
    strobe_tracy_out_u64(out, high);
    strobe_tracy_out_u64(out, low);
    strobe_tracy_out_u64(out, usage);
    strobe_tracy_out_u64(out, strobe_tracy_pointer_of(name));
}

/* Pool 0 is always there, and the first. */
void strobe_tracy_write_memory(struct strobe_tracy_model *model,
                               const struct strobe_tracy_names *names, struct strobe_tracy_out *out)
{
    uint32_t n = model->memory.pools.n, main_pool = STROBE_IDMAP_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (names->pools[i] == STROBE_TRACY_NO_STRING)
            main_pool = i;
    strobe_tracy_out_u64(out, (uint64_t)n + (main_pool == STROBE_IDMAP_NONE));
    strobe_tracy_out_u64(out, model->memory.n_blocks);
    put_pool(model, main_pool, STROBE_TRACY_NO_STRING, out);
    for (uint32_t i = 0; i < n; i++)
        if (i != main_pool)
            put_pool(model, i, names->pools[i], out);
}
