"""test_query.py STROBE DEMO MAKE_TRACE ROOT [unittest arguments]: what `strobe query` answers, judged by csv and stats of the same trace.
SPDX-License-Identifier: MIT"""
import csv
import io
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = DEMO = MAKE = ROOT = None


def run(*arguments, **more):
    return subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, errors="surrogateescape", **more)


def numbers(value):
    """A cell of CSV as a number where it is one."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value or None


def setUpModule():
    """One recording and one made trace for all."""
    Query.make()


def tearDownModule():
    shutil.rmtree(Query.folder)


class Query(unittest.TestCase):
    @classmethod
    def make(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-sql-"))
        cls.demo, cls.made = cls.folder / "demo.strobe", cls.folder / "made.strobe"
        session = cls.folder / "session"
        session.mkdir(mode=0o700)
        env = {**os.environ, "STROBE_DIR": str(session)}
        subprocess.run([STROBE, "record", "-q", "-o", cls.demo, "--", DEMO, "8"], check=True, capture_output=True, env=env)
        subprocess.run([MAKE, cls.made, "30000", "3", "40"], check=True, capture_output=True)

    def ask(self, sql, *files, **more):
        """The rows of the answer."""
        done = run("query", "--format", "csv", *(files or (self.demo,)), sql, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.reader(io.StringIO(done.stdout)))
        return [tuple(map(numbers, row)) for row in rows[1:]]

    def refused(self, sql, *options, file=None):
        done = run("query", *options, file or self.demo, sql)
        self.assertEqual(done.returncode, 1, (sql, done.stdout))
        self.assertTrue(done.stderr.startswith("strobe query: "), done.stderr)
        return done.stderr

    def table(self, kind, file=None):
        return list(csv.DictReader(io.StringIO(run("csv", "--kind", kind, file or self.demo).stdout)))


class Numbers(Query):
    def test_zones_are_those_of_csv(self):
        for file in (self.demo, self.made):
            ours = self.ask("SELECT z.name, ts, dur, self, depth, state FROM zone z JOIN track t ON t.id = z.track_id WHERE t.kind != 'span'", file)
            theirs = [(row["name"], int(row["start_ns"]), numbers(row["duration_ns"]), numbers(row["self_ns"]), int(row["depth"]), row["state"])
                      for row in self.table("zones", file)]
            self.assertEqual(sorted(map(str, ours)), sorted(map(str, theirs)))

    def test_spans_are_those_of_csv(self):
        ours = self.ask("SELECT z.name, ts, dur FROM zone z JOIN track t ON t.id = z.track_id WHERE t.kind = 'span'")
        theirs = [(row["name"] or None, int(row["start_ns"]), numbers(row["duration_ns"])) for row in self.table("spans")]
        self.assertGreater(len(theirs), 0)
        self.assertEqual(sorted(map(str, ours)), sorted(map(str, theirs)))

    def test_statistics_are_those_of_stats(self):
        for file in (self.demo, self.made):
            theirs = [[row[name] for name in ("name", "function", "file", "line", "count", "total_ns", "self_ns", "min_ns", "max_ns", "mean_ns", "p99_ns")]
                      for row in csv.DictReader(io.StringIO(run("stats", "--csv", file).stdout))]
            ours = self.ask("SELECT name, function, file, line, count, total, self, min, max, mean, p99 FROM stat WHERE kind = 'zone'", file)
            self.assertEqual(sorted(map(str, ours)), sorted(str(tuple(map(numbers, row))) for row in theirs))

    def test_other_tables_have_the_rows_of_csv(self):
        for table, kind in (("message", "messages"), ("counter", "plots"), ("frame_event", "frames"), ("flow_event", "flows"), ("lock_event", "locks"),
                            ("alloc_event", "memory"), ("thread", "threads"), ("process", "processes"), ("loss", "losses")):
            self.assertEqual(self.ask(f"SELECT count(*) FROM {table}"), [(len(self.table(kind)),)], table)

    def test_a_counter_has_the_values_of_csv(self):
        theirs = sorted((row["plot"], int(row["time_ns"]), float(row["value"])) for row in self.table("plots"))
        ours = sorted((name, ts, float(value)) for name, ts, value in self.ask("SELECT name, ts, value FROM counter"))
        self.assertEqual(ours, theirs)

    def test_coverage_is_that_of_info(self):
        facts = json.loads(run("info", "--json", self.demo).stdout)
        self.assertEqual(self.ask("SELECT emitted, stored, dropped FROM coverage"), [(facts["emitted"], facts["stored"], facts["dropped"])])

    def test_a_trace_that_was_cut_off_says_so_everywhere_with_one_number(self):
        cut = self.folder / "cut.strobe"
        cut.write_bytes(self.made.read_bytes()[:-1000])
        facts = json.loads(run("info", "--json", cut).stdout)
        self.assertGreater(facts["stored"], 0)
        self.assertEqual(self.ask("SELECT emitted, stored, dropped, is_closed FROM coverage", cut), [(facts["emitted"], facts["stored"], facts["dropped"], 0)])
        self.assertEqual(self.ask("SELECT is_closed FROM coverage", self.made), [(1,)])
        coverage = f"({facts['emitted']:,} emitted = {facts['stored']:,} stored + 0 dropped) of what is in the file; it is not closed"
        for words in (("info", cut), ("stats", cut), ("query", cut, "SELECT 1")):
            self.assertIn(coverage, run(*words).stdout)
        self.assertIn("is not closed", run("query", "--format", "csv", cut, "SELECT 1").stderr)

    def test_a_blocks_end_is_its_free(self):
        (n, freed, size), = self.ask("SELECT count(*), count(free_ts), sum(size) FROM alloc")
        rows = self.table("memory")
        allocs = [row for row in rows if row["what"] == "alloc"]
        self.assertEqual((n, size), (len(allocs), sum(int(row["size"]) for row in allocs)))
        self.assertEqual(freed, sum(row["what"] == "free" for row in rows))


class Ids(Query):
    def test_an_id_names_one_zone(self):
        for file in (self.demo, self.made):
            (n, n_ids), = self.ask("SELECT count(*), count(DISTINCT id) FROM zone", file)
            self.assertEqual(n, n_ids)

    def test_a_parent_is_the_zone_around(self):
        for file in (self.demo, self.made):
            rows = self.ask("WITH z AS MATERIALIZED (SELECT * FROM zone) SELECT count(*), sum(p.track_id = c.track_id AND p.depth = c.depth - 1 AND p.ts <= c.ts "
                            "AND (p.dur IS NULL OR p.ts + p.dur >= c.ts + c.dur)) FROM z c JOIN z p ON p.id = c.parent_id WHERE c.dur IS NOT NULL", file)
            (n, n_right), = rows
            self.assertEqual(n, n_right)
            (deep,), = self.ask("SELECT count(*) FROM zone z JOIN thread t ON t.id = z.track_id WHERE depth > 0 AND dur IS NOT NULL", file)
            self.assertEqual(n, deep)

    def test_ids_stay_when_a_range_is_asked_for(self):
        (low, high), = self.ask("SELECT max(ts) / 3, max(ts) / 2 FROM zone", self.made)
        part = self.ask(f"SELECT id, ts, dur FROM zone WHERE ts BETWEEN {low} AND {high}", self.made)
        whole = self.ask(f"SELECT id, ts, dur, parent_id FROM zone WHERE ts + 0 BETWEEN {low} AND {high}", self.made)
        self.assertGreater(len(part), 100)
        self.assertEqual(sorted(part), sorted(row[:3] for row in whole))

    def test_parents_outside_of_a_range_are_known(self):
        (low,), = self.ask("SELECT max(ts) / 2 FROM zone", self.made)
        part = self.ask(f"SELECT id, parent_id FROM zone WHERE ts > {low}", self.made)
        whole = dict(self.ask("SELECT id, parent_id FROM zone", self.made))
        self.assertEqual(dict(part), {one: whole[one] for one, _ in part})


class Pushdown(Query):
    """What a table leaves out is what SQLite would have left out: + hides the column from the table."""

    def test_conditions_that_the_table_applies_change_nothing(self):
        (name, track, process, ts), = self.ask("SELECT name, track_id, process_id, ts FROM zone WHERE depth = 2 LIMIT 1")
        for asked, hidden in ((f"name = '{name}'", f"+name = '{name}'"), (f"track_id = {track}", f"+track_id = {track}"),
                              (f"process_id = {process}", f"+process_id = {process}"), (f"ts >= {ts}", f"+ts >= {ts}"), (f"ts < {ts}", f"+ts < {ts}"),
                              (f"ts > {ts}.5", f"+ts > {ts}.5"), (f"ts = {ts}", f"+ts = {ts}"), ("track_id = -1", "+track_id = -1"), ("name = 1", "+name = 1"),
                              (f"name = '{name}' AND ts > {ts} AND track_id = {track}", f"+name = '{name}' AND +ts > {ts} AND +track_id = {track}"),
                              ("name = 'ROW' COLLATE NOCASE", "+name = 'ROW' COLLATE NOCASE")):
            columns = "count(*), sum(dur), min(ts), max(ts)"
            self.assertEqual(self.ask(f"SELECT {columns} FROM zone WHERE {asked}"), self.ask(f"SELECT {columns} FROM zone WHERE {hidden}"), asked)

    def test_facts_are_found_by_their_id(self):
        for table in ("loc", "thread", "process"):
            for (one,) in self.ask(f"SELECT id FROM {table}"):
                self.assertEqual(self.ask(f"SELECT * FROM {table} WHERE id = {one}"), self.ask(f"SELECT * FROM {table} WHERE +id = {one}"))
            self.assertEqual(self.ask(f"SELECT * FROM {table} WHERE id = 100000"), [])

    def test_traces_are_told_apart(self):
        both = self.ask("SELECT trace_id, count(*) FROM zone GROUP BY trace_id", self.demo, self.made)
        self.assertEqual(both, [(0, self.ask("SELECT count(*) FROM zone")[0][0]), (1, self.ask("SELECT count(*) FROM zone", self.made)[0][0])])
        self.assertEqual(self.ask("SELECT count(*) FROM zone WHERE trace_id = 1", self.demo, self.made), [(both[1][1],)])
        self.assertEqual(self.ask("SELECT count(*) FROM loc WHERE trace_id = 7", self.demo, self.made), [(0,)])
        self.assertEqual(self.ask("SELECT count(*) FROM thread WHERE id = 0", self.demo, self.made), [(2,)])


class Shortcut(Query):
    """Statements that only add up zones are answered by zone_sum: the same rows, names and digits."""
    REWRITTEN = ("SELECT name, count(*), sum(dur) FROM zone GROUP BY name",
                 "select name , COUNT( * ) AS n, sum(dur) / 1e6, avg(dur), min(dur), max(dur), count(dur), sum(self) from zone group by name order by n desc, name limit 7",
                 "SELECT track_id, depth, count(*) FROM zone GROUP BY track_id, depth",
                 "SELECT process_id, name, sum(self) * 100 / (1 + sum(dur)) AS share FROM zone GROUP BY process_id, name ORDER BY share DESC, name, process_id",
                 "SELECT name, count(*) FROM zone WHERE ts >= 100000000 AND ts < 300000000 GROUP BY name",
                 "SELECT name, count(*) FROM zone WHERE ts > 100000000 AND ts <= 300000000 AND depth = 1 GROUP BY name",
                 "SELECT loc_id, sum(dur) FROM zone WHERE ts BETWEEN 50000000 AND 60000000 AND process_id = 0 GROUP BY loc_id",
                 "SELECT name, round(avg(dur), 2), max(dur) - min(dur) FROM zone WHERE name = 'row' GROUP BY name;",
                 "SELECT name, 'it''s' AS it, count(*) FROM zone WHERE track_id = 2 GROUP BY name ORDER BY 3 DESC, 1 LIMIT 2 OFFSET 1",
                 "SELECT trace_id, count(*) FROM zone GROUP BY trace_id", "SELECT name, min(depth), max(depth), count(*) FROM zone GROUP BY name",
                 "SELECT count(*) FROM zone", "SELECT sum(dur), sum(self), max(depth) FROM zone", "SELECT count(*), sum(dur) / count(dur), avg(dur) FROM zone WHERE depth = 1 AND ts > 5000",
                 "SELECT count(*), count(dur), sum(dur), avg(dur), min(depth), 7 FROM zone WHERE name = 'no such zone'",
                 "SELECT name, count(*) AS n, count(dur), sum(dur), avg(dur), min(dur), max(dur) FROM slice GROUP BY name ORDER BY n DESC, name",
                 "SELECT track_id, depth, sum(dur), min(dur), max(depth) FROM slices WHERE ts > 5000 GROUP BY track_id, depth",
                 "SELECT trace_id, avg(dur), max(dur) FROM slice GROUP BY trace_id", "SELECT name, count(*), sum(dur), min(dur) FROM zone WHERE dur > 500 GROUP BY name",
                 "SELECT name, count(*), count(dur), sum(self) FROM zone WHERE dur <= 500 AND ts > 5000 GROUP BY name", "SELECT count(*), max(dur) FROM zone WHERE dur BETWEEN 100 AND 900 AND depth = 1",
                 "SELECT count(*) FROM zone WHERE dur >= 0", "SELECT name, count(*), min(dur), avg(dur) FROM slice WHERE dur >= 500 AND dur < 100000 GROUP BY name",
                 "SELECT count(*), count(dur), sum(dur), avg(dur), min(dur), max(dur) FROM slice WHERE name = 'no such zone'")
    LEFT = ("SELECT name, max(dur), ts FROM zone GROUP BY name", "SELECT name, count(*) FROM thread_slice GROUP BY name", "SELECT category, count(*) FROM slice GROUP BY category", "SELECT name, count(*) FROM zone WHERE dur > 5.5 GROUP BY name", "SELECT name, count(*) FROM slice WHERE dur < 500 GROUP BY name", "SELECT name, count(*) FROM zone WHERE dur = 500 GROUP BY name",
            "SELECT name, track_id, count(*) FROM zone GROUP BY name", "SELECT name, count(*) FROM zone GROUP BY name HAVING count(*) > 3",
            "SELECT name, count(DISTINCT dur) FROM zone GROUP BY name", "SELECT 7 FROM zone LIMIT 3", "SELECT name, count(*) FROM zone", "SELECT max(depth, 2) FROM zone LIMIT 2", "SELECT z.name, count(*) FROM zone z GROUP BY z.name",
            "SELECT name, count(*) FROM zone WHERE ts > 1e8 GROUP BY name", "SELECT name, group_concat(depth) FROM zone GROUP BY name",
            "SELECT name, count(*) FROM zone /* all */ GROUP BY name", "SELECT upper(name), count(*) FROM zone GROUP BY name",
            "SELECT zone.name, count(*) FROM zone, run GROUP BY zone.name LIMIT 1", "SELECT DISTINCT name, count(*) FROM zone GROUP BY name")

    def both(self, sql, *files):
        short, plain = (run("query", *option, *files, sql) for option in ((), ("--no-shortcut",)))
        self.assertEqual((short.returncode, plain.returncode), (0, 0), (sql, short.stderr, plain.stderr))
        cut = [text.stdout.split("coverage:") for text in (short, plain)]
        self.assertEqual(cut[0][0], cut[1][0], sql)
        return ["zone_sum" in text[1] for text in cut]

    def test_it_gives_the_same_answer(self):
        for sql in self.REWRITTEN:
            for files in ((self.demo,), (self.made,), (self.demo, self.made)):
                self.assertEqual(self.both(sql, *files), [True, False], sql)

    def test_slices_that_did_not_end_count_as_minus_one(self):
        source, made = self.folder / "open.json", self.folder / "open.strobe"
        events = [("a", "B", 0), ("c", "B", 1), ("c", "E", 3), ("a", "B", 4), ("a", "E", 9), ("b", "B", 10)]  # a and b stay open
        source.write_text(json.dumps([{"name": name, "ph": phase, "ts": ts, "pid": 1, "tid": 1} for name, phase, ts in events]))
        self.assertEqual(run("import", "-o", made, source).returncode, 0)
        sql = "SELECT name, count(dur), sum(dur), avg(dur), min(dur), max(dur) FROM slice GROUP BY name"
        self.assertEqual(self.both(sql, made), [True, False])
        self.assertEqual(self.ask(sql, made), [("a", 2, 4999, 2499.5, -1, 5000), ("b", 1, -1, -1.0, -1, -1), ("c", 1, 2000, 2000.0, 2000, 2000)])

    def test_what_it_does_not_understand_goes_to_sqlite(self):
        for sql in self.LEFT:
            self.assertEqual(self.both(sql, self.demo), [False, False], sql)

    def test_sums_of_a_time_are_those_of_its_zones(self):
        (least, most), = (map(int, row) for row in self.ask("SELECT min(ts), max(ts) FROM zone"))
        first, last = least + (most - least) // 4, most - (most - least) // 4  # a busy machine starts the demo late
        rows = self.ask(f"SELECT name, sum(count), sum(total), sum(self) FROM zone_sum({first}, {last}) GROUP BY name")
        self.assertEqual(rows, self.ask(f"SELECT name, count(*), sum(dur), sum(self) FROM zone WHERE +ts BETWEEN {first} AND {last} GROUP BY name"))
        self.assertGreater(len(rows), 3)


class Bounds(Query):
    HOSTILE = ("CREATE TABLE t(x)", "CREATE TEMP TABLE t(x)", "INSERT INTO zone VALUES (1)", "DELETE FROM zone", "DROP VIEW slice", "UPDATE loc SET name = 'x'",
               "ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", "PRAGMA temp_store = 1", "PRAGMA journal_mode = WAL", "CREATE VIRTUAL TABLE t USING zone",
               "SELECT load_extension('x.so')", "BEGIN", "SAVEPOINT x", "ANALYZE", "REINDEX", "ALTER TABLE zone RENAME TO y", "SELECT zeroblob(100000000)",
               "SELECT * FROM nothing", "SELECT", "SELECT randomblob(2000000)", "SELECT readfile('/etc/passwd')",
               "SELECT writefile('x', 'y')", "SELECT fts3_tokenizer('x')")

    def test_only_reading_passes_and_nothing_is_written(self):
        folder = self.folder / "empty"
        folder.mkdir(exist_ok=True)
        for sql in self.HOSTILE:
            done = run("query", self.demo, sql, cwd=folder, env={**os.environ, "TMPDIR": str(folder)})
            self.assertEqual(done.returncode, 1, (sql, done.stdout))
            self.assertEqual(list(folder.iterdir()), [], sql)

    def test_a_run_ends_at_its_time_limit(self):
        for sql in ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
                    "SELECT count(*) FROM zone a, zone b, zone c",
                    "SELECT count(*) FROM loc a, loc b, loc c, loc d, loc e, loc f, loc g"):
            self.assertIn("--timeout", self.refused(sql, "--timeout", "200ms"))

    def test_a_run_ends_at_its_memory_limit(self):
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000000) SELECT i FROM n ORDER BY -i LIMIT 1 OFFSET 4999999"
        self.assertIn("--memory", self.refused(sql, "--memory", "16M"))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("prlimit"), "needs another user's limit of processes")
    def test_a_limit_of_processes_is_named(self):
        readable = pathlib.Path(tempfile.mkdtemp(prefix="strobe-sql-"))
        self.addCleanup(shutil.rmtree, readable)
        readable.chmod(0o755)
        shutil.copy(self.demo, readable / "demo.strobe")
        (readable / "demo.strobe").chmod(0o644)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--nproc=1", STROBE, "query", readable / "demo.strobe",
                               "SELECT count(*) FROM zone"], capture_output=True, text=True)
        if "ulimit -u" not in done.stderr:  # the folder of the build may be closed to others
            self.assertIn("ermission denied", done.stderr)

    def test_the_prompt_goes_on_after_an_error(self):
        master, slave = pty.openpty()
        child = subprocess.Popen([STROBE, "query", self.demo], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(slave)
        os.write(master, b"SELECT nonsense;\nSELECT 40 +\n 2 AS answer;\n\x04")
        out, err = child.communicate(timeout=60)
        os.close(master)
        self.assertEqual(child.returncode, 0)
        self.assertIn("no such column: nonsense", err)
        self.assertIn("answer\n    42\n", out)

    def test_the_prompt_knows_the_words_of_other_prompts(self):
        master, slave = pty.openpty()
        child = subprocess.Popen([STROBE, "query", self.demo], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(slave)
        os.write(master, b".help\n.schema lock\n.tables nowhere\n.mode csv\nSELECT 42 AS answer;\n.quit\n")
        out, err = child.communicate(timeout=60)
        os.close(master)
        self.assertEqual(child.returncode, 0)
        self.assertIn("Ctrl-C forgets a line", err)
        self.assertIn("there is no table nowhere", err)
        self.assertIn("there is no .mode", err)
        self.assertIn("lock: ", out)
        self.assertNotIn("zone_sum: ", out)
        self.assertIn("answer\n    42\n", out)

    def test_a_damaged_trace_gives_what_is_left_and_says_so(self):
        bad = self.folder / "bad.strobe"
        data = bytearray(self.made.read_bytes())
        for at in range(len(data) // 2, len(data) // 2 + 2000):
            data[at] ^= 0x55
        bad.write_bytes(data)
        done = run("query", bad, "SELECT count(*) FROM zone")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("damage", done.stderr)

    def test_a_missing_or_foreign_file_is_named(self):
        foreign = self.folder / "foreign"
        foreign.write_text("no trace")
        for file in (self.folder / "none.strobe", foreign):
            done = run("query", file, "SELECT 1 AS x FROM run")
            self.assertEqual(done.returncode, 1)
            self.assertIn(str(file), done.stderr)


class Forms(Query):
    def test_csv_quotes_and_leaves_null_empty(self):
        done = run("query", "--format", "csv", self.demo, "SELECT 'a,\"b' AS \"x,y\", NULL AS n, 1.5 AS r")
        self.assertEqual(done.stdout, '"x,y",n,r\n"a,""b",,1.5\n')

    def test_jsonl_has_an_object_per_row(self):
        done = run("query", "--format", "jsonl", self.demo, "SELECT 'ä\n' AS a, NULL AS b, 2 AS c UNION ALL SELECT 'z', 1.25, 3")
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()], [{"a": "ä\n", "b": None, "c": 2}, {"a": "z", "b": 1.25, "c": 3}])

    def test_markdown_escapes_bars(self):
        done = run("query", "--format", "markdown", self.demo, "SELECT 'a|b' AS x, 1 AS y")
        self.assertEqual(done.stdout, "| x | y |\n|---|---|\n| a\\|b | 1 |\n")

    def test_a_table_aligns_numbers_right_and_says_its_coverage(self):
        done = run("query", self.demo, "SELECT 'ä' AS name, 7 AS number UNION ALL SELECT 'long name', 1234567")
        self.assertEqual(done.stdout.splitlines()[:4], ["name        number", "ä                7", "long name  1234567", "(2 rows)"])
        self.assertTrue(done.stdout.splitlines()[4].startswith("coverage: 100.00 %"))

    def test_a_table_of_many_rows_keeps_its_columns(self):
        lines = run("query", self.demo, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, i * 2 AS twice FROM n").stdout.splitlines()
        self.assertEqual(len(lines), 3003)
        self.assertEqual({line.split()[0] for line in lines[1:3001]}, {str(i) for i in range(1, 3001)})

    def test_statements_come_from_a_file_or_stdin(self):
        sql = self.folder / "two.sql"
        sql.write_text("SELECT 1 AS a; -- one\nSELECT 2 AS b;\n")
        done = run("query", "--format", "csv", "--file", sql, self.demo)
        self.assertEqual(done.stdout, "a\n1\n\nb\n2\n")
        self.assertEqual(run("query", "--format", "csv", self.demo, input=sql.read_text()).stdout, done.stdout)

    def test_options_that_make_no_sense_are_named(self):
        for options in (("--format", "xml"), ("--timeout", "soon"), ("--memory", "much")):
            done = run("query", *options, self.demo, "SELECT 1")
            self.assertEqual(done.returncode, 2)
            self.assertIn(options[1], done.stderr)


class Documents(Query):
    def test_every_example_of_the_document_answers(self):
        text = (pathlib.Path(ROOT) / "docs" / "query.md").read_text()
        examples = re.findall(r"```sql\n(.*?)```", text, re.S)
        self.assertGreaterEqual(len(examples), 40)
        for sql in examples:
            for files in ((self.demo,), (self.made, self.demo)):
                done = run("query", "--format", "csv", *files, sql)
                self.assertEqual(done.returncode, 0, (sql, done.stderr))

    def test_the_documents_tables_are_the_commands(self):
        text = (pathlib.Path(ROOT) / "docs" / "query.md").read_text()
        rows = {name: set(re.findall(r"`(\w+)`", columns)) for name, columns in re.findall(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", text, re.M)}
        lines = run("query", "--tables").stdout.splitlines()
        tables = {head.split(":")[0]: set(re.findall(r"(\w+) (?:INT4?|REAL|TEXT|ENUM TEXT)(?: HIDDEN)?", columns)) - {"trace_id"} for head, columns in zip(lines[::2], lines[1::2])}
        self.assertEqual(rows, tables)


if __name__ == "__main__":
    STROBE, DEMO, MAKE, ROOT = (os.path.abspath(path) for path in sys.argv[1:5])
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
