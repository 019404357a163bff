/* scoped.c - ScopedZone: the zone of tracy_client, which an object holds.
 *
 * Used by `with`, the zone goes from enter to exit. Used by hand, it goes from the making of the object to its
 * exit() or its death, which may come in any order: such a zone is loose (strobe_zone_loose), and takes a
 * location for itself alone while it is open, because ends are told apart by their location. Which use it is
 * must be known when the object is made: strobe/_scoped.py looks at what the calling code does with it, once
 * per place in the code.
 *
 * An object may die on another thread (garbage collection). Its end then waits for its own thread, in
 * `orphans`: a thread's stream has one writer.  All state here is the GIL's.  SPDX-License-Identifier: MIT */
#include "scoped.h"

#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "shadow.h"
#include "thread.h"
#include "tracer.h"

enum { MAX_SITES = 16384, MAX_ORPHANS = 4096 };

/* A location that one loose zone uses at a time. */
struct place {
    struct strobe_loc loc; /* its texts are the site's */
    struct place *next;    /* owned: free places of the site */
};

/* Where a zone is made, with its name and colour. In a capsule, freed with it. */
struct site {
    struct strobe_loc loc; /* of zones by `with`; texts are owned */
    struct place *free;    /* owned */
};

enum state {
    STATE_AWAITED, /* made for `with`, not yet entered */
    STATE_IDLE,    /* ended, or not to begin */
    STATE_OPEN,    /* begun by enter() */
    STATE_LOOSE,   /* begun by being made */
};

struct scoped {
    PyObject_HEAD PyObject *code; /* owned: of the maker, or NULL: see file */
    PyObject *name;               /* owned: str or None */
    PyObject *function, *file;    /* owned: str, or NULL: the code's */
    PyObject *site;               /* owned: capsule, NULL until it is needed */
    PyObject *text, *value;       /* owned: said at each begin, or NULL; value: an int */
    struct place *place;          /* owned while loose */
    struct strobe_zone zone;
    uint64_t thread; /* that began it */
    uint64_t made;   /* tick */
    uint32_t color;
    uint32_t line;
    int frames; /* of a call stack, 0: none */
    bool active;
    enum state state;
};

/* A zone whose object died on another thread. */
struct orphan {
    struct orphan *next; /* owned */
    struct strobe_zone zone;
    struct place *place; /* owned */
    PyObject *site;      /* owned */
    uint64_t thread;
};

static PyObject *sites;         /* owned: {(code or file, line, name, color, function): capsule} */
static PyObject *made_for_with; /* owned: {(code, instruction): bool} */
static PyObject *look_ahead;    /* owned: strobe._scoped.is_made_for_with */
static struct orphan *orphans;  /* owned: newest first */
static uint32_t n_orphans;
static uint64_t n_threads;
static __thread uint64_t thread_number;

static uint64_t this_thread(void)
{
    if (!thread_number)
        thread_number = ++n_threads;
    return thread_number;
}

/* ---- places ---- */

static void free_site(PyObject *capsule)
{
    struct site *site = PyCapsule_GetPointer(capsule, NULL);
    for (struct place *place = site->free, *next; place; place = next) {
        next = place->next;
        free(place);
    }
    free((char *)site->loc.name);
    free((char *)site->loc.function);
    free((char *)site->loc.file);
    free(site);
}

static PyObject *make_site(const struct scoped *self)
{
    struct site *site = calloc(1, sizeof *site);
    if (!site)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(site, NULL, free_site);
    if (!capsule) {
        free(site);
        return NULL;
    }
    PyObject *function = self->code ? PyObject_GetAttrString(self->code, "co_name") : NULL;
    PyObject *file = self->code ? PyObject_GetAttrString(self->code, "co_filename") : NULL;
    PyErr_Clear();
    site->loc.name = self->name != Py_None ? strobe_py_copy_text(self->name) : NULL;
    site->loc.function = strobe_py_copy_text(self->function ? self->function : function);
    site->loc.file = strobe_py_copy_text(self->file ? self->file : file);
    site->loc.line = self->line;
    site->loc.color = self->color;
    Py_XDECREF(function);
    Py_XDECREF(file);
    return capsule;
}

