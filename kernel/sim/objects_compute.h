// objects_compute.h - circular buffers as objects, for kernels that compute. SPDX-License-Identifier: MIT
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
