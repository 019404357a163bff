#!/usr/bin/env python3
"""test_tracy_view.py BUILD: devices in .tracy files and over the bridge: a GPU context per core, by tt-metal's names, with every zone that the trace has."""
import csv
import io
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
BIN = BUILD / "bin"
LIMIT_S = 100  # a hang's
LAUNCHES, DEVICES = 3, 2
LAYOUTS = ("tracy", "tracy-0.14")


def run(tool, *words, **environment):
    return subprocess.run([BIN / tool, *words], check=True, capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), **environment})


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


class View(unittest.TestCase):
    GRID = (3, 2)

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = cls.path("pair.strobe")
        run("strobe", "record", "-q", "-o", cls.trace, "--", BIN / "device_pair", str(DEVICES), str(LAUNCHES),
            STROBE_SIM_GRID_X=str(cls.GRID[0]), STROBE_SIM_GRID_Y=str(cls.GRID[1]))
        cls.zones = [row for row in rows(run("strobe", "csv", cls.trace).stdout) if row["process"].startswith("Device")]
        cls.n_cores = DEVICES * cls.GRID[0] * cls.GRID[1]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def back(self, tracy):
        """GPU zones of a .tracy file, by way of an import."""
        run("strobe", "import", "-f", "-o", self.path("back.strobe"), tracy)
        return rows(run("strobe", "csv", "--kind", "gpu", self.path("back.strobe")).stdout)

    def export(self, layout):
        said = run("strobe", "export", "--to", layout, "-o", self.path(layout), self.trace).stderr
        return self.path(layout), said


class Cores(View):
    def test_a_file_has_every_zone_in_the_context_of_its_core(self):
        for layout in LAYOUTS:
            tracy, _ = self.export(layout)
            found = self.back(tracy)
            self.assertEqual(len(found), len(self.zones))
            self.assertEqual(sorted(row["name"] for row in found), sorted(row["name"] for row in self.zones))
            self.assertEqual(sorted(int(row["gpu_duration_ns"]) for row in found), sorted(int(row["duration_ns"]) for row in self.zones))
            names = {row["context_name"] for row in found}
            self.assertEqual(len(names), self.n_cores)
            for name in names:
                self.assertRegex(name, r"^Device: [01], Logical \(\d,\d\) Physical \(\d+,\d+\)$")

    def test_tables_of_a_file_and_of_the_trace_are_the_same(self):
        for words in (("-g",), ("-u",), ()):
            tables = [sorted(run("tracy-csvexport", *words, path).stdout.splitlines()) for path in (self.export("tracy")[0], self.trace)]
            self.assertEqual(*tables)
        self.assertEqual(len(rows(run("tracy-csvexport", "-g", self.trace).stdout)), sum(int(row["duration_ns"]) > 0 for row in self.zones))

    def test_host_zones_are_no_gpus(self):
        names = {row["name"] for row in rows(run("tracy-csvexport", "-u", self.export("tracy")[0]).stdout)}
        self.assertEqual(names, {"EnqueueProgram", "Finish"})

    def test_what_gpu_zones_have_no_place_for_is_said(self):
        self.assertRegex(self.export("tracy")[1], r"\d+ zones of devices without their texts and values")

    def test_a_server_gets_every_zone_over_the_bridge(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        bridge = subprocess.Popen([BIN / "strobe", "tracy-bridge", "--no-broadcast", "--wait", "60", "-p", port, self.trace], stderr=subprocess.PIPE, text=True)
        self.addCleanup(bridge.wait)
        self.addCleanup(bridge.kill)
        self.assertIn("waiting", bridge.stderr.readline())
        run("tracy-capture", "-f", "-a", "127.0.0.1", "-p", port, "-o", self.path("captured.tracy"))
        said = bridge.stderr.read()
        self.assertEqual(bridge.wait(timeout=LIMIT_S), 0)
        bridge.stderr.close()
        self.assertNotIn("gpu_time", said)
        found = self.back(self.path("captured.tracy"))
        self.assertEqual(sorted(row["name"] for row in found), sorted(row["name"] for row in self.zones))
        self.assertEqual(len({row["context_name"] for row in found}), self.n_cores)


class ManyCores(View):
    GRID = (16, 8)

    def test_more_cores_than_contexts_make_a_context_of_each_device(self):
        tracy, said = self.export("tracy")
        self.assertRegex(said, rf"{self.n_cores} cores of devices: .* 255")
        found = self.back(tracy)
        self.assertEqual(len(found), len(self.zones))
        self.assertEqual({row["context_name"] for row in found}, {"Device: 0", "Device: 1"})
        self.assertEqual(len({(row["context_name"], row["tid"]) for row in found}), self.n_cores)


if __name__ == "__main__":
    unittest.main()
