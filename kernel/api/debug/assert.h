// assert.h - checks of kernels: off, as on a device without its watcher. SPDX-License-Identifier: MIT
#pragma once
#define ASSERT(...)
