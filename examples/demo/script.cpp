// script.cpp - fibers by ucontext, and how to show them in Strobe.  SPDX-License-Identifier: MIT
#include "script.hpp"

#include <cstdint>

static constexpr std::size_t stack_bytes = 256 * 1024;

Script::Script(const char *name, std::function<void(Script &)> body)
    : name_{0, name}, body_(std::move(body)), stack_(new char[stack_bytes])
{
    getcontext(&self_);
    self_.uc_stack.ss_sp = stack_.get();
    self_.uc_stack.ss_size = stack_bytes;
    self_.uc_link = &caller_;
    auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&self_, reinterpret_cast<void (*)()>(&Script::run), 2,
                static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
}

void Script::run(unsigned low, unsigned high)
{
    auto *self =
        reinterpret_cast<Script *>(static_cast<std::uintptr_t>(high) << 32 | std::uintptr_t{low});
    self->body_(*self);
    self->done_ = true;
}

void Script::step()
{
    if (done_)
        return;
    strobe_fiber_enter(&name_);
    swapcontext(&caller_, &self_);
    strobe_fiber_leave();
}

void Script::yield()
{
    swapcontext(&self_, &caller_);
}
