#!/usr/bin/env python3
"""test_power.py BUILD [IMAGES] [CLASS] - power cuts: what was synced is there, what is missing is named.

A writer's writes and syncs are logged (power_log.c); from the log the files that a disk may show after a power cut are made
(images.py), mended by `strobe recover`, and read by the second reader.

Recording  `strobe record` of a program of several processes and threads, over an older trace
Writer     blocks by the hundred, so that there are indices, and the reserved ledger
Recovery   the power is cut again, while `strobe recover` mends such a file
"""
import concurrent.futures
import os
import struct
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "death")]
import death  # noqa: E402
import images  # noqa: E402
import strobe_check  # noqa: E402
from strobe_format import FormatError  # noqa: E402

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
IMAGES = int(sys.argv[2]) if len(sys.argv) > 2 else 300
SEED = int(os.environ.get("STROBE_POWER_SEED", "1"))
FASTER = 16     # syncs, so that a short recording has several
WORKERS = 2
NOTE = b"power cut"
LEDGER_RECORDS = 200    # power_writer.c
INDEX = 3


def wait_until(condition, seconds=60):
    """Until it is true; the limit is for a test that hangs."""
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def preload(place, trace, log, faster=1):
    """The environment of a logged writer."""
    return place.env("power_log", POWER_TRACE=trace, POWER_LOG=log, POWER_FASTER=str(faster))


def log_writer(place, command, trace, log, **more):
    """Run a writer to its end."""
    done = subprocess.run(command, env=preload(place, trace, log, **more), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}"
    return images.read_log(log)


def record(place):
    """A recording over an older trace: its log. It goes on until there were syncs and blocks enough."""
    log = os.path.join(place.dir, "record.log")
    with open(place.trace, "wb") as file:
        file.write(old_trace(place))
    pages = place.pages(4)
    command = [place.strobe, "record", "-q", "-o", place.trace, "--", place.program("death_emitter"), pages.path, "tree", "2", "2", "40000"]
    with open(place.errors, "wb") as errors, subprocess.Popen(command, env=preload(place, place.trace, log, FASTER),
                                                              stdin=subprocess.DEVNULL, stdout=errors, stderr=errors) as recorder:
        def enough():
            ops = images.read_log(log) if os.path.exists(log) else []
            return recorder.poll() is not None or (sum(op.kind == images.SYNC_END for op in ops) >= 12 and
                                                   sum(op.kind == images.WRITE for op in ops) >= 20)
        wait_until(enough)
        pages.stop()
        code = recorder.wait(60)
    place.counted = None    # its processes have ended; workers get the place
    assert code == 0, f"record: {code}: {place.stderr()}"
    return images.Log(images.read_log(log), old_trace(place))


def old_trace(place):
    """The trace that was there before."""
    path = os.path.join(place.dir, "old.strobe")
    if not os.path.exists(path):
        subprocess.run([place.program("power_writer"), path, "40", "9"], check=True)
    with open(path, "rb") as file:
        return file.read()


