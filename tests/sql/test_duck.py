"""test_duck.py STROBE DEMO MAKE_TRACE BUILD [--library | unittest arguments]: `strobe query --engine duckdb`, judged by SQLite on the same trace.
Without --library only what is said where DuckDB is not there. With it: a library that STROBE_DUCKDB names, else the one that npm brings.
SPDX-License-Identifier: MIT"""
import csv
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = DEMO = MAKE = BUILD = None
PACKAGE = "@duckdb/node-bindings-linux-x64@1.5.6-r.1"


def run(*arguments, **more):
    return subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, **more)


class Traced(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-duck-"))
        cls.made, cls.demo = cls.folder / "made.strobe", cls.folder / "demo.strobe"
        subprocess.run([MAKE, cls.made, "30000", "3", "40"], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)


class Missing(Traced):
    def test_what_to_install_is_said_where_there_is_no_library(self):
        for name, words in ((self.folder / "none.so", "none.so"), (self.made, "made.strobe")):
            done = run("query", "--engine", "duckdb", self.made, "SELECT 1", env={**os.environ, "STROBE_DUCKDB": str(name)})
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            for part in (words, "STROBE_DUCKDB", "libduckdb", "SQLite answers"):
                self.assertIn(part, done.stderr)

    def test_a_library_without_the_functions_is_named_as_such(self):
        libc = next(path for path in map(pathlib.Path, ("/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6")) if path.exists())
        done = run("query", "--engine", "duckdb", self.made, "SELECT 1", env={**os.environ, "STROBE_DUCKDB": str(libc)})
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no duckdb_", done.stderr)

    def test_engines_that_are_not_known_are_named(self):
        done = run("query", "--engine", "oracle", self.made, "SELECT 1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sqlite, duckdb", done.stderr)


class Library(Traced):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        session = cls.folder / "session"
        session.mkdir(mode=0o700)
        subprocess.run([STROBE, "record", "-q", "-o", cls.demo, "--", DEMO, "2"], check=True, capture_output=True, env={**os.environ, "STROBE_DIR": str(session)})

    def ask(self, sql, *options, file=None):
        done = run("query", "--format", "csv", *options, file or self.demo, sql)
        self.assertEqual(done.returncode, 0, (sql, done.stderr))
        return sorted(map(tuple, list(csv.reader(io.StringIO(done.stdout)))[1:]))

    def duck(self, sql, *options, file=None):
        return self.ask(sql, "--engine", "duckdb", *options, file=file)

    def refused(self, sql, *options):
        done = run("query", "--engine", "duckdb", *options, self.made, sql)
        self.assertEqual((done.returncode, done.stdout), (1, ""), sql)
        return done.stderr

    def test_every_table_has_the_rows_of_sqlite(self):
        tables = [line.split(":")[0] for line in run("query", "--tables").stdout.splitlines()[::2]]
        for table in tables + ["slice", "thread_slice", "args", "thread_state", "hottest", "leak"]:
            for file in (self.demo, self.made):
                with self.subTest(table=table, file=file.name):
                    self.assertEqual(self.duck(f"SELECT * FROM {table}", file=file), self.ask(f"SELECT * FROM {table}", file=file))

    def test_sums_by_every_key_are_those_of_sqlite(self):
        for keys in ("name", "track_id, depth", "process_id, name, loc_id"):
            sql = f"SELECT {keys}, count(*), count(dur), sum(dur), min(dur), max(dur), sum(self) FROM zone GROUP BY {keys}"
            for file in (self.demo, self.made):
                self.assertEqual(self.duck(sql, file=file), self.ask(sql, file=file))
                self.assertEqual(self.duck(sql, file=file), self.ask(sql, "--no-shortcut", file=file))

    def test_arguments_choose_the_rows_that_conditions_choose(self):
        for arguments, where in (("name := 'zone 3'", "name = 'zone 3'"), ("after := 1000, before := 900000", "ts BETWEEN 1000 AND 900000"),
                                 ("track_id := 1, process_id := 0", "track_id = 1 AND process_id = 0")):
            self.assertEqual(self.duck(f"SELECT id, ts, dur, name FROM zone({arguments})", file=self.made),
                             self.ask(f"SELECT id, ts, dur, name FROM zone WHERE {where}", file=self.made))

    def test_integers_divide_and_nulls_sort_as_in_sqlite(self):
        for sql in ("SELECT 7 / 2, -7 / 2, sum(dur) / 1000, 7 / 2.0 FROM zone", "SELECT dur FROM (SELECT dur FROM zone UNION ALL SELECT NULL) ORDER BY dur LIMIT 1",
                    "SELECT count(*) > 3, NULL, 9223372036854775807, 'text that is longer than twelve bytes' FROM zone"):
            self.assertEqual(self.duck(sql), self.ask(sql))

    def test_a_table_is_read_twice_in_one_statement_and_of_several_traces(self):
        sql = "SELECT a.trace_id, count(*) AS n FROM zone a JOIN zone b ON a.id = b.parent_id AND a.trace_id = b.trace_id GROUP BY 1 ORDER BY 1"
        ours = run("query", "--format", "jsonl", "--engine", "duckdb", self.made, self.demo, sql)
        theirs = run("query", "--format", "jsonl", self.made, self.demo, "SELECT trace_id, count(*) AS n FROM zone WHERE parent_id IS NOT NULL GROUP BY 1 ORDER BY 1")
        self.assertEqual(ours.stdout, theirs.stdout)
        self.assertEqual(len(ours.stdout.splitlines()), 2)

    def test_the_answer_names_engine_and_coverage(self):
        done = run("query", "--engine", "duckdb", self.made, "SELECT count(*) AS n FROM zone")
        self.assertRegex(done.stdout, r"coverage: 100\.00 % .*; by DuckDB v\d+\.\d+")

    def test_only_reading_passes_and_nothing_is_written(self):
        out = self.folder / "out.csv"
        for sql in ("CREATE TABLE x(a INT)", f"COPY (SELECT 1) TO '{out}'", f"ATTACH '{out}'", "INSTALL httpfs", "LOAD httpfs", "SET memory_limit = '9GB'", "DROP VIEW slice",
                    "SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM '/etc/hostname'", f"SELECT * FROM read_csv('{out}')", "EXPORT DATABASE '/tmp/x'",
                    "SELECT repeat('x', 2000000)", "SELECT [1, 2]", "SELECT nothing FROM zone", "SELECT 1 FROM"):
            self.assertTrue(self.refused(sql))
        self.assertFalse(out.exists())

    def test_a_run_ends_at_its_limits(self):
        self.assertIn("no answer in 0.2 s", self.refused("SELECT count(*) FROM zone a, zone b, zone c, zone d", "--timeout", "200ms"))
        self.assertIn("no answer in 0.2 s", self.refused("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t", "--timeout", "200ms"))
        self.assertIn("Memory", self.refused("SELECT count(*) FROM (SELECT DISTINCT range, hash(range) FROM range(50000000))", "--memory", "50M"))

    def test_a_damaged_trace_gives_what_is_left_and_says_so(self):
        bad = self.folder / "bad.strobe"
        data = bytearray(self.made.read_bytes())
        data[len(data) // 2:len(data) // 2 + 40] = bytes(40)
        bad.write_bytes(data)
        sql = "SELECT count(*), sum(dur) FROM zone"
        ours, theirs = (run("query", "--format", "csv", "--engine", engine, bad, sql) for engine in ("duckdb", "sqlite"))
        self.assertEqual(ours.stdout.splitlines()[1:], theirs.stdout.splitlines()[1:])
        self.assertEqual(ours.stderr, theirs.stderr)
        self.assertTrue(ours.stderr)

    def test_other_formats_say_what_to_do(self):
        done = run("query", "--engine", "duckdb", "-o", self.folder / "a.parquet", self.made, "SELECT 1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("SQLite's answers", done.stderr)


def find_library(build):
    """The path of libduckdb.so; None where there is none and npm gets none."""
    if os.environ.get("STROBE_DUCKDB"):
        return os.environ["STROBE_DUCKDB"]
    folder = pathlib.Path(build) / "duckdb"
    folder.mkdir(exist_ok=True)
    found = list(folder.rglob("libduckdb.so"))
    if not found and shutil.which("npm"):
        subprocess.run(["npm", "install", "--prefix", folder, PACKAGE], capture_output=True, check=False)
        found = list(folder.rglob("libduckdb.so"))
    return str(found[0]) if found else None


if __name__ == "__main__":
    STROBE, DEMO, MAKE, BUILD = (os.path.abspath(path) for path in sys.argv[1:5])
    rest = sys.argv[5:]
    if rest[:1] == ["--library"]:
        library = find_library(BUILD)
        if not library:
            print("skipped: no libduckdb.so; STROBE_DUCKDB names one, or npm brings it")
            sys.exit(77)
        os.environ["STROBE_DUCKDB"] = library
        rest = ["Library", *rest[1:]]
    unittest.main(argv=["test_duck.py", *(rest or ["Missing"])])
