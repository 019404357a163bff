// objects.h - the objects that newer kernels use: Noc, CircularBuffer or DataflowBuffer, Semaphore, endpoints. Each call is one of the
// plain functions. SPDX-License-Identifier: MIT
#pragma once

class CircularBuffer
{
  public:
    explicit constexpr CircularBuffer(uint32_t cb) : cb_(cb) {}
    void reserve_back(uint32_t n_pages) const
    {
        cb_reserve_back(cb_, n_pages);
    }
    void push_back(uint32_t n_pages) const
    {
        cb_push_back(cb_, n_pages);
    }
    void wait_front(uint32_t n_pages) const
    {
        cb_wait_front(cb_, n_pages);
    }
    void pop_front(uint32_t n_pages) const
    {
        cb_pop_front(cb_, n_pages);
    }
    bool pages_available_at_front(uint32_t n_pages) const
    {
        return cb_pages_available_at_front(cb_, n_pages);
    }
    bool pages_reservable_at_back(uint32_t n_pages) const
    {
        return cb_pages_reservable_at_back(cb_, n_pages);
    }
    uint32_t get_write_ptr() const
    {
        return ::get_write_ptr(cb_);
    }
    uint32_t get_read_ptr() const
    {
        return ::get_read_ptr(cb_);
    }
    uint32_t get_tile_size() const
    {
        return ::get_tile_size(cb_);
    }
    uint32_t get_entry_size() const
    {
        return ::get_tile_size(cb_);
    }
    DataFormat get_dataformat() const
    {
        return ::get_dataformat(cb_);
    }
    uint32_t get_cb_id() const
    {
        return cb_;
    }
    uint32_t get_id() const
    {
        return cb_;
    }

  private:
    uint32_t cb_;
};
using DataflowBuffer = CircularBuffer;

struct UnicastEndpoint {
};
struct CoreLocalMem {
    uint32_t address;
};

// Where in a source or target: which of these counts depends on what it is.
struct strobe_sim_place {
    uint32_t page_id = 0;
    uint32_t offset_bytes = 0;
    uint32_t noc_x = 0, noc_y = 0;
    uint32_t addr = 0;
    uint32_t bank_id = 0;
};

class Noc
{
  public:
    Noc() = default;
    explicit Noc(uint32_t noc) : noc_(noc) {}
    uint32_t get_noc_id() const
    {
        return noc_;
    }

    template <typename Source, typename Target>
    void async_read(const Source &source, const Target &target, uint32_t bytes,
                    strobe_sim_place from = {}, strobe_sim_place to = {}) const
    {
        noc_async_read(remote(source, from), local(target, to, true), bytes);
    }
    template <typename Source, typename Target>
    void async_write(const Source &source, const Target &target, uint32_t bytes,
                     strobe_sim_place from = {}, strobe_sim_place to = {}) const
    {
        noc_async_write(local(source, from, false), remote(target, to), bytes);
    }
    void async_read_barrier() const
    {
        noc_async_read_barrier();
    }
    void async_write_barrier() const
    {
        noc_async_write_barrier();
    }
    void async_writes_flushed() const
    {
        noc_async_writes_flushed();
    }
    void async_atomic_barrier() const
    {
        noc_async_atomic_barrier();
    }
    void async_full_barrier() const
    {
        noc_async_full_barrier();
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
        return (uint64_t)(place.noc_y & 63) << 42 | (uint64_t)(place.noc_x & 63) << 36 | place.addr;
    }
    static uint32_t local(const CircularBuffer &buffer, const strobe_sim_place &place, bool writes)
    {
        return (writes ? buffer.get_write_ptr() : buffer.get_read_ptr()) + place.offset_bytes;
    }
    static uint32_t local(const CoreLocalMem &memory, const strobe_sim_place &place, bool)
    {
        return memory.address + place.offset_bytes;
    }
    uint32_t noc_ = strobe_sim_self->noc;
};

template <int = 0> class Semaphore
{
  public:
    explicit Semaphore(uint32_t id) : address_(get_semaphore(id)) {}
    void up(uint32_t by = 1) const
    {
        set(*pointer() + by);
    }
    void up(const Noc &, uint32_t x, uint32_t y, uint32_t by = 1) const
    {
        noc_semaphore_inc(get_noc_addr(x, y, address_), by);
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
    void set_multicast(const Noc &, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
                       uint32_t n) const
    {
        noc_semaphore_set_multicast(address_, get_noc_multicast_addr(x0, y0, x1, y1, address_), n);
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
