"""test_planted.py - `strobe record --memory` and `--locks` of programs that know nothing of Strobe (planted.c): each planted cause is named, and the
program does what it does without us.

    python3 test_planted.py STROBE PROGRAMS [unittest arguments]
"""
import csv
import io
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs"))
import harness  # noqa: E402


class PlantedTest(harness.ProgramTest):
    def take(self, *command, options=(), **more):
        """Record a command; what it printed."""
        self.trace = self.path("t.strobe")
        code, out, err = self.run_it(harness.STROBE, "record", "-q", "-o", self.trace, *options, "--", *command, **more)
        self.assertEqual((code, err), (0, ""))
        return out

    def ask(self, *words):
        code, out, err = self.run_it(harness.STROBE, *words, self.trace)
        self.assertEqual((code, err), (0, ""))
        return out

    def rows(self, *words):
        return list(csv.DictReader(io.StringIO(self.ask(*words, "--csv"))))

    def planted(self, *words, options=(), name="planted", **more):
        return self.take(self.program(name), *words, options=options, **more)


class MemoryTest(PlantedTest):
    def test_a_leak_is_named_by_its_stack(self):
        for name in ("planted", "planted_fp"):
            self.planted("leak", options=["--memory=all"], name=name)
            top = self.rows("memory")[0]
            self.assertEqual((top["live"], top["live_bytes"], top["allocs"]), ("100", "1000000", "100"))
            self.assertEqual(top["stack"].split(";")[-3:], ["main", "leak_blocks", "forget_it"])

    def test_the_peak_is_exact_and_has_its_place(self):
        self.planted("leak", options=["--memory=all"])
        top = max(self.rows("memory", "--by", "function"), key=lambda row: int(row["peak_bytes"]))
        self.assertEqual((top["function"], top["peak_bytes"]), ("use_and_free", "5000000"))

    def test_a_storm_is_temporary_blocks(self):
        self.planted("storm", "20000", options=["--memory=all"])
        top = self.rows("memory", "--by", "function", "--sort", "allocs")[0]
        self.assertEqual((top["function"], top["allocs"], top["temporary"], top["live"]), ("storm", "20000", "20000", "0"))
        self.assertEqual(self.rows("memory", "--sort", "allocs")[0]["stack"].split(";").count("deep"), 20)

    def test_stacks_of_every_shape_are_distinguished(self):
        for name in ("planted", "planted_fp"):
            self.planted("turns", options=["--memory=all"], name=name)
            counts = {}
            for row in self.rows("memory"):
                path = tuple(row["stack"].split(";")[-4:])
                if path[0] == "main" and path[1] == "take_turns":
                    counts[path[2:]] = counts.get(path[2:], 0) + int(row["allocs"])
            self.assertEqual(counts, {("left", "by_size"): 1500, ("left", "by_itself"): 1500, ("right", "by_size"): 1000, ("right", "by_itself"): 1000})

    def test_callers_are_distinguished_where_what_they_call_is_the_same(self):
        for name in ("planted", "planted_fp"):
            self.planted("sides", options=["--memory=all"], name=name)
            counts = {}
            for row in self.rows("memory"):
                path = tuple(row["stack"].split(";")[-4:])
                if path[0] == "take_sides":
                    counts[path[1:]] = counts.get(path[1:], 0) + int(row["allocs"])
            self.assertEqual(counts, {("from_here", "in_both", "by_itself"): 1000, ("from_here", "in_both", "by_size"): 1000,
                                      ("from_there", "in_both", "by_itself"): 750, ("from_there", "in_both", "by_size"): 750})

    def test_samples_estimate_bytes(self):
        self.planted("storm", "200000", options=["--memory=4K"])
        top = self.rows("memory", "--by", "function", "--sort", "bytes")[0]
        whole = sum(16 + i % 256 for i in range(200000))
        self.assertEqual(top["function"], "storm")
        self.assertLess(abs(int(top["bytes"]) - whole), whole * 0.1)    # 7,000 samples: a standard error of 1.2 %
        self.assertIn("estimates", self.ask("memory"))

    def test_freed_samples_are_no_leaks(self):
        self.planted("leak", options=["--memory=1K"])
        rows = {row["function"]: row for row in self.rows("memory", "--by", "function")}
        self.assertEqual(rows["use_and_free"]["live"], "0")
        self.assertLess(abs(int(rows["forget_it"]["live_bytes"]) - 1000000), 50000)

    def test_a_forked_child_has_its_own_account(self):
        self.planted("fork", options=["--memory=all", "--all"])
        rows = [row for row in self.rows("memory", "--by", "function") if row["live"] != "0"]
        self.assertEqual([(row["function"], row["live_bytes"]) for row in rows if row["function"] == "forget_it"], [("forget_it", "1000000")])
        self.assertEqual(len({row["pid"] for row in self.rows("memory", "--by", "function")}), 2)

    def test_only_memory_that_is_no_files_grows(self):
        self.planted("remap", self.program("planted"), options=["--memory=all"])
        rows = [row for row in self.rows("memory") if row["stack"].split(";")[-1] == "remap"]
        self.assertEqual(sum(int(row["live_bytes"]) for row in rows), 2 << 20)

    def test_nothing_has_its_peak_at_the_begin(self):
        self.planted("inversion", options=["--locks=all"])
        code, out, err = self.run_it(harness.STROBE, "memory", "--json", self.trace)
        self.assertEqual((code, json.loads(out)["peak_ns"]), (0, 0), err)

    def test_programs_find_what_they_rely_on(self):
        for options in (["--memory=all"], ["--memory"], ["--memory=all", "--locks=all"]):
            self.assertEqual(self.planted("family", options=options), "as ever\n")

    def test_a_preloaded_library_of_the_users_is_kept(self):
        env = {**self.env, "LD_PRELOAD": self.program("libown_malloc.so")}
        self.assertIn("own malloc", self.planted("leak", options=["--memory=all"], env=env))
        self.assertEqual(self.rows("memory")[0]["live_bytes"], "1000000")

    def test_a_malloc_of_the_programs_own_is_said(self):
        self.take(self.program("own_malloc"), options=["--memory=all"])
        self.assertIn("has a malloc of its own", self.ask("csv", "--kind", "messages"))

    def test_static_programs_run_as_ever_and_are_named(self):
        for options, what in ((["--memory=all", "--locks=all"], "memory and locks are"), (["--locks"], "locks are")):
            trace = self.path("t.strobe")
            code, out, err = self.run_it(harness.STROBE, "record", "-q", "-o", trace, *options, "--", self.program("planted_static"), "family")
            self.assertEqual((code, out), (0, "as ever\n"))
            note = f"planted_static: its {what} not recorded: it is linked statically"
            self.assertIn(note, err)
            self.assertIn(note, self.run_it(harness.STROBE, "info", trace)[1])

    def test_sanitized_programs_run_as_ever(self):
        for name in ("planted_asan", "planted_tsan"):
            self.planted("leak", options=["--memory=all", "--locks=all"], name=name, env={**self.env, "ASAN_OPTIONS": "detect_leaks=0"})

    @unittest.skipUnless(shutil.which("perl"), "perl is not there")
    def test_a_real_interpreter_runs_as_ever(self):
        self.assertEqual(self.take("perl", "-e", "my %h; $h{$_} = 'x' x 100 for 1..2000; print scalar(keys %h), qq(\\n)", options=["--memory=all", "--locks=all"]), "2000\n")


