"""test_zones.py - zones, messages, plots, frames, flows by hand, and strobe.record() in the program itself."""

import strobe_case


class Zones(strobe_case.Case):
    def run_recorded(self, body, err="", **options):
        """`body` in a program that records itself; what it left."""
        trace = self.folder / "own.strobe"
        program = self.script("import asyncio, os, sys, threading, time\nimport strobe\n" + body.replace("TRACE", repr(str(trace))))
        ran = self.run_plain(program, **options)
        self.assertEqual((ran.code, ran.err), (0, err))
        ran.trace = trace
        return ran

    def test_a_zone_is_a_context_manager_and_a_decorator(self):
        ran = self.run_recorded(
            "@strobe.zone('decorated', color=0x00ff00)\n"
            "def f(x): return x + 1\n"
            "@strobe.zone\n"
            "def named_by_itself(x): return x\n"
            "class A:\n"
            "    @strobe.zone('method')\n"
            "    def m(self): return self\n"
            "@strobe.zone('generator')\n"
            "def g():\n"
            "    got = yield 1\n"
            "    assert got == 'sent'\n"
            "    return 5\n"
            "with strobe.record(TRACE):\n"
            "    with strobe.zone('outer', 0xff0000) as z:\n"
            "        z.text('some text'); z.value(42)\n"
            "        assert f(1) == 2 and named_by_itself(3) == 3\n"
            "        a = A(); assert a.m() is a\n"
            "        i = g(); assert next(i) == 1\n"
            "        try: i.send('sent')\n"
            "        except StopIteration as end: assert end.value == 5\n"
            "    try:\n"
            "        with strobe.zone('raises'): raise ValueError\n"
            "    except ValueError: pass\n")
        counts = ran.counts()
        self.assertEqual(counts, {"decorated": 1, "named_by_itself": 1, "method": 1, "generator": 2, "outer": 1, "raises": 1})
        outer = [row for row in ran.rows() if row["name"] == "outer"][0]
        self.assertEqual((outer["text"], outer["value"]), ("some text", "42"))
        self.assertTrue(outer["file"].endswith("program.py"))

    def test_what_is_said_of_an_outer_zone_is_on_it(self):
        ran = self.run_recorded(
            "with strobe.record(TRACE):\n"
            "    with strobe.zone('outer') as outer, strobe.zone('inner') as inner:\n"
            "        outer.text('of outer'); inner.text('of inner'); outer.value(1); inner.value(2)\n"
            "        outer.recolor(0x112233); outer.rename('renamed')\n")
        rows = {row["name"]: (row["text"], row["value"], row["color"]) for row in ran.rows()}
        self.assertEqual(rows, {"renamed": ("of outer", "1", "#112233"), "inner": ("of inner", "2", "")})

    def test_the_same_name_is_the_same_object_and_may_nest(self):
        ran = self.run_recorded(
            "z = strobe.zone('again')\n"
            "assert strobe.zone('again') is z and strobe.zone('again', 0x112233) is not z\n"
            "with strobe.record(TRACE):\n"
            "    def down(n):\n"
            "        with z:\n"
            "            if n: down(n - 1)\n"
            "    threads = [threading.Thread(target=down, args=(9,)) for _ in range(4)]\n"
            "    [t.start() for t in threads]; [t.join() for t in threads]\n")
        self.assertEqual(ran.counts(), {"again": 40})
        self.assertIn("0 open at the end, 0 unfinished, 0 ends without a begin", ran.text())

    def test_async_zones_overlap(self):
        ran = self.run_recorded(
            "@strobe.zone('coroutine')\n"
            "async def c(n):\n"
            "    await asyncio.sleep(0.001 * n); return n\n"
            "async def main():\n"
            "    async with strobe.zone('block') as z:\n"
            "        assert z.name == 'block'\n"
            "        assert await asyncio.gather(c(3), c(1), c(2)) == [3, 1, 2]\n"
            "with strobe.record(TRACE): asyncio.run(main())\n")
        spans = [row["name"] for row in ran.rows("spans")]
        self.assertEqual(sorted(spans), ["block", "coroutine", "coroutine", "coroutine"])

    def test_async_zones_leave_no_zone_of_their_own_while_functions_are_traced(self):
        ran = self.run_recorded(
            "async def main():\n"
            "    for i in range(10):\n"
            "        async with strobe.zone('block'): await asyncio.sleep(0)\n"
            "with strobe.record(TRACE, functions=True, gc=False): asyncio.run(main())\n")
        self.assertEqual([row["name"] for row in ran.rows("spans")], ["block"] * 10)
        self.assertEqual(ran.counts()["current_task"], 0)

    def test_threads_have_the_names_that_Python_or_the_program_gives_them(self):
        ran = self.run_recorded(
            "def work(name=None, deep=True):\n"
            "    if name: strobe.set_thread_name(name)\n"
            "    with strobe.zone('z'): pass\n"
            "    if deep: strobe.trace(gc=False); work(None, False); strobe.untrace()\n"
            "with strobe.record(TRACE):\n"
            "    for args in ((None, False), ('the program gave it', True)):\n"
            "        thread = threading.Thread(target=work, args=args, name='Python gave it')\n"
            "        thread.start(); thread.join()\n")
        self.assertEqual([row["thread"] for row in ran.rows() if row["name"] == "z"],
                         ["Python gave it"] + ["the program gave it"] * 2)

    def test_messages_plots_frames_flows_and_names(self):
        ran = self.run_recorded(
            "with strobe.record(TRACE):\n"
            "    strobe.set_thread_name('the main one')\n"
            "    strobe.message('héllo\\ud800', severity='warning', color=0xff)\n"
            "    strobe.plot('q', 3); strobe.plot('q', 2.5, format='bytes', step=True)\n"
            "    assert strobe.counter('n') == 1 and strobe.counter('n', 4) == 5\n"
            "    strobe.frame(); strobe.frame('named'); strobe.frame_start('f'); strobe.frame_end('f')\n"
            "    with strobe.zone('a'): flow = strobe.flow().begin()\n"
            "    with strobe.zone('b'): strobe.flow(flow.id).end()\n"
            "    strobe.memory_alloc(4096, 100, 'pool'); strobe.memory_free(4096, 'pool')\n"
            "    strobe.app_info('about'); strobe.set_program_name('named program')\n")
        self.assertIn("héllo", ran.rows("messages")[0]["text"])
        self.assertEqual([row["plot"] for row in ran.rows("plots")], ["q", "q", "n", "n"])
        self.assertEqual(len(ran.rows("flows")), 2)
        self.assertEqual({row["thread"] for row in ran.rows()}, {"the main one"})

    def test_arguments_have_names_and_counters_keep_their_totals(self):
        ran = self.run_recorded(
            "with strobe.record(TRACE):\n"
            "    assert strobe.counter(name='n') == 1\n"
            "    for i in range(17000): strobe.plot(f'other {i}', i)\n"
            "    assert strobe.counter('n', add=4) == 5 and strobe.counter(add=-5, name='n') == 0\n"
            "    strobe.frame(name='f'); strobe.frame(name=None); strobe.frame_start(name='g'); strobe.frame_end(name='g')\n"
            "    strobe.memory_alloc(address=4096, size=100, pool='pool'); strobe.memory_free(address=4096, pool='pool')\n"
            "for wrong in (lambda: strobe.counter(), lambda: strobe.counter('n', name='n'), lambda: strobe.frame(nam='f'),\n"
            "              lambda: strobe.frame('f', 1), lambda: strobe.memory_free(4096, size=1), lambda: strobe.memory_alloc(1, pool='p')):\n"
            "    try: wrong()\n"
            "    except TypeError: pass\n"
            "    else: raise AssertionError('accepted')\n")
        self.assertEqual([row["value"] for row in ran.rows("plots") if row["plot"] == "n"], ["1", "5", "0"])
        self.assertEqual({row["frame"] for row in ran.rows("frames")} & {"f", "g"}, {"f", "g"})

    def test_recording_twice_and_children_of_a_recording(self):
        second = self.folder / "second.strobe"
        ran = self.run_recorded(
            "import multiprocessing\n"
            "def work(n):\n"
            "    for i in range(n):\n"
            "        with strobe.zone('in child'): pass\n"
            "if __name__ == '__main__':\n"
            "    with strobe.record(TRACE):\n"
            "        assert strobe.recording()\n"
            "        for method in ('fork', 'spawn'):\n"
            "            p = multiprocessing.get_context(method).Process(target=work, args=(10,)); p.start(); p.join()\n"
            "        pid = os.fork()\n"
            "        if not pid: work(5); os._exit(0)\n"
            "        os.waitpid(pid, 0)\n"
            "    assert not strobe.recording()\n"
            "    with strobe.zone('between'): pass\n"
            f"    with strobe.record({str(second)!r}):\n"
            "        with strobe.zone('second'): pass\n")
        self.assertEqual(ran.counts(), {"in child": 25})
        self.assertEqual(self.trace_of(second).counts(), {"second": 1})

    def test_recording_with_functions_and_the_profiler(self):
        second = self.folder / "second.strobe"
        ran = self.run_recorded(
            "def f(): pass\n"
            "with strobe.record(TRACE, functions=True, gc=False):\n"
            "    for i in range(30): f()\n"
            "f()\n"
            f"with strobe.Profiler({str(second)!r}, exclude=['threading']):\n"
            "    for i in range(20): f()\n"
            "profiler = strobe.Profiler()\n"
            "profiler.enable(); f(); profiler.disable(); profiler.disable()\n"
            "assert not strobe.tracing()\n")
        self.assertEqual(ran.counts("program.py"), {"f": 30})
        self.assertEqual(self.trace_of(second).counts("program.py"), {"f": 20})

    def test_a_recording_that_can_not_be_traced_ends(self):
        self.run_recorded(
            "try: strobe.record(TRACE, functions=True, colour=1)\n"
            "except TypeError: pass\n"
            "else: raise AssertionError('accepted')\n"
            "assert not strobe.recording() and not strobe.tracing()\n"
            "with strobe.record(TRACE, functions=True) as recording: assert isinstance(recording, strobe.Recording)\n")

    def test_no_call_of_the_tracers_own_is_recorded(self):
        ran = self.run_recorded("sys.modules.pop('gc', None)\ndef f(): pass\nwith strobe.record(TRACE, functions=True): f()\n")
        self.assertEqual({name for name in ran.counts() if "import" in name or "find" in name}, set())
        for option in ("c_functions", "lines"):
            ran = self.run_recorded(f"def f(): pass\nwith strobe.record(TRACE, functions=True, {option}=True, gc=False): f()\n")
            self.assertEqual({name for name in ran.counts() if name.startswith(("set", "threading."))}, set())

    def test_what_is_said_of_a_zone_while_functions_are_traced_is_said_of_it(self):
        ran = self.run_recorded(
            "from strobe import ttnn_names\n"
            "def work():\n"
            "    ttnn_names.start_tracy_zone('a.py', 'MINE', 3)\n"
            "    ttnn_names.stop_tracy_zone('NEW', color=0x00ff00)\n"
            "def inner(): ttnn_names.stop_tracy_zone('OTHER')\n"
            "def outer(): ttnn_names.start_tracy_zone('a.py', 'KEPT', 3); inner()\n"
            "def by_hand():\n"
            "    with strobe.zone('hand') as z: z.text('said'); z.value(3); z.recolor(0xff)\n"
            "with strobe.record(TRACE, functions=True, c_functions=True, gc=False):\n"
            "    work(); outer(); by_hand()\n")
        rows = {row["name"]: row for row in ran.rows()}
        self.assertEqual({name for name in rows if name[0] != "_"} - {"NEW", "KEPT", "hand"}, {"work", "outer", "inner", "by_hand"})
        self.assertEqual((rows["NEW"]["color"], rows["hand"]["text"], rows["hand"]["value"], rows["hand"]["color"]),
                         ("#00ff00", "said", "3", "#0000ff"))

    def test_three_names_are_documented_and_older_ones_work_in_silence(self):
        ran = self.run_recorded(
            "import warnings; warnings.simplefilter('error')\n"
            "names = {'trace', 'untrace', 'tracing', 'record', 'recording', 'Recording', 'Profiler'}\n"
            "assert names & set(strobe.__all__) == {'record', 'recording', 'Profiler'}\n"
            "def old(): pass\n"
            "def new(): pass\n"
            "with strobe.record(TRACE) as recording:\n"
            "    assert type(recording) is strobe.Recording\n"
            "    strobe.trace(gc=False); assert strobe.tracing(); old(); strobe.untrace()\n"
            "    profiler = strobe.Profiler(gc=False); assert not profiler.active\n"
            "    profiler.enable(); assert profiler.active; new(); profiler.disable(); assert not profiler.active\n", err="")
        counts = ran.counts()
        self.assertEqual((counts["old"], counts["new"]), (1, 1))

    def test_what_can_not_be_is_said_in_words(self):
        ran = self.run_recorded(
            "def refused(error, call):\n"
            "    try: call()\n"
            "    except error as e: return str(e)\n"
            "    raise AssertionError('accepted')\n"
            "print(refused(TypeError, lambda: strobe.zone(3)))\n"
            "print(refused(TypeError, lambda: strobe.Zone()))\n"
            "print(refused(TypeError, lambda: strobe.zone('a', colour=1)))\n"
            "print(refused(TypeError, lambda: strobe.plot('a', 'b')))\n"
            "print(refused(ValueError, lambda: strobe.trace(min_duration='10 parsec')))\n"
            "print(refused(FileNotFoundError, lambda: strobe.record('/no/such/folder/x')))\n"
            "print(refused(IsADirectoryError, lambda: strobe.record('/tmp')))\n"
            "print(refused(ValueError, lambda: strobe.record(TRACE, min_duration=-1)))\n"
            "print(refused(ValueError, lambda: strobe.trace(max_depth=-1)))\n"
            "print(refused(TypeError, lambda: strobe.Profiler(foo=1)))\n"
            "print(refused(ValueError, lambda: strobe.message('a', severity='loud')))\n"
            "print(refused(ValueError, lambda: strobe.message('a', severity=9)))\n"
            "print(refused(ValueError, lambda: strobe.plot('a', 1, format='inches')))\n"
            "with strobe.record(TRACE):\n"
            "    print(refused(ValueError, lambda: strobe.message('a', severity='loud')))\n"
            "    print(refused(RuntimeError, lambda: strobe.record('other.strobe')))\n"
            "    strobe.trace()\n"
            "    print(refused(RuntimeError, lambda: strobe.trace()))\n"
            "    strobe.untrace()\n", err="")
        self.assertEqual(len(ran.out.splitlines()), 16)

    def test_functions_have_signatures_and_documents(self):
        ran = self.run_recorded(
            "import inspect\n"
            "print(inspect.signature(strobe.zone), inspect.signature(strobe.frame))\n"
            "for name in strobe.__all__:\n"
            "    member = getattr(strobe, name)\n"
            "    assert name == 'Zone' or inspect.signature(member) is not None, name\n"
            "    assert len((member.__doc__ or '').split()) > 3, name\n"
            "with strobe.record(TRACE): pass\n")
        self.assertEqual(ran.out, "(name, color=0, file=None, line=0, function=None) (name=None)\n")


if __name__ == "__main__":
    strobe_case.main()
