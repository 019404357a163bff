#!/usr/bin/env python3
"""test_links.py BUILD: clocks of devices against each other, by messages over links: what is stated holds against what the host read of both clocks."""
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
SEEDS, DEVICES = range(1, 6), 3
GHZ, SLACK_NS = 1.35, 5  # what the file's columns round away


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_pair(self, **variables):
        """What `info` notes of the links, {device: error in ns}, and the rows of sync_device_info.csv."""
        environment = {**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), "STROBE_SIM_GRID_X": "2", "STROBE_SIM_GRID_Y": "1", "TT_METAL_DEVICE_PROFILER": "1",
                       "TT_METAL_PROFILER_DIR": str(self.folder), **variables}
        trace = self.folder / "a.strobe"
        subprocess.run([STROBE, "record", "-q", "-o", trace, "--", PAIR, str(DEVICES), "5"], env=environment, check=True, timeout=LIMIT_S)
        info = subprocess.run([STROBE, "info", trace], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
        notes = {int(device): int(error) for device, error in re.findall(r"device (\d+): by \d+ messages over a link, the clock of device 0 is .*, within (\d+) ns", info)}
        return notes, [line.split(",") for line in (self.folder / ".logs" / "sync_device_info.csv").read_text().splitlines()[1:]]

    def test_a_linked_clock_is_within_its_stated_error_of_the_roots(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                errors, rows = self.run_pair(TT_METAL_PROFILER_SYNC="1", STROBE_SIM_SEED=str(seed), STROBE_SIM_JITTER_NS="200")
                links = {int(row[0]): (float(row[12]), float(row[13])) for row in rows if not row[1].strip()}
                self.assertEqual(set(links), set(range(1, DEVICES)))
                self.assertEqual(set(errors), set(links))
                # (cycles, middle of the reading in ns, half of its way)
                samples = {device: [(int(row[3]), int(row[4]) + int(row[7]), int(row[6]) / 2) for row in rows if row[1].strip() and int(row[0]) == device] for device in range(DEVICES)}
                for device, (scale, shift) in links.items():
                    for cycles, host, half in samples[device]:
                        root_cycles, root_host, root_half = min(samples[0], key=lambda sample, at=host: abs(sample[1] - at))
                        expected = root_cycles + (host - root_host) * GHZ
                        off_ns = abs(scale * cycles + shift - expected) / GHZ
                        self.assertLessEqual(off_ns, errors[device] + half + root_half + SLACK_NS)

    def test_scales_are_those_of_the_clocks(self):
        errors, rows = self.run_pair(TT_METAL_PROFILER_SYNC="1")
        times = [int(row[4]) + int(row[7]) for row in rows if row[1].strip() and int(row[0]) == DEVICES - 1]
        links = {int(row[0]): float(row[12]) for row in rows if not row[1].strip()}
        self.assertEqual(len(links), DEVICES - 1)
        for device, scale in links.items():  # clock `device` is 15 ppm times its number too fast
            self.assertAlmostEqual((1 - scale) * 1e6, 15.0 * device, delta=2e6 * errors[device] / (max(times) - min(times)) + 0.1)

    def test_without_being_asked_for_there_are_none(self):
        errors, rows = self.run_pair()
        self.assertEqual(errors, {})
        self.assertTrue(all(row[1].strip() for row in rows))


if __name__ == "__main__":
    unittest.main()
