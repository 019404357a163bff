"""test_frameworks.py - what frameworks mark is recorded without a change of the program: logging, and NVTX's API by our drop-in. Those
that come from PyPI are tested with the real thing: tests/peers/test_frameworks.py."""
import re
import subprocess

import strobe_case


class Logging(strobe_case.Case):
    def test_records_that_reach_handlers_are_messages_with_their_severity(self):
        program = self.script(
            "import logging\n"
            "logging.basicConfig(level=logging.INFO)\n"
            "log = logging.getLogger('shop.cart')\n"
            "log.debug('not handled')\n"
            "log.info('added %d', 3)\n"
            "log.warning('almost full')\n"
            "try: 1 / 0\n"
            "except ZeroDivisionError: log.exception('failed')\n"
            "log.critical('down')\n")
        ran = self.record(program)
        self.assertEqual(ran.code, 0, ran.err)
        rows = [(row["severity"], row["text"]) for row in ran.rows("messages") if row["text"].startswith("shop.cart")]
        self.assertEqual(rows, [("info", "shop.cart: added 3"), ("warning", "shop.cart: almost full"),
                                ("error", "shop.cart: failed (ZeroDivisionError: division by zero)"), ("fatal", "shop.cart: down")])
        self.assertIn("INFO:shop.cart:added 3", ran.err)  # the program's own handler had it too

    def test_a_record_that_can_not_be_formatted_harms_nobody(self):
        program = self.script(
            "import logging\n"
            "logging.basicConfig(level=logging.INFO); logging.raiseExceptions = False\n"
            "class Odd:\n"
            "    def __str__(self): raise RuntimeError('odd')\n"
            "logging.getLogger('a').info('%s', Odd())\n"
            "logging.getLogger('a').info('%d', 'no number')\n"
            "logging.getLogger('a').info('good')\n"
            "print('end')\n")
        ran = self.record(program)
        self.assertEqual((ran.code, ran.out), (0, "end\n"))
        self.assertEqual([row["text"] for row in ran.rows("messages")], ["a: good"])

    def test_a_level_and_a_choice_leave_records_out(self):
        program = self.script("import logging\nlogging.basicConfig(level=1)\nlogging.info('one'); logging.error('two')\n")
        quiet = self.record(program, env={"STROBE_LOGGING": "warning"})
        self.assertEqual([row["text"] for row in quiet.rows("messages")], ["root: two"])
        none = self.record(program, options=("--frameworks", "torch,jax", "--python", "marks"))
        self.assertEqual((none.code, none.rows("messages")), (0, []))
        wrong = self.record(program, options=("--frameworks", "torch,tensorflow"))
        self.assertEqual(wrong.code, 2)
        self.assertIn("torch,jax,logging,greenlet,nvtx,opencl", wrong.err)


class Marks(strobe_case.Case):
    def test_with_marks_alone_functions_leave_no_zone(self):
        program = self.script(
            "import logging, strobe\n"
            "logging.basicConfig()\n"
            "def f(): pass\n"
            "for _ in range(10): f()\n"
            "with strobe.zone('by hand'): logging.warning('said')\n")
        ran = self.record(program, options=("--python", "marks"))
        self.assertEqual(dict(ran.counts()), {"by hand": 1})
        self.assertEqual([row["text"] for row in ran.rows("messages")], ["root: said"])


