"""test_diff.py STROBE HELLO [unittest arguments]: what `strobe diff` says of runs whose durations are known. They come as Chrome's JSON: no clock has a say.
SPDX-License-Identifier: MIT"""
import csv
import io
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = HELLO = None
ZONES = 20


def run(*arguments, **more):
    return subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, **more)


def make_run(path, seed, factors):
    """A trace of ZONES names, ten zones each; they deviate by 0.5 % from run to run, and the run by 1 %."""
    dice, at, events = random.Random(seed), 0, []
    luck = dice.gauss(0, 0.01)
    for zone in range(ZONES):
        us = 1000 * (zone + 1) * math.exp(luck + dice.gauss(0, 0.005)) * factors.get(zone, 1)
        for _ in range(10):
            events.append({"ph": "X", "pid": 1, "tid": 1, "name": f"zone {zone}", "ts": round(at, 3), "dur": round(us, 3)})
            at += us + 1
            events.append({"ph": "C", "pid": 1, "tid": 1, "name": "queue", "ts": round(at, 3), "args": {"length": round(0.5 * factors.get("queue", 1) * math.exp(dice.gauss(0, 0.002)), 6)}})
            events.append({"ph": "C", "pid": 1, "tid": 1, "name": "loss", "ts": round(at, 3), "args": {"loss": -1}})
    source = path.with_suffix(".json")
    source.write_text(json.dumps({"traceEvents": events}))
    done = run("import", "-o", path, source)
    assert done.returncode == 0, done.stderr
    return path


def setUpModule():
    Diff.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-diff-"))
    Diff.a = [make_run(Diff.folder / f"a{i}.strobe", i, {}) for i in range(5)]
    Diff.again = [make_run(Diff.folder / f"again{i}.strobe", 50 + i, {}) for i in range(5)]
    Diff.b = [make_run(Diff.folder / f"b{i}.strobe", 100 + i, {3: 1.1, 7: 0.8, "queue": 1.2}) for i in range(5)]


def tearDownModule():
    shutil.rmtree(Diff.folder)


