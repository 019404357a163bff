/* code.c - see the header: names, filters and identity of code objects.  SPDX-License-Identifier: MIT */
#include "code.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "thread.h"
#include "tracer.h"

struct strobe_py_code_slot strobe_py_codes[1 << STROBE_PY_CODE_BITS];
uint32_t strobe_py_code_version;

static Py_ssize_t extra = -1;
/* Stands for a code object that no memory was left for, and for all while nobody traces. */
static struct strobe_py_code nothing = {.flags = STROBE_PY_FILTERED};

static void forget(struct strobe_py_code *known)
{
    struct strobe_py_code_slot *slot = &strobe_py_codes[strobe_py_code_slot_of(known->code)];
    if (slot->known == known)
        *slot = (struct strobe_py_code_slot){NULL, NULL};
}

static void free_names(struct strobe_py_code *known)
{
    free(known->name);
    free(known->line_name);
    free(known->lines);
    known->name = known->line_name = NULL;
    known->lines = NULL;
    known->n_lines = known->line_slots = 0;
}

/* Called by Python when a code object dies. */
static void free_code(void *at)
{
    struct strobe_py_code *known = at;
    if (!known)
        return;
    strobe_py_code_version++;
    forget(known);
    free_names(known);
    free(known->function);
    free(known->file);
    free(known);
}

bool strobe_py_code_start(void)
{
    const struct strobe_py_late *late = &strobe_py_late;
    if (extra >= 0)
        return true;
    if (late->extra_index && late->extra_get && late->extra_set)
        extra = late->extra_index(free_code);
    if (extra < 0)
        strobe_py_word(
            "functions are not traced: this Python keeps no extra data with code objects "
            "(or other tools use all of it)");
    return extra >= 0;
}

void strobe_py_code_renew(void)
{
    strobe_py_code_version++;
    memset(strobe_py_codes, 0, sizeof strobe_py_codes);
}

/* ---- filters ---- */

/* A pattern with a slash or a .py is of files, by path or last part; another one of modules, with what is in them. */
static bool matches(const char *pattern, const char *module, const char *file)
{
    size_t n = strlen(pattern);
    if (strchr(pattern, '/') || (n > 3 && !strcmp(pattern + n - 3, ".py")) || pattern[0] == '<') {
        const char *slash = strrchr(file, '/');
        return !fnmatch(pattern, file, 0) || (slash && !fnmatch(pattern, slash + 1, 0));
    }
    if (!fnmatch(pattern, module, 0))
        return true;
    return !strncmp(pattern, module, n) && module[n] == '.';
}

static bool matches_any(char *const *patterns, const char *module, const char *file)
{
    for (; patterns && *patterns; patterns++)
        if (matches(*patterns, module, file))
            return true;
    return false;
}

/* Our own Python code is no part of the program: what it says of the innermost zone is of the program's. */
static bool is_own(const char *module)
{
    static const char *const packages[] = {"strobe", "tracy_client", "tracy"};
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        size_t n = strlen(packages[i]);
        if (!strncmp(module, packages[i], n) && (!module[n] || module[n] == '.'))
            return true;
    }
    return false;
}

static bool is_filtered(const char *module, const char *file)
{
    const struct strobe_py_tracer *tracer = &strobe_py_tracer;
    if (is_own(module) || matches_any(tracer->exclude, module, file))
        return true;
    return tracer->include && tracer->include[0] && !matches_any(tracer->include, module, file);
}

static char *module_name(PyObject *globals)
{
    PyObject *name = globals && PyDict_Check(globals) ? PyDict_GetItemString(globals, "__name__")
                                                      : NULL; /* borrowed */
    return strobe_py_copy_text(name);
}

/* ---- names ---- */

static char *attribute_text(PyObject *code, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(code, attribute);
    if (!value)
        PyErr_Clear();
    char *text = value ? strobe_py_copy_text(value) : NULL;
    Py_XDECREF(value);
    return text;
}

static long attribute_number(PyObject *code, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(code, attribute);
    long number = value ? PyLong_AsLong(value) : 0;
    Py_XDECREF(value);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return number;
}

static char *join(const char *prefix, const char *text)
{
    size_t n = strlen(prefix);
    char *both = malloc(n + strlen(text) + 1);
    if (both) {
        memcpy(both, prefix, n);
        strcpy(both + n, text);
    }
    return both;
}

