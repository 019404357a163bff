"""test_recording.py - strobe.record() and Profiler in the program itself: whose the recording is, which file it goes to, who is in it."""
import strobe_case


class InFolder(strobe_case.Case):
    def run_in_folder(self, body, code=0, env=None, words=()):
        """Run a program in the test's folder; what it printed."""
        program = self.script(f"import os, sys\nos.chdir({str(self.folder)!r})\nimport strobe\n{body}")
        ran = self.run_plain(program, *words, env=env)
        self.assertEqual((ran.code, ran.err), (code, ""), ran.err)
        return ran.out

    def trace(self, name="t.strobe"):
        return self.trace_of(self.folder / name)


class Schedule(InFolder):
    def test_only_active_steps_are_recorded_each_repetition_into_its_own_trace(self):
        out = self.run_in_folder(
            "paths = []\n"
            "with strobe.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1, path='t.strobe', ready=paths.append) as steps:\n"
            "    for i in range(12):\n"
            "        with strobe.zone(f'step {i}'): pass\n"
            "        steps.step()\n"
            "    assert not steps.active\n"
            "print(*paths)\n")
        self.assertEqual(out.split(), ["t.strobe", "t-2.strobe"])
        self.assertEqual(sorted(name for name in self.trace().counts() if name.startswith("step")), ["step 3", "step 4"])
        self.assertEqual(sorted(name for name in self.trace("t-2.strobe").counts() if name.startswith("step")), ["step 7", "step 8"])

    def test_a_number_of_steps_that_can_not_be_is_refused(self):
        self.run_in_folder(
            "for wrong in ((-1, 0, 1), (0, -1, 1), (0, 0, 0), (0, 0, 1.5)):\n"
            "    try: strobe.schedule(*wrong)\n"
            "    except ValueError: continue\n"
            "    raise AssertionError(wrong)\n")


class Recording(InFolder):
    def test_a_child_that_leaves_the_block_does_not_end_the_parents_recording(self):
        self.run_in_folder(
            "def in_child(): pass\n"
            "def after(): pass\n"
            "with strobe.record('t.strobe', functions=True) as recording:\n"
            "    pid = os.fork()\n"
            "    if pid: os.waitpid(pid, 0)\n"
            "    else: in_child()\n"
            "    if pid:\n"
            "        assert recording.active and strobe.recording()\n"
            "        for _ in range(1000): after()\n"
            "if not pid:\n"
            "    assert not recording.active and not strobe.tracing()\n"
            "    os._exit(0)\n")
        counts = self.trace().counts("program.py")
        self.assertEqual((counts["in_child"], counts["after"]), (1, 1000))

    def test_children_by_spawn_and_forkserver_are_traced_with_the_same_options(self):
        self.run_in_folder(
            "import multiprocessing\n"
            "def leaf(): pass\n"
            "def other(): leaf()\n"
            "def work():\n"
            "    for _ in range(10): other()\n"
            "if __name__ == '__main__':\n"
            "    os.environ['STROBE_PYTHON_PREFIX'] = 'mine'\n"
            "    before = dict(os.environ)\n"
            "    with strobe.record('t.strobe', functions=True, include=['__mp_main__', 'other*'], max_depth=2, gc=False):\n"
            "        for method in ('spawn', 'forkserver'):\n"
            "            p = multiprocessing.get_context(method).Process(target=work); p.start(); p.join()\n"
            "    assert dict(os.environ) == before, os.environ\n")
        counts = self.trace().counts("program.py")
        self.assertEqual((counts["work"], counts["other"], counts["leaf"]), (2, 20, 0))

    def test_a_recording_in_a_process_with_many_open_files(self):
        self.run_in_folder(
            "import resource\n"
            "soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))\n"
            "files = [open(os.devnull) for _ in range(1100)]\n"
            "with strobe.record('t.strobe'):\n"
            "    with strobe.zone('seen'): pass\n")
        self.assertEqual(self.trace().counts(), {"seen": 1})

    def test_a_file_that_is_no_trace_is_refused_and_stays(self):
        (self.folder / "notes.txt").write_text("notes\n")
        (self.folder / "t.strobe").write_text("")  # an empty one is nobody's
        out = self.run_in_folder(
            "for make in (lambda: strobe.record('notes.txt'), strobe.Profiler('notes.txt').enable):\n"
            "    try: make()\n"
            "    except FileExistsError as problem: print(problem)\n"
            "    assert not strobe.recording() and not strobe.tracing()\n"
            "for _ in range(2):\n"
            "    with strobe.record('t.strobe'): pass\n")
        self.assertEqual(out.count("notes.txt exists and is no Strobe trace; remove it or choose another name"), 2)
        self.assertEqual((self.folder / "notes.txt").read_text(), "notes\n")

    def test_STROBE_DISABLE_is_named_where_it_is_the_reason(self):
        out = self.run_in_folder(
            "try: strobe.record('t.strobe')\n"
            "except RuntimeError as problem: print(problem)\n", env={"STROBE_DISABLE": "1"})
        self.assertIn("STROBE_DISABLE is set", out)

    def test_ttnn_names_is_there_without_an_import_of_its_own(self):
        out = self.run_in_folder(
            "assert 'strobe.ttnn_names' not in sys.modules\n"
            "print(strobe.ttnn_names.NAMES[0], hasattr(strobe, 'nothing'))\n")
        self.assertEqual(out, "start_tracy_zone False\n")


