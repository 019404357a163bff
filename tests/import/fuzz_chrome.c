/* fuzz_chrome.c - damaged and hostile JSON is imported without harm: no crash, no hang, bounded memory; and what was made of it
 * opens.  SPDX-License-Identifier: MIT */
#include "../fuzz/made.h"
#include "../fuzz/seeds.h"
#include "import/chrome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct strobe_timeline_result result;
    enum strobe_err err = strobe_chrome_import_bytes(data, n, made_path(), &result);
    if (err && !result.is_cut)
        return 0;
    made_check();
    return 0;
}
