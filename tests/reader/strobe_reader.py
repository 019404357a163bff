#!/usr/bin/env python3
"""strobe_reader.py - the second reader of a trace, written from docs/file-format.md.

    strobe_reader.py FILE --json            what is in it
    strobe_reader.py FILE --check           every disagreement with the document; 1 if there is one
                     [--closed]             ... a file without footer is one
                     [--holes]              ... a hole is none (damage is expected)

As a library: Trace(path) opens closed, cut and holed files. zones(), events() and parts() go over it once, in
the order of the file; `records`, `ledger()`, `facts()` hold the rest. strobe_check.py compares all of it with
what the file says about itself.
"""
import argparse
import collections
import json
import mmap
import os
import struct
import sys

import xxhash
import zstandard

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import strobe_format as sf  # noqa: E402
from strobe_format import FormatError, read_varint, read_zigzag  # noqa: E402

DEPTH_MAX = 1 << 22     # open zones of a thread: more can't be true
ENDED, UNFINISHED, OPEN = "ended", "unfinished", "open"
Zone = collections.namedtuple("Zone", "proc track fiber loc begin duration self depth state extras")
Event = collections.namedtuple("Event", "proc track tick kind fields callstack")
Record = collections.namedtuple("Record", "kind name proc fields")
Hole = collections.namedtuple("Hole", "offset end seq n_blocks")
Entry = collections.namedtuple("Entry", "offset tick_min tick_max n_events n_zones bytes type level zero")


def xxh64(data):
    """XXH64 with seed 0."""
    return xxhash.xxh64_intdigest(data, seed=0)


def unzstd(data, raw_size):
    """Decompress one frame whose size must come out right."""
    if raw_size > sf.BLOCK_MAX:
        raise FormatError(f"{raw_size} bytes after decompression: more than 16 MiB")
    try:
        out = zstandard.ZstdDecompressor().decompress(data, max_output_size=max(1, raw_size))
    except zstandard.ZstdError as error:
        raise FormatError(f"zstd: {error}") from None
    if len(out) != raw_size:
        raise FormatError(f"zstd frame of {len(out)} bytes instead of {raw_size}")
    return out


class Block:
    """A block whose two hashes are right."""

    __slots__ = ("offset", "type", "level", "reserved", "seq", "head_bytes", "body_bytes", "head_raw", "n_items",
                 "tick_min", "tick_max", "prev_index")

    def __init__(self, offset, fields):
        self.offset = offset
        (_, self.type, self.level, self.reserved, self.seq, self.head_bytes, self.body_bytes, self.head_raw,
         self.n_items, self.tick_min, self.tick_max, self.prev_index, _, _) = fields

    @property
    def bytes(self):
        """Size with header, without padding."""
        return sf.BLOCK_HEAD_BYTES + self.head_bytes + self.body_bytes

    @property
    def end(self):
        """Offset of what comes next."""
        return sf.padded(self.offset + self.bytes)


class Part:
    """A run of events of one thread: its entry in the head of a block, then what its events were."""

    __slots__ = ("block", "proc", "track", "pos", "n_words", "n_events", "first_tick", "span", "start_early", "fiber",
                 "n_below", "stack", "locs", "n_big", "n_side", "flags", "summary", "streams",
                 "gap", "ended", "cut", "left_open", "last_tick", "tick_low", "tick_high", "n_back", "first_step",
                 "n_unsure")

    def read_head(self, data, at):
        """Fill from the head of the block; returns the offset of what follows."""
        self.proc, at = read_varint(data, at)
        self.track, at = read_varint(data, at)
        self.pos, at = read_varint(data, at)
        self.n_words, at = read_varint(data, at)
        self.n_events, at = read_varint(data, at)
        self.first_tick, at = read_varint(data, at)
        self.span, at = read_zigzag(data, at)
        self.start_early, at = read_varint(data, at)
        self.fiber, at = read_varint(data, at)
        self.n_below, at = read_varint(data, at)
        if self.n_below > DEPTH_MAX:
            raise FormatError(f"n_below {self.n_below}")
        at = self.read_stack(data, at)
        at = self.read_locs(data, at)
        self.n_big, at = read_varint(data, at)
        self.n_side, at = read_varint(data, at)
        self.flags, at = read_varint(data, at)
        self.summary = None
        if self.flags & 1:
            self.summary, at = read_summary(data, at, self.first_tick)
        return at

    def read_stack(self, data, at):
        """The open zones that are listed."""
        n, at = read_varint(data, at)
        self.stack = []
        for _ in range(n):
            loc, at = read_varint(data, at)
            early, at = read_zigzag(data, at)
            children, at = read_varint(data, at)
            self.stack.append((loc, self.first_tick - early, children))
        return at

    def read_locs(self, data, at):
        """The part's list of locations."""
        n, at = read_varint(data, at)
        self.locs = []
        last = 0
        for _ in range(n):
            step, at = read_zigzag(data, at)
            last += step
            self.locs.append(last)
        return at


