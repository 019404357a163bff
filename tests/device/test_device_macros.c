/* test_device_macros.c - a kernel with every macro: what it writes, under the names that its file has.
 *   test_device_macros KERNEL.so classic|streaming
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

#include "collect.h"
#include "device/classic.h"
#include "device/names.h"
#include "native.h"

static struct {
    uint32_t id;
    char name[64];
} sites[64];
static size_t n_sites;

static void keep(void *context, const struct strobe_device_name *name)
{
    (void)context;
    if (n_sites < 64) {
        sites[n_sites].id = name->id;
        snprintf(sites[n_sites++].name, 64, "%.*s", (int)name->name.n_bytes, name->name.bytes);
    }
}

static const char *name_of(uint32_t id)
{
    for (size_t i = 0; i < n_sites; i++)
        if (sites[i].id == id)
            return sites[i].name;
    return "?";
}

static int load_names(const char *path, bool classic)
{
    static char bytes[1 << 20];
    struct strobe_device_names_out out = {NULL, keep, 0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return strobe_device_names_elf(bytes, n, classic, &out) || out.n_bad;
}

static void print_stream(void)
{
    struct collect *all = collect_open_stream(false);
    size_t used;
    native_ship();
    strobe_device_stream_feed(all->stream, native_frames, native_n_words, &used);
    strobe_device_stream_flush(all->stream);
    for (size_t i = 0; i < all->n_zones; i++)
        printf("zone %s %u\n", name_of(all->zones[i].id), all->zones[i].program);
    for (size_t i = 0; i < all->n_marks; i++) {
        printf("%s %s", all->marks[i].is_data ? "data" : "event",
               all->marks[i].id == STROBE_ID_NUMBER(5) ? "5" : name_of(all->marks[i].id));
        for (uint32_t k = 0; k < all->marks[i].n_values; k++)
            printf(" %llx", (unsigned long long)all->marks[i].values[k]);
        printf("\n");
    }
    for (size_t i = 0; i < all->n_sums; i++)
        printf("sum %s %u\n", name_of(all->sums[i].id), all->sums[i].count);
    collect_close(all);
}

static void print_classic(void)
{
    static struct strobe_device_marker markers[1024];
    uint64_t n_bad = 0;
    size_t n = strobe_device_classic_markers(native_dram[0], native_control()[STROBE_CC_HOST_END],
                                             markers, &n_bad);
    for (size_t i = 0; i < n; i++)
        printf("%u %s %u %llu\n", markers[i].packet,
               markers[i].id == 5 ? "5" : name_of(markers[i].id), markers[i].program,
               (unsigned long long)markers[i].data);
}

int main(int argc, char **argv)
{
    bool classic = argc > 2 && !strcmp(argv[2], "classic");
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*kernel)(int) = NULL;
    if (library)
        *(void **)&kernel = dlsym(library, "kernel_all");
    if (!kernel || load_names(argv[1], classic)) {
        fprintf(stderr, "%s\n", library ? "no kernel or no names" : dlerror());
        return 1;
    }
    native_reset();
    if (classic) {
        memset(native_control(), 0, 256);
        native_core()->risc_words = 4096;
    }
    native_core()->flags = STROBE_CORE_SUMS | STROBE_CORE_FW_ZONES;
    native_core()->program = 6;
    kernel(5);
    if (classic)
        print_classic();
    else
        print_stream();
    printf("%u traces\n", native_core()->trace_counter);
    return 0;
}
