"""Which interpreters can't load the C half, said in words before they would crash on it. Where that half is."""
import os
import sys


MODULE = "_strobe.abi3.so"


def find_module(path):
    """Whether the C half is in a folder of the package. In the source tree it is in a build folder, which is appended to `path`."""
    if any(os.path.exists(os.path.join(folder, MODULE)) for folder in path):
        return True
    try:
        from strobe import _tree  # the wheels have none
    except ImportError:
        return False
    return _tree.extend(path)


def reason(path):
    """Why this interpreter can't be traced, or None. `path`: the package's folders."""
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
    if not find_module(path):
        if "strobe._tree" in sys.modules:
            return sys.modules["strobe._tree"].NOT_BUILT
        return (
            "this wheel of strobe has the commands, but does not have the module for Python: it is the one for "
            "interpreters that can't load it. Install the same version of strobe-profiler again, with an ordinary CPython on Linux"
        )
    return None


def refuse(path):
    """Raise ImportError where `reason` has one."""
    why = reason(path)
    if why:
        raise ImportError(why)
