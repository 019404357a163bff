/* tables.c - strobe._tables: a table of traces, or the answer to a query, as an Arrow stream in a capsule, or as tuples, one
 * block of rows at a time. The package's _open.py makes objects of it.
 *
 * Every stream has a connection of its own, so streams need no lock between them; the interpreter's lock is given up while
 * rows are made. A stream never calls into Python: consumers read it on threads of theirs.  SPDX-License-Identifier: MIT */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/arrow.h"

enum { MAX_PATHS = 4096, MAX_COLUMNS = 64 };
static const char stream_name[] = "arrow_array_stream";

/* ---- texts of Python ---- */

/* The items of a tuple as UTF-8, kept by `owners`, a new list. -1 with an exception; else how many. */
static Py_ssize_t read_texts(PyObject *tuple, const char **out, Py_ssize_t max, PyObject **owners)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    *owners = NULL;
    if (n < 0)
        return -1;
    if (n > max) {
        PyErr_Format(PyExc_ValueError, "%zd are too many, %zd are allowed", n, max);
        return -1;
    }
    *owners = PyList_New(0);
    for (Py_ssize_t i = 0; *owners && i < n; i++) {
        PyObject *bytes;
        if (!PyUnicode_FSConverter(PyTuple_GetItem(tuple, i), &bytes))
            return -1;
        out[i] = PyBytes_AsString(bytes);
        int failed = PyList_Append(*owners, bytes);
        Py_DECREF(bytes);
        if (failed)
            return -1;
    }
    return *owners ? n : -1;
}

/* ---- failures ---- */

static void *raise_words(enum strobe_err err, const char *words)
{
    PyObject *type = err == STROBE_ERR_INVALID    ? PyExc_ValueError
                     : err == STROBE_ERR_NOMEM    ? PyExc_MemoryError
                     : err == STROBE_ERR_LIMIT    ? PyExc_TimeoutError
                     : err == STROBE_ERR_NOTFOUND ? PyExc_FileNotFoundError
                     : err == STROBE_ERR_ACCESS   ? PyExc_PermissionError
                                                  : PyExc_OSError;
    PyErr_SetString(type, words);
    return NULL;
}

static void *raise_sql(const struct strobe_sql *sql, enum strobe_err err)
{
    const char *words = strobe_sql_error(sql);
    return raise_words(err, *words ? words : strobe_err_text(err));
}

static void *raise_path(const char *path, enum strobe_err err)
{
    char words[4500];
    snprintf(words, sizeof words, "%s: %s", path, strobe_err_text(err));
    return raise_words(err, words);
}

/* ---- streams ---- */

struct request {
    const char *paths[MAX_PATHS], *columns[MAX_COLUMNS];
    unsigned n_paths;
    const char *sql; /* NULL: a table */
    struct strobe_columns_ask ask;
    struct strobe_sql_limits limits;
};

/* Open connection and reader, without the interpreter's lock. */
static enum strobe_err open_reader(const struct request *request, unsigned *failed,
                                   struct strobe_sql **sql, struct strobe_columns **reader)
{
    enum strobe_err err;
    *reader = NULL;
    err = strobe_sql_open(request->paths, request->n_paths, &request->limits, failed, sql);
    if (err)
        return err;
    return request->sql ? strobe_columns_query(*sql, request->sql, request->ask.max_rows, reader)
                        : strobe_columns_open(*sql, &request->ask, reader);
}

static void free_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
    if (!stream) {
        PyErr_Clear();
        return;
    }
    if (stream->release)
        stream->release(stream);
    free(stream);
}

/* A capsule with the stream that was asked for. */
static PyObject *make_stream(const struct request *request)
{
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    struct strobe_sql *sql = NULL;
    struct strobe_columns *reader = NULL;
    unsigned failed = 0;
    enum strobe_err err;
    if (!stream)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS err = open_reader(request, &failed, &sql, &reader);
    Py_END_ALLOW_THREADS if (err)
    {
        free(stream);
        if (!sql)
            return raise_path(request->paths[failed], err);
        raise_sql(sql, err);
        strobe_sql_close(sql);
        return NULL;
    }
    err = strobe_arrow_stream(sql, reader, stream);
    PyObject *capsule = err ? PyErr_NoMemory() : PyCapsule_New(stream, stream_name, free_capsule);
    if (!capsule) {
        if (stream->release)
            stream->release(stream);
        free(stream);
    }
    return capsule;
}

