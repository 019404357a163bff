"""test_merge.py STROBE HELLO MAKE_TRACE MAKE_PAIRED: traces put together have what each had, and pieces what was chosen.
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
import time
import unittest

READER = pathlib.Path(__file__).resolve().parent.parent / "reader"
sys.path.insert(0, str(READER))
from strobe_reader import Trace  # noqa: E402

STROBE = HELLO = MAKE = PAIRED = None


def run(*arguments, **more):
    return subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, **more)


def ask(path, sql):
    done = run("query", "--format", "csv", path, sql)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


class Merge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Three ranks, one after the other, each by a recorder of its own."""
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-merge-"))
        session = cls.folder / "session"
        session.mkdir(mode=0o700)
        cls.env = {**os.environ, "STROBE_DIR": str(session), "STROBE_SAMPLE": "0"}
        cls.ranks = cls.folder / "ranks"
        for rank in range(3):
            done = run("record", "-q", "--ranks", cls.ranks, "--", HELLO, env={**cls.env, "PMI_RANK": str(rank)})
            if done.returncode:
                raise RuntimeError(done.stderr)
        cls.files = sorted(cls.ranks.iterdir())
        cls.merged = cls.folder / "merged.strobe"
        cls.said = run("merge", "-o", cls.merged, cls.ranks)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_a_file_per_rank_is_named_by_the_launchers_variable(self):
        self.assertEqual([file.name for file in self.files], [f"rank-{i:05}.strobe" for i in range(3)])
        plain = {key: value for key, value in self.env.items() if "RANK" not in key and key != "SLURM_PROCID"}
        done = run("record", "-q", "--ranks", self.folder / "none", "--", HELLO, env={**plain, "RANK": "1"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("no rank", done.stderr)

    def test_what_can_not_be_written_is_named(self):
        for words in (("merge", "-o", "/dev/full/out.strobe", self.ranks), ("cut", "--from", "0", "-o", "/dev/full/out.strobe", self.files[0])):
            done = run(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("/dev/full/out.strobe", done.stderr)

    def test_all_zones_of_all_files_are_there_in_their_processes(self):
        self.assertEqual(self.said.returncode, 0, self.said.stderr)
        self.assertIn("3 traces", self.said.stdout)
        sql = "SELECT p.pid, z.name, count(*), max(depth) FROM zone z JOIN process p ON p.id = z.process_id GROUP BY 1, 2 ORDER BY 1, 2"
        single = sorted(row for file in self.files for row in ask(file, sql))
        self.assertEqual(sorted(ask(self.merged, sql)), single)
        info = json.loads(run("info", "--json", "--verify", self.merged).stdout)
        self.assertEqual(len(info["processes"]), 3)
        self.assertEqual(run("info", "--verify", self.merged).returncode, 0)

    def test_durations_and_distances_stay_what_they_were(self):
        sql = "SELECT z.dur, z.ts FROM zone z JOIN process p ON p.id = z.process_id WHERE p.pid = {} ORDER BY z.ts, z.depth"
        for file in self.files:
            pid = ask(file, "SELECT pid FROM process")[0][0]
            one, merged = ask(file, sql.format(pid)), ask(self.merged, sql.format(pid))
            self.assertEqual(len(one), len(merged))
            for a, b in zip(one, merged):
                for x, y in ((int(a[0]), int(b[0])), (int(a[1]) - int(one[0][1]), int(b[1]) - int(merged[0][1]))):
                    self.assertAlmostEqual(x, y, delta=2 + x // 100000)

    def test_files_lie_one_behind_the_other_as_they_were_recorded(self):
        rows = ask(self.merged, "SELECT p.pid, min(z.ts), max(z.ts + z.dur) FROM zone z JOIN process p ON p.id = z.process_id GROUP BY 1 ORDER BY 2")
        pids = [ask(file, "SELECT pid FROM process")[0][0] for file in self.files]
        self.assertEqual([row[0] for row in rows], pids)
        for before, after in zip(rows, rows[1:]):
            self.assertLess(int(before[2]), int(after[1]))

    def test_the_viewer_shows_a_folder_of_ranks_as_one_trace(self):
        ranks = self.folder / "job"
        shutil.copytree(self.ranks, ranks)
        view = subprocess.Popen([STROBE, "view", "--no-open", ranks], stdout=subprocess.PIPE, text=True, env=self.env)
        self.addCleanup(view.stdout.close)
        self.addCleanup(view.wait)
        self.addCleanup(view.terminate)
        self.assertIn("http://127.0.0.1", view.stdout.readline())
        zones = "SELECT count(*) FROM zone"
        self.assertEqual(ask(ranks / "ranks.strobe", zones), ask(self.merged, zones))
        again = self.folder / "again.strobe"
        self.assertEqual(run("merge", "-o", again, ranks).returncode, 0)
        self.assertEqual(ask(again, zones), ask(self.merged, zones))

    def test_a_clock_that_was_never_compared_is_merged_and_marked_and_no_file_is_replaced(self):
        made = self.folder / "made.strobe"
        subprocess.run([MAKE, made, "1000", "2", "10"], check=True, capture_output=True)
        out = self.folder / "marked.strobe"
        done = run("merge", "-o", out, self.files[0], made)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("never compared", done.stdout)
        self.assertIn("never compared: placed by the wall clock", run("info", out).stdout)
        zones = "SELECT count(*) FROM zone"
        self.assertEqual(int(ask(out, zones)[0][0]), int(ask(made, zones)[0][0]) + int(ask(self.files[0], zones)[0][0]))
        self.assertEqual([host["how"] for host in json.loads(run("info", "--json", out).stdout)["hosts"]].count("never compared"), 1)
        before = self.merged.read_bytes()
        done = run("merge", "-o", self.merged, self.ranks)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is there", done.stderr)
        self.assertEqual(self.merged.read_bytes(), before)

    def imported(self, name, start_us):
        """A trace made of a JSON file whose times begin there."""
        source, out = self.folder / f"{name}.json", self.folder / f"{name}.strobe"
        source.write_text(json.dumps([{"ph": "X", "name": "work", "ts": start_us, "dur": 5000, "pid": 1, "tid": 1}]))
        self.assertEqual(run("import", "-f", "-o", out, source).returncode, 0)
        return out

    def test_a_trace_without_a_clock_is_refused(self):
        nowhere, other = self.imported("nowhere", 100), self.imported("elsewhere", 200)
        for files in ((self.files[0], nowhere), (nowhere, self.files[0]), (nowhere, other)):
            out = self.folder / "refused.strobe"
            done = run("merge", "-o", out, *files)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("can't be put on one axis", done.stderr)
            self.assertIn(str(nowhere), done.stderr)
            self.assertFalse(out.exists())

    def test_info_has_the_time_of_the_recording_not_of_the_merge_or_the_import(self):
        def recorded(path):
            return next(line for line in run("info", path).stdout.splitlines() if line.startswith("recorded")).split(", ")[0]
        for path in (self.merged, self.imported("epoch", 1700000000 * 10**6), *self.files):
            started = int(ask(path, "SELECT started_unix_ns FROM run")[0][0])
            self.assertEqual(recorded(path), time.strftime("recorded   %Y-%m-%d %H:%M:%S", time.localtime(started // 10**9)))
            self.assertEqual(json.loads(run("info", "--json", path).stdout)["started_unix_ns"], started)
        self.assertEqual(recorded(self.imported("unknown", 100)), "recorded   at an unknown time")
        created = [json.loads(run("info", "--json", path).stdout)["created_ns"] for path in (self.merged, *self.files)]
        self.assertEqual(created[0], min(created[1:]))

    def test_a_file_that_is_named_twice_is_in_it_once(self):
        link, out = self.folder / "link.strobe", self.folder / "once.strobe"
        link.symlink_to(self.files[0])
        done = run("merge", "-o", out, self.ranks, self.files[0], link)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 files were named more than once", done.stdout)
        zones = "SELECT count(*) FROM zone"
        self.assertEqual(ask(out, zones), ask(self.merged, zones))

    def test_a_process_that_was_cut_out_is_alone_in_its_file(self):
        pid = ask(self.files[1], "SELECT pid FROM process")[0][0]
        piece = self.folder / "piece.strobe"
        done = run("cut", "--process", pid, "-o", piece, self.merged)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row[0] for row in ask(piece, "SELECT pid FROM process")], [pid])
        counts = "SELECT name, count(*) FROM zone GROUP BY 1 ORDER BY 1"
        self.assertEqual(ask(piece, counts), ask(self.files[1], counts))
        self.assertEqual(ask(piece, "SELECT dropped FROM coverage"), [["0"]])

    def test_equal_pids_of_two_traces_are_two_processes(self):
        made = [self.folder / f"twin{i}.strobe" for i in range(2)]
        for path in made:
            subprocess.run([MAKE, path, "1000", "1", "10"], check=True, capture_output=True)
        out = self.folder / "twins.strobe"
        self.assertEqual(run("merge", "-o", out, *made).returncode, 0)
        per_track = "SELECT count(*) FROM zone GROUP BY track_id"
        self.assertEqual(ask(out, per_track), 2 * ask(made[0], per_track))

    def test_levels_of_detail_come_along_and_are_right(self):
        made = [self.folder / f"lod{i}.strobe" for i in range(2)]
        for path in made:
            subprocess.run([MAKE, path, "60000", "2", "10", "4"], check=True, capture_output=True)
        out = self.folder / "lods.strobe"
        self.assertEqual(run("merge", "-o", out, *made).returncode, 0)
        blocks = [sum(block.type == 5 for block in Trace(str(path)).blocks) for path in (out, *made)]
        self.assertGreater(blocks[1], 0)
        self.assertEqual(blocks[0], blocks[1] + blocks[2])
        done = subprocess.run([sys.executable, "-B", READER / "strobe_reader.py", out, "--check", "--closed"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_processes_of_a_rank_are_called_by_it(self):
        names = sorted(row[0] for row in ask(self.merged, "SELECT name FROM process"))
        self.assertEqual([name.split(":")[0] for name in names], ["rank 0", "rank 1", "rank 2"])
        piece = self.folder / "rank.strobe"
        self.assertEqual(run("cut", "--process", "rank 1", "-o", piece, self.merged).returncode, 0)
        self.assertEqual(ask(piece, "SELECT pid FROM process"), ask(self.files[1], "SELECT pid FROM process"))

    def test_a_thread_that_was_cut_out_is_alone_in_its_file(self):
        made = self.folder / "threads.strobe"
        subprocess.run([MAKE, made, "60000", "3", "10", "4"], check=True, capture_output=True)
        rows = ask(made, "SELECT t.tid, count(*) FROM zone z JOIN track k ON k.id = z.track_id JOIN thread t ON t.id = k.thread_id GROUP BY 1")
        self.assertGreater(len(rows), 1)
        piece = self.folder / "thread.strobe"
        done = run("cut", "--thread", rows[0][0], "-o", piece, made)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(ask(piece, "SELECT tid FROM thread"), [[rows[0][0]]])
        self.assertEqual(ask(piece, "SELECT count(*) FROM zone"), [[rows[0][1]]])
        self.assertEqual(run("info", "--verify", piece).returncode, 0)
        done = run("cut", "--thread", "nobody", "-o", self.folder / "no.strobe", made)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no thread", done.stderr)

    def test_rank_says_which_rank_it_is(self):
        plain = {key: value for key, value in self.env.items() if "RANK" not in key and key != "SLURM_PROCID"}
        done = run("record", "-q", "--rank", "7", "--ranks", self.folder / "said", "--", HELLO, env=plain)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "said" / "rank-00007.strobe").exists())
        self.assertEqual(run("record", "--rank", "x", "--ranks", self.folder / "said", "--", HELLO, env=plain).returncode, 2)

    def test_peers_need_a_key_and_an_address(self):
        for words, said in ((("--peer", "127.0.0.1:7400"), "STROBE_CLOCK_KEY"), (("--peer", "nowhere"), "node1:7400"),
                            (("--listen", "7400", "--clock-key", "/dev/null"), "16 bytes")):
            done = run("record", "-o", self.folder / "no.strobe", *words, "--", HELLO, env=self.env)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)
        done = run("record", "-o", self.folder / "no.strobe", "--listen", "nobody.invalid:7400", "--", HELLO,
                   env={**self.env, "STROBE_CLOCK_KEY": "k" * 32})
        self.assertEqual(done.returncode, 1)
        self.assertIn("--listen nobody.invalid:7400", done.stderr)

    def test_what_gets_another_clock_has_all_its_events(self):
        paired = self.folder / "paired.strobe"
        subprocess.run([PAIRED, paired, "fsgG", "3000", "raw"], check=True, capture_output=True)
        out = self.folder / "other.strobe"
        done = run("merge", "-o", out, self.files[0], paired)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("never compared", done.stdout)
        self.assertEqual(run("info", "--verify", out).returncode, 0)
        kinds = [json.loads(run("info", "--json", "--verify", path).stdout)["kinds"] for path in (out, self.files[0], paired)]
        self.assertEqual(kinds[0], {key: kinds[1].get(key, 0) + kinds[2].get(key, 0) for key in {**kinds[1], **kinds[2]}})
        counts = "SELECT name, count(*) FROM zone GROUP BY 1 ORDER BY 1"
        names = {name for name, _ in ask(paired, counts)}
        self.assertEqual([row for row in ask(out, counts) if row[0] in names], ask(paired, counts))

    def test_a_range_that_was_cut_out_has_its_zones(self):
        piece = self.folder / "range.strobe"
        [[first, last]] = ask(self.merged, "SELECT min(ts), max(ts) FROM zone")
        end = int(first) + (int(last) - int(first)) // 2
        done = run("cut", "--to", f"{end}ns", "-o", piece, self.merged)
        self.assertEqual(done.returncode, 0, done.stderr)
        inside = int(ask(self.merged, f"SELECT count(*) FROM zone WHERE ts <= {end}")[0][0])
        self.assertGreaterEqual(int(ask(piece, "SELECT count(*) FROM zone")[0][0]), inside)
        self.assertEqual(run("cut", "-o", piece, self.merged).returncode, 1)
        done = run("cut", "--from", "5s", "--to", "1s", "-o", self.folder / "no.strobe", self.merged)
        self.assertEqual((done.returncode, (self.folder / "no.strobe").exists()), (2, False))
        self.assertIn("the range ends before it begins", done.stderr)
        self.assertEqual(run("cut", self.merged).returncode, 2)

    def damaged(self):
        """A trace of several blocks, and a copy of it that lacks one: (its path, events in all, events that can be read)."""
        whole, path = self.folder / "whole.strobe", self.folder / "damaged.strobe"
        if not path.exists():
            subprocess.run([MAKE, whole, "400000"], check=True, capture_output=True)
            bytes_of = bytearray(whole.read_bytes())
            bytes_of[len(bytes_of) // 2] ^= 0x55
            path.write_bytes(bytes_of)
        n_all = json.loads(run("info", "--json", whole).stdout)["stored"]
        cover = json.loads(run("info", "--json", "--verify", path).stdout)
        self.assertEqual(cover["stored"] + cover["in_holes_at_most"], n_all)
        self.assertGreater(cover["in_holes_at_most"], 0)
        return path, n_all, cover["stored"]

    def test_what_a_damaged_trace_lacks_is_counted_in_what_is_made_of_it(self):
        path, n_all, n_read = self.damaged()
        for command in (["cut"], ["merge"]):
            out = self.folder / f"of-damaged-{command[0]}.strobe"
            done = run(*command, "-o", out, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            facts = json.loads(run("info", "--json", "--verify", out).stdout)
            cover = facts
            self.assertEqual((cover["stored"], cover["dropped"], cover["in_holes_at_most"]), (n_read, n_all - n_read, 0))
            self.assertIn("made of a damaged trace: 1 hole", run("info", out).stdout)

    def test_a_piece_of_a_damaged_trace_is_never_whole(self):
        path, _, _ = self.damaged()
        out = self.folder / "of-damaged-range.strobe"
        self.assertEqual(run("cut", "--from", "0s", "--to", "10s", "-o", out, path).returncode, 0)
        cover = json.loads(run("info", "--json", "--verify", out).stdout)
        self.assertLess(cover["stored"], cover["emitted"])

    def test_a_query_that_met_damage_says_what_is_missing(self):
        path, n_all, n_read = self.damaged()
        said = run("query", path, "SELECT count(*), max(dur) FROM zone WHERE dur > 0").stdout
        self.assertIn(f"({n_all:,} emitted = {n_read:,} stored", said)
        self.assertIn("damaged", run("explain", path).stdout)

    def test_a_piece_of_a_trace_without_its_end_is_not_whole(self):
        cut_off = self.folder / "cut-off.strobe"
        cut_off.write_bytes(self.files[0].read_bytes()[:-16])
        for command in ("cut", "merge"):
            out = self.folder / f"of-cut-off-{command}.strobe"
            self.assertEqual(run(command, "-o", out, cut_off).returncode, 0)
            facts = json.loads(run("info", "--json", out).stdout)
            self.assertEqual(facts["dropped"], 1)
            self.assertIn("made of a trace that is not closed", run("info", out).stdout)


if __name__ == "__main__":
    STROBE, HELLO, MAKE, PAIRED = sys.argv[1:5]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
