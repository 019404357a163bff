#!/usr/bin/env python3
"""compare.py STROBE FILE...: what the command says about traces, against the Python reader. Exact, integers only.

Runs `strobe stats --json --exact`, `strobe info --json` and `strobe csv --kind zones` on each file. Which names the
command gives to what is in the tables below and nowhere else. 1 if anything differs, each difference on a line.
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import strobe_reader as sr  # noqa: E402

STATS_KEYS = ("name", "function", "file", "line")
STATS_VALUES = ("count", "total_ns", "self_ns", "min_ns", "max_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns")
COVERAGE = ("stored", "dropped", "in_holes_at_most")
INFO_VALUES = {"events": ("events", "n_events"), "processes": ("processes", "n_processes"),
               "threads": ("threads", "n_threads"), "open": ("open", "open_zones", "n_open"),
               "closed": ("closed",)}
CSV_VALUES = {"name": ("name",), "start": ("start_ns",), "duration": ("duration_ns",), "self": ("self_ns",),
              "depth": ("depth",)}
CSV_NEEDED = ("name", "start", "duration")


class Differs(Exception):
    """The command said something that can't be compared at all."""


def run(binary, *args):
    """Standard output of a command that must succeed."""
    done = subprocess.run([binary, *args], capture_output=True, check=False)
    if done.returncode:
        raise Differs(f"{' '.join(args[:2])}: exit code {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout.decode("utf-8", "replace")


def pick(row, names):
    """The value under the first of these names that a row has, else None."""
    return next((row[name] for name in names if name in row), None)


class Reading:
    """What the Python reader finds in a file, kept for the comparisons."""

    def __init__(self, path):
        self.trace = trace = sr.Trace(path)
        totals = sr.Totals()
        self.zones = []
        for part in trace.parts():
            totals.add_part(part)
            for begin, end, own, depth, loc, extras in part.ended:
                self.zones.append((self.zone_name(part.proc, loc, extras), begin, max(0, end - begin), own, depth))
        for zone in trace.fiber_zones():
            if zone.state == sr.ENDED:
                name = self.zone_name(zone.proc, zone.loc, zone.extras)
                self.zones.append((name, zone.begin, zone.duration, zone.self, zone.depth))
        self.facts = sr.build_facts(trace, totals, *sr.finish(trace, totals))

    def zone_name(self, proc, loc, extras):
        """What a zone is called: the last name that the program gave it (kind 5), else its location's."""
        given = [value for kind, value in extras or () if kind == 5]
        return given[-1].decode("utf-8", "replace") if given else self.trace.loc_name(proc, loc)

    def place(self, proc, loc):
        """What tells a location from others: its key columns."""
        fields = self.trace.keyed.get(("loc", proc, loc), [0, 0, 0, b"", b"", b""])
        return {"name": self.trace.loc_name(proc, loc), "line": fields[1],
                "function": fields[3].decode("utf-8", "replace"), "file": fields[4].decode("utf-8", "replace")}

    def stats(self):
        """{key: {column: value}} in ns, locations of the same key put together."""
        durations, owns = collections.defaultdict(list), collections.Counter()
        keys = {}
        for proc, loc, _, duration, own, _ in self.zones:
            if (proc, loc) not in keys:
                place = self.place(proc, loc)
                keys[proc, loc] = tuple(place[k] for k in STATS_KEYS)
            key = keys[proc, loc]
            durations[key].append(duration)
            owns[key] += own
        return {key: self.stats_row(sorted(d), owns[key]) for key, d in durations.items()}

    def stats_row(self, durations, own):
        """One row from the sorted durations of its zones."""
        ns, n = self.trace.ticks_ns, len(durations)
        total = ns(sum(durations))
        ranks = [ns(durations[-(-p * n // 100) - 1]) for p in (50, 90, 99)]
        return dict(zip(STATS_VALUES, (n, total, ns(own), ns(durations[0]), ns(durations[-1]), total // n, *ranks)))

    def coverage(self):
        """Events stored and dropped, words in gaps."""
        rows = self.facts["ledger"]
        return dict(zip(COVERAGE, (self.facts["events"], sum(sum(row["dropped"].values()) for row in rows),
                                   sum(row["hole_words"] for row in rows))))

    def rows(self, columns, origin):
        """A multiset of the zones that ended: name, start and so on, as texts."""
        trace, out = self.trace, collections.Counter()
        for name, begin, duration, own, depth in self.zones:
            row = {"name": name, "start": trace.tick_ns(begin) - origin,
                   "duration": trace.ticks_ns(duration), "self": trace.ticks_ns(own), "depth": depth}
            out[tuple(str(row[c]) for c in columns)] += 1
        return out


def compare_stats(reading, text):
    """Differences of `strobe stats --json`."""
    document = json.loads(text)
    mine, theirs = reading.stats(), {}
    for row in document["locations"]:
        key = tuple(row[k] for k in STATS_KEYS)
        if key in theirs:
            yield f"stats: {key} twice"
        theirs[key] = {name: row[name] for name in STATS_VALUES}
    for key in sorted(mine.keys() | theirs.keys()):
        if mine.get(key) != theirs.get(key):
            yield f"stats: {key} is {theirs.get(key)}, the reader has {mine.get(key)}"
    yield from compare_coverage("stats", reading, document)


def compare_coverage(command, reading, document):
    """Differences of what was stored and what was lost."""
    theirs, mine = {name: document.get(name) for name in COVERAGE}, reading.coverage()
    if theirs != mine:
        yield f"{command}: {theirs}, the reader has {mine}"


def compare_info(reading, text):
    """Differences of `strobe info --json`."""
    document = json.loads(text)
    if pick(document, INFO_VALUES["events"]) is None:
        yield f"info: no number of events among {sorted(document)}"
    for name, names in INFO_VALUES.items():
        theirs, mine = pick(document, names), reading.facts[name]
        theirs = len(theirs) if isinstance(theirs, list) else theirs
        if theirs is not None and theirs != mine:
            yield f"info: {name} is {theirs}, the reader has {mine}"


def compare_csv(reading, text):
    """Differences of `strobe csv --kind zones`: all zones that ended, in any order."""
    table = csv.DictReader(io.StringIO(text))
    columns = {c: n for c, names in CSV_VALUES.items() for n in names if n in (table.fieldnames or ())}
    missing = [c for c in CSV_NEEDED if c not in columns]
    if missing:
        yield f"csv: no columns {missing} among {table.fieldnames}"
        return
    theirs = collections.Counter(tuple(row[columns[c]] for c in columns) for row in table if row[columns["duration"]])
    origins = (0, reading.trace.tick_ns(reading.trace.origin()))
    mine = min((reading.rows(columns, o) for o in origins), key=lambda rows: sum((rows - theirs).values()))
    for who, rows in (("only the command", theirs - mine), ("only the reader", mine - theirs)):
        for row, n in list(rows.items())[:10]:
            yield f"csv: {who} has {dict(zip(columns, row))} ({n} times)"
        if len(rows) > 10:
            yield f"csv: {who} has {sum(rows.values())} such rows"


def compare(binary, path):
    """All differences between the command and the reader on one file."""
    reading, found = Reading(path), []
    for check, args in ((compare_stats, ("stats", "--json", "--exact")), (compare_info, ("info", "--json")),
                        (compare_csv, ("csv", "--kind", "zones"))):
        try:
            found += check(reading, run(binary, *args, path))
        except (Differs, ValueError, KeyError, TypeError) as error:
            found.append(f"{args[0]}: {error!r}" if not isinstance(error, Differs) else str(error))
    return found


def main():
    if len(sys.argv) < 3:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    failed = 0
    for path in sys.argv[2:]:
        found = compare(sys.argv[1], path)
        failed += bool(found)
        print("\n".join(f"{path}: {text}" for text in found) or f"{path}: the same")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
