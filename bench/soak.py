#!/usr/bin/env python3
"""soak.py - a page follows a long recording, and another one asks all the while: bench/soak.py [--minutes M] [--rate EVENTS_PER_S] [--out FILE]; or
servers that were just started are asked of a trace that is there: bench/soak.py --file TRACE.

Every second it notes the memory of the recorder and of the viewer's server; every ten seconds the machine's load, and how
long each of the page's questions took, over a fresh connection with numbers of its own, in wall time and in CPU time of the thread that answered.
Then servers that were just started are asked the same of the finished file, whose pages are not in memory, and the file is verified.
It ends with a table: of each minute the rate and the memory, of each question the longest answers, and which bars hold. What fails on the way
(a question, the browser) is counted and stated, and the rest goes on; every process that it started is ended.
SPDX-License-Identifier: MIT"""
import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "viewer")]
sys.dont_write_bytecode = True
import client  # noqa: E402
import live  # noqa: E402
import measure  # noqa: E402

EVERY_S, THREADS, WIDTH, BUDGET, ROWS = 10, 3, 1600, 40000, 1000
PAGE_ENDS_S = 120  # for its last questions
SETTLED_S, FLAT_MIB, LEAST_RATE, MOST_MS = 60, 2, 3e6, 1000  # the bars: after the first minute ±2 MiB, at 3 M events/s, answers in 1 s


class Link:
    """What client.Page wants to know of a server that somebody else started."""

    def __init__(self, link):
        self.port, self.token = int(link.split(":")[2].split("/")[0]), link.split("token=")[1]


def memory_of(pid):
    """MiB of a process: all that is resident, and what of it is no file's."""
    rows = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: round(int(rows[field].split()[0]) / 1024, 3) for name, field in (("rss", "VmRSS"), ("own", "RssAnon"), ("peak", "VmHWM"))}


def cpu_of_threads(pid):
    """CPU ns of each thread so far."""
    found = {}
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            found[path.parent.name] = int(path.read_text().split()[0])
        except OSError:
            pass
    return found


class Asker:
    """A page that asks one server."""

    def __init__(self, link, pid, seed):
        self.page, self.pid, self.random = client.Page(link), pid, random.Random(seed)
        self.trace = None

    def timed(self, question, **fields):
        """(answer, {ms, cpu_ms}): the CPU time is that of the thread that had the most."""
        before, start = cpu_of_threads(self.pid), time.monotonic()
        answer = self.page.ask(question, **fields)
        took, after = time.monotonic() - start, cpu_of_threads(self.pid)
        return answer, {"ms": round(took * 1e3, 2), "cpu_ms": round(max((after[t] - before.get(t, 0) for t in after), default=0) / 1e6, 2)}

    def view(self, span):
        """A question for what a page of all tracks shows of some share of the trace, anywhere in it."""
        first, last = self.trace["range"]
        width = (last - first) * span
        begin = first + (last - first - width) * self.random.random()
        lanes = [[t["id"], 0, t["n_depths"] or 1] for t in self.trace["tracks"] if t["kind"] not in ("process", "device", "core")]
        return {"from": int(begin), "to": int(begin + width) + 1, "width": WIDTH, "budget": BUDGET, "lanes": lanes}

    def part(self):
        first, last = self.trace["range"]
        begin = first + (last - first) * self.random.random()
        return {"from": int(begin), "to": int(begin + (last - first) * 10 ** self.random.uniform(-5, -1))}

    def ask_all(self):
        """Each question once, with numbers of its own; {question: {ms, cpu_ms, share}}."""
        found = {}
        self.trace, found["trace"] = self.timed("trace")
        found["trace"]["read"] = self.trace["read"]
        _, found["view of all"] = self.timed("pixels", **self.view(1))
        _, found["view"] = self.timed("pixels", **self.view(10 ** self.random.uniform(-6, 0)))
        _, found["view of the end"] = self.timed("pixels", **{**self.view(0), "from": max(0, self.trace["range"][1] - 1e10), "to": self.trace["range"][1]})
        stats, found["sums"] = self.timed("stats", limit=1000)
        part, found["sums of a part"] = self.timed("stats", **self.part(), limit=1000)
        locs = stats["loc"] or part["loc"]
        _, found["histogram"] = self.timed("histogram", loc=self.random.choice(locs))
        rows, found["first rows"] = self.timed("instances", loc=self.random.choice(locs), sort="duration", limit=ROWS)
        _, found["first rows by time"] = self.timed("instances", loc=self.random.choice(locs), sort="time", limit=ROWS)
        _, found["flame graph of a part"] = self.timed("flame", **self.part(), mode="tree", limit=5000)
        hits, found["find"] = self.timed("find", text=f"kernel {self.random.randrange(170)}", width=WIDTH, limit=100)
        tracks = [t["id"] for t in self.trace["tracks"] if t["kind"] == "thread"]
        first, last = self.trace["range"]
        _, found["zone"] = self.timed("zone", track=self.random.choice(tracks), depth=self.random.randrange(7), at=int(first + (last - first) * self.random.random()), slack=10 ** 6)
        for name, answer in (("sums", stats), ("sums of a part", part), ("first rows", rows), ("find", hits)):
            found[name]["share"] = answer.get("share", 1)
        found["first rows"]["rows"], found["first rows"]["total"] = len(rows["t0"]), rows["total"]
        return found

    def until_exact(self, question, most_s, **fields):
        """Ask again until all of the trace is in the answer; {s, steps, share, slowest step}."""
        start, steps, slowest = time.monotonic(), 0, 0
        while True:
            answer, took = self.timed(question, **fields)
            steps, slowest = steps + 1, max(slowest, took["ms"])
            if answer.get("whole", answer.get("exact")) or time.monotonic() - start > most_s:
                return {"s": round(time.monotonic() - start, 2), "steps": steps, "share": answer.get("share", 1), "slowest_ms": slowest}

    def close(self):
        self.page.sock.close()


