"""measure.py - runs programs alone or under `strobe record`, in rounds: every contestant once per round, each round in another order,
until the intervals of all figures are narrow enough or the time is over.

What disturbed a round is noted with it, and a disturbed round is marked; none is left out. The rule stands in is_disturbed().
SPDX-License-Identifier: MIT"""
import ctypes
import dataclasses
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import stats

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENOUGH_ROUNDS, MOST_ROUNDS, QUICK_ROUNDS = 8, 60, 2
SAY_S = 15  # between two lines of progress
LIMIT_S, QUICK_S, TURN_S = 90, 10, 300  # of a trial; of a family; of a program that is measured
STEAL, OTHERS, TIMES, MORE = 0.01, 0.05, 3, 20  # is_disturbed


class Failed(Exception):
    """A measured program did not end well; the text says which and how."""


@dataclasses.dataclass
class Tree:
    """A build tree: where its programs are and where files go."""
    build: pathlib.Path

    def __post_init__(self):
        self.build = pathlib.Path(self.build).resolve()
        self.strobe = self.build / "bin" / "strobe"
        self.work = self.build / "bench-out"
        self.work.mkdir(parents=True, exist_ok=True)

    def program(self, name):
        return str(self.build / "bin" / name)

    def has(self, path):
        """Is the file there, and made since this tree was built?"""
        return path.exists() and path.stat().st_mtime > self.strobe.stat().st_mtime


@dataclasses.dataclass
class Bench:
    """What a run of bench/run measures, and how thoroughly."""
    tree: Tree
    old: Tree = None  # with --against: the other commit's
    large: bool = False
    quick: bool = False
    peers: object = None
    began: float = 0  # when the family did, by the monotonic clock
    ends: float = float("inf")  # when the family has to: bench/run --minutes
    n_left: int = 1  # trials of it that have not ended

    def say(self, text):
        print(f"  {text}", file=sys.stderr, flush=True)

    def limit_of(self, trial):
        """Seconds that a trial may take: its own limit, and no more than its share of what is left of the family's time."""
        return min(trial.limit_s, max(0.0, self.ends - time.monotonic()) / max(1, self.n_left))


@dataclasses.dataclass
class Figure:
    """A number of a trial. `of` and `per` are "contestant measure"; less is better."""
    key: str
    title: str
    unit: str  # "×" for ratios
    of: str
    per: str = ""
    narrow: float = 0.03  # the half width, as a share of the value, that its claim needs
    plain: bool = False   # may be zero or negative: differences count, not ratios
    grain: float = 0.0    # what is smaller does not matter
    count: bool = False   # counted, not timed: the range of the rounds instead of an interval
    bar: float = None     # at most
    is_context: bool = False  # of the limit or of a run without Strobe: another commit changes nothing of it


@dataclasses.dataclass
class Trial:
    """Contestants that take turns: {name: function of a Tree to {measure: number}}, and the figures that come out."""
    name: str
    ours: dict
    figures: list
    peers: dict = dataclasses.field(default_factory=dict)
    rounds: int = 0  # exactly so many; 0: as many as it takes
    is_warmed: bool = True  # one turn each before the rounds: files are made, caches are warm
    limit_s: float = LIMIT_S


# ---- programs

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
        fields = open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()
        self.cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return self


def cpu_ns(pid):
    """CPU time of a living process so far, its children apart."""
    total = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(path.read_text().split()[0])
        except OSError:
            pass
    return total


def spawn(command, env=None, **more):
    return subprocess.Popen([str(c) for c in command], env={"STROBE_SAMPLE": "0", **os.environ, **(env or {})}, text=True, start_new_session=True, **more)


