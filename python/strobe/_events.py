"""Messages, plots and flows in the form that Python programs like; the C half does the work."""
from strobe import _strobe

SEVERITIES = {"trace": 0, "debug": 1, "info": 2, "warning": 3, "error": 4, "fatal": 5}
FORMATS = {"number": 0, "bytes": 1, "percent": 2, "watt": 3}


def _number_of(word, numbers, what):
    """The number of a word; ValueError for another word, whether somebody records or not."""
    try:
        return numbers[word]
    except (KeyError, TypeError):
        raise ValueError(f"{word!r} is no {what}: {', '.join(numbers)}") from None


def message(text, color=0, severity="info"):
    """Put a line of text on the timeline, on the calling thread's track.

    severity: trace, debug, info, warning, error or fatal, or its number from 0 to 5."""
    if not isinstance(severity, int):
        severity = _number_of(severity, SEVERITIES, "severity")
    elif not 0 <= severity <= 5:
        raise ValueError(f"{severity} is no severity: 0 (trace) to 5 (fatal)")
    if not _strobe.recording():
        return
    _strobe.message(text if isinstance(text, str) else str(text), color, severity)


def plot(name, value, format=None, step=False, color=0):
    """Add a point to the plot `name`; `format` (number, bytes, percent, watt), `step` and `color` say how it is drawn."""
    if format is not None or step or color:
        number = _number_of(format or "number", FORMATS, "plot format")
        _strobe.plot_config(name, number, 1 if step else 0, color)
    _strobe.plot(name, value)


class flow:
    """An arrow through zones of any threads and processes: begin() in one, step() in others, end() in the last.

    `id` is a plain number: send it along with the work, and take the flow up again with flow(id)."""

    __slots__ = ("id",)

    def __init__(self, id=None):
        self.id = _strobe.new_id() if id is None else id

    def begin(self):
        """The flow begins in the innermost open zone."""
        _strobe.flow_begin(self.id)
        return self

    def step(self):
        """The flow goes through the innermost open zone."""
        _strobe.flow_step(self.id)
        return self

    def end(self):
        """The flow ends in the innermost open zone."""
        _strobe.flow_end(self.id)
        return self


def set_thread_name(name):
    """Name the calling thread in the trace; the names that Python gives are recorded without it."""
    _strobe.set_thread_name(name)
