// rings.h - circular buffers, as kernels of all RISCs see them. SPDX-License-Identifier: MIT
#pragma once

#include "args.h"

enum class DataFormat : uint8_t { Float32 = 0, Float16_b = 5, UInt32 = 24, Invalid = 0xFF };

namespace tt
{
enum CBIndex : uint8_t {
    c_0,
    c_1,
    c_2,
    c_3,
    c_4,
    c_5,
    c_6,
    c_7,
    c_8,
    c_9,
    c_10,
    c_11,
    c_12,
    c_13,
    c_14,
    c_15,
    c_16,
    c_17,
    c_18,
    c_19,
    c_20,
    c_21,
    c_22,
    c_23,
    c_24,
    c_25,
    c_26,
    c_27,
    c_28,
    c_29,
    c_30,
    c_31,
    SIZE
};
using CB = CBIndex;
} // namespace tt

#if STROBE_SIM_RISC == 2
#define STROBE_SIM_WAIT_SUM DeviceZoneScopedSumN1("CB-COMPUTE-WAIT-FRONT");
#define STROBE_SIM_RESERVE_SUM
#elif STROBE_SIM_RISC == 4
#define STROBE_SIM_WAIT_SUM
#define STROBE_SIM_RESERVE_SUM DeviceZoneScopedSumN2("CB-COMPUTE-RESERVE-BACK");
#else
#define STROBE_SIM_WAIT_SUM
#define STROBE_SIM_RESERVE_SUM
#endif

// Which RISC does what: of the three that compute, TRISC_0 waits and pops, TRISC_2 reserves and pushes.
#define STROBE_SIM_CONSUMES (STROBE_SIM_RISC < 3)
#define STROBE_SIM_PRODUCES (STROBE_SIM_RISC < 2 || STROBE_SIM_RISC == 4)

inline void cb_wait_front(uint32_t cb, uint32_t n_pages)
{
    if (STROBE_SIM_CONSUMES) {
        STROBE_SIM_WAIT_SUM
        SYNC_WAIT("SYNC-CB-WAIT", cb);
        strobe_sim_call->ring_wait(cb, n_pages);
    }
}
inline void cb_pop_front(uint32_t cb, uint32_t n_pages)
{
    if (STROBE_SIM_CONSUMES) {
        SYNC_SIGNAL("SYNC-CB-POP", cb);
        strobe_sim_call->ring_pop(cb, n_pages);
    }
}
inline void cb_reserve_back(uint32_t cb, uint32_t n_pages)
{
    if (STROBE_SIM_PRODUCES) {
        STROBE_SIM_RESERVE_SUM
        SYNC_WAIT("SYNC-CB-RESERVE", cb);
        strobe_sim_call->ring_reserve(cb, n_pages);
    }
}
inline void cb_push_back(uint32_t cb, uint32_t n_pages)
{
    if (STROBE_SIM_PRODUCES) {
        SYNC_SIGNAL("SYNC-CB-PUSH", cb);
        strobe_sim_call->ring_push(cb, n_pages);
    }
}
inline bool cb_pages_available_at_front(uint32_t cb, uint32_t n_pages)
{
    return strobe_sim_self->rings[cb].n_pushed - strobe_sim_self->rings[cb].n_popped >= n_pages;
}
inline bool cb_pages_reservable_at_back(uint32_t cb, uint32_t n_pages)
{
    const struct strobe_sim_ring *ring = &strobe_sim_self->rings[cb];
    return ring->n_pages - (ring->n_pushed - ring->n_popped) >= n_pages;
}
inline uint32_t get_write_ptr(uint32_t cb)
{
    return strobe_sim_self->rings[cb].base + strobe_sim_self->rings[cb].write_offset;
}
inline uint32_t get_read_ptr(uint32_t cb)
{
    return strobe_sim_self->rings[cb].base + strobe_sim_self->rings[cb].read_offset;
}
inline uint32_t get_tile_size(uint32_t cb)
{
    return strobe_sim_self->rings[cb].page_bytes;
}
inline DataFormat get_dataformat(uint32_t cb)
{
    return (DataFormat)strobe_sim_self->rings[cb].format;
}