def end(process):
    """End a program that takes too long, and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def finish(process):
    """Wait for its end; its output, where that is a pipe. Failed after TURN_S."""
    try:
        return process.communicate(timeout=TURN_S)[0]
    except subprocess.TimeoutExpired:
        end(process)
        process.communicate()
        raise Failed(f"{process.args[0]} did not end within {TURN_S} s") from None


def run(command, env=None):
    """Run it; (its output, what it used)."""
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as output:
        process = spawn(command, env, stdout=output, stderr=errors)
        timer = threading.Timer(TURN_S, end, [process])
        timer.start()
        used = Used(process.pid).done()
        code = process.wait()
        timer.cancel()
        if used.wall_s >= TURN_S:
            raise Failed(f"{' '.join(map(str, command))}: did not end within {TURN_S} s")
        output.seek(0), errors.seek(0)
        if code:
            raise Failed(f"{' '.join(map(str, command))}: exit {code}\n{errors.read()[-500:]}")
        return output.read(), used


def run_exactly(tree, command):
    """Run it with its output thrown away, by the small program bench_used; wall_s, cpu_s, peak_kib."""
    return figures(run([tree.program("bench_used"), *command])[0])


def record(tree, command, name="", options=(), env=None):
    """Run it under `strobe record`; (figures, what the recorder used, path and size of the file)."""
    path = tree.work / f"{name or pathlib.Path(command[0]).name}.strobe"
    path.unlink(missing_ok=True)
    output, used = run([tree.strobe, "record", "-o", path, *options, "--", *command], {"BENCH_WAIT": "1", **(env or {})})
    used.path, used.bytes = path, path.stat().st_size
    return figures(output), used


# ---- disturbances

def migrations_counter():
    """A file with the migrations of this process and of all that it starts; None where the kernel has none for us."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    software, migrations, inherit = 1, 4, 2
    attr = struct.pack("<IIQQQQQ", software, 128, migrations, 0, 0, 0, inherit) + bytes(80)
    fd = ctypes.CDLL(None).syscall(number, attr, 0, -1, -1, 0) if number else -1
    return None if fd < 0 else os.fdopen(fd, "rb", buffering=0)


class Watch:
    """What happened around a round: steal and others' CPU time as shares of the cores, involuntary switches, migrations."""
    counter = migrations_counter()

    def __init__(self):
        self.before = self._look()

    def _look(self):
        ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        mine = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
        return {"all": sum(ticks[:8]), "busy": sum(ticks[:3]) + sum(ticks[5:7]), "steal": ticks[7],
                "mine": sum(used.ru_utime + used.ru_stime for used in mine) * os.sysconf("SC_CLK_TCK"),
                "switches": mine[0].ru_nivcsw, "migrations": struct.unpack("Q", self.counter.read(8))[0] if self.counter else None,
                "s": time.monotonic()}

    def done(self):
        now, before = self._look(), self.before
        spent = max(1, now["all"] - before["all"])
        others = now["busy"] - before["busy"] - (now["mine"] - before["mine"])
        return {"s": round(now["s"] - before["s"], 3), "steal": round((now["steal"] - before["steal"]) / spent, 4), "others": round(max(0.0, others / spent), 4),
                "switches": now["switches"] - before["switches"], "migrations": now["migrations"] - before["migrations"] if self.counter else None}


def is_disturbed(one, rounds):
    """More than 1 % of the cores' time stolen, or 5 % used by other programs; or three times as many involuntary switches or migrations as
    half of the rounds have, and 20 more."""
    def many(what):
        counts = [r[what] for r in rounds if r[what] is not None]
        return bool(counts) and one[what] > TIMES * statistics.median(counts) + MORE
    return one["steal"] > STEAL or one["others"] > OTHERS or many("switches") or many("migrations")


# ---- rounds

def contestants(trial, bench):
    """{name: function without arguments}. With another commit: ours from both trees, and no peer."""
    def turn(function, tree):
        return lambda: function(tree)
    if bench.old:
        return {f"{name}@{which}": turn(go, tree) for name, go in trial.ours.items() for which, tree in (("old", bench.old), ("new", bench.tree))}
    return {name: turn(go, bench.tree) for name, go in {**trial.ours, **trial.peers}.items()}


