/* costs.h - what things cost on the simulated device, in its cycles. The NoC's figures are those measured on real boards (spec of
 * the streaming profiler), the markers' those counted under QEMU on rv32 with the same kernel header.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SIM_COSTS_H
#define STROBE_DEVICE_SIM_COSTS_H

#define STROBE_COST_NOC_ISSUE      40  /* cycles until the RISC goes on */
#define STROBE_COST_NOC_LATENCY_NS 231 /* from issue to the first byte at its end */
#define STROBE_COST_NOC_BYTES      64  /* per cycle and link */
#define STROBE_COST_NOC_BARRIER    12  /* a barrier with nothing on its way */
#define STROBE_COST_ATOMIC         40  /* a remote increment, until the RISC goes on */
#define STROBE_COST_RING_CALL      14  /* a call of a circular buffer that does not wait */
#define STROBE_COST_WAKE           20  /* from another RISC's store to the end of a polling loop */
#define STROBE_COST_LAUNCH         700 /* from the dispatcher's go to the first instruction of firmware */
#define STROBE_COST_LAUNCH_STEP    4   /* more for each core, as the go reaches it */
#define STROBE_COST_DONE           300 /* from the last core's end until the dispatcher knows */
#define STROBE_COST_UNPACK_TILE    64  /* one tile of 32 x 32 into the source registers */
#define STROBE_COST_MATH_TILE      64  /* element-wise, one tile */
#define STROBE_COST_MATMUL_TILE    256 /* one tile times one tile */
#define STROBE_COST_SFPU_TILE      192 /* a function of one tile */
#define STROBE_COST_PACK_TILE      64  /* one tile out of the destination registers */
#define STROBE_COST_REGISTERS      10  /* a step of the handshake of the destination registers */

/* Relay: a RISC of its own per bank of DRAM that reads the state of its cores in turn. */
#define STROBE_COST_RELAY_VISIT   300  /* read one core's state */
#define STROBE_COST_RELAY_FRAME   1500 /* build and send a frame */
#define STROBE_COST_RELAY_LINE    40   /* more per 64 bytes of it */
#define STROBE_COST_RELAY_IDLE_NS 5000 /* longest pause between two sweeps */

/* How far a RISC may run ahead of the others before it is stopped. */
#define STROBE_SIM_QUANTUM 120

#endif
