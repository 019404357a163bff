# SPDX-License-Identifier: MIT
"""Function and line tracing with the zone names of tt-metal: PY_FUNC_<name>, PY_LINE_<name>, PY_TT_LIB_<name>.

The work is strobe.trace()'s. Zones are recorded per thread, and what is open when tracing stops is closed by it."""
import sys

FUNCTION_PREFIX = "PY_FUNC_"
LINE_PREFIX = "PY_LINE_"
LIBRARY_PREFIX = "PY_TT_LIB_"
NOT_OURS = ["tracy", "tracy.*", "strobe", "strobe.*"]

# the same, for interpreters that a traced program starts: strobe/_join.py reads it
ENVIRONMENT = {"STROBE_PYTHON": "functions", "STROBE_PYTHON_C": "1", "STROBE_PYTHON_GC": "0",
               "STROBE_PYTHON_EXCLUDE": ":".join(NOT_OURS), "STROBE_PYTHON_PREFIX": FUNCTION_PREFIX}


def trace_options(lines=False):
    """Options of strobe.trace(): a zone for every call of a Python or a C function; or for Python's calls and lines."""
    return {"lines": lines, "c_functions": not lines, "gc": False, "exclude": NOT_OURS, "prefix": FUNCTION_PREFIX,
            "line_prefix": LINE_PREFIX}


def start_functions():
    """A zone for every call of a Python or a C function, in all threads."""
    import strobe
    if not strobe.tracing():
        strobe.trace(**trace_options())


def finish_all_zones():
    """Close the zones that ttnn's start_tracy_zone left open on this thread."""
    ttnn_names = sys.modules.get("strobe.ttnn_names")
    while ttnn_names and not ttnn_names.stop_tracy_zone():
        pass
