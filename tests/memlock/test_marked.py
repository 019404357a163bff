"""test_marked.py - `strobe memory` and `strobe locks` of a program that marks both (marked.c): the planted causes are named, and the figures
are the same in every form.

    python3 test_marked.py STROBE PROGRAMS [unittest arguments]
"""
import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs"))
import harness  # noqa: E402

MARKED = os.environ.get("STROBE_MARKED", "marked")


class MarkedTest(harness.ProgramTest):
    def setUp(self):
        super().setUp()
        self.trace = self.path("marked.strobe")
        code, _, err = self.run_it(harness.STROBE, "record", "-o", self.trace, "--", MARKED)
        self.assertEqual(code, 0, err)

    def ask(self, *words):
        code, out, err = self.run_it(harness.STROBE, *words, self.trace)
        self.assertEqual((code, err), (0, ""))
        return out

    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self.ask(*words, "--csv"))))

    def test_a_leak_is_named_by_its_zone(self):
        rows = {row["zone"]: row for row in self.rows("memory", "--by", "zone")}
        self.assertEqual((rows["leak"]["live"], rows["leak"]["live_bytes"]), ("5", "20480"))
        self.assertEqual({name for name, row in rows.items() if row["live"] != "0"}, {"leak"})
        self.assertIn("5 blocks of 20.5 kB were never freed", self.ask("memory"))

    def test_the_peak_and_what_made_it(self):
        found = json.loads(self.ask("memory", "--by", "zone", "--json"))
        self.assertEqual(found["peak_bytes"], 100 * 1000)
        self.assertEqual({row["zone"]: row["peak_bytes"] for row in found["rows"]}, {"load": 100000, "leak": 0, "churn": 0})
        self.assertEqual({pool["pool"]: pool["peak_bytes"] for pool in found["pools"]}, {"heap": 100000, "scratch": 256})

    def test_blocks_that_are_freed_at_once_are_temporary(self):
        rows = {row["zone"]: row["temporary"] for row in self.rows("memory", "--by", "zone")}
        self.assertEqual(rows, {"load": "1", "leak": "0", "churn": "50"})

    def test_growth_between_two_times(self):
        ends = {row["name"]: int(row["start_ns"]) + int(row["duration_ns"]) for row in self.rows_of("zones")}
        a, b = ends["load"], ends["leak"]
        rows = {row["zone"]: int(row["live_bytes"]) - int(row["before_bytes"]) for row in self.rows("memory", "--by", "zone", "--range", f"{a}ns..{b}ns")}
        self.assertEqual(rows, {"load": 0, "leak": 20480})

    def rows_of(self, kind):
        return list(csv.DictReader(io.StringIO(self.ask("csv", "--kind", kind))))

    def test_live_blocks_are_listed_by_size(self):
        rows = self.rows("memory", "--blocks", "--by", "pool")
        self.assertEqual([(row["size"], row["pool"]) for row in rows], [("4096", "heap")] * 5)
        self.assertEqual(rows[0]["address"], "0x900000")

    def test_use_over_time_ends_with_what_lives(self):
        rows = self.rows("memory", "--over-time")
        self.assertEqual(max(int(row["most_bytes"]) for row in rows), 100000)
        self.assertEqual(rows[-1]["last_bytes"], "20480")

    def test_a_convoy_is_said(self):
        rows = {row["lock"]: row for row in self.rows("locks")}
        table = rows["table"]
        self.assertEqual((table["convoy"], table["obtains"], table["holds"]), ("1", "36", "36"))
        self.assertGreaterEqual(int(table["waits"]), 33)    # all but the first; the last thread has nobody to wait for
        self.assertGreaterEqual(int(table["most_waiters"]), 2)
        self.assertEqual((rows["first"]["convoy"], rows["first"]["waits"]), ("0", "0"))

    def test_who_held_it_while_others_waited(self):
        waits = [row for row in self.rows("locks", "--waits") if row["lock"] == "table"]
        self.assertEqual({row["waiter_zone"] for row in waits}, {"turn"})
        self.assertTrue(all(row["waiter"] != row["holder"] for row in waits), waits)
        waited = sum(int(row["wait_ns"]) for row in waits)
        whole = int(next(row["wait_ns"] for row in self.rows("locks") if row["lock"] == "table"))
        self.assertLessEqual(waited, whole)    # the rest is the way from one holder to the next
        self.assertEqual({row["holder"] for row in waits}, {"queue0", "queue1", "queue2"})

    def test_locks_in_two_orders_are_an_inversion(self):
        rows = {(row["held"], row["wanted"]): row for row in self.rows("locks", "--orders")}
        self.assertEqual(set(rows), {("first", "second"), ("second", "first")})
        self.assertEqual({row["inverted"] for row in rows.values()}, {"1"})
        self.assertEqual(rows["second", "first"]["thread"], "backwards")
        self.assertIn("INVERSION second, then first", self.ask("locks"))

    def test_json_and_csv_have_the_same_figures(self):
        found = json.loads(self.ask("locks", "--json"))
        self.assertEqual([{key: str(int(lock[key])) for key in ("waits", "wait_ns", "held_ns")} for lock in found["locks"]],
                         [{key: row[key] for key in ("waits", "wait_ns", "held_ns")} for row in self.rows("locks")])
        self.assertEqual(sorted(row["live_bytes"] for row in json.loads(self.ask("memory", "--json"))["rows"]),
                         sorted(int(row["live_bytes"]) for row in self.rows("memory")))

    def test_allocations_of_the_library_in_the_program_are_passed_on(self):
        for options in (["--memory=all"], ["--memory=all", "--locks=all"]):
            code, _, err = self.run_it(harness.STROBE, "record", "-q", "-o", self.path("all.strobe"), *options, "--", MARKED, timeout=120)
            self.assertEqual((code, err), (0, ""))


if __name__ == "__main__":
    harness.main()
