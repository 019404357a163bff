# SPDX-License-Identifier: MIT
"""What the trace of an experiment says: the dispatches inside each region, summed; what is warm-up; how certain the middle is.

A region is one iteration of an invocation: a zone of that name. Belonging is a matter of time: whatever thread a dispatch ran on, it is of
the region that was open when it began. Which zones are dispatches is known by where the runtime opens them, not by their names."""
import bisect
import collections
import csv
import dataclasses
import io
import math
import subprocess

# zones of the runtime around a dispatch's own (local-sync), and the function in which it opens that itself (local-task)
DISPATCH_PARENTS = {"iree_hal_local_executable_issue_dispatch_inline"}
DISPATCH_FUNCTIONS = {"iree_hal_cmd_execute_dispatch_tiles"}
Z_95 = 1.959964

Zone = collections.namedtuple("Zone", "name function file tid start end depth value")


@dataclasses.dataclass
class Sample:
    """One iteration: how long it took, and its dispatches."""

    start_ns: int
    end_ns: int
    dispatch_ns: int = 0
    n_dispatches: int = 0
    locations: dict = dataclasses.field(default_factory=dict)  # ns by the name of the MLIR location
    dispatches: list = dataclasses.field(default_factory=list)  # Zones


@dataclasses.dataclass
class Result:
    """An invocation's figures. Those of one iteration are over the iterations after the warm-up."""

    name: str
    samples: list
    n_warmup: int
    total_ns: int      # dispatch time of all iterations, warm-up too: what one adds up in the trace by hand
    median_ns: float   # dispatch time of one iteration
    interval_ns: tuple  # 95 % of such intervals hold the true median
    mean_ns: float
    min_ns: int
    wall_ns: float     # median of the whole region
    n_dispatches: int  # of one iteration, the last
    locations: dict    # median ns of one iteration by the name of the MLIR location
    work: float = 0.0
    size: float = None

    @property
    def rate(self):
        """Operations per ns of dispatch time (of a matmul: GMAC/s); 0: not known."""
        return self.work / self.median_ns if self.work and self.median_ns else 0.0


def median(values):
    """The middle one, or the mean of the two."""
    ordered, half = sorted(values), len(values) // 2
    return float(ordered[half]) if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def interval(values):
    """A 95 % interval of the median by order statistics: no shape of the distribution is assumed."""
    ordered, n = sorted(values), len(values)
    reach = Z_95 * math.sqrt(n) / 2
    low, high = int(math.floor(n / 2 - reach)), int(math.ceil(n / 2 + reach))
    return float(ordered[max(0, low)]), float(ordered[min(n - 1, high)])


def warmup(values):
    """How many values at the front are warm-up, at most half: the cut after which the mean is known best (MSER)."""
    n = len(values)
    best, chosen = math.inf, 0
    for cut in range(n // 2 + 1):
        rest = values[cut:]
        mean = sum(rest) / len(rest)
        error = sum((value - mean) ** 2 for value in rest) / len(rest) ** 2
        if error < best:
            best, chosen = error, cut
    return chosen


def zones_of(strobe, trace):
    """All zones of a trace, by `strobe csv`, in the order of their begins; parents before children."""
    done = subprocess.run([strobe, "csv", trace], stdout=subprocess.PIPE, text=True, check=True)
    rows = [Zone(row["name"], row["function"], row["file"], row["tid"], int(row["start_ns"]),
                 int(row["start_ns"]) + int(row["duration_ns"] or 0), int(row["depth"]), row["value"])
            for row in csv.DictReader(io.StringIO(done.stdout)) if row["state"] == "ended"]
    return sorted(rows, key=lambda zone: (zone.start, zone.depth))


def is_dispatch(zone, parent):
    return zone.function in DISPATCH_FUNCTIONS or (parent is not None and parent.name in DISPATCH_PARENTS)


def dispatches_of(zones):
    """The zones that are dispatches: a stack per thread knows the parents."""
    stacks = collections.defaultdict(list)
    for zone in zones:
        stack = stacks[zone.tid]
        while stack and (stack[-1].end <= zone.start or stack[-1].depth >= zone.depth):
            stack.pop()
        if is_dispatch(zone, stack[-1] if stack else None):
            yield zone
        stack.append(zone)


def read(zones, invocations):
    """A Result per invocation."""
    samples = {one.name: [] for one in invocations}
    regions = []
    for zone in zones:
        if zone.name in samples and zone.value != "":
            samples[zone.name].append(Sample(zone.start, zone.end))
            regions.append((zone.start, samples[zone.name][-1], zone.name))
    starts = [start for start, _, _ in regions]
    known = {one.name: set(one.locations or getattr(one.vmfb, "locations", ())) for one in invocations}
    for zone in dispatches_of(zones):
        at = bisect.bisect_right(starts, zone.start) - 1
        if at < 0 or zone.start >= regions[at][1].end_ns:
            continue
        _, sample, name = regions[at]
        sample.dispatches.append(zone)
        sample.dispatch_ns += zone.end - zone.start
        sample.n_dispatches += 1
        if zone.file in known[name]:
            sample.locations[zone.file] = sample.locations.get(zone.file, 0) + zone.end - zone.start
    return [summarize(one, samples[one.name]) for one in invocations]


def summarize(invocation, samples):
    times = [sample.dispatch_ns for sample in samples]
    if not times:
        return Result(invocation.name, samples, 0, 0, 0.0, (0.0, 0.0), 0.0, 0, 0.0, 0, {}, invocation.work, invocation.size)
    cut = warmup(times)
    warm = samples[cut:]
    names = dict.fromkeys(name for sample in warm for name in sample.locations)
    return Result(invocation.name, samples, cut, sum(times), median(times[cut:]), interval(times[cut:]),
                  sum(times[cut:]) / len(warm), min(times[cut:]), median([one.end_ns - one.start_ns for one in warm]),
                  samples[-1].n_dispatches, {name: median([one.locations.get(name, 0) for one in warm]) for name in names},
                  invocation.work, invocation.size)


def write_rows(path, text, found, zones):
    """The tool's rows of the dispatches inside regions, in the order of time, with region and iteration behind. A tool rounds times its own
    way: the n-th row of a name is the n-th zone of that name in the trace."""
    places = {id(zone): (result.name, i) for result in found for i, sample in enumerate(result.samples) for zone in sample.dispatches}
    names = {zone.name for result in found for sample in result.samples for zone in sample.dispatches}
    ours = collections.defaultdict(collections.deque)
    for zone in zones:
        if zone.name in names:
            ours[zone.name].append(zone)
    reader = csv.reader(io.StringIO(text))
    header = next(reader)
    name_at, start_at = header.index("name"), header.index("ns_since_start")
    rows = sorted((row for row in reader if row[name_at] in names), key=lambda row: int(row[start_at]))
    with open(path, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*header, "region", "iteration"])
        for row in rows:
            place = places.get(id(ours[row[name_at]].popleft()))
            if place:
                writer.writerow([*row, *place])
    if any(ours.values()):
        raise ValueError("the tool's table lacks dispatches that the trace has")
