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
from strobe_check import read_footer  # noqa: E402

STATS_KEYS = ("name", "function", "file", "line")
STATS_VALUES = ("count", "total_ns", "self_ns", "min_ns", "max_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns",
                "inclusive_ns")
COVERAGE = ("stored", "dropped", "in_holes_at_most")
INFO_VALUES = ("version", "closed", "threads", "events", "open", "unfinished")
CSV_COLUMNS = ("pid", "thread", "tid", "name", "function", "file", "line", "start_ns", "duration_ns", "self_ns", "depth",
               "text", "value", "color", "state")


class Differs(Exception):
    """The command said something that can't be compared at all."""


def run(binary, *args):
    """Standard output of a command that must succeed."""
    done = subprocess.run([binary, *args], capture_output=True, check=False)
    if done.returncode:
        raise Differs(f"{' '.join(args[:2])}: exit code {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout.decode("utf-8", "replace")


def text_of(data):
    """Bytes of a trace as the command prints them."""
    return data.decode("utf-8", "replace")


class Reading:
    """What the Python reader finds in a file, kept for the comparisons."""

    def __init__(self, path):
        self.trace = trace = sr.Trace(path)
        trace.want_nested = True
        self.zones = list(trace.zones())
        totals = sr.Totals()
        for zone in self.zones:
            if zone.state == sr.ENDED:
                totals.add(zone.proc, zone.loc, zone.duration, zone.self)
        still_open = [zone for zone in self.zones if zone.state == sr.OPEN]
        self.facts = sr.build_facts(trace, totals, still_open, sum(z.state == sr.UNFINISHED for z in self.zones))
        self.origin_ns = trace.tick_ns(trace.origin())

    def place(self, proc, loc):
        """What tells a location from others: its key columns."""
        fields = self.trace.keyed.get(("loc", proc, loc), [0, 0, 0, b"", b"", b""])
        return {"name": self.trace.loc_name(proc, loc), "line": fields[1], "function": text_of(fields[3]),
                "file": text_of(fields[4])}

    def stats(self):
        """{key: {column: value}} in ns, locations of the same key put together."""
        durations, owns = collections.defaultdict(list), collections.Counter()
        keys = {}
        for zone in self.zones:
            if zone.state != sr.ENDED:
                continue
            if zone[:4:3] not in keys:
                place = self.place(zone.proc, zone.loc)
                keys[zone[:4:3]] = tuple(place[k] for k in STATS_KEYS)
            key = keys[zone[:4:3]]
            durations[key].append(zone.duration)
            owns[key] += zone.self
        nested = collections.Counter()
        for place, ticks in self.trace.nested.items():
            nested[keys[place]] += ticks
        return {key: self.stats_row(sorted(d), owns[key], nested[key]) for key, d in durations.items()}

    def stats_row(self, durations, own, nested):
        """One row from the sorted durations of its zones."""
        ns, n = self.trace.ticks_ns, len(durations)
        total = ns(sum(durations))
        ranks = [ns(durations[-(-p * n // 100) - 1]) for p in (50, 90, 99)]
        return dict(zip(STATS_VALUES, (n, total, ns(own), ns(durations[0]), ns(durations[-1]), total // n, *ranks,
                                       ns(sum(durations) - nested))))

    def coverage(self):
        """Events stored and dropped, words in gaps; what the footer knows better."""
        rows, trace = self.facts["ledger"], self.trace
        missing = sum(row["hole_words"] for row in rows)
        if trace.holes and trace.closed and trace.footer_block:
            missing = sum(read_footer(trace.body(trace.footer_block)).kinds.values()) - self.facts["events"]
        return dict(zip(COVERAGE, (self.facts["events"], sum(sum(row["dropped"].values()) for row in rows), missing)))

    def rows(self):
        """A multiset of all zones as rows of texts; a zone without begin starts at its end."""
        out = collections.Counter(map(self.row, self.zones))
        for proc, track, fiber, tick, loc, depth in self.trace.lost_begins:
            out[self.row(sr.Zone(proc, track, fiber, loc, tick, 0, 0, depth, "no_begin", None))] += 1
        return out

    def row(self, zone):
        """One zone."""
        ns = self.trace.span_ns
        row = self.place(zone.proc, zone.loc) | self.track(zone)
        row |= {"start_ns": self.trace.tick_ns(zone.begin) - self.origin_ns, "depth": zone.depth, "state": zone.state,
                "duration_ns": "", "self_ns": ""}
        if zone.state == sr.ENDED:
            row |= {"duration_ns": ns(zone.begin, zone.duration), "self_ns": ns(zone.begin, zone.self)}
        row |= self.notes(zone.extras or (), row["name"])
        return tuple(str(row[column]) for column in CSV_COLUMNS)

    @staticmethod
    def notes(extras, name):
        """Columns from kinds 4 to 7: texts are lines, of the others the last counts."""
        last = {kind: value for kind, value in extras}
        return {"text": "\n".join(text_of(value) for kind, value in extras if kind == 4),
                "name": text_of(last[5]) if 5 in last else name, "value": last.get(6, ""),
                "color": f"#{last[7] & 0xffffff:06x}" if 7 in last else ""}

    def fiber_name(self, proc, fiber):
        """What to show for a fiber."""
        name = self.trace.keyed.get(("fiber_name", proc, fiber))
        return text_of(name[1]) if name else f"fiber {fiber}"

    def track(self, zone):
        """Columns of the process and the thread or fiber that a zone is on."""
        named = self.trace.keyed.get
        pid = named(("process", zone.proc), [""])[0]
        if zone.fiber:
            return {"pid": pid, "thread": self.fiber_name(zone.proc, zone.fiber), "tid": ""}
        thread = named(("thread", zone.proc, zone.track), [0, "", 0, b""])
        name = named(("thread_name", zone.proc, zone.track), [0, thread[3]])[1]
        return {"pid": pid, "thread": text_of(name), "tid": thread[1]}


def compare_stats(reading, text):
    """Differences of `strobe stats --json`."""
    document = json.loads(text)
    mine, theirs = reading.stats(), {}
    for row in document["zones"]:
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
    document, facts = json.loads(text), reading.facts
    mine = {name: facts[name] for name in INFO_VALUES}
    mine |= {"processes": facts["processes"], "no_begin": facts["lost_begin"], "mult": facts["mult"],
             "kinds": facts["kind_names"], "losses": collections.Counter()}
    for proc, track, cause, count, _, _ in reading.trace.losses:
        mine["losses"][reading.trace.keyed.get(("process", proc), [0])[0], track, cause] += count
    theirs = {name: document.get(name) for name in (*INFO_VALUES, "no_begin", "kinds")}
    theirs |= {"processes": len(document["processes"]), "mult": document["clock"]["mult"],
               "losses": collections.Counter()}
    for loss in document["losses"]:
        theirs["losses"][loss["pid"], loss["track"], loss["cause"]] += loss["count"]
    for name in mine:
        if mine[name] != theirs[name]:
            yield f"info: {name} is {theirs[name]}, the reader has {mine[name]}"
    yield from compare_coverage("info", reading, document)


def compare_csv(reading, text):
    """Differences of `strobe csv --kind zones`, rows in any order."""
    table = csv.DictReader(io.StringIO(text, newline=""))
    missing = [column for column in CSV_COLUMNS if column not in (table.fieldnames or ())]
    if missing:
        yield f"csv: no columns {missing} among {table.fieldnames}"
        return
    theirs, mine = collections.Counter(tuple(row[c] for c in CSV_COLUMNS) for row in table), reading.rows()
    for who, rows in (("only the command", theirs - mine), ("only the reader", mine - theirs)):
        for row, n in list(rows.items())[:5]:
            yield f"csv: {who} has {','.join(row)} ({n} times)"
        if len(rows) > 5:
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
