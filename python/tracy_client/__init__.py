# SPDX-License-Identifier: MIT
"""tracy_client: zones, frames, plots, messages and memory events from Python, on Strobe's timeline.

    from tracy_client import scoped

    with scoped.ScopedZone("load", 0xFF0000):
        ...

Record with `strobe record -- python app.py`.
"""
try:
    import strobe as _strobe_package  # noqa: F401
except ImportError as _problem:
    raise ImportError(f"tracy_client can't work here: {_problem}") from _problem

from tracy_client.tracy import *  # noqa: F401,F403
from tracy_client.tracy import __all__  # noqa: F401