class Profiler(InFolder):
    BODY = "def a(): pass\ndef b(): pass\n"

    def test_all_regions_are_in_one_file(self):
        self.run_in_folder(
            self.BODY +
            "profiler = strobe.Profiler('t.strobe')\n"
            "for _ in range(3):\n"
            "    profiler.enable(); a(); profiler.disable()\n"
            "    b()\n"
            "with profiler: a()\n"
            "assert not strobe.tracing()\n")
        self.assertEqual(self.trace().counts(), {"a": 4})
        self.assertNotIn("not closed", self.trace().text())

    def test_the_file_is_whole_after_close_and_when_the_profiler_goes(self):
        self.run_in_folder(
            self.BODY +
            "import subprocess\n"
            "def text(name): return subprocess.run([sys.argv[1], 'info', name], stdout=subprocess.PIPE).stdout.decode()\n"
            "profiler = strobe.Profiler('t.strobe')\n"
            "with profiler: a()\n"
            "profiler.close(); profiler.close()\n"
            "assert not strobe.recording() and 'not closed' not in text('t.strobe')\n"
            "with strobe.Profiler('u.strobe'): b()\n"
            "assert not strobe.recording() and 'not closed' not in text('u.strobe')\n"
            "strobe.Profiler('v.strobe').enable()\n"  # which nobody holds: it is on all the same
            "a()\n", words=[strobe_case.command()])
        self.assertEqual(self.trace("u.strobe").counts(), {"b": 1})
        self.assertEqual(self.trace("v.strobe").counts("program.py")["a"], 1)

    def test_another_recording_closes_the_file_and_nothing_is_lost(self):
        self.run_in_folder(
            self.BODY +
            "profiler = strobe.Profiler('t.strobe')\n"
            "with profiler: a()\n"
            "with strobe.record('other.strobe'):\n"
            "    with strobe.zone('by hand'): pass\n"
            "with profiler: b()\n")
        self.assertEqual(self.trace().counts(), {"a": 1})
        self.assertEqual(self.trace("other.strobe").counts(), {"by hand": 1})
        self.assertEqual(self.trace("t-2.strobe").counts(), {"b": 1})

    def test_a_child_of_a_profiled_process_profiles_into_the_same_file(self):
        self.run_in_folder(
            self.BODY +
            "profiler = strobe.Profiler('t.strobe')\n"
            "with profiler: a()\n"
            "pid = os.fork()\n"
            "if not pid:\n"
            "    with strobe.Profiler('child.strobe'): b()\n"
            "    with profiler: b()\n"
            "    sys.exit()\n"
            "os.waitpid(pid, 0)\n"
            "with profiler: a()\n")
        self.assertEqual(self.trace().counts(), {"a": 2, "b": 2})


class Decorated(strobe_case.Case):
    def test_an_async_generator_is_driven_as_without_the_zone(self):
        program = self.script(
            "import asyncio, strobe, sys\n"
            "async def echo(log):\n"
            "    got = None\n"
            "    try:\n"
            "        while got != 'end':\n"
            "            try: got = yield got\n"
            "            except KeyError as error: got = repr(error)\n"
            "            await asyncio.sleep(0)\n"
            "    except GeneratorExit:\n"
            "        await asyncio.sleep(0)\n"
            "        log.append('closed')\n"
            "        raise\n"
            "async def use(function):\n"
            "    log = []\n"
            "    g = function(log)\n"
            "    log += [await g.__anext__(), await g.asend('sent'), await g.athrow(KeyError('thrown'))]\n"
            "    await g.aclose()\n"
            "    g = function(log)\n"
            "    await g.__anext__()\n"
            "    try: await g.asend('end')\n"
            "    except StopAsyncIteration: log.append('ended')\n"
            "    g = function(log)\n"
            "    await g.__anext__()\n"
            "    try: await g.athrow(ValueError('out'))\n"
            "    except ValueError as error: log.append(repr(error))\n"
            "    return log\n"
            "plain, zoned = asyncio.run(use(echo)), asyncio.run(use(strobe.zone('z')(echo)))\n"
            "assert plain == zoned == [None, 'sent', \"KeyError('thrown')\", 'closed', 'ended', \"ValueError('out')\"], (plain, zoned)\n")
        ran = self.record(program, options=["--python", "off"])
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertEqual(len([row for row in ran.rows("spans") if row["name"] == "z"]), 3)


if __name__ == "__main__":
    strobe_case.main()
