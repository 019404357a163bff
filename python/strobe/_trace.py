"""strobe.trace(), Profiler: every call of a Python function as a zone. The C half has the hooks; here are the options,
the words when something is in the way, and the life of a tracing."""
import atexit
import sys

from strobe import _strobe

_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def parse_duration(value):
    """Nanoseconds of 0.001, "1ms", "10us"."""
    if not isinstance(value, str):
        return int(float(value) * 1e9)
    number = value.strip().rstrip("nmus")
    unit = value.strip()[len(number):]
    try:
        return int(float(number) * _UNITS[unit] * 1e9)
    except (KeyError, ValueError):
        raise ValueError(f"{value!r} is not a time like 10us or 1ms") from None


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
                                parse_duration(min_duration), int(max_depth), bool(gc), prefix, line_prefix)
    for text in words:
        say(text)
    atexit.register(_strobe.trace_leave, say)


def untrace():
    """Stop making zones of function calls."""
    for text in _strobe.trace_stop():
        say(text)
    atexit.unregister(_strobe.trace_leave)


def tracing():
    """True between trace() and untrace()."""
    return _strobe.trace_is_on()


class Profiler:
    """Traces function calls between enable() and disable(), like cProfile, or in a `with` block.

    `output`: where to record to while enabled, if nobody records this process yet. The other options are trace()'s."""

    def __init__(self, output=None, **options):
        self._output = output
        self._options = options
        self._recording = None
        self._on = False

    def enable(self):
        """Begin to trace; nothing where a tracing is on already."""
        if self._on or tracing():
            return
        if self._output is not None and not _strobe.recording():
            from strobe._record import record

            self._recording = record(self._output, functions=True, **self._options)
        else:
            trace(**self._options)
        self._on = True

    def disable(self):
        """Stop what enable() began."""
        if not self._on:
            return
        self._on = False
        if self._recording:
            self._recording.stop()
            self._recording = None
        else:
            untrace()

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *exception):
        self.disable()
