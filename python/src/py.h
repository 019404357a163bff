/* py.h - Python's stable ABI as this module uses it: the headers of any CPython from 3.9 on, and what
 * the stable list of 3.9 lacks, looked up when the module is loaded.
 * Include this before any other header.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_PY_H
#define STROBE_PY_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080 /* hidden by the limited API before 3.10, there in all of them */
#endif

#define STROBE_PY_LIKELY(x)   __builtin_expect(!!(x), 1)
#define STROBE_PY_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A METH_FASTCALL function, as the method table wants it. */
#define STROBE_PY_FAST(function)    ((PyCFunction)(void (*)(void))(function))
#define STROBE_PY_FAST_KW(function) ((PyCFunction)(void (*)(void))(function))

/* A frame-evaluation function; `frame` is a PyFrameObject before 3.11, an internal frame since. */
typedef PyObject *(*strobe_py_eval)(PyThreadState *, void *frame, int throwing);
typedef int (*strobe_py_tracefunc)(PyObject *, PyObject *frame, int what, PyObject *arg);

/* What is not on the stable list, or not in every version. NULL where this Python has none. */
struct strobe_py_late {
    int version; /* 0x030b07 for 3.11.7 */
    const char *(*utf8)(PyObject *text, Py_ssize_t *n_bytes);
    PyObject *(*frame_code)(PyObject *frame); /* a new reference */
    int (*frame_line)(PyObject *frame);
    Py_ssize_t (*extra_index)(void (*free)(void *));
    int (*extra_get)(PyObject *code, Py_ssize_t index, void **extra);
    int (*extra_set)(PyObject *code, Py_ssize_t index, void *extra);
    strobe_py_eval (*get_eval)(PyInterpreterState *);
    void (*set_eval)(PyInterpreterState *, strobe_py_eval);
    PyThreadState *(*first_thread)(PyInterpreterState *);
    PyThreadState *(*next_thread)(PyThreadState *);
    int (*set_profile)(PyThreadState *, strobe_py_tracefunc, PyObject *);
    int (*set_trace)(PyThreadState *, strobe_py_tracefunc, PyObject *);
    int (*add_audit)(int (*hook)(const char *event, PyObject *args, void *data), void *data);
};
extern struct strobe_py_late strobe_py_late;

/* Fill strobe_py_late. Thread: holds the GIL. */
void strobe_py_find_late(void);

/* The bytes of a text, up to `n_bytes` of them; what can't be said in UTF-8 (lone surrogates) is
 * replaced. NULL with an exception where it is no text. Lifetime: of `text`, or of `*keep`, which the
 * caller lets go of (NULL: nothing). */
const char *strobe_py_text(PyObject *text, Py_ssize_t *n_bytes, PyObject **keep);

/* The arguments of a METH_FASTCALL | METH_KEYWORDS function by position and by name; NULL for those that are not there, borrowed. False with
 * an exception. */
bool strobe_py_arguments(PyObject *const *args, Py_ssize_t n_args, PyObject *names,
                         const char *const *words, Py_ssize_t n_words, PyObject **values);

/* A copy of a text, from malloc; "" where it can't be had. NULL: no memory. Leaves no exception. */
char *strobe_py_copy_text(PyObject *text);

#endif
