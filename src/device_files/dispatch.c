/* dispatch.c - commands of dispatch cores in the device log. A command is a zone CQ-DISPATCH…, and what it does stands in data inside of it:
 * its type, and in the first one of a program the program that it and those behind it work for. tt-metal's logs have both in the zone's name, and in the data's
 * meta column, and all rows belong to that program: so they wait until the zone ends.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "device_files/internal.h"

static const char *const types[] = {
    "CQ_DISPATCH_CMD_ILLEGAL",
    "CQ_DISPATCH_CMD_WRITE_LINEAR",
    "CQ_DISPATCH_CMD_WRITE_LINEAR_H",
    "CQ_DISPATCH_CMD_WRITE_LINEAR_H_HOST",
    "CQ_DISPATCH_CMD_WRITE_PAGED",
    "CQ_DISPATCH_CMD_WRITE_PACKED",
    "CQ_DISPATCH_CMD_WRITE_PACKED_LARGE",
    "CQ_DISPATCH_CMD_WAIT",
    "CQ_DISPATCH_CMD_SINK",
    "CQ_DISPATCH_CMD_DEBUG",
    "CQ_DISPATCH_CMD_DELAY",
    "CQ_DISPATCH_CMD_EXEC_BUF_END",
    "CQ_DISPATCH_CMD_SET_WRITE_OFFSET",
    "CQ_DISPATCH_CMD_TERMINATE",
    "CQ_DISPATCH_CMD_SEND_GO_SIGNAL",
    "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL",
};

enum { NOTIFY_GO = 15 }; /* the last command of a program */

static bool has(const struct strobe_device_files *files, const struct strobe_files_name *name,
                const char *word)
{
    return name && memmem(files->texts.at + name->name_at, name->n_name, word, strlen(word));
}

bool strobe_files_command_take(struct strobe_device_files *files,
                               struct strobe_files_command *command,
                               const struct strobe_files_marker *marker,
                               const struct strobe_files_name *name)
{
    bool is_command = has(files, name, "CQ-DISPATCH");
    if (!command->n && !(is_command && marker->packet == STROBE_CP_ZONE_START))
        return false;
    if (!command->n)
        command->type = command->worker = UINT32_MAX;
    if (marker->packet == STROBE_CP_DATA && has(files, name, "process_cmd"))
        command->type = (uint32_t)marker->data;
    if (marker->packet == STROBE_CP_DATA && has(files, name, "runtime_host_id"))
        command->worker = (uint32_t)marker->data;
    STROBE_ASSERT(command->n < STROBE_FILES_COMMAND_ROWS);
    command->rows[command->n++] = *marker;
    command->is_over = is_command && marker->packet == STROBE_CP_ZONE_END;
    return true;
}

bool strobe_files_command_is_over(const struct strobe_files_command *command)
{
    return command->is_over || command->n == STROBE_FILES_COMMAND_ROWS;
}

static uint64_t run_of(const struct strobe_device_files *files, uint32_t worker)
{
    return worker ? (uint64_t)worker << 10 | files->device : 0;
}

uint32_t strobe_files_command_name(const struct strobe_device_files *files,
                                   const struct strobe_files_command *command,
                                   char name[STROBE_FILES_COMMAND_TEXT])
{
    const struct strobe_files_marker *first = &command->rows[0];
    const struct strobe_files_name *zone =
        strobe_files_name(files, first->id, first->flags & STROBE_FILES_CLASSIC);
    const char *type = command->type < sizeof types / sizeof types[0] ? types[command->type] : "";
    uint32_t worker = command->worker == UINT32_MAX ? command->current : command->worker;
    STROBE_ASSERT(command->n > 0);
    int n = snprintf(name, STROBE_FILES_COMMAND_TEXT, "%.*s",
                     zone && zone->n_name < 128 ? (int)zone->n_name : 0,
                     zone ? files->texts.at + zone->name_at : "");
    if (*type && first->risc == 0)
        snprintf(name + n, STROBE_FILES_COMMAND_TEXT - (size_t)n, ":%llu:%s",
                 (unsigned long long)run_of(files, worker), type);
    else if (*type)
        snprintf(name + n, STROBE_FILES_COMMAND_TEXT - (size_t)n, ":%s", type);
    return worker;
}

void strobe_files_command_meta(const struct strobe_device_files *files,
                               const struct strobe_files_marker *marker,
                               const struct strobe_files_name *name,
                               char meta[STROBE_FILES_COMMAND_TEXT])
{
    meta[0] = 0;
    if (marker->packet != STROBE_CP_DATA)
        return;
    if (has(files, name, "process_cmd") && marker->data < sizeof types / sizeof types[0])
        snprintf(meta, STROBE_FILES_COMMAND_TEXT, "{\"dispatch_command_type\":\"%s\"}",
                 types[marker->data]);
    else if (has(files, name, "runtime_host_id"))
        snprintf(meta, STROBE_FILES_COMMAND_TEXT, "{\"workers_runtime_id\":%llu}",
                 (unsigned long long)run_of(files, (uint32_t)marker->data));
}

void strobe_files_command_end(struct strobe_files_command *command)
{
    if (command->worker != UINT32_MAX)
        command->current = command->worker;
    if (command->type == NOTIFY_GO)
        command->current = 0;
    command->n = 0;
}
