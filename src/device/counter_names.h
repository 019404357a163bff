/* counter_names.h - names of the hardware counters by their number.  SPDX-License-Identifier: MIT
 */
#ifndef STROBE_DEVICE_COUNTER_NAMES_H
#define STROBE_DEVICE_COUNTER_NAMES_H

#include <stdint.h>

/* The name of counter type 0..180; NULL beyond. */
const char *strobe_device_counter_name(uint64_t number);

#endif
