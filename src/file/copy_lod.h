/* copy_lod.h - inside file/: the heads of LOD blocks whose blocks were copied elsewhere (copy.c).  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_COPY_LOD_H
#define STROBE_FILE_COPY_LOD_H

#include "file/file_read.h"
#include "file/lod.h"

/* Where the EVENTS blocks of a trace are in the copy, in the order of both. All zero: none yet; free once. */
struct strobe_copy_lod {
    struct strobe_copy_moved {
        uint64_t from, to;
    } * moved; /* owned */
    uint32_t n, room;
    struct strobe_lod_reader reader;
    uint8_t *head; /* owned: the last one that was made */
    size_t n_head, head_room;
};

/* An EVENTS block is there. NOMEM. */
enum strobe_err strobe_copy_lod_moved(struct strobe_copy_lod *lod, uint64_t from, uint64_t to);

/* The head of a LOD block for the copy, in lod->head; processes get `proc_shift` more. NOMEM; NOTFOUND: not all of its blocks were
 * copied, or it can't be read: leave it out. */
enum strobe_err strobe_copy_lod_head(struct strobe_copy_lod *lod, const struct strobe_block *block,
                                     uint64_t proc_shift);
void strobe_copy_lod_free(struct strobe_copy_lod *lod);

#endif
