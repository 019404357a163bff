# SPDX-License-Identifier: MIT
"""Performance counters of the device: which groups go into one run, and one log of the logs of several runs.

The banks of the L1's counters share one set of wires, and a run has room for five groups: what does not fit is measured by running
the program again, and the counters of later passes are put beside those of the first, op by op and core by core."""
import csv
import os
import sys

BITS = {"fpu": 0, "pack": 1, "unpack": 2, "l1_0": 3, "l1_1": 4, "instrn": 5, "l1_2": 6, "l1_3": 7, "l1_4": 8, "l1_5": 9}
PLAIN = ("fpu", "pack", "unpack", "instrn")
BLACKHOLE_ONLY = ("l1_2", "l1_3", "l1_4", "l1_5")
BANKS = {"wormhole": ("l1_0", "l1_1"), "blackhole": ("l1_0", "l1_1", *BLACKHOLE_ONLY), "quasar": (), "sim": ("l1_0", "l1_1")}
GROUPS_PER_PASS = 5
CLIENT_BIT, CLIENT_EVENTS, CLIENT_SUBPORTS = 16, 8, 37
COUNTER_TIMER = "9090"
PASSES_FOLDER = "perf_counter_passes"


class CounterError(Exception):
    """Groups that there are not, or not here; or logs that can't be merged."""


def architecture():
    """What the environment says of the device: wormhole_b0, blackhole, quasar ...; "": nothing."""
    for variable in ("TT_METAL_DEVICE_ARCH", "TT_ARCH_NAME", "ARCH_NAME"):
        if os.environ.get(variable):
            return os.environ[variable].lower()
    return ""


def is_bank(group):
    return group.startswith("l1_") and group != "l1_client"


def banks_of(name):
    """The L1 banks of an architecture; None: it is not known."""
    return next((banks for known, banks in BANKS.items() if known in name), None)


def later_banks(log):
    """The banks that `all` had to leave out because the architecture was not known: the first run's device log says what it is."""
    try:
        with open(log, errors="replace") as file:
            first = file.readline()
    except OSError:
        return []
    name = first.partition("ARCH:")[2].partition(",")[0].strip().lower()
    return list((banks_of(name) or ())[1:])


def client_number(text):
    """N of l1_client=N: subport * 8 + event."""
    number = int(text) if text.isdigit() else -1
    if not 0 < number < CLIENT_SUBPORTS * CLIENT_EVENTS or not number % CLIENT_EVENTS:
        raise CounterError(f"l1_client={text}: a number of subport * {CLIENT_EVENTS} + event, with subports below {CLIENT_SUBPORTS} and events "
                           f"from 1 to {CLIENT_EVENTS - 1}")
    return number


def read(words):
    """(groups in the order of their bits, number of l1_client or 0, whether `all` was asked for); raises CounterError. Names that there
    are not are said and left out."""
    chosen, client, is_all = set(), 0, False
    for group in filter(None, (part.strip().lower() for part in words.split(","))):
        if group == "all":
            banks = banks_of(architecture())
            chosen.update((*PLAIN, *(("l1_0",) if banks is None else banks)))
            is_all = True
        elif group.startswith("l1_client="):
            client = client_number(group.split("=", 1)[1])
        elif group == "l1":
            chosen.add("l1_0")
        elif group in BITS:
            chosen.add(group)
        else:
            print(f"python -m tracy: no counter group is called {group!r}: ignored", file=sys.stderr)
    check_architecture(chosen, client)
    return sorted(chosen, key=BITS.get), client, is_all


def check_architecture(chosen, client):
    wrong = sorted(chosen.intersection(BLACKHOLE_ONLY))
    if wrong and "blackhole" not in architecture():
        raise CounterError(f"{', '.join(wrong)} are counters of Blackhole; set ARCH_NAME=blackhole if this is one")
    if client and "quasar" not in architecture():
        raise CounterError("l1_client is a counter of Quasar; set ARCH_NAME=quasar if this is one")


def schedule(groups):
    """The groups of each pass: at most one L1 bank and five groups; others fill the emptiest pass."""
    banks = [group for group in groups if is_bank(group)]
    others = [group for group in groups if not is_bank(group)]
    n_passes = max(len(banks), -(-len(groups) // GROUPS_PER_PASS), 1)
    passes = [banks[i:i + 1] for i in range(n_passes)]
    for group in others:
        min(passes, key=len).append(group)
    return [sorted(one, key=BITS.get) for one in passes]


def one_bank(groups):
    """The groups without all banks but the first."""
    banks = [group for group in groups if is_bank(group)]
    return [group for group in groups if group not in banks[1:]]


def bits(groups, client=0):
    """The bit field of TT_METAL_PROFILE_PERF_COUNTERS."""
    return sum(1 << BITS[group] for group in groups) | client << CLIENT_BIT


def plan_text(passes):
    return "; ".join(f"pass {i}: {','.join(one)}" for i, one in enumerate(passes))


# ---- one log of several ----

def columns_of(header):
    """Places of the columns that name an op's core."""
    names = [name.strip() for name in header.split(",")]
    wanted = ["PCIe slot", "core_x", "core_y", "run host ID", "trace id", "trace id counter"]
    missing = [name for name in [*wanted[:4], "timer_id"] if name not in names]
    if missing:
        raise CounterError(f"the device log has no column {', '.join(missing)}")
    time = next(i for i, name in enumerate(names) if name.startswith("time["))
    return [names.index(name) if name in names else None for name in wanted], names.index("timer_id"), time


class Log:
    """A device log: two lines of head, then markers."""

    def __init__(self, path):
        self.path = path
        with open(path, newline="") as file:
            self.head = [file.readline(), file.readline()]
        self.key_at, self.timer_at, self.time_at = columns_of(self.head[1])

    def is_counter(self, cells):
        return len(cells) > self.time_at and cells[self.timer_at].strip() == COUNTER_TIMER

    def key(self, cells):
        """Which op on which core."""
        return tuple(cells[at].strip() if at is not None else "" for at in self.key_at)

    def key_of(self, line):
        """(key, time) of a counter's line; (None, None) of another."""
        cells = line.rstrip("\r\n").split(",") if COUNTER_TIMER in line else []
        return (self.key(cells), cells[self.time_at]) if self.is_counter(cells) else (None, None)

    def counters(self):
        """(key, cells) of each counter's row, in the order of the file."""
        with open(self.path, newline="") as file:
            for _ in range(2):
                file.readline()
            for cells in csv.reader(file):
                if self.is_counter(cells):
                    yield self.key(cells), cells


def merge(paths, out):
    """The first log whole, and behind the first counter of an op and core those that the others have for them, at its time: so a log that is
    in order stays so. How many rows were added, and how many have no place. `out` may be the first's path."""
    logs = [Log(path) for path in paths]
    more, n_more = {}, 0
    for log in logs[1:]:
        for key, cells in log.counters():
            more.setdefault(key, []).append((log.time_at, cells))
            n_more += 1
    first, partial, added = logs[0], f"{out}.partial", 0
    with open(partial, "w", newline="") as target, open(paths[0], newline="") as source:
        writer = csv.writer(target, lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
        for number, line in enumerate(source):
            target.write(line if line.endswith("\n") else line + "\n")
            key, time = first.key_of(line) if number > 1 else (None, None)
            for time_at, cells in more.pop(key, ()):
                cells[time_at] = time
                writer.writerow(cells)
                added += 1
    os.replace(partial, out)
    return added, n_more - added
