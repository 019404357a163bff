"""strobe.Profiler: every call of a Python function as a zone. The C half has the hooks; here are the options,
the words when something is in the way, and the life of a tracing."""
import atexit
import os
import sys

from strobe import _strobe

_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def parse_duration(value):
    """Nanoseconds of 0.001, "1ms", "10us"; ValueError where that is no time, or a negative one."""
    number, unit = value, ""
    if isinstance(value, str):
        number = value.strip().rstrip("nmus")
        unit = value.strip()[len(number):]
    try:
        nanoseconds = int(float(number) * _UNITS[unit] * 1e9)
    except (KeyError, ValueError, OverflowError):
        raise ValueError(f"{value!r} is not a time like 10us or 1ms") from None
    if not 0 <= nanoseconds < 1 << 63:
        raise ValueError(f"min_duration is {value!r}: a time from 0 on")
    return nanoseconds


def _check_depth(value):
    depth = int(value)
    if not 0 <= depth < 1 << 31:
        raise ValueError(f"max_depth is {value!r}: a number from 0 (no limit) on")
    return depth


def _patterns(value):
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(one) for one in value]


def say(text):
    """A clear word to the user, and into the trace."""
    try:
        sys.stderr.write(f"strobe: {text}\n")
    except Exception:  # a program may have closed it
        pass
    _strobe.message(f"strobe: {text}", 0, 3)


def trace(*, lines=False, c_functions=False, include=None, exclude=None, min_duration=0, max_depth=0, gc=True,
          prefix="", line_prefix=""):
    """Make a zone of every Python function call from now on, in all threads of this interpreter.

    include, exclude: modules ("numpy", "my.*") or files ("*/tests/*.py"); exclude wins. min_duration: seconds, or
    "10us": shorter calls leave no zone. max_depth: calls nested deeper leave none. Zones are named prefix + function
    (prefix "": the qualified name), lines line_prefix + function."""
    words = _strobe.trace_start(bool(lines), bool(c_functions), _patterns(include), _patterns(exclude),
                                parse_duration(min_duration), _check_depth(max_depth), bool(gc), prefix, line_prefix)
    for text in words:
        say(text)
    atexit.register(_strobe.trace_leave, say)


def variables(*, lines=False, c_functions=False, include=None, exclude=None, min_duration=0, max_depth=0, gc=True,
              prefix="", line_prefix=""):
    """The same options for interpreters that are started: what _strobe_join.py reads. None: not set.

    Raises TypeError or ValueError for the options that trace() would refuse."""
    parse_duration(min_duration)
    return {"STROBE_PYTHON": "lines" if lines else "functions",
            "STROBE_PYTHON_C": "1" if c_functions else None,
            "STROBE_PYTHON_INCLUDE": ":".join(_patterns(include)) or None,
            "STROBE_PYTHON_EXCLUDE": ":".join(_patterns(exclude)) or None,
            "STROBE_PYTHON_MIN_DURATION": str(min_duration) if min_duration else None,
            "STROBE_PYTHON_MAX_DEPTH": str(_check_depth(max_depth)) if max_depth else None,
            "STROBE_PYTHON_GC": None if gc else "0",
            "STROBE_PYTHON_PREFIX": prefix or None,
            "STROBE_PYTHON_LINE_PREFIX": line_prefix or None}


def check_options(caller, options):
    """Raise TypeError for an option that there is not, in the name of what was called; ValueError as variables()."""
    for name in options:
        if name not in variables.__kwdefaults__:
            raise TypeError(f"{caller}() has no option {name!r}: {', '.join(variables.__kwdefaults__)}")
    variables(**options)


def untrace():
    """Stop making zones of function calls."""
    for text in _strobe.trace_stop():
        say(text)
    atexit.unregister(_strobe.trace_leave)


def tracing():
    """True between trace() and untrace()."""
    return _strobe.trace_is_on()


_enabled = None  # the Profiler that is on, which so lives until it is disabled
_idle = None     # the Recording of a Profiler that is off: open, for it may go on


def _has_idle_recording():
    """Whether what records this process is that one, and this process may end it: a child by fork may not."""
    return _idle is not None and _idle.active and _idle._owner == os.getpid()


def end_idle_recording():
    """Close the file of a Profiler that is off, so that another one can be recorded."""
    global _idle
    recording, _idle = _idle, None
    if recording:
        recording.stop()


class Profiler:
    """Traces function calls between enable() and disable(), like cProfile, or in a `with` block.

    `output`: where to record to, if nobody records this process yet. All that is traced between its enable() and disable()
    calls is in that one file, which is whole after close(), when the Profiler goes, or when the program ends. After a close()
    (or another recording, which closes it) the next file is <output>-2, and so on.

    The options say what is a zone. lines, c_functions: lines and C functions too. include, exclude: modules ("numpy", "my.*") or
    files ("*/tests/*.py"); exclude wins. min_duration: seconds, or "10us": shorter calls leave no zone. max_depth: calls nested
    deeper leave none. gc: a zone per garbage collection. Zones are named prefix + function (prefix "": the qualified name), lines
    line_prefix + function."""

    def __init__(self, output=None, **options):
        check_options("Profiler", options)  # wrong options are refused here, not at enable()
        self._output = output
        self._options = options
        self._recording = None
        self._end = None  # what stops it at the latest
        self._n_files = 0
        self._on = False

    def _next_path(self):
        if not self._n_files:
            return self._output
        root, end = os.path.splitext(os.fspath(self._output))
        return f"{root}-{self._n_files + 1}{end}"

    def _record(self):
        """Have a recording of its own, where one is wanted."""
        global _idle
        if self._recording and self._recording.active:
            _idle = None
            return
        self._recording = None
        if self._output is None or (_strobe.recording() and not _has_idle_recording()):
            return
        import weakref

        from strobe._record import record

        self._recording = record(self._next_path())
        self._n_files += 1
        self._end = weakref.finalize(self, self._recording.stop)  # or at the program's end

    @property
    def active(self):
        """True between enable() and disable()."""
        return self._on

    def enable(self):
        """Begin to trace; nothing where a tracing is on already."""
        global _enabled
        if self._on or tracing():
            return
        self._record()
        try:
            if self._recording:
                self._recording._trace_functions(self._options)
            else:
                trace(**self._options)
        except BaseException:
            self.close()
            raise
        self._on, _enabled = True, self

    def disable(self):
        """Stop what enable() began."""
        global _enabled, _idle
        if not self._on:
            return
        self._on, _enabled = False, None
        if self._recording:
            self._recording._untrace()
            _idle = self._recording
        else:
            untrace()

    def close(self):
        """Disable it, and end its file, which is whole then."""
        global _idle
        self.disable()
        if self._recording:
            if _idle is self._recording:
                _idle = None
            self._end()
            self._recording = None

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *exception):
        self.disable()