class Verdict:
    """A mended image against the log that it was made from."""

    def __init__(self, place, name, wanted, promised):
        """wanted: {offset: bytes} of all blocks that the log has, in the order of the file; promised: offsets of those that must be
        there, None for a file of which nothing is promised."""
        self.place, self.path, self.wanted, self.promised = place, name, wanted, promised
        self.problems = []

    def judge(self, data, ledger=0):
        """What is wrong with it."""
        with open(self.path, "wb") as file:
            file.write(data)
        done = self.place.run("recover", self.path)
        if done.returncode:
            if self.promised is None and done.stderr.startswith("strobe"):
                return []
            return [f"recover: {done.returncode}: {done.stderr}"]
        try:
            checker = strobe_check.Checker(self.path, True, True)
            self.problems += checker.run()
        except FormatError as error:    # head and ledger were never synced
            return [] if self.promised is None else [f"second reader: {error}"]
        self.compare(data, checker, ledger)
        return self.problems

    def compare(self, data, checker, ledger):
        """Blocks, holes, words of loss."""
        trace, whole = checker.trace, b"STRBEND\n" in data[-32:-24]
        found = {block.offset: block.seq for block in trace.blocks}
        left = blocks_left(self.wanted, data)
        missing = [at for at in self.promised or () if at not in found]
        if missing:
            self.problems.append(f"synced blocks are missing: {missing}")
        missing = [at for at in left if at not in found]
        if missing and self.promised is not None:
            self.problems.append(f"whole blocks are missing: {missing}")
        if self.promised is None:
            return
        last = max(left, default=0)
        lost = sum(at < last for at in self.wanted) - sum(at < last for at in left)
        told = sum(hole.n_blocks for hole in trace.holes)
        if lost != told:
            self.problems.append(f"{lost} blocks are lost before the last one left, the holes are of {told}")
        if not whole and not any(record.name == "note" and NOTE in record.fields[1] for record in trace.records):
            self.problems.append("no note says that the end may be missing")
        if sum(loss[3] for loss in trace.reserved_losses) < ledger:
            self.problems.append(f"the ledger has {trace.reserved_losses}, {ledger} was synced")
        self.info(lost, lost - sum(at < last and at not in left and block[4] == INDEX for at, block in self.wanted.items()), whole)

    def info(self, lost, n_of_use, whole):
        """What `strobe info` and a command that reads no events say of it. An INDEX that is lost takes nothing with it."""
        if n_of_use and "holes" not in self.place.run("stats", self.path).stderr:
            self.problems.append(f"{n_of_use} blocks are lost, and stats says nothing of holes")
        info = self.place.run("info", self.path)
        if info.returncode:
            self.problems.append(f"info: {info.returncode}: {info.stderr}")
        if lost and "holes" not in info.stdout:
            self.problems.append(f"{lost} blocks are lost, and info says nothing of holes")
        if (lost or not whole) and "coverage: 100.00 %" in info.stdout:
            self.problems.append("blocks are lost, and coverage is 100 %")


def blocks_of(log, first, last):
    """{offset: bytes} of the blocks that were written, in the order of the file. No block is written over another."""
    return dict(log.blocks(first, last))


def blocks_left(blocks, data):
    """Offsets of those that an image has; zeros behind a block, up to a multiple of 8, are none of it."""
    left = []
    for at, block in blocks.items():
        n = 72 + sum(struct.unpack_from("<II", block, 16))
        if data[at:at + n] == block[:n]:
            left.append(at)
    return left


def synced_ledger(log, n):
    """Losses in the newest ledger slot among the first n entries (power_writer.c: each of its records counts the slots)."""
    return LEDGER_RECORDS * sum(op.kind == images.WRITE and op.data[:8] == b"STRBLEDG" for op in log.ops[:n])


def one_cut(place, log, seed, counted=False):
    """Make the image of one power cut, and judge it."""
    cut = images.Cut(log, seed)
    wanted = blocks_of(log, 0, cut.at)
    head = any(op.kind == images.WRITE and op.at == 0 for op in log.ops[:cut.n_durable])
    promised = set(blocks_of(log, 0, cut.n_durable)) & set(wanted) if head else None
    path = os.path.join(place.dir, f"cut-{os.getpid()}.strobe")
    data = cut.image()
    ledger = synced_ledger(log, cut.n_durable) if counted else 0
    problems = Verdict(place, path, wanted, promised).judge(data, ledger)
    return keep(place, data, [f"seed {seed}, {cut.mode} at {cut.at} of {len(log.ops)}, {cut.n_durable} durable: {text}" for text in problems])


def keep(place, data, problems):
    """With STROBE_POWER_KEEP set, a failed image stays there."""
    folder = os.environ.get("STROBE_POWER_KEEP")
    if problems and folder:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, problems[0].split(",")[0].replace(" ", "-") + ".strobe"), "wb") as file:
            file.write(data)
    return problems


