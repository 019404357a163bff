// objects.h - the objects that newer kernels use to move data: Noc, endpoints, memory of the core, Semaphore. Each call is one of the
// plain functions. SPDX-License-Identifier: MIT
#pragma once

#include "objects_rings.h"

// A circular buffer by its read or its write pointer, whichever way it is used.
template <CircularBuffer::AddrSelector Which> struct CircularBufferView {
    const CircularBuffer &cb;
    uint32_t address() const
    {
        return Which == CircularBuffer::AddrSelector::READ_PTR ? cb.get_read_ptr()
                                                               : cb.get_write_ptr();
    }
};
template <CircularBuffer::AddrSelector Which>
constexpr CircularBufferView<Which> use(const CircularBuffer &cb)
{
    return CircularBufferView<Which>{cb};
}

struct UnicastEndpoint {
};
struct MulticastEndpoint {
};
struct PrecomposedUnicastEndpoint {
};
enum class AllocatorBankType { L1, DRAM };
template <AllocatorBankType> struct AllocatorBank {
};

// Memory of this core by its address: a pointer that says what it is.
template <typename T, typename Address = uintptr_t> class CoreLocalMem
{
  public:
    CoreLocalMem(Address address) : address_(address) {}
    CoreLocalMem(T *pointer) : address_((Address)(uintptr_t)pointer) {}
    T *get_unsafe_ptr() const
    {
        return (T *)(uintptr_t)(address_ < STROBE_SIM_L1_SLOT ? address_ + strobe_sim_self->l1
                                                              : address_);
    }
    Address get_address() const
    {
        return address_;
    }
    T &operator[](uint32_t index) const
    {
        return get_unsafe_ptr()[index];
    }
    T &operator*() const
    {
        return *get_unsafe_ptr();
    }
    T *operator->() const
    {
        return get_unsafe_ptr();
    }
    CoreLocalMem &operator+=(ptrdiff_t n)
    {
        address_ += (Address)n * sizeof(T);
        return *this;
    }
    CoreLocalMem &operator++()
    {
        return *this += 1;
    }
    CoreLocalMem operator+(ptrdiff_t n) const
    {
        return CoreLocalMem(*this) += n;
    }

  private:
    Address address_;
};

// Where in a source or target: which of these counts depends on what it is.
struct strobe_sim_place {
    uint32_t page_id = 0;
    uint32_t bank_id = 0;
    uint32_t noc_x = 0, noc_y = 0;
    uint32_t noc_x_start = 0, noc_y_start = 0, noc_x_end = 0, noc_y_end = 0;
    uint64_t noc_addr = 0;
    uint32_t addr = 0;
    uint32_t offset_bytes = 0;
};
template <typename T> struct noc_traits_t {
    using src_args_type = strobe_sim_place;
    using dst_args_type = strobe_sim_place;
    using dst_args_mcast_type = strobe_sim_place;
};

enum class NocOptions : uint32_t {
    DEFAULT = 0,
    TXN_ID = 1,
    POSTED = 2,
    CUSTOM_VC = 4,
    MCAST_INCL_SRC = 8,
    INLINE_L1 = 16,
    INLINE_REG = 32
};
constexpr NocOptions operator|(NocOptions a, NocOptions b)
{
    return (NocOptions)((uint32_t)a | (uint32_t)b);
}
constexpr bool has_flag(NocOptions options, NocOptions flag)
{
    return ((uint32_t)options & (uint32_t)flag) != 0;
}
struct NocOptVals {
    uint32_t vc = 1;
    uint32_t trid = 0;
};

class Noc
{
  public:
    Noc() = default;
    explicit Noc(uint32_t noc) : noc_((uint8_t)noc) {}
    uint8_t get_noc_id() const
    {
        return noc_;
    }

    template <NocOptions = NocOptions::DEFAULT, uint32_t = NOC_MAX_BURST_SIZE + 1, bool = true,
              typename Source, typename Target>
    void async_read(const Source &source, const Target &target, uint32_t bytes,
                    const strobe_sim_place &from = {}, const strobe_sim_place &to = {},
                    const NocOptVals & = {}) const
    {
        noc_async_read(remote(source, from), local(target, to, true), bytes, noc_);
    }
    template <NocOptions Options = NocOptions::DEFAULT, uint32_t = NOC_MAX_BURST_SIZE + 1,
              bool = true, typename Source, typename Target>
    void async_write(const Source &source, const Target &target, uint32_t bytes,
                     const strobe_sim_place &from = {}, const strobe_sim_place &to = {},
                     const NocOptVals & = {}) const
    {
        noc_async_write(local(source, from, false), remote(target, to), bytes, noc_);
    }
    template <NocOptions Options = NocOptions::DEFAULT, uint32_t = NOC_MAX_BURST_SIZE + 1,
              bool = true, typename Source, typename Target>
    void async_write_multicast(const Source &source, const Target &target, uint32_t bytes,
                               uint32_t n_cores, const strobe_sim_place &from,
                               const strobe_sim_place &to, bool linked = false) const
    {
        uint64_t address = get_noc_multicast_addr(to.noc_x_start, to.noc_y_start, to.noc_x_end,
                                                  to.noc_y_end, cast_to(target, to));
        if (has_flag(Options, NocOptions::MCAST_INCL_SRC))
            noc_async_write_multicast_loopback_src(local(source, from, false), address, bytes,
                                                   n_cores, linked, true, noc_);
        else
            noc_async_write_multicast(local(source, from, false), address, bytes, n_cores, linked,
                                      true, noc_);
    }
    template <NocOptions = NocOptions::DEFAULT, typename Target>
    void inline_dw_write(const Target &target, uint32_t value, const strobe_sim_place &to = {},
                         uint8_t enables = 0xF, const NocOptVals & = {}) const
    {
        noc_inline_dw_write(remote(target, to), value, enables, noc_);
    }
    template <NocOptions = NocOptions::DEFAULT>
    void async_read_barrier(const NocOptVals & = {}) const
    {
        noc_async_read_barrier(noc_);
    }
    template <NocOptions = NocOptions::DEFAULT>
    void async_write_barrier(const NocOptVals & = {}) const
    {
        noc_async_write_barrier(noc_);
    }
    template <NocOptions = NocOptions::DEFAULT>
    void async_writes_flushed(const NocOptVals & = {}) const
    {
        noc_async_writes_flushed(noc_);
    }
    void async_atomic_barrier() const
    {
        noc_async_atomic_barrier(noc_);
    }
    void async_full_barrier() const
    {
        noc_async_full_barrier(noc_);
    }

