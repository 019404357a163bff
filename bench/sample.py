"""sample.py - what it costs to see what nobody marked, and how true it is.

Every row of the bars for samples, switches, Python's frames, memory and locks. Shares of a core are CPU time by CPU time of the program, so
that other programs on the machine do not matter; counts and shares are of one recording each.  SPDX-License-Identifier: MIT"""
import collections
import csv
import io
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import measure
from measure import Figure, Trial

CLAIM = "samples at 997 Hz cost what their clock costs, the recorder 1 % of a core with two busy processors; shares, stacks and times are true; memory and locks within their bars"
PEER = "the bars; the same program without Strobe and under the bare clock, by turns; libdw for the stacks"
SPLIT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "sample" / "split.py"
OBJECTS = pathlib.Path(__file__).resolve().parent / "sample" / "objects.py"
HZ = 997


def recorded(tree, options, command, name="sample"):
    """Record a command with samples; (its figures, what the recorder used, the trace)."""
    path = tree.work / f"{name}.strobe"
    path.unlink(missing_ok=True)
    output, used = measure.run([tree.strobe, "record", "-q", "--python", "off", *options, "-o", path, "--", *command], {"STROBE_SAMPLE": str(HZ)})
    return measure.figures(output) or output, used, path


def info(tree, path):
    found = json.loads(measure.run([tree.strobe, "info", "--json", path])[0])
    return found, found.get("sampling", {"samples": 0, "switches": 0, "error_ns": 0})


def table(tree, path, kind):
    return csv.DictReader(io.StringIO(measure.run([tree.strobe, "csv", "--kind", kind, path])[0]))


# ---- what it costs

def turns(tree, n, before=()):
    return measure.figures(measure.run([*before, tree.program("bench_work"), "turns", n, 2])[0])


def cpu_of(pid):
    """{thread: CPU time so far}, in ns."""
    found = {}
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            found[int(path.parent.name)] = int(path.read_text().split()[0])
        except OSError:
            pass
    return found


def burdened(tree, seconds, command, hz):
    """What a second of a recording has: samples, CPU time of the sampler and of the recorder's other threads in ns; and its memory."""
    path = tree.work / "sample_share.strobe"
    path.unlink(missing_ok=True)
    process = measure.spawn([tree.strobe, "record", "-q", "--python", "off", "-o", path, "--", *command], {"STROBE_SAMPLE": str(hz)}, stdout=subprocess.DEVNULL)
    time.sleep(1)  # its start is another figure
    child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
    before, work, begin = cpu_of(process.pid), sum(cpu_of(child).values()), time.monotonic()
    time.sleep(seconds)
    after, work, wall = cpu_of(process.pid), sum(cpu_of(child).values()) - work, time.monotonic() - begin
    peak = next(int(line.split()[1]) for line in open(f"/proc/{process.pid}/status") if line.startswith("VmHWM:"))
    os.kill(child, 9)
    process.wait()
    sampler = max(after)  # the thread that was made last
    spent = {thread: (after[thread] - before.get(thread, 0)) / wall for thread in after}
    return work / 1e9 * hz / wall, spent.pop(sampler), sum(spent.values()), peak


def share(tree, seconds, command):
    """The recorder's CPU time with two busy processors, in % of a core, whatever the program gets of the machine: by two rates, what its sampler needs
    for a sample and however few there are, and what its other threads need. And its memory."""
    few, rest, others, peak = burdened(tree, seconds, command, HZ)
    many, more, _, _ = burdened(tree, seconds, command, 4 * HZ)
    sample_ns = max(0.0, more - rest) / max(1.0, many - few)
    rest = max(0.0, rest - few * sample_ns)
    return {"share": (2 * HZ * sample_ns + rest + others) / 1e7, "us": sample_ns / 1e3, "others": (rest + others) / 1e7, "peak_kib": peak}


def sizes(tree, n):
    """Bytes of a sample, by the difference of a long recording and a short one; a switch, of which a busy machine has many, is 6."""
    found = {}
    for what in ("turns", "leaves"):
        counts = []
        for rounds in (n, 4 * n):
            path = recorded(tree, ["--sample", "9973"], [tree.program("bench_work"), what, rounds])[2]
            samples = info(tree, path)[1]
            counts.append((path.stat().st_size - 6 * samples.get("switches", 0), samples["samples"]))
        found[what] = max(0.0, (counts[1][0] - counts[0][0]) / max(1, counts[1][1] - counts[0][1]))
    return found


def switch_size(tree, n):
    counts = []
    for rounds in (n, 4 * n):
        path = recorded(tree, [], [tree.program("bench_work"), "sleeps", rounds])[2]
        counts.append((path.stat().st_size, info(tree, path)[1]["switches"]))
    return {"bytes": (counts[1][0] - counts[0][0]) / max(1, counts[1][1] - counts[0][1])}