def read_summary(data, at, first_tick):
    """({index: (count, sum, self, min, max, squares, {bucket: n})}, shift, [{bucket: (count, busy, longest, loc)}])."""
    n, at = read_varint(data, at)
    stats = {}
    for _ in range(n):
        fields = []
        for _ in range(9):
            value, at = read_varint(data, at)
            fields.append(value)
        index, count, total, own, low, high, squares, upper, n_buckets = fields
        histogram, bucket = {}, 0
        for _ in range(n_buckets):
            step, at = read_varint(data, at)
            bucket += step
            histogram[bucket], at = read_varint(data, at)
        if index in stats or len(histogram) != n_buckets:
            raise FormatError("summary: a location or a bucket twice")
        stats[index] = (count, total, own, low, high, squares | upper << 64, histogram)
    shift, at = read_varint(data, at)
    if shift > 63:
        raise FormatError(f"level of detail: shift {shift}")
    n, at = read_varint(data, at)
    depths = []
    for _ in range(n):
        buckets, at = read_buckets(data, at, first_tick >> shift)
        depths.append(buckets)
    return (stats, shift, depths), at


def read_buckets(data, at, first):
    """One depth of the level of detail."""
    n, at = read_varint(data, at)
    buckets, number = {}, first
    for _ in range(n):
        step, at = read_varint(data, at)
        number += step
        count, at = read_varint(data, at)
        busy, at = read_varint(data, at)
        longest, at = read_varint(data, at)
        index, at = read_varint(data, at)
        buckets[number] = (count, busy, longest, index)
    if len(buckets) != n:
        raise FormatError("level of detail: a bucket twice")
    return buckets, at


LodTrack = collections.namedtuple(
    "LodTrack", "proc track n_parts n_events n_zones first_tick last_tick low depth open coarse fine")


def read_lanes(data, at, first_tick):
    """(shift, [{bucket: (count, busy, longest, id of its location + 1)}]) of one track of an LOD block."""
    shift, at = read_varint(data, at)
    n_depths, at = read_varint(data, at)
    if shift > 63 or n_depths > sf.LOD_DEPTHS:
        raise FormatError(f"LOD block: shift {shift}, {n_depths} depths")
    depths = []
    for _ in range(n_depths):
        n, at = read_varint(data, at)
        buckets, number = {}, first_tick >> shift
        for _ in range(n):
            step, at = read_zigzag(data, at)
            number += step
            values = []
            for _ in range(4):
                value, at = read_varint(data, at)
                values.append(value)
            buckets[number] = tuple(values)
        if len(buckets) != n:
            raise FormatError("LOD block: a bucket twice")
        depths.append(buckets)
    return (shift, depths), at


def read_lod(head, body):
    """(first_offset, n_blocks, {offset: kinds}, [LodTrack]) of an LOD block."""
    first_offset, at = read_varint(head, 0)
    n_blocks, at = read_varint(head, at)
    n, at = read_varint(head, at)
    masks, offset = {}, first_offset
    for _ in range(n):
        step, at = read_varint(head, at)
        offset += step
        masks[offset], at = read_varint(head, at)
    n, at = read_varint(head, at)
    raw_size, stored_size = struct.unpack_from("<II", body)
    lanes = body[8:8 + stored_size]
    lanes = lanes if raw_size == stored_size else unzstd(lanes, raw_size)
    tracks, in_body = [], 0
    for _ in range(n):
        fields = []
        for _ in range(6):
            value, at = read_varint(head, at)
            fields.append(value)
        span, at = read_zigzag(head, at)
        last = fields[5] + span
        low, at = read_varint(head, at)
        depth, at = read_varint(head, at)
        n_open, at = read_varint(head, at)
        is_open = []
        for _ in range(n_open):
            loc, at = read_varint(head, at)
            early, at = read_zigzag(head, at)
            is_open.append((loc, last - early))
        fine_shift, at = read_varint(head, at)
        coarse, at = read_lanes(head, at, fields[5])
        fine, in_body = read_lanes(lanes, in_body, fields[5])
        if fine[0] != fine_shift:
            raise FormatError(f"LOD block: fine shift {fine_shift}, is {fine[0]}")
        tracks.append(LodTrack(*fields, last, low, depth, is_open, coarse, fine))
    if at != len(head) or in_body != len(lanes):
        raise FormatError("LOD block: bytes left over")
    return first_offset, n_blocks, masks, tracks


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


