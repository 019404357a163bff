#!/usr/bin/env python3
"""test_flows.py BUILD: one flow per launch and device, from the call that launches to the kernel that it ran, whatever the number of cores and processors."""
import collections
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
STROBE, PAIR = BUILD / "bin" / "strobe", BUILD / "bin" / "device_pair"
LIMIT_S = 100  # a hang's
DEVICES, LAUNCHES, REPLAYS = 3, 4, 5
ENVIRONMENT = {**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), "STROBE_SIM_GRID_X": "4", "STROBE_SIM_GRID_Y": "3"}


def rows(*words):
    ran = subprocess.run([STROBE, "csv", *words], check=True, capture_output=True, text=True, timeout=LIMIT_S, env=ENVIRONMENT)
    return list(csv.DictReader(io.StringIO(ran.stdout)))


class Flows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        trace = os.path.join(cls.folder.name, "flows.strobe")
        subprocess.run([STROBE, "record", "-q", "-o", trace, "--", PAIR, str(DEVICES), str(LAUNCHES), str(REPLAYS)], check=True, timeout=LIMIT_S, env=ENVIRONMENT)
        cls.flows, cls.zones = rows("--kind", "flows", trace), rows(trace)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_each_launch_has_one_begin_and_one_end(self):
        whats = collections.defaultdict(list)
        for row in self.flows:
            whats[row["flow"]].append(row["what"])
        self.assertEqual(len(whats), DEVICES * (3 * LAUNCHES + 2 * REPLAYS))
        self.assertEqual({tuple(sorted(what)) for what in whats.values()}, {("flow_begin", "flow_end")})

    def test_each_device_has_the_ends_of_its_own_launches(self):
        ends = collections.Counter(row["process"].split(":")[0] for row in self.flows if row["what"] == "flow_end")
        self.assertEqual(ends, {f"Device {i}": 3 * LAUNCHES + 2 * REPLAYS for i in range(DEVICES)})

    def test_an_end_is_the_begin_of_a_kernel_and_behind_its_launch(self):
        begins = {row["flow"]: int(row["time_ns"]) for row in self.flows if row["what"] == "flow_begin"}
        kernels = {(row["process"], row["thread"], row["start_ns"]) for row in self.zones if row["name"] == "BRISC-KERNEL"}
        for row in self.flows:
            if row["what"] == "flow_end":
                self.assertIn((row["process"], row["thread"], row["time_ns"]), kernels)
                self.assertLess(begins[row["flow"]], int(row["time_ns"]))

    def test_a_replay_is_a_zone_of_the_host_with_a_flow_per_launch(self):
        replays = [row for row in self.zones if row["name"] == "ReplayTrace"]
        self.assertEqual(len(replays), DEVICES * REPLAYS)
        spans = [(int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"])) for row in replays]
        begins = [int(row["time_ns"]) for row in self.flows if row["what"] == "flow_begin"]
        self.assertEqual({sum(first <= at <= last for at in begins) for first, last in spans}, {2})


if __name__ == "__main__":
    unittest.main()
