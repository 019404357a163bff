/* callable.c - names of C functions, types and other callables that are no Python functions.
 *
 * A bound C method is a new object at every call, so what tells them apart is the method definition behind them
 * (PyMethodDef), or the type. These may be freed and their memory used again: each hit compares the name too,
 * so that a stale entry can't name something else. The table has a fixed size.
 *
 * Reads three fields that the stable ABI does not promise: the definition in a C function's and a method descriptor's
 * object, the name in a type's. Their places are the same in all of 3.9 to 3.14; trace_start tests them.
 * SPDX-License-Identifier: MIT */
#include "callable.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"

enum {
    AT_CFUNCTION_DEF = 16,
    AT_METHOD_FUNCTION = 16,
    AT_DESCRIPTOR_DEF = 40,
    AT_TYPE_NAME = 24,
    N_SLOTS = 16384,
    N_PROBES = 8,
};

struct callable {
    const void *key; /* borrowed, and only compared */
    bool ours;       /* of this module: no call of the program's */
    char *name;      /* owned: as its key had it; NULL: a free slot */
    char *shown;     /* owned */
    struct strobe_loc loc;
};

static struct callable table[N_SLOTS];
uint32_t strobe_py_callable_version;
static PyTypeObject *cfunction, *function, *method, *descriptor, *cmethod; /* owned, for good */

static void *field(PyObject *object, size_t offset)
{
    void *value;
    memcpy(&value, (char *)object + offset, sizeof value);
    return value;
}

static const char *type_name(PyObject *type)
{
    return field(type, AT_TYPE_NAME);
}

bool strobe_py_callable_start(void)
{
    if (descriptor)
        return true;
    PyObject *types = PyImport_ImportModule("types");
    if (!types)
        return false;
    cfunction = (PyTypeObject *)PyObject_GetAttrString(types, "BuiltinFunctionType");
    function = (PyTypeObject *)PyObject_GetAttrString(types, "FunctionType");
    method = (PyTypeObject *)PyObject_GetAttrString(types, "MethodType");
    PyTypeObject *found = (PyTypeObject *)PyObject_GetAttrString(types, "MethodDescriptorType");
    void *at = dlsym(RTLD_DEFAULT, "PyCMethod_Type"); /* of functions that are told their class */
    cmethod = at ? at : cfunction;
    PyObject *append = PyObject_GetAttrString((PyObject *)&PyList_Type, "append");
    PyObject *list = PyList_New(0);
    PyObject *bound = list ? PyObject_GetAttrString(list, "append") : NULL;
    bool good = cfunction && function && method && found && append && bound &&
                Py_TYPE(append) == found && Py_TYPE(bound) == cfunction;
    if (good) { /* the same definition behind both, with the function that Python itself says */
        const PyMethodDef *one = field(append, AT_DESCRIPTOR_DEF);
        const PyMethodDef *two = field(bound, AT_CFUNCTION_DEF);
        good = one == two && !strcmp(two->ml_name, "append") &&
               two->ml_meth == PyCFunction_GetFunction(bound) &&
               !strcmp(type_name((PyObject *)&PyList_Type), "list");
    }
    Py_XDECREF(bound);
    Py_XDECREF(list);
    Py_XDECREF(append);
    Py_DECREF(types);
    PyErr_Clear();
    if (good)
        descriptor = found;
    return good;
}

enum strobe_py_callable_kind strobe_py_kind_of(PyObject *callable)
{
    PyTypeObject *type = Py_TYPE(callable);
    if (type == function)
        return STROBE_PY_PYTHON;
    if (STROBE_PY_LIKELY(type != method))
        return STROBE_PY_OTHER;
    return Py_TYPE((PyObject *)field(callable, AT_METHOD_FUNCTION)) == function ? STROBE_PY_PYTHON
                                                                                : STROBE_PY_BOUND;
}

/* What tells the callable from others, and its short name as it is now. */
static const void *key_of(PyObject *callable, const char **name)
{
    PyTypeObject *type = Py_TYPE(callable);
    if (type == method) {
        callable = field(callable, AT_METHOD_FUNCTION);
        type = Py_TYPE(callable);
    }
    if (type == cfunction || type == cmethod || type == descriptor) {
        const PyMethodDef *def =
            field(callable, type == descriptor ? AT_DESCRIPTOR_DEF : AT_CFUNCTION_DEF);
        *name = def->ml_name;
        return def;
    }
    PyObject *key = PyType_Check(callable) ? callable : (PyObject *)type;
    *name = type_name(key);
    return key;
}

