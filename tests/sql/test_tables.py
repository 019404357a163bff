"""test_tables.py STROBE ROOT [unittest arguments]: tables that are made of several events, arguments of zones, and Perfetto's names: statements out of Perfetto's documents run as they stand.
SPDX-License-Identifier: MIT"""
import csv
import io
import json
import os
import pathlib
import pty
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import arrow_reader
import made_trace

STROBE = ROOT = None

# Statements of Perfetto's documents (https://perfetto.dev/docs, Apache License 2.0) without a change, and what they must answer of
# the made trace. A set: the order is not said.
GETTING_STARTED = "analysis/perfetto-sql-getting-started.md"
SLICES = {("DrawGame", 1000, 3000), ("DrawPlayer", 2000, 600), ("DrawPlayer", 3000, 600), ("measure", 5200, 1800), ("send", 5400, 200), ("receive", 5700, 1300),
          ("job", 8000, 600), ("measure", 8200, 200), ("serve", 100, 800)}
COUNTERS = {(1100, 120, "Framerate", "app"), (1200, 999, "mem.swap", "app"), (3700, 2048, "mem.swap", "app"), (200, 500, "mem.swap", "server")}
PIDS = {"app": 4001, "server": 4002}
TURNS = {(0, 8000, 3, 0, "R+", "main"), (9000, 1000, 1, 0, None, "main"), (2000, -1, 0, 1, None, "worker")}
THREADS = {"DrawGame": "main", "DrawPlayer": "main", "send": "main", "receive": "worker", "job": "worker", "serve": "server"}


def thread_of(name, ts):
    return THREADS.get(name) or ("worker" if ts > 8000 else "main")


