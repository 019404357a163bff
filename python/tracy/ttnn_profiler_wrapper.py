# SPDX-License-Identifier: MIT
"""Gives the functions of a C binding a Python face, so that function tracing sees each with its own name."""
import functools

from tracy.hooks import LIBRARY_PREFIX


def decorator(function, name):
    """`function` in a zone PY_TT_LIB_<name> while tracing is on. The original is kept in `profiler_wrapped_function`."""
    import strobe
    zone = strobe.zone(LIBRARY_PREFIX + name)

    @functools.wraps(function)
    def tt_lib_wrapper(*args, **kwargs):
        if not strobe.tracing():
            return function(*args, **kwargs)
        with zone:
            return function(*args, **kwargs)

    tt_lib_wrapper.profiler_wrapped_function = function
    return tt_lib_wrapper


def callable_decorator(parent):
    """Wrap every callable of an object that is no type and no dunder, and those of the callables themselves."""
    wrap(parent, set())


def wrap(parent, seen):
    if id(parent) in seen:
        return
    seen.add(id(parent))
    for name in dir(parent):
        member = getattr(parent, name, None)
        if isinstance(member, type) or not callable(member) or "__" in name:
            continue
        if hasattr(member, "profiler_wrapped_function"):
            continue
        try:
            setattr(parent, name, decorator(member, name))
        except (AttributeError, TypeError):
            continue  # a C object without room for it: tracing sees it as a C function
        wrap(member, seen)
