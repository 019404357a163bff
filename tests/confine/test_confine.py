"""test_confine.py STROBE TRACY_SEED: what a reader that was taken over can do to who imports a file: end itself. STROBE is the command with planted steps (planted.c)."""
import os
import subprocess
import sys
import tempfile
import unittest

STROBE, SEED = sys.argv[1:3]
EVENTS = b'[{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1},{"name":"b","ph":"X","ts":5,"dur":2,"pid":1,"tid":1}]'


class Imports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.json, self.tracy, self.out = (os.path.join(self.folder, name) for name in ("a.json", "b.tracy", "out.strobe"))
        with open(self.json, "wb") as file:
            file.write(EVENTS)
        with open(SEED, "rb") as seed, open(self.tracy, "wb") as file:
            file.write(seed.read()[1:])  # the first byte is the harness's

    def run_import(self, source, planted="", *more):
        return subprocess.run([STROBE, "import", *more, "-o", self.out, source], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "STROBE_PLANTED": planted})

    def can_confine(self):
        return "seccomp)" in subprocess.run([STROBE, "doctor"], capture_output=True, text=True, check=False).stdout

    def test_both_formats_are_read_by_a_confined_process(self):
        for source in (self.json, self.tracy):
            done = self.run_import(source, "", "-f")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("wrote", done.stderr)
            self.assertTrue(os.path.getsize(self.out))

    def test_a_reader_that_opens_or_starts_something_is_stopped_and_that_is_said(self):
        self.assertTrue(self.can_confine(), "this system refuses seccomp: strobe doctor says so")
        for source in (self.json, self.tracy):
            for step in ("open", "write", "socket", "exec", "fork", "code"):
                with self.subTest(step=step, source=source):
                    done = self.run_import(source, step)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("was stopped: it tried to open a file or a connection", done.stderr)
                    self.assertNotIn("it was let do it", done.stderr)
                    self.assertFalse(os.path.exists(self.out))

    def test_a_reader_gets_no_more_memory_than_its_file_may_take(self):
        done = self.run_import(self.json, "memory")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no more memory", done.stderr)

    def test_a_reader_that_crashes_ends_alone(self):
        done = self.run_import(self.json, "crash")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with signal 11", done.stderr)
        self.assertFalse(os.path.exists(self.out))

    def test_what_was_there_stays_when_the_reader_is_stopped(self):
        self.assertEqual(self.run_import(self.json).returncode, 0)
        with open(self.out, "rb") as file:
            before = file.read()
        self.assertEqual(self.run_import(self.json, "socket", "-f").returncode, 1)
        with open(self.out, "rb") as file:
            self.assertEqual(file.read(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
