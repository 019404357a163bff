"""strobe.open: the tables of a trace for pandas, polars, pyarrow, DuckDB, or plain loops. The C half (strobe._tables) makes Arrow
streams; here are the objects that carry what was asked for."""
import collections
import os

try:
    from strobe import _tables
except ImportError as problem:  # a wheel for traced programs alone
    _tables, _why = None, problem

_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
_BLOCK_ROWS = 8192  # of a plain loop


class Table:
    """Rows that were asked for, not yet read. Every reader gets a stream of its own, so a table can be read again and again."""

    def __init__(self, paths, words, table=None, sql=None, columns=None, start=None, end=None, track=None, process=None, name=None,
                 timeout=0.0, memory=0):
        self._words = words
        self._request = (paths, table, sql, None if columns is None else tuple(columns), _FIRST if start is None else start,
                         _LAST if end is None else end, -1 if track is None else track, -1 if process is None else process, name)
        self._limits = (int(timeout * 1000), memory)

    def _stream(self, max_rows):
        return _tables.stream(*self._request, max_rows, *self._limits)

    def __arrow_c_stream__(self, requested_schema=None):
        """The rows as an Arrow stream (PyCapsule): what pyarrow, pandas, polars and DuckDB ask for."""
        return self._stream(0)

    @property
    def columns(self):
        """The names of the columns."""
        return _tables.column_names(self._stream(_BLOCK_ROWS))

    def __iter__(self):
        """The rows as named tuples; one block of them is held at a time."""
        stream = self._stream(_BLOCK_ROWS)
        row = collections.namedtuple("Row", _tables.column_names(stream), rename=True)
        for block in iter(lambda: _tables.next_rows(stream), None):
            yield from map(row._make, block)

    def __repr__(self):
        return f"<strobe.Table {self._words}>"


class Trace:
    """One trace, or several: trace_id tells their rows apart."""

    def __init__(self, paths):
        self._paths = paths
        self.query("SELECT 1").columns  # a file that is no trace is refused here

    def query(self, sql, timeout=0.0, memory=0):
        """The answer to an SQL statement (docs/query.md). timeout: seconds; memory: bytes that sorting may take; 0: no bound."""
        return Table(self._paths, repr(sql), sql=sql, timeout=timeout, memory=memory)

    def table(self, name, columns=None, start=None, end=None, track=None, process=None, rows_named=None):
        """A table by its name. columns: only these are decoded. start, end: rows from start on and before end, in ns. track,
        process: ids, or the name of a process. rows_named: only those whose column `name` is this text."""
        if isinstance(process, str):
            process = self._process_id(process)
        return Table(self._paths, name, table=name, columns=columns, start=start, end=end, track=track, process=process,
                     name=rows_named)

    def zones(self, columns=None, start=None, end=None, name=None, process=None, track=None):
        """The zones, or those that begin in a time, have a name, belong to a process or a track."""
        return self.table("zone", columns, start, end, track, process, name)

    def _process_id(self, name):
        found = [row.id for row in self.table("process", ["id", "name"]) if row.name == name]
        if len(found) != 1:
            raise ValueError(f"{len(found)} processes are named {name!r}: give the id of one, see .process()")
        return found[0]

    @property
    def tables(self):
        """{name: columns} of every table."""
        return {name: tuple(column.split()[0] for column in columns.split(", ") if not column.endswith(" HIDDEN"))
                for name, columns, _ in _tables.tables()}

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.tables:
            raise AttributeError(f"a trace has no table {name!r}: {', '.join(self.tables)}")

        def table(columns=None, start=None, end=None, track=None, process=None, rows_named=None):
            return self.table(name, columns, start, end, track, process, rows_named)

        table.__name__, table.__doc__ = name, f"The table {name}: see table()."
        return table

    def __dir__(self):
        return [*super().__dir__(), *self.tables]

    def __repr__(self):
        return f"<strobe.Trace {', '.join(self._paths)}>"


def open(path, *more):  # noqa: A001
    """A trace to read: a path, or several. OSError where it can't be read or is no trace."""
    if _tables is None:
        raise ImportError(f"this build of Strobe can record and not read: {_why}")
    return Trace(tuple(os.fspath(one) for one in (path, *more)))
