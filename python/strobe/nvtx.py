"""The Python API of NVTX, recorded by Strobe: what `import nvtx` gives where NVIDIA's package is not installed (strobe/drop_in).

NVIDIA's own package is the one that is imported where it is there; `strobe record` sees that one too, by the library that NVTX loads
(docs/frameworks.md). While nobody records, a call costs a flag test."""
import contextlib
import functools
import os
import threading

from strobe import _strobe

__all__ = ["Domain", "EventAttributes", "Profile", "annotate", "enabled", "end_range", "get_domain", "mark", "pop_range", "push_range",
           "start_range"]

_open = threading.local()  # .ranges: {domain's name: [zone or None, ...]}
_DEFAULT = "NVTX"
# those that NVIDIA's package knows without matplotlib
_NAMED = {"blue": 0x0000ff, "cyan": 0x00ffff, "darkgreen": 0x006400, "green": 0x76b900, "orange": 0xffa500, "purple": 0x800080,
          "rapids": 0x7400ff, "red": 0xff0000, "white": 0xffffff, "yellow": 0xffff00}


def color_to_hex(color=None):
    """0xRRGGBB of a name, of a number (as it is), or of what matplotlib knows; ValueError for anything else."""
    if color is None:
        return 0x0000ff
    if isinstance(color, int):
        return color
    if color in _NAMED:
        return _NAMED[color]
    try:
        from matplotlib.colors import to_hex
    except ImportError:
        raise ValueError(f"{color!r} is no colour that is known without matplotlib: {', '.join(_NAMED)}, or a number") from None
    return int(to_hex(color)[1:], 16)


def enabled():
    """False where NVTX_DISABLE is set, as with NVIDIA's package."""
    return not os.environ.get("NVTX_DISABLE")


class EventAttributes:
    """What is said of an event: message, color, category, payload."""

    def __init__(self, domain, message=None, color=None, category=None, payload=None):
        self._domain = domain
        self.message = "" if message is None else str(message)
        self.color = color_to_hex(color) & 0xffffff if color is not None else 0
        self.category = category
        self.payload = payload
        self._zone = None

    def zone(self):
        """Its zone: looked up once, for attributes that are used again."""
        if self._zone is None:
            group = self._domain.name if not self.category else f"{self._domain.name}/{self._domain.category_name(self.category)}"
            self._zone = _strobe.zone(self.message or "(no name)", self.color, "", 0, group)
        return self._zone


class Domain:
    """A domain: made by get_domain(), the same object for the same name."""

    _all: dict = {}

    def __init__(self, name=None):
        self.name = name or _DEFAULT
        self._categories = {}

    @property
    def handle(self):
        return self

    def get_registered_string(self, string):
        return string

    def get_category_id(self, name):
        """A category's number, from 1 on."""
        return self._categories.setdefault(name, len(self._categories) + 1)

    def category_name(self, category):
        if isinstance(category, str):
            return category
        return next((name for name, number in self._categories.items() if number == category), f"category {category}")

    def get_event_attributes(self, message=None, color=None, category=None, payload=None):
        return EventAttributes(self, message, color, category, payload)

    def mark(self, attributes):
        if _strobe.recording():
            _strobe.message(attributes.message, attributes.color, 2)

    def push_range(self, attributes):
        _push(self.name, attributes)

    def pop_range(self):
        _pop(self.name)

    def start_range(self, attributes):
        return attributes.zone().span_begin() if _strobe.recording() else 0

    def end_range(self, range_id):
        if range_id:
            _strobe.span_end(range_id)


def get_domain(name=None):
    """The domain of a name."""
    return Domain._all.setdefault(name, Domain(name))


def _push(domain, attributes):
    ranges = _open.__dict__.setdefault("ranges", {}).setdefault(domain, [])
    zone = attributes.zone() if _strobe.recording() else None
    ranges.append(zone)
    if zone is None:
        return
    zone.begin_loose()
    payload = attributes.payload
    if isinstance(payload, int) and 0 <= payload < 1 << 64:
        zone.value(payload)
    elif payload is not None:
        zone.text(f"payload {payload}")


def _pop(domain):
    ranges = _open.__dict__.get("ranges", {}).get(domain)
    zone = ranges.pop() if ranges else None
    if zone is not None:
        zone.end()


def _attributes(message, color, domain, category, payload):
    if isinstance(domain, Domain):
        return EventAttributes(domain, message, color, category, payload)
    return EventAttributes(get_domain(domain), message, color, category, payload)


class annotate(contextlib.ContextDecorator):
    """A range around a block or a function; without a message, the function's name."""

    def __init__(self, message=None, color=None, domain=None, category=None, payload=None):
        self.attributes = _attributes(message, color, domain, category, payload)
        self.domain = self.attributes._domain

    def __enter__(self):
        _push(self.domain.name, self.attributes)
        return self

    def __exit__(self, *exception):
        _pop(self.domain.name)
        return False

    def __call__(self, function):
        if not self.attributes.message:
            self.attributes.message = function.__name__

        @functools.wraps(function)
        def run(*args, **kwargs):
            _push(self.domain.name, self.attributes)
            try:
                return function(*args, **kwargs)
            finally:
                _pop(self.domain.name)

        return run


def mark(message=None, color="blue", domain=None, category=None, payload=None):
    """A point of time, as a message."""
    if _strobe.recording():
        attributes = _attributes(message, color, domain, category, payload)
        attributes._domain.mark(attributes)


def push_range(message=None, color="blue", domain=None, category=None, payload=None):
    """Begin a range of the calling thread; pop_range() ends it."""
    attributes = _attributes(message, color, domain, category, payload)
    _push(attributes._domain.name, attributes)


def pop_range(domain=None):
    """End the innermost range of the domain on the calling thread."""
    _pop((domain if isinstance(domain, Domain) else get_domain(domain)).name)


def start_range(message=None, color=None, domain=None, category=None, payload=None):
    """Begin a range that may end on another thread; what end_range() wants."""
    attributes = _attributes(message, color, domain, category, payload)
    return attributes._domain.start_range(attributes), attributes._domain


def end_range(range_id):
    """End a range of start_range()."""
    number, domain = range_id
    domain.end_range(number)


class Profile:
    """Function calls between enable() and disable(), as strobe.Profiler traces them."""

    def __init__(self, linenos=True, annotate_cfuncs=True):
        from strobe import Profiler

        self._profiler = Profiler(c_functions=annotate_cfuncs)

    def enable(self):
        self._profiler.enable()

    def disable(self):
        self._profiler.disable()
