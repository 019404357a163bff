/* py_image.h - what an ELF file that may be CPython has: where its runtime is, its evaluator, which version it is.
 * The file is a stranger's: every length is checked.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_IMAGE_H
#define STROBE_SAMPLE_PY_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { STROBE_PY_EVALUATORS = 4 };

/* Link-time addresses; 0: the file does not have it. */
struct strobe_py_image {
    uint64_t runtime;   /* _PyRuntime */
    uint64_t code_type; /* PyCode_Type */
    uint64_t version;   /* Py_Version, from 3.11 on */
    struct strobe_py_range {
        uint64_t start, end;
    } evaluators
        [STROBE_PY_EVALUATORS]; /* _PyEval_EvalFrameDefault and parts that the compiler set apart */
    uint32_t n_evaluators;
};

/* Look for them. False: it has no runtime. */
bool strobe_py_image_read(int fd, struct strobe_py_image *out);

/* The minor version that a file's name says: python3.9, libpython3.10.so.1.0; 0: none. */
uint32_t strobe_py_image_minor(const char *path);

#endif
