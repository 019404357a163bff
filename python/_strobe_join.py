"""Joining a recording from the environment: imported by strobe.pth at the start of every interpreter that has STROBE_PYTHON
or STROBE_TRACE set, as `strobe record` does for its command. Never raises: the program comes first. A module of its own,
outside of the package, because `import strobe` raises where the C half can't be loaded.

    STROBE_PYTHON               functions (default), lines, off
    STROBE_PYTHON_MARKS         set, with STROBE_PYTHON=off: what frameworks mark all the same (`strobe record --python marks`)
    STROBE_FRAMEWORKS           torch, jax, logging, greenlet (default: all), off: whose marks are recorded
    STROBE_LOGGING              a level like WARNING: records of `logging` below it are no messages
    STROBE_PYTHON_C             1: C functions too
    STROBE_PYTHON_INCLUDE       modules or files to trace, with colons between; all others are left out
    STROBE_PYTHON_EXCLUDE       modules or files to leave out
    STROBE_PYTHON_MIN_DURATION  such as 10us: shorter calls leave no zone
    STROBE_PYTHON_MAX_DEPTH     calls nested deeper leave none
    STROBE_PYTHON_GC            0: no zones for garbage collections
    STROBE_PYTHON_PREFIX        what the names of functions' zones begin with; they have no class then
    STROBE_PYTHON_LINE_PREFIX   the same of lines' zones
"""
import os


def _options(environment):
    mode = environment.get("STROBE_PYTHON") or "functions"
    if mode not in ("functions", "lines", "off"):
        raise ValueError(f"STROBE_PYTHON is {mode!r}: functions, lines or off")
    split = lambda name: [part for part in environment.get(name, "").split(":") if part]  # noqa: E731
    return mode, {
        "lines": mode == "lines",
        "c_functions": environment.get("STROBE_PYTHON_C", "0") not in ("", "0"),
        "include": split("STROBE_PYTHON_INCLUDE"),
        "exclude": split("STROBE_PYTHON_EXCLUDE"),
        "min_duration": environment.get("STROBE_PYTHON_MIN_DURATION") or 0,
        "max_depth": int(environment.get("STROBE_PYTHON_MAX_DEPTH") or 0),
        "prefix": environment.get("STROBE_PYTHON_PREFIX", ""),
        "line_prefix": environment.get("STROBE_PYTHON_LINE_PREFIX", ""),
        "gc": environment.get("STROBE_PYTHON_GC", "1") != "0",
    }


def join():
    """Begin to trace, if a recorder takes this process's events."""
    mode, options = _options(os.environ)
    if mode == "off" and "STROBE_PYTHON_MARKS" not in os.environ:
        return
    from strobe import _strobe, _trace, frameworks

    if not _strobe.recording():
        return
    try:
        frameworks.watch()
    except ValueError as error:
        _trace.say(error)
    if mode != "off" and not _strobe.trace_is_on():
        _trace.trace(**options)


def join_or_say_why_not():
    """join(), which must not end the program."""
    try:
        join()
    except Exception as error:
        if "subinterpreter" in str(error):
            return  # the program runs in another interpreter, which may be traced; this one is its own affair
        import sys

        print(f"strobe: this Python is not traced: {error}", file=sys.stderr)


join_or_say_why_not()
