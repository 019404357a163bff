/* bpf_code.h - a program for the kernel's virtual machine (BPF), put together instruction by instruction, and its maps. No compiler is
 * needed, neither to build nor to record. Inside src/sample only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_BPF_CODE_H
#define STROBE_SAMPLE_BPF_CODE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

enum { INSNS_MAX = 160 };

struct code {
    struct bpf_insn insns[INSNS_MAX];
    int n;
    int to_end[16], n_to_end; /* jumps to the program's end */
};

static inline void put(struct code *c, int op, int dst, int src, int offset, int imm)
{
    STROBE_ASSERT(c->n < INSNS_MAX);
    c->insns[c->n++] = (struct bpf_insn){.code = (uint8_t)op,
                                         .dst_reg = (uint8_t)dst & 15,
                                         .src_reg = (uint8_t)src & 15,
                                         .off = (int16_t)offset,
                                         .imm = imm};
}

static inline void put_map(struct code *c, int dst, int fd)
{
    put(c, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd);
    put(c, 0, 0, 0, 0, 0);
}

static inline void move(struct code *c, int dst, int src)
{
    put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static inline void set(struct code *c, int dst, int value)
{
    put(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

static inline void add(struct code *c, int dst, int value)
{
    put(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}

static inline void call(struct code *c, int function)
{
    put(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

static inline void load(struct code *c, int dst, int src, int offset)
{
    put(c, BPF_LDX | BPF_MEM | BPF_DW, dst, src, offset, 0);
}

static inline void store(struct code *c, int dst, int offset, int src)
{
    put(c, BPF_STX | BPF_MEM | BPF_DW, dst, src, offset, 0);
}

/* A jump whose target comes later: land() says where. */
static inline int jump(struct code *c, int condition, int dst, int value)
{
    put(c, BPF_JMP | condition | BPF_K, dst, 0, 0, value);
    return c->n - 1;
}

static inline void land(struct code *c, int from)
{
    c->insns[from].off = (int16_t)(c->n - from - 1);
}

static inline int bpf(int command, union bpf_attr *attr, size_t n_bytes)
{
    return (int)syscall(SYS_bpf, command, attr, n_bytes);
}

static inline int make_map(uint32_t type, uint32_t key_bytes, uint32_t value_bytes, uint32_t most,
                           uint32_t flags)
{
    union bpf_attr attr = {.map_type = type,
                           .key_size = key_bytes,
                           .value_size = value_bytes,
                           .max_entries = most,
                           .map_flags = flags};
    return bpf(BPF_MAP_CREATE, &attr, sizeof attr);
}

static inline int load_code(const struct code *code, uint32_t type, const char *name)
{
    union bpf_attr attr = {.prog_type = type,
                           .insn_cnt = (uint32_t)code->n,
                           .insns = (uintptr_t)code->insns,
                           .license = (uintptr_t) "Dual MIT/GPL"};
    strncpy(attr.prog_name, name, sizeof attr.prog_name - 1);
    return bpf(BPF_PROG_LOAD, &attr, sizeof attr);
}

static inline bool put_entry(int map, const void *key, const void *value)
{
    union bpf_attr attr = {.map_fd = (uint32_t)map, .key = (uintptr_t)key, .flags = BPF_ANY};
    attr.value = (uintptr_t)value;
    return !bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof attr);
}

#endif
