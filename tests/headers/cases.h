/* cases.h - a mark before each macro under test: what comes after it, up to the next mark, is that macro's.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_HEADERS_CASES_H
#define TESTS_HEADERS_CASES_H

#if defined(TRACY_ENABLE) && !defined(STROBE_OFF)
#include <strobe/strobe.h>
#define MARK(macro) strobe_app_info("macro " #macro, sizeof "macro " #macro - 1)
#define CASE(macro) strobe_app_info("macro " #macro, sizeof "macro " #macro - 1); /* CASE(x) { ... } */
#else
#define MARK(macro) (void)0
#define CASE(macro)
#endif

#endif
