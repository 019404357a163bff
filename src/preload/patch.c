/* patch.c - functions of programs that were built with clang's -fxray-instrument.
 *
 * Such a program has room at the begin and at each end of its functions, a sled, and a list of them, the section xray_instr_map. A sled is
 * skipped until it is patched; that is done here, before main, for the functions that the user asked for, and for none else. What is
 * written is what XRay's own runtime would write (the ABI of its sleds, version 2 and those before), with our entries in the place of its:
 *
 *     begin, tail call   eb 09 ...(9)   jmp over it   ─►   41 ba NUMBER   mov $NUMBER, %r10d
 *                                                          e8 DISTANCE    call, by a stub near the program, sled_enter or sled_tail
 *     end                c3 ...(10)     ret           ─►   41 ba NUMBER   mov $NUMBER, %r10d
 *                                                          e9 DISTANCE    jmp, likewise, to sled_exit, which returns to the caller
 *
 * The first two bytes are written last and at once: a thread that runs there meanwhile sees the old sled or the new one. Returns are not
 * touched: stacks look as they did to unwinders, exceptions and longjmp. A sled that does not look as expected stays as it is.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/functions.h"
#include "preload/preload.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* OFFSET SIZE, of the section xray_instr_map
 *      0    8  address    of the sled; from version 2 on its distance from this field
 *      8    8  function   likewise
 *     16    1  kind
 *     17    1  always
 *     18    1  version
 *     19   13  -  */
struct sled {
    uint64_t address, function;
    uint8_t kind, always, version, rest[13];
};
_Static_assert(sizeof(struct sled) == 32 && offsetof(struct sled, kind) == 16, "XRay's ABI");

enum { SLED_ENTER = 0, SLED_EXIT = 1, SLED_TAIL = 2, SLED_ENTER_ARGUMENTS = 3 };
enum { SLED_BYTES = 11, STUB_BYTES = 16, PAGE = 4096 };
#define NEAR (1ull << 30) /* how far a stub may be: well within 31 bits */

static uint64_t *numbers; /* owned: NUMBER of a sled to its function's address */
static uint32_t n_numbers, numbers_room;

/* What the sleds come to; see below. `frame`: where the return address is. */
void strobe_sled_enter(void);
void strobe_sled_exit(void);
void strobe_sled_tail(void);

__attribute__((used)) static void enter_sled(uint32_t number, const uint64_t *frame)
{
    strobe_function_enter(numbers[number], (uint64_t)(uintptr_t)frame, 1, frame[0]);
}

__attribute__((used)) static void exit_sled(uint32_t number, const uint64_t *frame)
{
    strobe_function_exit(numbers[number], (uint64_t)(uintptr_t)frame);
}

/* All registers that may hold arguments or results are saved; functions.c leaves the others alone. With nobody recording the gate is all that
 * is looked at. `above`: bytes between the stack pointer and the function's return address. */
#define SLED(name, run, above)                                                                    \
    __asm__(".text\n"                                                                             \
            ".type " name ", @function\n" name ":\n"                                              \
            "\t.cfi_startproc\n\t.cfi_def_cfa_offset 8 + " above "\n\tendbr64\n"                  \
            "\tmovq strobe_gate_now@GOTPCREL(%rip), %r11\n\tmovq (%r11), %r11\n"                  \
            "\tcmpl $0, (%r11)\n\tjne 1f\n\tret\n1:\n"                                            \
            "\tpushq %rax\n\tpushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tpushq %rcx\n\tpushq %r8\n" \
            "\tpushq %r9\n\tpushq %r10\n\t.cfi_adjust_cfa_offset 64\n"                            \
            "\tleaq 64 + " above "(%rsp), %rsi\n\tmovl %r10d, %edi\n"                             \
            "\tpushq %rbp\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rbp, 0\n"               \
            "\tmovq %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n\tandq $-16, %rsp\n"                \
            "\tcall " run "\n"                                                                    \
            "\tmovq %rbp, %rsp\n\t.cfi_def_cfa_register %rsp\n"                                   \
            "\tpopq %rbp\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_same_value %rbp\n"                  \
            "\tpopq %r10\n\tpopq %r9\n\tpopq %r8\n\tpopq %rcx\n\tpopq %rdx\n\tpopq %rsi\n"        \
            "\tpopq %rdi\n\tpopq %rax\n\t.cfi_adjust_cfa_offset -64\n\tret\n"                     \
            "\t.cfi_endproc\n\t.size " name ", . - " name "\n")
SLED("strobe_sled_enter", "enter_sled", "8");
SLED("strobe_sled_tail", "exit_sled", "8");
SLED("strobe_sled_exit", "exit_sled", "0");

/* ---- stubs: the way from a sled to this library, which may lie too far away ---- */

struct stubs {
    uint64_t enter, exit, tail; /* addresses; 0: there is no room near the program */
};

static uint64_t put_stub(uint8_t *at, void (*to)(void))
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &to, sizeof to);
    return (uint64_t)(uintptr_t)at;
}

static struct stubs make_stubs(uint64_t low)
{
    enum { STEP = 1 << 20 };
    struct stubs stubs = {0};
    uint8_t *page = MAP_FAILED;
    for (uint64_t away = STEP; away < NEAR && away < low && page == MAP_FAILED; away += STEP)
        page =
            mmap((void *)(uintptr_t)((low - away) & ~(uint64_t)(PAGE - 1)), PAGE,
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED)
        return stubs;
    stubs.enter = put_stub(page, strobe_sled_enter);
    stubs.exit = put_stub(page + STUB_BYTES, strobe_sled_exit);
    stubs.tail = put_stub(page + 2 * STUB_BYTES, strobe_sled_tail);
    if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
        stubs.enter = 0;
    return stubs;
}

