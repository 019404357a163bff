#!/usr/bin/env python3
"""test_import.py STROBE PROGRAM: Chrome's JSON as a trace: both forms, every phase, our own exports, damage, size."""
import csv
import gzip
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE, PROGRAM = sys.argv[1:3]
SEEDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")


def run(*args, code=0, **environment):
    """What a command prints, errors behind."""
    result = subprocess.run(args, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    if code is not None and result.returncode != code:
        raise AssertionError(f"{args}: exit {result.returncode}: {result.stderr}")
    return result.stdout + result.stderr


class Chrome(unittest.TestCase):
    """strobe import"""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="strobe-import-")
        self.trace = os.path.join(self.folder, "in.strobe")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def make(self, data, name="in.json", code=0):
        """Import a text, bytes or an object; what the command says."""
        path = os.path.join(self.folder, name)
        data = data if isinstance(data, (str, bytes)) else json.dumps(data)
        with open(path, "wb") as out:
            out.write(data if isinstance(data, bytes) else data.encode())
        return run(STROBE, "import", "-f", "-o", self.trace, path, code=code)

    def zones(self):
        """Rows of `strobe csv`."""
        return list(csv.DictReader(io.StringIO(run(STROBE, "csv", self.trace))))

    def info(self):
        """What `strobe info` says."""
        return run(STROBE, "info", self.trace)

    def seed(self, name):
        """A file of the folder seeds."""
        with open(os.path.join(SEEDS, name), encoding="utf-8") as file:
            return file.read()

    def test_every_phase_has_its_place(self):
        said = self.make(self.seed("array.json"))
        self.assertIn("3 zones, 2 spans, 2 messages, 3 values, 3 flow points", said)
        rows = {r["name"]: r for r in self.zones()}
        self.assertEqual((rows["outer"]["start_ns"], rows["outer"]["duration_ns"], rows["outer"]["function"]), ("100000", "50000", "gui"))
        self.assertEqual(json.loads(rows["outer"]["text"]), {"url": 'a"b', "n": [1, {"x": 2}]})
        self.assertEqual((rows["inner"]["duration_ns"], rows["inner"]["depth"], rows["inner"]["process"]), ("10125", "1", "browser – 浏览器"))
        self.assertEqual((rows["日本 😀"]["duration_ns"], rows["日本 😀"]["tid"]), ("20000", "2"))
        self.assertIn("a <b>word</b>", run(STROBE, "csv", "--kind", "messages", self.trace))
        plots = list(csv.DictReader(io.StringIO(run(STROBE, "csv", "--kind", "plots", self.trace))))
        self.assertEqual({p["plot"]: float(p["value"]) for p in plots}, {"memory.used": 5, "memory.free": -2500, "speed": 1.5})

    def test_the_object_form_with_texts_as_ids_and_times_of_the_epoch(self):
        self.make(self.seed("object.json"))
        rows = {r["name"]: r for r in self.zones()}
        self.assertEqual((rows["kernel"]["start_ns"], rows["kernel"]["duration_ns"]), ("125", "5500"))
        self.assertEqual((rows["kernel"]["process"], rows["kernel"]["thread"]), ("host", "stream 7"))
        self.assertNotIn("overlaps", rows)
        self.assertIn("1 zones that overlap others of their thread are spans", self.info())
        self.assertIn("1 ends without a begin were left out", self.info())

    def test_the_first_event_is_the_start_where_time_0_is_far_from_a_short_trace(self):
        event = {"ph": "X", "name": "work", "ts": 1800e6, "dur": 5000, "pid": 1, "tid": 1}
        self.make([event])
        self.assertEqual(self.zones()[0]["start_ns"], "0")
        self.make([event, {**event, "ts": 2e6, "dur": 10}])
        self.assertEqual([r["start_ns"] for r in self.zones()], ["2000000000", "1800000000000"])
        self.make([{**event, "ts": 0.5e6}])
        self.assertEqual(self.zones()[0]["start_ns"], "500000000")

    def test_gzip_is_undone(self):
        self.make(gzip.compress(self.seed("array.json").encode()), "in.json.gz")
        self.assertEqual(len(self.zones()), 3)

    def test_what_makes_no_sense_is_counted_by_reason(self):
        self.make(self.seed("odd.json"))
        text = self.info()
        for words in ("2 events without a phase", "1 events of phases that", "2 events without a time", "1 ends without a begin", "1 begins without an end",
                      "4 elements were left out"):
            self.assertIn(words, text)
        self.assertEqual({r["name"]: r["state"] for r in self.zones()}["open"], "open")

    def test_our_own_export_comes_back_with_the_same_zones(self):
        own = os.path.join(self.folder, "own.strobe")
        subprocess.run([STROBE, "record", "-q", "-o", own, "--", PROGRAM, "30"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = os.path.join(self.folder, "own.json")
        run(STROBE, "export", "--to", "chrome", "-o", path, own)
        said = run(STROBE, "import", "-f", "-o", self.trace, path)
        self.assertNotIn("set aside", said)

        def sums(trace):
            rows = csv.DictReader(io.StringIO(run(STROBE, "csv", trace)))
            found = {}
            for row in rows:
                key = (row["name"], row["file"], row["line"], row["text"], row["process"], row["depth"])
                count, total = found.get(key, (0, 0))
                found[key] = (count + 1, total + int(row["duration_ns"] or 0))
            return found
        before, after = sums(own), sums(self.trace)
        self.assertEqual({k: v[0] for k, v in before.items()}, {k: v[0] for k, v in after.items()})
        for key, (count, total) in before.items():
            self.assertLessEqual(abs(after[key][1] - total), 2 * count, key)

    def test_a_cut_file_gives_what_came_before_and_names_the_byte(self):
        text = json.dumps({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": i, "dur": 1, "name": "a"} for i in range(100)]})
        said = self.make(text[:len(text) // 2], code=1)
        self.assertIn(f"damaged at byte {len(text) // 2}", said)
        self.assertGreater(len(self.zones()), 40)
        self.assertIn("ends too early or is damaged", self.info())
        packed = gzip.compress(os.urandom(20000).hex().encode().join([b'[{"ph": "X", "pid": 1, "ts": 1, "name": "', b'"}]']))
        self.assertIn("damaged", self.make(packed[:len(packed) // 2], "in.json.gz", code=1))

    def test_what_is_neither_is_refused_and_leaves_nothing(self):
        self.assertIn("damaged at byte 20", self.make('[{"ph": "X", "ts": 1', code=1))
        self.assertFalse(os.path.exists(self.trace))
        for data in ("hello", "", "12", "\0\0\0\0"):
            self.assertIn("in.json: neither a .tracy file nor Chrome's JSON", self.make(data, code=1))
            self.assertFalse(os.path.exists(self.trace))

    def test_an_existing_trace_is_left_alone_when_the_file_is_not_there(self):
        self.make("[]")
        before = os.stat(self.trace)
        run(STROBE, "import", "-f", "-o", self.trace, os.path.join(self.folder, "none.json"), code=1)
        self.assertEqual(os.stat(self.trace).st_ino, before.st_ino)

    def test_events_in_any_order_nest_by_time(self):
        events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 100 * i + 10 * d, "dur": 100 - 20 * d, "name": f"{d}"} for i in range(200) for d in range(5)]
        self.make(events[::-1])
        rows = self.zones()
        self.assertEqual(len(rows), 1000)
        self.assertTrue(all(r["name"] == r["depth"] for r in rows))

    def test_rounded_times_do_not_break_the_nesting(self):
        self.make([{"ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 10, "name": "a"}, {"ph": "X", "pid": 1, "tid": 1, "ts": 15, "dur": 6, "name": "in a"},
                   {"ph": "X", "pid": 1, "tid": 1, "ts": 19, "dur": 30, "name": "after a"}])
        rows = {r["name"]: r for r in self.zones()}
        self.assertEqual({n: r["depth"] for n, r in rows.items()}, {"a": "0", "in a": "1", "after a": "0"})
        self.assertEqual(rows["after a"]["duration_ns"], "30000")

    def test_memory_does_not_grow_with_the_file(self):
        path = os.path.join(self.folder, "large.json")
        with open(path, "w", encoding="ascii") as out:
            out.write("[")
            for i in range(600000):
                out.write(f'{{"ph":"X","pid":1,"tid":{i % 7},"ts":{(600000 - i) * 2},"dur":1,"name":"zone {i % 50}","args":{{"number":{i}}}}},\n')
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        run(STROBE, "import", "-f", "-o", self.trace, path, ASAN_OPTIONS="quarantine_size_mb=4")  # what was freed is no memory of ours
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(max(peak, before), 150 << 10)
        text = run(STROBE, "stats", "--csv", self.trace)
        self.assertEqual(sum(int(r["count"]) for r in csv.DictReader(io.StringIO(text))), 600000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
