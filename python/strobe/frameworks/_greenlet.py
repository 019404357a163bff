"""greenlet, and gevent on it: what a greenlet does is on a track of its own. A switch is one call of a C function."""
import functools
import threading

from strobe import _strobe


def wrap(greenlet):
    """Follow the switches of this thread, and of those that `threading` starts from now on."""
    follow = _strobe.greenlet_switched

    def follow_here():
        if greenlet.gettrace() is None:  # a tool of the program's keeps its place
            greenlet.settrace(follow)

    run = threading.Thread._bootstrap_inner

    @functools.wraps(run)
    def _bootstrap_inner(self):
        follow_here()
        return run(self)

    threading.Thread._bootstrap_inner = _bootstrap_inner
    follow_here()