/* The site of an object, found or made; NULL with an exception. */
static struct site *site_of(struct scoped *self)
{
    if (self->site)
        return PyCapsule_GetPointer(self->site, NULL);
    PyObject *place = self->file ? self->file : self->code;
    PyObject *function = self->function ? self->function : Py_None;
    PyObject *key = Py_BuildValue("(OIOIO)", place ? place : Py_None, self->line, self->name,
                                  self->color, function);
    PyObject *found = key ? PyDict_GetItemWithError(sites, key) : NULL; /* borrowed */
    Py_XINCREF(found);
    if (!found && key && !PyErr_Occurred()) {
        found = make_site(self);
        if (PyDict_Size(sites) >= MAX_SITES)
            PyDict_Clear(sites);
        if (found && PyDict_SetItem(sites, key, found))
            Py_CLEAR(found);
    }
    Py_XDECREF(key);
    self->site = found;
    return found ? PyCapsule_GetPointer(found, NULL) : NULL;
}

static struct place *take_place(struct site *site)
{
    struct place *place = site->free;
    if (place) {
        site->free = place->next;
        return place;
    }
    place = calloc(1, sizeof *place);
    if (place) {
        place->loc = site->loc;
        place->loc.word = 0; /* it gets an id of its own */
    }
    return place;
}

static void give_place(PyObject *capsule, struct place *place)
{
    struct site *site = PyCapsule_GetPointer(capsule, NULL);
    place->next = site->free;
    site->free = place;
}

/* ---- orphans ---- */

static void free_orphan(struct orphan *orphan)
{
    if (orphan->place)
        give_place(orphan->site, orphan->place);
    Py_XDECREF(orphan->site);
    free(orphan);
    n_orphans--;
}

/* End this thread's zones whose objects died elsewhere. */
static void end_orphans(void)
{
    uint64_t thread = this_thread();
    for (struct orphan **at = &orphans; *at;) {
        struct orphan *orphan = *at;
        if (orphan->thread != thread) {
            at = &orphan->next;
            continue;
        }
        *at = orphan->next;
        strobe_zone_end(&orphan->zone);
        free_orphan(orphan);
    }
}

static int end_orphans_of_main(void *unused)
{
    (void)unused;
    end_orphans();
    return 0;
}

static void forget_oldest_orphan(void)
{
    struct orphan **at = &orphans;
    while (*at && (*at)->next)
        at = &(*at)->next;
    struct orphan *oldest = *at;
    *at = NULL;
    free_orphan(oldest);
}

/* The main thread comes by soon; another one when it next uses a ScopedZone. */
static void leave_orphan(struct scoped *self)
{
    struct orphan *orphan = calloc(1, sizeof *orphan);
    if (!orphan)
        return;
    if (n_orphans >= MAX_ORPHANS)
        forget_oldest_orphan(); /* its thread is gone, or never comes by: its zone stays open */
    orphan->zone = self->zone;
    orphan->place = self->place;
    orphan->site = self->site;
    orphan->thread = self->thread;
    orphan->next = orphans;
    orphans = orphan;
    n_orphans++;
    self->place = NULL;
    self->site = NULL;
    static const char text[] =
        "a ScopedZone died on another thread than its own: it ends when that comes by";
    if (strobe_recording())
        strobe_message(STROBE_DEBUG, 0, text, sizeof text - 1);
    Py_AddPendingCall(end_orphans_of_main, NULL);
}

/* ---- begin and end ---- */

