#!/usr/bin/env python3
"""test_wheel.py BUILD PROGRAM CACHE: ten real kernels of tt-metal's wheel (ttnn 0.81.1) compile against our headers, run on the simulator to right results, and every marker
in them is in the trace.

The wheel, unpacked, is in the folder that STROBE_TTNN names; without it, it is downloaded into CACHE and what is needed of it unpacked there. Nothing of it is in the tree. Where
no package index is reachable there is nothing to test, which is said: exit 77."""
import csv
import io
import os
import pathlib
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "device" / "upstream"))
import upstream  # noqa: E402

BUILD, PROGRAM, CACHE = map(pathlib.Path, sys.argv[1:4])
STROBE = BUILD / "bin" / "strobe"
LIMIT_S = 800
CASES = {"blank": 64, "device_delay_spin": 1, "reader_unary_sharded": 6144, "unary_start_id": 20480, "unary_start_id, backwards": 20480, "eltwise_sfpu, copy": 8192,
         "eltwise_sfpu, relu": 8192, "writer_chunk_gdn_scan": 22, "worker_receiver": 3072, "sync_kernel": 249}
NEEDED = ("ttnn/ttnn/cpp/ttnn/operations/", "ttnn/tt_metal/tools/profiler/sync/")


def find_kernels():
    """The folder of the unpacked wheel; None: there is none."""
    said = os.environ.get("STROBE_TTNN")
    if said:
        return pathlib.Path(said)
    wheel = upstream.find_wheel(str(CACHE))
    folder = CACHE / "kernels"
    if wheel and not (folder / "whole").exists():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith(NEEDED) and name.endswith((".cpp", ".hpp", ".h"))])
        (folder / "whole").touch()
    return folder if wheel else None


def record(trace, *words, **variables):
    """Run the program under a recorder; its lines, and the rows of its device's zones."""
    environment = {**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), **variables}
    for name in ("STROBE_DEVICE_MODE", "TT_METAL_DEVICE_PROFILER"):
        environment.pop(name, None)
    said = subprocess.run([STROBE, "record", "-q", "-o", trace, "--", PROGRAM, *words], env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    rows = subprocess.run([STROBE, "csv", trace], env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout
    return said, [row for row in csv.DictReader(io.StringIO(rows)) if row["process"].startswith("Device")]


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.said, cls.rows = record(str(BUILD / "wheel_kernels.strobe"), KERNELS)

    def count(self, name):
        return sum(row["name"] == name for row in self.rows)

    def test_each_kernel_gives_the_right_result(self):
        self.assertEqual(self.said.returncode, 0, self.said.stdout + self.said.stderr)
        self.assertEqual(self.said.stdout.splitlines(), [f"{name}: {n} checked, 0 wrong" for name, n in CASES.items()])

    def test_each_marker_in_them_is_on_the_timeline(self):
        self.assertEqual({name: self.count(name) for name in ("ow_wait_cb", "ow_write", "data waiting")}, {"ow_wait_cb": 4, "ow_write": 4, "data waiting": 1})
        self.assertEqual(self.count("TRISC-KERNEL"), 6)  # two runs of the kernel that computes

    def test_a_kernel_that_spins_takes_as_long_as_it_says(self):
        longest = max(int(row["duration_ns"]) for row in self.rows if row["name"] == "BRISC-KERNEL")
        self.assertGreaterEqual(longest, 200000 / 1.35)
        self.assertLess(longest, 210000 / 1.35)

    def test_a_kernel_that_never_ends_leaves_its_open_zones(self):
        said, rows = record(str(BUILD / "wheel_hang.strobe"), KERNELS, "hang", STROBE_SIM_HANG_MS="5")
        self.assertIn("hang_device_kernel: 1 checked, 0 wrong", said.stdout)
        self.assertEqual([(row["name"], row["state"] != "ended") for row in rows], [("TRISC-KERNEL", True)] * 3)


if __name__ == "__main__":
    KERNELS = find_kernels()
    if KERNELS is None:
        print("skipped: no wheel")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