/* stream(paths, table, sql, columns, start, end, track, process, name, max_rows, timeout_ms, heap_bytes): None where there is
 * no wish. */
static PyObject *on_stream(PyObject *self, PyObject *args)
{
    (void)self;
    struct request *request = calloc(1, sizeof *request);
    PyObject *paths, *columns, *path_owners = NULL, *column_owners = NULL, *capsule = NULL;
    if (!request)
        return PyErr_NoMemory();
    struct strobe_columns_ask *ask = &request->ask;
    long long start, end, track, process;
    unsigned long long timeout_ms, heap_bytes;
    unsigned max_rows;
    if (PyArg_ParseTuple(args, "O!zzOLLLLzIKK", &PyTuple_Type, &paths, &ask->table, &request->sql,
                         &columns, &start, &end, &track, &process, &ask->name, &max_rows,
                         &timeout_ms, &heap_bytes)) {
        ask->start_ns = start;
        ask->end_ns = end;
        ask->track = track;
        ask->process = process;
        ask->max_rows = max_rows;
        request->limits =
            (struct strobe_sql_limits){.timeout_ms = timeout_ms, .heap_bytes = heap_bytes};
        Py_ssize_t n_paths = read_texts(paths, request->paths, MAX_PATHS, &path_owners), n = 0;
        if (n_paths >= 0 && columns != Py_None) {
            n = read_texts(columns, request->columns, MAX_COLUMNS, &column_owners);
            ask->columns = request->columns;
        }
        request->n_paths = (unsigned)n_paths;
        ask->n_columns = (unsigned)n;
        if (n_paths >= 0 && n >= 0)
            capsule = make_stream(request);
    }
    Py_XDECREF(path_owners);
    Py_XDECREF(column_owners);
    free(request);
    return capsule;
}

/* ---- rows as tuples ---- */

static int is_valid(const struct ArrowArray *array, int64_t row)
{
    const uint8_t *bits = array->buffers[0];
    return !bits || bits[row >> 3] >> (row & 7) & 1;
}

static PyObject *text_at(const struct ArrowArray *array, int64_t row)
{
    const int32_t *offsets = array->buffers[1];
    return PyUnicode_DecodeUTF8((const char *)array->buffers[2] + offsets[row],
                                offsets[row + 1] - offsets[row], "replace");
}

/* A value of a column of one of our own streams. `names`: the dictionary's texts, as a list, NULL without one. */
static PyObject *value_at(const struct ArrowArray *array, char format, PyObject *names, int64_t row)
{
    if (!is_valid(array, row))
        Py_RETURN_NONE;
    if (names) {
        PyObject *name = PyList_GetItem(names, ((const int32_t *)array->buffers[1])[row]);
        Py_XINCREF(name);
        return name;
    }
    switch (format) {
    case 'l':
        return PyLong_FromLongLong(((const int64_t *)array->buffers[1])[row]);
    case 'i':
        return PyLong_FromLong(((const int32_t *)array->buffers[1])[row]);
    case 'g':
        return PyFloat_FromDouble(((const double *)array->buffers[1])[row]);
    }
    return text_at(array, row);
}

/* The texts of a dictionary, made once per batch. */
static PyObject *list_names(const struct ArrowArray *dictionary)
{
    PyObject *names = PyList_New(0);
    for (int64_t i = 0; names && i < dictionary->length; i++) {
        PyObject *text = text_at(dictionary, i);
        if (!text || PyList_Append(names, text))
            Py_CLEAR(names);
        Py_XDECREF(text);
    }
    return names;
}

/* One column put into the tuples; 0 with an exception. */
static int fill_column(PyObject *rows, const struct ArrowArray *batch,
                       const struct ArrowSchema *schema, Py_ssize_t column)
{
    const struct ArrowArray *array = batch->children[column];
    PyObject *names = array->dictionary ? list_names(array->dictionary) : NULL;
    int is_good = !array->dictionary || names;
    for (int64_t row = 0; is_good && row < batch->length; row++) {
        PyObject *value = value_at(array, schema->children[column]->format[0], names, row);
        is_good = value && !PyTuple_SetItem(PyList_GetItem(rows, row), column, value);
    }
    Py_XDECREF(names);
    return is_good;
}

