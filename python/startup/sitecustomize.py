# SPDX-License-Identifier: MIT
"""For the tree that is used without installing it (scripts/source_env.sh): what strobe.pth does in an installed one, then the
sitecustomize that this one hides, if there is one."""
import os
import sys


def _run_hidden_one():
    here = os.path.dirname(os.path.abspath(__file__))
    hidden = sys.modules.pop("sitecustomize", None)
    paths = list(sys.path)
    sys.path[:] = [path for path in paths if os.path.abspath(path or ".") != here]
    try:
        __import__("sitecustomize")
    except ImportError as problem:
        if problem.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = hidden
    finally:
        sys.path[:] = paths


if "STROBE_PYTHON_MARKS" in os.environ or (
        ("STROBE_PYTHON" in os.environ or "STROBE_TRACE" in os.environ) and os.environ.get("STROBE_PYTHON") != "off"):
    __import__("_strobe_join")
_run_hidden_one()
