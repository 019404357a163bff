/* qemu.h - backend `qemu`: real RISC-V cores, each a process of qemu-system-riscv32 with five harts.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_QEMU_QEMU_H
#define STROBE_DEVICE_QEMU_QEMU_H

#include "device/backend.h"

const struct strobe_device_backend *strobe_qemu_backend(void);

#endif