class Trace:
    """A trace file. A file that is no trace raises FormatError; anything later is in `problems`."""

    def __init__(self, path):
        self.path = path
        self.problems = []
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < sf.HEAD_BYTES:
                raise FormatError("shorter than a file head")
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.read_file_head()
        self.blocks, self.holes, self.skipped = [], [], []
        self.trailer = None     # offset of the FOOTER block, if the file was closed
        self.cut_at = None      # offset of a block that the file's end cuts
        self.scan()
        self.closed = self.trailer is not None
        self.footer_block = next((b for b in self.blocks if b.type == sf.FOOTER and b.offset == self.trailer), None)
        self.records = []
        self.pieces = b""
        self.keyed = {}         # (kind name, proc, key): fields
        self.first_named = {}   # the same keys: offset of the first block that has one
        self.losses = []        # loss records, of blocks and of the reserved ledger
        self.reserved_losses = []
        self.syncs, self.recordings = [], []
        self.read_records()
        self.read_reserved()
        self.tracks = {}
        self.fibers = {}        # (proc, fiber): [(tick, order, symbol, loc or extra, track)]
        self.paired = None      # their zones
        self.order = 0
        self.kinds = collections.Counter()
        self.lost_begins = []   # (proc, track, fiber, tick, loc, zones open then)
        self.unfinished = []    # Zones
        self.set_clock()

    # -- the file ----------------------------------------------------------------------------------------

    def problem(self, text):
        """Note a disagreement with the document."""
        self.problems.append(text)

    def read_file_head(self):
        """The first 4096 bytes."""
        head = self.data[:sf.HEAD_BYTES]
        (magic, self.version, self.head_bytes, self.ledger_off, self.ledger_bytes, self.first_block, self.created_ns,
         self.uuid, self.sync_ns, self.head_reserved, session, schema, stored) = sf.FILE_HEAD.unpack(head)
        if magic != sf.MAGIC:
            raise FormatError("no Strobe trace: wrong magic")
        if self.version > sf.VERSION:
            raise FormatError(f"trace version {self.version}; this reader knows {sf.VERSION}")
        if xxh64(head[:-8]) != stored:
            raise FormatError("the file head is damaged: wrong hash")
        self.session = session.rstrip(b"\0")
        self.schema_text = schema.rstrip(b"\0").decode("utf-8", "replace")
        self.schema = sf.parse_schema(self.schema_text)
        self.names = {number: kind[0] for number, kind in self.schema.items()}
        self.letters = {number: kind[1] for number, kind in self.schema.items()}
        self.refs = {number: [(i, letter) for i, letter in enumerate(letters) if letter in "nl"]
                     for number, letters in self.letters.items() if set(letters) & set("nl")}
        self.used = {}          # ("n" or "l", proc, id): offset of the first block that uses it

    def block_at(self, offset):
        """The block header at an offset if its hash is right, else None."""
        head = self.data[offset:offset + sf.BLOCK_HEAD_BYTES]
        if len(head) < sf.BLOCK_HEAD_BYTES or head[:4] != sf.BLOCK_MAGIC:
            return None
        fields = sf.BLOCK_HEAD.unpack(head)
        return Block(offset, fields) if xxh64(head[:64]) == fields[-1] else None

    def payload_right(self, block):
        """Whether head and body are there and unharmed."""
        start = block.offset + sf.BLOCK_HEAD_BYTES
        stop = block.offset + block.bytes
        if stop > len(self.data) or block.head_bytes + block.body_bytes > sf.BLOCK_MAX:
            return False
        stored = struct.unpack_from("<Q", self.data, block.offset + 56)[0]
        return xxh64(self.data[start:stop]) == stored

    def trailer_at(self, offset):
        """Offset of the footer if there is a trailer at this offset, else None."""
        data = self.data[offset:offset + sf.TRAILER.size]
        if len(data) < sf.TRAILER.size or not data.startswith(sf.TRAILER_MAGIC):
            return None
        _, footer, own, stored = sf.TRAILER.unpack(data)
        return footer if xxh64(data[:24]) == stored and own == offset else None

    def scan(self):
        """Find all blocks, and what is missing between them."""
        at, bad = self.first_block, None
        while at < len(self.data):
            footer = self.trailer_at(at)
            if footer is not None and at + sf.TRAILER.size < len(self.data):
                at += sf.TRAILER.size   # of a file that was recovered later: no block
                continue
            if footer is not None:
                self.trailer = footer
                if bad is not None:
                    self.holes.append(Hole(bad, at, self.next_seq(), 1))
                return
            block = self.block_at(at)
            if block is not None and self.payload_right(block):
                self.add_block(block, bad)
                at, bad = block.end, None
                continue
            bad = at if bad is None else bad
            at = self.next_magic(at + 8)
        self.cut_at = bad

    def next_seq(self):
        """Number that the next block should have."""
        return self.blocks[-1].seq + 1 if self.blocks else 0

    def add_block(self, block, bad):
        """A good block, after bytes from `bad` on that are none: a hole if numbers are missing."""
        expected = self.next_seq()
        start = block.offset if bad is None else bad
        if block.seq > expected:
            self.holes.append(Hole(start, block.offset, expected, block.seq - expected))
        elif block.seq < expected:
            self.problem(f"block at {block.offset}: seq {block.seq} after {expected - 1}")
        elif bad is not None:
            self.skipped.append((bad, block.offset))
        self.blocks.append(block)

    def next_magic(self, at):
        """Offset of the next block with a right header, or of a trailer; the end of the file if none."""
        size = len(self.data)
        block, end = at, at
        while True:
            block = self.data.find(sf.BLOCK_MAGIC, block)
            if block < 0 or block % 8 == 0 and self.block_at(block):
                break
            block += 1
        while True:
            end = self.data.find(sf.TRAILER_MAGIC, end)
            if end < 0 or end % 8 == 0 and self.trailer_at(end) is not None:
                break
            end += 1
        return min(size if block < 0 else block, size if end < 0 else end)

    def body(self, block):
        """Body as stored."""
        start = block.offset + sf.BLOCK_HEAD_BYTES + block.head_bytes
        return self.data[start:start + block.body_bytes]

    def head(self, block):
        """Head after decompression."""
        start = block.offset + sf.BLOCK_HEAD_BYTES
        data = self.data[start:start + block.head_bytes]
        return unzstd(data, block.head_raw) if block.head_raw else data

    # -- records -----------------------------------------------------------------------------------------

    KEYS = {"process": 0, "thread": 1, "thread_name": 1, "loc": 1, "string": 1, "module": 1, "program_name": 0,
            "plot_config": 1, "lock_name": 1, "fiber_name": 1, "process_end": 1, "thread_end": 2, "pool": 2, "host": 0}

    def read_records(self):
        """All RECORDS blocks."""
        for block in self.blocks:
            if block.type == sf.RECORDS:
                try:
                    n = self.read_record_block(block)
                    if n != block.n_items:
                        self.problem(f"block at {block.offset}: {n} records, n_items {block.n_items}")
                except FormatError as error:
                    self.problem(f"block at {block.offset} (RECORDS): {error}")

    def read_record_block(self, block):
        """One of them; returns how many records it has."""
        body = self.body(block)
        if len(body) < 8:
            raise FormatError("body too short")
        raw, stored = struct.unpack_from("<II", body)
        if stored != len(body) - 8:
            raise FormatError(f"stored size {stored}, body has {len(body) - 8}")
        data = body[8:] if stored == raw else unzstd(body[8:], raw)
        n = 0
        for record in self.decode_records(data):
            n += 1
            self.add_record(record, block.offset)
        return n

    def decode_records(self, data):
        """Records, pieces put together (a piece itself is given too)."""
        at = 0
        while at < len(data):
            kind, at = read_varint(data, at)
            size, at = read_varint(data, at)
            if at + size > len(data):
                raise FormatError(f"record of kind {kind} runs over the end")
            if kind not in self.schema:
                raise FormatError(f"record of kind {kind}, which the schema doesn't have")
            proc, inner = None, data[at:at + size]
            at += size
            start = 0
            if 64 <= kind < 96:
                proc, start = read_varint(inner, 0)
            fields, stop = sf.decode_fields(self.letters[kind], inner, start)
            if stop != size:
                raise FormatError(f"record of kind {kind}: {size} bytes, fields take {stop}")
            yield self.join_record(kind, proc, fields)

    def join_record(self, kind, proc, fields):
        """Put waiting pieces before the last text."""
        if kind == sf.PIECE:
            self.pieces += fields[0]
        elif self.pieces and "s" in self.letters[kind]:
            fields[self.letters[kind].rindex("s")] = self.pieces + fields[self.letters[kind].rindex("s")]
            self.pieces = b""
        return Record(kind, self.names[kind], proc, fields)

    def add_record(self, record, offset):
        """Sort a record into its place."""
        self.records.append(record)
        name, fields = record.name, record.fields
        if name in self.KEYS:
            key = (name, record.proc, *fields[:self.KEYS[name]])
            self.keyed[key] = fields
            self.first_named.setdefault(key, offset)
        elif name == "loss":
            self.losses.append(tuple(fields))
        elif name == "clock_sync":
            self.syncs.append(tuple(fields))
        elif name == "recording":
            self.recordings.append(tuple(fields))

    def read_reserved(self):
        """The reserved ledger: the better of its two slots."""
        best = (0, b"")
        for number in (0, 1):
            start = self.ledger_off + number * sf.SLOT_BYTES
            slot = self.data[start:start + sf.SLOT_BYTES]
            if len(slot) < sf.SLOT.size or not slot.startswith(sf.SLOT_MAGIC):
                continue
            _, seq, size, _, stored = sf.SLOT.unpack_from(slot)
            data = slot[sf.SLOT.size:sf.SLOT.size + size]
            if len(data) == size and xxh64(data) == stored and seq >= best[0]:
                best = (seq, data)
        try:
            for record in self.decode_records(best[1]):
                if record.name != "loss":
                    self.problem(f"reserved ledger: a record {record.name}")
                    continue
                self.reserved_losses.append(tuple(record.fields))
        except FormatError as error:
            self.problem(f"reserved ledger: {error}")
        self.losses += self.reserved_losses

    def loc_name(self, proc, loc):
        """What to show for a location."""
        fields = self.keyed.get(("loc", proc, loc))
        if fields is None:
            return f"loc {loc}"
        return (fields[5] or fields[3]).decode("utf-8", "replace")

    # -- time --------------------------------------------------------------------------------------------

    def set_clock(self):
        """mult and the pieces of the axis."""
        points = [(s[1], s[2]) for s in self.syncs if s[0] == 1 and not s[5]]
        self.mult = 1 << 32
        if len(points) >= 2 and points[-1][0] != points[0][0]:
            self.mult = ((points[-1][1] - points[0][1]) << 32) // (points[-1][0] - points[0][0])
        self.pieces_of_time = points[:1] + [(s[1], s[2]) for s in self.syncs if s[0] == 1 and s[5]]

    def ticks_ns(self, d):
        """A duration in ns."""
        return d * self.mult >> 32

    def tick_ns(self, tick):
        """A tick on the axis, in ns of CLOCK_MONOTONIC."""
        t0 = m0 = 0
        for number, (t, m) in enumerate(self.pieces_of_time):
            if number == 0 or t <= tick:
                t0, m0 = t, m
        return m0 + ((tick - t0) * self.mult >> 32)

    def origin(self):
        """Tick at which the recording began."""
        return self.recordings[0][0] if self.recordings else 0

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
            if stored != raw:
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
        in_fiber = track.fiber
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
        if track.pieces and sym != sf.PIECE and "s" in self.letters[sym]:
            track.pieces = b""
        return at

    def zone_extra(self, track, tick, kind, value):
        """Text, name, value or colour of the innermost open zone."""
        extra = (kind, track.pieces + value if kind < 6 else value)
        if track.fiber:
            self.fiber_event(track, tick, kind, extra)
        elif track.stack:
            track.stack[-1][3] = (track.stack[-1][3] or ()) + (extra,)

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
                elif stack:
                    stack[-1][3] = (stack[-1][3] or ()) + (what,)
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
        yield Zone(proc, begun_on, fiber, loc, begin, duration, max(0, duration - children), len(stack), ENDED, extras)

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
        causes 3 to 6.
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


