"""test_exact.py - every call is in the trace, once: against a counting hook in C in the same process, and the program's own numbers."""
import json

import strobe_case
from strobe_case import LEGACY, MODULES, PROGRAMS

START, RESUME, THROW = 0, 1, 2


class Exact(strobe_case.Case):
    def hard(self, counting, n_tasks=1000, **options):
        result = self.folder / "result.json"
        ran = self.record(PROGRAMS / "hard.py", result, MODULES if counting else "", n_tasks, **options)
        self.assertEqual(ran.code, 7, ran.err)
        self.assertEqual(ran.err, "")
        return ran, json.loads(result.read_text())

    def check_known(self, ran, known):
        plain = {}
        for name, n in ran.counts("hard.py").items():
            plain[name.split(".")[-1]] = plain.get(name.split(".")[-1], 0) + n
        self.assertEqual({name: plain.get(name, 0) for name in known}, known)

    def test_the_hard_program_is_counted_as_it_counts_itself(self):
        ran, result = self.hard(counting=True)
        self.check_known(ran, result["known"])
        found = ran.counts("hard.py", by_line=True)
        for key, code in result["counted"].items():
            events = code["events"]
            if code["kind"] == "function":
                self.assertEqual((key, found[key]), (key, events[START] + events[RESUME] + events[THROW]))
            elif code["kind"] == "coroutine" and not LEGACY:  # before, the hook counts runs; the program's own numbers have it
                self.assertEqual((key, found[key]), (key, events[START]))
        self.assertIn("fib", str(list(result["counted"])))

    def test_nothing_is_left_open_and_no_end_lacks_its_begin(self):
        ran, _ = self.hard(counting=False, n_tasks=100)
        states = {row["state"] for row in ran.rows() if row["file"].endswith("hard.py")}
        self.assertEqual(states, {"ended"})
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_c_functions_are_counted_too(self):
        program = self.script(
            "import math, operator\n"
            "def run():\n"
            "    for i in range(300): math.sqrt(i)\n"
            "    items = []\n"
            "    for i in range(200): items.append(i)\n"
            "    for i in range(100):\n"
            "        try: {}.pop(i)\n"
            "        except KeyError: pass\n"
            "    for i in range(50): ''.join(map(str, items[:2]))\n"
            "run()\n")
        ran = self.record(program, env={"STROBE_PYTHON_C": "1", "STROBE_PYTHON_INCLUDE": "__main__"})
        self.assertEqual((ran.code, ran.err), (0, ""))
        counts = ran.counts("<C>")
        wanted = {"math.sqrt": 300, "list.append": 200, "dict.pop": 100, "str.join": 50}
        self.assertEqual({name: counts[name] for name in wanted}, wanted)
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_methods_around_C_functions_leave_no_zone_open(self):
        program = self.script(
            "import types\n"
            "one, two = types.MethodType(len, 'x'), types.MethodType(sorted, [2, 1])\n"
            "def run():\n"
            "    for i in range(100): one(); one(*()); one(**{}); two(key=abs); two(*(), **{'key': abs})\n"
            "    try: types.MethodType(len, 3)(*())\n"
            "    except TypeError: pass\n"
            "run()\n")
        ran = self.record(program, env={"STROBE_PYTHON_C": "1", "STROBE_PYTHON_INCLUDE": "__main__"})
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertIn(" 0 open at the end, 0 unfinished, 0 ends without a begin", ran.text())
        self.assertGreaterEqual(ran.counts()["len"], 0 if LEGACY else 100)

    def test_threads_that_run_before_tracing_and_raw_ones(self):
        program = self.script(
            "import _thread, sys, threading, strobe\n"
            "go, done = threading.Event(), threading.Semaphore(0)\n"
            "def early():\n"
            "    go.wait()\n"
            "    for i in range(1000): leaf()\n"
            "def leaf(): pass\n"
            "def raw():\n"
            "    for i in range(500): leaf()\n"
            "    done.release()\n"
            "thread = threading.Thread(target=early, name='early bird')\n"
            "thread.start()\n"
            "strobe.trace()\n"
            "go.set(); thread.join()\n"
            "_thread.start_new_thread(raw, ())\n"
            "done.acquire()\n"
            "strobe.untrace()\n")
        ran = self.record(program, options=["--python", "off"])
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertEqual(ran.counts("program.py")["leaf"], 1500)
        self.assertIn("early bird", {row["thread"] for row in ran.rows() if row["name"] == "leaf"})

    def test_new_threads_with_c_functions_are_told_from_their_first_call(self):
        program = self.script(
            "import _thread, threading\n"
            "done = threading.Semaphore(0)\n"
            "def leaf(): pass\n"
            "def work(n):\n"
            "    for i in range(n): leaf()\n"
            "    done.release()\n"
            "thread = threading.Thread(target=work, args=(100,)); thread.start(); thread.join()\n"
            "_thread.start_new_thread(work, (50,))\n"
            "for i in range(2): done.acquire()\n")
        ran = self.record(program, env={"STROBE_PYTHON_C": "1"})
        self.assertEqual((ran.code, ran.err), (0, ""))
        counts = ran.counts()
        self.assertEqual((counts["work"], counts["leaf"]), (2, 150))
        run, bootstrap = ("Thread.run", "Thread._bootstrap") if strobe_case.sys.version_info >= (3, 11) else ("run", "_bootstrap")
        self.assertEqual((counts[run], counts[bootstrap]), (1, 1))

    def test_signal_handlers_are_nested_calls(self):
        program = self.script(
            "import itertools, signal, time\n"
            "n = itertools.count()  # a handler may run inside a handler\n"
            "def handler(*a): next(n)\n"
            "def leaf(): pass\n"
            "signal.signal(signal.SIGALRM, handler)\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
            "calls, end = 0, time.time() + 0.3\n"
            "while time.time() < end:\n"
            "    leaf(); calls += 1\n"
            "signal.setitimer(signal.ITIMER_REAL, 0)\n"
            "time.sleep(0.05)  # the last one may be on its way\n"
            "print(next(n), calls)\n")
        ran = self.record(program)
        n, calls = map(int, ran.out.split())
        counts = ran.counts("program.py")
        self.assertEqual((counts["handler"], counts["leaf"]), (n, calls))


if __name__ == "__main__":
    strobe_case.main()
