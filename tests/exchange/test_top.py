#!/usr/bin/env python3
"""test_top.py STROBE SEEDS: strobe top as text, and on a terminal: what it shows, that it fits, and that the terminal is as it was whatever ends it."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

STROBE, SEEDS = sys.argv[1:3]
TAKEN, GIVEN_BACK, INVERSE = "\x1b[?1049h", "\x1b[?1049l", "\x1b[7m"


class Terminal:
    """strobe top on a terminal of its own."""

    def __init__(self, *words, rows=24, columns=80, env=()):
        self.ours, theirs = pty.openpty()
        self.theirs = theirs
        self.resize(rows, columns)
        self.before = termios.tcgetattr(theirs)
        self.text = ""
        clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        self.process = subprocess.Popen([STROBE, "top", *words], stdin=theirs, stdout=theirs, stderr=theirs, env={**clean, **dict(env)})

    def resize(self, rows, columns):
        """Its size from now on."""
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, is_there):
        """Read until the text says so."""
        deadline = time.monotonic() + 60
        while not is_there(self.text) and time.monotonic() < deadline:
            if select.select([self.ours], [], [], 0.2)[0]:
                self.text += os.read(self.ours, 65536).decode(errors="replace")
        return is_there(self.text)

    def end(self):
        """Its exit code, when it has ended; the rest of its text is read."""
        self.read_until(lambda text: GIVEN_BACK in text)
        return self.process.wait(60)

    def close(self):
        """Nothing is left."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


def pictures(text):
    """The pictures that were drawn: lists of lines without colours."""
    drawn = text.split("\x1b[H")[1:]
    return [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", each.split(GIVEN_BACK)[0]).replace("\r", "").split("\n") for each in drawn]


class Top(unittest.TestCase):
    """strobe top"""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="strobe-top-test-")
        self.trace = os.path.join(self.folder, "in.strobe")
        source = os.path.join(self.folder, "in.folded")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(f"main;work{i};{'long' * 40}{i} {i}\n" for i in range(1, 60))
        subprocess.run([STROBE, "import", "-o", self.trace, source], check=True, stderr=subprocess.DEVNULL)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def shown(self, *words, **how):
        """A terminal on which the trace is shown."""
        terminal = Terminal(self.trace, *words, **how)
        self.addCleanup(terminal.close)
        self.assertTrue(terminal.read_until(lambda text: "folded stacks" in text), terminal.text)
        return terminal

    def test_once_prints_the_hottest_functions_and_threads(self):
        text = subprocess.run([STROBE, "top", "--once", "--limit", "2", self.trace], check=True, stdout=subprocess.PIPE, text=True).stdout
        lines = text.splitlines()
        self.assertIn("1770 samples", lines[1])
        self.assertRegex(lines[3], r"^ +3\.3 % +3\.3 % +3\.3 % +long")
        self.assertEqual(len(lines), 7)
        self.assertNotIn("\x1b", text)

    def test_a_picture_fits_the_terminal_and_follows_its_size(self):
        terminal = self.shown()
        self.assertLessEqual(len(pictures(terminal.text)[0]), 24)
        self.assertLessEqual(max(len(line) for line in pictures(terminal.text)[0]), 80)
        n = len(terminal.text)
        terminal.resize(10, 40)
        terminal.process.send_signal(signal.SIGWINCH)
        self.assertTrue(terminal.read_until(lambda text: "folded" in text[n:] or "thread" in text[n:]))
        os.write(terminal.ours, b"q")
        self.assertEqual(terminal.end(), 0)
        last = pictures(terminal.text)[-1]
        self.assertLessEqual(len(last), 10)
        self.assertLessEqual(max(len(line) for line in last), 40)

    def test_the_terminal_is_as_it_was_whatever_ends_it(self):
        for how in ("q", signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV):
            terminal = self.shown()
            self.assertIn(TAKEN, terminal.text)
            if how == "q":
                os.write(terminal.ours, b"q")
            else:
                terminal.process.send_signal(how)
            code = terminal.end()
            self.assertEqual(code, -how if how == signal.SIGSEGV else 0)
            self.assertIn(GIVEN_BACK, terminal.text)
            self.assertEqual(termios.tcgetattr(terminal.theirs), terminal.before)

    def test_no_color_means_none(self):
        self.assertIn(INVERSE, self.shown().text)
        self.assertNotIn(INVERSE, self.shown(env={"NO_COLOR": "1"}).text)

    def test_a_command_is_looked_at_while_it_runs_and_leaves_no_file(self):
        env = dict(os.environ, TMPDIR=self.folder, STROBE_SAMPLE="997")
        text = subprocess.run([STROBE, "top", "--batch", "--interval", "0.2", "--", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo seen"],
                              check=True, stdout=subprocess.PIPE, text=True, env=env).stdout
        self.assertIn("strobe top: sh (ended)", text)
        self.assertNotIn("seen", text)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("strobe-top-")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
