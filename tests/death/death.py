"""death.py - what the tests of deaths and faults share: sessions of their own, counted pages, a look at the trace.

A test runs in a folder of its own under /dev/shm with STROBE_DIR in it, so it never meets the user's sessions. The
programs count their events in pages (counted.h) that this side maps; `judge` compares the trace with them.
"""
import collections
import contextlib
import ctypes
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reader"))
import strobe_check  # noqa: E402
import strobe_format as sf  # noqa: E402

PAGE = 4096
DISK, FILE_LIMIT, DAMAGED, HOLE, UNFINISHED = 3, 4, 5, 6, 7
# Kinds of the events of one round of death_emitter; 63: a zone begins.
ZONES = [63, 4, 6, 7, 5, 63, 8, 26, 63, 0, 0, 0]
REST = [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 63, 2, 20, 21, 22, 23, 24, 25, 31]
PATTERN = bytes(ZONES + REST)
LONG_PATTERN = bytes(ZONES[:6] + [3, 3] + ZONES[6:] + REST)
TO_KIND = bytes(min(sym, 63) for sym in range(256))

Count = collections.namedtuple("Count", "pid tid before after recorded")


def adopt_orphans():
    """Children of killed recorders come to us, so that they can be waited for."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)     # PR_SET_CHILD_SUBREAPER


class Pages:
    """The counted pages of one run."""

    def __init__(self, path, n_threads):
        self.path, self.n = path, n_threads
        with open(path, "wb") as file:
            file.truncate((1 + n_threads) * PAGE)
        with open(path, "r+b") as file:
            self.data = mmap.mmap(file.fileno(), 0)

    def stop(self):
        """Ask the program to end."""
        self.data[0:8] = struct.pack("<Q", 1)

    @property
    def n_ready(self):
        """Threads that emit."""
        return struct.unpack_from("<Q", self.data, 8)[0]

    def results(self):
        """What the program measured."""
        return struct.unpack_from("<8Q", self.data, 16)

    def threads(self):
        """A Count per thread that began."""
        rows = [Count(*struct.unpack_from("<5Q", self.data, (1 + i) * PAGE)) for i in range(self.n)]
        return [row for row in rows if row.tid]

    def pids(self):
        """Processes, the first one last: it is the recorded command itself."""
        pids = []
        for row in self.threads():
            if row.pid not in pids:
                pids.append(row.pid)
        return pids[1:] + pids[:1]

    def wait_ready(self, n, timeout=120):
        """Until n threads emit."""
        end = time.time() + timeout
        while self.n_ready < n:
            if time.time() > end:
                raise AssertionError(f"only {self.n_ready} of {n} threads emit")
            time.sleep(0.002)


class Place:
    """A folder for one run: traces, pages, and the sessions."""

    def __init__(self, build, root=None):
        self.build = build
        self.dir = root or tempfile.mkdtemp(prefix="strobe-test-", dir="/dev/shm")
        self.own = root is None
        self.sessions = os.path.join(self.dir, "sessions")
        self.trace = os.path.join(self.dir, "t.strobe")
        self.strobe = os.path.join(build, "bin", "strobe")
        self.errors = os.path.join(self.dir, "stderr")
        self.counted = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.counted:    # nothing of a failed test goes on
            self.counted.stop()
            for pid in self.counted.pids():
                if is_running(pid, self.build):
                    kill(pid)
        if self.own:
            shutil.rmtree(self.dir, ignore_errors=True)

    def program(self, name):
        """A test program."""
        return os.path.join(self.build, "bin", name)

    def env(self, preload=None, **more):
        """The environment of a run."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("STROBE_") or k == "STROBE_SAMPLE"}
        env["STROBE_DIR"] = self.sessions
        if preload:
            env["LD_PRELOAD"] = os.path.join(self.build, "lib", f"lib{preload}.so")
        env.update(more)
        return env

    def pages(self, n):
        """New pages for n threads."""
        self.counted = Pages(os.path.join(self.dir, "pages"), n)
        return self.counted

    def record(self, command, options=(), preload=None, **more):
        """Start `strobe record`."""
        with open(self.errors, "wb") as errors:
            return subprocess.Popen([self.strobe, "record", "-o", self.trace, *options, "--", *command],
                                    env=self.env(preload, **more), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=errors)

    def run(self, *args):
        """A strobe command to its end."""
        return subprocess.run([self.strobe, *args], env=self.env(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)

    def stderr(self):
        """What the recorder said."""
        with open(self.errors, encoding="utf-8", errors="replace") as file:
            return file.read()

    def leftovers(self):
        """Files that the sessions left."""
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.sessions) for name in names]