class PythonTest(PlantedTest):
    LEAK = "import os\nkept = [bytearray(1000) for _ in range(5000)]\nlost = [str(i) * 100 for i in range(3000)]\ndel lost\nprint(len(kept), flush=True)\nos._exit(0)"

    def pools(self):
        found = json.loads(self.ask("memory", "--by", "pool", "--json"))
        return {pool["pool"]: pool for pool in found["pools"]}

    def test_blocks_of_its_three_domains_are_pools(self):
        self.assertEqual(self.take("/usr/bin/python3", "-S", "-c", self.LEAK, options=["--memory=all", "--python", "off"]), "5000\n")
        pools = self.pools()
        self.assertLessEqual({"python raw", "python mem", "python object"}, set(pools))
        self.assertGreater(pools["python object"]["live_bytes"], 5_000_000)
        self.assertGreater(pools["python object"]["frees"], 3000)
        self.assertLess(pools.get("mmap", {"live_bytes": 0})["live_bytes"], 1_000_000)    # arenas are not counted twice

    THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)
def make():
    kept = [None] * 16
    for i in range(4000):
        kept[i & 15] = [i, str(i), bytearray(i % 900)]
threads = [threading.Thread(target=make) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""

    def test_the_order_of_blocks_is_that_of_all_threads(self):
        """A block that another thread gets has ended before: no free is without its block, and no block without its free ends by another."""
        self.assertEqual(self.take("/usr/bin/python3", "-S", "-c", self.THREADS, options=["--memory=all", "--python", "off"]), "done\n")
        found = json.loads(self.ask("memory", "--by", "pool", "--json"))
        self.assertEqual(found["unknown_frees"], 0)
        pool = self.pools()["python object"]
        self.assertGreater(pool["allocs"], 20_000)
        self.assertEqual(pool["allocs"], pool["frees"] + pool["live"])

    def test_samples_estimate_them(self):
        self.take("/usr/bin/python3", "-S", "-c", self.LEAK, options=["--memory=2K", "--python", "off"])
        self.assertLess(abs(self.pools()["python object"]["live_bytes"] - 6_000_000), 1_500_000)


class NamesTest(PlantedTest):
    """The program's file is gone when the trace is read, as on another machine: names are in the trace."""

    def setUp(self):
        super().setUp()
        self.gone = self.path("taken-away")
        shutil.copy(self.program("planted"), self.gone)

    def taken_away(self, *words, options):
        self.take(self.gone, *words, options=options)
        os.unlink(self.gone)

    def test_stacks_of_blocks_have_their_functions_in_the_trace(self):
        self.taken_away("leak", options=["--memory=all"])
        self.assertEqual(self.rows("memory")[0]["stack"].split(";")[-3:], ["main", "leak_blocks", "forget_it"])

    def test_stacks_of_waits_have_their_functions_in_the_trace(self):
        self.taken_away("convoy", options=["--locks"])
        rows = {row["lock"]: row for row in self.rows("locks")}
        self.assertEqual(rows["mutex crowded"]["stack"].split(";")[-1], "stand_in_line")

    def test_a_forked_child_has_names_of_its_own(self):
        self.taken_away("fork", options=["--memory=all", "--all"])
        rows = [row for row in self.rows("memory", "--by", "function") if row["function"] == "forget_it"]
        self.assertEqual([row["live_bytes"] for row in rows if row["live"] != "0"], ["1000000"])

    def test_names_come_with_those_of_samples(self):
        self.env.pop("STROBE_SAMPLE", None)
        self.trace = self.path("t.strobe")
        code, _, err = self.run_it(harness.STROBE, "record", "-q", "-o", self.trace, "--memory=all", "--sample", "9973", "--", self.gone, "leak")
        os.unlink(self.gone)
        self.assertEqual(code, 0, err)
        if "no stack samples" in err:
            self.skipTest("the kernel gives no samples here")
        self.assertEqual(self.rows("memory")[0]["stack"].split(";")[-3:], ["main", "leak_blocks", "forget_it"])


class LocksTest(PlantedTest):
    def test_a_convoy_is_named(self):
        self.planted("convoy", options=["--locks"])
        rows = {row["lock"]: row for row in self.rows("locks")}
        self.assertEqual(rows["mutex crowded"]["convoy"], "1")
        self.assertEqual(rows["mutex crowded"]["stack"].split(";")[-1], "stand_in_line")
        self.assertTrue(all(row["holder_tid"] not in ("0", row["waiter_tid"]) for row in self.rows("locks", "--waits")))

    def test_a_convoy_is_what_bounds_the_program(self):
        for option in ("--locks", "--locks=all"):
            self.planted("convoy", options=[option])
            first = json.loads(self.ask("explain", "--json"))["statements"][0]
            self.assertEqual(first.get("class"), "lock contention", first)
            self.assertIn("`mutex crowded`", first["words"])
            waited = sum(int(row["wait_ns"]) for row in self.rows("locks") if row["lock"] == "mutex crowded")
            self.assertAlmostEqual(first["value"], waited, delta=100)    # each wait is rounded

    def test_an_inversion_is_named(self):
        self.planted("inversion", options=["--locks=all"])
        self.assertEqual({(row["held"], row["wanted"], row["inverted"]) for row in self.rows("locks", "--orders")},
                         {("mutex one", "mutex two", "1"), ("mutex two", "mutex one", "1")})
        self.assertIn("INVERSION mutex one, then mutex two", self.ask("locks"))

    def test_locks_that_nobody_waits_for_are_not_recorded(self):
        self.planted("inversion", options=["--locks"])
        code, out, err = self.run_it(harness.STROBE, "csv", "--kind", "locks", self.trace)
        self.assertEqual((code, len(out.splitlines())), (0, 1), err)

    ONE_OWNER = ("mutex until_mutex", "mutex clock_mutex", "rwlock until_read", "rwlock clock_read", "rwlock until_write", "rwlock clock_write",
                 "mutex c11_mutex")
    NO_OWNER = ("semaphore until_sem", "semaphore clock_sem", "condition until_cond", "condition clock_cond", "condition c11_cond")

    def test_a_wait_whose_time_is_up_is_a_wait(self):
        for option in ("--locks", "--locks=all"):
            self.assertEqual(self.planted(name="timed", options=[option]), "as ever\n")
            rows = {row["lock"]: row for row in self.rows("locks")}
            self.assertEqual({name: rows[name]["waits"] for name in self.ONE_OWNER + self.NO_OWNER if name in rows},
                             dict.fromkeys(self.ONE_OWNER + self.NO_OWNER, "1"))

    def timed(self):
        """Rows by lock, and of each lock the events as pairs of time and kind."""
        self.assertEqual(self.planted(name="timed", options=["--locks=all"]), "as ever\n")
        code, out, err = self.run_it(harness.STROBE, "csv", "--kind", "locks", self.trace)
        self.assertEqual(code, 0, err)
        events = {}
        for event in csv.DictReader(io.StringIO(out)):
            events.setdefault(event["name"], []).append((int(event["time_ns"]), event["what"]))
        return {row["lock"]: row for row in self.rows("locks")}, events

    def test_only_what_was_obtained_is_held(self):
        rows, _ = self.timed()
        self.assertEqual({name: (rows[name]["obtains"], rows[name]["holds"]) for name in self.ONE_OWNER}, dict.fromkeys(self.ONE_OWNER, ("1", "1")))
        self.assertEqual([(rows[name]["obtains"], rows[name]["holds"]) for name in ("mutex around", "mutex c11_around", "rwlock tried")],
                         [("3", "3"), ("2", "2"), ("1", "1")])

    def test_a_lock_is_held_once_at_a_time(self):
        rows, events = self.timed()
        for name in ("mutex robust", "mutex twice"):    # its owner died; obtained by its owner again
            times = [time for time, _ in events[name]]
            self.assertLessEqual(int(rows[name]["held_ns"]), max(times) - min(times) + 2, name)


if __name__ == "__main__":
    harness.main()
