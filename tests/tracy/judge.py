"""judge.py: what a trace says of a Tracy client, read from docs/file-format.md by the second reader's means."""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "reader"))
import strobe_format as sf                      # noqa: E402
from strobe_reader import Trace                 # noqa: E402

Event = collections.namedtuple("Event", "proc track kind tick time fields fiber stack")
Zone = collections.namedtuple("Zone", "proc track fiber loc begin end notes begin_tick end_tick stack")


class OwnClock:
    """A process's own clock: the pieces of its map."""

    def __init__(self, pieces):
        self.pieces = pieces    # (time, tick, mult, error_ns)

    def time(self, tick):
        """Time of a tick."""
        if not self.pieces:
            return tick
        time, at, mult, _ = next((p for p in reversed(self.pieces) if p[1] <= tick), self.pieces[0])
        return time - (-((tick - at) << 32) // mult)

    def error(self, tick):
        """Stated error in ns."""
        return next((p for p in reversed(self.pieces) if p[1] <= tick), self.pieces[0])[3]


class Judge:
    """Events and zones of a trace, with times on their processes' own clocks."""

    def __init__(self, path):
        self.trace = Trace(path)
        self.records = self.trace.records
        maps = collections.defaultdict(list)
        for record in self.of("clock_map"):
            maps[record.fields[0]].append(tuple(record.fields[1:]))
        self.clocks = collections.defaultdict(lambda: OwnClock([]), {p: OwnClock(m) for p, m in maps.items()})
        self.clients = {r.proc: r.fields for r in self.of("tracy_client")}
        self.strings = {(r.proc, r.fields[0]): r.fields[1].decode() for r in self.of("string")}
        self.locs = {(r.proc, r.fields[0]): r.fields[1:] for r in self.of("loc")}
        self.threads = {(r.proc, r.fields[0]): r.fields for r in self.of("thread")}
        self.thread_names = {(r.proc, r.fields[0]): r.fields[1].decode() for r in self.of("thread_name")}
        self.fibers = {(r.proc, r.fields[0]): r.fields[1].decode() for r in self.of("fiber_name")}
        self.notes = [r.fields[1].decode() for r in self.of("note")]
        self.events, self.zones, self.open = [], [], []
        self.read()

    def of(self, name):
        """Records of a kind."""
        return [r for r in self.records if r.name == name]

    def losses(self):
        """Events lost, by cause."""
        lost = collections.Counter()
        for loss in self.trace.losses:
            lost[sf.LOSS_CAUSES[loss[2]]] += loss[3]
        return lost

    def name(self, loc):
        """Name of a location (proc, id)."""
        line, color, function, file, name = self.locs[loc]
        return (name or function).decode()

    def ns(self, proc, time):
        """A time of a client as Tracy shows it."""
        fields = self.clients[proc]
        return int((time - fields[2]) * fields[1])

    def read(self):
        """All parts in order; zones are paired per thread or fiber."""
        state = collections.defaultdict(lambda: [0, None, b""])   # fiber, stack, pieces
        stacks = collections.defaultdict(list)
        for block in self.trace.blocks:
            if block.type != sf.EVENTS:
                continue
            for part in self.trace.block_parts(block):
                self.read_part(part, state[part.proc, part.track], stacks)
        self.open = [zone for stack in stacks.values() for zone in stack]

    def read_part(self, part, state, stacks):
        """Events of one part."""
        clock, last = self.clocks[part.proc], None
        for kind, tick, fields in self.raw_events(part):
            name = self.trace.names[kind]
            if name == "own_time":
                last(fields[0])
                continue
            time = clock.time(tick)
            if name == "str_piece":
                state[2] += fields[0]
                continue
            if name == "callstack":
                state[1] = fields[0]
                continue
            key = (part.proc, "fiber", state[0]) if state[0] else (part.proc, part.track)
            if name == "zone_begin":
                zone = [part.proc, part.track, state[0], (part.proc, fields[0]), time, None, [], tick, None, state[1]]
                stacks[key].append(zone)
                last = self.setter(zone, 4)
            elif name in ("zone_end", "zone_end_at") and stacks[key]:
                zone = stacks[key].pop()
                zone[5], zone[8] = time, tick
                self.zones.append(zone)
                last = self.setter(zone, 5)
            elif kind in (4, 5, 6, 7):
                if stacks[key]:
                    stacks[key][-1][6].append((name, fields[0]))
                last = lambda more: None
            else:
                if state[2] and "s" in self.trace.letters[kind]:
                    at = self.trace.letters[kind].rindex("s")
                    fields[at] = state[2] + fields[at]
                    state[2] = b""
                event = [part.proc, part.track, name, tick, time, fields, state[0], state[1]]
                self.events.append(event)
                last = self.setter(event, 4)
            state[1] = None
            if name == "fiber_enter":
                state[0] = fields[0]
            elif name == "fiber_leave":
                state[0] = 0

    @staticmethod
    def setter(item, i):
        """Adds to a time that is known more exactly."""
        def add(more):
            item[i] += more
        return add

    def raw_events(self, part):
        """(kind, tick, fields) of a part."""
        syms, steps, big, side = part.streams
        tick, at_big, at_side = part.first_tick, 0, 0
        for i, sym in enumerate(syms):
            step = steps[2 * i] | steps[2 * i + 1] << 8
            if step == 65535:
                step, at_big = sf.read_zigzag(big, at_big)
            tick += step
            if sym >= 63:
                index = sym - 64
                if sym == 63:
                    index, at_side = sf.read_varint(side, at_side)
                yield 63, tick, [part.locs[index]]
                continue
            fields, at_side = sf.decode_fields(self.trace.letters[sym], side, at_side)
            yield sym, tick, fields
