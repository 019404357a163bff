import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])
_Patterns = str | Sequence[str] | None
_Severity = Literal["trace", "debug", "info", "warning", "error", "fatal"]

__version__: str

class Zone:
    """A named zone: a context manager, a decorator, and `async with` (a span). Made by zone()."""

    @property
    def name(self) -> str: ...
    def __enter__(self) -> Zone: ...
    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /) -> None: ...
    async def __aenter__(self) -> Zone: ...
    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /) -> None: ...
    def __call__(self, function: _F, /) -> _F: ...
    def begin(self) -> None:
        """Begin the zone on the calling thread; end() ends it."""
    def end(self) -> None:
        """End the zone that begin() began."""
    def text(self, text: object, /) -> None:
        """Add a line of text to the innermost open zone."""
    def rename(self, name: str, /) -> None:
        """Give the innermost open zone a name of its own."""
    def value(self, value: int, /) -> None:
        """Give the innermost open zone a number."""
    def recolor(self, color: int, /) -> None:
        """Give the innermost open zone a colour, 0xRRGGBB."""

@overload
def zone(name: str, color: int = 0, file: str | None = None, line: int = 0, function: str | None = None) -> Zone:
    """A zone for `with`, `async with`, or as a decorator; the same object for the same name and colour."""
@overload
def zone(name: _F, /) -> _F:
    """Decorate a function; its name is the zone's."""

def message(text: object, color: int = 0, severity: _Severity | int = "info") -> None:
    """Put a line of text on the timeline, on the calling thread's track."""
def plot(name: str, value: float, format: Literal["number", "bytes", "percent", "watt"] | None = None, step: bool = False, color: int = 0) -> None:
    """Add a point to the plot `name`."""
def counter(name: str, add: int = 1, /) -> int:
    """Add to the process's counter `name`, plot and return its total."""
def frame(name: str | None = None, /) -> None:
    """A frame ends here and the next one begins."""
def frame_start(name: str | None = None, /) -> None:
    """A frame begins that frame_end() ends."""
def frame_end(name: str | None = None, /) -> None:
    """The frame that frame_start() began ends."""
def memory_alloc(address: int, size: int, pool: str, /) -> None:
    """A block of memory was taken from a pool."""
def memory_free(address: int, pool: str, /) -> None:
    """A block of memory was given back to a pool."""

class flow:
    """An arrow through zones of any threads and processes: begin(), step() ..., end()."""

    id: int
    def __init__(self, id: int | None = None) -> None: ...
    def begin(self) -> flow: ...
    def step(self) -> flow: ...
    def end(self) -> flow: ...

def set_thread_name(name: str) -> None:
    """Name the calling thread in the trace; Python's own thread names are taken over by themselves."""
def set_program_name(name: str, /) -> None:
    """Name the program in the trace."""
def app_info(text: str, /) -> None:
    """A line about the program."""
def trigger(reason: str, /) -> None:
    """Ask a flight recorder to keep what it has."""
def recording() -> bool:
    """True while a recorder takes this process's events."""

class Recording:
    """A recording in progress: stop() ends it, and so does the end of a `with` block."""

    path: str
    @property
    def active(self) -> bool: ...
    def stop(self) -> None:
        """End the recording; the file is whole when this returns."""
    def __enter__(self) -> Recording: ...
    def __exit__(self, *exception: object) -> None: ...

def record(path: str | os.PathLike[str], *, max_memory: str | int | None = None, max_file: str | int | None = None, functions: bool = False, lines: bool = ..., c_functions: bool = ..., include: _Patterns = ..., exclude: _Patterns = ..., min_duration: float | str = ..., max_depth: int = ..., gc: bool = ...) -> Recording:
    """Record this process and the children that it starts meanwhile into `path`; with `functions`, every call."""

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

    `output`: where to record to while enabled, if nobody records this process yet. The other options are trace()'s."""

    def __init__(self, output: str | os.PathLike[str] | None = None, *, lines: bool = False, c_functions: bool = False, include: _Patterns = None, exclude: _Patterns = None, min_duration: float | str = 0, max_depth: int = 0, gc: bool = True, prefix: str = "", line_prefix: str = "") -> None: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...
    def __enter__(self) -> Profiler: ...
    def __exit__(self, *exception: object) -> None: ...

def load_ipython_extension(shell: Any) -> None:
    """%load_ext strobe: the magic %%strobe records a cell and shows its zones."""
