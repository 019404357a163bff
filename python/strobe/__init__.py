"""Strobe: see what a program does, over all its threads and processes, on one timeline.

    import strobe

    with strobe.record("out.strobe"):          # or: strobe record -- python app.py
        with strobe.zone("load"):
            ...
        strobe.plot("queue", 3)

    @strobe.zone("step")
    def step(): ...

    with strobe.Profiler("calls.strobe"):       # every function call
        ...

    trace = strobe.open("out.strobe")           # tables for pandas, polars, DuckDB: docs/python.md
    pandas.DataFrame.from_arrow(trace.zones(name="load"))

Zones, messages, plots cost a flag test while nobody records. `strobe stats out.strobe` shows the file.

PYTEST_DONT_REWRITE (a word to pytest, which would warn that this was imported before its plugin)
"""
from strobe._refuse import refuse as _refuse

_refuse(__path__)

from strobe._strobe import (  # noqa: E402
    Zone,
    app_info,
    counter,
    frame,
    frame_end,
    frame_start,
    memory_alloc,
    memory_free,
    recording,
    set_program_name,
    trigger,
    zone,
)
from strobe._events import (  # noqa: E402
    flow,
    message,
    plot,
    set_thread_name,
)
from strobe._record import record  # noqa: E402
from strobe._schedule import schedule  # noqa: E402
from strobe._trace import Profiler  # noqa: E402

# Older names, no longer documented: Profiler().enable(), .disable() and .active do what trace(), untrace() and tracing() did.
# Programs that use them go on as they are.
from strobe._record import Recording  # noqa: E402,F401
from strobe._trace import trace, tracing, untrace  # noqa: E402,F401

__version__ = "0.1.0"
# `open` is not among them: a star import would hide Python's own
__all__ = [
    "Profiler", "Table", "Trace", "Zone", "app_info", "assert_trace", "counter", "flow", "frame", "frame_end", "frame_start",
    "memory_alloc", "memory_free", "message", "plot", "record", "recording", "schedule", "set_program_name",
    "set_thread_name", "trigger", "zone",
]


_LATER = {"Table": "_open", "Trace": "_open", "assert_trace": "_assert", "open": "_open"}


def __getattr__(name):
    """strobe.ttnn_names and the readers of traces, for programs that import strobe alone; others do not pay for them."""
    import importlib
    if name == "ttnn_names":
        return importlib.import_module("strobe.ttnn_names")
    if name in _LATER:
        return getattr(importlib.import_module(f"strobe.{_LATER[name]}"), name)
    raise AttributeError(f"module 'strobe' has no attribute {name!r}")


def load_ipython_extension(shell):
    """%load_ext strobe: the magic %%strobe records a cell and shows its zones."""
    from strobe import jupyter
    jupyter.load_ipython_extension(shell)
