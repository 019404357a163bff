/* blocks.c - counts the instructions of every basic block of a compiled kernel. The compiler put a call in front of each block;
 * here the call's name gets the number of instructions that follow it, up to the next one, 64 at the most.
 * It reads assembly as text: a line that begins with a tab and a letter is an instruction, on any machine. A jump to itself, which is
 * all that compilers leave of an empty loop without an end, has no such call and gets one here: nothing comes behind it.
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "device_sim/build.h"

#define MARK "__sanitizer_cov_trace_pc"
#define MOST 64 /* cycles that one charge can name */

struct lines {
    char *text;  /* owned */
    char **line; /* owned: n of them, into text */
    uint32_t n, room;
};

static enum strobe_err read_lines(const char *path, struct lines *lines)
{
    FILE *file = fopen(path, "re");
    size_t bytes = 0, room = 0, got;
    if (!file)
        return STROBE_ERR_IO;
    enum strobe_err err;
    do {
        err = STROBE_ARRAY_RESERVE(lines->text, room, bytes + 65536);
        bytes += got = err ? 0 : fread(lines->text + bytes, 1, room - bytes - 1, file);
    } while (got);
    fclose(file);
    if (err)
        return err;
    lines->text[bytes] = 0;
    for (char *at = lines->text, *end; *at; at = end) {
        char **line = STROBE_ARRAY_PUSH(lines->line, lines->n, lines->room);
        if (!line)
            return STROBE_ERR_NOMEM;
        *line = at;
        end = strchr(at, '\n');
        if (!end)
            break;
        *end++ = 0;
    }
    return STROBE_OK;
}

static int is_instruction(const char *line)
{
    return line[0] == '\t' && isalpha((unsigned char)line[1]);
}

/* Instructions behind line `at` up to the next mark or the function's end. */
static uint32_t count_block(const struct lines *lines, uint32_t at)
{
    uint32_t n = 0;
    for (uint32_t i = at + 1; i < lines->n; i++) {
        const char *line = lines->line[i];
        if (strstr(line, MARK) || strncmp(line, "\t.size", 6) == 0)
            break;
        n += (uint32_t)is_instruction(line);
    }
    return n ? n : 1;
}

/* Whether line `at` jumps to the label right before it: `while (true);`. */
static int is_endless(const struct lines *lines, uint32_t at)
{
    char word[8], label[64];
    if (!is_instruction(lines->line[at]) ||
        sscanf(lines->line[at], " %7s %63[^ \t#]", word, label) != 2 ||
        (strcmp(word, "jmp") != 0 && strcmp(word, "b") != 0))
        return 0;
    size_t n = strlen(label);
    for (uint32_t i = at; i-- > 0 && !is_instruction(lines->line[i]);)
        if (strncmp(lines->line[i], label, n) == 0 && lines->line[i][n] == ':')
            return 1;
    return 0;
}

/* What such a jump is preceded by: a charge, on a stack as calls want it. */
static void put_endless(FILE *out)
{
#ifdef __aarch64__
    fprintf(out, "\tbl\tstrobe_charge_1\n");
#else
    fprintf(out, "\tandq\t$-16, %%rsp\n\tcall\tstrobe_charge_1\n");
#endif
}

enum strobe_err strobe_sim_blocks_charge(const char *from, const char *to, char *reason)
{
    struct lines lines = {0};
    enum strobe_err err = read_lines(from, &lines);
    FILE *out = err ? NULL : fopen(to, "we");
    for (uint32_t i = 0; out && i < lines.n; i++) {
        char *line = lines.line[i], *mark = strstr(line, MARK);
        if (!mark || !is_instruction(line)) {
            if (is_endless(&lines, i))
                put_endless(out);
            fprintf(out, "%s\n", line);
            continue;
        }
        uint32_t n = count_block(&lines, i);
        *mark = 0;
        for (; n > MOST; n -= MOST)
            fprintf(out, "%sstrobe_charge_%d%s\n", line, MOST, mark + strlen(MARK));
        fprintf(out, "%sstrobe_charge_%u%s\n", line, n, mark + strlen(MARK));
    }
    if (!out || fclose(out)) {
        snprintf(reason, STROBE_DEVICE_REASON_BYTES, "can't count the blocks of %s", from);
        err = err ? err : STROBE_ERR_IO;
    }
    free(lines.line);
    free(lines.text);
    return err;
}
