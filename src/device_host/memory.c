/* memory.c - buffers in DRAM and L1: pages go round the banks, at the same offset in each. What is in use is a sorted list; DRAM is
 * given out from its start, L1 from its end, so that circular buffers keep the start.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "device_host/internal.h"

static uint32_t banks_of(const struct strobe_device *device, enum strobe_device_pool pool)
{
    const struct strobe_device_options *options = &device->setup.options;
    return pool == STROBE_DEVICE_DRAM ? options->n_banks : options->grid_x * options->grid_y;
}

static uint64_t stride_of(uint32_t page_bytes)
{
    return ((uint64_t)page_bytes + STROBE_HOST_PAGE_ALIGN - 1) &
           ~(uint64_t)(STROBE_HOST_PAGE_ALIGN - 1);
}

/* A gap of `bytes`: the first from the start, or the last from the end. 0: none. */
static int find_gap(const struct strobe_host_map *map, uint64_t bytes, int from_end,
                    uint64_t *address, uint32_t *at)
{
    for (uint32_t step = 0; step <= map->n_pieces; step++) {
        uint32_t i = from_end ? map->n_pieces - step : step; /* the gap before piece i */
        uint64_t first = i ? map->pieces[i - 1].address + map->pieces[i - 1].bytes : map->first;
        uint64_t end = i < map->n_pieces ? map->pieces[i].address : map->end;
        if (end < first || end - first < bytes)
            continue;
        *address = from_end ? (end - bytes) & ~(uint64_t)(STROBE_HOST_PAGE_ALIGN - 1) : first;
        *at = i;
        if (*address >= first)
            return 1;
    }
    return 0;
}

static enum strobe_device_result take(struct strobe_host_map *map, uint64_t bytes, int from_end,
                                      uint64_t *address)
{
    uint32_t at;
    if (!find_gap(map, bytes, from_end, address, &at))
        return strobe_host_fail(STROBE_DEVICE_NOSPACE,
                                "no %llu bytes in a row are free in each bank",
                                (unsigned long long)bytes);
    if (STROBE_ARRAY_RESERVE(map->pieces, map->room, (uint64_t)map->n_pieces + 1))
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a buffer");
    memmove(map->pieces + at + 1, map->pieces + at, (map->n_pieces - at) * sizeof *map->pieces);
    map->pieces[at] = (struct strobe_host_piece){.address = *address, .bytes = bytes};
    map->n_pieces++;
    return STROBE_DEVICE_OK;
}

struct note {
    struct strobe_device *device;
    struct strobe_device_buffer buffer;
    int is_alloc;
};

static void send_note(void *context)
{
    struct note *note = context;
    strobe_frames_memory(note->device, note->is_alloc, note->buffer.memory, note->buffer.address,
                         note->buffer.bytes);
}

enum strobe_device_result strobe_device_buffer_create(struct strobe_device *device,
                                                      enum strobe_device_pool memory,
                                                      uint64_t bytes, uint32_t page_bytes,
                                                      struct strobe_device_buffer *buffer)
{
    if (!bytes || !page_bytes || bytes >> 40)
        return strobe_host_fail(STROBE_DEVICE_INVALID, "a buffer of %llu bytes in pages of %u",
                                (unsigned long long)bytes, page_bytes);
    uint64_t n_pages = (bytes + page_bytes - 1) / page_bytes, n_banks = banks_of(device, memory);
    uint64_t in_bank = (n_pages + n_banks - 1) / n_banks * stride_of(page_bytes);
    *buffer = (struct strobe_device_buffer){
        .device = device, .memory = memory, .page_bytes = page_bytes, .bytes = bytes};
    pthread_mutex_lock(&device->lock);
    enum strobe_device_result result =
        take(memory == STROBE_DEVICE_DRAM ? &device->dram : &device->l1, in_bank,
             memory == STROBE_DEVICE_L1, &buffer->address);
    pthread_mutex_unlock(&device->lock);
    if (!result && device->setup.options.record & STROBE_DEVICE_RECORD_MEMORY)
        strobe_worker_call(send_note, &(struct note){device, *buffer, 1});
    return result;
}

void strobe_device_buffer_free(struct strobe_device_buffer *buffer)
{
    struct strobe_device *device = buffer->device;
    if (!device)
        return;
    struct strobe_host_map *map =
        buffer->memory == STROBE_DEVICE_DRAM ? &device->dram : &device->l1;
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < map->n_pieces; i++)
        if (map->pieces[i].address == buffer->address) {
            memmove(map->pieces + i, map->pieces + i + 1,
                    (map->n_pieces - i - 1) * sizeof *map->pieces);
            map->n_pieces--;
            break;
        }
    pthread_mutex_unlock(&device->lock);
    if (device->setup.options.record & STROBE_DEVICE_RECORD_MEMORY)
        strobe_worker_call(send_note, &(struct note){device, *buffer, 0});
    buffer->device = NULL;
}

