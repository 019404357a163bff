/* err.h - the one set of error codes that every room returns.
 * Rooms return a code and hand results out through pointers; only cli/ turns a code into words on a
 * terminal.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_ERR_H
#define STROBE_BASE_ERR_H

/* Name, number, text. The numbers may reach exit codes and logs: never reuse one. */
#define STROBE_ERR_LIST(X)                                              \
    X(OK, 0, "no error")                                                \
    X(NOMEM, 1, "out of memory")                                        \
    X(IO, 2, "input/output error")                                      \
    X(NOSPACE, 3, "no space left on device")                            \
    X(NOTFOUND, 4, "not found")                                         \
    X(FORMAT, 5, "not in the expected format")                          \
    X(VERSION, 6, "made by a newer version of Strobe")                  \
    X(CORRUPT, 7, "damaged data")                                       \
    X(LIMIT, 8, "over a limit")                                         \
    X(ACCESS, 9, "permission denied")                                   \
    X(INVALID, 10, "invalid argument")                                  \
    X(END, 11, "no more data")                                          \
    X(BUSY, 12, "in use by another process")                            \
    X(BOMB, 13, "unpacks to far more than its size")                    \
    X(FILES, 14, "no file descriptor left (ulimit -n)")                 \
    X(LENGTH, 15, "the file is as long as it may be (ulimit -f)")       \
    X(THREADS, 16, "no thread could be started (ulimit -u, ulimit -v)") \
    X(EMPTIED, 17, "another program emptied the file")

enum strobe_err {
#define X(name, number, text) STROBE_ERR_##name = number,
    STROBE_ERR_LIST(X)
#undef X
        STROBE_OK = 0
};

/* The text of a code, never NULL. */
const char *strobe_err_text(enum strobe_err err);

/* The code that fits an errno value best. */
enum strobe_err strobe_err_from_errno(int err_no);

#endif
