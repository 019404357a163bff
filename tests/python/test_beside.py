"""test_beside.py - other tools in the same process: theirs keeps working, and where ours can't there is a clear word."""

import strobe_case
from strobe_case import LEGACY

CALLS = """
def leaf(): pass
def run(n):
    for i in range(n): leaf()
"""


class Beside(strobe_case.Case):
    def run_beside(self, body, env=None):
        program = self.script(CALLS + body)
        ran = self.record(program, env={"STROBE_PYTHON_INCLUDE": "__main__", **(env or {})})
        self.assertEqual(ran.code, 0, ran.err)
        return ran

    def test_cProfile_counts_and_so_do_we(self):
        ran = self.run_beside(
            "import cProfile, pstats\n"
            "p = cProfile.Profile(); p.enable(); run(1000); p.disable()\n"
            "print([v[0] for k, v in pstats.Stats(p).stats.items() if k[2] == 'leaf'][0])\n")
        self.assertEqual(ran.out.strip(), "1000")
        self.assertEqual(ran.counts("program.py")["leaf"], 1000)

    def test_a_debuggers_settrace_sees_its_lines(self):
        ran = self.run_beside(
            "import sys\n"
            "lines = 0\n"
            "def tracer(frame, event, arg):\n"
            "    global lines\n"
            "    lines += event == 'line'\n"
            "    return tracer\n"
            "sys.settrace(tracer); run(100); sys.settrace(None)\n"
            "print(lines)\n")
        self.assertGreaterEqual(int(ran.out), 200)
        self.assertEqual(ran.counts("program.py")["leaf"], 100)

    def test_pdb_stops_where_it_should(self):
        program = self.script(CALLS + "import pdb\n"
                              "debugger = pdb.Pdb(nosigint=True, readrc=False)\n"
                              "debugger.rcLines = ['break 4, i == 7', 'continue', 'p (i, n)', 'clear 1', 'continue']\n"
                              "debugger.runcall(run, 10)\n")
        plain, ran = self.run_plain(program), self.record(program, env={"STROBE_PYTHON_INCLUDE": "__main__"})
        self.assertEqual((ran.code, ran.err, ran.out), (0, "", plain.out))
        self.assertIn("(7, 10)", ran.out)
        self.assertEqual(ran.counts("program.py")["leaf"], 10)

    def test_the_command_cProfile_reports_what_it_does_alone(self):
        program = self.script(CALLS + "run(1000)\n")
        ran = self.record("-m", "cProfile", "-s", "name", program, env={"STROBE_PYTHON_INCLUDE": "__main__"})
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertEqual([line.split()[0] for line in ran.out.splitlines() if line.endswith("(leaf)")], ["1000"])
        self.assertEqual(ran.counts("program.py")["leaf"], 1000)

    def test_setprofile_of_the_program_keeps_working(self):
        ran = self.run_beside(
            "import sys\n"
            "calls = 0\n"
            "def profiler(frame, event, arg):\n"
            "    global calls\n"
            "    calls += event == 'call' and frame.f_code.co_name == 'leaf'\n"
            "sys.setprofile(profiler); run(100); sys.setprofile(None)\n"
            "print(calls)\n")
        self.assertEqual(ran.out.strip(), "100")
        self.assertEqual(ran.counts("program.py")["leaf"], 100)

    def test_c_functions_beside_a_profiler_are_given_up_in_words(self):
        program = self.script(
            CALLS + "import cProfile, strobe, sys\n"
            "p = cProfile.Profile(); p.enable()\n"
            "strobe.trace(c_functions=True, include='__main__'); run(1000); strobe.untrace()\n"
            "p.disable()\n"
            "import pstats\n"
            "print([v[0] for k, v in pstats.Stats(p).stats.items() if k[2] == 'leaf'][0])\n")
        ran = self.record(program, options=["--python", "off"])
        self.assertEqual((ran.code, ran.out.strip()), (0, "1000"))
        self.assertEqual(ran.counts("program.py")["leaf"], 1000)
        if LEGACY:
            self.assertIn("C functions are not traced: another profiler", ran.err)
        else:
            self.assertEqual(ran.err, "")

    def test_lines_beside_a_debugger_are_given_up_in_words(self):
        program = self.script(
            CALLS + "import strobe, sys\n"
            "def tracer(frame, event, arg): return None\n"
            "sys.settrace(tracer)\n"
            "strobe.trace(lines=True, include='__main__'); run(100); strobe.untrace()\n"
            "assert sys.gettrace() is tracer\n")
        ran = self.record(program, options=["--python", "off"])
        self.assertEqual(ran.code, 0, ran.err)
        self.assertGreaterEqual(ran.counts("program.py")["leaf"], 100)
        if LEGACY:
            self.assertIn("lines are not traced: a debugger", ran.err)
        else:
            self.assertEqual(ran.err, "")

    def test_a_profiler_that_takes_over_is_noticed(self):
        program = self.script(
            CALLS + "import strobe, sys\n"
            "strobe.trace(c_functions=True, include='__main__'); run(10)\n"
            "sys.setprofile(lambda *a: None); run(10)\n"
            "strobe.untrace()\n"
            "assert sys.getprofile() is not None\n")
        ran = self.record(program, options=["--python", "off"])
        self.assertEqual(ran.code, 0, ran.err)
        if LEGACY:
            self.assertIn("another tool took this Python's profile function over", ran.err)
        else:
            self.assertEqual((ran.err, ran.counts("program.py")["leaf"]), ("", 20))

    COMES_AND_GOES = (
        "import cProfile, pstats, sys, threading\n"
        "def start(): p.enable()\n"
        "def stop(): p.disable()\n"
        "def counted(p): return [v[0] for k, v in pstats.Stats(p).stats.items() if k[2] == 'leaf'][0]\n"
        "def beside():\n"
        "    global p\n"
        "    p = cProfile.Profile()\n"
        "    start(); run(10)\n"
        "    stop(); run(100)\n"
        "    with p: run(10)\n"
        "    run(100)\n"
        "    sys.setprofile(lambda *a: None); run(10); sys.setprofile(None)\n"
        "    run(100)\n"
        "    old = sys.getprofile(); sys.setprofile(None); sys.setprofile(old)\n"
        "    run(100)\n"
        "    print(counted(p))\n"
        "beside(); run(1000)\n"
        "thread = threading.Thread(target=beside); thread.start(); thread.join()\n"
        "run(1000)\n")

    def test_c_functions_are_told_again_when_a_profiler_has_left(self):
        for env in ({}, {"STROBE_PYTHON_MAX_DEPTH": "100"}):
            ran = self.run_beside(self.COMES_AND_GOES, env={"STROBE_PYTHON_C": "1", **env})
            self.assertEqual(ran.out.split(), ["20", "20"])
            self.assertIn(" 0 open at the end, 0 unfinished, 0 ends without a begin", ran.text())
            counts = ran.counts("program.py")
            if LEGACY:
                self.assertEqual(ran.err.count("another tool had this Python's profile function for a time"), 1, ran.err)
                self.assertEqual((counts["leaf"], counts["start"], counts["beside"]), (2800, 2, 2))
            else:
                self.assertEqual((ran.err, counts["leaf"]), ("", 2860))

    def test_lines_are_told_again_when_a_debugger_has_left(self):
        body = ("import sys, threading\n"
                "n = 0\n"
                "def tracer(frame, event, arg):\n"
                "    global n\n"
                "    n += event == 'call'\n"
                "def start(): sys.settrace(tracer)\n"
                "def stop(): sys.settrace(None)\n"
                "def beside():\n"
                "    start(); run(10)\n"
                "    stop(); run(100)\n"
                "beside(); run(1000)\n"
                "thread = threading.Thread(target=beside); thread.start(); thread.join()\n"
                "run(1000)\n"
                "print(n)\n")
        ran = self.record(self.script(CALLS + body), options=["--python", "lines"], env={"STROBE_PYTHON_INCLUDE": "__main__"})
        self.assertEqual((ran.code, ran.out.strip()), (0, "24"), ran.err)
        self.assertIn(" 0 open at the end, 0 unfinished, 0 ends without a begin", ran.text())
        leaves = ran.counts("program.py", by_line=True)["leaf:2"]
        if LEGACY:
            self.assertEqual(ran.err.count("another tool had this Python's trace function for a time"), 1, ran.err)
            self.assertEqual(leaves, 2 * 2200)  # the call and its line
        else:
            self.assertEqual((ran.err, leaves), ("", 2 * 2220))

    def test_code_that_dies_while_another_tool_hears_its_end_is_safe(self):
        leave = "for i in range(20): exec('def gone(): SET; return i\\ngone()')\n"
        for options, env, tool, none in (("lines", {}, "sys.settrace(lambda *a: None)", "sys.settrace(None)"),
                                         ("functions", {"STROBE_PYTHON_C": "1", "STROBE_PYTHON_MAX_DEPTH": "100"},
                                          "sys.setprofile(lambda *a: None)", "sys.setprofile(None)")):
            body = "import gc, sys, threading\n" + leave.replace("SET", tool) + none + "\n"
            body += "def on_thread():\n    " + leave.replace("SET", tool) + "    " + none + "\n    gc.collect()\n"
            body += "for n in range(3):\n    t = threading.Thread(target=on_thread); t.start(); t.join()\n"
            ran = self.record(self.script(CALLS + body), options=["--python", options], env=env)
            self.assertEqual(ran.code, 0, ran.err)

    def test_another_threads_profiler_keeps_working_beside_c_functions(self):
        program = self.script(
            CALLS + "import strobe, sys, threading\n"
            "n, go, stop = 0, threading.Event(), threading.Event()\n"
            "def profiler(frame, event, arg):\n"
            "    global n\n"
            "    n += event == 'call' and frame.f_code is leaf.__code__\n"
            "def other():\n"
            "    sys.setprofile(profiler); run(10)\n"
            "    go.set(); stop.wait(); run(10)\n"
            "    sys.setprofile(None)\n"
            "thread = threading.Thread(target=other); thread.start(); go.wait()\n"
            "strobe.trace(c_functions=True, include='__main__'); run(100)\n"
            "stop.set(); thread.join(); strobe.untrace()\n"
            "print(n)\n")
        ran = self.record(program, options=["--python", "off"])
        self.assertEqual((ran.code, ran.out.strip()), (0, "20"))
        if LEGACY:
            self.assertIn("nothing is traced on 1 threads: another tool has their profile function", ran.err)
            self.assertEqual(ran.counts("program.py")["leaf"], 100)
        else:
            self.assertEqual((ran.err, ran.counts("program.py")["leaf"]), ("", 110))

    def test_taken_tool_ids(self):
        if LEGACY:
            return  # no tool ids there
        take = "import sys\nfor i in IDS: sys.monitoring.use_tool_id(i, f'tool {i}')\n"
        body = CALLS + "import strobe\nstrobe.trace(include='__main__'); run(100); strobe.untrace()\n"
        ran = self.record(self.script(take.replace("IDS", "(0, 1, 2, 3, 5)") + body), options=["--python", "off"])
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertEqual(ran.counts("program.py")["leaf"], 100)
        ran = self.record(self.script(take.replace("IDS", "(3, 4)") + body +
                                      "print(sys.monitoring.get_tool(3), sys.monitoring.get_tool(4))\n"), options=["--python", "off"])
        self.assertEqual((ran.code, ran.out.strip()), (0, "tool 3 tool 4"))
        self.assertIn("both taken by other tools", ran.err)
        self.assertIn("taken by other tools", ran.rows("messages")[0]["text"])

    def test_free_threaded_and_foreign_interpreters_are_refused_in_words(self):
        program = self.script(
            "import sys\n"
            "sys.abiflags = 't'\n"
            "try: import strobe\n"
            "except ImportError as e: print(e)\n")
        self.assertIn("free-threaded", self.run_plain(program).out)
        program = self.script(
            "import sys, types\n"
            "sys.implementation = types.SimpleNamespace(name='pypy', cache_tag=None)\n"
            "try: import strobe\n"
            "except ImportError as e: print(e)\n")
        self.assertIn("needs CPython", self.run_plain(program).out)


if __name__ == "__main__":
    strobe_case.main()
