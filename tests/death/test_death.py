#!/usr/bin/env python3
"""test_death.py BUILD CLASS - kill programs and recorders; nothing that was emitted may be missing.

Programs   the recorded programs are killed: everything is in the file
Recorder   the recorder is killed, at random moments and around its writes; `strobe recover` brings the rest
Both       likewise, and then the programs
Million    one thread, a million zones, SIGKILL: exactly those
PowerCut   pages written since the last sync are zeros: the file opens, and says what is missing
"""
import concurrent.futures
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import death  # noqa: E402

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
ROUNDS = int(os.environ.get("STROBE_DEATH_ROUNDS", "100"))
SEED = int(os.environ.get("STROBE_DEATH_SEED", "1"))
WORKERS = 3
PROCS, THREADS = 4, 4


def start_tree(place, pause_us, long_texts=False, options=(), **more):
    """The recorder and the tree of programs, all threads emitting."""
    pages = place.pages(PROCS * THREADS)
    command = [place.program("death_emitter"), pages.path, "tree", str(PROCS), str(THREADS), str(pause_us)]
    recorder = place.record(command + ["long"] * long_texts, ["-q", *options], **more)
    return pages, recorder


def kill_programs(seed):
    """One round of Programs."""
    rng = random.Random(seed)
    death.adopt_orphans()
    with death.Place(BUILD) as place:
        pages, recorder = start_tree(place, rng.choice([0, 200, 1000]), long_texts=True)
        pages.wait_ready(PROCS * THREADS)
        time.sleep(rng.random() * 0.05)
        *children, main = pages.pids()
        for pid in children:
            death.kill(pid)
        death.wait_gone(children)
        death.kill(main)
        code = recorder.wait(30)
        judge = death.Judge(place.trace, closed=True, pattern=death.LONG_PATTERN)
        problems = judge.compare(pages)
        if code != 128 + signal.SIGKILL:
            problems.append(f"exit code {code}: {place.stderr()}")
        if judge.facts["processes"] != PROCS or judge.facts["threads"] != PROCS * THREADS:
            problems.append(f"{judge.facts['processes']} processes, {judge.facts['threads']} threads")
        problems += [f"left behind: {path}" for path in place.leftovers()]
        return keep(problems, place, f"programs seed {seed}")


def fault_of(rng):
    """Where the recorder dies: in one of its writes, or (None) at any moment."""
    if rng.random() < 0.5:
        return None
    return f"{rng.choice(['kill-before', 'kill-half', 'kill-after', 'kill-after'])}:{rng.randrange(3, 16)}"


def kill_recorder(seed, both):
    """One round of Recorder or Both."""
    rng = random.Random(seed)
    death.adopt_orphans()
    with death.Place(BUILD) as place:
        fault = fault_of(rng)
        more = {"preload": "fault_io", "FAULT_IO": fault} if fault else {}
        if rng.random() < 0.15:     # a pool that is too small: losses before and after the kill
            pages, recorder = start_tree(place, 100, options=["--policy", "drop", "--max-memory", "512K"], **more)
        else:
            pages, recorder = start_tree(place, rng.choice([500, 3000, 3000, 3000]), **more)
        pages.wait_ready(PROCS * THREADS)
        if fault:
            with contextlib.suppress(subprocess.TimeoutExpired):
                recorder.wait(2)
        else:
            time.sleep(rng.random() * 0.12)
        death.kill(recorder.pid)
        code = recorder.wait(60)
        pids = pages.pids()
        if both:
            for pid in pids:
                death.kill(pid)
        else:
            time.sleep(rng.random() * 0.05)
            pages.stop()
        death.wait_gone(pids)
        where = f"{'both' if both else 'recorder'} seed {seed} fault {fault} code {code}"
        problems = []
        if seed % 4 == 0:
            problems += death.Judge(place.trace, pattern=death.PATTERN).compare(pages, drops=True, lower=False)
        info = place.run("info", place.trace)
        if info.returncode:
            problems.append(f"info before recovery: {info.returncode}: {info.stderr}")
        done = place.run("recover", place.trace)
        if done.returncode:
            problems.append(f"recover: {done.returncode}: {done.stderr}")
        judge = death.Judge(place.trace, closed=True, pattern=death.PATTERN)
        problems += judge.compare(pages, drops=True)
        return keep(problems, place, where)


def keep(problems, place, where):
    """With STROBE_DEATH_KEEP set, a failed round's folder stays there."""
    folder = os.environ.get("STROBE_DEATH_KEEP")
    if problems and folder:
        shutil.copytree(place.dir, os.path.join(folder, where.replace(" ", "-").replace(":", "-")), dirs_exist_ok=True)
    return [f"{where}: {problem}" for problem in problems]


