"""targets.py - tests/fuzz/targets.txt, the counts in tests/fuzz/counts.tsv, and the table of tests/fuzz/README.md made of both."""
import glob
import hashlib
import os
import re

FIELDS = ["name", "feeds", "harness", "parser", "rooms", "seeds", "runs", "longest", "led"]
COLUMNS = ["target", "parser", "runs", "cpu_s", "edges", "history", "findings", "commit", "date"]
HISTORY_MAX = 24
ENOUGH_RUNS, ENOUGH_CPU_S = 10_000_000, 4 * 3600  # the bar: either, without a new edge in the last quarter and without an open finding
BEGIN, END = "<!-- table: tests/fuzz/run --fill -->", "<!-- end of the table -->"


class Target:
    def __init__(self, root, line):
        values = dict(zip(FIELDS, (cell.strip() for cell in line.split("|"))))
        self.name, self.feeds, self.seeds = values["name"], values["feeds"], values["seeds"]
        self.harness, self.rooms, self.led = (values[key].split() for key in ("harness", "rooms", "led"))
        self.longest = int(values["longest"])
        self.parser = sorted({os.path.relpath(path, root) for pattern in values["parser"].split()
                              for path in found(root, pattern)})

    def digest(self, root):
        """Of what the count of runs belongs to: the parser and the harness. Comments count too: they are cheap to keep."""
        digest = hashlib.sha256()
        for path in self.parser + sorted(self.harness):
            with open(os.path.join(root, path), "rb") as file:
                digest.update(path.encode() + b"\0" + file.read() + b"\0")
        return digest.hexdigest()[:12]


def found(root, pattern):
    paths = glob.glob(os.path.join(root, "src", pattern))
    if not paths:
        raise SystemExit(f"tests/fuzz/targets.txt: no source is src/{pattern}")
    return paths


def read_targets(root):
    with open(os.path.join(root, "tests/fuzz/targets.txt"), encoding="utf-8") as file:
        return [Target(root, line) for line in file if line.strip() and not line.startswith("#")]


class Count:
    """What is known of a target: runs since its parser last changed."""

    def __init__(self, digest):
        self.digest, self.runs, self.cpu_s, self.edges, self.findings = digest, 0, 0.0, 0, 0
        self.history = []  # (runs, edges), at some of the ends of runs
        self.commit = self.date = "-"

    def add(self, runs, cpu_s, steps, n_findings):
        """`steps`: (runs, edges) within this run, in order."""
        for at, edges in steps:
            if edges > self.edges:
                self.edges = edges
                self.history.append((self.runs + at, edges))
        self.runs += runs
        self.cpu_s += cpu_s
        self.findings += n_findings
        while len(self.history) > HISTORY_MAX:  # what stands closest to its neighbours goes: a quarter has its steps at any time
            at = [runs for runs, _ in self.history]
            del self.history[min(range(1, len(at) - 1), key=lambda i: at[i + 1] - at[i - 1])]

    def new_in_last_quarter(self):
        before = [edges for at, edges in self.history if at <= self.runs * 3 / 4]
        return self.edges - max(before, default=0)

    def is_enough(self):
        return (self.runs >= ENOUGH_RUNS or self.cpu_s >= ENOUGH_CPU_S) and not self.new_in_last_quarter() and not self.findings

    def row(self, name):
        history = ",".join(f"{at}:{edges}" for at, edges in self.history) or "-"
        return [name, self.digest, str(self.runs), f"{self.cpu_s:.0f}", str(self.edges), history, str(self.findings), self.commit, self.date]


def counts_path(root):
    return os.path.join(root, "tests/fuzz/counts.tsv")


def read_counts(root):
    counts = {}
    if not os.path.exists(counts_path(root)):
        return counts
    with open(counts_path(root), encoding="utf-8") as file:
        for line in list(file)[1:]:
            name, digest, runs, cpu_s, edges, history, findings, commit, date = line.rstrip("\n").split("\t")
            count = counts[name] = Count(digest)
            count.runs, count.cpu_s, count.edges, count.findings = int(runs), float(cpu_s), int(edges), int(findings)
            count.history = [tuple(map(int, step.split(":"))) for step in history.split(",") if step != "-"]
            count.commit, count.date = commit, date
    return counts


def write_counts(root, counts):
    lines = ["\t".join(COLUMNS)] + ["\t".join(counts[target.name].row(target.name)) for target in read_targets(root) if target.name in counts]
    with open(counts_path(root), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def table(root):
    lines = ["| target | feeds | runs | CPU time | edges | new in the last quarter | open findings | bar | counted at |", "|---|---|---|---|---|---|---|---|---|"]
    counts = read_counts(root)
    for target in read_targets(root):
        count = counts.get(target.name) or Count("-")
        cpu = f"{count.cpu_s / 60:.0f} min" if count.cpu_s < 7200 else f"{count.cpu_s / 3600:.1f} h"
        where = f"{count.commit}, {count.date}" if count.runs else "not yet"
        lines.append(f"| `{target.name}` | {target.feeds} | {count.runs:,} | {cpu} | {count.edges:,} | "
                     f"{count.new_in_last_quarter()} | {count.findings} | {'reached' if count.is_enough() else 'not yet'} | {where} |")
    return "\n".join(lines)


def readme_path(root):
    return os.path.join(root, "tests/fuzz/README.md")


def filled(root):
    """README.md's text, and what it should be."""
    with open(readme_path(root), encoding="utf-8") as file:
        text = file.read()
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    return text, re.sub(pattern, lambda _: f"{BEGIN}\n{table(root)}\n{END}", text, flags=re.S)


def fill(root):
    text, wanted = filled(root)
    if text != wanted:
        with open(readme_path(root), "w", encoding="utf-8") as file:
            file.write(wanted)


def changed(root):
    """Names of targets whose parser is not the one that was counted."""
    counts = read_counts(root)
    return [target.name for target in read_targets(root) if target.name in counts and counts[target.name].digest != target.digest(root)]