static void say_text(const struct scoped *self, PyObject *what)
{
    PyObject *text = PyObject_Str(what), *keep = NULL;
    Py_ssize_t n;
    const char *bytes = text ? strobe_py_text(text, &n, &keep) : NULL;
    if (bytes)
        strobe_zone_add_text(&self->zone, bytes, (size_t)n);
    Py_XDECREF(keep);
    Py_XDECREF(text);
    PyErr_Clear();
}

static bool begin(struct scoped *self, enum state state)
{
    if (!self->active || self->state >= STATE_OPEN)
        return true;
    if (STROBE_PY_UNLIKELY(n_orphans))
        end_orphans();
    struct site *site = site_of(self);
    if (!site)
        return false;
    struct strobe_loc *loc = &site->loc;
    if (state == STATE_LOOSE) {
        self->place = take_place(site);
        if (!self->place) {
            PyErr_NoMemory();
            return false;
        }
        loc = &self->place->loc;
    }
    self->thread = this_thread();
    if (STROBE_PY_UNLIKELY(strobe_py_thread.n_met < STROBE_PY_NAME_TRIES))
        strobe_py_meet_thread();
    if (self->frames > 0)
        strobe_callstack(self->frames);
    if (strobe_py_tracer.min_ticks)
        strobe_py_shadow_flush();
    self->zone = strobe_zone_begin(loc);
    bool traced = strobe_py_tracer.source != STROBE_PY_NONE; /* as in zone.c */
    if ((state == STATE_LOOSE || traced) && strobe_zone_is_emitted(&self->zone))
        strobe_zone_loose();
    self->state = state;
    if (self->text)
        say_text(self, self->text);
    if (self->value)
        strobe_zone_set_value(&self->zone, PyLong_AsUnsignedLongLongMask(self->value));
    PyErr_Clear();
    return true;
}

static void end(struct scoped *self)
{
    if (self->state < STATE_OPEN)
        return;
    self->state = STATE_IDLE;
    if (STROBE_PY_UNLIKELY(self->thread != this_thread())) {
        leave_orphan(self);
        return;
    }
    strobe_zone_end(&self->zone);
    if (self->place)
        give_place(self->site, self->place);
    self->place = NULL;
    if (STROBE_PY_UNLIKELY(n_orphans))
        end_orphans();
}

/* The object dies, and the `with` that it was made for never came: a zone of no length says so. */
static void miss(struct scoped *self)
{
    uint64_t ticks = strobe_ticks() - self->made;
    if (!strobe_recording() || !begin(self, STATE_OPEN))
        return;
    strobe_zone_textf("made for a `with` that did not come, %llu ticks before",
                      (unsigned long long)ticks);
    end(self);
}

/* ---- making ---- */

/* Only who makes a ScopedZone waits for the import. */
static bool find_look_ahead(void)
{
    PyObject *helper = look_ahead ? NULL : PyImport_ImportModule("strobe._scoped");
    if (helper)
        look_ahead = PyObject_GetAttrString(helper, "is_made_for_with");
    Py_XDECREF(helper);
    return look_ahead != NULL;
}

/* Whether the calling code makes the object for a `with`: asked once per instruction. */
static bool is_made_for_with(PyObject *code, PyObject *frame)
{
    PyObject *at = PyObject_GetAttrString(frame, "f_lasti");
    PyObject *key = at && code ? Py_BuildValue("(OO)", code, at) : NULL;
    PyObject *known = key ? PyDict_GetItemWithError(made_for_with, key) : NULL; /* borrowed */
    Py_XINCREF(known);
    if (!known && key && !PyErr_Occurred() && find_look_ahead()) {
        known = PyObject_CallFunctionObjArgs(look_ahead, code, at, NULL);
        if (PyDict_Size(made_for_with) >= MAX_SITES)
            PyDict_Clear(made_for_with);
        if (known)
            PyDict_SetItem(made_for_with, key, known);
    }
    bool result = known == Py_True;
    Py_XDECREF(known);
    Py_XDECREF(key);
    Py_XDECREF(at);
    PyErr_Clear();
    return result;
}