/* ---- sleds ---- */

static uint64_t address_of(const struct sled *sled)
{
    return sled->address + (sled->version >= 2 ? (uint64_t)(uintptr_t)&sled->address : 0);
}

static uint64_t function_of(const struct sled *sled)
{
    return sled->function + (sled->version >= 2 ? (uint64_t)(uintptr_t)&sled->function : 0);
}

/* Whether it is as the compiler made it. */
static bool is_whole(const uint8_t *at, bool is_exit)
{
    return is_exit ? at[0] == 0xc3 : at[0] == 0xeb && at[1] == SLED_BYTES - 2;
}

static bool patch_sled(const struct sled *sled, uint32_t number, const struct stubs *stubs)
{
    uint8_t *at = (uint8_t *)(uintptr_t)address_of(sled), code[SLED_BYTES] = {0x41, 0xba};
    bool is_exit = sled->kind == SLED_EXIT;
    uint64_t to = is_exit ? stubs->exit : sled->kind == SLED_TAIL ? stubs->tail : stubs->enter;
    int64_t distance = (int64_t)(to - (uint64_t)(uintptr_t)at - SLED_BYTES);
    int32_t near = (int32_t)distance;
    if (!is_whole(at, is_exit) || near != distance || (uintptr_t)at % 2)
        return false;
    memcpy(code + 2, &number, sizeof number);
    code[6] = is_exit ? 0xe9 : 0xe8;
    memcpy(code + 7, &near, sizeof near);
    memcpy(at + 2, code + 2, sizeof code - 2);
    uint16_t first;
    memcpy(&first, code, sizeof first);
    __atomic_store_n((uint16_t *)(void *)at, first, __ATOMIC_SEQ_CST);
    return true;
}

/* A number for a function; false: no room. */
static bool number_of(uint64_t function, uint32_t *out)
{
    if (n_numbers && numbers[n_numbers - 1] == function) {
        *out = n_numbers - 1;
        return true;
    }
    if (n_numbers == numbers_room)
        return false;
    numbers[ *out = n_numbers++] = function;
    return true;
}

/* Sleds lie between these, in code that is the file's. */
struct section {
    const struct sled *sleds;
    uint64_t n, low, high;
};

static bool is_usual(const struct sled *sled)
{
    return sled->kind <= SLED_ENTER_ARGUMENTS && sled->version <= 2;
}

static void patch_wanted(const struct section *section, const struct stubs *stubs)
{
    uint64_t last = 0;
    bool is_wanted = false;
    uint32_t number;
    for (uint64_t i = 0; i < section->n; i++) {
        const struct sled *sled = &section->sleds[i];
        uint64_t function = function_of(sled);
        if (!is_usual(sled) || address_of(sled) < section->low ||
            address_of(sled) + SLED_BYTES > section->high)
            continue;
        if (function != last)
            is_wanted = strobe_function_is_wanted_at(function);
        last = function;
        if (is_wanted && number_of(function, &number) && patch_sled(sled, number, stubs))
            strobe_function_is_patched = 1;
    }
}

/* A file that is loaded: its code, and its sleds, if it has some. */
static int patch_file(struct dl_phdr_info *file, size_t size, void *context)
{
    struct section section = {0};
    uint64_t n_bytes = 0, start = 0;
    bool *is_refused = context;
    (void)size;
    for (int i = 0; i < file->dlpi_phnum; i++)
        if (file->dlpi_phdr[i].p_type == PT_LOAD && file->dlpi_phdr[i].p_flags & PF_X) {
            section.low = file->dlpi_addr + file->dlpi_phdr[i].p_vaddr;
            section.high = section.low + file->dlpi_phdr[i].p_filesz;
        }
    if (!section.low || !strobe_function_section(section.low, "xray_instr_map", &start, &n_bytes))
        return 0;
    section.sleds = (const struct sled *)(uintptr_t)start;
    section.n = n_bytes / sizeof *section.sleds;
    uint64_t low = section.low & ~(uint64_t)(PAGE - 1), n_code = section.high - low;
    struct stubs stubs = make_stubs(low);
    numbers_room = n_numbers + (uint32_t)section.n;
    uint64_t *grown = strobe_preload_map(numbers_room * sizeof *numbers);
    if (grown && numbers)
        memcpy(grown, numbers, n_numbers * sizeof *numbers);
    numbers = grown ? grown : numbers;
    if (!grown || !stubs.enter ||
        mprotect((void *)(uintptr_t)low, n_code, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        numbers_room = n_numbers;
        *is_refused = true;
        return 0;
    }
    patch_wanted(&section, &stubs);
    mprotect((void *)(uintptr_t)low, n_code, PROT_READ | PROT_EXEC);
    return 0;
}

static bool saves_vectors(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE;
}

bool strobe_preload_patch(void)
{
    bool is_refused = false;
    if (getenv("STROBE_ZONES") && saves_vectors())
        dl_iterate_phdr(patch_file, &is_refused);
    return !is_refused;
}

#else

bool strobe_preload_patch(void)
{
    return true;
}

#endif
