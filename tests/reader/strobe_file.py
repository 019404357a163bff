"""strobe_file.py - a trace file but for its events: head, blocks, holes, records, the reserved ledger and the clock."""
import collections
import mmap
import os
import struct

import strobe_format as sf
from strobe_blocks import Block, unzstd, xxh64
from strobe_format import FormatError, read_varint

Record = collections.namedtuple("Record", "kind name proc fields")
Hole = collections.namedtuple("Hole", "offset end seq n_blocks")


class File:
    """A trace file without its events. A file that is no trace raises FormatError; anything later is in `problems`."""

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
            "plot_config": 1, "lock_name": 1, "fiber_name": 1, "process_end": 1, "thread_end": 2, "pool": 2, "host": 0,
            "outer_pid": 1}

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
        if name == "kind":
            self.add_kind(fields[0].decode("utf-8", "replace"))
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

    def add_kind(self, line):
        """A line of the schema for which the head had no room."""
        for number, kind in sf.parse_schema(line).items():
            if self.schema.setdefault(number, kind) != kind:
                raise FormatError(f"kind record {line!r}: the schema has another one")
            self.names[number], self.letters[number] = kind[:2]

    def clock_error(self, proc, tick):
        """(how, likely_ns, proven_ns, n_steps) of a time of a process in a merged trace; None: it was not merged."""
        found = None
        for record in self.records:
            if record.name == "clock_placed":
                first, n_procs, how, since, likely, proven, n_steps, _ = record.fields
                if first <= proc < first + n_procs and (found is None or since <= tick):
                    found = how, likely, proven, n_steps
        return found

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
                if record.name == "recording" and record.fields[1] == 1:
                    continue    # the recording ended in good order
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
        points = [(s[1], s[2], s[5]) for s in self.syncs if s[0] == 1]
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(points, points[1:]) if not b[2] and b[0] >= a[0] and b[1] >= a[1]]
        ticks, ns = sum(step[0] for step in steps), sum(step[1] for step in steps)
        self.mult = (ns << 32) // ticks if ticks else 1 << 32
        first = [(t, m) for t, m, jump in points if not jump][:1]
        self.pieces_of_time = sorted(first + [(t, m) for t, m, jump in points if jump], key=lambda piece: piece[0])

    def ticks_ns(self, d):
        """A duration in ns."""
        return d * self.mult >> 32

    def piece_of(self, tick):
        """(t0, m0) of the piece that a tick is in, and the time that it does not go beyond, None: any."""
        t0 = m0 = 0
        end = None
        for number, (t, m) in enumerate(self.pieces_of_time):
            if number == 0 or t <= tick:
                t0, m0, end = t, m, None
            elif end is None:
                end = m
        return t0, m0, end if end is not None and end >= m0 else None

    def span_ns(self, tick, d):
        """The duration of what begins at a tick: time of the end less time of the begin."""
        t0 = self.piece_of(tick)[0]
        return ((tick - t0 + d) * self.mult >> 32) - ((tick - t0) * self.mult >> 32)

    def tick_ns(self, tick):
        """A tick on the axis, in ns of CLOCK_MONOTONIC."""
        t0, m0, end = self.piece_of(tick)
        ns = m0 + ((tick - t0) * self.mult >> 32)
        return ns if end is None else min(ns, end)

    def origin(self):
        """Tick at which the recording began."""
        return self.recordings[0][0] if self.recordings else 0
