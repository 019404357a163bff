"""strobe.assert_trace: what a unit test may demand of a trace: budgets of time, counts, order. Each demand that does not hold raises
AssertionError with what was found."""
import os

from strobe._open import Trace, open as open_trace

_TIMES = ("total", "self", "mean", "max", "p50", "p90", "p99")


class TraceAssert:
    """Demands on a trace. Each returns the object, so that they can stand in a row."""

    def __init__(self, trace):
        self.trace = trace

    def _stat(self, name):
        """The statistics of a name; several locations of that name can't be told apart."""
        found = [row for row in self.trace.stat() if row.name == name]
        if not found:
            known = sorted({row.name for row in self.trace.stat()})
            raise AssertionError(f"no zone is named {name!r}; there are: {', '.join(map(repr, known[:20])) or 'none'}")
        return found

    def count(self, name, exactly=None, at_least=None, at_most=None):
        """So many zones of a name."""
        n = sum(1 for _ in self.trace.zones(columns=["ts"], name=name))
        for is_kept, words in ((exactly is None or n == exactly, f"exactly {exactly}"), (at_least is None or n >= at_least, f"at least {at_least}"),
                               (at_most is None or n <= at_most, f"at most {at_most}")):
            if not is_kept:
                raise AssertionError(f"{n} zones are named {name!r}, {words} were expected")
        return self

    def budget(self, name, **limits):
        """Zones of a name take no longer than this, in ns: total=, self=, mean=, max=, p50=, p90=, p99=. Where several places have
        the name, each is held to it."""
        for row in self._stat(name):
            for what, limit in limits.items():
                if what not in _TIMES:
                    raise TypeError(f"a budget is one of {', '.join(_TIMES)}, not {what!r}")
                if getattr(row, what) > limit:
                    raise AssertionError(f"{name!r} ({row.file}:{row.line}): {what} is {getattr(row, what):,} ns, "
                                         f"{limit:,} ns are allowed ({row.count} zones)")
        return self

    def order(self, *names):
        """The first zone of each name begins after that of the one before it, over all threads."""
        before = None
        for name in names:
            first = min((row.ts for row in self.trace.zones(columns=["ts"], name=name)), default=None)
            if first is None:
                self._stat(name)
                raise AssertionError(f"no zone is named {name!r}")
            if before and first < before[1]:
                raise AssertionError(f"{name!r} begins at {first:,} ns, before {before[0]!r} at {before[1]:,} ns")
            before = (name, first)
        return self

    def inside(self, name, outer):
        """Every zone of a name has one named `outer` around it, on its own track."""
        zones = {row.id: row for row in self.trace.zones(columns=["id", "parent_id", "name", "ts"])}
        for zone in [row for row in zones.values() if row.name == name]:
            around = zones.get(zone.parent_id)
            while around and around.name != outer:
                around = zones.get(around.parent_id)
            if not around:
                raise AssertionError(f"the {name!r} at {zone.ts:,} ns is in no {outer!r}")
        return self

    def nothing_lost(self):
        """All events that the program emitted are in the trace."""
        for row in self.trace.coverage():
            if row.emitted != row.stored:
                raise AssertionError(f"{row.emitted - row.stored} of {row.emitted} events are not in the trace")
        return self


def assert_trace(trace):
    """Demands on a trace, which is a path or what strobe.open gave:

        strobe.assert_trace("run.strobe").count("step", exactly=10).budget("step", p99=2_000_000).order("load", "step", "save")
    """
    return TraceAssert(trace if isinstance(trace, Trace) else open_trace(os.fspath(trace)))
