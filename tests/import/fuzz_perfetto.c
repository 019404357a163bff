/* fuzz_perfetto.c - damaged and hostile packets of Perfetto are imported without harm: no crash, no hang, bounded memory; and what was made of it
 * opens.  SPDX-License-Identifier: MIT */
#include "../fuzz/made.h"
#include "../fuzz/seeds.h"
#include "import/perfetto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct strobe_timeline_result result;
    strobe_perfetto_is_file(data, n);
    enum strobe_err err = strobe_perfetto_import_bytes(data, n, made_path(), &result);
    if (err && !result.is_cut)
        return 0;
    made_check();
    return 0;
}
