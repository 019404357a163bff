#!/usr/bin/env python3
"""test_choice.py BUILD: --device, --core, --from-signpost and --to-signpost take their part of a trace with two devices, the same part in every command."""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
STROBE, PAIR = BUILD / "bin" / "strobe", BUILD / "bin" / "device_pair"
LIMIT_S = 100  # a hang's
LAUNCHES, CORES, STEPS = 4, 6, 3
ENVIRONMENT = {**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), "STROBE_SIM_GRID_X": "3", "STROBE_SIM_GRID_Y": "2"}


def strobe(*words, check=True):
    """What a command prints."""
    ran = subprocess.run([STROBE, *words], check=check, capture_output=True, text=True, timeout=LIMIT_S, env=ENVIRONMENT)
    return ran.stdout if check else ran


class Choice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = os.path.join(cls.folder.name, "pair.strobe")
        strobe("record", "-q", "-o", cls.trace, "--", PAIR, "2", str(LAUNCHES))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def steps(self, *words):
        """The zones `step` of csv, (device, core) each; stats and the report have as many."""
        rows = list(csv.DictReader(io.StringIO(strobe("csv", *words, self.trace))))
        found = [(int(re.match(r"Device (\d+)", row["process"]).group(1)), re.match(r"core (\S+) ", row["thread"]).group(1)) for row in rows if row["name"] == "step"]
        stats = {row["name"]: int(row["count"]) for row in csv.DictReader(io.StringIO(strobe("stats", "--csv", *words, self.trace)))}
        self.assertEqual(stats.get("step", 0), len(found))
        regions = json.loads(strobe("report", "--by-region", "--json", "--region", "signpost:", "--zone", "step", *words, self.trace))["regions"]
        self.assertEqual(sum(zone["count"] for region in regions for zone in region.get("zones", [])), len(found), regions)
        return found

    def test_all_are_there_where_nothing_is_chosen(self):
        self.assertEqual(len(self.steps()), 2 * 3 * LAUNCHES * CORES * STEPS)

    def test_a_device_is_chosen_by_its_number(self):
        for device in (0, 1):
            found = self.steps("--device", str(device))
            self.assertEqual({at for at, _ in found}, {device})
            self.assertEqual(len(found), 3 * LAUNCHES * CORES * STEPS)
        self.assertEqual({at for at, _ in self.steps("--device", "0..1")}, {0, 1})

    def test_cores_are_chosen_by_their_logical_place(self):
        self.assertEqual(sorted(self.steps("--core", "2,1")), [(0, "2,1")] * 3 * LAUNCHES * STEPS + [(1, "2,1")] * 3 * LAUNCHES * STEPS)
        self.assertEqual({core for _, core in self.steps("--core", "0..1,1")}, {"0,1", "1,1"})
        self.assertEqual(set(self.steps("--device", "1", "--core", "0..1,0..1")), {(1, f"{x},{y}") for x in (0, 1) for y in (0, 1)})

    def test_a_stretch_is_chosen_by_its_signposts(self):
        whole = 2 * LAUNCHES * CORES * STEPS
        self.assertEqual(len(self.steps("--from-signpost", "warm", "--to-signpost", "main")), whole)
        self.assertEqual(len(self.steps("--from-signpost", "main", "--to-signpost", "done")), 2 * whole)
        self.assertEqual(len(self.steps("--from-signpost", "main")), 2 * whole)
        self.assertEqual(len(self.steps("--to-signpost", "ma*")), whole)
        self.assertEqual(self.steps("--from-signpost", "done"), [])
        self.assertEqual(len(self.steps("--device", "1", "--core", "0,0", "--to-signpost", "main")), LAUNCHES * STEPS)

    def test_threads_and_losses_are_those_of_the_cores(self):
        threads = list(csv.DictReader(io.StringIO(strobe("csv", "--kind", "threads", "--device", "0", "--core", "1,0", self.trace))))
        self.assertEqual({re.match(r"core (\S+) ", row["thread"]).group(1) for row in threads}, {"1,0"})

    def test_a_page_has_the_chosen_device_alone(self):
        page = os.path.join(self.folder.name, "page.html")
        whole = os.path.join(self.folder.name, "whole.html")
        strobe("export", "--to", "html", "-o", whole, self.trace)
        strobe("export", "--to", "html", "--device", "1", "--from-signpost", "main", "-o", page, self.trace)
        self.assertLess(os.path.getsize(page), os.path.getsize(whole))

    def test_what_is_not_there_is_named_with_where_to_look(self):
        for words, said in ((("--device", "7"), "no such device; 'strobe info'"), (("--core", "9,9"), "no such core ran; 'strobe csv --kind threads'"),
                            (("--from-signpost", "nowhere"), "no signpost of this trace is called 'nowhere'; 'strobe csv --kind messages'"),
                            (("--from-signpost", "done", "--to-signpost", "warm"), "'warm' behind the one of --from-signpost")):
            ran = strobe("stats", *words, self.trace, check=False)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertIn(said, ran.stderr)

    def test_what_is_no_number_is_wrong_usage(self):
        for words in (("--device", "x"), ("--device", "3..1"), ("--core", "1"), ("--core", "1,"), ("--core", "1,2,3"), ("--core", "1..,2")):
            self.assertEqual(strobe("csv", *words, self.trace, check=False).returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
