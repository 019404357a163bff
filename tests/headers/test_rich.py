"""test_rich.py - a program that emits every family of Tracy's events, compiled unchanged against our headers: exactly what it
emits is in the trace, by the tables of `strobe csv`.

rich.cpp was written for the real client. What that one adds by itself (two synthetic frames before the first, a plot of the
processor's load, messages of its own) is not there. SPDX-License-Identifier: MIT"""
import collections
import os

import test_macros
from test_macros import harness

BLOCKS = ("zone_text", "zone_name", "zone_color", "zone_value")


def count(rows, *columns):
    return collections.Counter(tuple(row[c] for c in columns) if len(columns) > 1 else row[columns[0]] for row in rows)


class Rich(harness.ProgramTest):
    def rich(self, *defines, compiler="g++", std="c++17"):
        """Build it, record it; a reader of its tables."""
        out = self.path("rich")
        folder = "tracy-on-demand" if "TRACY_ON_DEMAND" in defines else ""
        test_macros.compile_it(self, compiler, std, "rich.cpp", out, "-O2", "-fno-omit-frame-pointer", "-DTRACY_ENABLE", "-Wno-shadow",
                               *[f"-D{d}" for d in defines], *test_macros.libraries(folder))
        ran = self.record(out)
        self.assertEqual((ran.code, ran.out), (0, "rich done\n"), ran.err)
        self.trace = ran.trace.path
        return lambda kind: test_macros.table(self, ran.trace.path, kind)

    def places(self):
        """{(name of the location, line): zones}, as `strobe stats` has them."""
        code, out, err = self.run_it(harness.STROBE, "stats", "--csv", self.trace)
        self.assertEqual(code, 0, err)
        return {(r["name"], r["file"], r["line"]): int(r["count"]) for r in test_macros.csv.DictReader(test_macros.io.StringIO(out))}

    def check_zones(self, rows, extra=None):
        names = collections.Counter()
        for (name, _, _), n in self.places().items():
            names[name] += n
        expected = {"level1": 60, "level2": 60, "level3": 60, "level4": 60, "level5": 120, "dyn_func_0": 10, "dyn_func_2": 10,
                    "worker 1": 10, "worker 2": 10}
        expected.update(extra or {})
        self.assertEqual(names, expected)
        self.assertEqual(count(rows, "state"), {"ended": sum(expected.values())})

    def check_common(self, table, extra_zones=None, extra_messages=None):
        self.check_zones(table("zones"), extra_zones)
        threads = {r["thread"] for r in table("threads") if r["track"] != "0"}
        self.assertEqual(threads, {"Main thread", "worker 1", "worker 2"})
        texts = count(table("messages"), "text", "color")
        expected = {("literal message", ""): 20, ("literal colored", "#ff8800"): 20}
        expected.update({(f"colored dynamic {i}", "#0088ff"): 1 for i in range(20)})
        expected.update({(f"dynamic message {i} from worker {n}", ""): 1 for i in range(20) for n in (1, 2)})
        expected.update(extra_messages or {})
        self.assertEqual(texts, expected)
        self.assertEqual(count(table("notes"), "what", "text"), {("app_info", "rich test program"): 1, ("app_info", "second app info line"): 1})

    def test_every_family_has_exactly_its_counts(self):
        for compiler in ("g++", "clang++"):
            if test_macros.shutil.which(compiler):
                self.check_all(self.rich(compiler=compiler))

    def check_all(self, table):
        self.check_common(table)
        self.check_notes_of_zones(table)
        self.check_values(table)
        self.check_memory_and_locks(table)
        self.check_gpu(table)

    def check_notes_of_zones(self, table):
        events = table("all")
        kinds = count(events, "kind")
        self.assertEqual({k: kinds[k] for k in BLOCKS}, {"zone_text": 60 + 30 + 40, "zone_name": 60 + 40, "zone_color": 60 + 40,
                                                         "zone_value": 120 + 40})
        renamed = count([e for e in events if e["kind"] == "zone_name"], "field1")
        self.assertEqual(renamed, {"level2-renamed-0": 21, "level2-renamed-1": 21, "level2-renamed-2": 18, "alloc name": 40})
        lines = {(name, line): n for (name, file, line), n in self.places().items() if file == "virtual/file.lua"}
        self.assertEqual(lines, {("dyn_func_0", "100"): 10, ("dyn_func_2", "102"): 10, ("worker 1", "101"): 5, ("worker 1", "103"): 5,
                                 ("worker 2", "101"): 5, ("worker 2", "103"): 5})

    def check_values(self, table):
        plots = table("plots")
        self.assertEqual(count(plots, "plot", "format"), {("plot int", "number"): 20, ("plot mem", "bytes"): 20, ("plot pct", "percent"): 20,
                                                          ("plot double", "number"): 20})
        self.assertEqual([int(r["value"]) for r in plots if r["plot"] == "plot int"], [i * i for i in range(20)])
        self.assertEqual([float(r["value"]) for r in plots if r["plot"] == "plot pct"], [i * 5.0 for i in range(20)])
        self.assertEqual(count(table("frames"), "what", "frame"), {("frame", ""): 21, ("frame", "named frame"): 10,
                                                                   ("frame_start", "sub frame"): 20, ("frame_end", "sub frame"): 20})
        images = table("images")
        self.assertEqual([(r["frame"], r["width"], r["height"], r["flip"], r["bytes"]) for r in images], [("20", "16", "16", "0", "128")])

    def check_memory_and_locks(self, table):
        memory = table("memory")
        self.assertEqual(count(memory, "what", "pool"), {("alloc", ""): 20, ("free", ""): 10, ("alloc", "pool A"): 20, ("free", "pool A"): 15})
        for pool, live, size in (("", 10, 1090), ("pool A", 5, 3840)):
            blocks = {}
            for row in memory:
                if row["pool"] == pool and row["what"] == "alloc":
                    blocks[row["address"]] = int(row["size"])
                elif row["pool"] == pool:
                    del blocks[row["address"]]
            self.assertEqual((len(blocks), sum(blocks.values())), (live, size))
        locks = table("locks")
        expected = {("rich mutex", what, "0"): 40 for what in ("lock_wait", "lock_obtain", "lock_release")}
        for what in ("lock_wait", "lock_obtain", "lock_release"):
            expected["rich shared mutex", what, "0"], expected["rich shared mutex", what, "1"] = 8, 32
        expected["rich mutex", "lock_mark", ""] = 40
        expected["rich mutex", "lock_gone", ""] = expected["rich shared mutex", "lock_gone", ""] = 1
        self.assertEqual(count(locks, "name", "what", "shared"), expected)
        self.assertEqual({r["location"] for r in locks if r["what"] == "lock_mark"}, {"worker"})

    def check_gpu(self, table):
        rows = table("gpu_events")
        self.assertEqual(count(rows, "context", "what"), {("0", "gpu_begin"): 40, ("0", "gpu_end"): 40, ("0", "gpu_time"): 80,
                                                          ("0", "gpu_sync"): 1, ("1", "gpu_begin"): 20, ("1", "gpu_end"): 20,
                                                          ("1", "gpu_time"): 40, ("1", "gpu_calibration"): 2})
        self.assertEqual(count([r for r in rows if r["what"] == "gpu_begin"], "location"), {"gpu_zone": 20, "gpu_inner": 20, "gpu dyn zone": 20})
        facts = [r["fields"] for r in table("records") if r["record"].startswith("gpu_")]
        self.assertIn("context=0 name=gpu ctx zero", facts)
        self.assertIn("context=1 name=gpu ctx one", facts)
        self.assertTrue(any(f.startswith("context=0 type=1 calibrated=0") and f.endswith("time=1000000 period_ns=1") for f in facts), facts)
        self.assertTrue(any(f.startswith("context=1 type=2 calibrated=1") and f.endswith("time=5000000 period_ns=2") for f in facts), facts)

    def test_a_file_of_tracys_made_of_it_has_the_same_counts(self):
        self.rich()
        first, file, back = self.trace, self.path("rich.tracy"), self.path("back.strobe")
        for command in (("export", "--to", "tracy", "-o", file, first), ("import", file, "-o", back)):
            code, _, err = self.run_it(harness.STROBE, *command)
            self.assertEqual(code, 0, err)
        before = count(test_macros.table(self, first, "all"), "kind")
        after = count(test_macros.table(self, back, "all"), "kind")
        for kind in ("zone_begin", "message", "frame", "frame_start", "frame_end", "frame_image", "alloc", "free", "lock_wait", "lock_obtain",
                     "lock_release", "lock_mark", "gpu_begin", "gpu_end", "gpu_time", "app_info"):
            self.assertEqual(after[kind], before[kind], kind)
        self.assertEqual(after["plot_double"] + after["plot_int"], 80)
        self.trace = back
        self.check_zones(test_macros.table(self, back, "zones"))
        names = count(test_macros.table(self, back, "zones"), "name")
        self.assertEqual({n: names[n] for n in names if n.startswith("level2")},
                         {"level2-renamed-0": 21, "level2-renamed-1": 21, "level2-renamed-2": 18})

    def test_what_came_with_later_versions(self):
        table = self.rich("V014", "MEMDISCARD", std="c++20")
        self.check_common(table, extra_messages={("warning literal", ""): 1, ("error dynamic", "#ff0000"): 1})
        severities = {r["text"]: r["severity"] for r in table("messages")}
        self.assertEqual((severities["warning literal"], severities["error dynamic"], severities["literal message"]),
                         ("warning", "error", "info"))
        self.assertEqual([(r["what"], r["category"], r["text"]) for r in table("sections")],
                         [("section_enter", "3", "section 1"), ("section_leave", "", ""), ("section_enter", "0", "plain section"),
                          ("section_leave", "", "")])
        self.assertIn("category=3 name=my category", [r["fields"] for r in table("records")])
        arena = count([r for r in table("memory") if r["pool"] == "arena"], "what")
        self.assertEqual(arena, {"alloc": 3, "discard": 1})

    def test_fibers_have_zones_of_their_own(self):
        table = self.rich("TRACY_FIBERS")
        self.check_common(table, extra_zones={"in fiber one": 4, "in fiber two": 4})
        self.assertEqual(count(table("fibers"), "what", "name"), {("fiber_enter", "fiber one"): 8, ("fiber_leave", "fiber one"): 8,
                                                                  ("fiber_enter", "fiber two"): 4, ("fiber_leave", "fiber two"): 4})

    def test_call_stacks_belong_to_their_events(self):
        table = self.rich("CALLSTACKS", "TRACY_NO_CODE_TRANSFER")
        self.check_common(table, extra_zones={"with callstack": 3}, extra_messages={("msg with callstack", ""): 3})
        stacks = table("callstacks")
        self.assertEqual(count(stacks, "of"), {"zone_begin": 3, "message": 3, "alloc": 3, "free": 3})
        self.assertTrue(all("main" in r["frames"] for r in stacks), stacks)

    def test_on_demand_is_recorded_from_the_start(self):
        self.check_all(self.rich("TRACY_ON_DEMAND"))


if __name__ == "__main__":
    harness.main()