static bool read_number(PyObject *object, uint32_t *number)
{
    PyObject *index = PyNumber_Index(object);
    unsigned long long value = index ? PyLong_AsUnsignedLongLongMask(index) : 0;
    Py_XDECREF(index);
    *number = (uint32_t)value & 0xffffff;
    return index != NULL;
}

static void keep(PyObject **field, PyObject *value)
{
    if (value == Py_None)
        value = NULL;
    Py_XINCREF(value);
    Py_XDECREF(*field);
    *field = value;
}

static bool read_arguments(struct scoped *self, PyObject *args, PyObject *kwargs)
{
    static const char *const words[] = {"name",  "color",    "depth", "active", "text",
                                        "value", "function", "file",  "line",   NULL};
    PyObject *name = Py_None, *color = NULL, *depth = Py_None, *text = NULL, *value = NULL;
    PyObject *function = NULL, *file = NULL;
    int active = 1;
    unsigned int line = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOpOOOOI:ScopedZone", (char **)words, &name,
                                     &color, &depth, &active, &text, &value, &function, &file,
                                     &line))
        return false;
    if (name != Py_None && !PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "ScopedZone: the name is a str or None");
        return false;
    }
    uint32_t frames = 0;
    if ((color && color != Py_None && !read_number(color, &self->color)) ||
        (depth != Py_None && !read_number(depth, &frames)))
        return false;
    PyObject *whole = value && value != Py_None ? PyNumber_Index(value) : NULL;
    if (PyErr_Occurred())
        return false;
    Py_INCREF(name);
    Py_XDECREF(self->name);
    self->name = name;
    self->frames = (int)frames;
    self->active = active;
    self->line = line;
    keep(&self->text, text);
    keep(&self->value, whole);
    Py_XDECREF(whole);
    keep(&self->function, function);
    keep(&self->file, file);
    return true;
}

static int scoped_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct scoped *self = (struct scoped *)object;
    end(self); /* __init__ may be called again */
    Py_CLEAR(self->site);
    if (!read_arguments(self, args, kwargs))
        return -1;
    PyObject *frame = (PyObject *)PyEval_GetFrame(); /* borrowed: the Python code that makes it */
    bool for_with = false;
    if (frame && !self->file) {
        Py_XDECREF(self->code);
        self->code = PyObject_GetAttrString(frame, "f_code");
        self->line = strobe_py_late.frame_line ? (uint32_t)strobe_py_late.frame_line(frame) : 0;
        if (self->code)
            for_with = is_made_for_with(self->code, frame);
        PyErr_Clear();
    } else if (self->file) {
        for_with = true; /* a decorator's: it calls enter */
    }
    self->state = for_with ? STATE_AWAITED : STATE_IDLE;
    self->made = strobe_ticks();
    return for_with || begin(self, STATE_LOOSE) ? 0 : -1;
}

