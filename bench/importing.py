"""importing.py - files of other profilers as traces: Chrome's JSON of three kinds, a GB each.  SPDX-License-Identifier: MIT"""
import itertools
import random

import measure
from measure import Figure, Trial

CLAIM = "a GB of Chrome's JSON is a trace within 5 s, in 128 MiB"
PEER = "the bars; reading the same file once (`cat`)"
BAR_S, BAR_MIB = 5, 128  # of a GB
WORDS = [f"place {i} of {chr(97 + i % 26) * (i % 17)}" for i in range(300)]


def as_torch(chance):
    """As PyTorch's profiler writes them: zones of 8 threads by turns, outer ones first, each with arguments."""
    times, number = [1000.0 * i for i in range(8)], itertools.count()
    while True:
        thread = chance.randrange(8)
        for depth in range(chance.randint(1, 4)):
            n = next(number)
            yield (f'{{"ph": "X", "cat": "cpu_op", "name": "{WORDS[chance.randrange(300)]}", "pid": 4242, "tid": {4242 + thread}, "ts": {times[thread] + depth:.3f}, "dur": {40 / (depth + 1) - 2 * depth:.3f}, '
                   f'"args": {{"External id": {n}, "Record function id": 0, "Ev Idx": {n}}}}}')
        times[thread] += 45


def as_ours(_):
    """As `strobe export --to chrome` writes them: three deep on 4 threads, by begin."""
    times = [0.0] * 4
    for n in itertools.count():
        for depth in range(3):
            at = (n * 7 + depth) % 40
            yield (f'{{"ph":"X","name":"{WORDS[at]}","cat":"work","pid":77,"tid":{77 + n % 4},"ts":{times[n % 4] + depth / 10:.3f},"dur":{3 - depth / 5:.3f},'
                   f'"args":{{"file":"src/app.c","line":{10 + at}}}}}')
        times[n % 4] += 3.5


def overlapping(chance):
    """Zones of a thread that overlap, some ten at a time: they become spans."""
    times = [0.0] * 4
    while True:
        thread = chance.randrange(4)
        times[thread] += chance.random() * 10
        yield (f'{{"ph":"X","name":"{WORDS[chance.randrange(50)]}","cat":"net","pid":{1 + thread % 2},"tid":{thread},"ts":{times[thread]:.3f},"dur":{chance.random() * 100:.3f}}}')


KINDS = {"ours": ("three deep, as our own export", as_ours), "torch": ("with arguments, as PyTorch's profiler", as_torch), "overlapping": ("zones that overlap", overlapping)}


def file_of(tree, kind, megabytes):
    path = tree.work / f"importing-{kind}-{megabytes}.json"
    if path.exists():
        return path
    left, events, part = megabytes * 1_000_000, KINDS[kind][1](random.Random(7)), path.with_suffix(".part")
    with open(part, "w") as out:
        out.write('{"schemaVersion": 1, "traceEvents": [\n')
        while left > 0:
            batch = ",\n".join(itertools.islice(events, 2000))
            left -= out.write(batch) + out.write(",\n" if left > len(batch) + 2 else "\n")
        out.write("]}\n")
    part.rename(path)
    return path


def used(tree, command):
    found = measure.run_exactly(tree, command)
    return {"s": found["wall_s"], "cpu_s": found["cpu_s"], "peak_mib": found["peak_kib"] / 1024}


def plan(bench):
    megabytes = 5 if bench.quick else 1000
    bars = (None, None) if bench.quick else (BAR_S, BAR_MIB)
    ours, found, rows = {}, [], []
    for kind, (title, _) in KINDS.items():
        key, title = f"importing.{kind}", f"{megabytes} MB of Chrome's JSON, {title}"
        ours[kind] = lambda tree, kind=kind: used(tree, [tree.strobe, "import", "-f", "-o", tree.work / "importing.strobe", file_of(bench.tree, kind, megabytes)])
        found += [Figure(f"{key}.wall", f"{title}: wall time", "s", f"{kind} s", narrow=0.1, grain=0.02, bar=bars[0]), Figure(f"{key}.cpu", f"{title}: CPU time", "s", f"{kind} cpu_s", narrow=0.1, grain=0.02),
                  Figure(f"{key}.peak", f"{title}: memory, peak", "MiB", f"{kind} peak_mib", narrow=0.05, bar=bars[1])]
        rows.append([title, f"{{{key}.wall}}", f"{BAR_S} s", f"{{{key}.cpu}}", f"{{{key}.peak}}", f"{BAR_MIB} MiB"])
    ours["cat"] = lambda tree: used(tree, ["/bin/cat", file_of(bench.tree, "torch", megabytes)])
    found.append(Figure("importing.cat.wall", f"limit: cat of {megabytes} MB: wall time", "s", "cat s", narrow=0.2, grain=0.02, is_context=True))
    rows.append([f"limit: `cat` of {megabytes} MB", "{importing.cat.wall}", "", "", "", ""])
    return [Trial("chrome", ours, found, limit_s=300)], [{"head": ["import", "wall time", "its bar", "CPU time", "memory, peak", "its bar"], "rows": rows}]
