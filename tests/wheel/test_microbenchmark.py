#!/usr/bin/env python3
"""test_microbenchmark.py WHEELS PLACE: python -m microbenchmark.driver on IREE's instrumented runtime from the package index.

Sums are compared with those that are taken from the trace by hand. The lines of the document are run as they are printed."""
import collections
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
import xml.etree.ElementTree
import zlib

import test_iree
import venvs

sys.path.insert(0, str(pathlib.Path(__file__).parent / "seeds"))
sys.path.insert(0, str(venvs.ROOT / "python"))
import documents  # noqa: E402
from microbenchmark import analysis  # noqa: E402

WHEELS = PLACE = None
SIZES = (16, 32, 48, 64, 96)

TWO_LAYERS = """
func.func @forward(%a: tensor<32x48xf32>, %b: tensor<48x64xf32>) -> tensor<32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x64xf32>) -> tensor<32x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x48xf32>, tensor<48x64xf32>)
      outs(%fill : tensor<32x64xf32>) -> tensor<32x64xf32> loc("layer/first")
  %1 = linalg.matmul ins(%0, %half : tensor<32x64xf32>, tensor<64x64xf32>)
      outs(%fill : tensor<32x64xf32>) -> tensor<32x64xf32> loc("layer/second"("model.py":7:1))
  return %1 : tensor<32x64xf32>
}
"""
OWN_EXPERIMENT = """
import json, sys
import numpy
from microbenchmark import Experiment, ExperimentError, Input, Invocation, compile_module
a, b = numpy.ones((32, 48), numpy.float32), numpy.ones((48, 64), numpy.float32)
golden = a @ b @ numpy.full((64, 64), 0.5, numpy.float32)
vmfb = compile_module(open("two.mlir").read())
def run(name, golden):
    return Invocation(name, bytes(vmfb), "forward", [Input(a), Input(b, cold=True)], golden_result=golden, locations=vmfb.locations)
result, = Experiment([run("two layers", golden)], iterations=6).run(trace="two.strobe")
by_file = {}
for sample in result.samples[result.n_warmup:]:
    for zone in sample.dispatches:
        by_file[zone.file] = by_file.get(zone.file, 0) + zone.end - zone.start
print(json.dumps({"locations": result.locations, "by_file": by_file, "n": len(result.samples)}))
try:
    Experiment([run("right", golden), run("wrong", golden + 1)], iterations=2).run()
except ExperimentError as problem:
    print(problem)
"""


