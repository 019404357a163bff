"""test_explain.py STROBE PLANTED [--device PROGRAM] [unittest arguments]: planted causes are found, first and in the right place, and every
number is given again by its query. With --device those of planted_device.c too.
test_explain.py STROBE PLANTED [--device PROGRAM] --measure N [CAUSE...]: how often, of N runs of each.
SPDX-License-Identifier: MIT"""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = PLANTED = DEVICE = None

# mode: zone, class, rounds, process or thread (None: any)
PLANTED_CAUSES = {
    "lock": ("update_table", "lock contention", 30, None),
    "io": ("load", "waits outside of the trace", 20, None),
    "alloc": ("parse", "allocations", 30, None),
    "rank": ("solve", "slow member", 30, ("process", "rank 2")),
    "threads": ("solve", "slow member", 30, ("thread", "part 2")),
    "work": ("crunch", "work", 30, None),
    "flow": ("produce", "work", 30, None),
    "children": ("link", "work", 30, ("process", "child 1")),
    "server": ("lookup", "work", 30, ("process", "server")),
}
NEED_WAITS = ("server",)  # nothing but the wake-up says that it is the other process that is waited for
DEVICE_CAUSES = {"kernel": ("multiply", "kernel", 30, None), "starved": ("fill_batch", "device starved by host", 30, None)}


def run(*arguments, **more):
    return subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, **more)


def record(mode, path, hz="997"):
    """A run of one planted cause."""
    options = ["--waits"] if mode in NEED_WAITS and not os.geteuid() else []
    session = path.parent / "session"
    session.mkdir(mode=0o700, exist_ok=True)
    env = {**os.environ, "STROBE_DIR": str(session), "STROBE_SAMPLE": hz}
    done = run("record", "-q", *options, "-o", path, "--", DEVICE if mode in DEVICE_CAUSES else PLANTED, mode, PLANTED_CAUSES[mode][2], env=env, cwd=path.parent)
    if done.returncode:
        raise RuntimeError(done.stderr)


def explain(path, *options):
    done = run("explain", "--json", *options, path)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def answer(path, query):
    """The first number of a query's answer, as `strobe query` prints it."""
    done = run("query", "--format", "csv", path, query)
    if done.returncode:
        raise RuntimeError(done.stderr)
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return int(rows[0][0]) if rows and rows[0][0] else None


def judge(mode, told):
    """(right place, right class)"""
    zone, kind, _, owner = PLANTED_CAUSES[mode]
    first = told["statements"][0]
    right = first.get("zone") == zone and (not owner or first.get(owner[0]) == owner[1])
    return right, first.get("class") == kind


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-explain-", dir=os.getcwd()))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def has_switches(self, path):
        return answer(path, "SELECT count(*) FROM switch") > 0

    def check_planted(self, modes):
        for mode in modes:
            with self.subTest(mode=mode):
                if mode in NEED_WAITS and os.geteuid():
                    self.skipTest("only root may record who wakes whom")
                path = self.folder / f"{mode}.strobe"
                record(mode, path)
                if not self.has_switches(path):
                    self.skipTest("no context switches on this machine")
                told = explain(path)
                place, _ = judge(mode, told)
                self.assertTrue(place, told["statements"][0])
                self.assertLessEqual(told["path_ns"], told["wall_ns"] + 1000)
                for line in told["statements"]:
                    if "query" in line:
                        self.assertEqual(answer(path, line["query"]), line.get("value"), line)
                    for zone in line["evidence"]:
                        self.assertEqual(answer(path, f"SELECT count(*) FROM zone WHERE id = {zone}"), 1)

    def test_planted_causes_come_first_and_every_number_has_its_query(self):
        self.check_planted(["lock", "rank"])

    def test_without_switches_a_wait_is_no_verdict_of_its_own(self):
        path = self.folder / "blind.strobe"
        record("io", path, hz="0")
        told = explain(path)
        first = told["statements"][0]
        self.assertEqual(first["zone"], "load")
        self.assertNotEqual(first["class"], "waits outside of the trace")
        lacks = [line["words"] for line in told["statements"] if line["topic"] == "lack"]
        self.assertIn("no context switches", lacks[0])

    def test_a_step_is_explained_by_its_name_and_a_range_by_its_times(self):
        path = self.folder / "steps.strobe"
        record("work", path, hz="0")
        told = explain(path, "--zone", "crunch")
        self.assertEqual(told["steps"], PLANTED_CAUSES["work"][2])
        self.assertEqual(told["path_ns"], told["wall_ns"])
        total = answer(path, "SELECT sum(dur) FROM zone WHERE name = 'crunch'")
        self.assertAlmostEqual(told["path_ns"], total, delta=2 * told["steps"])
        half = explain(path, "--to", f"{told['to_ns'] // 2}ns")
        self.assertLessEqual(half["to_ns"], told["to_ns"] // 2 + 1)
        self.assertLess(half["path_ns"], told["to_ns"])

    def test_a_name_that_is_nowhere_is_nothing_to_explain(self):
        path = self.folder / "none.strobe"
        record("work", path, hz="0")
        first = explain(path, "--zone", "nowhere")["statements"][0]
        self.assertEqual(first["class"], "not known")
        self.assertIn("nothing to explain", first["words"])

    def test_wrong_usage_and_files_that_are_none_are_refused(self):
        self.assertEqual(run("explain", "--from", "soon").returncode, 2)
        bad = self.folder / "bad.strobe"
        bad.write_bytes(b"no trace")
        done = run("explain", bad)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.strobe", done.stderr)


class Planted(Explain):
    """All of them: for a machine with time."""

    def test_planted_causes_come_first_and_every_number_has_its_query(self):
        self.check_planted(PLANTED_CAUSES)


def measure(n, *modes):
    """A table of right places and right classes."""
    with tempfile.TemporaryDirectory(prefix="strobe-explain-", dir=os.getcwd()) as folder:
        for mode in modes or PLANTED_CAUSES:
            right = [0, 0]
            for i in range(n):
                path = pathlib.Path(folder) / f"{mode}-{i}.strobe"
                record(mode, path)
                told = explain(path)
                found = judge(mode, told)
                right = [a + b for a, b in zip(right, found)]
                if not all(found):
                    print(mode, i, found, told["statements"][0]["words"], file=sys.stderr)
                path.unlink()
            print(f"{mode:8} place {right[0]}/{n}, class {right[1]}/{n}", flush=True)


if __name__ == "__main__":
    STROBE, PLANTED = (os.path.abspath(path) for path in sys.argv[1:3])
    rest = sys.argv[3:]
    if rest[:1] == ["--device"]:
        DEVICE, rest = os.path.abspath(rest[1]), rest[2:]
        PLANTED_CAUSES.update(DEVICE_CAUSES)
        subprocess.run([DEVICE, "kernel", "1"], check=True, capture_output=True)  # its kernel is compiled once
    if rest[:1] == ["--measure"]:
        measure(int(rest[1]), *rest[2:])
    else:
        unittest.main(argv=[sys.argv[0], *rest])
