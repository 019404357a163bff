/* log_row.c - see the header.  SPDX-License-Identifier: MIT */
#include "device_files/log_row.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "strobe_device_words.h"

#define COLUMNS(s)                                                                          \
    "PCIe slot" s "core_x" s "core_y" s "RISC processor type" s "timer_id" s                \
    "time[cycles since reset]" s "data" s "run host ID" s "trace id" s "trace id counter" s \
    "zone name" s "type" s "source line" s "source file" s "meta data"

static void put_head(struct strobe_out *out, const char *arch, uint32_t mhz, uint32_t max_cores)
{
    strobe_out_text(out, "ARCH: ");
    strobe_out_text(out, arch);
    strobe_out_text(out, ", CHIP_FREQ[MHz]: ");
    strobe_out_u(out, mhz);
    strobe_out_text(out, ", Max Compute Cores: ");
    strobe_out_u(out, max_cores);
    strobe_out_char(out, '\n');
}

void strobe_device_log_row_head(struct strobe_out *out, const char *arch, uint32_t mhz,
                                uint32_t max_cores)
{
    put_head(out, arch, mhz, max_cores);
    strobe_out_text(out, COLUMNS(", ") "\n");
}

/* Text in a cell: what would end the cell or the line is replaced. */
static void put_cell(struct strobe_out *out, const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t plain = 0;
        while (at + plain < n && text[at + plain] != ',' && (unsigned char)text[at + plain] >= ' ')
            plain++;
        strobe_out_bytes(out, text + at, plain);
        at += plain;
        if (at < n)
            strobe_out_char(out, text[at++] == ',' ? ';' : ' ');
    }
}

static void put_u(struct strobe_out *out, uint64_t value, const char *separator)
{
    strobe_out_u(out, value);
    strobe_out_text(out, separator);
}

static void put_where(struct strobe_out *out, const struct strobe_device_log_row *row,
                      const char *separator)
{
    STROBE_ASSERT(row->risc && separator[0]);
    put_u(out, row->device, separator);
    put_u(out, row->x, separator);
    put_u(out, row->y, separator);
    strobe_out_text(out, row->risc);
    strobe_out_text(out, separator);
    put_u(out, row->timer, separator);
    put_u(out, row->time, separator);
    put_u(out, row->data, separator);
}

void strobe_device_log_row_write(struct strobe_out *out, const struct strobe_device_log_row *row)
{
    STROBE_ASSERT(row->risc && row->type && row->meta);
    put_where(out, row, ",");
    put_u(out, row->run, ",");
    if (row->is_traced)
        strobe_out_u(out, row->trace);
    strobe_out_char(out, ',');
    if (row->is_traced)
        strobe_out_u(out, row->counter);
    strobe_out_char(out, ',');
    put_cell(out, row->name, row->n_name);
    strobe_out_char(out, ',');
    strobe_out_text(out, row->type);
    strobe_out_char(out, ',');
    put_u(out, row->line, ",");
    put_cell(out, row->file, row->n_file);
    strobe_out_char(out, ',');
    strobe_out_text(out, row->meta);
    strobe_out_char(out, '\n');
}

/* ---- the zone file ---- */

void strobe_device_log_row_zone_head(struct strobe_out *out, const char *arch, uint32_t mhz)
{
    put_head(out, arch, mhz, 0);
    strobe_out_text(out, COLUMNS(", ") ", logical_x, logical_y\n");
}

/* FNV-1a of the name, its low 27 bits, and bit 27. */
static uint32_t zone_timer(const char *name, size_t n)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash & 0x7ffffff) | 1u << 27;
}

/* Names that have a number of their own, and then no name and no program in the line. */
static uint32_t sync_timer(const char *name, size_t n)
{
    static const struct {
        const char *name;
        uint32_t timer;
    } known[] = {{"SYNC-CB-PUSH", 1000},        {"SYNC-SEM-SET", 1003},
                 {"SYNC-SEM-SET-REMOTE", 1004}, {"SYNC-SEM-WAIT-KEY", 1007},
                 {"SYNC-CB-WAIT-KEY", 1008},    {"SYNC-CB-RESERVE-KEY", 1009},
                 {"SYNC-CB-POP", 1010}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == n && !memcmp(known[i].name, name, n))
            return known[i].timer;
    return 0;
}

void strobe_device_log_row_zone_write(struct strobe_out *out,
                                      const struct strobe_device_log_row *row, uint32_t pid,
                                      uint32_t program)
{
    struct strobe_device_log_row mine = *row;
    uint32_t sync = sync_timer(row->name, row->n_name);
    STROBE_ASSERT(row->name && row->type);
    mine.timer = sync ? sync : zone_timer(row->name, row->n_name);
    put_where(out, &mine, ", ");
    put_u(out, pid, ", ");
    if (!sync)
        strobe_out_u(out, program);
    strobe_out_text(out, ", 0, ");
    if (!sync)
        put_cell(out, row->name, row->n_name);
    strobe_out_text(out, ", ");
    strobe_out_text(out, row->type);
    strobe_out_text(out, ", 0, streaming, , ");
    put_u(out, row->logical_x, ", ");
    put_u(out, row->logical_y, "\n");
}

/* ---- names ---- */

const char *strobe_device_log_type(uint32_t packet)
{
    static const char *const names[] = {"ZONE_START", "ZONE_END", "ZONE_TOTAL",
                                        "TS_DATA",    "TS_EVENT", "TS_DATA"};
    STROBE_ASSERT(packet < sizeof names / sizeof names[0]);
    return names[packet];
}

const char *strobe_device_log_arch(uint32_t arch)
{
    static const char *const names[] = {"unknown", "grayskull", "wormhole_b0", "blackhole",
                                        "quasar",  "sim",       "rv32"};
    return names[arch < sizeof names / sizeof names[0] ? arch : 0];
}

const char *strobe_device_log_risc(uint32_t core_kind, uint32_t n_riscs, uint32_t risc,
                                   char room[24])
{
    static const char *const tensix[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
    if (core_kind == STROBE_CORE_ETH)
        return risc ? "ERISC_1" : "ERISC";
    if (n_riscs <= 5 && risc < 5)
        return tensix[risc];
    if (risc < 8)
        snprintf(room, 24, "QUASAR_DM%u", risc);
    else
        snprintf(room, 24, "QUASAR_NEO%u_TRISC%u", (risc - 8) / 4, (risc - 8) % 4);
    return room;
}
