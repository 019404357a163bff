/* late.c - what the stable ABI of 3.9 lacks: looked up by name when the module is loaded, so that one
 * binary serves every CPython. Each user asks for NULL first and has a way without.
 * SPDX-License-Identifier: MIT */
#include "py.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct strobe_py_late strobe_py_late;

static void find(void *slot, const char *name, const char *other)
{
    void *at = dlsym(RTLD_DEFAULT, name);
    if (!at && other)
        at = dlsym(RTLD_DEFAULT, other);
    memcpy(slot, &at, sizeof at);
}

/* "3.11.7 (main, ...)" to 0x030b07. */
static int parse_version(const char *text)
{
    char *end;
    long major = strtol(text, &end, 10), minor = 0, patch = 0;
    if (*end == '.')
        minor = strtol(end + 1, &end, 10);
    if (*end == '.')
        patch = strtol(end + 1, &end, 10);
    return (int)(major << 16 | minor << 8 | (patch & 255));
}

void strobe_py_find_late(void)
{
    struct strobe_py_late *late = &strobe_py_late;
    late->version = parse_version(Py_GetVersion());
    find(&late->utf8, "PyUnicode_AsUTF8AndSize", NULL);
    find(&late->frame_code, "PyFrame_GetCode", NULL);
    find(&late->frame_line, "PyFrame_GetLineNumber", NULL);
    /* 3.12 made the old names inline functions of its headers */
    find(&late->extra_index, "PyUnstable_Eval_RequestCodeExtraIndex",
         "_PyEval_RequestCodeExtraIndex");
    find(&late->extra_get, "PyUnstable_Code_GetExtra", "_PyCode_GetExtra");
    find(&late->extra_set, "PyUnstable_Code_SetExtra", "_PyCode_SetExtra");
    find(&late->get_eval, "_PyInterpreterState_GetEvalFrameFunc", NULL);
    find(&late->set_eval, "_PyInterpreterState_SetEvalFrameFunc", NULL);
    find(&late->first_thread, "PyInterpreterState_ThreadHead", NULL);
    find(&late->next_thread, "PyThreadState_Next", NULL);
    find(&late->set_profile, "_PyEval_SetProfile", NULL);
    find(&late->set_trace, "_PyEval_SetTrace", NULL);
    find(&late->add_audit, "PySys_AddAuditHook", NULL);
}

const char *strobe_py_text(PyObject *text, Py_ssize_t *n_bytes, PyObject **keep)
{
    *keep = NULL;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a str is wanted here");
        return NULL;
    }
    const char *bytes = strobe_py_late.utf8 ? strobe_py_late.utf8(text, n_bytes) : NULL;
    if (bytes)
        return bytes;
    PyErr_Clear();
    *keep = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    char *encoded = NULL;
    if (!*keep || PyBytes_AsStringAndSize(*keep, &encoded, n_bytes))
        return NULL;
    return encoded;
}

bool strobe_py_arguments(PyObject *const *args, Py_ssize_t n_args, PyObject *names,
                         const char *const *words, Py_ssize_t n_words, PyObject **values)
{
    Py_ssize_t n_named = names ? PyTuple_Size(names) : 0;
    if (n_args > n_words) {
        PyErr_Format(PyExc_TypeError, "at most %zd arguments are wanted here, not %zd", n_words,
                     n_args);
        return false;
    }
    for (Py_ssize_t i = 0; i < n_words; i++)
        values[i] = i < n_args ? args[i] : NULL;
    for (Py_ssize_t i = 0; i < n_named; i++) {
        PyObject *word = PyTuple_GetItem(names, i);
        Py_ssize_t at = 0;
        while (at < n_words && PyUnicode_CompareWithASCIIString(word, words[at]))
            at++;
        if (at == n_words || values[at]) {
            PyErr_Format(PyExc_TypeError, "an unexpected or repeated argument '%U'", word);
            return false;
        }
        values[at] = args[n_args + i];
    }
    return true;
}

char *strobe_py_copy_text(PyObject *text)
{
    PyObject *keep = NULL;
    Py_ssize_t n = 0;
    const char *bytes = text && PyUnicode_Check(text) ? strobe_py_text(text, &n, &keep) : NULL;
    if (!bytes)
        PyErr_Clear();
    char *copy = malloc((size_t)n + 1);
    if (copy) {
        if (bytes)
            memcpy(copy, bytes, (size_t)n);
        copy[n] = 0;
        for (Py_ssize_t i = 0; i < n; i++)
            if (!copy[i])
                copy[i] = ' '; /* a name ends at the first 0 */
    }
    Py_XDECREF(keep);
    return copy;
}
