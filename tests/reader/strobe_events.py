"""strobe_events.py - the events of a trace file: its parts, zones of threads and fibers, and the sums that they make."""
import collections
import struct
import sys

import strobe_format as sf
from strobe_blocks import Part, unzstd
from strobe_file import File
from strobe_format import FormatError, read_varint, read_zigzag

ENDED, UNFINISHED, OPEN = "ended", "unfinished", "open"
Zone = collections.namedtuple("Zone", "proc track fiber loc begin duration self depth state extras nested", defaults=[False])
Event = collections.namedtuple("Event", "proc track tick kind fields callstack")


class Track:
    """What is known about a thread while its parts are read."""

    __slots__ = ("proc", "track", "end", "stack", "n_unsure", "fiber", "pieces", "stored", "runs", "from_zero")

    def __init__(self, proc, track):
        self.proc, self.track = proc, track
        self.end = None         # position after the last part
        self.stack = []         # [loc, begin, ticks of finished children, extras]
        self.n_unsure = 0       # lowest zones of which a hole may have changed some
        self.fiber = 0
        self.pieces = b""
        self.stored = 0
        self.runs = []          # [first word, word after the last], as in the file, joined
        self.from_zero = False  # words before the first part, if any, are in a hole

    def cover(self, pos, n_words):
        """Note the words of a part."""
        if self.runs and self.runs[-1][1] == pos:
            self.runs[-1][1] = pos + n_words
        else:
            self.runs.append([pos, pos + n_words])

    def gaps(self):
        """([(first word, n)] that no part covers, words covered twice)."""
        gaps, twice, at = [], 0, None
        for first, end in sorted(self.runs):
            if at is None:
                at = 0 if self.from_zero else first
            if first > at:
                gaps.append((at, first - at))
            twice += max(0, min(at, end) - first)
            at = max(at, end)
        return gaps, twice


def hi_by_lo(data, n, lo):
    """The stream hi where it follows from lo: a table, and what differs from it."""
    table, key, at = bytearray(256), 0, 0
    n_entries, at = read_varint(data, 0)
    if len(lo) != n or len(data) < at + 2 * n_entries:
        raise FormatError("hi by lo: too short")
    for step, value in zip(data[at:at + 2 * n_entries:2], data[at + 1:at + 2 * n_entries:2]):
        key += step
        if key > 255:
            raise FormatError("hi by lo: table")
        table[key] = value
    out, number = bytearray(lo.translate(bytes(table))), 0
    n_others, at = read_varint(data, at + 2 * n_entries)
    for _ in range(n_others):
        step, at = read_varint(data, at)
        number += step
        if number >= n or at >= len(data):
            raise FormatError("hi by lo: events")
        out[number] = data[at]
        at += 1
    if at != len(data):
        raise FormatError(f"hi by lo: {len(data) - at} bytes too many")
    return bytes(out)