QUERIES = (
    (GETTING_STARTED, "SELECT ts, dur, name FROM slice LIMIT 10;", {(ts, dur, name) for name, ts, dur in SLICES}),
    (GETTING_STARTED, "SELECT utid\nFROM slice\nJOIN thread_track ON thread_track.id = slice.track_id\nWHERE slice.name = 'measure'", {(0,), (1,)}),
    (GETTING_STARTED, "SELECT upid\nFROM counter\nJOIN process_counter_track ON process_counter_track.id = counter.track_id\n"
     "WHERE process_counter_track.name = 'mem.swap' AND value > 1000", {(0,)}),
    (GETTING_STARTED, "SELECT tid, name\nFROM thread\nWHERE utid = 10", {(2111, "pool 8")}),
    (GETTING_STARTED, "SELECT thread.name AS thread_name\nFROM slice\nJOIN thread_track ON slice.track_id = thread_track.id\nJOIN thread USING(utid)\n"
     "WHERE slice.name = 'measure'\nGROUP BY thread_name", {("main",), ("worker",)}),
    (GETTING_STARTED, "INCLUDE PERFETTO MODULE slices.with_context;\n\nSELECT thread_name, process_name, name, ts, dur\nFROM thread_or_process_slice;",
     {(thread_of(name, ts), "server" if name == "serve" else "app", name, ts, dur) for name, ts, dur in SLICES}),
    ("analysis/trace-processor.md", "SELECT type\nFROM slice\nJOIN track ON track.id = slice.track_id\nWHERE slice.name = 'measure'", {("thread_track",)}),
    ("quickstart/trace-analysis.md", "SELECT ts, dur, name FROM slice", {(ts, dur, name) for name, ts, dur in SLICES}),
    ("quickstart/trace-analysis.md", "SELECT ts, value FROM counter", {(ts, value) for ts, value, _, _ in COUNTERS}),
    ("quickstart/trace-analysis.md", "SELECT ts, dur, cpu, utid FROM sched", {(ts, None if dur < 0 else dur, cpu, utid) for ts, dur, cpu, utid, _, _ in TURNS}),
    ("analysis/trace-processor-python.md", "SELECT name FROM slice", {(name,) for name, _, _ in SLICES}),
    ("analysis/trace-processor-python.md", "SELECT ts, name FROM slice", {(ts, name) for name, ts, _ in SLICES}),
    ("analysis/trace-processor-python.md", "SELECT ts, value FROM counter WHERE track_id=50", set()),
    ("data-sources/cpu-scheduling.md", "select ts, dur, cpu, end_state, priority, process.name, thread.name\nfrom sched_slice left join thread using(utid) left join process using(upid)",
     {(ts, dur, cpu, state, None, "app", thread) for ts, dur, cpu, _, state, thread in TURNS}),
    ("data-sources/cpu-scheduling.md", "select * from sched_slice limit 1", {(0, 0, 0, 8000, 3, 0, "R+", None, 3)}),
    ("data-sources/atrace.md", "select s.ts, t.name as thread_name, t.tid, s.name as slice_name, s.dur\nfrom slice as s left join thread_track as trk on s.track_id = trk.id\n"
     "left join thread as t on trk.utid = t.utid",
     {(ts, thread_of(name, ts), {"main": 2101, "worker": 2102, "server": 2201}[thread_of(name, ts)], name, dur) for name, ts, dur in SLICES}),
    ("data-sources/atrace.md", "select ts, p.name as process_name, p.pid, t.name as counter_name, c.value\nfrom counter as c left join process_counter_track as t on c.track_id = t.id\n"
     "left join process as p on t.upid = p.upid", {(ts, process, PIDS[process], name, value) for ts, value, name, process in COUNTERS}),
    ("data-sources/memory-counters.md", "select c.ts, c.value, t.name as counter_name, p.name as proc_name, p.pid\nfrom counter as c left join process_counter_track as t on c.track_id = t.id\n"
     "left join process as p using (upid)\nwhere t.name like 'mem.%'", {(ts, value, name, process, PIDS[process]) for ts, value, name, process in COUNTERS if name[:4] == "mem."}),
    ("data-sources/memory-counters.md", "select c.ts, t.name, c.value / 1024 as value_kb from counters as c left join counter_track as t on c.track_id = t.id",
     {(ts, name, value / 1024) for ts, value, name, _ in COUNTERS}),
    ("data-sources/memory-counters.md", "SELECT ts, process.name, process.pid\nFROM instant\nJOIN process_track ON instant.track_id = process_track.id\nJOIN process USING (upid)\n"
     "WHERE instant.name = 'mem.lmk'", set()),
    ("getting-started/in-app-tracing.md", "SELECT\n  dur AS duration_ns,\n  EXTRACT_ARG(slice.arg_set_id, 'debug.player_number') AS player_number\nFROM slice\nWHERE slice.name = 'DrawPlayer';",
     {(600, 1), (600, 2)}),
    ("getting-started/system-tracing.md", "INCLUDE PERFETTO MODULE sched.with_context;\n\nSELECT *\nFROM sched_with_thread_process\nLIMIT 100;",
     {(0, ts, dur, cpu, utid, 2101 + utid, thread, 0, 4001, "app", state, None) for ts, dur, cpu, utid, state, thread in TURNS}),
    ("getting-started/system-tracing.md", "SELECT *\nFROM counter\nLIMIT 100;", 4),
    ("analysis/common-queries.md", "SELECT\n  waker_process.name AS process_name,\n  waker.name AS thread_name,\n  SUM((\n    SELECT dur FROM sched\n    WHERE\n      sched.ts > wakee_runnable.ts AND\n"
     "      sched.utid = wakee_runnable.utid\n    ORDER BY ts\n    LIMIT 1\n  )) AS scheduled_dur\nFROM thread AS waker\nJOIN process AS waker_process USING (upid)\n"
     "JOIN thread_state AS wakee_runnable ON waker.utid = wakee_runnable.waker_utid\nWHERE waker.utid != 0\nGROUP BY 1, 2\nORDER BY 3 desc", set()),
)


def setUpModule():
    Tables.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-tables-"))
    Tables.trace = Tables.folder / "made.strobe"
    made_trace.write(Tables.trace)


