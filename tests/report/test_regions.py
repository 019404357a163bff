#!/usr/bin/env python3
"""strobe report --by-region: every sum is the one that is taken from the tables of `strobe csv` by hand.

The demo (three processes, threads, spans, messages) and kernels of a simulated device run one after the other in one recording; signposts
and zones of several Python processes in another."""
import collections
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from helper import STROBE, ReportTest, strobe

BIN = pathlib.Path(STROBE).resolve().parent
PACKAGE = BIN.parent / "python"
SIGNPOSTS = """
import subprocess, sys, threading
import strobe
from tracy import signpost

def work(n):
    for _ in range(n):
        with strobe.zone("work"):
            with strobe.zone("inner"):
                pass

if len(sys.argv) > 1:
    work(7)
    sys.exit()
work(1)  # before all signposts
signpost("first", "with a second line")
work(2)
thread = threading.Thread(target=work, args=(3,))
thread.start()
thread.join()
signpost("second: run")
subprocess.run([sys.executable, __file__, "child"], check=True)
with strobe.zone("step"):
    work(4)
    with strobe.zone("step"):
        work(1)
signpost("first")
work(5)
"""


def table(trace, kind):
    done = subprocess.run([STROBE, "csv", "--kind", kind, str(trace)], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


class ByHand:
    """The tables of a trace, and sums over them the slow way."""

    def __init__(self, trace):
        self.zones = [row for row in table(trace, "zones") if row["state"] == "ended"]
        self.spans = [row for row in table(trace, "spans") if row["state"] == "ended"]
        self.messages = table(trace, "messages")
        whole = subprocess.run([STROBE, "info", "--json", str(trace)], capture_output=True, text=True, check=True)
        self.info = json.loads(whole.stdout)

    def stretches(self, kind, is_wanted):
        """[(name, begin, end, pid, tid)]; an end of None: the end of the trace."""
        if kind in ("zone", "span"):
            return [(row["name"], int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"]), row["pid"], row["tid"])
                    for row in (self.zones if kind == "zone" else self.spans) if is_wanted(row["name"])]
        found = []
        for row in self.messages:
            text = re.sub(r"^`?TT_SIGNPOST: ", "", row["text"])
            if kind == "signpost" and text == row["text"]:
                continue
            name = text.split("\n")[0].removesuffix("`")
            if is_wanted(name):
                found.append((name, int(row["time_ns"]), row["pid"], row["tid"]))
        found.sort(key=lambda one: one[1])
        return [(name, at, next((other[1] for other in found[i + 1:] if other[2] == pid), None), pid, tid)
                for i, (name, at, pid, tid) in enumerate(found)]

    def sums(self, kind, is_wanted=lambda name: True, scope="all", is_zone=lambda name: True):
        """{(region, zone): (count, total, self)}"""
        found = collections.defaultdict(lambda: [0, 0, 0])
        by_region = collections.defaultdict(list)
        for name, begin, end, pid, tid in self.stretches(kind, is_wanted):
            by_region[name].append((begin, end, {"all": None, "process": pid, "thread": (pid, tid)}[scope]))
        for row in self.zones:
            start = int(row["start_ns"])
            owner = {"all": None, "process": row["pid"], "thread": (row["pid"], row["tid"])}[scope]
            for region, stretches in by_region.items():
                if not is_zone(row["name"]) or (kind == "zone" and row["name"] == region):
                    continue
                if any(begin <= start and (end is None or start < end) and whose == owner for begin, end, whose in stretches):
                    cell = found[region, row["name"]]
                    cell[0] += 1
                    cell[1] += int(row["duration_ns"])
                    cell[2] += int(row["self_ns"])
        return {key: tuple(cell) for key, cell in found.items()}


def reported(trace, *options):
    rows = list(csv.DictReader(io.StringIO(strobe("--by-region", *options, "--csv", trace))))
    found = {(row["region"], row["zone"]): (int(row["count"]), int(row["total_ns"]), int(row["self_ns"])) for row in rows}
    assert len(found) == len(rows)
    return found


class OfTheDemo(ReportTest):
    @classmethod
    def setUpClass(cls):
        import shutil
        import tempfile
        folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-regions-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.trace = folder / "demo.strobe"
        script = f"'{BIN}/strobe-demo' 4 >/dev/null && '{BIN}/strobe-device-add' >/dev/null"
        subprocess.run([STROBE, "record", "-q", "-o", cls.trace, "--", "sh", "-c", script], check=True, stdin=subprocess.DEVNULL)
        cls.by_hand = ByHand(cls.trace)

    def test_zones_as_regions_in_every_scope(self):
        for scope in ("all", "process", "thread"):
            expected = self.by_hand.sums("zone", lambda name: name == "frame", scope)
            self.assertTrue(expected)
            self.assertEqual(reported(self.trace, "--region", "zone:[f]rame", "--scope", scope), expected)

    def test_spans_are_regions_by_default(self):
        expected = self.by_hand.sums("span")
        self.assertTrue(expected)
        self.assertEqual(reported(self.trace), expected)

    def test_messages_go_to_the_next_of_their_process(self):
        expected = self.by_hand.sums("message", lambda name: "frames of" in name)
        self.assertTrue(any(zone == "block" for _, zone in expected))  # of another process
        self.assertEqual(reported(self.trace, "--region", "message:frames of"), expected)

    def test_a_devices_zones_are_in_the_regions_of_the_host(self):
        devices = {row["name"] for row in self.by_hand.zones if row["process"].startswith("Device ")}
        self.assertTrue(devices)
        expected = self.by_hand.sums("message", is_zone=lambda name: name in devices)
        found = reported(self.trace, "--region", "message:*")
        self.assertEqual({key: cells for key, cells in found.items() if key[1] in devices}, expected)
        self.assertTrue(expected)

    def test_names_choose_what_is_summed(self):
        found = reported(self.trace, "--region", "zone:[f]rame", "--zone", "tile", "--zone", "[r]ow")
        self.assertEqual(found, self.by_hand.sums("zone", lambda name: name == "frame", is_zone=lambda name: "tile" in name or name == "row"))

    def test_many_regions_and_stretches(self):
        names = {"row", "render tile", "frame", "build node"}
        expected = self.by_hand.sums("zone", lambda name: name in names, is_zone=lambda name: name in ("tone map", "trace rays", "receive frame"))
        options = [word for name in sorted(names) for word in ("--region", f"zone:[{name[0]}]{name[1:]}")]
        self.assertEqual(reported(self.trace, *options, "--zone", "[t]one map", "--zone", "[t]race rays", "--zone", "[r]eceive frame"), expected)

    def test_json_and_the_table_say_the_same(self):
        found = reported(self.trace, "--region", "zone:[f]rame")
        told = json.loads(strobe("--by-region", "--region", "zone:[f]rame", "--json", self.trace))
        frame, = told["regions"]
        self.assertEqual({("frame", row["name"]): (row["count"], row["total_ns"], row["self_ns"]) for row in frame["zones"]}, found)
        self.assertEqual((frame["kind"], frame["stretches"], told["dropped"]), ("zone", 4, 0))
        self.assertEqual(frame["self_ns"], sum(cells[2] for cells in found.values()))
        text = strobe("--by-region", "--region", "zone:[f]rame", "--top", "2", self.trace)
        self.assertIn("zone frame: 4 times", text)
        self.assertIn(f"and {len(found) - 2} more names", text)

    def test_wrong_words_are_refused(self):
        for words in (["--region", "frame"], ["--scope", "x"], ["--top", "x"], ["--csv", "--json"], ["--nonsense"]):
            strobe("--by-region", *words, self.trace, code=2)
        strobe("--by-region", self.folder / "missing.strobe", code=1)


@unittest.skipUnless((PACKAGE / "strobe/_strobe.abi3.so").exists(), "the Python package is not built")
class OfSignposts(ReportTest):
    def test_signposts_over_threads_and_processes(self):
        program = self.folder / "posts.py"
        program.write_text(SIGNPOSTS)
        trace = self.folder / "posts.strobe"
        subprocess.run([STROBE, "record", "-q", "--python", "off", "-o", trace, "--", sys.executable, program], check=True,
                       env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        by_hand = ByHand(trace)
        expected = by_hand.sums("signpost")
        self.assertEqual({key: cells[0] for key, cells in expected.items()},
                         {("first", "work"): 10, ("first", "inner"): 10, ("second: run", "work"): 12, ("second: run", "inner"): 12,
                          ("second: run", "step"): 2})
        self.assertEqual(reported(trace), expected)
        in_process = by_hand.sums("signpost", scope="process")
        self.assertEqual(in_process["second: run", "work"][0], 5)
        self.assertEqual(reported(trace, "--scope", "process"), in_process)
        steps = reported(trace, "--region", "zone:step")
        self.assertEqual({key: cells[0] for key, cells in steps.items()}, {("step", "work"): 5, ("step", "inner"): 5})


if __name__ == "__main__":
    unittest.main()