# ---- how true it is

def judged(tree, n):
    return measure.figures(measure.run([tree.program("bench_judge"), n, tree.program("bench_burner"), "split", 600])[0])


def attribution(tree, seconds):
    """The largest deviation of a function's share, and samples in none of them."""
    _, _, path = recorded(tree, ["--sample", "9973"], [tree.program("bench_burner"), "split", seconds])
    true, counts, n = {"half": 50, "third": 30, "fifth": 20}, collections.Counter(), 0
    for row in table(tree, path, "samples"):
        functions = {name for frame in row["frames"].split(";") for name in frame.split(" (")[0].split(" < ")}
        counts[next(iter(functions & set(true)), "")] += 1
        n += 1
    return {"points": max(abs(100 * counts[name] / n - share) for name, share in true.items()), "elsewhere": 100 * counts[""] / n, "n": n, "error_ns": info(tree, path)[1]["error_ns"]}


def lives(tree, n):
    """Time on a processor by its switches against the thread's own clock, from its first sleep to the end of its last, and what a life has beside running and
    waiting; in %."""
    said, _, path = recorded(tree, [], [tree.program("bench_work"), "sleeps", n])
    rows = list(table(tree, path, "switches"))
    sleeps = [i for i, row in enumerate(rows) if row["what"] == "switch_out" and row["reason"] not in ("32", "108")]  # neither preempted nor dead
    rows = rows[sleeps[0]:sleeps[-1] + 2]
    times = {"switch_in": 0, "switch_out": 0}
    for row, after in zip(rows, rows[1:]):
        times[row["what"]] += int(after["time_ns"]) - int(row["time_ns"])
    return {"cpu": abs(100 * times["switch_in"] / said["cpu_ns"] - 100), "life": abs(100 * sum(times.values()) / (int(rows[-1]["time_ns"]) - int(rows[0]["time_ns"])) - 100)}


def readiness(tree, n):
    """Time ready for a processor by wake-ups and switches against the scheduler's own account, in %; -1 where it is not root that records."""
    if os.geteuid():
        return {"ready": -1.0}
    said, _, path = recorded(tree, ["--waits"], [tree.program("bench_work"), "ready", n])
    pid = next(process["pid"] for process in info(tree, path)[0]["processes"] if "bench_work" in process["name"])
    moments = [(int(row["time_ns"]), row["what"], row["reason"] == "32") for row in table(tree, path, "switches") if int(row["tid"]) == pid]
    moments += [(int(row["time_ns"]), "woken", True) for row in table(tree, path, "wakeups") if int(row["tid"]) == pid]
    total, since = 0, None
    for at, what, is_ready in sorted(moments):
        if what == "switch_in":
            total, since = total + (at - since if since else 0), None
        elif is_ready and since is None:
            since = at
    return {"ready": abs(100 * total / max(1, said["ready_ns"]) - 100)}


