"""test_life.py - processes that fork, spawn and die, code that comes and goes: all of it is there, and nothing grows."""
import os
import signal
import sys

import strobe_case


class Life(strobe_case.Case):
    def test_kill_9_loses_no_call(self):
        program = self.script(
            "import os, signal\n"
            "def leaf(): pass\n"
            "for i in range(1000000): leaf()\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n")
        ran = self.record(program)
        self.assertEqual(ran.code, 128 + signal.SIGKILL)
        self.assertEqual(ran.counts("program.py")["leaf"], 1000000)

    def test_children_by_fork_and__exit_are_there(self):
        program = self.script(
            "import os\n"
            "def leaf(): pass\n"
            "for n in range(4):\n"
            "    pid = os.fork()\n"
            "    if not pid:\n"
            "        for i in range(10000): leaf()\n"
            "        os._exit(0)\n"
            "for n in range(4): os.wait()\n")
        ran = self.record(program)
        self.assertEqual(ran.counts("program.py")["leaf"], 40000)

    def test_subinterpreters_print_nothing_and_the_main_one_is_traced(self):
        program = self.script(
            "import sys\n"
            "def leaf(): pass\n"
            "try: import _interpreters as interpreters; run = interpreters.exec\n"
            "except ImportError: import _xxsubinterpreters as interpreters; run = interpreters.run_string\n"
            "for i in range(3):\n"
            "    inner = interpreters.create()\n"
            "    run(inner, 'import os; os.write(1, b\"inside \")')\n"
            "    interpreters.destroy(inner)\n"
            "    leaf()\n")
        ran = self.record(program)
        self.assertEqual((ran.code, ran.out, ran.err), (0, "inside " * 3, ""))
        self.assertEqual(ran.counts("program.py")["leaf"], 3)

    def test_every_way_to_start_a_process_joins(self):
        program = self.script(
            "import concurrent.futures, multiprocessing, subprocess, sys\n"
            "def leaf(): pass\n"
            "def work(n):\n"
            "    for i in range(n): leaf()\n"
            "    return n\n"
            "if __name__ == '__main__':\n"
            "    for method in ('fork', 'spawn', 'forkserver'):\n"
            "        p = multiprocessing.get_context(method).Process(target=work, args=(100,)); p.start(); p.join()\n"
            "    with concurrent.futures.ProcessPoolExecutor(2) as pool: list(pool.map(work, [10] * 5))\n"
            "    with concurrent.futures.ThreadPoolExecutor(2) as pool: list(pool.map(work, [10] * 5))\n"
            "    subprocess.run([sys.executable, '-c', 'def leaf(): pass\\nfor i in range(7): leaf()'])\n"
            "    subprocess.run([sys.executable, '-I', '-c', 'def leaf(): pass\\nfor i in range(7): leaf()'])\n")
        ran = self.record(program)
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertEqual(ran.counts("program.py")["leaf"], 400)
        self.assertEqual(ran.counts("<string>")["leaf"], 14)

    def test_code_that_comes_and_goes_leaves_no_growth_and_no_wrong_name(self):
        program = self.script(
            "import gc\n"
            "def anonymous():\n"
            "    for line in open('/proc/self/status'):\n"
            "        if line.startswith('RssAnon'): return int(line.split()[1])\n"
            "def make(first, n):\n"
            "    for i in range(first, first + n):\n"
            "        space = {}\n"
            "        exec(f'def f{i % 1000}(): return {i % 1000}', space)\n"
            "        assert space[f'f{i % 1000}']() == i % 1000\n"
            "make(0, 20000); gc.collect(); before = anonymous()\n"
            "make(20000, 80000); gc.collect(); after = anonymous()\n"
            "print(after - before)\n")
        ran = self.record(program, timeout=300)
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertLess(int(ran.out), 2000, "kB of growth")
        counts = ran.counts("<string>")
        self.assertEqual({name: counts[name] for name in counts if name != "<module>"}, {f"f{i}": 100 for i in range(1000)})
        self.assertGreaterEqual(counts["<module>"], 100000)

    def test_a_million_calls_are_all_in_the_file_in_little_room(self):
        program = self.script(
            "def anonymous():\n"
            "    for line in open('/proc/self/status'):\n"
            "        if line.startswith('RssAnon'): return int(line.split()[1])\n"
            "def leaf(): pass\n"
            "def run(n):\n"
            "    for i in range(n): leaf()\n"
            "run(100000); before = anonymous()\n"
            "run(1900000)\n"
            "print(anonymous() - before)\n")
        ran = self.record(program)
        self.assertEqual(ran.counts("program.py")["leaf"], 2000000)
        self.assertLess(int(ran.out), 500, "kB of growth")
        self.assertLess(os.path.getsize(ran.trace) / 2000000, 6)

    def test_tracing_on_and_off_under_busy_threads(self):
        program = self.script(
            "import strobe, threading, time\n"
            "stop = False\n"
            "def leaf(): pass\n"
            "def busy():\n"
            "    while not stop: leaf()\n"
            "threads = [threading.Thread(target=busy) for _ in range(4)]\n"
            "[t.start() for t in threads]\n"
            "for i in range(100):\n"
            "    strobe.trace(exclude=['threading'] if i % 2 else None); leaf(); strobe.untrace()\n"
            "stop = True\n"
            "[t.join() for t in threads]\n")
        ran = self.record(program, options=["--python", "off"])
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertGreaterEqual(ran.counts("program.py")["leaf"], 100)

    def test_the_exit_code_and_output_are_the_programs_own(self):
        program = self.script("import sys\nprint('out'); print('err', file=sys.stderr); sys.exit('bye')\n")
        plain, ran = self.run_plain(program), self.record(program)
        self.assertEqual((ran.code, ran.out, ran.err), (plain.code, plain.out, plain.err))

    def test_an_exception_is_told_by_the_zones_it_leaves(self):
        program = self.script(
            "def f(): raise KeyError('x')\n"
            "try: f()\n"
            "except KeyError: pass\n")
        ran = self.record(program)
        self.assertEqual([row["text"] for row in ran.rows() if row["name"] == "f"], ["raised KeyError"])