  private:
    template <typename Generator>
    static auto remote(const Generator &generator, const strobe_sim_place &place)
        -> decltype(generator.get_noc_addr(place.page_id, place.offset_bytes))
    {
        return generator.get_noc_addr(place.page_id, place.offset_bytes);
    }
    static uint64_t remote(const UnicastEndpoint &, const strobe_sim_place &place)
    {
        return ::get_noc_addr(place.noc_x, place.noc_y, place.addr);
    }
    static uint64_t remote(const PrecomposedUnicastEndpoint &, const strobe_sim_place &place)
    {
        return place.noc_addr;
    }
    template <AllocatorBankType Type>
    static uint64_t remote(const AllocatorBank<Type> &, const strobe_sim_place &place)
    {
        return get_noc_addr_from_bank_id<Type == AllocatorBankType::DRAM>(place.bank_id,
                                                                          place.addr);
    }
    static uint32_t local(const CircularBuffer &buffer, const strobe_sim_place &place, bool writes)
    {
        return (writes ? buffer.get_write_ptr() : buffer.get_read_ptr()) + place.offset_bytes;
    }
    template <CircularBuffer::AddrSelector Which>
    static uint32_t local(const CircularBufferView<Which> &view, const strobe_sim_place &place,
                          bool)
    {
        return view.address() + place.offset_bytes;
    }
    template <typename T, typename Address>
    static uint32_t local(const CoreLocalMem<T, Address> &memory, const strobe_sim_place &place,
                          bool)
    {
        return (uint32_t)memory.get_address() + place.offset_bytes;
    }
    static uint32_t local(const UnicastEndpoint &, const strobe_sim_place &place, bool)
    {
        return place.addr;
    }
    static uint32_t cast_to(const MulticastEndpoint &, const strobe_sim_place &place)
    {
        return place.addr;
    }
    template <typename Target>
    static uint32_t cast_to(const Target &target, const strobe_sim_place &place)
    {
        return local(target, place, true);
    }
    uint8_t noc_ = (uint8_t)strobe_sim_self->noc;
};

enum class ProgrammableCoreType { TENSIX, ACTIVE_ETH, IDLE_ETH };

// A word of L1, at the same offset on every core that has it.
template <ProgrammableCoreType = ProgrammableCoreType::TENSIX> class Semaphore
{
  public:
    explicit Semaphore(uint32_t id) : address_(get_semaphore(id)) {}
    void up(uint32_t by = 1) const
    {
        set(*pointer() + by);
    }
    void up(const Noc &noc, uint32_t x, uint32_t y, uint32_t by = 1, uint8_t = 0) const
    {
        noc_semaphore_inc(get_noc_addr(x, y, address_), by, noc.get_noc_id());
    }
    void down(uint32_t by = 1) const
    {
        noc_semaphore_wait_min(pointer(), by);
        set(*pointer() - by);
    }
    void wait(uint32_t value) const
    {
        noc_semaphore_wait(pointer(), value);
    }
    void wait_min(uint32_t value) const
    {
        noc_semaphore_wait_min(pointer(), value);
    }
    void set(uint32_t value) const
    {
        noc_semaphore_set(pointer(), value);
    }
    uint32_t value() const
    {
        return *pointer();
    }
    template <NocOptions Options = NocOptions::DEFAULT>
    void set_multicast(const Noc &noc, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
                       uint32_t n, bool linked = false) const
    {
        relay_multicast<Options>(noc, *this, x0, y0, x1, y1, n, linked);
    }
    // This one's value to another one, of one core or of many.
    template <ProgrammableCoreType Other>
    void relay_unicast(const Noc &noc, const Semaphore<Other> &to, uint32_t x, uint32_t y) const
    {
        noc_semaphore_set_remote(address_, get_noc_addr(x, y, to.get_address()), noc.get_noc_id());
    }
    template <NocOptions Options = NocOptions::DEFAULT, ProgrammableCoreType Other>
    void relay_multicast(const Noc &noc, const Semaphore<Other> &to, uint32_t x0, uint32_t y0,
                         uint32_t x1, uint32_t y1, uint32_t n, bool linked = false) const
    {
        uint64_t address = get_noc_multicast_addr(x0, y0, x1, y1, to.get_address());
        if (has_flag(Options, NocOptions::MCAST_INCL_SRC))
            noc_semaphore_set_multicast_loopback_src(address_, address, n, linked, true,
                                                     noc.get_noc_id());
        else
            noc_semaphore_set_multicast(address_, address, n, linked, true, noc.get_noc_id());
    }
    uint32_t get_address() const
    {
        return address_;
    }

  private:
    volatile uint32_t *pointer() const
    {
        return (volatile uint32_t *)(uintptr_t)address_;
    }
    uint32_t address_;
};
