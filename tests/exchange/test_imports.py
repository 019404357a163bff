#!/usr/bin/env python3
"""test_imports.py STROBE SEEDS [full BURNER]: files of stack samples as traces: every form, what is not read is said, damage is refused in words; with `full`, perf's own report of a real
recording says the same."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE, SEEDS = sys.argv[1:3]
FULL = sys.argv[4] if "full" in sys.argv[3:] else None


def run(*args, code=0):
    """What a command prints, errors behind."""
    result = subprocess.run(args, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if code is not None and result.returncode != code:
        raise AssertionError(f"{args}: exit {result.returncode}: {result.stderr}")
    return result.stdout + result.stderr


def seed(name):
    """The bytes of a seed."""
    with open(os.path.join(SEEDS, name), "rb") as file:
        return file.read()


class Imports(unittest.TestCase):
    """strobe import of stack samples"""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="strobe-imports-")
        self.trace = os.path.join(self.folder, "in.strobe")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def make(self, data, code=0, name="in"):
        """Import bytes; what the command says."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return run(STROBE, "import", "-f", "-o", self.trace, path, code=code)

    def stats(self, trace=None):
        """Function: (self, total); and the number of samples."""
        told = json.loads(run(STROBE, "stats", "--stacks", "--json", "--limit", "100000", trace or self.trace))
        return {row["function"]: (row["self"], row["total"]) for row in told["functions"]}, told["samples"], told["hz"]

    def test_folded_stacks_are_as_many_samples_as_they_say(self):
        said = self.make(seed("folded"))
        self.assertIn("6 samples of 1 threads (folded stacks)", said)
        self.assertIn("set aside: 1", said)
        self.assertEqual(self.stats()[0], {"app": (0, 6), "main": (2, 6), "work": (3, 3), "idle": (1, 1)})
        self.assertIn("1 lines were left out: no stack with a number", run(STROBE, "info", self.trace))

    def test_perf_script_has_times_threads_and_names(self):
        self.make(seed("perf_script"))
        functions, n, hz = self.stats()
        self.assertEqual((n, hz), (2, 997))
        self.assertEqual(functions, {"work": (2, 2), "main": (0, 1), "[vdso]": (0, 1)})
        rows = run(STROBE, "csv", "--kind", "samples", self.trace).splitlines()[1:]
        self.assertEqual(len(rows), 2)
        self.assertTrue(any(",13," in row for row in rows), rows)

    def test_perf_data_has_chains_threads_modules_and_switches(self):
        for name in ("perf_data", "perf_data_packed"):
            said = self.make(seed(name))
            self.assertIn("2 samples of 2 threads (a perf.data file)", said)
            functions, n, hz = self.stats()
            self.assertEqual((n, hz), (2, 1000))
            self.assertEqual(functions, {"[app]": (1, 2), "[kernel]": (1, 1)})
            rows = run(STROBE, "csv", "--kind", "samples", self.trace).splitlines()[1:]
            self.assertEqual(["app,7,worker,8" in row for row in rows], [True, True], rows)
            self.assertIn("app+0x10", rows[1])
            self.assertIn("app+0x100", rows[0])
            self.assertEqual(len(run(STROBE, "csv", "--kind", "switches", self.trace).splitlines()), 3)
            told = run(STROBE, "info", self.trace)
            self.assertIn("3 records were lost while perf recorded", told)
            self.assertIn("1 times the kernel slowed sampling down", told)
            self.assertIn("1 records of other kinds were left out", told)

    def test_perf_data_of_a_pipe_is_refused_with_a_way_out(self):
        self.assertIn("perf script", self.make(b"PERFILE2" + (16).to_bytes(8, "little") + b"\0" * 64, code=1))

    def test_perf_data_of_a_perf_that_was_killed_has_what_came_before(self):
        data = bytearray(seed("perf_data"))
        data[48:56] = bytes(8)
        self.assertIn("2 samples", self.make(bytes(data[:-70])))

    def test_speedscope_weighs_by_its_unit(self):
        self.make(seed("speedscope"))
        functions, n, hz = self.stats()
        self.assertEqual((n, hz), (3 + 3000, 1000))
        self.assertEqual(functions, {"main": (1 + 2000, 3003), "work": (2 + 1000, 1002)})

    def test_pprof_counts_samples_where_it_has_them(self):
        for data in (seed("pprof"), gzip.compress(seed("pprof"))):
            self.make(data)
            functions, n, hz = self.stats()
            self.assertEqual((n, hz), (4, 100))
            self.assertEqual(functions, {"work": (3, 3), "main": (1, 4)})

    def test_our_exports_come_back_with_the_same_counts(self):
        self.make("".join(f"app;main;f{i % 7};g{i} {i}\n" for i in range(1, 60)))
        want = self.stats()[:2]
        for form, name in (("speedscope", "x.speedscope.json"), ("pprof", "x.pb.gz")):
            out, back = os.path.join(self.folder, name), os.path.join(self.folder, "back.strobe")
            run(STROBE, "export", "--to", form, "-o", out, self.trace)
            run(STROBE, "import", "-f", "-o", back, out)
            self.assertEqual(self.stats(back)[:2], want, form)

    def test_a_small_file_never_stands_for_more_than_a_million_samples(self):
        said = self.make("a;b 900000000000\na;c 100000000000\n")
        functions, n, _ = self.stats()
        self.assertLessEqual(n, 1 << 20)
        self.assertAlmostEqual(functions["b"][0] / n, 0.9, 5)
        self.assertIn("samples of 1 threads", said)
        self.assertIn("a sample stands for", run(STROBE, "info", self.trace))

    def test_damage_is_refused_in_words_and_leaves_nothing(self):
        damaged = {"speedscope": seed("speedscope")[:-30], "pprof": seed("pprof")[:-40]}
        for name, data in damaged.items():
            said = self.make(data, code=1)
            self.assertIn("damaged", said, name)
            self.assertFalse(os.path.exists(self.trace))
        self.assertIn("neither", self.make("nothing to see here\n", code=1))
        packed = gzip.compress(b"a;b 1\n" * 100000)[:200]
        self.assertIn("damaged", self.make(packed, code=1))

    def test_a_bomb_is_refused(self):
        self.assertIn("unpacks to far more", self.make(gzip.compress(b"a;b 1\n" + b"x" * (100 << 20)), code=1))

    @unittest.skipUnless(FULL and shutil.which("perf"), "needs perf")
    def test_perf_reports_the_same_of_its_recording(self):
        data = os.path.join(self.folder, "perf.data")
        made = subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock", "-F", "997", "-o", data, FULL, "split", "0.5"], check=False)
        if made.returncode:
            self.skipTest("perf may not record here")
        script = subprocess.run(["perf", "script", "-i", data], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for source in (script, None):
            if source:
                self.make(source)
            else:
                run(STROBE, "import", "-f", "-o", self.trace, data)
            self.compare(data)

    def compare(self, data):
        """The trace with what perf reports: samples by function, and of the kernel in all where the trace has no names for it."""
        report = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-g", "none", "-F", "sample,sym", "-t", "|"],
                                check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        got = {name: alone for name, (alone, _) in self.stats()[0].items() if alone}
        want, n_kernel = {}, 0
        for line in report.splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 2 and cells[0].isdigit():
                want[cells[1].split("] ", 1)[1]] = int(cells[0])
                n_kernel += int(cells[0]) if cells[1].startswith("[k]") else 0
        self.assertEqual(got["burn"], want["burn"])
        self.assertEqual(sum(got.values()), sum(want.values()))
        if "[kernel]" in got:
            self.assertEqual(got["[kernel]"], n_kernel)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
