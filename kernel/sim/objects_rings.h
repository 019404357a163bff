// objects_rings.h - circular buffers as objects, for kernels of all RISCs. SPDX-License-Identifier: MIT
#pragma once

class CircularBuffer
{
  public:
    enum class AddrSelector { WRITE_PTR, READ_PTR };

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
    uint32_t get_total_num_entries() const
    {
        return strobe_sim_self->rings[cb_].n_pages;
    }
    DataFormat get_dataformat() const
    {
        return ::get_dataformat(cb_);
    }
    uint32_t get_tile_hw() const
    {
        return 1024;
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
