"""harness.py - what the tests of whole programs share: a session folder of their own, `strobe record`, and the
second reader as the judge of every trace.

    python3 test_NAME.py STROBE PROGRAMS [unittest arguments]

STROBE is the command, PROGRAMS the folder with the built test programs.
"""
import collections
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "reader"))
import strobe_check  # noqa: E402
import strobe_format as sf  # noqa: E402

STROBE = PROGRAMS = None
UNWANTED = ("STROBE_SESSION", "STROBE_TRACE", "STROBE_DISABLE", "STROBE_CLOCK", "STROBE_DIR", "STROBE_BIN")


class Proc:
    """A process of a trace."""

    def __init__(self, number, fields):
        self.number = number
        self.pid, self.parent, self.start, exe, cwd, argv = fields
        self.exe, self.cwd = exe.decode(), cwd.decode()
        self.argv = argv.decode("utf-8", "replace").split("\0")
        self.how = self.value = None    # of its end


class Judged:
    """A trace that the second reader has gone through."""

    def __init__(self, path, closed=True):
        checker = strobe_check.Checker(path, closed)
        self.problems = checker.run()
        self.facts, self.trace = checker.facts, checker.trace
        self.procs = {key[1]: Proc(key[1], fields) for key, fields in self.trace.keyed.items() if key[0] == "process"}
        for key, fields in self.trace.keyed.items():
            if key[0] == "process_end" and fields[0] in self.procs:
                self.procs[fields[0]].how, self.procs[fields[0]].value = fields[2:4]
        self.path = path

    def zones(self):
        """{(proc, name): zones that ended}."""
        sums = collections.Counter()
        for row in self.facts["zones"]:
            sums[row["proc"], row["name"]] += row["count"]
        return sums

    def n_zones(self, name=None):
        """Zones that ended, over all processes."""
        return sum(n for (_, own), n in self.zones().items() if name is None or own == name)

    def dropped(self):
        """{cause: events} that the ledger has."""
        sums = collections.Counter()
        for loss in self.trace.losses:
            sums[loss[2]] += loss[3]
        return dict(sums)

    def notes(self):
        """Texts of the note records."""
        return [record.fields[1].decode() for record in self.trace.records if record.name == "note"]

    def threads(self):
        """{(proc, track): name}, the name set last."""
        names = {key[1:]: fields[3].decode() for key, fields in self.trace.keyed.items() if key[0] == "thread"}
        names.update({key[1:]: fields[1].decode() for key, fields in self.trace.keyed.items()
                      if key[0] == "thread_name"})
        return names

    def events(self, kind):
        """All events of a kind (its name)."""
        number = next(n for n, name in self.trace.names.items() if name == kind)
        return [event for event in self.trace.events() if event.kind == number]

    def zones_by_track(self):
        """{(proc, track): zones that ended}; reads the trace again."""
        trace = type(self.trace)(self.path)
        sums = collections.Counter()
        for part in trace.parts():
            sums[part.proc, part.track] += len(part.ended)
        return sums


Ran = collections.namedtuple("Ran", "code out err trace")


class ProgramTest(unittest.TestCase):
    """Has a folder of its own in shared memory for each test."""

    def setUp(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.dir = tempfile.mkdtemp(prefix="strobe-test-", dir=base)
        self.sessions = os.path.join(self.dir, "sessions")
        self.env = {key: value for key, value in os.environ.items() if key not in UNWANTED}
        self.env.update(STROBE_DIR=self.sessions, STROBE_BIN=STROBE)
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        """A file of this test."""
        return os.path.join(self.dir, name)

    def program(self, name):
        """A built test program."""
        return os.path.join(PROGRAMS, name)

    def start(self, *command, **more):
        """Start a command; ended by tearDown if it still runs."""
        env = dict(self.env, **more.pop("env", {}))
        options = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir)
        options.update(more)
        process = subprocess.Popen(command, env=env, text=True, **options)
        self.started.append(process)
        return process

    def run_it(self, *command, timeout=60, **more):
        """Run a command to its end: (code, out, err)."""
        process = self.start(*command, **more)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err

    def record(self, *command, options=(), judge=True, whole=True, **more):
        """`strobe record` a command. The trace must hold with the format; `whole`: nothing was lost."""
        path = self.path(f"{len(self.started)}.strobe")
        code, out, err = self.run_it(STROBE, "record", "-o", path, *options, "--", *command, **more)
        if not judge:
            return Ran(code, out, err, None)
        trace = self.judge(path)
        if whole:
            self.assertEqual(trace.dropped(), {}, err)
        return Ran(code, out, err, trace)

    def judge(self, path, closed=True):
        """Read a trace; a disagreement with the format is a failure."""
        trace = Judged(path, closed)
        self.assertEqual(trace.problems[:10], [])
        return trace

    def wait_for(self, what, seconds=120):
        """Until what() is true."""
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, "waited too long")
            time.sleep(0.005)

    def attach(self, name, *options, seconds=120):
        """Start `strobe record` with these options and wait until it has its file: (process, path)."""
        path = self.path(name)
        process = self.start(STROBE, "record", "-o", path, *options)
        self.wait_for(lambda: os.path.exists(path) or process.poll() is not None, seconds)
        return process, path

    def end(self, process, number=signal.SIGINT, timeout=120):
        """Send a signal, wait for the end: (code, out, err)."""
        process.send_signal(number)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err


def amount(name, default):
    """A number that the environment may raise."""
    return int(os.environ.get(name, default))


def main():
    """Run the tests of the calling module."""
    global STROBE, PROGRAMS
    STROBE, PROGRAMS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    module = sys.modules["__main__"]
    module.STROBE, module.PROGRAMS = STROBE, PROGRAMS
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[3:])