static void report_leaks(struct strobe_device *device, const struct strobe_host_map *map,
                         const char *pool, uint64_t n_banks)
{
    uint64_t bytes = 0;
    char text[160];
    for (uint32_t i = 0; i < map->n_pieces; i++)
        bytes += map->pieces[i].bytes;
    if (!bytes)
        return;
    snprintf(text, sizeof text,
             "device %u was closed with %u %s of %s that %s not freed: %llu bytes in each of %llu "
             "banks",
             device->setup.index, map->n_pieces, map->n_pieces == 1 ? "buffer" : "buffers", pool,
             map->n_pieces == 1 ? "was" : "were", (unsigned long long)bytes,
             (unsigned long long)n_banks);
    device->setup.warn(device->setup.warn_context, text);
}

void strobe_host_leaks(struct strobe_device *device)
{
    if (!(device->setup.options.record & STROBE_DEVICE_RECORD_MEMORY))
        return;
    pthread_mutex_lock(&device->lock);
    report_leaks(device, &device->dram, "DRAM", banks_of(device, STROBE_DEVICE_DRAM));
    report_leaks(device, &device->l1, "L1", banks_of(device, STROBE_DEVICE_L1));
    pthread_mutex_unlock(&device->lock);
}

/* ---- copies ---- */

struct copy {
    const struct strobe_device_buffer *buffer;
    uint64_t offset, bytes;
    uint8_t *host;
    int to_device;
    enum strobe_err err;
};

static void run_copy(void *context)
{
    struct copy *copy = context;
    const struct strobe_device_buffer *buffer = copy->buffer;
    struct strobe_device *device = buffer->device;
    uint32_t n_banks = banks_of(device, buffer->memory);
    for (uint64_t done = 0; done < copy->bytes && !copy->err;) {
        uint64_t page = (copy->offset + done) / buffer->page_bytes,
                 in_page = (copy->offset + done) % buffer->page_bytes;
        uint64_t n = buffer->page_bytes - in_page < copy->bytes - done
                         ? buffer->page_bytes - in_page
                         : copy->bytes - done;
        uint64_t address = device->backend->bank_address(
            device->unit, buffer->memory, (uint32_t)(page % n_banks),
            buffer->address + page / n_banks * stride_of(buffer->page_bytes) + in_page);
        copy->err =
            device->backend->copy(device->unit, address, copy->host + done, n, copy->to_device);
        done += n;
    }
}

static enum strobe_device_result do_copy(struct copy *copy)
{
    if (copy->offset > copy->buffer->bytes || copy->bytes > copy->buffer->bytes - copy->offset ||
        !copy->buffer->device)
        return strobe_host_fail(STROBE_DEVICE_INVALID, "%llu bytes at %llu of a buffer of %llu",
                                (unsigned long long)copy->bytes, (unsigned long long)copy->offset,
                                (unsigned long long)copy->buffer->bytes);
    strobe_worker_host_ns(copy->buffer->device, 1000 + copy->bytes / 16);
    strobe_worker_call(run_copy, copy);
    return copy->err ? strobe_host_fail(strobe_host_result(copy->err), "a bank has no such address")
                     : STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_device_buffer_write(const struct strobe_device_buffer *buffer,
                                                     uint64_t offset, const void *from,
                                                     uint64_t bytes)
{
    return do_copy(&(struct copy){.buffer = buffer,
                                  .offset = offset,
                                  .bytes = bytes,
                                  .host = (uint8_t *)(uintptr_t)from,
                                  .to_device = 1});
}

enum strobe_device_result strobe_device_buffer_read(const struct strobe_device_buffer *buffer,
                                                    uint64_t offset, void *to, uint64_t bytes)
{
    return do_copy(&(struct copy){.buffer = buffer, .offset = offset, .bytes = bytes, .host = to});
}

struct l1_copy {
    struct strobe_device *device;
    uint64_t address;
    void *host;
    uint32_t bytes;
    int to_device;
    enum strobe_err err;
};

static void run_l1_copy(void *context)
{
    struct l1_copy *copy = context;
    copy->err = copy->device->backend->copy(copy->device->unit, copy->address, copy->host,
                                            copy->bytes, copy->to_device);
}

static enum strobe_device_result do_l1_copy(struct l1_copy *copy)
{
    strobe_worker_call(run_l1_copy, copy);
    return copy->err ? strobe_host_fail(strobe_host_result(copy->err),
                                        "there is no such core, or no such address in it")
                     : STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_device_l1_write(struct strobe_device *device, uint32_t x,
                                                 uint32_t y, uint32_t offset, const void *from,
                                                 uint32_t bytes)
{
    return do_l1_copy(&(struct l1_copy){.device = device,
                                        .address = strobe_device_noc_address(x, y, offset),
                                        .host = (void *)(uintptr_t)from,
                                        .bytes = bytes,
                                        .to_device = 1});
}

enum strobe_device_result strobe_device_l1_read(struct strobe_device *device, uint32_t x,
                                                uint32_t y, uint32_t offset, void *to,
                                                uint32_t bytes)
{
    return do_l1_copy(&(struct l1_copy){.device = device,
                                        .address = strobe_device_noc_address(x, y, offset),
                                        .host = to,
                                        .bytes = bytes});
}
