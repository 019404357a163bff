#!/usr/bin/env python3
"""strobe_reader.py - the second reader of a trace, written from docs/file-format.md.

    strobe_reader.py FILE --json            what is in it
    strobe_reader.py FILE --check           every disagreement with the document; 1 if there is one
                     [--closed]             ... a file without footer is one
                     [--holes]              ... a hole is none (damage is expected)

As a library: Trace(path) opens closed, cut and holed files. zones(), events() and parts() go over it once, in
the order of the file; `records`, `ledger()`, `facts()` hold the rest. strobe_check.py compares all of it with
what the file says about itself.
"""
import argparse
import collections
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from strobe_events import ENDED, OPEN, UNFINISHED, Event, Trace, Zone  # noqa: E402,F401
from strobe_format import FormatError  # noqa: E402


class Totals:
    """Zones by location, summed up."""

    def __init__(self):
        self.by_loc = {}    # (proc, loc): [count, total, self, min, max]

    def add(self, proc, loc, duration, own):
        """One zone that ended."""
        row = self.by_loc.get((proc, loc))
        if row is None:
            self.by_loc[proc, loc] = [1, duration, own, duration, duration]
            return
        row[0] += 1
        row[1] += duration
        row[2] += own
        if duration < row[3]:
            row[3] = duration
        if duration > row[4]:
            row[4] = duration

    def add_part(self, part):
        """The zones of threads that end in a part."""
        proc, add = part.proc, self.add
        for begin, end, own, _, loc, _ in part.ended:
            add(proc, loc, end - begin if end > begin else 0, own)


def zone_rows(trace, totals):
    """Per location: what it is, its sums in ticks and in ns."""
    rows = []
    for (proc, loc), (count, total, own, low, high) in sorted(totals.by_loc.items()):
        row = {"proc": proc, "loc": loc, "name": trace.loc_name(proc, loc), "count": count}
        for key, ticks in (("total", total), ("self", own), ("min", low), ("max", high)):
            row[key] = ticks
            row[key + "_ns"] = trace.ticks_ns(ticks)
        rows.append(row)
    return rows


def ledger_rows(trace):
    """The ledger as rows: emitted = stored + dropped + words in gaps that nothing explains."""
    return [{"proc": proc, "track": track, "stored": row["stored"], "gap_words": row["gap_words"],
             "hole_words": row["hole_words"],
             "dropped": {str(cause): n for cause, n in sorted(row["dropped"].items()) if n},
             "emitted": row["stored"] + row["hole_words"] + sum(row["dropped"].values())}
            for (proc, track), row in sorted(trace.ledger().items())]


def finish(trace, totals):
    """Add the fibers' zones to the totals; returns (open zones, number of unfinished ones)."""
    still_open, n_unfinished = [], len(trace.unfinished)
    for zone in trace.fiber_zones():
        if zone.state == ENDED:
            totals.add(zone.proc, zone.loc, zone.duration, zone.self)
        elif zone.state == OPEN:
            still_open.append(zone)
        else:
            n_unfinished += 1
    return list(trace.open_zones()) + still_open, n_unfinished


def build_facts(trace, totals, still_open, n_unfinished):
    """What is in a trace, as JSON-able data; after all parts were read."""
    counts = trace.kind_counts()
    return {
        "version": trace.version, "closed": trace.closed, "cut_at": trace.cut_at,
        "events": sum(counts.values()), "kinds": {str(k): n for k, n in sorted(counts.items())},
        "kind_names": {trace.names.get(k, str(k)): n for k, n in sorted(counts.items())},
        "mult": trace.mult, "zones": zone_rows(trace, totals), "ledger": ledger_rows(trace),
        "open": len(still_open), "unfinished": n_unfinished, "lost_begin": len(trace.lost_begins),
        "open_zones": [{"proc": z.proc, "track": z.track, "fiber": z.fiber, "loc": z.loc, "begin": z.begin,
                        "name": trace.loc_name(z.proc, z.loc), "depth": z.depth} for z in still_open],
        "processes": sum(key[0] == "process" for key in trace.keyed),
        "threads": sum(key[0] == "thread" for key in trace.keyed),
        "records": dict(collections.Counter(record.name for record in trace.records)),
        "blocks": len(trace.blocks), "holes": [hole._asdict() for hole in trace.holes],
        "skipped": trace.skipped,
    }


def facts(path):
    """What is in the trace at a path."""
    trace, totals = Trace(path), Totals()
    for part in trace.parts():
        totals.add_part(part)
    return build_facts(trace, totals, *finish(trace, totals))


def main():
    parser = argparse.ArgumentParser(description="read a Strobe trace")
    parser.add_argument("file")
    parser.add_argument("--check", action="store_true", help="list every disagreement with the format")
    parser.add_argument("--closed", action="store_true", help="a file without footer is one")
    parser.add_argument("--holes", action="store_true", help="a hole is none")
    parser.add_argument("--json", action="store_true", help="print what is in it")
    args = parser.parse_args()
    try:
        if args.check:
            import strobe_check
            checker = strobe_check.Checker(args.file, args.closed, args.holes)
            found = checker.run()
            print("\n".join(found) or f"{args.file}: {checker.summary()}", file=sys.stderr if args.json else sys.stdout)
            if args.json:
                print(json.dumps(checker.facts, indent=1))
            return 1 if found else 0
        print(json.dumps(facts(args.file), indent=1))
    except (FormatError, OSError) as error:
        print(f"{args.file}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