def tearDownModule():
    shutil.rmtree(Tables.folder)


class Tables(unittest.TestCase):
    maxDiff = None

    def run_query(self, *arguments):
        return subprocess.run([STROBE, "query", *map(str, arguments)], capture_output=True, text=True)

    def rows(self, sql, *files):
        done = self.run_query("--format", "jsonl", *(files or (self.trace,)), sql)
        self.assertEqual(done.returncode, 0, (sql, done.stderr))
        return [json.loads(line, object_pairs_hook=lambda pairs: tuple(value for _, value in pairs)) for line in done.stdout.splitlines()]


class Perfetto(Tables):
    def test_statements_of_its_documents_run_unchanged(self):
        self.assertGreaterEqual(len(QUERIES), 20)
        for document, sql, expected in QUERIES:
            rows = self.rows(sql)
            if isinstance(expected, int):
                self.assertEqual(len(rows), expected, (document, sql))
            else:
                self.assertEqual(set(rows), expected, (document, sql))

    def test_a_module_that_is_not_known_is_named(self):
        done = self.run_query(self.trace, "INCLUDE PERFETTO MODULE android.startup.startups; SELECT 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'android.startup.startups'", done.stderr)

    def test_between_two_turns_a_thread_is_what_it_was_when_it_left(self):
        self.assertEqual(self.rows("SELECT ts, dur, state FROM thread_state WHERE utid = 0 ORDER BY ts"), [(0, 8000, "Running"), (8000, 1000, "R+"), (9000, 1000, "Running")])


