/* perf_counters.hpp - stands for tt-metal's: nothing of it is used here.  SPDX-License-Identifier: MIT */
