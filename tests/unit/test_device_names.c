/* test_device_names.c - names of zones: hashes, source maps, damaged ELF files.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/names.h"

static void four_texts_of_real_logs_have_their_hashes(void **state)
{
    static const struct {
        const char *text;
        uint16_t hash;
    } known[] = {
        {"BRISC-FW,/localdev/bgrady/tt-metal/tt_metal/hw/firmware/src/brisc.cc,396,KERNEL_PROFILER",
         22845},
        {"BRISC-KERNEL,/localdev/bgrady/tt-metal/tt_metal/hw/firmware/src/"
         "brisck.cc,49,KERNEL_PROFILER",
         21766},
        {"BRISC-FW,/home/ttuser/mbahnas/METAL/main_0214/tt-metal/tt_metal/hw/firmware/src/"
         "brisc.cc,435,"
         "KERNEL_PROFILER",
         51633},
        {"BRISC-KERNEL,/home/ttuser/mbahnas/METAL/main_0214/tt-metal/tt_metal/hw/firmware/src/"
         "brisck.cc,45,"
         "KERNEL_PROFILER",
         67},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(strobe_device_names_hash(known[i].text, strlen(known[i].text)),
                         known[i].hash);
}

struct found {
    char name[8][64], file[8][64];
    uint32_t id[8], line[8], flags[8];
    size_t n;
};

static void keep(void *context, const struct strobe_device_name *name)
{
    struct found *found = context;
    if (found->n == 8)
        return;
    snprintf(found->name[found->n], 64, "%.*s", (int)name->name.n_bytes, name->name.bytes);
    snprintf(found->file[found->n], 64, "%.*s", (int)name->file.n_bytes, name->file.bytes);
    found->id[found->n] = name->id;
    found->line[found->n] = name->line;
    found->flags[found->n++] = name->flags;
}

static void a_source_map_names_its_lines_and_counts_the_bad_ones(void **state)
{
    static const char log[] =
        "a.cc:3:1: note: '#pragma message: "
        "BRISC-FW,/localdev/bgrady/tt-metal/tt_metal/hw/firmware/src/brisc.cc,396,"
        "KERNEL_PROFILER'\n"
        "plain,/x/y.cc,12,KERNEL_PROFILER\n"
        "cut,/x/y.cc,1\n"
        "bad,/x/y.cc,1x,KERNEL_PROFILER\n"
        ",/x/y.cc,1,KERNEL_PROFILER\n"
        "\n"
        "last,with,commas.cc,7,KERNEL_PROFILER";
    struct found found = {0};
    struct strobe_device_names_out out = {&found, keep, 0};
    (void)state;
    strobe_device_names_log(log, sizeof log - 1, &out);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.id[0], 22845);
    assert_string_equal(found.name[0], "BRISC-FW");
    assert_int_equal(found.line[1], 12);
    assert_string_equal(found.file[2], "with,commas.cc");
    assert_int_equal(found.flags[2], STROBE_NAME_CLASSIC);
    assert_int_equal(out.n_bad, 3);
}

/* An ELF file of our own making: sections, then the table of them. */
static size_t make_elf(uint8_t *bytes)
{
    static const char names[] = "\0.shstrtab\0.tt_zone_meta\0.tt_zone_str";
    static const char texts[] = "load\0k.cc\0\"go\"\0x + 1";
    const uint32_t sites[] = {STROBE_ID27(3, 1), 0x1000, 0x1005, 40,
                              STROBE_ID27(3, 2), 0x100a, 0x1005, 41,
                              STROBE_ID27(3, 3), 0x2000, 0x1005, 42};
    Elf32_Ehdr head = {
        .e_shoff = 256, .e_shentsize = sizeof(Elf32_Shdr), .e_shnum = 4, .e_shstrndx = 1};
    Elf32_Shdr table[4] = {
        {0},
        {.sh_name = 1, .sh_offset = 64, .sh_size = sizeof names},
        {.sh_name = 11, .sh_offset = 128, .sh_size = sizeof sites},
        {.sh_name = 25, .sh_offset = 192, .sh_size = sizeof texts, .sh_addr = 0x1000}};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS32;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + 64, names, sizeof names);
    memcpy(bytes + 128, sites, sizeof sites);
    memcpy(bytes + 192, texts, sizeof texts);
    memcpy(bytes + 256, table, sizeof table);
    return 256 + sizeof table;
}

static void an_elf_file_names_its_sites(void **state)
{
    uint8_t bytes[512] = {0};
    struct found found = {0};
    struct strobe_device_names_out out = {&found, keep, 0};
    size_t n = make_elf(bytes);
    (void)state;
    assert_int_equal(strobe_device_names_elf(bytes, n, false, &out), STROBE_OK);
    assert_int_equal(found.n, 2);
    assert_int_equal(out.n_bad, 1); /* an address outside of the texts */
    assert_string_equal(found.name[0], "load");
    assert_string_equal(found.file[0], "k.cc");
    assert_int_equal(found.line[0], 40);
    assert_int_equal(found.id[0], STROBE_ID27(3, 1));
    assert_string_equal(found.name[1], "go");
    found.n = 0;
    assert_int_equal(strobe_device_names_elf(bytes, n, true, &out), STROBE_OK);
    assert_int_equal(found.id[0], strobe_device_names_hash("load,k.cc,40,KERNEL_PROFILER", 28));
}

static void a_cut_or_changed_elf_file_does_no_harm(void **state)
{
    uint8_t bytes[512] = {0}, *copy;
    struct found found = {0};
    struct strobe_device_names_out out = {&found, keep, 0};
    size_t n = make_elf(bytes);
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t length = i < (int)n ? (size_t)i : n;
        copy = malloc(length ? length : 1);
        assert_non_null(copy);
        memcpy(copy, bytes, length);
        if (i >= (int)n)
            copy[(random >> 33) % n] = (uint8_t)(random >> 20);
        found.n = 0;
        strobe_device_names_elf(copy, length, i & 1, &out);
        free(copy);
    }
}

/* A real log of an old device run, which is no part of the tree: its ids are the hashes of its names, files and lines. */
static void a_real_log_has_the_hashes_of_its_names(void **state)
{
    char path[4096], row[4096], text[4096];
    const char *shared = getenv("STROBE_SHARED");
    int n_rows = 0, n_known = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/data/tt/device_log/profile_log_device_13col_excerpt.csv",
             shared ? shared : "");
    FILE *file = shared ? fopen(path, "r") : NULL;
    if (!file) {
        print_message("STROBE_SHARED names no folder with it\n");
        skip();
    }
    while (fgets(row, sizeof row, file)) {
        char *fields[16], *at = row;
        int n = 0;
        for (; n < 16 && at; n++)
            fields[n] = strsep(&at, ",");
        if (n < 13 || !*fields[8] || *fields[4] < '0' || *fields[4] > '9')
            continue;
        int length = snprintf(text, sizeof text, "%s,%s,%s,KERNEL_PROFILER", fields[8], fields[11],
                              fields[10]);
        unsigned id = (unsigned)atoi(fields[4]);
        assert_int_equal(strobe_device_names_hash(text, (size_t)length), id);
        n_known += id == 22845 || id == 21766;
        n_rows++;
    }
    fclose(file);
    assert_true(n_rows > 0 && n_known > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_texts_of_real_logs_have_their_hashes),
        cmocka_unit_test(a_real_log_has_the_hashes_of_its_names),
        cmocka_unit_test(a_source_map_names_its_lines_and_counts_the_bad_ones),
        cmocka_unit_test(an_elf_file_names_its_sites),
        cmocka_unit_test(a_cut_or_changed_elf_file_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