def one_round(turns, n, failed):
    """Each contestant once: every round starts with another one, and every second goes backwards."""
    names = [name for name in turns if name not in failed]
    at = n // 2 % max(1, len(names))
    order = names[at:] + names[:at]
    watch, found = Watch(), {}
    for name in order if n % 2 == 0 else order[::-1]:
        try:
            found[name] = turns[name]()
        except (Failed, OSError, KeyError, subprocess.SubprocessError) as err:
            failed[name] = f"{name}: {err!r}" if isinstance(err, KeyError) else f"{name}: {err}"
    return {"order": list(found), **watch.done(), "found": found}


def series(figure, rounds, which=""):
    """The figure's number in each round that has it."""
    def of(one, side):
        name, measure = side.split(" ")
        return one["found"].get(name + which, {}).get(measure)
    numbers = []
    for one in rounds:
        above, below = of(one, figure.of), of(one, figure.per) if figure.per else 1
        if above is not None and below:
            numbers.append(above / below)
    return numbers


def compared(figure, rounds):
    """Of both commits, and new : old in each round, or new - old where zero may be; a denominator that was not measured is left out."""
    alone = figure if series(figure, rounds, "@new") else dataclasses.replace(figure, per="")
    new, old = series(alone, rounds, "@new"), series(alone, rounds, "@old")
    if figure.plain or not all(old):
        return new, old, [a - b for a, b in zip(new, old)]
    return new, old, [a / b for a, b in zip(new, old)]


def estimate(figure, numbers):
    if figure.count and numbers:
        return statistics.median(numbers), min(numbers), max(numbers)
    return stats.estimate(numbers, figure.plain)


def are_narrow(trial, rounds, bench):
    for figure in trial.figures:
        numbers = compared(figure, rounds)[2] if bench.old else series(figure, rounds)
        if not numbers or figure.count or (bench.old and figure.is_context):
            continue
        value, low, high = stats.estimate(numbers, figure.plain)
        if not stats.is_narrow(value, low, high, figure.narrow) and not (low is not None and high - low <= figure.grain):
            return False
    return True


def is_enough(trial, rounds, bench, start, limit_s):
    now = time.monotonic()
    if bench.quick:
        return len(rounds) >= QUICK_ROUNDS or now - bench.began > QUICK_S
    if len(rounds) >= (trial.rounds or MOST_ROUNDS):
        return True
    spent = now - start
    is_short = len(rounds) < stats.FEWEST and spent < 2 * limit_s and bench.ends == float("inf")
    if spent * (1 + 1 / len(rounds)) > limit_s and not is_short:
        return True  # the next round would not fit; a few rounds may take twice the time to become an interval
    return len(rounds) >= ENOUGH_ROUNDS and not trial.rounds and are_narrow(trial, rounds, bench)


def run_trial(trial, bench):
    """The rounds, {contestant: why} of those that failed: as many rounds as the figures need, or as the time allows."""
    turns, rounds, failed, start = contestants(trial, bench), [], {}, time.monotonic()
    limit_s, said = bench.limit_of(trial), start
    if trial.is_warmed and not trial.rounds and not bench.quick and limit_s:
        one_round(turns, 0, failed)
    while limit_s and len(failed) < len(turns) and not (rounds and is_enough(trial, rounds, bench, start, limit_s)):
        rounds.append(one_round(turns, len(rounds), failed))
        if time.monotonic() - said > SAY_S and not bench.quick:
            said = time.monotonic()
            bench.say(f"{trial.name}: {len(rounds)} rounds in {said - start:.0f} s, {max(0, limit_s - (said - start)):.0f} s more at most")
    for one in rounds:
        one["disturbed"] = is_disturbed(one, rounds)
    bench.say(f"{trial.name}: {len(rounds)} rounds, {sum(one['disturbed'] for one in rounds)} disturbed, {time.monotonic() - start:.0f} s")
    for why in failed.values():
        bench.say(f"{trial.name}: without {why}")
    return {"name": trial.name, "seconds": time.monotonic() - start, "rounds": rounds, "failed": failed}


