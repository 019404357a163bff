/* fuzz_stacks.c - damaged and hostile files of stack samples are imported without harm: no crash, no hang, bounded memory; and what was made of one opens.
 * SPDX-License-Identifier: MIT */
#include "../fuzz/made.h"
#include "../fuzz/seeds.h"
#include "import/stacks_file.h"

/* What its bytes say it is; what says nothing goes to one of the readers too. */
static enum strobe_stacks_format format_of(const uint8_t *data, size_t n)
{
    enum strobe_stacks_format format = strobe_stacks_file_format(data, n);
    return format ? format : 1 + (enum strobe_stacks_format)(n % (STROBE_STACKS_N_FORMATS - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct strobe_stacks_result result;
    if (strobe_stacks_file_import_bytes(data, n, made_path(), format_of(data, n), &result))
        return 0;
    made_check();
    return 0;
}
