"""Which interpreters can't load the C half, said in words before they would crash on it."""
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
    return None


def refuse():
    """Raise ImportError where `reason` has one."""
    why = reason()
    if why:
        raise ImportError(why)