static char *text_of(PyObject *object, const char *attribute)
{
    PyObject *value = object ? PyObject_GetAttrString(object, attribute) : NULL;
    char *text = value && PyUnicode_Check(value) ? strobe_py_copy_text(value) : NULL;
    Py_XDECREF(value);
    PyErr_Clear();
    return text;
}

static char *dotted(char *left, char *right)
{
    size_t n = left ? strlen(left) : 0;
    char *both = right ? malloc(n + strlen(right) + 2) : NULL;
    if (both && n) {
        memcpy(both, left, n);
        both[n] = '.';
        strcpy(both + n + 1, right);
    } else if (both) {
        strcpy(both, right);
    }
    free(left);
    free(right);
    return both;
}

/* A bound C method is shown as its type defines it (dict.get, whatever the object's own type), a function with its module. */
static char *shown_name(PyObject *callable, const char *name)
{
    PyTypeObject *type = Py_TYPE(callable);
    if (type == cfunction || type == cmethod) {
        PyObject *self = PyCFunction_GetSelf(callable); /* borrowed */
        PyObject *owner = self ? PyObject_GetAttrString((PyObject *)Py_TYPE(self), name) : NULL;
        char *text = owner && Py_TYPE(owner) == descriptor ? text_of(owner, "__qualname__") : NULL;
        Py_XDECREF(owner);
        PyErr_Clear();
        if (text)
            return text;
        char *module = text_of(callable, "__module__");
        if (module && !strcmp(module, "builtins"))
            module[0] = 0;
        text = text_of(callable, "__name__");
        return dotted(module, text ? text : strdup(name));
    }
    if (type == descriptor)
        return text_of(callable, "__qualname__");
    if (PyType_Check(callable)) {
        char *module = text_of(callable, "__module__");
        if (module && !strcmp(module, "builtins"))
            module[0] = 0;
        return dotted(module, text_of(callable, "__qualname__"));
    }
    return strdup(name);
}

/* Is it a method definition or a type of this module's? A zone for such a call would be the innermost one, whose text or name the call
 * is to set; and the calls that start and stop the tracing have one half only. */
static bool is_ours(const void *key, const char *name)
{
    Dl_info here, there;
    if (!strncmp(name, "strobe.", 7))
        return true;
    return dladdr(table, &here) && dladdr(key, &there) && here.dli_fbase == there.dli_fbase;
}

static bool same(const char *one, const char *other)
{
    for (; *one == *other; one++, other++)
        if (!*one)
            return true;
    return false;
}

static struct callable *fill(struct callable *slot, const void *key, const char *name,
                             PyObject *callable)
{
    PyObject *type, *value, *trace;
    strobe_py_thread.busy++;
    PyErr_Fetch(&type, &value, &trace);
    char *shown = shown_name(callable, name);
    PyErr_Restore(type, value, trace);
    strobe_py_thread.busy--;
    strobe_py_callable_version += slot->name != NULL;
    free(slot->name);
    free(slot->shown);
    slot->key = key;
    slot->ours = is_ours(key, name);
    slot->name = strdup(name);
    slot->shown = shown ? shown : strdup(name);
    slot->loc = (struct strobe_loc){0, NULL, slot->shown, "<C>", 0, 0};
    if (slot->name && slot->shown)
        return slot;
    free(slot->name);
    slot->name = NULL;
    return NULL;
}

struct strobe_loc *strobe_py_callable_loc(PyObject *callable)
{
    const char *name;
    const void *key = key_of(callable, &name);
    size_t at = (size_t)(((uintptr_t)key >> 3) * 0x9e3779b97f4a7c15ull >> 50);
    struct callable *slot = &table[at], *chosen = slot;
    for (int i = 0; i < N_PROBES; i++) {
        slot = &table[(at + (size_t)i) & (N_SLOTS - 1)];
        if (slot->key == key && slot->name) {
            if (STROBE_PY_LIKELY(same(slot->name, name)))
                return slot->ours ? NULL : &slot->loc;
            chosen = slot; /* its memory was used again */
            break;
        }
        if (!slot->name) {
            chosen = slot;
            break;
        }
    }
    slot = fill(chosen, key, name, callable);
    return slot && !slot->ours ? &slot->loc : NULL;
}
