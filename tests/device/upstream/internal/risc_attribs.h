/* risc_attribs.h - stands for tt-metal's: stubs.h.  SPDX-License-Identifier: MIT */
#include "../stubs.h"