def run(*command, cwd, check=True, **variables):
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "STROBE_BIN", "IREE_PY_RUNTIME")}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**clean, **variables}, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def sums_by_hand(strobe, trace, names):
    """(dispatch ns, iterations) per region: the zones that begin inside zones of that name and are no function of the runtime's."""
    rows = list(csv.DictReader(io.StringIO(run(strobe, "csv", trace, cwd=PLACE).stdout)))
    spans = collections.defaultdict(list)
    for row in rows:
        if row["name"] in names:
            spans[row["name"]].append((int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"])))
    return {name: (sum(int(row["duration_ns"]) for row in rows if re.match(r"forward\w*_dispatch_\d", row["name"])
                       and any(start <= int(row["start_ns"]) < end for start, end in found)), len(found)) for name, found in spans.items()}


class Statistics(unittest.TestCase):
    def test_the_front_that_is_slower_is_warm_up(self):
        self.assertEqual(analysis.warmup([900, 500, 100, 100, 100, 100, 100, 100, 100, 100]), 2)
        self.assertEqual(analysis.warmup([100] * 10), 0)
        self.assertEqual(analysis.warmup([7]), 0)

    def test_the_interval_is_of_order_statistics(self):
        self.assertEqual(analysis.interval(list(range(1, 101))), (41.0, 61.0))
        self.assertEqual(analysis.interval([5]), (5.0, 5.0))
        self.assertEqual(analysis.median([4, 1, 3, 2]), 2.5)


class Driver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        chosen = test_iree.python_for_iree()
        if not chosen:
            raise unittest.SkipTest("there is no interpreter that IREE has wheels for")
        cls.python = venvs.make(chosen[1], chosen[0], WHEELS, PLACE / "iree", test_iree.NEEDS)
        cls.bin = cls.python.parent

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-micro-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def drive(self, *words, check=True, **variables):
        return run(self.python, "-m", "microbenchmark.driver", *words, cwd=self.folder, check=check, **variables)

    def test_five_sizes_have_the_sums_that_the_trace_has(self):
        said = self.drive("--sizes", ",".join(map(str, SIZES)), "--iterations", "12", "-t", "m.strobe", "-d", "m.csv", "--json", "r.json",
                          "--csv", "r.csv", "--plot", "r.svg").stdout
        results = json.loads((self.folder / "r.json").read_text())["results"]
        names = [f"matmul {n}x{n}x{n}" for n in SIZES]
        self.assertEqual([one["name"] for one in results], names)
        by_hand = sums_by_hand(self.bin / "strobe", self.folder / "m.strobe", names)
        self.assertEqual({one["name"]: (one["total_ns"], one["iterations"]) for one in results}, by_hand)
        rows = self.rows("m.csv")
        for one in results:
            self.assertEqual(one["iterations"], 12)
            self.assertTrue(0 < one["low_ns"] <= one["median_ns"] <= one["high_ns"])
            self.assertEqual(one["total_ns"], sum(sample["dispatch_ns"] for sample in one["samples"]))
            own = [row for row in rows if row["region"] == one["name"]]
            self.assertEqual(len(own), 12 * one["dispatches"])
            self.assertEqual({int(row["iteration"]) for row in own}, set(range(12)))
            total = sum(int(row["exec_time_ns"]) for row in own)
            self.assertLessEqual(abs(total - one["total_ns"]), len(own))  # Tracy's times are whole ns, begin and end
            self.assertEqual(list(one["locations"]), ["multiply"])
            self.assertIn(one["name"], said)
        self.assertEqual([row["name"] for row in self.rows("r.csv")], names)
        drawn = xml.etree.ElementTree.parse(self.folder / "r.svg").getroot()
        self.assertEqual(len(drawn.findall("{*}circle")), len(SIZES))

    def test_the_lines_of_the_document(self):
        if documents.folder() is None:
            self.skipTest(documents.ABSENT)
        (_, text), = documents.read("002")
        script = "\n".join(["set -e", *documents.commands(text)])
        done = run("bash", "-c", script, cwd=self.folder, PATH=f"{self.bin}{os.pathsep}{os.environ['PATH']}",
                   IREE_BUILD_DIR=str(self.folder / "build"))
        self.assertEqual(done.stdout.count("matmul 384x384x384"), 2)
        rows = self.rows("micro.csv")
        self.assertEqual(len({row["region"] for row in rows}), 7)
        self.assertEqual((self.folder / "micro.tracy").read_bytes()[:4], b"tr\xfdP")
        again = run(self.bin / "iree-tracy-csvexport", "-u", "-f", "forward", "micro.tracy", cwd=self.folder).stdout
        times = {(row["name"], row["ns_since_start"]) for row in csv.DictReader(io.StringIO(again))}
        self.assertLessEqual({(row["name"], row["ns_since_start"]) for row in rows}, times)

    def test_named_locations_are_regions_inside(self):
        (self.folder / "two.mlir").write_text(TWO_LAYERS)
        (self.folder / "own.py").write_text(OWN_EXPERIMENT)
        first, *rest = run(self.python, "own.py", cwd=self.folder).stdout.splitlines()
        found = json.loads(first)
        self.assertEqual(found["n"], 6)
        self.assertEqual(sorted(found["locations"]), ["layer/first", "layer/second"])
        self.assertEqual(set(found["by_file"]), {"layer/first", "layer/second"})
        self.assertEqual(rest, ["wrong: its result differs from the golden one by up to 1"])

    def test_checking_runs_each_once_and_records_nothing(self):
        said = self.drive("-c", "--sizes", "16,32").stdout
        self.assertEqual(said, "matmul 16x16x16: right\nmatmul 32x32x32: right\n")

    def test_the_tools_are_those_of_the_folder_that_is_named(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "iree-tracy-csvexport").write_text(f"#!/bin/sh\ntouch '{self.folder}/used'\nexec '{self.bin}/iree-tracy-csvexport' \"$@\"\n")
        (tools / "iree-tracy-csvexport").chmod(0o755)
        self.drive("--sizes", "16", "--iterations", "2", "-d", "m.csv", "--plot", "r.png", IREE_TRACY_BIN_DIR=str(tools))
        self.assertTrue((self.folder / "used").exists())
        picture = (self.folder / "r.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        at = picture.index(b"IDAT")
        length = int.from_bytes(picture[at - 4:at], "big")
        self.assertEqual(len(zlib.decompress(picture[at + 4:at + 4 + length])), 440 * (1 + 720 * 3))

    def test_dispatches_of_worker_threads_belong_to_the_region_too(self):
        self.drive("--sizes", "64", "--iterations", "5", "--device", "local-task", "-t", "m.strobe", "--json", "r.json")
        one, = json.loads((self.folder / "r.json").read_text())["results"]
        self.assertEqual(sums_by_hand(self.bin / "strobe", self.folder / "m.strobe", [one["name"]]), {one["name"]: (one["total_ns"], 5)})

    def test_wrong_words_are_refused(self):
        for words in (["--sizes", "x"], ["--iterations", "0"], ["--plot", "r.gif"]):
            self.assertEqual(self.drive(*words, check=False).returncode, 2)


if __name__ == "__main__":
    WHEELS, PLACE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    (PLACE / "iree").mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