def judged(figure, low, high, n, rounds):
    """measured, or why not."""
    if low is None:
        return f"not measurable here: only {n} rounds in the time"
    if figure.count or not stats.is_void(low, high, figure.grain):
        return "measured"
    worst = {what: max(one[what] for one in rounds) for what in ("steal", "others")}
    return (f"not measurable here: between {low:.3g} and {high:.3g} after {n} rounds, {sum(one['disturbed'] for one in rounds)} of them disturbed "
            f"(stolen {100 * worst['steal']:.0f} %, other programs {100 * worst['others']:.0f} % at most)")


def results(trial, done, bench):
    """The trial's figures as objects for the history."""
    found = []
    for figure in trial.figures:
        new, old, numbers = compared(figure, done["rounds"]) if bench.old else (None, None, series(figure, done["rounds"]))
        if not done["rounds"] and not done["failed"]:
            found.append({"key": figure.key, "title": figure.title, "unit": figure.unit, "trial": trial.name, "of": figure.of, "per": figure.per, "value": None,
                          "low": None, "high": None, "n": 0, "disturbed": 0, "state": "not measurable here: no round in the time"})
            continue
        if not numbers or (bench.old and figure.is_context):
            continue
        value, low, high = estimate(figure, numbers)
        state = "quick" if bench.quick else judged(figure, low, high, len(numbers), done["rounds"])
        one = {"key": figure.key, "title": figure.title, "unit": figure.unit, "trial": trial.name, "of": figure.of, "per": figure.per, "value": value,
               "low": low, "high": high, "n": len(numbers), "disturbed": sum(r["disturbed"] for r in done["rounds"]), "state": state}
        if figure.bar is not None:
            one["bar"] = figure.bar
        if figure.count:
            one["counted"] = True
        if bench.old:
            is_ratio = not figure.plain and all(old)
            one.update(old=estimate(figure, old)[0], new=estimate(figure, new)[0], unit="×" if is_ratio else figure.unit, of_unit=figure.unit)
        found.append(one)
    return found


# ---- the machine and the other commit

def first_of(path, start, default):
    try:
        return next(line.split(":", 1)[1].strip() for line in open(path) if line.startswith(start))
    except (OSError, StopIteration):
        return default


def machine():
    """What the figures were measured on."""
    governor = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return {"cpu": first_of("/proc/cpuinfo", "model name", platform.machine()), "cores": os.cpu_count(), "virtual": "hypervisor" in open("/proc/cpuinfo").read(),
            "memory_gib": round(int(open("/proc/meminfo").readline().split()[1]) / 1048576), "kernel": platform.release(),
            "compiler": subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout.split("\n")[0],
            "governor": governor.read_text().strip() if governor.exists() else "not visible", "load": list(os.getloadavg()),
            "migrations": "counted" if Watch.counter else "not visible"}


def git(*words, cwd=ROOT):
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def other_tree(build, commit):
    """(hash, Tree) of another commit, built under build/against with the programs of this bench/: what is compared is Strobe alone."""
    commit = git("rev-parse", "--verify", f"{commit}^{{commit}}")
    folder = pathlib.Path(build).resolve() / "against" / commit[:12]
    source = folder / "tree"
    if not (folder / "unpacked").exists():
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        with subprocess.Popen(["git", "-C", str(ROOT), "archive", commit], stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-C", str(source)], stdin=archive.stdout, check=True)
        (folder / "unpacked").touch()
    print(f"building {commit[:10]}", file=sys.stderr, flush=True)
    shutil.rmtree(source / "bench", ignore_errors=True)
    shutil.copytree(ROOT / "bench", source / "bench", ignore=shutil.ignore_patterns("history", "__pycache__"))
    log = folder / "build.log"
    with open(log, "w") as out:
        for command in (["cmake", "--preset", "release", "-B", folder / "build", "-DSTROBE_TESTS=OFF"], ["cmake", "--build", folder / "build"],
                        ["cmake", "--build", folder / "build", "--target", "bench", "--", "-k", "0"]):
            code = spawn(command, cwd=source, stdout=out, stderr=out).wait()
            if code and "bench" not in command:
                raise Failed(f"{commit[:12]} could not be built: {log}")
    return commit, Tree(folder / "build")
