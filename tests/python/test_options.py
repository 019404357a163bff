"""test_options.py - what is traced and what is left out: filters, shortest duration, depth, lines, names, off."""
import strobe_case

PROGRAM = """
import sys, time, helper
def short(): pass
def long():
    end = time.perf_counter() + 0.003
    while time.perf_counter() < end: short()
def nest(n):
    if n: nest(n - 1)
for i in range(5): long()
nest(9)
helper.helped()
"""


class Options(strobe_case.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "helper.py").write_text("def helped(): inner()\ndef inner(): pass\n")
        self.program = self.script(PROGRAM)

    def counts(self, options=(), **env):
        ran = self.record(self.program, options=options, env={f"STROBE_PYTHON_{key}": value for key, value in env.items()})
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertIn(" 0 unfinished, 0 ends without a begin", ran.text())
        return ran, ran.counts()

    def test_include_keeps_modules_and_files(self):
        _, counts = self.counts(INCLUDE="helper")
        self.assertEqual({name for name in counts if name != "garbage collection"}, {"<module>", "helped", "inner"})
        _, counts = self.counts(INCLUDE="*/program.py")
        self.assertEqual((counts["long"], counts["nest"], counts["helped"]), (5, 10, 0))

    def test_exclude_wins(self):
        _, counts = self.counts(INCLUDE="__main__:helper", EXCLUDE="helper.py:nothing.*")
        self.assertEqual((counts["long"], counts["nest"], counts["helped"]), (5, 10, 0))

    def test_filters_are_options_of_record(self):
        _, counts = self.counts(options=["--include", "__main__", "--include", "helper", "--exclude", "helper.py"])
        self.assertEqual((counts["long"], counts["nest"], counts["helped"]), (5, 10, 0))
        _, counts = self.counts(options=["--include=__main__", "--max-depth", "4"])
        self.assertEqual((counts["<module>"], counts["nest"]), (1, 3))
        _, counts = self.counts(options=["--include=__main__", "--min-duration=1ms", "--c-functions"])
        self.assertEqual((counts["long"], counts["nest"]), (5, 0))
        for wrong in (["--include="], ["--max-depth", "0"], ["--min-duration", "soon"]):
            ran = self.record(self.program, options=wrong)
            self.assertEqual((ran.code, ran.out), (2, ""))
            self.assertIn("strobe record: ", ran.err)

    def test_calls_shorter_than_the_minimum_leave_no_zone(self):
        ran, counts = self.counts(MIN_DURATION="1ms", INCLUDE="__main__")
        self.assertEqual((counts["long"], counts["nest"]), (5, 0))
        self.assertLess(counts["short"], 500)  # of many thousands: a busy machine may stretch some
        durations = [int(row["duration_ns"]) for row in ran.rows() if row["name"] == "long"]
        self.assertTrue(all(d > 2_900_000 for d in durations), durations)

    def test_a_zone_by_hand_keeps_the_short_calls_around_it(self):
        self.program = self.script(
            "import strobe\n"
            "def around():\n"
            "    with strobe.zone('by hand'): pass\n"
            "def alone(): pass\n"
            "for i in range(10): around(), alone()\n")
        _, counts = self.counts(MIN_DURATION="1s", INCLUDE="__main__")
        self.assertEqual((counts["around"], counts["by hand"], counts["alone"]), (10, 10, 0))

    def test_calls_deeper_than_the_limit_leave_no_zone(self):
        _, counts = self.counts(MAX_DEPTH="4", INCLUDE="__main__")
        self.assertEqual((counts["<module>"], counts["nest"]), (1, 3))

    def test_lines_are_zones_within_their_function(self):
        ran, _ = self.counts(["--python", "lines"], INCLUDE="__main__")
        counts = ran.counts("program.py", by_line=True)
        self.assertEqual(counts["nest:7"], 10)  # the calls
        self.assertEqual(counts["nest:8"], 10)  # and their lines
        self.assertEqual(counts["<module>:10"], 1)
        self.assertIn(" 0 open at the end", ran.text())

    def test_off_is_off(self):
        ran, counts = self.counts(["--python", "off"])
        self.assertEqual(sum(counts.values()), 0)

    def test_names_with_prefixes(self):
        trace = self.folder / "own.strobe"
        program = self.script(
            "import strobe\n"
            "class A:\n"
            "    def m(self):\n"
            "        return 1\n"
            f"with strobe.record({str(trace)!r}):\n"
            "    with strobe.Profiler(prefix='PY_FUNC_'): A().m()\n"
            "    with strobe.Profiler(lines=True, prefix='PY_FUNC_', line_prefix='PY_LINE_'): A().m()\n")
        ran = self.run_plain(program)
        self.assertEqual((ran.code, ran.err), (0, ""))
        counts = self.trace_of(trace).counts("program.py")
        self.assertEqual((counts["PY_FUNC_m"], counts["PY_LINE_m"], counts["A.m"], counts["m"]), (2, 1, 0, 0))

    def test_collections_are_zones(self):
        self.program = self.script("import gc\nfor i in range(5): gc.collect()\n")
        _, counts = self.counts()
        self.assertGreaterEqual(counts["garbage collection"], 5)
        _, counts = self.counts(GC="0")
        self.assertEqual(counts["garbage collection"], 0)

    def test_an_unknown_mode_is_refused_in_words(self):
        ran = self.record(self.program, options=["--python", "everything"])
        self.assertEqual(ran.code, 2)
        self.assertIn("functions, lines, marks or off", ran.err)
        ran = self.record(self.program, env={"STROBE_PYTHON": "everything"})
        self.assertEqual(ran.code, 0)
        self.assertIn("functions, lines or off", ran.err)


if __name__ == "__main__":
    strobe_case.main()