class Pairs(Tables):
    def test_an_arrow_joins_the_zones_that_its_points_lie_in(self):
        self.assertEqual(self.rows("WITH z AS MATERIALIZED (SELECT id, name FROM zone) SELECT f.flow_id, f.ts_out, f.ts_in, f.track_out, f.track_in, o.name, i.name FROM flow f "
                                   "JOIN z o ON o.id = f.slice_out JOIN z i ON i.id = f.slice_in ORDER BY f.id"),
                         [(1, 5500, 5800, 0, 1, "send", "receive"), (1, 5800, 8100, 1, 1, "receive", "job")])
        self.assertEqual(self.rows("SELECT count(*) FROM flow"), [(2,)])  # the second one has no other end

    def test_a_mark_ends_a_frame_and_begins_the_next(self):
        self.assertEqual(self.rows("SELECT name, id, ts, dur, process_id FROM frame ORDER BY name, ts"),
                         [("frame", 0, 0, 5000, 0), ("frame", 1, 5000, 4500, 0), ("frame", 2, 9500, None, 0), ("load", 0, 2100, 5100, 0)])

    def test_a_wait_for_a_lock_names_its_holder_and_the_zone_that_it_was_in(self):
        self.assertEqual(self.rows("WITH z AS MATERIALIZED (SELECT id, name FROM zone) SELECT w.lock_id, w.name, w.ts, w.dur, w.track_id, w.held_by_track, w.held_by_tid, z.name FROM lock_wait w "
                                   "LEFT JOIN z ON z.id = w.held_by_zone"), [(7, "queue", 6000, 600, 1, 0, 2101, "measure")])
        locks = json.loads(subprocess.run([STROBE, "locks", "--json", str(self.trace)], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(sum(lock["waits"] for lock in locks["locks"]), 1)

    def test_turns_on_processors_have_an_end_where_it_is_known(self):
        self.assertEqual(set(self.rows("SELECT ts, coalesce(dur, -1), cpu, thread_id, end_state, t.name FROM sched s JOIN thread t ON t.id = s.thread_id")), TURNS)

    def test_counters_are_listed_whether_they_were_configured_or_not(self):
        self.assertEqual(self.rows("SELECT name, unit, process_id FROM counter_track ORDER BY 1, 3"),
                         [("Framerate", "number", 0), ("mem.swap", "bytes", 0), ("mem.swap", "number", 1)])
        self.assertEqual(self.rows("SELECT count(*) FROM counter c JOIN counter_track t ON t.id = c.track_id AND t.name = c.name"), [(4,)])

    def test_facts_of_hosts_locks_and_processes(self):
        self.assertEqual(self.rows("SELECT id, name, kernel, cpu FROM host"), [(0, "build-7", "Linux 6.1", "Some CPU")])
        self.assertEqual(self.rows("SELECT * FROM lock"), [(0, 7, "queue", 0)])
        self.assertEqual(self.rows("SELECT name, start_ts, host_id FROM process ORDER BY id"), [("app", 0, 0), ("server", 0, 0)])
        self.assertEqual(self.rows("SELECT label FROM run"), [("made",)])


class Args(Tables):
    def test_members_of_json_are_arguments_by_their_path(self):
        rows = self.rows("SELECT key, value_type, int_value, real_value, string_value FROM arg WHERE zone_id = (SELECT min(id) FROM zone WHERE name = 'DrawPlayer')")
        self.assertEqual(rows, [("args.player_number", "int", 1, None, None), ("args.at[0]", "real", None, 0.5, None), ("args.at[1]", "bool", 1, None, None),
                                ("args.who.name", "string", None, None, "p1")])

    def test_a_text_that_is_no_json_is_a_text(self):
        self.assertEqual(self.rows("SELECT a.key, a.int_value, a.string_value FROM zone z JOIN arg a ON a.zone_id = z.id WHERE z.name = 'measure' ORDER BY 1"),
                         [("text", None, "no JSON {"), ("value", 42, None)])

    def test_extract_arg_finds_what_the_table_has(self):
        self.assertEqual(self.rows("SELECT EXTRACT_ARG(id, 'args.who.name'), extract_arg(id, 'args.at[0]'), EXTRACT_ARG(id, 'value'), EXTRACT_ARG(id, 'nothing') FROM zone "
                                   "WHERE name IN ('DrawPlayer', 'measure') ORDER BY ts"),
                         [("p1", 0.5, None, None), ("p2", 0.5, None, None), (None, None, 42, None), (None, None, None, None)])
        self.assertEqual(self.rows("SELECT EXTRACT_ARG(NULL, 'value'), EXTRACT_ARG('x', 'value'), EXTRACT_ARG(1, NULL)"), [(None, None, None)])

    def test_keys_count_as_memory(self):
        """Each item of a list has a key of its own, with the names around it."""
        path = self.folder / "keys.strobe"
        writer = made_trace.sw.Writer(path)
        writer.record("recording", made_trace.ORIGIN, 0)
        thread = writer.thread(1, 1, "main", made_trace.ORIGIN)
        writer.loc(1, 1, "zone")
        for i in range(20):
            thread.begin(1, made_trace.at(1000 * i))
            thread.event("zone_text", made_trace.at(1000 * i + 1), f'{{"{i}{"x" * 3900}":[{",".join("1" * 1500)}]}}')
            thread.end(made_trace.at(1000 * i + 500))
        writer.close()
        for memory, code in (("16M", 1), ("1G", 0)):
            done = self.run_query("--memory", memory, path, "SELECT max(EXTRACT_ARG(id, 'value')) FROM zone")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(code == 0 or "memory" in done.stderr, done.stderr)

    def test_of_several_traces_the_one_must_be_said(self):
        done = self.run_query(self.trace, self.trace, "SELECT EXTRACT_ARG(id, 'value') FROM zone")
        self.assertEqual(done.returncode, 1)
        self.assertIn("trace_id", done.stderr)
        rows = self.rows("SELECT EXTRACT_ARG(id, 'value', trace_id) AS v FROM zone WHERE v IS NOT NULL", self.trace, self.trace)
        self.assertEqual(rows, [(42,), (42,)])


class Functions(Tables):
    """Functions that are replaced, so that their time is bounded, answer as SQLite's own: Python's sqlite3 is the judge."""
    TEXTS = ("", "a", "A", "aaa", "abab", "ABC", "é", "éa", "aé🦊b", "a%b", "a_b", "[x]", "a-c", "]", "^", "zz top", "  blank  ", "xxyxx")
    LIKES = ("", "%", "_", "a%", "%b", "%a%b%", "__", "a__", "%%", "é%", "_🦊_", "a\\%b", "%\\_%", "\\", "ABC", "abc", "%[%")
    GLOBS = ("", "*", "?", "a*", "*b", "*a*b*", "??", "[a-c]*", "[^a-c]*", "[]]", "[^]]", "[a-", "[", "*[x]*", "[[]x]", "[a-]*", "[]-a]", "é?", "*🦊*")

    def cases(self):
        pick = random.Random(3)
        quote = lambda text: "'" + text.replace("'", "''") + "'"  # noqa: E731
        text = lambda: quote(pick.choice(self.TEXTS) + pick.choice(self.TEXTS))  # noqa: E731
        for _ in range(150):
            like = quote(pick.choice(self.LIKES) + pick.choice(self.LIKES))
            yield f"{text()} LIKE {like}"
            yield f"{text()} LIKE {like} ESCAPE '\\'"
            yield f"{text()} GLOB {quote(pick.choice(self.GLOBS) + pick.choice(self.GLOBS))}"
            for call in (f"instr({text()}, {text()})", f"replace({text()}, {text()}, {text()})", f"trim({text()}, {text()})", f"ltrim({text()}, {text()})", f"rtrim({text()})", f"length({text()})"):
                yield call
        yield from ("NULL LIKE 'a'", "'a' LIKE NULL", "12 LIKE '1%'", "'a' LIKE 'a' ESCAPE NULL", "instr(x'6162', x'62')", "instr('ab', x'62')", "instr(123, 2)", "instr(NULL, 'a')", "instr('', '')",
                    "replace('abc', '', 'x')", "replace(121, 1, 'y')", "typeof(replace(12, '', 'x'))", "replace(NULL, 'a', 'b')", "trim(NULL)", "trim('a', NULL)", "trim('a', '')", "length(NULL)", "length(12.5)",
                    "length(x'610062')", "length(char(97, 0, 98))", "printf('%5.2f|%s|%d', 1.5, 'x', 7)", "format('%Q', 'it''s')", "printf('%s')", "printf(NULL)", "printf('%,d', 1234567)", "typeof(printf('%d', 1))")

    def test_printf_that_finds_no_memory_is_refused(self):
        """Texts that leave a little less each time, past what printf needs for its own connection."""
        texts, low, high = ", ".join(["hex(zeroblob(430000))"] * 6), 0, 430_000

        def ask(n):
            return self.run_query("--format", "csv", "--memory", "8M", self.trace, f"SELECT max({texts}, hex(zeroblob({n})), printf('%d', 1)) > '' AS x")
        self.assertEqual([ask(low).returncode, ask(high).returncode], [0, 1])
        while high - low > 500:
            middle = (low + high) // 2
            low, high = (middle, high) if ask(middle).returncode == 0 else (low, middle)
        for n in range(high, high + 15_000, 500):
            done = ask(n)
            self.assertEqual(done.returncode, 1, n)
            self.assertIn("of memory are needed", done.stderr)

    def test_they_answer_as_sqlites_own(self):
        statements = [f"SELECT quote({case}) AS x" for case in self.cases()]
        done = subprocess.run([STROBE, "query", "--format", "csv", str(self.trace)], input=";\n".join(statements), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = list(csv.reader(io.StringIO(done.stdout)))[1::3]
        own = sqlite3.connect(":memory:")
        theirs = [[own.execute(statement).fetchone()[0]] for statement in statements]
        self.assertGreater(len(ours), 1000)
        for statement, one, other in zip(statements, ours, theirs, strict=True):
            self.assertEqual(one, other, statement)


class Prompt(Tables):
    """The prompt at a terminal: keys are sent when it stands there, for in between the terminal is the command's."""

    def setUp(self):
        self.history = self.folder / "history"
        self.history.unlink(missing_ok=True)

    def start(self):
        self.master, slave = pty.openpty()
        self.child = subprocess.Popen([STROBE, "query", "--format", "csv", str(self.trace)], stdin=slave, stderr=slave, stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, "STROBE_HISTORY": str(self.history), "TERM": "xterm"})
        os.close(slave)
        self.seen = b""
        self.wait_for(b"strobe> ")

    def wait_for(self, text):
        while text not in self.seen:
            self.seen += os.read(self.master, 4096)
        self.seen = self.seen.split(text, 1)[1]

    def type(self, keys, then=b"strobe> "):
        """Keys that end a line: an echo of the prompt follows its end."""
        os.write(self.master, keys)
        self.wait_for(b"\r\n")
        self.wait_for(then)

    def end(self):
        os.write(self.master, b"\x04")
        out = self.child.communicate(timeout=60)[0]
        os.close(self.master)
        self.assertEqual(self.child.returncode, 0)
        return out.split()

    def test_lines_are_edited_recalled_and_completed(self):
        self.start()
        self.type(b"SELE\t40 + 3\x7f2 AS answer;\r")           # Tab, backspace
        self.type(b"\x1b[A\r")                                # the line before
        self.type(b"LECT 7 AS seven;\x01SE\x05\r")            # to the start, and to the end
        self.type(b"SELECT one two three\x17\x17\x17\x1b[D\x1b[C1 AS words;\r")  # words cut out
        self.type(b"SELECT 6 AS si\x1b[1;5D\x1b[1;5Cx;\r")      # arrows with Ctrl: they come with numbers
        self.type(b"SELECT\r", b"...> ")
        self.type(b"\x03")                                    # what was begun is forgotten
        self.type(b"SELECT count(*) AS n FROM counter_tr\t;\r")
        self.assertEqual(self.end(), ["answer", "42", "answer", "42", "seven", "7", "words", "1", "six", "6", "n", "3"])

    def test_the_history_outlives_the_prompt(self):
        self.start()
        self.type(b"SELECT 5 AS five;\r")
        self.end()
        self.start()
        self.type(b"\x1b[A\r")
        self.assertEqual(self.end(), ["five", "5"])
        self.assertEqual(self.history.stat().st_mode & 0o777, 0o600)


class Arrow(Tables):
    def write(self, sql, *options):
        done = subprocess.run([STROBE, "query", *options, str(self.trace), sql], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_file_has_the_rows_of_jsonl(self):
        for sql in ("SELECT * FROM zone", "SELECT * FROM arg", "SELECT id, name, NULL AS none, 1.5 AS real, 'é' || id AS made FROM zone", "SELECT * FROM thread", "SELECT * FROM op",
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, hex(i) AS h, nullif(i % 3, 0) AS m FROM n"):
            names, rows = arrow_reader.read(self.write(sql, "--format", "arrow"))
            self.assertEqual(rows, self.rows(sql), sql)
            if rows:
                self.assertEqual(names, self.run_query("--format", "csv", self.trace, sql).stdout.splitlines()[0].split(","))

    def test_the_name_of_a_file_says_its_format(self):
        for name in ("answer.arrow", "answer.parquet"):
            path = self.folder / name
            self.write("SELECT name, ts FROM zone", "-o", str(path))
            data = path.read_bytes()
            self.assertEqual((data[:4], data[-4:]), ((b"ARRO", b"ROW1") if "arrow" in name else (b"PAR1", b"PAR1")))

    def test_what_makes_no_sense_is_named(self):
        for arguments, word in ((("--format", "parquet", self.trace, "SELECT 1"), "-o"), (("--format", "arrow", "--file", "/dev/null", self.trace), "one statement")):
            done = self.run_query(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    STROBE, ROOT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
