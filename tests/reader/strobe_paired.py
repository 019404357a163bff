"""strobe_paired.py - PAIRED and PAIRED_LOD blocks, from docs/file-format.md alone: the rows of paired tracks, and whether their cells and
their fibers are those that the events make."""
import collections
import struct

import strobe_format as sf
from strobe_blocks import unzstd
from strobe_format import FormatError, read_varint, read_zigzag

LIST, VERSIONS, PART, TRACKS, STEP, NESTED = 1, (1, 2), 16384, 65536, 2, 16
THREAD, FIBER, SPANS, GPU = 2, 3, 4, 5
DEPTHS = 512
Row = collections.namedtuple("Row", "begin end self depth proc loc said nested")
Part = collections.namedtuple("Part", "offset at n first last")
Track = collections.namedtuple("Track", "kind proc track id sub n_depths n_ended n_open ended open levels")


def unpack(trace, block):
    """The bytes of a body that is one run of them."""
    body = trace.body(block)
    raw, stored = struct.unpack_from("<II", body)
    data = bytes(body[8:8 + stored])
    return data if raw == stored else unzstd(data, raw)


class Bytes:
    """Varints, one behind the other."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def number(self):
        """The next varint."""
        value, self.at = read_varint(self.data, self.at)
        return value

    def signed(self):
        """The next zigzag varint."""
        value, self.at = read_zigzag(self.data, self.at)
        return value

    def numbers(self, n):
        """A column."""
        return [self.number() for _ in range(n)]

    def text(self):
        """A text behind its length."""
        n = self.number()
        self.at += n
        return self.data[self.at - n:self.at]


def last_list(trace):
    """The list that counts, or None."""
    found = None
    for block in trace.blocks:
        if block.type in (sf.EVENTS, sf.RECORDS):
            found = None
        elif block.type == sf.PAIRED_LOD:
            found = block
    return found if found and found.flags & LIST and not trace.holes else None


class List:
    """All paired tracks of a trace."""

    def __init__(self, trace, block):
        self.trace = trace
        self.blocks = {b.offset: b for b in trace.blocks if b.type in (sf.PAIRED, sf.PAIRED_LOD)}
        self.raw = {}
        self.read(Bytes(unpack(trace, block)))

    def bytes_of(self, part, kind):
        """The bytes that a part begins at."""
        block = self.blocks.get(part.offset)
        if block is None or block.type != kind:
            raise FormatError(f"paired list: no such block at {part.offset}")
        if part.offset not in self.raw:
            self.raw = {part.offset: unpack(self.trace, block)}
        return Bytes(self.raw[part.offset], part.at)

    def parts(self, data, is_cells):
        """Parts of one sort."""
        out, before = [], 0
        for _ in range(data.number()):
            self.offset += data.signed()
            at, n, first, last = data.numbers(4)
            part = Part(self.offset, at, n, before + first, before + first + last)
            before = part.last if is_cells else part.first
            if not 0 < n <= PART:
                raise FormatError(f"paired list: a part of {n}")
            out.append(part)
        return out

    def read(self, data):
        """The list's own bytes."""
        self.offset, self.tracks = 0, []
        self.version = data.number()
        if self.version not in VERSIONS:
            raise FormatError("paired list: version")
        self.n_left_out = data.number()
        for _ in range(data.number()):
            fields = data.numbers(8)
            ended, waiting, levels = self.parts(data, False), self.parts(data, False), []
            for _ in range(data.number()):
                shift = data.number()
                levels.append((shift, self.parts(data, True)))
            self.tracks.append(Track(*fields, ended, waiting, levels))
        self.n_unfinished, self.n_no_begin = data.numbers(2) if self.version > 1 else (None, None)
        if data.at != len(data.data) or len(self.tracks) > TRACKS:
            raise FormatError("paired list: bytes left over, or too many tracks")

    def rows(self, number, is_open):
        """The rows of a track, in order."""
        track, n_before = self.tracks[number], 0
        for part in track.open if is_open else track.ended:
            data = self.bytes_of(part, sf.PAIRED)
            head = data.numbers(5)
            if head != [number, int(is_open), n_before, part.n, part.first]:
                raise FormatError(f"paired part: head {head}")
            n_before += part.n
            yield from self.part_rows(data, track, part, is_open)

    def part_rows(self, data, track, part, is_open):
        """The rows of one part."""
        begin, proc, loc, latest = part.first, track.proc, 0, 0
        begins = data.numbers(part.n)
        lengths = [None] * part.n if is_open else data.numbers(part.n)
        inside = [None] * part.n if is_open else data.numbers(part.n)
        depths = data.numbers(part.n)
        procs = [data.signed() for _ in range(part.n)]
        locs = [data.signed() for _ in range(part.n)]
        has = data.numbers(part.n)
        for i in range(part.n):
            begin, proc, loc = begin + begins[i], proc + procs[i], loc + locs[i]
            said = [data.text() if bit < 2 else data.number() for bit in range(4) if has[i] >> bit & 1]
            end = None if is_open else begin + lengths[i]
            latest = max(latest, end or 0)
            yield Row(begin, end, 0 if is_open else lengths[i] - inside[i], depths[i], proc, loc, said, bool(has[i] & NESTED))
        if not is_open and latest != part.last:
            raise FormatError(f"paired part: latest end {latest}, the list says {part.last}")

    def cells(self, number, shift, parts):
        """{(bucket, depth): (count, busy, longest, proc, loc, end)} of a level."""
        track, out = self.tracks[number], {}
        for part in parts:
            data = self.bytes_of(part, sf.PAIRED_LOD)
            if data.numbers(4) != [number, shift, part.n, part.first]:
                raise FormatError("paired cells: head")
            bucket, proc, loc = part.first, track.proc, 0
            columns = [data.numbers(part.n) for _ in range(5)]
            procs = [data.signed() for _ in range(part.n)]
            locs = [data.signed() for _ in range(part.n)]
            ends = data.numbers(part.n)
            for i, (step, depth, count, busy, longest) in enumerate(zip(*columns)):
                bucket, proc, loc = bucket + step, proc + procs[i], loc + locs[i]
                best = (longest, proc, loc, (bucket << shift) + ends[i]) if count else None
                if (bucket, depth) in out or not (count or busy):
                    raise FormatError("paired cells: a cell twice, or an empty one")
                out[bucket, depth] = (count, busy, best)
            if bucket != part.last:
                raise FormatError("paired cells: last bucket")
        return out


