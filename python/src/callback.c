/* callback.c - objects that the interpreter calls by one jump through a pointer of their own (vectorcall). A built-in function would lie
 * between, with its look at the arguments and at the depth of recursion: a tenth of the cost of an event.
 * SPDX-License-Identifier: MIT */
#include "callback.h"

#include <stddef.h>
#include <structmember.h>

#define FLAG_VECTORCALL (1ul << 11) /* Py_TPFLAGS_HAVE_VECTORCALL: on the stable list since 3.12 */

struct callback {
    PyObject_HEAD strobe_py_vectorcall function;
};

static PyTypeObject *type; /* owned, for good */

static void callback_dealloc(PyObject *self)
{
    PyTypeObject *own = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(own, Py_tp_free))(self);
    Py_DECREF(own);
}

/* Only for those who ask whether it is callable. */
static PyObject *callback_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    PyErr_Format(PyExc_TypeError, "%R is called by the interpreter alone",
                 (PyObject *)Py_TYPE(self));
    return NULL;
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct callback, function), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, callback_dealloc},
    {Py_tp_call, callback_call},
    {Py_tp_members, members},
    {0, NULL},
};
static PyType_Spec spec = {"strobe._Callback", sizeof(struct callback), 0,
                           Py_TPFLAGS_DEFAULT | FLAG_VECTORCALL, slots};

PyObject *strobe_py_callback(strobe_py_vectorcall function)
{
    if (!type)
        type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!type)
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct callback *self = (struct callback *)alloc(type, 0);
    if (self)
        self->function = function;
    return (PyObject *)self;
}