def cut_again(place, log, seed):
    """A power cut, a recovery, and a power cut in the midst of it."""
    first = images.Cut(log, seed)
    if not first.n_durable:
        return []
    data = first.image()
    path = os.path.join(place.dir, f"again-{os.getpid()}.strobe")
    with open(path, "wb") as file:
        file.write(data)
    second_path = os.path.join(place.dir, f"again-{os.getpid()}.log")
    if os.path.exists(second_path):
        os.unlink(second_path)
    second = images.Log(log_writer(place, [place.strobe, "recover", path], path, second_path), data)
    blocks = blocks_of(log, 0, first.at)
    left = {at: blocks[at] for at in blocks_left(blocks, data)}
    problems = []
    if not second.ops:
        return []   # it was whole
    for i in range(4):
        cut = images.Cut(second, seed * 16 + i)
        verdict = Verdict(place, path, left, set(left))
        verdict.compare = lambda data, checker, ledger: verdict.problems.extend(
            f"block {at} was there before the recovery" for at in left if at not in {b.offset for b in checker.trace.blocks})
        problems += [f"seed {seed}, {i}, {cut.mode} at {cut.at} of {len(second.ops)}: {text}" for text in verdict.judge(cut.image())]
    return keep(place, data, problems)


class Base(unittest.TestCase):
    """Images by the hundred."""

    def cuts(self, place, function, log, share, *more):
        """As many as this class's share of all; none may have a problem."""
        n = max(1, IMAGES * share // 100)
        start = time.time()
        with concurrent.futures.ProcessPoolExecutor(WORKERS) as pool:
            wait = [pool.submit(function, place, log, seed, *more) for seed in range(SEED, SEED + n)]
            problems = [problem for result in wait for problem in result.result()]
        print(f"{type(self).__name__}: {n} power cuts, {len(log.ops)} entries in the log, {len(log.ends)} syncs, "
              f"{time.time() - start:.1f} s, {len(problems)} findings", flush=True)
        self.assertFalse(problems, "\n".join(problems[:40]))

    def look(self, log):
        """What goes for every log."""
        kinds = [op.kind for op in log.ops]
        self.assertNotIn(images.MAPPED, kinds, "the trace is mapped for writing: the log does not see that")
        trailer = next(i for i, op in enumerate(log.ops) if op.kind == images.WRITE and op.data[:8] == b"STRBEND\n")
        self.assertEqual(log.n_durable(trailer), trailer - 2, "what the trailer calls whole is not on the disk before it")


class Recording(Base):
    """The real recorder."""

    def find_name(self, log):
        """What is synced is found under its name."""
        first = next(i for i, op in enumerate(log.ops) if op.kind == images.WRITE)
        end = next(i for i in log.ends if i > first)
        self.assertIn(images.DIR_END, [op.kind for op in log.ops[:end]], "the file's name is not on the disk when its first sync ends")

    def test_a_power_cut_takes_nothing_that_was_synced_and_the_rest_is_named(self):
        """Over an older trace."""
        death.adopt_orphans()
        with death.Place(BUILD) as place:
            log = record(place)
            self.look(log)
            self.find_name(log)
            self.cuts(place, one_cut, log, 40)


class Writer(Base):
    """Many blocks."""

    def test_a_power_cut_takes_nothing_that_was_synced_and_the_rest_is_named(self):
        """With indices of two levels' worth of blocks, and the ledger."""
        with death.Place(BUILD) as place:
            trace = os.path.join(place.dir, "w.strobe")
            log = images.Log(log_writer(place, [place.program("power_writer"), trace, "300", "1"], trace, trace + ".log"))
            self.look(log)
            self.cuts(place, one_cut, log, 40, True)


class Recovery(Base):
    """Twice."""

    def test_a_power_cut_while_a_file_is_mended_takes_nothing_that_was_left(self):
        """Four cuts in each recovery."""
        with death.Place(BUILD) as place:
            trace = os.path.join(place.dir, "w.strobe")
            log = images.Log(log_writer(place, [place.program("power_writer"), trace, "270", "2"], trace, trace + ".log"))
            self.cuts(place, cut_again, log, 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
