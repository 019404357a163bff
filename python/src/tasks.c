/* tasks.c - asyncio tasks as fibers of the trace.
 *
 * A step of a task is the run of its outermost coroutine, from entry to its next suspension: what the thread emits meanwhile
 * belongs to the task's fiber. The task is asked for when a coroutine is entered while none runs on the thread, and at
 * the first entry of every coroutine, since an eager task starts inside the step of another.
 *
 *   n_coroutines 0 ──► 1   enter: which task? FIBER_ENTER
 *   first entry, other task        likewise, inside: the fiber before is kept below
 *   leaving the depth at which a fiber was entered: back to the fiber below, or FIBER_LEAVE
 *
 * A task's fiber is found by the task's address; a weak reference takes it out of the table when the task dies, before its address
 * can be used again. Only C functions of _asyncio are called: nothing of the program's own runs here.
 * SPDX-License-Identifier: MIT */
#include "tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "thread.h"

enum { N_BUCKETS = 4096, MAX_NESTED = 32 };

struct fiber {
    struct strobe_name name; /* text: owned, behind it */
    const void *task;        /* borrowed, and only compared */
    PyObject *reference;     /* owned: the weak reference */
    struct fiber *next;      /* in its bucket */
    char text[];
};

struct strobe_py_fibers {
    uint32_t n;
    struct {
        struct fiber *fiber; /* borrowed: its task runs, so it lives */
        uint32_t depth;      /* n_coroutines when it was entered */
    } at[MAX_NESTED];
};

static struct fiber *buckets[N_BUCKETS];
static PyObject *current_task, *running_loop, *current_tasks; /* owned, once _asyncio is there */
static uint64_t n_fibers_made;

static struct fiber **bucket_of(const void *task)
{
    return &buckets[((uintptr_t)task >> 4) * 0x9e3779b97f4a7c15ull >> 52];
}

/* The weak reference's callback: `self` is the task's address. */
static PyObject *task_died(PyObject *self, PyObject *reference)
{
    const void *task = PyLong_AsVoidPtr(self);
    (void)reference;
    for (struct fiber **at = bucket_of(task); *at; at = &(*at)->next)
        if ((*at)->task == task) {
            struct fiber *dead = *at;
            *at = dead->next;
            Py_XDECREF(dead->reference);
            free(dead);
            break;
        }
    Py_RETURN_NONE;
}

static PyMethodDef task_died_def = {"task_died", task_died, METH_O, NULL};

/* A name by which no other task goes: "Task-7 fetch", or with a number where the program named it. */
static void name_task(char *out, size_t cap, PyObject *task, const char *coroutine)
{
    PyObject *name = PyObject_CallMethod(task, "get_name", NULL);
    char *text = name ? strobe_py_copy_text(name) : NULL;
    Py_XDECREF(name);
    PyErr_Clear();
    if (text && !strncmp(text, "Task-", 5) && text[5] && !text[5 + strspn(text + 5, "0123456789")])
        snprintf(out, cap, "%.64s %.128s", text, coroutine);
    else
        snprintf(out, cap, "%.128s #%llu %.128s", text ? text : "task",
                 (unsigned long long)n_fibers_made, coroutine);
    free(text);
}

/* "greenlet #3", with the name that gevent's have. */
static void name_greenlet(char *out, size_t cap, PyObject *greenlet)
{
    PyObject *name = PyObject_GetAttrString(greenlet, "name");
    char *text = name && PyUnicode_Check(name) ? strobe_py_copy_text(name) : NULL;
    Py_XDECREF(name);
    PyErr_Clear();
    snprintf(out, cap, "%.128s #%llu", text && text[0] ? text : "greenlet",
             (unsigned long long)n_fibers_made);
    free(text);
}

/* The fiber of a task, or of a greenlet (coroutine NULL). */
static struct fiber *find_fiber(PyObject *task, const char *coroutine)
{
    struct fiber **bucket = bucket_of(task);
    for (struct fiber *at = *bucket; at; at = at->next)
        if (at->task == task)
            return at;
    char text[400];
    n_fibers_made++;
    if (coroutine)
        name_task(text, sizeof text, task, coroutine);
    else
        name_greenlet(text, sizeof text, task);
    struct fiber *made = calloc(1, sizeof *made + strlen(text) + 1);
    PyObject *address = PyLong_FromVoidPtr(task);
    PyObject *callback = address ? PyCFunction_New(&task_died_def, address) : NULL;
    if (made && callback)
        made->reference = PyWeakref_NewRef(task, callback);
    Py_XDECREF(callback);
    Py_XDECREF(address);
    if (!made || !made->reference) {
        PyErr_Clear();
        free(made);
        return NULL;
    }
    strcpy(made->text, text);
    made->name.text = made->text;
    made->task = task;
    made->next = *bucket;
    *bucket = made;
    return made;
}

