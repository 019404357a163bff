"""measure.py - run a program alone, under `strobe record` or under a peer, and bring back what it printed and used.
SPDX-License-Identifier: MIT"""
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Bench:
    """Where the programs are and where files go. One per run of bench/run."""

    def __init__(self, build, large=False, peers=None):
        self.build = pathlib.Path(build).resolve()
        self.strobe = self.build / "bin" / "strobe"
        self.work = self.build / "bench-out"
        self.work.mkdir(parents=True, exist_ok=True)
        self.large = large
        self.peers = peers

    def program(self, name):
        return str(self.build / "bin" / name)

    def say(self, text):
        print(f"  {text}", file=sys.stderr, flush=True)


class Failed(Exception):
    """A measured program did not end well; the text says which and how."""


def figures(output):
    """The object in the line "BENCH {json}" of a program's output."""
    for line in output.splitlines():
        if line.startswith("BENCH "):
            return json.loads(line[6:])
    return {}


class Used:
    """What a process itself used (its children apart): cpu_s, peak_kib, wall_s."""

    def __init__(self, pid):
        self.pid, self.peak_kib, self.cpu_s = pid, 0, 0.0
        self.start = time.monotonic()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self):
        while not os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            self._look()
            time.sleep(0.01)

    def _look(self):
        try:
            for line in open(f"/proc/{self.pid}/status"):
                if line.startswith("VmHWM:"):
                    self.peak_kib = max(self.peak_kib, int(line.split()[1]))
        except OSError:
            pass

    def done(self):
        """Wait for its end, but leave it to be waited for: until then it still has its figures."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        self.wall_s = time.monotonic() - self.start
        self.thread.join()
        self.cpu_s = cpu_seconds(self.pid)
        return self


def cpu_seconds(pid):
    """CPU time of one process, its children apart."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spawn(command, env=None, **more):
    return subprocess.Popen([str(c) for c in command], env={**os.environ, **(env or {})}, text=True, **more)


def run(command, env=None):
    """Run it; (its output, what it used)."""
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as output:
        process = spawn(command, env, stdout=output, stderr=errors)
        used = Used(process.pid).done()
        code = process.wait()
        output.seek(0), errors.seek(0)
        if code:
            raise Failed(f"{' '.join(map(str, command))}: exit {code}\n{errors.read()[-500:]}")
        return output.read(), used


def run_exactly(bench, command):
    """Run it with its output thrown away, by the small program bench_used; wall_s, cpu_s, peak_kib."""
    output, _ = run([bench.program("bench_used"), *command])
    return figures(output)


def record(bench, command, name="bench", options=(), env=None):
    """Run it under `strobe record`; (figures, what the recorder used, size of the file)."""
    path = bench.work / f"{name}.strobe"
    path.unlink(missing_ok=True)
    output, used = run([bench.strobe, "record", "-o", path, *options, "--", *command], {"BENCH_WAIT": "1", **(env or {})})
    used.path, used.bytes = path, path.stat().st_size
    return figures(output), used


def ratio_words(found):
    """Median and best of the runs' ratios of a zone to the limit."""
    ratios = [z / l for z, l in zip(found["zone_ns"], found["limit_ns"])]
    return statistics.median(ratios), min(ratios)


def machine():
    """One line about this machine."""
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    virtual = " (virtual machine)" if "hypervisor" in open("/proc/cpuinfo").read() else ""
    memory = int(open("/proc/meminfo").readline().split()[1]) / 1048576
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    load = os.getloadavg()[0]
    busy = f"; other programs ran too (load {load:.1f}), which shows in wall time and in the tails" if load > 1 else ""
    return f"{os.cpu_count()} × {cpu}{virtual}, {memory:.0f} GiB, Linux {platform.release()}, {compiler}{busy}"


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
