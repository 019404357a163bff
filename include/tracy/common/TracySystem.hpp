// TracySystem.hpp - names of threads, for programs that include this file of Tracy's by itself.
// SPDX-License-Identifier: MIT
#ifndef STROBE_TRACY_SYSTEM_HPP
#define STROBE_TRACY_SYSTEM_HPP

#include <stdint.h>

#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
#include "strobe/facade.h"
#endif

namespace tracy
{
#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
inline void SetThreadName(const char *name)
{
    strobe_name_thread(name);
}
inline void SetThreadNameWithHint(const char *name, int32_t group_hint)
{
    strobe_name_thread(name);
    strobe_set_thread_group(group_hint);
}
inline uint32_t GetThreadHandle()
{
    return strobe_thread_number();
}
#else
inline void SetThreadName(const char *) {}
inline void SetThreadNameWithHint(const char *, int32_t) {}
inline uint32_t GetThreadHandle()
{
    return 0;
}
#endif
} // namespace tracy

#endif