/* _asyncio, if the program imported it. */
static bool find_asyncio(void)
{
    if (current_task || current_tasks)
        return true;
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *asyncio = modules ? PyDict_GetItemString(modules, "_asyncio") : NULL;
    if (!asyncio)
        return false;
    if (strobe_py_late.version >= 0x030c00) {
        current_task = PyObject_GetAttrString(asyncio, "current_task");
    } else {
        running_loop = PyObject_GetAttrString(asyncio, "_get_running_loop");
        current_tasks = PyObject_GetAttrString(asyncio, "_current_tasks");
        if (!running_loop || !current_tasks || !PyDict_Check(current_tasks))
            Py_CLEAR(current_tasks);
    }
    PyErr_Clear();
    return current_task || current_tasks;
}

/* The task that runs on this thread: a new reference, or NULL. Leaves no exception. */
static PyObject *find_task(void)
{
    PyObject *task = NULL;
    if (current_task) {
        task = PyObject_CallObject(current_task, NULL);
    } else {
        PyObject *loop = PyObject_CallObject(running_loop, NULL);
        task = loop && loop != Py_None ? PyDict_GetItemWithError(current_tasks, loop) : NULL;
        Py_XINCREF(task);
        Py_XDECREF(loop);
    }
    PyErr_Clear(); /* no loop runs */
    if (task == Py_None)
        Py_CLEAR(task);
    return task;
}

PyObject *strobe_py_running_task(void)
{
    return find_asyncio() ? find_task() : NULL;
}

static struct strobe_py_fibers *own_fibers(void)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    if (!me->fibers) {
        me->fibers = calloc(1, sizeof *me->fibers);
        strobe_py_own_thread();
    }
    return me->fibers;
}

/* Change to the task's fiber if it isn't the one in force. */
static void change_to(PyObject *task, const char *coroutine)
{
    struct strobe_py_fibers *fibers = own_fibers();
    struct fiber *fiber = fibers ? find_fiber(task, coroutine) : NULL;
    if (!fiber || fibers->n == MAX_NESTED ||
        (fibers->n && fibers->at[fibers->n - 1].fiber == fiber))
        return;
    fibers->at[fibers->n].fiber = fiber;
    fibers->at[fibers->n++].depth = strobe_py_thread.n_coroutines;
    strobe_fiber_enter(&fiber->name);
}

bool strobe_py_task_runs(void)
{
    return strobe_py_thread.fibers && strobe_py_thread.fibers->n;
}

bool strobe_py_task_enter(bool first, const char *name)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    me->n_coroutines++;
    if ((first || me->n_coroutines == 1) && !me->busy) {
        PyObject *type, *value, *trace;
        me->busy++;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *task = strobe_py_running_task();
        if (task)
            change_to(task, name);
        Py_XDECREF(task);
        PyErr_Restore(type, value, trace);
        me->busy--;
    }
    return strobe_py_task_runs();
}

void strobe_py_task_leave(void)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    struct strobe_py_fibers *fibers = me->fibers;
    if (!me->n_coroutines) /* entered before anybody traced */
        return;
    if (fibers && fibers->n && fibers->at[fibers->n - 1].depth == me->n_coroutines) {
        fibers->n--;
        if (fibers->n)
            strobe_fiber_enter(&fibers->at[fibers->n - 1].fiber->name);
        else
            strobe_fiber_leave();
    }
    me->n_coroutines--;
}

/* ---- greenlets ---- */

/* What greenlet.settrace() is given: (event, (origin, target)), called in the target. The first greenlet of a thread, which has
 * no parent, is the thread itself. */
static void change_greenlet(PyObject *target)
{
    PyObject *parent = PyObject_GetAttrString(target, "parent");
    struct fiber *fiber = parent && parent != Py_None ? find_fiber(target, NULL) : NULL;
    if (fiber)
        strobe_fiber_enter(&fiber->name);
    else
        strobe_fiber_leave();
    Py_XDECREF(parent);
}

PyObject *strobe_py_greenlet_switched(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    struct strobe_py_thread *me = &strobe_py_thread;
    PyObject *type, *value, *trace;
    (void)module;
    if (n_args == 2 && PyTuple_Check(args[1]) && PyTuple_Size(args[1]) == 2 && !me->busy) {
        me->busy++;
        PyErr_Fetch(&type, &value, &trace);
        change_greenlet(PyTuple_GetItem(args[1], 1));
        PyErr_Restore(type, value, trace); /* and nothing of ours */
        me->busy--;
    }
    Py_RETURN_NONE;
}
