import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from strobe import ttnn_names as ttnn_names
from strobe._strobe import (
    Zone as Zone,
    app_info as app_info,
    counter as counter,
    frame as frame,
    frame_end as frame_end,
    frame_start as frame_start,
    memory_alloc as memory_alloc,
    memory_free as memory_free,
    recording as recording,
    set_program_name as set_program_name,
    trigger as trigger,
    zone as zone,
)

_Patterns = str | Sequence[str] | None
_Severity = Literal["trace", "debug", "info", "warning", "error", "fatal"]

__version__: str
__all__ = [
    "Profiler", "Table", "Trace", "Zone", "app_info", "assert_trace", "counter", "flow", "frame", "frame_end", "frame_start",
    "memory_alloc", "memory_free", "message", "plot", "record", "recording", "schedule", "set_program_name",
    "set_thread_name", "trigger", "zone",
]

def message(text: object, color: int = 0, severity: _Severity | int = "info") -> None:
    """Put a line of text on the timeline, on the calling thread's track."""
def plot(name: str, value: float, format: Literal["number", "bytes", "percent", "watt"] | None = None, step: bool = False, color: int = 0) -> None:
    """Add a point to the plot `name`."""

class flow:
    """An arrow through zones of any threads and processes: begin(), step() ..., end()."""

    id: int
    def __init__(self, id: int | None = None) -> None: ...
    def begin(self) -> flow: ...
    def step(self) -> flow: ...
    def end(self) -> flow: ...

def set_thread_name(name: str) -> None:
    """Name the calling thread in the trace; Python's own thread names are taken over by themselves."""

class Recording:
    """A recording in progress: stop() ends it, and so does the end of a `with` block."""

    path: str
    def __init__(self, path: str | os.PathLike[str], options: Sequence[str] = ()) -> None: ...
    @property
    def active(self) -> bool: ...
    def stop(self) -> None:
        """End the recording; the file is whole when this returns."""
    def __enter__(self) -> Recording: ...
    def __exit__(self, *exception: object) -> None: ...

def record(path: str | os.PathLike[str], *, max_memory: str | int | None = None, max_file: str | int | None = None, functions: bool = False, lines: bool = ..., c_functions: bool = ..., include: _Patterns = ..., exclude: _Patterns = ..., min_duration: float | str = ..., max_depth: int = ..., gc: bool = ...) -> Recording:
    """Record this process and the children that it starts meanwhile into `path`; with `functions`, every call.

    A trace at `path` is replaced; for any other file there, FileExistsError is raised."""

class schedule:
    """Record some steps of a loop: after `skip_first` steps, `wait` and `warmup` go by and `active` are recorded, `repeat` times (0: as long as the loop runs)."""

    def __init__(self, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, *, path: str | os.PathLike[str] = "steps.strobe", ready: Callable[[str], object] | None = None, **options: Any) -> None: ...
    def phase(self, step: int) -> Literal["wait", "warmup", "active", "done"]:
        """What a step, counted from 0, is."""
    def path_of(self, step: int) -> str:
        """The trace of an active step."""
    @property
    def active(self) -> bool: ...
    def step(self) -> None:
        """A step of the loop has ended."""
    def stop(self) -> None:
        """End the recording that runs, if one does."""
    def __enter__(self) -> schedule: ...
    def __exit__(self, *exception: object) -> None: ...

# Older names; Profiler does the same.
def trace(*, lines: bool = False, c_functions: bool = False, include: _Patterns = None, exclude: _Patterns = None, min_duration: float | str = 0, max_depth: int = 0, gc: bool = True, prefix: str = "", line_prefix: str = "") -> None:
    """Make a zone of every Python function call from now on, in all threads.

    include, exclude: modules ("numpy", "my.*") or files ("*/tests/*.py"); exclude wins. min_duration: seconds, or
    "10us": shorter calls leave no zone. max_depth: calls nested deeper leave none. Zones are named prefix + function
    (prefix "": qualified name), lines line_prefix + function."""
def untrace() -> None:
    """Stop making zones of function calls."""
def tracing() -> bool:
    """True between trace() and untrace()."""

class Profiler:
    """Traces function calls between enable() and disable(), like cProfile, or in a `with` block.

    `output`: where to record to, if nobody records this process yet. All that is traced between its enable() and disable()
    calls is in that one file, which is whole after close(), when the Profiler goes, or when the program ends.

    include, exclude: modules ("numpy", "my.*") or files ("*/tests/*.py"); exclude wins. min_duration: seconds, or "10us":
    shorter calls leave no zone. max_depth: calls nested deeper leave none."""

    def __init__(self, output: str | os.PathLike[str] | None = None, *, lines: bool = False, c_functions: bool = False, include: _Patterns = None, exclude: _Patterns = None, min_duration: float | str = 0, max_depth: int = 0, gc: bool = True, prefix: str = "", line_prefix: str = "") -> None: ...
    @property
    def active(self) -> bool: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...
    def close(self) -> None:
        """Disable it, and end its file, which is whole then."""
    def __enter__(self) -> Profiler: ...
    def __exit__(self, *exception: object) -> None: ...

def load_ipython_extension(shell: Any) -> None:
    """%load_ext strobe: the magic %%strobe records a cell and shows its zones."""

class Table:
    """Rows that were asked for, not yet read; pandas, polars, pyarrow and DuckDB take it as it is."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    def __iter__(self) -> Iterator[Any]: ...

class Trace:
    """One trace, or several: trace_id tells their rows apart. Every table is a method of its own name too."""

    def query(self, sql: str, timeout: float = 0.0, memory: int = 0) -> Table: ...
    def table(self, name: str, columns: Sequence[str] | None = None, start: int | None = None, end: int | None = None, track: int | None = None,
              process: int | str | None = None, rows_named: str | None = None) -> Table: ...
    def zones(self, columns: Sequence[str] | None = None, start: int | None = None, end: int | None = None, name: str | None = None,
              process: int | str | None = None, track: int | None = None) -> Table: ...
    @property
    def tables(self) -> dict[str, tuple[str, ...]]: ...
    def __getattr__(self, name: str) -> Callable[..., Table]: ...

class _TraceAssert:
    trace: Trace
    def count(self, name: str, exactly: int | None = None, at_least: int | None = None, at_most: int | None = None) -> _TraceAssert: ...
    def budget(self, name: str, **limits: float) -> _TraceAssert: ...
    def order(self, *names: str) -> _TraceAssert: ...
    def inside(self, name: str, outer: str) -> _TraceAssert: ...
    def nothing_lost(self) -> _TraceAssert: ...

def open(path: str | os.PathLike[str], *more: str | os.PathLike[str]) -> Trace:
    """A trace to read: a path, or several."""
def assert_trace(trace: Trace | str | os.PathLike[str]) -> _TraceAssert:
    """Demands on a trace: budgets of time, counts, order."""