class Trace(File):
    """A trace file with its events."""

    def __init__(self, path):
        super().__init__(path)
        self.tracks = {}
        self.fibers = {}        # (proc, fiber): [(tick, order, symbol, loc or extra, track)]
        self.paired = None      # their zones
        self.order = 0
        self.kinds = collections.Counter()
        self.lost_begins = []   # (proc, track, fiber, tick, loc, zones open then)
        self.unfinished = []    # Zones
        self.want_nested = False    # set it before the parts are read
        self.nested = collections.Counter()     # (proc, loc): ticks of zones that ended with one of their location open below

    # -- events ------------------------------------------------------------------------------------------

    def block_parts(self, block):
        """The parts of an EVENTS block, streams and all."""
        head = self.head(block)
        n, at = read_varint(head, 0)
        parts = []
        for _ in range(n):
            part = Part()
            part.block = block
            at = part.read_head(head, at)
            parts.append(part)
        for part in parts:
            if part.flags & 2:
                at = part.read_ends(head, at)
        for part in parts:
            if part.flags & 8:
                at = part.read_nested(head, at)
        if at != len(head):
            raise FormatError(f"head has {len(head) - at} bytes too many")
        self.cut_streams(parts, self.read_streams(block))
        return parts

    def read_streams(self, block):
        """The five streams of a block."""
        body = self.body(block)
        if len(body) < 40:
            raise FormatError("body too short")
        sizes = struct.unpack_from("<10I", body)
        at, streams = 40, []
        for raw, stored in zip(sizes[::2], sizes[1::2]):
            data = body[at:at + stored]
            if len(data) != stored:
                raise FormatError("a stream runs over the end of the body")
            at += stored
            if len(streams) == 2 and block.flags & 1:
                data = hi_by_lo(data, raw, streams[1])
            elif stored != raw:
                if raw > sf.BLOCK_MAX:
                    raise FormatError(f"a stream of {raw} bytes")
                data = data * raw if stored == 1 and raw > 1 else unzstd(data, raw)
            streams.append(data)
        if at != len(body):
            raise FormatError(f"body has {len(body) - at} bytes too many")
        return streams

    @staticmethod
    def cut_streams(parts, streams):
        """Give every part its share of the streams."""
        sym, lo, hi, big, side = streams
        n = sum(part.n_events for part in parts)
        if not len(sym) == len(lo) == len(hi) == n:
            raise FormatError(f"{n} events, streams have {len(sym)}, {len(lo)}, {len(hi)}")
        if sum(part.n_big for part in parts) != len(big) or sum(part.n_side for part in parts) != len(side):
            raise FormatError("big or side: the parts' shares aren't the whole")
        steps = bytearray(2 * n)
        steps[0::2], steps[1::2] = lo, hi
        at = at_big = at_side = 0
        for part in parts:
            part.streams = (sym[at:at + part.n_events], steps[2 * at:2 * (at + part.n_events)],
                            big[at_big:at_big + part.n_big], side[at_side:at_side + part.n_side])
            at += part.n_events
            at_big += part.n_big
            at_side += part.n_side

    def parts(self, event_hook=None):
        """All parts in the order of the file, with `ended` and so on filled in; use it once per Trace.

        ended: (begin, end, self time, depth, loc, extras) of zones that end by sym 0 and 1; cut: likewise
        (begin, tick, depth) of those found unfinished. event_hook(part) is called before a part is decoded.
        """
        for block in self.blocks:
            if block.type != sf.EVENTS:
                continue
            try:
                parts = self.block_parts(block)
            except FormatError as error:
                self.problem(f"block at {block.offset} (EVENTS): {error}")
                continue
            for part in parts:
                if event_hook:
                    event_hook(part)
                try:
                    self.decode(part)
                except FormatError as error:
                    self.problem(f"{self.where(part)}: {error}")
                    continue
                except IndexError:
                    self.problem(f"{self.where(part)}: an end without an open zone, or a location that isn't listed")
                    continue
                yield part

    @staticmethod
    def where(part):
        """Which part a problem is about."""
        return f"block at {part.block.offset}, proc {part.proc} track {part.track} pos {part.pos}"

    def missing_before(self, block):
        """Whether blocks are missing before this one."""
        return any(hole.end <= block.offset for hole in self.holes)

    def enter_part(self, part, track):
        """Bring the thread's stack to what the part's head says."""
        first = track.end is None
        part.gap = part.pos != (0 if first else track.end)
        for loc in part.locs:
            self.used.setdefault(("l", part.proc, loc), part.block.offset)
        if first:
            track.from_zero = self.missing_before(part.block)
        n = part.n_below + len(part.stack)
        if not part.gap:
            self.compare_stack(part, track, n)
        else:
            track.pieces = b""
            track.n_unsure = part.n_below
        for depth, zone in enumerate(track.stack[n:], n):
            self.unfinish(track, zone, depth)
        del track.stack[n:]
        while len(track.stack) < part.n_below:
            track.stack.append([0, part.first_tick, 0, None])
        for depth, (loc, begin, children) in enumerate(part.stack, part.n_below):
            self.set_zone(track, depth, loc, begin, children)
        part.n_unsure = track.n_unsure = min(track.n_unsure, part.n_below)
        track.fiber = part.fiber
        track.end = part.pos + part.n_words
        track.cover(part.pos, part.n_words)
        track.stored += part.n_events

    def set_zone(self, track, depth, loc, begin, children):
        """The zone at a depth is this one."""
        if depth < len(track.stack):
            old = track.stack[depth]
            if old[0] == loc and old[1] == begin:
                old[2] = children
                return
            if old[0]:
                self.unfinish(track, old, depth)
            track.stack[depth] = [loc, begin, children, None]
        else:
            track.stack.append([loc, begin, children, None])

    def compare_stack(self, part, track, n):
        """Without a gap, the head must say what the events before it said."""
        if len(track.stack) != n:
            self.problem(f"{self.where(part)}: {n} zones open at its start, {len(track.stack)} by the events before")
        if track.fiber != part.fiber:
            self.problem(f"{self.where(part)}: fiber {part.fiber} at its start, {track.fiber} by the events before")
        for depth, listed in enumerate(part.stack, part.n_below):
            if track.n_unsure <= depth < len(track.stack) and tuple(track.stack[depth][:3]) != listed:
                self.problem(f"{self.where(part)}: open zone {depth} is {listed}, "
                             f"{tuple(track.stack[depth][:3])} by the events before")

    def unfinish(self, track, zone, depth):
        """A zone's end is missing."""
        if zone[0]:
            self.unfinished.append(Zone(track.proc, track.track, 0, zone[0], zone[1], 0, 0, depth, UNFINISHED, zone[3]))

    def decode(self, part):
        """Go over the events of a part: the hot loop."""
        track = self.tracks.get((part.proc, part.track))
        if track is None:
            track = self.tracks[part.proc, part.track] = Track(part.proc, part.track)
        self.enter_part(part, track)
        syms, steps, big, side = part.streams
        steps = memoryview(steps).cast("H") if sys.byteorder == "little" else struct.unpack(f"<{len(syms)}H", steps)
        stack, locs = track.stack, part.locs
        ended = part.ended = []
        part.cut = []
        pop, push, done = stack.pop, stack.append, ended.append
        tick = low = high = part.first_tick
        n_back = at_big = at_side = 0
        in_fiber, want_nested = track.fiber, self.want_nested
        part.first_step = 0
        if syms:
            part.first_step = steps[0] if steps[0] != 65535 else read_zigzag(big, 0)[0]
        for sym, step in zip(syms, steps):
            if step == 65535:
                step, at_big = read_zigzag(big, at_big)
                if step < 0:
                    n_back -= step
                    high = max(high, tick)
                    low = min(low, tick + step)
            tick += step
            if sym > 63 and not in_fiber:
                push([locs[sym - 64], tick, 0, None])
            elif sym == 0:
                loc, begin, children, extras = pop()
                duration = tick - begin
                if duration < 0:
                    duration = 0
                if stack:
                    stack[-1][2] += duration
                    if want_nested:
                        self.count_nested(part.proc, loc, stack, duration)
                done((begin, tick, duration - children if duration > children else 0, len(stack), loc, extras))
            else:
                at_side = self.other(part, track, sym, tick, side, at_side)
                in_fiber = track.fiber
        if at_big != len(big) or at_side != len(side):
            raise FormatError(f"{len(big) - at_big} bytes of big, {len(side) - at_side} of side are left")
        part.last_tick, part.tick_low, part.tick_high, part.n_back = tick, low, max(high, tick), n_back
        part.left_open = [(zone[1], depth) for depth, zone in enumerate(stack)]
        self.kinds.update(syms)

    def other(self, part, track, sym, tick, side, at):
        """All symbols but the two common ones; returns the new offset in side."""
        if sym >= 63:
            index = sym - 64
            if sym == 63:
                index, at = read_varint(side, at)
            if track.fiber:
                self.fiber_event(track, tick, sf.BEGIN, part.locs[index])
            else:
                track.stack.append([part.locs[index], tick, 0, None])
            return at
        if sym not in self.letters:
            raise FormatError(f"event of kind {sym}, which the schema doesn't have")
        fields, at = sf.decode_fields(self.letters[sym], side, at)
        for i, letter in self.refs.get(sym, ()):
            self.used.setdefault((letter, part.proc, fields[i]), part.block.offset)
        if sym == sf.END_POP:
            self.end_pop(part, track, fields[0], tick)
        elif sym == sf.END_UNDER:
            self.end_under(part, track, fields[0], tick)
        elif sym == sf.END_LOST:
            if track.fiber:
                self.fiber_event(track, tick, sf.END_LOST, fields[0])
            else:
                self.lost_begins.append((track.proc, track.track, 0, tick, fields[0], len(track.stack)))
        elif sym == sf.PIECE:
            track.pieces += fields[0]
        elif sym == sf.FIBER_ENTER:
            track.fiber = fields[0]
        elif sym == sf.FIBER_LEAVE:
            track.fiber = 0
        elif 4 <= sym <= 7:
            self.zone_extra(track, tick, sym, fields[0])
        elif 50 <= sym <= 53:
            self.zone_extra(track, tick, sym - 46, fields[1], fields[0])
        if track.pieces and sym != sf.PIECE and "s" in self.letters[sym]:
            track.pieces = b""
        return at

    def zone_extra(self, track, tick, kind, value, loc=None):
        """Text, name, value or colour of the innermost open zone, or of the innermost one of a location."""
        extra = (kind, track.pieces + value if kind < 6 else value)
        if track.fiber:
            self.fiber_event(track, tick, kind, (loc, extra))
        else:
            self.add_extra(track.stack, loc, extra)

    @staticmethod
    def add_extra(stack, loc, extra):
        """To the zone that it is about, if that is open."""
        for zone in reversed(stack):
            if loc is None or zone[0] == loc:
                zone[3] = (zone[3] or ()) + (extra,)
                break

    def count_nested(self, proc, loc, below, duration):
        """A zone ended: does it lie in another of its location?"""
        for zone in below:
            if zone[0] == loc:
                self.nested[proc, loc] += duration
                break

    def end_pop(self, part, track, n, tick):
        """Unfinished zones, and the end of the one below them."""
        if n < 1:
            raise FormatError("ZONE_END_POP of 0 zones")
        stack = track.stack
        for _ in range(n):
            zone = stack.pop()
            part.cut.append((zone[1], tick, len(stack)))
            self.unfinish(track, zone, len(stack))
        loc, begin, children, extras = stack.pop()
        duration = max(0, tick - begin)
        if stack:
            stack[-1][2] += duration
            self.count_nested(part.proc, loc, stack, duration)
        part.ended.append((begin, tick, max(0, duration - children), len(stack), loc, extras))

    def end_under(self, part, track, n, tick):
        """The zone below the n innermost ones ends; those go on."""
        stack = track.stack
        if not 1 <= n < len(stack):
            raise FormatError(f"ZONE_END_UNDER {n} of {len(stack)} open zones")
        loc, begin, children, extras = stack.pop(len(stack) - 1 - n)
        depth, duration = len(stack) - n, max(0, tick - begin)
        if depth:
            stack[depth - 1][2] += duration
            self.count_nested(part.proc, loc, stack[:depth], duration)
        part.ended.append((begin, tick, max(0, duration - children), depth, loc, extras))

    def fiber_event(self, track, tick, sym, what):
        """Keep an event of a fiber for later."""
        self.order += 1
        self.fibers.setdefault((track.proc, track.fiber), []).append((tick, self.order, sym, what, track.track))

    def fiber_zones(self):
        """The zones of the fibers, paired once; after all parts were read."""
        if self.paired is None:
            self.paired = list(self.pair_fibers())
        return self.paired

    def pair_fibers(self):
        """Go over the fibers' events by time."""
        for (proc, fiber), events in sorted(self.fibers.items()):
            events.sort(key=lambda e: e[:2])
            stack = []
            for tick, _, sym, what, track in events:
                if sym == sf.BEGIN:
                    stack.append([what, tick, 0, None, track])
                elif sym == sf.END_LOST:
                    yield from self.fiber_end(proc, fiber, stack, tick, what, track)
                else:
                    self.add_extra(stack, *what)
            for depth, (loc, begin, _, extras, track) in enumerate(stack):
                yield Zone(proc, track, fiber, loc, begin, 0, 0, depth, OPEN, extras)

    def fiber_end(self, proc, fiber, stack, tick, loc, track):
        """One end in a fiber."""
        if all(zone[0] != loc for zone in stack):
            self.lost_begins.append((proc, track, fiber, tick, loc, len(stack)))
            return
        while True:
            own, begin, children, extras, begun_on = stack.pop()
            if own == loc:
                break
            yield Zone(proc, begun_on, fiber, own, begin, 0, 0, len(stack), UNFINISHED, extras)
        duration = max(0, tick - begin)
        if stack:
            stack[-1][2] += duration
            self.count_nested(proc, loc, stack, duration)
        nested = any(zone[0] == loc for zone in stack)
        yield Zone(proc, begun_on, fiber, loc, begin, duration, max(0, duration - children), len(stack), ENDED, extras, nested)

    def open_zones(self):
        """Zones of threads that are open at the end; after all parts were read."""
        for track in self.tracks.values():
            for depth, (loc, begin, _, extras) in enumerate(track.stack):
                yield Zone(track.proc, track.track, 0, loc, begin, 0, 0, depth, OPEN, extras)

    def zones(self):
        """All zones: as they end, then the fibers', then unfinished and open ones."""
        for part in self.parts():
            for begin, end, own, depth, loc, extras in part.ended:
                yield Zone(part.proc, part.track, 0, loc, begin, max(0, end - begin), own, depth, ENDED, extras)
        yield from self.fiber_zones()
        yield from self.unfinished
        yield from self.open_zones()

    def events(self):
        """All events by block and thread, texts put together, callstacks with the event they belong to."""
        waiting = {}
        for block in self.blocks:
            if block.type == sf.EVENTS:
                for part in self.block_parts(block):
                    state = waiting.setdefault((part.proc, part.track), [b"", None])
                    yield from self.part_events(part, state)

    def part_events(self, part, state):
        """Events of one part; state: pieces and callstack that wait."""
        syms, steps, big, side = part.streams
        tick, at_big, at = part.first_tick, 0, 0
        for sym, step in zip(syms, struct.unpack(f"<{len(syms)}H", steps)):
            if step == 65535:
                step, at_big = read_zigzag(big, at_big)
            tick += step
            kind, fields = (63, [part.locs[sym - 64]]) if sym > 63 else (sym, None)
            if sym == 63:
                index, at = read_varint(side, at)
                fields = [part.locs[index]]
            elif sym < 63:
                fields, at = sf.decode_fields(self.letters[sym], side, at)
            if kind == sf.PIECE:
                state[0] += fields[0]
                continue
            if kind == sf.CALLSTACK:
                state[1] = fields[0]
                continue
            letters = self.letters[kind]
            if state[0] and "s" in letters:
                fields[letters.rindex("s")] = state[0] + fields[letters.rindex("s")]
                state[0] = b""
            yield Event(part.proc, part.track, tick, kind, fields, state[1])
            state[1] = None

    # -- sums --------------------------------------------------------------------------------------------

    def kind_counts(self):
        """Events by kind, begins as 63."""
        counts = collections.Counter()
        for sym, n in self.kinds.items():
            counts[63 if sym > 63 else sym] += n
        return counts

    def ledger(self):
        """Per (proc, track) that has a record: stored events, dropped by cause, words in gaps; after all parts were read.

        hole_words are those of gaps that no loss record explains: the file has holes, or the thread has no loss of
        causes 3 to 6 or 12.
        """
        rows = {}
        for key, track in self.tracks.items():
            gaps, _ = track.gaps()
            rows[key] = {"stored": track.stored, "dropped": collections.Counter(), "gap_words": sum(n for _, n in gaps)}
        silent = [key[1:] for key in self.keyed if key[0] == "thread"]
        for key in silent + [loss[:2] for loss in self.losses]:
            rows.setdefault(key, {"stored": 0, "dropped": collections.Counter(), "gap_words": 0})
        for proc, track, cause, count, _, _ in self.losses:
            rows[proc, track]["dropped"][cause] += count
        for row in rows.values():
            explained = not self.holes and any(row["dropped"][cause] for cause in sf.GAP_CAUSES)
            row["hole_words"] = 0 if explained else row["gap_words"]
        return rows
