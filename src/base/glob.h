/* glob.h - names by pattern, the same in every engine and under every locale.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_GLOB_H
#define STROBE_BASE_GLOB_H

/* 1: the text is meant. A pattern with * ? [ fits the whole text, as in a shell: * any bytes, ? one character of UTF-8, [a-z] one
 * byte of a set ([!a-z]: of none), \ takes the next one as it is. Any other pattern is looked for in the text. */
int strobe_glob_fits(const char *pattern, const char *text);

#endif