class Watch(threading.Thread):
    """The memory of some processes, once a second: rows of {s, name: {rss, own, peak}}, each a line of `log` at once."""

    def __init__(self, began, log, **pids):
        super().__init__(daemon=True)
        self.began, self.log, self.pids, self.rows, self.ended = began, log, pids, [], threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(1):
            try:
                self.rows.append({"s": time.monotonic() - self.began, **{name: memory_of(pid) for name, pid in self.pids.items()}})
                print(json.dumps(self.rows[-1]), file=self.log, flush=True)
            except (OSError, KeyError):  # it has ended
                return

    def end(self):
        self.ended.set()
        self.join()
        return self.rows


def sample(viewer, link, began, seed):
    """One round of questions. What fails is said, and is no answer."""
    found, asker = {"s": round(time.monotonic() - began, 1), "load": os.getloadavg()[0]}, None
    try:
        asker = Asker(link, viewer, seed)
        found["asked"] = asker.ask_all()
        found["events"], found["events_s"] = asker.trace["totals"]["events"], time.monotonic() - began
    except (OSError, EOFError, RuntimeError, KeyError, IndexError, ValueError, client.Refused) as error:
        found["failed"] = f"{type(error).__name__}: {error}"
    finally:
        if asker:
            asker.close()
    return found


def end_all(processes):
    for process in processes:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def follow(args, tree, path, log):
    """Record for so long, with a browser and with questions; (samples, memory by second, what the page found, what the program found)."""
    modules, zones = tree.build / "viewer" / "npm", int(args.rate / 2 * (args.minutes * 60 + 20))
    if not args.no_page:
        measure.run([measure.ROOT / "tests" / "viewer" / "setup.sh", modules])
    samples, began, started = [], time.monotonic(), []
    with open(tree.work / f"soak-{os.getpid()}.err", "w", encoding="utf-8") as errors, open(tree.work / f"soak-{os.getpid()}.page", "w+", encoding="utf-8") as seen:
        try:
            recorder = measure.spawn([tree.strobe, "record", "--live", "-o", path, "--", tree.program("bench_jobs"), zones, THREADS, 0, int(args.rate / 2)],
                                     {"BENCH_WAIT": "1", "DISPLAY": ""}, stdout=subprocess.PIPE, stderr=errors)
            started.append(recorder)
            link = recorder.stdout.readline().strip()
            viewer = live.viewer_of(recorder.pid)
            if not args.no_page:
                started.append(measure.spawn(["node", HERE / "live" / "page.mjs", modules / "node_modules", link, viewer, int(args.minutes * 60)], stdout=seen, stderr=errors))
            watch = Watch(began, log, recorder=recorder.pid, server=viewer)
            while time.monotonic() - began < args.minutes * 60 and recorder.poll() is None:
                due = began + (len(samples) + 1) * args.every
                time.sleep(max(0, due - time.monotonic()))
                samples.append(sample(viewer, Link(link), began, len(samples)))
                print(json.dumps(samples[-1]), file=log, flush=True)
            memory = watch.end()
            for page in started[1:]:
                try:
                    page.wait(PAGE_ENDS_S)
                except subprocess.TimeoutExpired:  # end_all ends it; it has no figures then
                    print("the page did not end by itself", file=errors)
            if recorder.poll() is None:  # a program that could not keep its pace would go on for long: the recorder passes it on
                recorder.send_signal(signal.SIGTERM)
            rest = recorder.stdout.read()
            recorder.wait()
        finally:
            end_all(started[::-1])
        seen.seek(0)
        return samples, memory, measure.figures(seen.read()), measure.figures(rest)


