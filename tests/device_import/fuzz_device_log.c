/* fuzz_device_log.c - damaged and hostile device logs are imported without harm: no crash, no hang, bounded memory; and what was made of
 * them opens.  SPDX-License-Identifier: MIT */
#include "../fuzz/made.h"
#include "../fuzz/seeds.h"
#include "device_import/device_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct strobe_device_log_import result;
    if (strobe_device_log_import_bytes(data, n, made_path(), &result))
        return 0;
    made_check();
    return 0;
}
