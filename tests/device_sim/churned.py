"""churned.py - a recording of the program device_churn (churn.c) in a folder of its own, what its trace has lane by lane, and what its stream has by the
second reader (tests/device/reader.py). For the tests beside it: the first argument is BUILD."""
import collections
import csv
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "device"))
import reader  # noqa: E402

STROBE, CHURN = BUILD / "bin" / "strobe", BUILD / "bin" / "device_churn"
RISCS = ["BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"]
LIMIT_S = 100  # a hang's
FOR_EVER = "100000000"
SUMMED = " (added up)"


class Counter:
    """A lane of the second reader that counts, where the whole stream is there."""
    def __init__(self):
        self.count = 0

    def run(self, words, at, end, *_):
        while at < end:
            self.count += words[at] >> 27 in (2, 3, 4, 10, 12)
            at += reader.length(words, at, end)


class Lanes(dict):
    def setdefault(self, key, _=None):
        if key not in self:
            self[key] = Counter()
        return self[key]


def frames(words):
    """(offset, subtype or 13) of each frame of a stream."""
    at = 0
    while at + 16 <= len(words):
        word, kind, n = words[at], None, 16
        if word == 13 << 27 and 16 <= words[at + 1] <= 2591:
            kind, n = 13, 8 + words[at + 1]
        elif word >> 27 == 15 and (word >> 19) & 0xFF >= 64:
            kind, n = (word >> 19) & 0xFF, 1 + (word & 0x7FFFF)
        if kind:
            yield at, kind
        at += (n + 15) // 16 * 16


def in_stream(path):
    """Records of each lane, by its name in a trace, in a stream that did not turn round in its ring."""
    with open(path, "rb") as file:
        head = file.read(4096)
        data_off, data_bytes = struct.unpack_from("<IQ", head, 12)
        written = struct.unpack_from("<Q", head, 64)[0]
        if written > data_bytes:
            raise AssertionError("the ring is too small for this test")
        file.seek(data_off)
        words = list(struct.unpack(f"<{written // 4}I", file.read(written)))
    lanes, names = Lanes(), {}
    for at, kind in frames(words):
        if kind == 13:
            reader.frame_of_five(words, at, lanes, None)
        elif kind == 65:
            names[words[at + 2]] = (words[at + 3] & 0xFFFF, words[at + 3] >> 16)
    counts = collections.Counter()
    for (core, risc), lane in lanes.items():
        counts[f"core {names[core][0]},{names[core][1]} {RISCS[risc]}"] = lane.count
    return counts


class Round:
    """One recording, in a folder of its own."""
    def __init__(self, launches, zones="8", environment=None, command=("8", "")):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.trace = os.path.join(self.folder.name, "trace.strobe")
        self.link = os.path.join(self.folder.name, "stream")
        self.sessions = os.path.join(self.folder.name, "sessions")
        self.environment = {**os.environ, "STROBE_DIR": self.sessions, "STROBE_KERNEL_CACHE": str(BUILD / "kernels"), "STROBE_SIM_GRID_X": "3", "CHURN_PAUSE_US": "3000", "STROBE_SIM_GRID_Y": "2",
                            **(environment or {})}
        with open(os.path.join(self.folder.name, "out"), "wb") as out:
            self.recorder = subprocess.Popen([STROBE, "record", "-q", "-o", self.trace, "--", CHURN, str(launches), zones, *command], env=self.environment, stdout=out,
                                             stderr=subprocess.DEVNULL, start_new_session=True)
        self.program = None
        self.wait_for(self.find_stream)

    def find_stream(self):
        """Link to the stream's file, once the device speaks. True also where the program was faster and is gone."""
        try:
            for fifo in pathlib.Path(self.sessions).glob("*/*.device"):
                if not os.path.exists(self.link):
                    os.link(fifo, self.link)
                self.program = int(fifo.name.split("-")[0])
        except FileNotFoundError:
            pass
        return (self.program and self.head(64)) or self.recorder.poll() is not None

    def __enter__(self):
        return self

    def __exit__(self, *what):
        for pid in filter(None, (self.program, self.recorder.pid)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.recorder.wait(LIMIT_S)
        self.folder.cleanup()

    def head(self, offset):
        """A count of the stream's file; 0 while it is being made."""
        with open(self.link, "rb") as file:
            head = file.read(192)
        return struct.unpack_from("<Q", head, offset)[0] if len(head) == 192 else 0

    @staticmethod
    def wait_for(condition):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            time.sleep(0.005)
        raise AssertionError("it never came")

    def kill_program(self):
        os.kill(self.program, signal.SIGKILL)

    def kill_recorder(self):
        os.kill(self.recorder.pid, signal.SIGKILL)
        self.recorder.wait(LIMIT_S)

    def wait_program(self):
        """Until it has ended; it is no child of ours."""
        self.wait_for(lambda: not os.path.exists(f"/proc/{self.program}") or
                      pathlib.Path(f"/proc/{self.program}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z")

    def strobe(self, *words):
        return subprocess.run([STROBE, *words], check=True, capture_output=True, text=True, timeout=LIMIT_S, env=self.environment).stdout

    def rows(self, kind):
        """Of the devices' processes, one by one: a trace may have many."""
        with subprocess.Popen([STROBE, "csv", "--kind", kind, self.trace], stdout=subprocess.PIPE, text=True, env=self.environment) as command:
            yield from (row for row in csv.DictReader(command.stdout) if row["process"].startswith("Device"))
        if command.returncode:
            raise AssertionError(f"strobe csv: exit code {command.returncode}")

    def stored(self):
        """Records of each lane in the trace; those that the device added up count as many as they were."""
        counts = collections.Counter()
        for row in self.rows("zones"):
            if row["state"] == "ended":
                counts[row["thread"]] += int(row["value"]) if row["name"].endswith(SUMMED) else 1
        return counts

    def lost(self):
        counts = collections.Counter()
        for row in self.rows("losses"):
            counts[row["thread"]] += int(row["count"])
        return counts

    def out(self):
        """What the program printed."""
        return pathlib.Path(self.folder.name, "out").read_text()

    def emitted(self):
        """By the device's own count, of all its epochs; and what it dropped."""
        emitted, dropped = collections.Counter(), collections.Counter()
        for x, y, risc, n, n_dropped in re.findall(r"^lane (\d+) (\d+) (\d+) (\d+) (\d+)", self.out(), re.M):
            emitted[f"core {x},{y} {RISCS[int(risc)]}"] += int(n)
            dropped[f"core {x},{y} {RISCS[int(risc)]}"] += int(n_dropped)
        return emitted, dropped