class Overhead(strobe_case.Case):
    def test_the_cost_of_the_hooks_is_measured_and_shown(self):
        program = self.script("def leaf(): pass\nfor i in range(1000): leaf()\n")
        for _ in range(10):  # a try may be lost to the load of the machine, and says so
            ran = self.record(program)
            overhead = ran.info()["overhead"]
            if overhead["python_call_ps"]:
                break
            self.assertIn("Python's hooks are not in that, and were not measured", ran.text())
        self.assertGreater(overhead["python_call_ps"], 0)
        self.assertGreaterEqual(overhead["python_hooks_ns"], 1000 * overhead["python_call_ps"] // 1000)
        self.assertRegex(ran.text(), r"Python's hooks: about [0-9.]+ ns per call in a tight loop, events and all: .* zones are theirs")

    def test_nothing_of_the_measurement_is_in_the_trace(self):
        program = self.script("def leaf(): pass\nfor i in range(10): leaf()\n")
        ran = self.record(program)
        self.assertEqual([row["name"] for row in ran.rows() if row["file"] == "<strobe>"], [])
        self.assertEqual(ran.counts("program.py")["leaf"], 10)

    def test_the_cost_of_lines_is_said_to_be_not_measured(self):
        program = self.script("x = 1\n")
        ran = self.record(program, options=["--python", "lines"])
        self.assertEqual(ran.info()["overhead"]["python_call_ps"], 0)
        self.assertIn("Python's hooks are not in that, and were not measured", ran.text())

    def test_a_trace_without_python_has_no_such_line(self):
        trace = self.folder / "none.strobe"
        strobe_case.subprocess.run([strobe_case.command(), "record", "-q", "-o", str(trace), "--", "true"], check=True)
        self.assertNotIn("Python", self.trace_of(trace).text())


class Joining(strobe_case.Case):
    def test_without_a_session_the_start_imports_and_opens_nothing(self):
        """The .pth line itself, as site runs it; bench/python.py has its time."""
        program = self.script(
            "import glob, sys\n"
            "line = [l for f in glob.glob(sys.prefix + '/lib/python*/site-packages/*.pth') for l in open(f)\n"
            "        if l.startswith('import') and 'strobe' in l][0]\n"
            "events, before = [], set(sys.modules)\n"
            "sys.addaudithook(lambda event, args: events.append(event))\n"
            "exec(line)\n"
            "print(sorted(set(events) - {'compile', 'exec'}), set(sys.modules) - before)\n")
        self.assertEqual(self.run_plain(program).out, "[] set()\n")

    def test_an_interpreter_that_can_not_join_is_named(self):
        program = self.script("import time\ntime.sleep(1)\n")
        ran = self.record("-S", program)
        self.assertEqual(ran.code, 0)
        self.assertIn("not traced", ran.text())
        self.assertIn("python", ran.text())

    def test_where_nothing_came_of_a_python_the_advice_is_the_package(self):
        program = self.script("print(1)\n")
        trace = self.folder / "advice.strobe"
        ran = strobe_case.subprocess.run([strobe_case.command(), "record", "-o", str(trace), "--", sys.executable, "-S", str(program)],
                                         stdout=strobe_case.subprocess.PIPE, stderr=strobe_case.subprocess.PIPE, timeout=120)
        self.assertIn(b"-m pip install --find-links dist strobe-profiler==", ran.stderr)
        self.assertNotIn(b"#include", ran.stderr)

    def test_a_running_python_without_the_package_is_called_one(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        program = self.script(f"open({str(fifo)!r}).read()\n")
        child = strobe_case.subprocess.Popen([sys.executable, "-S", str(program)])
        with open(fifo, "w"):  # it runs
            ran = strobe_case.subprocess.run([strobe_case.command(), "record", "--pid", str(child.pid), "-o", str(self.folder / "pid.strobe")],
                                             stdout=strobe_case.subprocess.PIPE, stderr=strobe_case.subprocess.PIPE, timeout=120)
        child.wait()
        self.assertIn(b"does not have the strobe package loaded", ran.stderr)
        self.assertNotIn(b"-lstrobe", ran.stderr)

    def test_an_interpreter_that_joins_late_is_not_called_untraced(self):
        """Its own start is over long before it reads the .pth files; the recorder has looked at it several times by then."""
        program = self.script(
            "import time\n"
            "time.sleep(1.5)\n"
            "import site\n"
            "site.main()\n"
            "def leaf(): pass\n"
            "for i in range(50): leaf()\n")
        ran = self.record("-S", program)
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertEqual(ran.counts("program.py")["leaf"], 50)
        self.assertNotIn("not traced", ran.text())

    def test_an_interpreter_that_outlives_the_recording_without_a_join_is_named(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        inner = self.script(f"open({str(fifo)!r}).read()\n", "inner.py")
        program = self.script(
            "import subprocess, sys\n"
            f"subprocess.Popen([sys.executable, '-S', {str(inner)!r}], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n")
        ran = self.record(program)
        open(fifo, "w").close()  # it ends
        self.assertEqual(ran.code, 0)
        self.assertIn("not traced", ran.text())
        self.assertIn("or had not come so far when the recording ended", ran.text())

    def test_STROBE_TRACE_alone_records_the_functions(self):
        trace = self.folder / "own.strobe"
        program = self.script("def leaf(): pass\nfor i in range(50): leaf()\n")
        ran = self.run_plain(program, env={"STROBE_TRACE": str(trace), "STROBE_BIN": strobe_case.command()})
        self.assertEqual((ran.code, ran.err), (0, ""))
        for _ in range(100):  # the recorder ends by itself
            if "not closed" not in self.trace_of(trace).text():
                break
            strobe_case.subprocess.run(["sleep", "0.1"])
        self.assertEqual(self.trace_of(trace).counts("program.py")["leaf"], 50)


if __name__ == "__main__":
    strobe_case.main()
