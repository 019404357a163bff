#!/usr/bin/env python3
"""test_smoke.py BUILD - the client as arm64 code, run: cross-built, in a program under qemu-user, recorded by this machine's recorder.
The bytes that both share are the same on both machines; their counters are not, so the clock is CLOCK_MONOTONIC.

With "count" behind BUILD: the instructions of a zone, recorded and idle, on both machines, as qemu executes them one by one."""
import collections
import contextlib
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "death"))
import death  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
GCC, QEMU = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"
with open(f"{ROOT}/CMakeLists.txt", encoding="utf-8") as lines:  # of the ring, the library that programs link has these
    RING = re.findall(r"src/ring/(\w+)\.c", next(line for line in lines if "client_sources CONFIGURE_DEPENDS" in line))
THREADS, ZONES, MESSAGES, CHILD_ZONES = 4, 5000, 50, 1000


def missing():
    """The first tool that is not there."""
    return next((tool for tool in (GCC, QEMU) if not shutil.which(tool)), None)


def build(folder, compiler=GCC, *options):
    """The client and smoke.c as one static program."""
    out = os.path.join(folder, "smoke")
    sources = glob.glob(f"{ROOT}/src/client/*.c") + [f"{ROOT}/src/ring/{name}.c" for name in RING] + [f"{ROOT}/src/base/err.c"]
    subprocess.run([compiler, "-O2", "-g1", *options, "-static", "-std=gnu17", "-D_GNU_SOURCE", '-DSTROBE_INSTALLED_BINARY="strobe"', '-DSTROBE_VERSION="0"',
                    f"-I{ROOT}/include", f"-I{ROOT}/src", "-o", out, os.path.join(HERE, "smoke.c"), *sources, "-lpthread"], check=True)
    return out


@contextlib.contextmanager
def on_disk():
    """A place that is no tmpfs: qemu says yes to MADV_POPULATE_WRITE and does nothing, which shows on a tmpfs alone."""
    with tempfile.TemporaryDirectory(prefix="strobe-test-", dir=BUILD) as folder, death.Place(BUILD, folder) as place:
        yield place


@unittest.skipIf(missing(), f"{missing()} is not installed (scripts/deps test)")
class Smoke(unittest.TestCase):
    """A whole recording."""

    def test_every_event_of_an_arm64_program_is_stored(self):
        """Threads, names, messages, a forked child."""
        with on_disk() as place:
            recorder = place.record([QEMU, build(place.dir)], ["-q"], STROBE_CLOCK="mono")
            self.assertEqual(recorder.wait(100), 0, place.stderr())
            judge = death.Judge(place.trace, closed=True)
            self.assertFalse(judge.problems, "\n".join(judge.problems[:10]))
            count = collections.Counter()
            for row in judge.facts["zones"]:
                count[row["name"]] += row["count"]
            self.assertEqual(count, {"work": THREADS * ZONES, "hot": CHILD_ZONES})
            self.assertEqual(judge.facts["kind_names"]["message"], THREADS * MESSAGES)
            self.assertFalse([row for row in judge.rows.values() if row["dropped"]])
            self.assertEqual(judge.facts["processes"], 2)


def run_hot(place, recorded, *command):
    """Zones in hot(); what is said on stdout and stderr."""
    record = [place.strobe, "record", "-q", "-o", place.trace, "--"] if recorded else []
    return subprocess.run([*record, *command], env=place.env(), capture_output=True, text=True, check=True).stderr


def instructions(place, recorded, *compiler):
    """Instructions of one begin and end as arm64 code, without its slow path: the most frequent count of a call of hot()."""
    log = os.path.join(place.dir, "exec.log")
    run_hot(place, recorded, QEMU, "-singlestep", "-d", "nochain,exec", "-D", log, build(place.dir, *compiler), "hot", "200")
    counts, now = collections.Counter(), 0
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            name = (line.split() or [""])[-1]
            if name.startswith("hot") or now and name.startswith("__aarch64_"):
                now += 1
            elif now:
                counts[now], now = counts[now] + 1, 0
    return counts.most_common(1)[0][0]


def instructions_here(place, recorded, short=20_000):
    """The same as this machine's code, by callgrind: what twice as many zones cost more."""
    program, sums = build(place.dir, "gcc"), []
    for n in (short, 2 * short):
        text = run_hot(place, recorded, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=hot*",
                       program, "hot", str(n))
        sums.append(int(re.search(r"Collected\s*:\s*([\d,]+)", text)[1].replace(",", "")))
    return (sums[1] - sums[0]) // short


def count():
    """A line per kind of code: arm64 as compilers make it by default, for machines with atomic instructions (LSE), and this machine's."""
    print("instructions per zone, call and return included")
    for what, how in (("arm64", lambda *given: instructions(*given)),
                      ("arm64 with LSE", lambda *given: instructions(*given, GCC, "-march=armv8.1-a")),
                      (platform.machine(), instructions_here)):
        with on_disk() as place:
            print(f"{what:15} {how(place, True):3} recorded {how(place, False):3} idle")


if __name__ == "__main__":
    if sys.argv[2:] == ["count"]:
        sys.exit(count())
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