static PyObject *make_rows(const struct ArrowArray *batch, const struct ArrowSchema *schema)
{
    PyObject *rows = PyList_New((Py_ssize_t)batch->length);
    for (int64_t i = 0; rows && i < batch->length; i++) {
        PyObject *row = PyTuple_New((Py_ssize_t)batch->n_children);
        if (!row || PyList_SetItem(rows, (Py_ssize_t)i, row))
            Py_CLEAR(rows);
    }
    for (int64_t i = 0; rows && i < batch->n_children; i++)
        if (!fill_column(rows, batch, schema, (Py_ssize_t)i))
            Py_CLEAR(rows);
    return rows;
}

/* The stream of a capsule of on_stream that nobody has moved away; NULL with an exception. */
static struct ArrowArrayStream *stream_of(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
    if (stream && !stream->release) {
        PyErr_SetString(PyExc_ValueError, "the stream was taken by another reader");
        return NULL;
    }
    return stream;
}

/* next_rows(capsule): a list of tuples, the rows of the next batch; None at the end. */
static PyObject *on_next_rows(PyObject *self, PyObject *capsule)
{
    (void)self;
    struct ArrowArrayStream *stream = stream_of(capsule);
    struct ArrowSchema schema;
    struct ArrowArray batch;
    PyObject *rows = NULL;
    if (!stream)
        return NULL;
    if (stream->get_schema(stream, &schema))
        return PyErr_NoMemory();
    int code;
    Py_BEGIN_ALLOW_THREADS code = stream->get_next(stream, &batch);
    Py_END_ALLOW_THREADS if (code)
    {
        PyErr_SetString(code == EINVAL ? PyExc_ValueError : PyExc_OSError,
                        stream->get_last_error(stream));
    }
    else if (batch.release)
    {
        rows = make_rows(&batch, &schema);
        batch.release(&batch);
    }
    else
    {
        rows = Py_None;
        Py_INCREF(rows);
    }
    schema.release(&schema);
    return rows;
}

/* column_names(capsule): a tuple of texts. */
static PyObject *on_column_names(PyObject *self, PyObject *capsule)
{
    (void)self;
    struct ArrowArrayStream *stream = stream_of(capsule);
    struct ArrowSchema schema;
    if (!stream)
        return NULL;
    if (stream->get_schema(stream, &schema))
        return PyErr_NoMemory();
    PyObject *names = PyTuple_New((Py_ssize_t)schema.n_children);
    for (int64_t i = 0; names && i < schema.n_children; i++) {
        PyObject *name = PyUnicode_FromString(schema.children[i]->name);
        if (!name || PyTuple_SetItem(names, (Py_ssize_t)i, name))
            Py_CLEAR(names);
    }
    schema.release(&schema);
    return names;
}

/* tables(): a list of (name, columns as CREATE TABLE has them, help). */
static PyObject *on_tables(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    const char *name, *columns, *help;
    PyObject *tables = PyList_New(0);
    for (unsigned i = 0; tables && (name = strobe_sql_table(i, &columns, &help)); i++) {
        PyObject *table = Py_BuildValue("(sss)", name, columns, help);
        if (!table || PyList_Append(tables, table))
            Py_CLEAR(tables);
        Py_XDECREF(table);
    }
    return tables;
}

static PyMethodDef methods[] = {
    {"stream", on_stream, METH_VARARGS, "An Arrow stream of a table or of a query."},
    {"next_rows", on_next_rows, METH_O, "The next rows of a stream as tuples."},
    {"column_names", on_column_names, METH_O, "The columns of a stream."},
    {"tables", on_tables, METH_NOARGS, "The tables of a trace."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    "strobe._tables",
                                    "Traces as Arrow streams.",
                                    -1,
                                    methods,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC PyInit__tables(void);
PyMODINIT_FUNC PyInit__tables(void)
{
    return PyModule_Create(&module);
}