class Totals:
    """Zones by location, summed up."""

    def __init__(self):
        self.by_loc = {}    # (proc, loc): [count, total, self, min, max]

    def add(self, proc, loc, duration, own):
        """One zone that ended."""
        row = self.by_loc.get((proc, loc))
        if row is None:
            self.by_loc[proc, loc] = [1, duration, own, duration, duration]
            return
        row[0] += 1
        row[1] += duration
        row[2] += own
        if duration < row[3]:
            row[3] = duration
        if duration > row[4]:
            row[4] = duration

    def add_part(self, part):
        """The zones of threads that end in a part."""
        proc, add = part.proc, self.add
        for begin, end, own, _, loc, _ in part.ended:
            add(proc, loc, end - begin if end > begin else 0, own)


def zone_rows(trace, totals):
    """Per location: what it is, its sums in ticks and in ns."""
    rows = []
    for (proc, loc), (count, total, own, low, high) in sorted(totals.by_loc.items()):
        row = {"proc": proc, "loc": loc, "name": trace.loc_name(proc, loc), "count": count}
        for key, ticks in (("total", total), ("self", own), ("min", low), ("max", high)):
            row[key] = ticks
            row[key + "_ns"] = trace.ticks_ns(ticks)
        rows.append(row)
    return rows


def ledger_rows(trace):
    """The ledger as rows: emitted = stored + dropped + words in gaps that nothing explains."""
    return [{"proc": proc, "track": track, "stored": row["stored"], "gap_words": row["gap_words"],
             "hole_words": row["hole_words"],
             "dropped": {str(cause): n for cause, n in sorted(row["dropped"].items()) if n},
             "emitted": row["stored"] + row["hole_words"] + sum(row["dropped"].values())}
            for (proc, track), row in sorted(trace.ledger().items())]


