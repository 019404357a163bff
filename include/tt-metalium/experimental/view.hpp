// view.hpp - a stretch of memory that belongs to somebody else: std::span where the language has it. SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#if __cplusplus >= 202002L
#include <span>
#endif

namespace tt::tt_metal::experimental::detail
{

#if __cplusplus >= 202002L
template <typename T> using view = std::span<T>;
#else
template <typename T> class view
{
  public:
    view() = default;
    view(T *first, size_t n) : first_(first), n_(n) {}
    T *begin() const
    {
        return first_;
    }
    T *end() const
    {
        return first_ + n_;
    }
    T *data() const
    {
        return first_;
    }
    size_t size() const
    {
        return n_;
    }
    bool empty() const
    {
        return n_ == 0;
    }
    T &operator[](size_t i) const
    {
        return first_[i];
    }
    T &front() const
    {
        return *first_;
    }
    T &back() const
    {
        return first_[n_ - 1];
    }

  private:
    T *first_ = nullptr;
    size_t n_ = 0;
};
#endif

} // namespace tt::tt_metal::experimental::detail