def attach(tree, n):
    """CPU seconds until all threads of a running program are sampled, the recorder's start included."""
    program = measure.spawn([tree.program("bench_work"), "crowd", n], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program.stdout.readline()
    path = tree.work / "sample_attach.strobe"
    path.unlink(missing_ok=True)
    try:
        _, used = measure.run([tree.strobe, "record", "-q", "--sample", HZ, "--for", "0.1s", "--pid", program.pid, "-o", path])
    finally:
        program.stdin.close()
        program.wait()
    return {"s": used.cpu_s}


def symbols(tree, seconds):
    """CPU seconds for the names of a Python's run, those of what was sampled apart."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = f"import json,time\nend=time.process_time()+{seconds}\nwhile time.process_time()<end: json.loads(json.dumps(list(range(300))))\nprint('BENCH {{\"s\": %f}}' % time.process_time())"
    said, used, _ = recorded(tree, [], [sys.executable, "-c", code])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"s": max(0.0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - used.cpu_s - said["s"])}


def python_split(tree, seconds, python):
    said, _, path = recorded(tree, [], [python, SPLIT, seconds])
    counts = {"seventy": 0, "thirty": 0}
    n = with_frames = 0
    for row in table(tree, path, "samples"):
        n += 1
        name = next((name for name in counts if f"{name} (split.py" in row["frames"]), None)
        with_frames += "(split.py" in row["frames"]
        if name:
            counts[name] += 1
    true = float(said.split()[0])
    return {"points": abs(100 * counts["seventy"] / max(1, sum(counts.values())) - true), "native": 100 * (1 - with_frames / max(1, n)), "n": n}


# ---- memory and locks

def added(tree, options, program, what, n):
    """What recording adds to a pair, and the bytes of an event; bare and recorded by turns."""
    bare, ours, size = [], [], 0
    for _ in range(3):
        bare.append(measure.figures(measure.run([tree.program(program), what, n])[0])["ns"])
        said, _, path = recorded(tree, ["--no-sample", *options], [tree.program(program), what, n], "sample_memory")
        ours.append(said["ns"])
        size = path.stat().st_size / (2 * n)
    return {"ns": max(0.0, min(ours) - min(bare)), "bytes": size}


def python_objects(tree, options, n):
    bare, ours = [], []
    for _ in range(3):
        bare.append(measure.figures(measure.run([sys.executable, OBJECTS, n])[0])["ns"])
        said, _, path = recorded(tree, ["--no-sample", *options], [sys.executable, OBJECTS, n], "sample_python")
        ours.append(said["ns"])
    events = json.loads(measure.run([tree.strobe, "info", "--json", path])[0])["events"] / n
    events = max(events, 6)  # of a turn: a list, its array, a text, two numbers, and as many ends; sampled ones count, too
    return {"ns": max(0.0, min(ours) - min(bare)) / events, "bytes": path.stat().st_size / (events * n)}


def call_cost(tree, n):
    """What a system call costs the program more with --syscalls than with samples alone, by turns; 0 where it is not root that records."""
    code = f"import os,time\nf=os.getppid\nb=time.process_time()\nfor i in range({n}): f()\nprint('BENCH {{\"ns\": %f}}' % ((time.process_time()-b)*1e9/{n}))"
    plain, traced = [], []
    for _ in range(3):
        plain.append(recorded(tree, [], [sys.executable, "-S", "-c", code], "sample_calls")[0]["ns"])
        traced.append(recorded(tree, ["--syscalls"], [sys.executable, "-S", "-c", code], "sample_calls")[0]["ns"])
    return {"us": max(0.0, min(traced) - min(plain)) / 1e3}


def plan(bench):
    quick = bench.quick
    n, seconds, pairs = (20_000, 1, 20_000) if quick else (1_000_000, 5, 1_000_000)
    python = sys.executable
    measure.run([bench.tree.program("bench_clock"), HZ, "true"])  # fails where the kernel gives no samples
    trials = [
        Trial("program", {"bare": lambda tree: turns(tree, n), "clock": lambda tree: turns(tree, n, [tree.program("bench_clock"), HZ]),
                          "strobe": lambda tree: recorded(tree, [], [tree.program("bench_work"), "turns", n, 2])[0]},
              [Figure("sample.program", "program's slow-down at 997 Hz, 16 KiB of stack, by the run without", "×", "strobe turn_ns", "bare turn_ns", narrow=0.01, bar=1.025),
               Figure("sample.clock", "— under the bare clock, by the run without", "×", "clock turn_ns", "bare turn_ns", narrow=0.01, is_context=True),
               Figure("sample.over", "— with samples, by the bare clock", "×", "strobe turn_ns", "clock turn_ns", narrow=0.01, bar=1.003)]),
        Trial("recorder", {"strobe": lambda tree: share(tree, seconds, [tree.program("bench_work"), "turns", 1_000_000_000, 2])},
              [Figure("sample.recorder", "recorder, two busy processors, of a core", "%", "strobe share", narrow=0.1, bar=1),
               Figure("sample.recorder.us", "— CPU time of a sample", "µs", "strobe us", narrow=0.1),
               Figure("sample.recorder.others", "— of it without any sample", "%", "strobe others", narrow=0.1),
               Figure("sample.recorder.peak", "— memory", "KiB", "strobe peak_kib", count=True, bar=24 * 1024)]),
        Trial("python recorder", {"strobe": lambda tree: share(tree, seconds, [python, SPLIT, 600])},
              [Figure("sample.python.recorder", "recorder, two busy processors, Python's frames, of a core", "%", "strobe share", narrow=0.1, bar=1),
               Figure("sample.python.us", "— CPU time of a sample", "µs", "strobe us", narrow=0.1)]),
        Trial("python", {"strobe": lambda tree: python_split(tree, 1 if quick else 5.2, python)},
              [Figure("sample.python.points", "Python's split of 70 to 30: off by", "points", "strobe points", plain=True, narrow=1, grain=0.5, bar=1.5),
               Figure("sample.python.native", "— samples without Python's frames", "%", "strobe native", plain=True, narrow=1, grain=2),
               Figure("sample.python.n", "— samples", "samples", "strobe n", count=True)], rounds=0 if quick else 8),
        Trial("bytes", {"strobe": lambda tree: sizes(tree, n // 16)},
              [Figure("sample.bytes", "bytes on disk of a sample, 23 frames", "bytes", "strobe turns", count=True, bar=4),
               Figure("sample.bytes.leaves", "— every stack with another innermost address", "bytes", "strobe leaves", count=True, bar=12)], rounds=2 if quick else 3),
        Trial("switches", {"strobe": lambda tree: {**switch_size(tree, 500 if quick else 5000), **lives(tree, 500 if quick else 20000)}},
              [Figure("sample.switch", "bytes on disk of a switch, out and in", "bytes", "strobe bytes", count=True, bar=8),
               Figure("sample.cpu", "time on a processor by switches, off the thread's own clock by", "%", "strobe cpu", plain=True, narrow=1, grain=0.5, bar=0.5),
               Figure("sample.life", "on and off together, off a thread's life by", "%", "strobe life", plain=True, narrow=1, grain=0.1, bar=0.1)], rounds=2 if quick else 3),
        Trial("ready", {"strobe": lambda tree: readiness(tree, 50 if quick else 2000)},
              [Figure("sample.ready", "time ready for a processor, off the scheduler's account by", "%", "strobe ready", plain=True, narrow=1, grain=5, bar=5)], rounds=2 if quick else 3),
        Trial("unwinding", {"strobe": lambda tree: judged(tree, 400 if quick else 2000)},
              [Figure("sample.unwind", "unwinding, no frame pointers: a frame", "ns", "strobe frame_ns", narrow=0.1, bar=100),
               Figure("sample.unwind.other", "— stacks that are not libdw's", "%", "strobe other", count=True, bar=0.5),
               Figure("sample.unwind.cut", "— stacks that do not reach the thread's start", "%", "strobe cut", count=True, bar=0.5)], rounds=2 if quick else 8),
        Trial("attribution", {"strobe": lambda tree: attribution(tree, 0.4 if quick else 4.5)},
              [Figure("sample.points", "a known split of 50, 30 and 20: off by", "points", "strobe points", plain=True, narrow=1, grain=0.5, bar=1),
               Figure("sample.elsewhere", "— samples in none of the functions", "%", "strobe elsewhere", plain=True, narrow=1, grain=0.2, bar=0.5),
               Figure("sample.n", "— samples", "samples", "strobe n", count=True),
               Figure("sample.error", "clock of samples against that of zones: at most off by", "ns", "strobe error_ns", count=True, bar=50)], rounds=2 if quick else 3),
        Trial("attach", {"strobe": lambda tree: attach(tree, 100 if quick else 1000)},
              [Figure("sample.attach", "attaching to 1,000 threads, CPU time", "s", "strobe s", plain=True, narrow=0.3, grain=0.1, bar=0.5)], rounds=2 if quick else 8),
        Trial("symbols", {"strobe": lambda tree: symbols(tree, 0.2 if quick else 2)},
              [Figure("sample.symbols", "names of a Python's run, CPU time", "s", "strobe s", plain=True, narrow=0.3, grain=0.1, bar=0.5)], rounds=2 if quick else 3),
        Trial("calls", {"strobe": lambda tree: call_cost(tree, 2_000 if quick else 50_000)},
              [Figure("sample.call", "a system call with --syscalls: added to the program", "µs", "strobe us", plain=True, narrow=0.3, grain=0.3, bar=2.5)], rounds=2 if quick else 3),
        Trial("memory", {"all": lambda tree: added(tree, ["--memory=all"], "bench_blocks_fp", "pairs", pairs), "tables": lambda tree: added(tree, ["--memory=all"], "bench_blocks", "pairs", pairs),
                         "sampled": lambda tree: added(tree, ["--memory"], "bench_blocks", "pairs", pairs), "locks": lambda tree: added(tree, ["--locks"], "bench_blocks", "locks", pairs),
                         "objects": lambda tree: python_objects(tree, ["--memory=all"], pairs // 5), "some": lambda tree: python_objects(tree, ["--memory"], pairs // 5)},
              [Figure("sample.all", "malloc and free, every block with its stack of 23 frames: added", "ns", "all ns", plain=True, grain=5, bar=70),
               Figure("sample.all.tables", "— without frame pointers", "ns", "tables ns", plain=True, grain=5, bar=700),
               Figure("sample.all.bytes", "— bytes on disk of an event", "bytes", "all bytes", count=True, bar=2),
               Figure("sample.sampled", "— sampled: added", "ns", "sampled ns", plain=True, grain=2, bar=6),
               Figure("sample.objects", "Python's allocators, every block with its stack: an event adds", "ns", "objects ns", plain=True, grain=5, bar=10),
               Figure("sample.objects.bytes", "— bytes on disk of an event", "bytes", "objects bytes", count=True, bar=3),
               Figure("sample.objects.sampled", "— sampled: an event adds", "ns", "some ns", plain=True, grain=2, bar=10),
               Figure("sample.mutex", "mutex that nobody waits for, waits recorded: added", "ns", "locks ns", plain=True, grain=1, bar=3)]),
    ]
    rows = [[figure.title, f"{{{figure.key}}}", "" if figure.bar is None else f"{figure.bar:g} {figure.unit}"] for trial in trials for figure in trial.figures]
    return trials, [{"head": ["what nobody marked", "", "at most"], "rows": rows}]
