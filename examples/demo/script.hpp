// script.hpp - small scripts that run in fibers, a step per frame.  SPDX-License-Identifier: MIT
#ifndef DEMO_SCRIPT_HPP
#define DEMO_SCRIPT_HPP

#include <strobe/strobe.h>

#include <functional>
#include <memory>
#include <ucontext.h>

// A coroutine with a stack of its own. Its body calls yield() to give the thread back until the
// next step(). What it emits between is shown on the fiber's track, not on the thread's.
class Script
{
  public:
    Script(const char *name, std::function<void(Script &)> body);
    void step();  // run it up to its next yield
    void yield(); // only from the body

  private:
    static void run(unsigned low, unsigned high);
    struct strobe_name name_;
    std::function<void(Script &)> body_;
    std::unique_ptr<char[]> stack_;
    ucontext_t caller_, self_;
    bool done_ = false;
};

#endif
