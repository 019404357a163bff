/* module.c - _strobe: the C half of the package `strobe`, on CPython's stable ABI.
 * What it does is in the files beside it; what users see is python/strobe/__init__.py.
 * SPDX-License-Identifier: MIT */
#include "py.h"

#include "calls.h"
#include "scoped.h"
#include "tracer.h"
#include "zone.h"

static PyMethodDef zone_function[] = {
    {"zone", STROBE_PY_FAST_KW(strobe_py_zone), METH_FASTCALL | METH_KEYWORDS,
     "zone(name, color=0, file=None, line=0, function=None)\n--\n\n"
     "A zone for `with`, `async with`, or as a decorator.\n\n"
     "The object is the same for the same name and colour, and may be kept and used again, nested\n"
     "and by many threads. The place shown in the trace is that of its first use, or the one given "
     "by\n"
     "file, line and function. With a function\n"
     "in place of the name, the function is decorated and gives the name."},
    {NULL, NULL, 0, NULL},
};

static int start_module(PyObject *module)
{
    strobe_py_find_late();
    if (PyModule_AddFunctions(module, zone_function) ||
        PyModule_AddFunctions(module, strobe_py_calls) ||
        PyModule_AddFunctions(module, strobe_py_tracer_methods))
        return -1;
    if (strobe_py_add_zone(module))
        return -1;
    return strobe_py_add_scoped(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, start_module},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "strobe._strobe",
    .m_doc = "The C half of the package strobe.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__strobe(void);
PyMODINIT_FUNC PyInit__strobe(void)
{
    return PyModuleDef_Init(&definition);
}