/* Names with the prefixes in force, made of the plain name (co_name) as the hooks of others make them. */
static void name_code(struct strobe_py_code *known)
{
    const struct strobe_py_tracer *tracer = &strobe_py_tracer;
    free_names(known);
    if (tracer->prefix[0] || tracer->line_prefix[0]) {
        char *plain = attribute_text(known->code, "co_name");
        if (plain && tracer->prefix[0])
            known->name = join(tracer->prefix, plain);
        if (plain && tracer->line_prefix[0])
            known->line_name = join(tracer->line_prefix, plain);
        free(plain);
    }
    known->loc = (struct strobe_loc){
        0, known->name, known->function, known->file, known->loc.line, 0,
    };
}

enum { CO_FLAG_GENERATOR = 0x20, CO_FLAG_COROUTINE = 0x80, CO_FLAG_ASYNC_GENERATOR = 0x200 };

static void decide(struct strobe_py_code *known, PyObject *globals)
{
    char *module = module_name(globals);
    long kind = attribute_number(known->code, "co_flags");
    known->flags = 0;
    if (kind & CO_FLAG_GENERATOR)
        known->flags |= STROBE_PY_GENERATOR;
    if (kind & CO_FLAG_COROUTINE)
        known->flags |= STROBE_PY_COROUTINE;
    if (kind & CO_FLAG_ASYNC_GENERATOR)
        known->flags |= STROBE_PY_ASYNC_GENERATOR;
    if (strobe_py_tracer.full)
        known->flags |= STROBE_PY_FULL;
    if (!module || is_filtered(module, known->file))
        known->flags = STROBE_PY_FILTERED;
    free(module);
    name_code(known);
    known->generation = strobe_py_tracer.generation;
}

static struct strobe_py_code *make_code(PyObject *code)
{
    struct strobe_py_code *known = calloc(1, sizeof *known);
    if (!known)
        return NULL;
    known->code = code;
    known->function = attribute_text(code, "co_qualname"); /* from 3.11 on */
    if (!known->function)
        known->function = attribute_text(code, "co_name");
    known->file = attribute_text(code, "co_filename");
    known->loc.line = (uint32_t)attribute_number(code, "co_firstlineno");
    if (known->function && known->file && !strobe_py_late.extra_set(code, extra, known))
        return known;
    PyErr_Clear();
    free(known->function);
    free(known->file);
    free(known);
    return NULL;
}

struct strobe_py_code *strobe_py_find_code_slow(PyObject *code, PyObject *globals)
{
    void *at = NULL;
    PyObject *type, *value, *trace;
    if (strobe_py_tracer.source == STROBE_PY_NONE)
        return &nothing;
    strobe_py_thread.busy++;
    PyErr_Fetch(&type, &value, &trace);
    if (strobe_py_late.extra_get(code, extra, &at))
        PyErr_Clear();
    struct strobe_py_code *known = at ? at : make_code(code);
    if (known && known->generation != strobe_py_tracer.generation)
        decide(known, globals);
    PyErr_Restore(type, value, trace);
    strobe_py_thread.busy--;
    if (!known)
        return &nothing;
    strobe_py_codes[strobe_py_code_slot_of(code)] = (struct strobe_py_code_slot){code, known};
    return known;
}

/* ---- lines ---- */

/* The slot of `line`, or the free one where it would go. */
static struct strobe_py_line *line_slot(struct strobe_py_line *lines, uint32_t n_slots,
                                        uint32_t line)
{
    uint32_t at = line * 2654435761u & (n_slots - 1);
    while (lines[at].loc.line && lines[at].loc.line != line)
        at = (at + 1) & (n_slots - 1);
    return &lines[at];
}

static bool grow_lines(struct strobe_py_code *code)
{
    uint32_t n_slots = code->line_slots ? 2 * code->line_slots : 16;
    struct strobe_py_line *lines = calloc(n_slots, sizeof *lines);
    if (!lines)
        return false;
    for (uint32_t i = 0; i < code->line_slots; i++)
        if (code->lines[i].loc.line)
            *line_slot(lines, n_slots, code->lines[i].loc.line) = code->lines[i];
    free(code->lines);
    code->lines = lines;
    code->line_slots = n_slots;
    return true;
}

struct strobe_loc *strobe_py_line_loc(struct strobe_py_code *code, uint32_t line)
{
    if (!line || (2 * code->n_lines >= code->line_slots && !grow_lines(code)))
        return &code->loc;
    struct strobe_py_line *slot = line_slot(code->lines, code->line_slots, line);
    if (!slot->loc.line) {
        slot->loc = (struct strobe_loc){0, code->line_name, code->function, code->file, line, 0};
        code->n_lines++;
    }
    return &slot->loc;
}