class Nvtx(strobe_case.Case):
    def test_the_drop_in_has_ranges_marks_domains_categories_and_payloads(self):
        program = self.script(
            "import nvtx, threading\n"
            "assert nvtx.__file__.split('/')[-3] == 'drop_in', nvtx.__file__\n"
            "@nvtx.annotate(color='red')\n"
            "def forward(): pass\n"
            "for _ in range(3): forward()\n"
            "with nvtx.annotate('load', domain='io', category='disk', payload=7): pass\n"
            "nvtx.push_range('outer'); nvtx.push_range('inner', domain='io'); nvtx.pop_range(); nvtx.pop_range(domain='io')\n"
            "nvtx.pop_range(); nvtx.pop_range('never made')\n"
            "started = nvtx.start_range('across')\n"
            "worker = threading.Thread(target=nvtx.end_range, args=(started,)); worker.start(); worker.join()\n"
            "nvtx.mark('here', color=0x102030)\n"
            "domain = nvtx.get_domain('again'); said = domain.get_event_attributes(message='step', payload=1.5)\n"
            "for _ in range(4): domain.push_range(said); domain.pop_range()\n")
        ran = self.record(program, options=("--python", "marks"))
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual(dict(ran.counts()), {"forward": 3, "load": 1, "outer": 1, "inner": 1, "step": 4})
        rows = {row["name"]: row for row in ran.rows()}
        self.assertEqual([rows[name]["function"] for name in ("forward", "load", "inner", "step")], ["NVTX", "io/disk", "io", "again"])
        self.assertEqual((rows["load"]["value"], rows["step"]["text"]), ("7", "payload 1.5"))
        self.assertEqual([row["name"] for row in ran.rows("spans")], ["across"])
        self.assertEqual([row["text"] for row in ran.rows("messages")], ["here"])
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_while_functions_are_traced_ranges_may_cross_them(self):
        program = self.script(
            "import nvtx\n"
            "def begin(): nvtx.push_range('across functions')\n"
            "def end(): nvtx.pop_range()\n"
            "for _ in range(5): begin(); end()\n")
        ran = self.record(program)
        counts = ran.counts()
        self.assertEqual((counts["across functions"], counts["begin"], counts["end"]), (5, 5, 5))
        self.assertEqual([name for name in counts if name in ("push_range", "_push", "pop_range")], [])  # no part of the program

    def test_without_a_recorder_it_does_nothing(self):
        program = self.script("import nvtx\nwith nvtx.annotate('a'): nvtx.mark('b')\nnvtx.end_range(nvtx.start_range('c'))\nprint('end')\n")
        ran = self.run_plain(program)
        self.assertEqual((ran.code, ran.out, ran.err), (0, "end\n", ""))


