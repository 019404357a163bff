/* thread.c - meeting a thread: its name, its stack, its end.  SPDX-License-Identifier: MIT */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "emit.h"
#include "shadow.h"
#include "tasks.h"

__thread struct strobe_py_thread strobe_py_thread
    __attribute__((tls_model("initial-exec"))) = {.stack_mark = ~(uintptr_t)0};

/* threading._active.get(get_ident()), without importing anything. A new reference or NULL. */
static PyObject *find_thread_object(void)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed, and so are those below */
    PyObject *threading = modules ? PyDict_GetItemString(modules, "threading") : NULL;
    if (!threading)
        return NULL;
    PyObject *active = PyObject_GetAttrString(threading, "_active");
    PyObject *ident = active ? PyLong_FromUnsignedLong(PyThread_get_thread_ident()) : NULL;
    PyObject *thread =
        ident && PyDict_Check(active) ? PyDict_GetItemWithError(active, ident) : NULL;
    Py_XINCREF(thread);
    Py_XDECREF(ident);
    Py_XDECREF(active);
    return thread;
}

void strobe_py_meet_thread(void)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    if (me->busy || me->n_met >= STROBE_PY_NAME_TRIES || !strobe_recording())
        return;
    PyObject *type, *value, *trace;
    me->busy++;
    me->n_met++;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *thread = find_thread_object();
    PyObject *name = thread ? PyObject_GetAttrString(thread, "_name") : NULL;
    char *text = name ? strobe_py_copy_text(name) : NULL;
    if (text && text[0]) {
        strobe_set_thread_name(text);
        me->n_met = STROBE_PY_NAME_TRIES;
    }
    free(text);
    Py_XDECREF(name);
    Py_XDECREF(thread);
    PyErr_Restore(type, value, trace);
    me->busy--;
}

void strobe_py_measure_stack(void)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    pthread_attr_t attributes;
    void *low = NULL;
    size_t n_bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &low, &n_bytes)) {
        me->stack_end = (uintptr_t)low + n_bytes / 4 * 3;
        me->stack_last = (uintptr_t)low + n_bytes / 8;
    }
    pthread_attr_destroy(&attributes);
}

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void leave(void *unused)
{
    (void)unused;
    strobe_py_shadow_leave();
    free(strobe_py_thread.fibers);
    free(strobe_py_thread.away);
    strobe_py_thread.fibers = NULL;
    strobe_py_thread.away = NULL;
}

static void make_key(void)
{
    pthread_key_create(&key, leave);
}

void strobe_py_own_thread(void)
{
    pthread_once(&key_once, make_key);
    pthread_setspecific(key, (void *)1);
}
