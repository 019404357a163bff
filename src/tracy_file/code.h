/* code.h - records of a trace that a .tracy file has tables for and no event: functions of the program, their machine code,
 * source files, processors, names of notes of GPU zones, groups and others' threads.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_CODE_H
#define STROBE_TRACY_FILE_CODE_H

#include "base/err.h"
#include "query/texts.h"
#include "tracy_file/spool.h"

struct strobe_tracy_model;
struct strobe_tracy_out;

/* A function, by where it starts. */
struct strobe_tracy_function_row {
    uint32_t name, file, image, call_file; /* strings */
    uint32_t line, call_line, size;
    uint8_t is_inline;
};

/* Bytes of a function or of a source file, in code->bytes. */
struct strobe_tracy_bytes_row {
    uint64_t start;             /* of the function; of a file: where its path is */
    uint64_t at;                /* of the bytes */
    uint32_t n_path;            /* 0: machine code */
    uint32_t n_bytes, n_wanted; /* those that came, and as many as there are */
};

struct strobe_tracy_cpu_place {
    uint32_t package, die, core, thread;
};

/* What a note of GPU zones is called. */
struct strobe_tracy_note_name {
    uint32_t context; /* index in the model's facts */
    uint32_t name;    /* string */
    uint64_t note;
};

struct strobe_tracy_code {
    struct strobe_idmap function_ids;            /* (0, address as the file has it) */
    struct strobe_tracy_function_row *functions; /* owned: by index in function_ids */
    uint32_t functions_room;
    struct strobe_spool pieces, bytes;   /* struct strobe_tracy_bytes_row; bytes of all of them */
    uint64_t n_code, n_sources;          /* rows of pieces */
    struct strobe_tracy_cpu_place *cpus; /* owned */
    uint32_t n_cpus, cpus_room;
    struct strobe_tracy_note_name *notes; /* owned */
    uint32_t n_notes, notes_room;
};

/* Read all records of the trace that the model needs; after the threads are known, before strings are written. */
enum strobe_err strobe_tracy_code_gather(struct strobe_tracy_model *model, const char *folder);
void strobe_tracy_code_free(struct strobe_tracy_code *code);

/* Sections of the file: processors (the place for dies is there from 0.12 on); functions, those of frames too (0 without
 * memory); code and the addresses in it; source files. */
void strobe_tracy_put_cpus(struct strobe_tracy_model *model, struct strobe_tracy_out *out);
int strobe_tracy_put_functions(const struct strobe_tracy_model *model,
                               struct strobe_tracy_out *out);
void strobe_tracy_put_code(const struct strobe_tracy_model *model, struct strobe_tracy_out *out);
void strobe_tracy_put_sources(const struct strobe_tracy_model *model, struct strobe_tracy_out *out);

#endif