def is_running(pid, build):
    """Whether that process is one of our programs."""
    try:
        return os.readlink(f"/proc/{pid}/exe").startswith(os.path.realpath(build))
    except OSError:
        return False


def kill(pid):
    """SIGKILL, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def wait_gone(pids, timeout=120):
    """Until none of them runs; reaps those that are ours."""
    end = time.time() + timeout
    for pid in pids:
        while time.time() < end:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                    if file.read().rpartition(")")[2].split()[0] in "ZX":
                        break
            except (FileNotFoundError, ProcessLookupError):
                break
            time.sleep(0.002)
        else:
            raise AssertionError(f"process {pid} does not end")


class Judge:
    """A trace against the pages of the program that it was recorded from."""

    def __init__(self, path, closed=False, holes=False, pattern=None):
        self.checker = strobe_check.Checker(path, closed, holes)
        self.pattern = pattern
        self.syms = collections.defaultdict(list)   # (proc, track): kinds of its events
        self.problems = list(self.checker.run())
        self.facts, self.trace = self.checker.facts, self.checker.trace
        if pattern:
            for block in self.trace.blocks:
                if block.type == sf.EVENTS:
                    for part in self.trace.block_parts(block):
                        self.syms[part.proc, part.track].append(part.streams[0].translate(TO_KIND))
        self.find_threads()

    def find_threads(self):
        """Which thread is which track."""
        keyed = self.trace.keyed
        pids = {key[1]: fields[0] for key, fields in keyed.items() if key[0] == "process"}
        self.keys = {(pids.get(key[1]), fields[1]): (key[1], key[2]) for key, fields in keyed.items()
                     if key[0] == "thread"}
        self.rows = {(row["proc"], row["track"]): row for row in self.facts["ledger"]}

    def row(self, pid, tid):
        """(stored, {cause: dropped}) of a thread."""
        row = self.rows.get(self.keys.get((pid, tid)))
        return (row["stored"], {int(k): n for k, n in row["dropped"].items()}) if row else (0, {})

    def compare(self, pages, drops=False, lower=True):
        """Problems: counts of a thread outside of its two counters, events not in the order of the pattern."""
        for count in pages.threads():
            stored, dropped = self.row(count.pid, count.tid)
            where = f"pid {count.pid} tid {count.tid}"
            if not count.recorded and not stored and not dropped:
                continue  # it started when its recorder was dead already: nobody recorded it
            lost = sum(n for cause, n in dropped.items() if cause != UNFINISHED)
            if lost and not drops:
                self.problems.append(f"{where}: dropped {dropped}")
            if lower and stored + lost < count.after or stored + lost > count.before:
                self.problems.append(f"{where}: {stored} stored + {lost} dropped, emitted {count.after} to "
                                     f"{count.before}")
            if self.pattern and not lost:
                self.follow(where, self.keys.get((count.pid, count.tid)))
        self.names()
        return self.problems

    def follow(self, where, key):
        """The events of a track are those of the pattern, in order and each once."""
        syms = b"".join(self.syms.get(key, ()))
        wanted = (self.pattern * (len(syms) // len(self.pattern) + 1))[:len(syms)]
        if syms != wanted:
            at = next(i for i, (a, b) in enumerate(zip(syms, wanted)) if a != b)
            self.problems.append(f"{where}: event {at} of {len(syms)} is a {syms[at]} instead of a {wanted[at]}")

    def names(self):
        """Every name that is used is told."""
        kinds = {"l": "loc", "n": "string"}
        missing = [use for use in self.trace.used if (kinds[use[0]], use[1], use[2]) not in self.trace.keyed]
        if missing:
            self.problems.append(f"{len(missing)} names are used and not told, e.g. {missing[:3]}")

    def emitted(self):
        """Sum of the ledger: (stored, dropped), words that nobody has not counted."""
        stored = sum(row["stored"] for row in self.rows.values())
        return stored, sum(sum(row["dropped"].values()) for row in self.rows.values())
