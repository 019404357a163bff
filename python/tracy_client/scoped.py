# SPDX-License-Identifier: MIT
"""Zones and frames that a `with` statement, a decorator or the life of an object bounds.

ScopedZone is a type of the C half. By `with` a zone goes from enter to exit; held by hand, from the making of the
object until it is deleted, in whatever order that happens.
"""
import functools

import strobe._scoped  # noqa: F401 - here, so that no zone waits for it
from strobe._strobe import ScopedZone, zone as _zone

from tracy_client import _events
from tracy_client.colors import ColorType

try:
    from typing import Union as _Union

    Color = _Union[int, ColorType]
except ImportError:  # a stripped interpreter
    Color = int


def ScopedZoneDecorator(name=None, color=0, depth=None, active=True, class_name=None):
    """Decorate a function with a zone: unnamed ones have the name of the function, with `class_name:` before it."""

    def decorate(function):
        if not active:
            return function
        source = function.__name__ if class_name is None else f"{class_name}:{function.__name__}"
        code = getattr(function, "__code__", None)
        file, line = (code.co_filename, code.co_firstlineno) if code else ("", 0)
        if depth is None:
            return _zone(name or source, int(color), file, line, source)(function)

        @functools.wraps(function)
        def run(*args, **kwargs):
            with ScopedZone(name, color, depth, function=source, file=file, line=line):
                return function(*args, **kwargs)

        return run

    return decorate


class ScopedFrame:
    """A frame from enter to exit."""

    def __init__(self, name):
        self._name = name
        self._id = None

    def __enter__(self):
        self._id = _events.frame_mark_start(self._name)
        return self

    def __exit__(self, *exception):
        if self._id is not None:
            _events.frame_mark_end(self._id)
            self._id = None


def ScopedFrameDecorator(name):
    """Decorate a function with a frame."""

    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with ScopedFrame(name):
                return function(*args, **kwargs)

        return run

    return decorate


__all__ = ["Color", "ColorType", "ScopedFrame", "ScopedFrameDecorator", "ScopedZone", "ScopedZoneDecorator"]
