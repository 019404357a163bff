# SPDX-License-Identifier: MIT
"""Frames, plots, messages, memory and names, with the signatures of Tracy's Python package.

Names get a number at their first use; where Tracy's package takes such a number, so does this. There is no limit on
how many names there are.
"""
import enum
import itertools

from strobe import _strobe

TEXT_MAX_BYTES = 65534  # what a message or text of Tracy's can hold

_ids = {}
_names = {}
_pools = {}
_next_id = itertools.count(1)


class PlotFormatType(enum.IntEnum):
    """How a plot's values are shown."""

    Number = 0
    Memory = 1
    Percentage = 2


def _id_of(name):
    number = _ids.get(name)
    if number is None:
        if not isinstance(name, str):
            raise TypeError("a name is a str")
        number = _ids[name] = next(_next_id)
        _names[number] = name
    return number


def is_enabled():
    """True: this build emits events. (Whether anybody takes them: is_connected.)"""
    return True


def is_connected():
    """Whether a recorder takes this process's events now."""
    return _strobe.recording()


def program_name(name):
    """Name the program in the trace."""
    _strobe.set_program_name(name)
    return True


def thread_name(name):
    """Name the calling thread in the trace."""
    _strobe.set_thread_name(name)


def app_info(text):
    """A line about the program; False where it is too long."""
    if len(text.encode("utf-8", "backslashreplace")) > TEXT_MAX_BYTES:
        return False
    _strobe.app_info(text)
    return True


def message(message, color=0):
    """Put a text on the timeline; False where it is too long."""
    if not isinstance(message, str):
        raise TypeError("a message is a str")
    if len(message.encode("utf-8", "backslashreplace")) > TEXT_MAX_BYTES:
        return False
    _strobe.message(message, int(color) & 0xFFFFFF, 2)
    return True


def frame_mark(name=None):
    """A frame ends here and the next one begins."""
    _strobe.frame() if name is None else _strobe.frame(name)


def frame_mark_start(name):
    """A frame begins that frame_mark_end ends; the number of its name."""
    number = _id_of(name)
    _strobe.frame_start(name)
    return number


def frame_mark_end(name):
    """End a frame: what frame_mark_start returned, or its name. False: there is no such frame."""
    text = name if isinstance(name, str) else _names.get(name)
    if text is None:
        return False
    _strobe.frame_end(text)
    return True


def frame_image(data, width, height, offset=0, flip=False):
    """Check a picture of a frame as Tracy does; False where its sizes are no multiples of 4. Pictures are not recorded."""
    return width % 4 == 0 and height % 4 == 0


def _address(what):
    return what if isinstance(what, int) else id(what)


def alloc(ptr=None, size=0, name=None, id=None, depth=None, **alias):
    """A block of memory was taken: its address (or the object that it is), its size, a pool by name or number."""
    pool = name if name is not None else _names.get(id) if id is not None else None
    if id is not None and pool is None:
        return None
    _strobe.memory_alloc(_address(alias.get("object", ptr)), size, pool or "heap")
    return None if pool is None else _id_of(pool)


def free(ptr=None, id=None, depth=None, **alias):
    """A block of memory was given back. False: there is no such pool."""
    pool = "heap" if id is None else _names.get(id)
    if pool is None:
        return False
    _strobe.memory_free(_address(alias.get("object", ptr)), pool)
    return True


def plot_config(name, type=PlotFormatType.Number, step=False, fill=True, color=0, flip=None):
    """How a plot looks; the number of its name, for plot()."""
    number = _id_of(name)
    _strobe.plot_config(name, int(type), int(bool(step)), int(color) & 0xFFFFFF)
    return number


def plot(id, value):
    """A point of a plot, by the number that plot_config gave, or by name. False: there is no such plot."""
    name = id if isinstance(id, str) else _names.get(id)
    if name is None:
        return False
    _strobe.plot(name, value)
    return True