class Diff(unittest.TestCase):
    def rows(self, *arguments):
        done = run("diff", "--format", "csv", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["name"]: row for row in csv.DictReader(io.StringIO(done.stdout))}

    def test_planted_changes_are_named_and_no_others(self):
        rows = self.rows(*self.a, "--", *self.b)
        self.assertEqual({name: row["verdict"] for name, row in rows.items() if row["verdict"] in ("slower", "faster")}, {"zone 3": "slower", "zone 7": "faster"})
        for name, change in (("zone 3", 0.1), ("zone 7", -0.2)):
            self.assertLess(float(rows[name]["low"]), change)
            self.assertGreater(float(rows[name]["high"]), change)

    def test_equal_sets_are_the_same(self):
        rows = self.rows(*self.a, "--", *self.again)
        self.assertEqual({row["verdict"] for row in rows.values()} - {"same", "can't tell"}, set())

    def test_every_format_has_the_same_verdicts(self):
        rows = self.rows(*self.a, "--", *self.b)
        told = json.loads(run("diff", "--format", "json", *self.a, "--", *self.b).stdout)
        self.assertEqual({row["name"]: row["verdict"] for row in told["zones"]}, {name: row["verdict"] for name, row in rows.items()})
        self.assertEqual((told["a_runs"], told["b_runs"]), (5, 5))
        for format in ("table", "markdown", "html"):
            text = run("diff", "--format", format, *self.a, "--", *self.b).stdout
            self.assertIn("5 against 5 runs, 20 zones by mean: 1 slower, 1 faster", text)
            self.assertIn("zone 3", text)
            self.assertNotIn("zone 4", text)
            self.assertIn("zone 4", run("diff", "--all", "--format", format, *self.a, "--", *self.b).stdout)

    def test_a_page_stands_by_itself_and_quotes_what_it_shows(self):
        hostile = []
        for i in range(3):
            path = self.folder / f"hostile{i}.json"
            path.write_text(json.dumps({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "name": "<script>&", "ts": 0, "dur": 1000 + i}]}))
            run("import", "-o", path.with_suffix(".strobe"), path, check=True)
            hostile.append(path.with_suffix(".strobe"))
        page = run("diff", "--all", "--format", "html", *hostile, "--", *hostile).stdout
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertIn("&lt;script&gt;&amp;", page)
        self.assertNotIn("<script", page)
        self.assertIn("95 % interval", page)
        self.assertIn('<tr class="slower"><td>slower<td>+10', run("diff", "--format", "html", *self.a, "--", *self.b).stdout)

    def test_other_things_than_zones_are_compared_by_their_names(self):
        rows = self.rows("--of", "counters", *self.a, "--", *self.b)
        self.assertEqual({name: row["verdict"] for name, row in rows.items()}, {"queue": "more", "loss": "no test"})
        self.assertAlmostEqual(float(rows["queue"]["change"]), 0.2, delta=0.01)
        self.assertAlmostEqual(float(rows["queue"]["a"]), 0.5, delta=0.01)
        told = json.loads(run("diff", "--of", "counters", "--format", "json", *self.b, "--", *self.a).stdout)
        self.assertEqual({row["verdict"] for row in told["counters"]}, {"less", "no test"})
        self.assertIn("1 more, 0 less", run("diff", "--of", "counters", *self.a, "--", *self.b).stdout)
        for nothing in ("ops", "samples", "memory"):
            done = run("diff", "--of", nothing, *self.a, "--", *self.b)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"5 against 5 runs, 0 {nothing} by mean", done.stdout)
        self.assertEqual(run("diff", "--of", "luck", *self.a, "--", *self.b).returncode, 2)

    def test_a_gate_fails_only_over_its_limit(self):
        self.assertEqual(run("diff", "--fail-over", "5%", *self.a, "--", *self.b).returncode, 3)
        self.assertEqual(run("diff", "--fail-over", "0.2", *self.a, "--", *self.b).returncode, 0)
        self.assertEqual(run("diff", "--fail-over", "5%", *self.b, "--", *self.a).returncode, 3)  # zone 7 was faster in b
        self.assertEqual(run("diff", "--fail-over", "5%", *self.a, "--", *self.again).returncode, 0)

    def test_two_runs_a_side_get_no_verdict(self):
        done = run("diff", *self.a[:2], "--", *self.b[:2])
        self.assertEqual(done.returncode, 0)
        self.assertIn("fewer than three runs", done.stdout)
        self.assertIn("no test", done.stdout)

    def test_wrong_usage_is_named(self):
        for arguments in ((), (self.a[0],), (self.a[0], "--"), ("--", self.b[0]), ("--floor", "much", self.a[0], "--", self.b[0]),
                          ("--format", "xml", self.a[0], "--", self.b[0]), ("--metric", "luck", self.a[0], "--", self.b[0]), ("--record", "one")):
            done = run("diff", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr.startswith("strobe diff: "), done.stderr)
        self.assertEqual(run("diff", self.folder / "none.strobe", "--", self.b[0]).returncode, 1)

    def test_commands_are_recorded_in_turns(self):
        session = self.folder / "session"
        session.mkdir(mode=0o700)
        env = {**os.environ, "STROBE_DIR": str(session)}
        done = run("diff", "--record", "-n", "2", "-o", self.folder / "runs", HELLO, HELLO, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "runs").iterdir()), ["a1.strobe", "a2.strobe", "b1.strobe", "b2.strobe"])
        self.assertIn("2 against 2 runs", done.stdout)
        printed = run("diff", "--record", "-n", "1", "-o", self.folder / "runs", "--format", "json", f"echo a line; {HELLO}", HELLO, env=env)
        self.assertEqual(json.loads(printed.stdout)["a_runs"], 1)
        self.assertIn("a line", printed.stderr)
        gate = pathlib.Path(__file__).resolve().parents[2] / "examples" / "ci" / "gate"
        report = self.folder / "report.md"
        gated = subprocess.run([gate, HELLO, HELLO, report], env={**env, "STROBE": STROBE, "RUNS": "1"}, capture_output=True, text=True)
        self.assertEqual(gated.returncode, 0, gated.stderr)
        self.assertIn("1 against 1 runs", report.read_text())
        failed = run("diff", "--record", "-n", "1", "-o", self.folder / "runs", "exit 7", HELLO, env=env)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("exit code 7", failed.stderr)


if __name__ == "__main__":
    STROBE, HELLO = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
