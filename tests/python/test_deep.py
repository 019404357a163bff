"""test_deep.py - a recursion gets as deep as without the tracer, and every call in it is in the trace, whatever else happens down there."""
import sys

import strobe_case
from strobe_case import LEGACY

DOWN = """
import sys, threading
sys.setrecursionlimit(10**7)
def leaf(): pass
def bottom(): pass
def down(n):
    if n: return 1 + down(n - 1)
    bottom()
    return 0
"""
WHOLE = "0 open at the end, 0 unfinished, 0 ends without a begin"
DEEP = 15000  # deeper than the frame hook of 3.11 goes by itself


class Deep(strobe_case.Case):
    def recorded(self, body, **options):
        ran = self.record(self.script(DOWN + body), **options)
        self.assertEqual(ran.code, 0, ran.err)
        return ran

    def check(self, ran, **wanted):
        counts = ran.counts("program.py")
        self.assertEqual({name: counts[name] for name in wanted}, wanted)
        self.assertIn(WHOLE, ran.text())

    def deepest(self):
        """How deep the plain interpreter gets before its stack ends, to some calls; 100,000 at most."""
        program = self.script(DOWN + "down(int(sys.argv[1]))\n", "plain.py")
        good, bad = 1000, 100001
        while bad - good > 50:
            middle = (good + bad) // 2
            if self.run_plain(program, middle).code == 0:
                good = middle
            else:
                bad = middle
        return good

    def test_a_recursion_as_deep_as_the_plain_interpreter_allows(self):
        depth = self.deepest()
        ran = self.recorded(f"for i in range(3): assert down({depth}) == {depth}\n"
                            "for i in range(100): leaf()\n")
        self.assertEqual(ran.err, "")
        self.check(ran, down=3 * (depth + 1), bottom=3, leaf=100)

    def test_a_hundred_thousand_calls_deep_on_a_thread_with_the_stack_for_it(self):
        ran = self.recorded("threading.stack_size(256 << 20)\n"
                            "thread = threading.Thread(target=down, args=(100000,)); thread.start(); thread.join()\n")
        self.assertEqual(ran.err, "")
        self.check(ran, down=100001, bottom=1)

    def test_other_threads_are_told_meanwhile(self):
        ran = self.recorded("turns = 0\n"
                            "def other(stop):\n"
                            "    global turns\n"
                            "    while not stop.is_set():\n"
                            "        leaf(); turns += 1\n"
                            "stop = threading.Event()\n"
                            "thread = threading.Thread(target=other, args=(stop,)); thread.start()\n"
                            f"for i in range(5): down({DEEP})\n"
                            "stop.set(); thread.join()\n"
                            "print(turns)\n")
        self.check(ran, down=5 * (DEEP + 1), leaf=int(ran.out))

    def test_threads_that_start_down_there_are_told_from_their_first_call(self):
        ran = self.recorded("import _thread\n"
                            "done = threading.Semaphore(0)\n"
                            "def worker():\n"
                            "    for i in range(100): leaf()\n"
                            "    done.release()\n"
                            "def bottom():\n"
                            "    thread = threading.Thread(target=worker); thread.start(); thread.join()\n"
                            "    _thread.start_new_thread(worker, ()); done.acquire(); done.acquire()\n"
                            f"down({DEEP})\n"
                            "for i in range(10): leaf()\n")
        self.check(ran, down=DEEP + 1, worker=2, leaf=210)

    def test_beside_cProfile(self):
        ran = self.recorded("import cProfile, pstats\n"
                            f"p = cProfile.Profile(); p.enable(); down({DEEP}); p.disable()\n"
                            "print([v[1] for k, v in pstats.Stats(p).stats.items() if k[2] == 'down'][0])\n"
                            "for i in range(10): leaf()\n")
        self.assertEqual((ran.out.strip(), ran.err), (str(DEEP + 1), ""))
        self.check(ran, down=DEEP + 1, bottom=1, leaf=10)

    def test_beside_a_profiler_and_a_debugger_the_depth_that_is_not_told_is_said(self):
        ran = self.recorded("def nothing(*a): pass\n"
                            "def traced(*a): return None\n"
                            f"sys.setprofile(nothing); sys.settrace(traced); down(DEPTH)\n"
                            "assert (sys.getprofile(), sys.gettrace()) == (nothing, traced)\n"
                            "sys.settrace(None); sys.setprofile(None)\n"
                            "for i in range(10): leaf()\n".replace("DEPTH", "40000" if sys.version_info >= (3, 11) else "9000"))
        counts = ran.counts("program.py")
        self.assertEqual(counts["leaf"], 10)
        if sys.version_info[:2] == (3, 11):
            self.assertIn("a recursion went too deep for the frame hook", ran.err)
        else:
            self.assertEqual((ran.err, counts["bottom"]), ("", 1))

    def test_a_profiler_that_comes_down_there_keeps_working_and_is_named(self):
        ran = self.recorded("import cProfile\n"
                            "def bottom():\n"
                            "    p = cProfile.Profile(); p.enable(); leaf(); p.disable()\n"
                            "    print([entry.callcount for entry in p.getstats() if getattr(entry.code, 'co_name', '') == 'leaf'])\n"
                            f"down({DEEP})\n"
                            "for i in range(10): leaf()\n")
        self.assertEqual(ran.out.strip(), "[1]")
        self.assertGreaterEqual(ran.counts("program.py")["leaf"], 10)
        if sys.version_info[:2] == (3, 11):
            self.assertIn("another tool took this Python's profile function over in a recursion", ran.err)
        else:
            self.check(ran, down=DEEP + 1, leaf=11)

    def test_another_threads_profiler_keeps_working(self):
        ran = self.recorded("n, go, stop = 0, threading.Event(), threading.Event()\n"
                            "def profiler(frame, event, arg):\n"
                            "    global n\n"
                            "    n += event == 'call' and frame.f_code.co_name == 'leaf'\n"
                            "def other():\n"
                            "    sys.setprofile(profiler)\n"
                            "    for i in range(10): leaf()\n"
                            "    go.set(); stop.wait()\n"
                            "    for i in range(10): leaf()\n"
                            "    sys.setprofile(None)\n"
                            "def bottom(): stop.set(); thread.join()\n"
                            "thread = threading.Thread(target=other); thread.start(); go.wait()\n"
                            f"down({DEEP})\n"
                            "print(n)\n")
        self.assertEqual(ran.out.strip(), "20")
        if sys.version_info[:2] == (3, 11):
            self.assertIn("calls on threads with another tool's profile function are not in the trace", ran.err)
        else:
            self.check(ran, down=DEEP + 1, leaf=20)

    def test_an_exception_from_the_bottom(self):
        ran = self.recorded("def bottom(): raise KeyError\n"
                            "def run():\n"
                            f"    try: down({DEEP})\n"
                            "    except KeyError: leaf()\n"
                            "for i in range(2): run()\n")
        self.check(ran, down=2 * (DEEP + 1), bottom=2, run=2, leaf=2)

    def test_with_a_limit_of_depth_too(self):
        ran = self.recorded(f"down({self.deepest()})\n", env={"STROBE_PYTHON_MAX_DEPTH": "1000"})
        self.check(ran, down=999)  # below <module>

    def test_generators_inside_generators(self):
        ran = self.recorded("def items(n):\n"
                            "    if n: yield from items(n - 1)\n"
                            "    yield n\n"
                            "g = items(6000)\n"
                            "assert (next(g), next(g)) == (0, 1)\n"
                            "g.close()\n")
        self.assertGreaterEqual(ran.counts("program.py")["items"], 6001)
        self.assertIn(WHOLE, ran.text())

    def test_the_limit_of_the_stack_is_raised_once_and_is_as_it_was(self):
        ran = self.recorded("import resource\n"
                            "limit = lambda: resource.getrlimit(resource.RLIMIT_STACK)\n"
                            "before = limit()\n"
                            "def bottom(): print(limit()[0] / before[0])\n"
                            f"for i in range(2): down({DEEP})\n"
                            "assert limit() == before\n")
        self.assertEqual({float(ratio) for ratio in ran.out.split()}, {1.25 if sys.version_info < (3, 11) else 1.0})
        self.check(ran, down=2 * (DEEP + 1))


if __name__ == "__main__":
    strobe_case.main()