class Merged(strobe_case.Case):
    """Files in the two forms that PyTorch's profiler has written, by a program that reads the wall clock around its zones."""

    PROGRAM = (
        "import json, os, strobe, time\n"
        "events = []\n"
        "def wall(): return time.clock_gettime_ns(time.CLOCK_REALTIME)\n"
        "for i in range(5):\n"
        "    begin = wall()\n"
        "    with strobe.zone('ours'): time.sleep(0.001)\n"
        "    events.append((begin, wall()))\n"
        "base = events[0][0] // 10**15 * 10**15\n"
        "def save(name, since, **more):\n"
        "    rows = [{'ph': 'X', 'name': 'theirs', 'pid': os.getpid(), 'tid': 1, 'ts': (b - since) / 1000, 'dur': (e - b) / 1000} for b, e in events]\n"
        "    json.dump({'schemaVersion': 1, **more, 'traceEvents': rows}, open(name, 'w'))\n"
        "save('old.json', 0); save('new.json', base, baseTimeNanoseconds=base); save('none.json', events[0][0])\n")

    def merge(self, *files):
        both = self.folder / f"both-{files[-1]}.strobe"
        done = subprocess.run([strobe_case.command(), "merge", *files, "-o", both], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return self.trace_of(both), done.returncode, done.stdout.decode() + done.stderr.decode()

    def test_a_file_with_times_of_the_wall_clock_stands_where_it_was_in_the_recording(self):
        program = self.script(self.PROGRAM.replace("'old.json'", f"{str(self.folder / 'old.json')!r}").replace(
            "'new.json'", f"{str(self.folder / 'new.json')!r}").replace("'none.json'", f"{str(self.folder / 'none.json')!r}"))
        ran = self.record(program, options=("--python", "marks"))
        self.assertEqual(ran.code, 0, ran.err)
        for name, exact_ns in (("old.json", 250), ("new.json", 1)):  # a float of us since 1970 is no more exact than that
            both, code, said = self.merge(str(ran.trace), name)
            self.assertEqual(code, 0, said)
            within = re.search(r"likely within ([\d.]+) (ns|us|µs|ms)", said)
            self.assertTrue(within, said)
            error_ns = float(within[1]) * {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6}[within[2]] + exact_ns
            spans = {name: [(int(row["start_ns"]), int(row["start_ns"]) + int(row["duration_ns"])) for row in both.rows() if row["name"] == name]
                     for name in ("ours", "theirs")}
            self.assertEqual((len(spans["ours"]), len(spans["theirs"])), (5, 5))
            for (begin, end), (their_begin, their_end) in zip(spans["ours"], spans["theirs"]):
                self.assertTrue(their_begin - error_ns <= begin and end <= their_end + error_ns, (spans, error_ns))
            self.assertIn("by the host's wall clock", both.text())
        self.assertEqual([path.name for path in self.folder.glob("*.part")], [])

    def test_a_file_of_another_clock_is_refused(self):
        program = self.script(self.PROGRAM.replace("'none.json'", f"{str(self.folder / 'none.json')!r}").replace(
            "'old.json'", "'/dev/null'").replace("'new.json'", "'/dev/null'"))
        ran = self.record(program, options=("--python", "marks"))
        _, code, said = self.merge(str(ran.trace), "none.json")
        self.assertEqual(code, 1)
        self.assertIn("none.json: its times are not the wall clock's", said)
        self.assertEqual([path.name for path in self.folder.glob("*.part")], [])
        self.assertEqual([path.name for path in self.folder.glob("both*")], [])


class Example(strobe_case.Case):
    def test_the_example_shows_tasks_messages_and_ranges(self):
        ran = self.record(strobe_case.HERE.parents[1] / "examples" / "frameworks.py")
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual([row["text"] for row in ran.rows("messages")][:4], [f"example: fetched {i}" for i in range(4)])
        rows = ran.rows()
        self.assertEqual(len({row["thread"] for row in rows if row["name"] == "fetch"}), 4)
        self.assertEqual([row["value"] for row in rows if row["name"] == "step" and row["function"] == "compute"], ["0", "1", "2"])


class Imports(strobe_case.Case):
    def test_a_framework_that_looks_otherwise_is_said_and_works(self):
        """A module of a framework's name and without its classes: another version, as far as we can know."""
        (self.folder / "greenlet.py").write_text("answer = 42\n")
        program = self.script("import greenlet, sys\nprint(greenlet.answer)\n")
        ran = self.record(program)
        self.assertEqual((ran.code, ran.out), (0, "42\n"))
        self.assertIn("strobe: greenlet is not seen in this recording: AttributeError", ran.err)

    def test_modules_that_fail_or_are_missing_fail_as_ever(self):
        (self.folder / "greenlet.py").write_text("raise KeyError('broken')\n")
        program = self.script(
            "import importlib.util\n"
            "assert importlib.util.find_spec('greenlet').origin.endswith('greenlet.py')\n"
            "for _ in range(2):\n"
            "    try: import greenlet\n"
            "    except KeyError as error: print(error)\n"
            "try: import torch.autograd.profiler\n"
            "except ImportError as error: print(type(error).__name__)\n")
        ran = self.record(program)
        plain = self.run_plain(program)
        self.assertEqual((ran.code, ran.out, ran.err), (0, plain.out, plain.err))
        self.assertEqual(plain.out.split("\n")[:2], ["'broken'", "'broken'"])

    def test_a_wrong_choice_in_the_environment_is_said(self):
        ran = self.record(self.script("print('end')\n"), env={"STROBE_FRAMEWORKS": "torchh"})
        self.assertEqual((ran.code, ran.out), (0, "end\n"))
        self.assertIn("STROBE_FRAMEWORKS names 'torchh'", ran.err)


if __name__ == "__main__":
    strobe_case.main()
