"""What strobe.open, its tables and strobe.assert_trace give, judged by the command `strobe` on the same trace. No library but Python's own."""
import csv
import ctypes
import io
import subprocess

import strobe
import strobe_case

PROGRAM = """
import strobe
strobe.plot("queue", 1.5)
strobe.message("hello \\u00e9")
with strobe.zone("load"):
    pass
for i in range(3000):
    with strobe.zone("step"):
        with strobe.zone("inner"):
            pass
with strobe.zone("named") as zone:
    zone.rename("renamed")
with strobe.zone("save"):
    pass
"""


class Recorded(strobe_case.Case):
    @classmethod
    def setUpClass(cls):
        made = cls("run_plain")
        made.setUp()
        ran = made.record(made.script(PROGRAM))
        assert ran.code == 0, ran.err
        cls.path, cls.trace = str(ran.trace), strobe.open(ran.trace)
        cls.addClassCleanup(made.doCleanups)


# numbers for longer than a batch, then texts
CHANGES = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
           "SELECT CASE WHEN i > 150000 THEN 'x' ELSE i END AS changing FROM n")


class Tables(Recorded):
    def ask(self, sql):
        """The command's answer as lists of texts."""
        done = subprocess.run([strobe_case.command(), "query", "--format", "csv", self.path, sql], stdout=subprocess.PIPE, check=True)
        return list(csv.reader(io.StringIO(done.stdout.decode())))

    def check(self, table, sql):
        said = self.ask(sql)
        self.assertEqual(list(table.columns), said[0])
        rows = [["" if value is None else repr(value) if isinstance(value, float) else str(value).replace("\0", " ") for value in row] for row in table]
        for row in (*rows, *said[1:]):  # 1.0 and 1 are one number
            row[:] = [value[:-2] if value.endswith(".0") else value for value in row]
        self.assertEqual(rows, said[1:])

    def test_every_table_has_the_rows_of_sql(self):
        for name in self.trace.tables:
            if name != "zone_sum":  # its groups are those that a query names
                with self.subTest(name):
                    self.check(getattr(self.trace, name)(), f"SELECT * FROM {name}")

    def test_a_query_has_the_rows_of_the_command(self):
        sql = "SELECT name, count(*) AS n, sum(dur), avg(dur) > 0 AS some, NULL AS missing FROM zone GROUP BY name"
        self.check(self.trace.query(sql), sql)

    def test_zones_are_chosen_by_name_time_and_columns(self):
        middle = int(self.ask("SELECT ts FROM zone WHERE name = 'step' LIMIT 1 OFFSET 1500")[1][0])
        end = middle + 1_000_000
        self.check(self.trace.zones(["ts", "dur"], middle, end, "step"),
                   f"SELECT ts, dur FROM zone WHERE name = 'step' AND ts >= {middle} AND ts < {end}")
        self.check(self.trace.zones(["id", "parent_id"], middle, end), f"SELECT id, parent_id FROM zone WHERE ts >= {middle} AND ts < {end}")

    def test_a_renamed_zone_is_found_by_its_new_name(self):
        self.assertEqual([row.name for row in self.trace.zones(["name"], name="renamed")], ["renamed"])

    def test_a_process_is_chosen_by_id_and_by_name(self):
        row = next(iter(self.trace.process(["id", "name"])))
        n = sum(1 for _ in self.trace.zones(["ts"]))
        self.assertEqual(sum(1 for _ in self.trace.zones(["ts"], process=row.id)), n)
        self.assertEqual(sum(1 for _ in self.trace.zones(["ts"], process=row.name)), n)
        self.assertEqual(sum(1 for _ in self.trace.zones(["ts"], process=99)), 0)

    def test_two_traces_are_said_apart_by_trace_id(self):
        both = strobe.open(self.path, self.path)
        self.assertEqual([tuple(row) for row in both.query("SELECT trace_id, count(*) FROM zone GROUP BY trace_id")],
                         [(i, sum(1 for _ in self.trace.zones(["ts"]))) for i in (0, 1)])

    def test_what_can_not_be_asked_is_refused_in_words(self):
        for problem, words, call in ((ValueError, "no column nothing", lambda: self.trace.zones(["nothing"]).columns),
                                     (ValueError, "no table nothing", lambda: self.trace.table("nothing").columns),
                                     (ValueError, "can only be read", lambda: self.trace.query("CREATE TABLE t(a)").columns),
                                     (ValueError, "process_id", lambda: self.trace.loc(process=1).columns),
                                     (ValueError, "CAST it", lambda: list(self.trace.query(CHANGES))),
                                     (AttributeError, "nothing", lambda: self.trace.nothing),
                                     (FileNotFoundError, "gone", lambda: strobe.open(self.path + ".gone")),
                                     (OSError, "program.py", lambda: strobe.open(self.path.replace("1.strobe", "program.py")))):
            with self.assertRaises(problem) as raised:
                call()
            self.assertIn(words, str(raised.exception))

    def test_a_query_ends_at_its_timeout(self):
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        with self.assertRaises(TimeoutError):
            list(self.trace.query(endless, timeout=0.05))

    def test_a_stream_that_nobody_read_is_released(self):
        for _ in range(50):
            self.trace.zones().__arrow_c_stream__()
        rows = iter(self.trace.zones())
        next(rows)
        del rows

    def test_a_capsule_is_an_arrow_stream(self):
        capsule = self.trace.zones().__arrow_c_stream__()
        is_valid = ctypes.pythonapi.PyCapsule_IsValid
        is_valid.argtypes = ctypes.py_object, ctypes.c_char_p
        self.assertTrue(is_valid(capsule, b"arrow_array_stream"))

    def test_programs_that_record_load_no_reader(self):
        ran = self.run_plain("-c", "import strobe, sys; print([name for name in sys.modules if name.startswith('strobe._') and 'e' in name])")
        self.assertNotIn("strobe._tables", ran.out)
        self.assertNotIn("strobe._open", ran.out)


class Demands(Recorded):
    def refused(self, words, call):
        with self.assertRaises(AssertionError) as raised:
            call()
        self.assertIn(words, str(raised.exception))

    def test_demands_that_hold_pass(self):
        strobe.assert_trace(self.path).count("step", exactly=3000).count("step", at_least=1, at_most=3000).order("load", "step", "save") \
            .budget("step", max=60e9, total=600e9).inside("inner", "step").nothing_lost()

    def test_demands_that_do_not_hold_say_what_was_found(self):
        demands = strobe.assert_trace(self.trace)
        self.refused("3000 zones are named 'step', exactly 2 were expected", lambda: demands.count("step", exactly=2))
        self.refused("at most 2", lambda: demands.count("step", at_most=2))
        self.refused("0 ns are allowed (3000 zones)", lambda: demands.budget("step", total=0))
        self.refused("'load' begins at", lambda: demands.order("save", "load"))
        self.refused("no zone is named 'gone'; there are:", lambda: demands.order("gone"))
        self.refused("is in no 'save'", lambda: demands.inside("inner", "save"))


if __name__ == "__main__":
    strobe_case.main()
