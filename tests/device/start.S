# start.S - hart 0 of QEMU's virt machine, to kernel_main.  SPDX-License-Identifier: MIT
.section .text.start, "ax"
.globl _start
_start:
    csrr a0, mhartid
    bnez a0, 1f
    la sp, stack_top
    call kernel_main
1:  wfi
    j 1b
