"""ttnn's profiling names: tracy_message, start_tracy_zone, stop_tracy_zone, tracy_frame.

`patch()` puts them into a `ttnn` that lacks them. Zones are recorded per thread; a zone may be stopped in another function
than it was started in. A new name or colour can only be given to a thread's innermost zone: while functions are traced,
that is the zone of the function that runs, unless the zone was started in it."""
import sys
import threading
import warnings

from strobe import _strobe

MESSAGE_MAX_BYTES = 65534
NAMES = ("start_tracy_zone", "stop_tracy_zone", "tracy_message", "tracy_frame")
_open = threading.local()


def start_tracy_zone(source="", functName="", lineNum=0, color=0, *, line_number=None):
    """Begin a zone on the calling thread; stop_tracy_zone ends the innermost one."""
    line = lineNum if line_number is None else line_number
    zone = _strobe.zone(functName, int(color), source or "?", int(line), functName)
    stack = _open.__dict__.setdefault("zones", [])
    stack.append((zone, id(sys._getframe(1))))
    zone.begin()


def stop_tracy_zone(name="", color=0):
    """End the thread's innermost zone, with a new name or colour if given. True: none was open.

    While functions are traced, one that is stopped in another function than it was started in keeps name and colour."""
    stack = _open.__dict__.get("zones")
    if not stack:
        return True
    zone, started_in = stack.pop()
    if not _strobe.trace_is_on() or started_in == id(sys._getframe(1)):
        if name and name != zone.name:
            zone.rename(name)
        if color:
            zone.recolor(int(color))
    zone.end()
    return False


def tracy_message(message, color=0xF0F8FF):
    """Put a text on the timeline; what is over 65534 bytes is cut, with a warning."""
    data = str(message).encode("utf-8", "backslashreplace")
    if len(data) > MESSAGE_MAX_BYTES:
        warnings.warn(f"tracy_message: {len(data)} bytes are cut to {MESSAGE_MAX_BYTES}", stacklevel=2)
    _strobe.message(data[:MESSAGE_MAX_BYTES].decode("utf-8", "ignore"), int(color) & 0xFFFFFF, 2)


def tracy_frame():
    """A frame ends here and the next one begins."""
    _strobe.frame()


def patch(ttnn=None):
    """Give `ttnn` (default: the one that is imported) the names it lacks; those that it got."""
    ttnn = ttnn or sys.modules.get("ttnn")
    missing = [name for name in NAMES if ttnn is not None and not hasattr(ttnn, name)]
    for name in missing:
        setattr(ttnn, name, globals()[name])
    return missing
