"""Which interpreters can't load the C half, said in words before they would crash on it."""
import os
import sys


def reason():
    """Why this interpreter can't be traced, or None."""
    if sys.implementation.name != "cpython":
        return f"strobe needs CPython; this is {sys.implementation.name}"
    if sys.version_info < (3, 9):
        return f"strobe needs Python 3.9 or later; this is {sys.version.split()[0]}"
    if hasattr(sys, "abiflags") and "t" in sys.abiflags:
        return (
            "strobe does not work on free-threaded Python yet (this is %s without the GIL): its module is "
            "built for the stable ABI, which this interpreter does not have. Use the ordinary build of the "
            "same version" % sys.version.split()[0]
        )
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_strobe.abi3.so")):
        return (
            "this wheel of strobe has the commands, but does not have the module for Python: it is the one for "
            "interpreters that can't load it. Install the same version of strobe-profiler again, with an ordinary CPython on Linux"
        )
    return None


def refuse():
    """Raise ImportError where `reason` has one."""
    why = reason()
    if why:
        raise ImportError(why)