static void scoped_dealloc(PyObject *object)
{
    struct scoped *self = (struct scoped *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *kind, *error, *trace;
    PyErr_Fetch(&kind, &error, &trace); /* it may die while an exception flies */
    if (self->state == STATE_AWAITED && self->active && !self->file)
        miss(self);
    end(self);
    PyErr_Restore(kind, error, trace);
    Py_XDECREF(self->code);
    Py_XDECREF(self->name);
    Py_XDECREF(self->function);
    Py_XDECREF(self->file);
    Py_XDECREF(self->site);
    Py_XDECREF(self->text);
    Py_XDECREF(self->value);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- methods ---- */

static PyObject *scoped_begin(PyObject *object, PyObject *unused)
{
    (void)unused;
    if (!begin((struct scoped *)object, STATE_OPEN))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *scoped_enter(PyObject *object, PyObject *unused)
{
    (void)unused;
    if (!begin((struct scoped *)object, STATE_OPEN))
        return NULL;
    Py_INCREF(object);
    return object;
}

static PyObject *scoped_end(PyObject *object, PyObject *unused)
{
    (void)unused;
    end((struct scoped *)object);
    Py_RETURN_NONE;
}

static PyObject *scoped_exit(PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
    (void)args;
    (void)n_args;
    end((struct scoped *)object);
    Py_RETURN_NONE;
}

/* Whether what is said now would reach the zone. */
static bool is_here(const struct scoped *self)
{
    return self->state >= STATE_OPEN && self->thread == this_thread();
}

static PyObject *scoped_text(PyObject *object, PyObject *text)
{
    if (!is_here((struct scoped *)object))
        Py_RETURN_FALSE;
    say_text((struct scoped *)object, text);
    Py_RETURN_TRUE;
}

static PyObject *scoped_value(PyObject *object, PyObject *number)
{
    unsigned long long value = PyLong_AsUnsignedLongLongMask(number);
    if (PyErr_Occurred())
        return NULL;
    if (!is_here((struct scoped *)object))
        Py_RETURN_FALSE;
    strobe_zone_set_value(&((struct scoped *)object)->zone, value);
    Py_RETURN_TRUE;
}

static PyObject *scoped_name(PyObject *object, PyObject *name)
{
    struct scoped *self = (struct scoped *)object;
    PyObject *keep_text = NULL;
    Py_ssize_t n;
    const char *bytes = strobe_py_text(name, &n, &keep_text);
    if (!bytes)
        return NULL;
    if (is_here(self)) {
        strobe_zone_set_name(&self->zone, bytes, (size_t)n);
    } else {
        keep(&self->name, name);
        Py_CLEAR(self->site);
    }
    Py_XDECREF(keep_text);
    Py_RETURN_TRUE;
}

static PyObject *scoped_color(PyObject *object, PyObject *color)
{
    struct scoped *self = (struct scoped *)object;
    uint32_t number;
    if (!read_number(color, &number))
        return NULL;
    if (is_here(self)) {
        strobe_zone_set_color(&self->zone, number);
    } else {
        self->color = number;
        Py_CLEAR(self->site);
    }
    Py_RETURN_NONE;
}

static PyObject *scoped_is_active(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((struct scoped *)object)->active);
}

static PyMethodDef methods[] = {
    {"__enter__", scoped_enter, METH_NOARGS, NULL},
    {"__exit__", STROBE_PY_FAST(scoped_exit), METH_FASTCALL, NULL},
    {"enter", scoped_begin, METH_NOARGS, "Begin the zone, unless it has begun."},
    {"exit", scoped_end, METH_NOARGS, "End the zone, if it is open."},
    {"text", scoped_text, METH_O,
     "Add a line of text to the zone; False while it is not open here."},
    {"value", scoped_value, METH_O, "Give the zone a number; False while it is not open here."},
    {"name", scoped_name, METH_O, "Rename the open zone, or those to come."},
    {"color", scoped_color, METH_O, "Colour the open zone, or those to come."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"is_active", scoped_is_active, NULL, "False where the zone was made with active=False.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void
          *)"ScopedZone(name=None, color=0, depth=None, active=True, text=None, value=None)\n\n"
            "A zone from enter to exit where `with` uses it, else from now until the object dies "
            "or\n"
            "exit() is called, in any order. Unnamed zones have the name of the calling function."},
    {Py_tp_init, scoped_init},
    {Py_tp_dealloc, scoped_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "strobe._strobe.ScopedZone",
    .basicsize = sizeof(struct scoped),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int strobe_py_add_scoped(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    sites = type ? PyDict_New() : NULL;
    made_for_with = sites ? PyDict_New() : NULL;
    if (!made_for_with || PyModule_AddObject(module, "ScopedZone", type)) {
        Py_XDECREF(type);
        return -1;
    }
    return 0;
}