def finish(trace, totals):
    """Add the fibers' zones to the totals; returns (open zones, number of unfinished ones)."""
    still_open, n_unfinished = [], len(trace.unfinished)
    for zone in trace.fiber_zones():
        if zone.state == ENDED:
            totals.add(zone.proc, zone.loc, zone.duration, zone.self)
        elif zone.state == OPEN:
            still_open.append(zone)
        else:
            n_unfinished += 1
    return list(trace.open_zones()) + still_open, n_unfinished


def build_facts(trace, totals, still_open, n_unfinished):
    """What is in a trace, as JSON-able data; after all parts were read."""
    counts = trace.kind_counts()
    return {
        "version": trace.version, "closed": trace.closed, "cut_at": trace.cut_at,
        "events": sum(counts.values()), "kinds": {str(k): n for k, n in sorted(counts.items())},
        "kind_names": {trace.names.get(k, str(k)): n for k, n in sorted(counts.items())},
        "mult": trace.mult, "zones": zone_rows(trace, totals), "ledger": ledger_rows(trace),
        "open": len(still_open), "unfinished": n_unfinished, "lost_begin": len(trace.lost_begins),
        "open_zones": [{"proc": z.proc, "track": z.track, "fiber": z.fiber, "loc": z.loc, "begin": z.begin,
                        "name": trace.loc_name(z.proc, z.loc), "depth": z.depth} for z in still_open],
        "processes": sum(key[0] == "process" for key in trace.keyed),
        "threads": sum(key[0] == "thread" for key in trace.keyed),
        "records": dict(collections.Counter(record.name for record in trace.records)),
        "blocks": len(trace.blocks), "holes": [hole._asdict() for hole in trace.holes],
        "skipped": trace.skipped,
    }


def facts(path):
    """What is in the trace at a path."""
    trace, totals = Trace(path), Totals()
    for part in trace.parts():
        totals.add_part(part)
    return build_facts(trace, totals, *finish(trace, totals))


def main():
    parser = argparse.ArgumentParser(description="read a Strobe trace")
    parser.add_argument("file")
    parser.add_argument("--check", action="store_true", help="list every disagreement with the format")
    parser.add_argument("--closed", action="store_true", help="a file without footer is one")
    parser.add_argument("--holes", action="store_true", help="a hole is none")
    parser.add_argument("--json", action="store_true", help="print what is in it")
    args = parser.parse_args()
    try:
        if args.check:
            import strobe_check
            checker = strobe_check.Checker(args.file, args.closed, args.holes)
            found = checker.run()
            print("\n".join(found) or f"{args.file}: {checker.summary()}", file=sys.stderr if args.json else sys.stdout)
            if args.json:
                print(json.dumps(checker.facts, indent=1))
            return 1 if found else 0
        print(json.dumps(facts(args.file), indent=1))
    except (FormatError, OSError) as error:
        print(f"{args.file}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
