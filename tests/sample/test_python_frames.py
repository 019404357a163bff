"""test_python_frames.py - Python's frames in stack samples of interpreters that have no strobe package.

    python3 test_python_frames.py STROBE PROGRAMS [unittest arguments]

With the oldest and the newest CPython of the machine; with STROBE_EVERY_PYTHON=1 with all of them."""
import collections
import csv
import io
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, folder) for folder in ("programs", "wheel")]
import harness  # noqa: E402
import venvs  # noqa: E402

SPLIT = os.path.join(HERE, "split.py")
PYTHONS = {version: path for version, path in venvs.interpreters().items() if version <= (3, 13)}


if not os.environ.get("STROBE_EVERY_PYTHON"):
    PYTHONS = {version: PYTHONS[version] for version in (min(PYTHONS), max(PYTHONS))}


class PythonFramesTest(harness.ProgramTest):
    def setUp(self):
        super().setUp()
        for name in ("STROBE_SAMPLE", "PYTHONPATH", "STROBE_PYTHON"):
            self.env.pop(name, None)

    def sampled(self, *command, options=("--python", "off"), **more):
        ran = self.record(*command, options=options, whole=False, **more)
        if "no stack samples" in ran.err or "refuses perf events" in ran.err:
            self.skipTest("the kernel gives no samples here")
        return ran, self.stacks(ran.trace.path)

    def stacks(self, path):
        code, out, err = self.run_it(harness.STROBE, "csv", "--kind", "samples", path)
        self.assertEqual((code, err), (0, ""))
        return [row["frames"] for row in csv.DictReader(io.StringIO(out))]

    def facts(self, trace, name):
        return [record.fields for record in trace.trace.records if record.name == name]


class Frames(PythonFramesTest):
    def test_functions_of_every_version_have_their_names_and_their_order(self):
        for version, python in PYTHONS.items():
            with self.subTest(version=version):
                ran, stacks = self.sampled(python, SPLIT, "0.4")
                found = [stack for stack in stacks if "work (split.py:6)" in stack]
                self.assertGreater(len(found), 20, collections.Counter(stacks).most_common(3))
                for stack in found:
                    names = ["work (split.py:6)", "main (split.py:21)", "<module> (split.py:1)"]
                    at = [stack.index(name) for name in names if name in stack]
                    self.assertEqual(at, sorted(at), stack)
                whole = [stack for stack in found if "seventy (split.py:13)" in stack]
                self.assertTrue(whole)
                last = self.facts(ran.trace, "python_frames")[-1]
                self.assertEqual(tuple(last[-6:-4]), (version[1], 0))

    def test_c_functions_stand_between_the_functions_that_they_join(self):
        _, stacks = self.sampled(PYTHONS[max(PYTHONS)], SPLIT, "0.4")
        stack = next(stack for stack in stacks if "thirty (split.py:17)" in stack and "work (" in stack)
        self.assertLess(stack.index("work ("), stack.index("thirty ("))

    def test_statistics_folded_stacks_and_info_have_the_frames(self):
        ran, _ = self.sampled(PYTHONS[max(PYTHONS)], SPLIT, "0.4")
        self.assertIn("work (split.py:6)", self.run_it(harness.STROBE, "stats", "--stacks", ran.trace.path)[1])
        folded = self.run_it(harness.STROBE, "export", "--to", "folded", "-o", "-", ran.trace.path)[1]
        self.assertIn("main (split.py:21);seventy (split.py:13);work (split.py:6)", folded)
        out = self.run_it(harness.STROBE, "info", ran.trace.path)[1]
        self.assertRegex(out, r"Python's frames in [\d,]+ of [\d,]+ samples")

    def test_a_line_is_the_one_that_ran(self):
        ran, _ = self.sampled(PYTHONS[min(PYTHONS)], SPLIT, "0.4")
        lines = {fields[-5] for fields in self.facts(ran.trace, "symbol") if "work (split.py:6)" in str(fields)}
        self.assertTrue(lines and lines <= {6, 7, 8, 9, 10}, lines)
        self.assertTrue(lines & {8, 9}, lines)

    def test_a_program_that_calls_much_has_its_result(self):
        code = "import json\nprint(sum(len(json.dumps(json.loads(json.dumps(list(range(i)))))) for i in range(900)))"
        python = PYTHONS[max(PYTHONS)]
        expected = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
        ran, _ = self.sampled(python, "-c", code, options=("--python", "off", "--sample", "9973"))
        self.assertEqual(ran.out, expected)


class Attached(PythonFramesTest):
    def test_a_running_python_without_the_package_has_frames(self):
        for version in (min(PYTHONS), max(PYTHONS)):
            with self.subTest(version=version):
                process = self.start(PYTHONS[version], SPLIT, "60")
                self.wait_for(lambda: os.readlink(f"/proc/{process.pid}/exe").startswith(os.path.dirname(
                    os.path.realpath(PYTHONS[version]))))
                path = self.path(f"{version[1]}.strobe")
                recorder = self.start(harness.STROBE, "record", "-o", path, "--pid", str(process.pid))
                self.wait_for(lambda: recorder.poll() is not None or os.path.exists(path) and any("main (split.py:21)" in stack for stack in self.stacks(path)))
                recorder.send_signal(signal.SIGINT)
                err = recorder.communicate()[1]
                if "no stack samples" in err:
                    self.skipTest("the kernel gives no samples here")
                self.assertEqual(recorder.returncode, 0, err)
                self.assertIsNone(process.poll())
                process.kill()
                process.wait()


class Deaths(PythonFramesTest):
    def test_names_survive_the_death_of_the_recorder(self):
        path = self.path("t.strobe")
        recorder = self.start(harness.STROBE, "record", "--python", "off", "-o", path, "--", PYTHONS[max(PYTHONS)], SPLIT, "60")
        self.wait_for(lambda: os.path.exists(path) and any("work (split.py:6)" in stack for stack in self.stacks(path)))
        children = subprocess.run(["pgrep", "-P", str(recorder.pid)], capture_output=True, text=True).stdout.split()
        recorder.kill()
        recorder.wait()
        for child in children:
            os.kill(int(child), 9)
        self.assertEqual(self.run_it(harness.STROBE, "recover", path)[0], 0)
        self.assertTrue([stack for stack in self.stacks(path) if "work (split.py:6)" in stack])


if __name__ == "__main__":
    harness.main()