def by_minute(samples, memory):
    """[{minute, events_per_s, load, recorder: {rss, own}, server: …}]: of memory the least, the median and the most of the minute's seconds."""
    found, before = [], {"events": 0, "events_s": 0}
    for minute in range(int(memory[-1]["s"] // 60) + 1 if memory else 0):
        seconds = [m for m in memory if m["s"] // 60 == minute]
        asked = [s for s in samples if s["s"] // 60 == minute and "events" in s]
        if len(seconds) < 20 or not asked:
            continue
        last = asked[-1]
        row = {"minute": minute + 1, "events_per_s": (last["events"] - before["events"]) / (last["events_s"] - before["events_s"]), "load": last["load"]}
        for who in ("recorder", "server"):
            row[who] = {what: [round(f([s[who][what] for s in seconds]), 2) for f in (min, statistics.median, max)] for what in ("rss", "own")}
        found.append(row)
        before = last
    return found


def forget(path):
    """The file's pages leave the memory, as far as the system lets them."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def reopen(tree, path, rounds, log):
    """A server that was just started is asked of the file; [{question: …}] and its memory."""
    found = []
    for i in range(rounds):
        forget(path)
        start = time.monotonic()
        with client.Server(tree.strobe, str(path)) as server:
            asker = Asker(server, server.process.pid, 1000 + i)
            found.append({"opened_s": round(time.monotonic() - start, 3), "load": os.getloadavg()[0], "asked": asker.ask_all()})
            if i == rounds - 1:
                found[-1]["until exact"] = {"sums": asker.until_exact("stats", 120, limit=1000), "rows": asker.until_exact("instances", 120, loc=1, sort="duration", limit=ROWS),
                                            "find": asker.until_exact("find", 120, text="kernel 17", width=WIDTH, limit=100), "flame": asker.until_exact("flame", 120, **asker.part(), limit=5000)}
            asker.close()
            found[-1]["server"] = memory_of(server.process.pid)
        print(json.dumps(found[-1]), file=log, flush=True)
    return found


def verify(tree, path):
    """What `strobe info --verify` takes, as long as it may."""
    start = time.monotonic()
    with subprocess.Popen([str(tree.strobe), "info", "--verify", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return {"s": time.monotonic() - start, "cpu_s": used.ru_utime + used.ru_stime, "peak_mib": used.ru_maxrss / 1024, "exit": child.returncode}


def spread(minutes, who, what):
    """The least and the most of the minutes' medians, after the first minute."""
    values = [m[who][what][1] for m in minutes if m["minute"] * 60 > SETTLED_S]
    return [min(values), max(values)] if values else None


def slowest(rounds):
    """Of each question the median and the largest wall time, and the largest CPU time."""
    found, rounds = {}, [r for r in rounds if "asked" in r]
    for name in rounds[0]["asked"] if rounds else []:
        took = sorted(r["asked"][name]["ms"] for r in rounds)
        found[name] = {"p50_ms": took[len(took) // 2], "max_ms": took[-1], "max_cpu_ms": max(r["asked"][name]["cpu_ms"] for r in rounds)}
    return found


def bars(result):
    """[(bar, holds, what was seen)]."""
    found = []
    if "minutes" in result:
        least = min(m["events_per_s"] for m in result["by_minute"])
        found.append((f"{LEAST_RATE / 1e6:g} M events/s", result["events_per_s"] >= LEAST_RATE, f"{result['events_per_s'] / 1e6:.2f} M on the whole, {least / 1e6:.2f} M in the slowest minute"))
        found.append(("nothing dropped", result["dropped"] == 0, f"{result['dropped']} events"))
        for who in ("recorder", "server"):
            for what in ("rss", "own"):
                low, high = result[f"{who}_mib"][what] or [0, 0]
                found.append((f"{who}'s memory ({what}) ± {FLAT_MIB} MiB", high - low <= 2 * FLAT_MIB, f"{low:.1f} to {high:.1f} MiB"))
        found.append(("all questions answered", not result["failed"], f"{result['failed']} rounds failed"))
    for when in ("live", "fresh"):
        for name, took in result.get(when, {}).items():
            if took["max_ms"] > MOST_MS:
                found.append((f"{name}, {when}: {MOST_MS / 1000:g} s", False, f"{took['max_ms']:.0f} ms, of CPU time {took['max_cpu_ms']:.0f} ms"))
    return found


def table(result):
    lines = []
    if "by_minute" in result:
        lines.append("minute  M events/s  load   recorder rss  own     server rss  own      (MiB: median of the minute, most)")
        for m in result["by_minute"]:
            cells = [f"{m[who][what][1]:6.1f} {m[who][what][2]:6.1f}" for who in ("recorder", "server") for what in ("rss", "own")]
            lines.append(f"{m['minute']:6}  {m['events_per_s'] / 1e6:10.2f}  {m['load']:4.1f}   " + "  ".join(cells))
    for when in ("live", "fresh"):
        if result.get(when):
            lines += ["", f"{when + ', ms':24}  median  longest  most CPU time"]
            lines += [f"{name:24}  {t['p50_ms']:6.0f}  {t['max_ms']:7.0f}  {t['max_cpu_ms']:13.0f}" for name, t in result[when].items()]
    lines += [""] + [f"{'holds' if holds else 'FAILS':6} {bar}: {seen}" for bar, holds, seen in bars(result)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="a page follows a long recording, and another one asks all the while; or asks of a trace")
    parser.add_argument("--build", default=measure.ROOT / "build")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=3.2e6, help="events a second")
    parser.add_argument("--every", type=float, default=EVERY_S, help="seconds between rounds of questions")
    parser.add_argument("--rounds", type=int, default=5, help="servers that are started for the finished file")
    parser.add_argument("--no-page", action="store_true", help="no browser follows the recording, only the questions are asked")
    parser.add_argument("--keep", action="store_true", help="the trace stays")
    parser.add_argument("--file", type=pathlib.Path, help="record nothing: ask of this trace")
    parser.add_argument("--out", type=pathlib.Path, help="the result; BUILD/bench-out/soak.json if missing")
    args = parser.parse_args()
    tree = measure.Tree(args.build)
    path, out = args.file or tree.work / f"soak-{os.getpid()}.strobe", args.out or tree.work / "soak.json"
    samples, memory, page, program = [], [], {}, {}
    with open(tree.work / f"soak-{os.getpid()}.log", "w", encoding="utf-8") as log:
        if not args.file:
            path.unlink(missing_ok=True)
            samples, memory, page, program = follow(args, tree, path, log)
        fresh = reopen(tree, path, args.rounds, log)
        info = json.loads(measure.run([tree.strobe, "info", "--json", path])[0])
        verified = verify(tree, path)
    result = {"machine": measure.machine(), "bytes": path.stat().st_size, "events": info["events"], "dropped": info["dropped"], "fresh": slowest(fresh), "fresh_server_peak_mib": max(f["server"]["peak"] for f in fresh),
              "until_exact": fresh[-1]["until exact"], "verify": verified, "servers": fresh}
    if samples:
        minutes, heard = by_minute(samples, memory), [s for s in samples if "events" in s]
        result.update(minutes=args.minutes, events_per_s=heard[-1]["events"] / heard[-1]["events_s"] if heard else 0, by_minute=minutes, failed=sum("failed" in s for s in samples), live=slowest(samples),
                      page={k: v for k, v in page.items() if k != "memory"}, program=program, recorder_mib={what: spread(minutes, "recorder", what) for what in ("rss", "own")},
                      server_mib={what: spread(minutes, "server", what) for what in ("rss", "own")}, load=[min(s["load"] for s in samples), max(s["load"] for s in samples)], samples=samples, memory=memory)
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))
    if not args.keep and not args.file:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