class Base(unittest.TestCase):
    """Rounds in a few processes of their own."""

    def rounds(self, function, *columns):
        """Call it for each row; no problem may come back."""
        with concurrent.futures.ProcessPoolExecutor(WORKERS) as pool:
            problems = [problem for found in pool.map(function, *columns) for problem in found]
        self.assertFalse(problems, "\n".join(problems[:40]))


class Programs(Base):
    """The recorded programs are killed."""

    def test_everything_emitted_before_the_kill_is_in_the_file(self):
        """Counts between the two counters, events in order, all names told."""
        self.rounds(kill_programs, range(SEED, SEED + max(4, ROUNDS // 10)))


class Recorder(Base):
    """The recorder is killed."""

    def test_every_event_is_there_once_after_recovery(self):
        """At random moments and around its writes."""
        n = ROUNDS
        self.rounds(kill_recorder, range(SEED, SEED + n), [False] * n)


class Both(Base):
    """The recorder and then the programs are killed."""

    def test_every_event_is_there_once_after_recovery(self):
        """As Recorder, with nobody left."""
        n = max(4, ROUNDS // 5)
        self.rounds(kill_recorder, range(SEED, SEED + n), [True] * n)


class Million(unittest.TestCase):
    """One thread."""

    def test_a_million_zones_before_sigkill_are_a_million_zones(self):
        """Exactly."""
        with death.Place(BUILD) as place:
            pages = place.pages(1)
            code = place.record([place.program("death_emitter"), pages.path, "zones", "1000000"], ["-q"]).wait(30)
            judge = death.Judge(place.trace, closed=True)
            self.assertEqual(code, 128 + signal.SIGKILL)
            self.assertFalse(judge.compare(pages))
            self.assertEqual(sum(row["count"] for row in judge.facts["zones"]), 1000000)


class PowerCut(unittest.TestCase):
    """Zeros where a disk had not written yet."""

    def record(self, place):
        """A trace of all kinds of events; its pages."""
        pages, recorder = start_tree(place, 2000)
        pages.wait_ready(PROCS * THREADS)
        time.sleep(0.6)
        pages.stop()
        self.assertEqual(recorder.wait(30), 0)
        return pages

    def test_zeroed_pages_cost_their_blocks_and_are_named(self):
        """Any pages beyond the last sync, in a finished and in a killed file."""
        death.adopt_orphans()
        with death.Place(BUILD) as place:
            self.record(place)
            whole = death.Judge(place.trace, closed=True)
            self.assertFalse(whole.problems)
            with open(place.trace, "rb") as file:
                data = file.read()
            last = whole.trace.blocks[-1].offset
            for seed in range(SEED, SEED + max(5, ROUNDS // 10)):
                self.one_cut(place, whole, bytearray(data if seed % 2 else data[:last]), random.Random(seed))

    def one_cut(self, place, whole, data, rng):
        """Zero some pages, and compare what is left with the blocks that were not hit."""
        n_pages = len(data) // 4096
        synced = rng.randrange(17, n_pages - 1)
        hit = sorted({rng.randrange(synced, n_pages) for _ in range(rng.randrange(1, 6))})
        for page in hit:
            data[page * 4096:(page + 1) * 4096] = bytes(4096)
        path = os.path.join(place.dir, "cut.strobe")
        with open(path, "wb") as file:
            file.write(data)
        judge = death.Judge(path, holes=True)
        spared = [b for b in whole.trace.blocks if b.end <= len(data) and
                  not any(b.offset < (page + 1) * 4096 and b.offset + b.bytes > page * 4096 for page in hit)]
        found = {block.offset for block in judge.trace.blocks}
        missing = [block.offset for block in spared if block.offset not in found]
        self.assertFalse(missing, f"whole blocks at {missing} were not found, zeroed pages {hit}")
        self.assertFalse(judge.problems, "\n".join(judge.problems[:10]))
        lost = len(whole.trace.blocks) - len(found)
        last_found = max(found)
        inner = [b for b in whole.trace.blocks if b.offset < last_found and b.offset not in found]
        if inner:
            self.assertTrue(judge.trace.holes, f"{len(inner)} of {lost} lost blocks are before a good one: no hole is told")
            told = sum(hole.n_blocks for hole in judge.trace.holes if hole.end <= last_found)
            self.assertEqual(told, len(inner))
        info = place.run("info", path)
        self.assertEqual(info.returncode, 0, info.stderr)
        if inner:
            self.assertRegex(info.stdout + info.stderr, "(?i)hole|damaged|missing")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