def cells_of(rows, shift, order):
    """The cells that rows make; order: of processes in the file."""
    counts, busy, best = collections.Counter(), collections.Counter(), {}
    for row in rows:
        if row.depth >= DEPTHS:
            continue
        key = (row.end >> shift, row.depth)
        counts[key] += 1
        mine = (row.begin - row.end, order.get(row.proc, 0), row.loc, row.end, row.proc)
        best[key] = min(best.get(key, mine), mine)
        for bucket in range(row.begin >> shift, (row.end >> shift) + 1):
            part = min(row.end, (bucket + 1) << shift) - max(row.begin, bucket << shift)
            if part:
                busy[bucket, row.depth] += part
    return {key: (counts[key], busy[key], (-best[key][0], best[key][4], *best[key][2:4]) if key in best else None)
            for key in set(counts) | set(busy)}


def check_spans(rows):
    """Whether each span has the least depth that was free."""
    until = []
    for row in sorted(rows, key=lambda r: r.begin):
        depth = next((d for d, end in enumerate(until) if end is not None and end <= row.begin), min(len(until), DEPTHS - 1))
        if depth == len(until):
            until.append(0)
        if depth != row.depth and not (row.end == row.begin):
            return f"span at {row.begin}: depth {row.depth}, should be {depth}"
        until[row.depth] = row.end
    return None


def check_others(trace, paired, problem):
    """The zones of fibers that are no rows, where no thread has several tracks."""
    zones = list(trace.fiber_zones())  # which finds the others
    found = (sum(zone.state == "unfinished" for zone in zones), sum(1 for begin in trace.lost_begins if begin[2]))
    said = (paired.n_unfinished, paired.n_no_begin)
    if paired.version > 1 and not any(track.kind == THREAD for track in paired.tracks) and said != found:
        problem(f"paired list: {said[0]} unfinished and {said[1]} without begin, the fibers have {found[0]} and {found[1]}")


def check(trace, problem):
    """All of it; what is wrong goes to problem(text)."""
    block = last_list(trace)
    if block is None:
        return 0
    paired, n = List(trace, block), 0
    order = {}
    for key in trace.keyed:
        if key[0] == "process":
            order.setdefault(key[1], len(order))
    fibers = collections.defaultdict(list)
    check_others(trace, paired, problem)
    for zone in trace.fiber_zones():
        if zone.state in ("ended", "open"):
            end = None if zone.state == "open" else zone.begin + zone.duration
            fibers[zone.proc, zone.fiber].append((zone.begin, end, zone.self, zone.depth, zone.loc, zone.nested and paired.version > 1))
    for number, track in enumerate(paired.tracks):
        ended, waiting = list(paired.rows(number, False)), list(paired.rows(number, True))
        what = f"paired track {number} (kind {track.kind}, id {track.id})"
        n += len(ended) + len(waiting)
        if (len(ended), len(waiting)) != (track.n_ended, track.n_open):
            problem(f"{what}: {len(ended)} and {len(waiting)} rows, the list says {track.n_ended} and {track.n_open}")
        if track.n_depths != max((r.depth + 1 for r in ended + waiting), default=1):
            problem(f"{what}: n_depths {track.n_depths}")
        for rows in (ended, waiting):
            if any((a.begin, a.depth) > (b.begin, b.depth) for a, b in zip(rows, rows[1:])):
                problem(f"{what}: rows out of order")
        for shift, parts in track.levels:
            if paired.cells(number, shift, parts) != cells_of(ended, shift, order):
                problem(f"{what}: cells of level {shift} are not those of its rows")
        if track.kind == FIBER:
            mine = [(r.begin, r.end, r.self, r.depth, r.loc, r.nested) for r in ended + waiting]
            if collections.Counter(mine) != collections.Counter(fibers[track.proc, track.id]):
                problem(f"{what}: its rows are not the fiber's zones")
        wrong = check_spans(ended + waiting) if track.kind == SPANS and not waiting else None
        if wrong:
            problem(f"{what}: {wrong}")
    return n
