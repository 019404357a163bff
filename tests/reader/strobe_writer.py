#!/usr/bin/env python3
"""strobe_writer.py - writes small, valid traces (docs/file-format.md) without a recorder.

    strobe_writer.py OUT.strobe --zones N --threads T --procs P --seed S [--no-footer] [--kinds all]
                     [--expect FACTS.json] [--block-events N] [--index-every N]

As a library: make a Writer, take Thread objects from it, emit with begin, end, end_pop, end_lost, event,
lose, drop; flush() cuts a block, close() writes the rest. `Writer.facts()` says what a reader must find.
"""
import argparse
import collections
import json
import os
import random
import struct
import sys

import xxhash
import zstandard

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import strobe_format as sf  # noqa: E402

KINDS = sf.parse_schema(sf.SCHEMA)
NUMBERS = {name: number for number, (name, _, _) in KINDS.items()}
MONO_AT_ZERO = 5_000_000_000


def xxh64(data):
    """XXH64 with seed 0."""
    return xxhash.xxh64_intdigest(bytes(data), seed=0)


def pack(data):
    """What is stored for a stream: a byte if all are the same, a zstd frame if it is shorter, else itself."""
    data = bytes(data)
    if len(data) > 1 and data.count(data[0]) == len(data):
        return data[:1]
    frame = zstandard.ZstdCompressor(level=1).compress(data) if len(data) > 32 else data
    return frame if len(frame) < len(data) else data


def pack_hi_by_lo(lo, hi):
    """hi as what follows from lo: most of it where a clock counts in steps, all of it as what differs where not."""
    table = dict(zip(lo, hi))
    out, last = sf.varint(len(table)), 0
    for key in sorted(table):
        out += bytes((key - last, table[key]))
        last = key
    others, last = [i for i, pair in enumerate(zip(lo, hi)) if table[pair[0]] != pair[1]], 0
    out += sf.varint(len(others))
    for i in others:
        out += sf.varint(i - last) + hi[i:i + 1]
        last = i
    return out


def pack_records(data):
    """As pack, but a RECORDS body knows no repeated byte."""
    frame = zstandard.ZstdCompressor(level=1).compress(bytes(data)) if len(data) > 32 else data
    return frame if len(frame) < len(data) else bytes(data)


def histogram_bucket(d):
    """Number of the histogram bucket of a duration."""
    if d < 32:
        return d
    e = d.bit_length() - 1
    return 32 * (e - 4) + ((d >> (e - 5)) & 31)


class Part:
    """A run of events of one thread while it is being made."""

    def __init__(self, thread, tick):
        self.proc, self.track, self.pos = thread.proc, thread.track, thread.pos
        self.fiber = thread.fiber
        self.stack = [tuple(zone) for zone in thread.stack]
        self.low = len(self.stack)
        self.first_tick = self.tick = tick
        self.tick_low = self.tick_high = tick
        self.n_words = 0
        self.locs = {}
        self.sym, self.lo, self.hi = bytearray(), bytearray(), bytearray()
        self.big, self.side = bytearray(), bytearray()
        self.ended = []     # (depth, loc, begin, end, self time)
        self.cut = []       # (depth, begin, end) of zones that are unfinished
        self.left_open = []

    def loc_index(self, loc):
        """Number of a location in the part's list."""
        return self.locs.setdefault(loc, len(self.locs))

    def put(self, sym, tick, side, words):
        """One more event."""
        step = tick - self.tick
        if 0 <= step < 65535:
            self.lo.append(step & 255)
            self.hi.append(step >> 8)
        else:
            self.lo.append(255)
            self.hi.append(255)
            self.big += sf.zigzag(step)
        self.sym.append(sym)
        self.side += side
        self.tick = tick
        self.tick_low = min(self.tick_low, tick)
        self.tick_high = max(self.tick_high, tick)
        self.n_words += words

    def close(self, stack):
        """The part ends; what is still open stays open in it."""
        self.left_open = [(depth, zone[1], self.tick) for depth, zone in enumerate(stack)]

    def tick_min(self):
        """Earliest tick of an event, or begin of a zone that ends here."""
        return min([self.tick_low] + [zone[2] for zone in self.ended])

    def head(self, list_all=False):
        """The part's entry in the head of its block."""
        low = 0 if list_all else self.low
        early = max(0, self.first_tick - self.stack[low][1]) if self.stack[low:] else 0
        for loc, _, _ in self.stack[low:]:
            self.loc_index(loc)
        summarised = len(self.sym) >= sf.SUMMARY_FROM and len(self.locs) <= sf.SUMMARY_LOCS
        summary = self.summary() if summarised else b""
        out = b"".join(map(sf.varint, (self.proc, self.track, self.pos, self.n_words, len(self.sym), self.first_tick)))
        out += sf.zigzag(self.tick - self.first_tick) + sf.varint(early) + sf.varint(self.fiber)
        out += sf.varint(low) + sf.varint(len(self.stack) - low)
        for loc, begin, children in self.stack[low:]:
            out += sf.varint(loc) + sf.zigzag(self.first_tick - begin) + sf.varint(children)
        out += sf.varint(len(self.locs))
        last = 0
        for loc in self.locs:
            out += sf.zigzag(loc - last)
            last = loc
        out += sf.varint(len(self.big)) + sf.varint(len(self.side)) + sf.varint(1 if summary else 0)
        return out + summary

    def summary(self):
        """Statistics per location, then the level of detail."""
        by_loc = {}
        for _, loc, begin, end, own in self.ended:
            by_loc.setdefault(self.loc_index(loc), []).append((max(0, end - begin), own))
        out = sf.varint(len(by_loc))
        for index in sorted(by_loc):
            times = [d for d, _ in by_loc[index]]
            squares = sum(d * d for d in times)
            out += b"".join(map(sf.varint, (
                index, len(times), sum(times), sum(own for _, own in by_loc[index]), min(times), max(times),
                squares & sf.U64, squares >> 64 & sf.U64)))
            out += self.steps(collections.Counter(map(histogram_bucket, times)))
        return out + self.detail()

    @staticmethod
    def steps(histogram):
        """A histogram as differences of bucket numbers and counts."""
        out, last = sf.varint(len(histogram)), 0
        for bucket in sorted(histogram):
            out += sf.varint(bucket - last) + sf.varint(histogram[bucket])
            last = bucket
        return out

    def detail(self):
        """The level of detail: per depth the buckets of time."""
        shift = 0
        while (self.tick_high >> shift) - (self.first_tick >> shift) >= sf.LOD_BUCKETS:
            shift += 1
        depths = [{} for _ in range(sf.LOD_DEPTHS)]
        spans = [(depth, begin, end) for depth, _, begin, end, _ in self.ended] + self.cut + self.left_open
        for depth, begin, end in spans:
            if depth < sf.LOD_DEPTHS:
                self.add_busy(depths[depth], shift, max(begin, self.first_tick), min(end, self.tick))
        for depth, loc, begin, end, _ in self.ended:
            if depth < sf.LOD_DEPTHS:
                bucket = depths[depth].setdefault(max(end, self.first_tick) >> shift, [0, 0, -1, 0, 0])
                bucket[0] += 1
                duration, index = max(0, end - begin), self.loc_index(loc) + 1
                if duration > bucket[2] or duration == bucket[2] and loc < bucket[4]:
                    bucket[2:] = duration, index, loc
        while depths and not depths[-1]:
            depths.pop()
        out = sf.varint(shift) + sf.varint(len(depths))
        for buckets in depths:
            out += sf.varint(len(buckets))
            last = self.first_tick >> shift
            for number in sorted(buckets):
                count, busy, longest, index, _ = buckets[number]
                out += b"".join(map(sf.varint, (number - last, count, busy, max(0, longest), index)))
                last = number
        return out

    @staticmethod
    def add_busy(buckets, shift, begin, end):
        """Spread the ticks from begin to end over the buckets."""
        while begin < end:
            number = begin >> shift
            stop = min(end, (number + 1) << shift)
            buckets.setdefault(number, [0, 0, -1, 0, 0])[1] += stop - begin
            begin = stop


class Stats:
    """What is known about the zones of one location."""

    def __init__(self):
        self.count = self.total = self.own = 0
        self.shortest = self.longest = None

    def add(self, duration, own):
        """One more zone."""
        self.count += 1
        self.total += duration
        self.own += own
        self.shortest = duration if self.shortest is None else min(self.shortest, duration)
        self.longest = duration if self.longest is None else max(self.longest, duration)


class Thread:
    """One thread that emits; ticks are the caller's."""

    def __init__(self, writer, proc, track):
        self.writer, self.proc, self.track = writer, proc, track
        self.pos = 0
        self.fiber = 0
        self.stack = []     # [loc, begin tick, ticks of finished children]
        self.part = None
        self.parts = []
        self.stored = 0
        self.gap_words = 0
        self.dropped = collections.Counter()

    def emit(self, sym, tick, side=b"", words=1):
        """Any symbol, as it is: the caller keeps the stack right."""
        if self.part is None:
            self.part = Part(self, tick)
        self.part.put(sym, tick, side, words)
        self.pos += words
        self.stored += 1
        self.writer.n_pending += 1
        self.writer.note(63 if sym > 63 else sym, tick)

    def start_part(self, tick):
        """Make sure that there is a part, before the stack changes."""
        if self.part is None:
            self.part = Part(self, tick)
        return self.part

    def begin(self, loc, tick):
        """A zone begins."""
        part = self.start_part(tick)
        index = part.loc_index(loc)
        self.emit(*((64 + index, tick) if index < 192 else (63, tick, sf.varint(index))))
        if self.fiber:
            self.writer.fiber_stack(self).append([loc, tick, 0])
        else:
            self.stack.append([loc, tick, 0])

    def end(self, tick):
        """The innermost open zone ends (of the fiber, if the thread runs one)."""
        if self.fiber:
            self.end_lost(self.writer.fiber_stack(self)[-1][0], tick)
        else:
            self.end_pop(0, tick)

    def end_pop(self, n, tick):
        """The n innermost zones are unfinished, the one below ends."""
        part = self.start_part(tick)
        for _ in range(n):
            _, begin, _ = self.stack.pop()
            part.cut.append((len(self.stack), begin, tick))
            self.writer.n_unfinished += 1
        loc, begin, children = self.stack.pop()
        depth = len(self.stack)
        part.low = min(part.low, depth)
        part.loc_index(loc)
        duration = max(0, tick - begin)
        own = max(0, duration - children)
        if self.stack:
            self.stack[-1][2] += duration
        part.ended.append((depth, loc, begin, tick, own))
        self.writer.add_zone(self.proc, loc, duration, own)
        self.emit(*((sf.END_POP, tick, sf.varint(n)) if n else (sf.END, tick)))

    def end_under(self, n, tick):
        """The zone below the n innermost ones ends; those stay."""
        part = self.start_part(tick)
        loc, begin, children = self.stack.pop(len(self.stack) - 1 - n)
        depth = len(self.stack) - n
        part.low = min(part.low, depth)
        part.loc_index(loc)
        duration = max(0, tick - begin)
        own = max(0, duration - children)
        if depth:
            self.stack[depth - 1][2] += duration
        part.ended.append((depth, loc, begin, tick, own))
        self.writer.add_zone(self.proc, loc, duration, own)
        self.emit(sf.END_UNDER, tick, sf.varint(n))

    def end_lost(self, loc, tick):
        """A zone ends whose begin the thread doesn't know; in a fiber, any end."""
        self.emit(sf.END_LOST, tick, sf.varint(loc))
        stack = self.writer.fiber_stack(self) if self.fiber else []
        at = max((i for i, zone in enumerate(stack) if zone[0] == loc), default=None)
        if at is None:
            self.writer.n_lost_begin += 1
            return
        self.writer.n_unfinished += len(stack) - at - 1
        _, begin, children = stack[at]
        del stack[at:]
        duration = max(0, tick - begin)
        if stack:
            stack[-1][2] += duration
        self.writer.add_zone(self.proc, loc, duration, max(0, duration - children))

    def event(self, kind, tick, *fields):
        """An event of a kind (number or name) that isn't a zone's begin or end."""
        number = NUMBERS.get(kind, kind)
        side = sf.encode_fields(KINDS[number][1], fields)
        self.start_part(tick)
        self.emit(number, tick, side, 1 + (len(side) + 7) // 8)
        if number == sf.FIBER_ENTER:
            self.fiber = fields[0]
        elif number == sf.FIBER_LEAVE:
            self.fiber = 0

    def cut_part(self):
        """What comes next is a part of its own."""
        if self.part is not None:
            self.part.close(self.stack)
            self.parts.append(self.part)
            self.part = None

    def lose(self, n_words, keep=None):
        """n_words of the stream are nowhere; of the open zones the first `keep` are still open (None: all)."""
        self.cut_part()
        self.pos += n_words
        self.gap_words += n_words
        if keep is not None:
            self.writer.n_unfinished += len(self.stack) - keep
            del self.stack[keep:]

    def drop(self, cause, count, first_tick, last_tick):
        """Events that the thread never emitted, and the record that says so."""
        self.dropped[cause] += count
        self.writer.record("loss", self.proc, self.track, cause, count, first_tick, last_tick)


class Writer:
    """A trace file while it is being made."""

    def __init__(self, path, index_every=256, block_events=sf.EVENTS_MAX, schema=sf.SCHEMA, list_all=False):
        self.file = open(path, "wb")
        self.index_every, self.block_events, self.list_all = index_every, block_events, list_all
        self.seq = 0
        self.prev_index = 0
        self.pending = []           # per level: entries that no INDEX lists yet
        self.records = bytearray()
        self.n_records = 0
        self.n_pending = 0
        self.threads = {}
        self.processes = set()
        self.fibers = {}
        self.kinds = collections.Counter()
        self.zones = collections.defaultdict(Stats)
        self.names = {}
        self.losses = collections.Counter()
        self.unknown_losses = collections.Counter()
        self.reserved = []
        self.n_unfinished = self.n_lost_begin = 0
        self.first_tick, self.last_tick = None, 0
        self.offsets = []           # (offset, type) of every block
        self.write_head(schema)

    def write_head(self, schema):
        """File head and the reserved ledger, empty."""
        head = sf.FILE_HEAD.pack(sf.MAGIC, sf.VERSION, sf.HEAD_BYTES, sf.LEDGER_OFF, sf.LEDGER_BYTES,
                                 sf.FIRST_BLOCK, 1_700_000_000_000_000_000, bytes(range(16)), 1_000_000_000, b"",
                                 b"/run/strobe/synthetic", schema.encode(), 0)[:-8]
        self.file.write(head + struct.pack("<Q", xxh64(head)) + bytes(sf.LEDGER_BYTES))

    # -- blocks ------------------------------------------------------------------------------------------

    def block(self, type_, head=b"", body=b"", level=0, n_items=0, ticks=(0, 0), counts=(0, 0), flags=0):
        """Write one block; returns its index entry."""
        stored, raw = head, 0
        if head:
            frame = zstandard.ZstdCompressor(level=1).compress(head)
            if len(frame) < len(head):
                stored, raw = frame, len(head)
        offset = self.file.tell()
        payload = stored + body
        if len(payload) > sf.BLOCK_MAX or type_ == sf.EVENTS and n_items > sf.EVENTS_MAX:
            raise ValueError("block too large")
        top = sf.BLOCK_HEAD.pack(sf.BLOCK_MAGIC, type_, level, flags, self.seq, len(stored), len(body), raw, n_items,
                                 *ticks, self.prev_index, xxh64(payload), 0)[:64]
        size = sf.BLOCK_HEAD_BYTES + len(payload)
        self.file.write(top + struct.pack("<Q", xxh64(top)) + payload + bytes(sf.padded(size) - size))
        self.offsets.append((offset, type_))
        self.seq += 1
        if type_ == sf.INDEX:
            self.prev_index = offset
        return sf.ENTRY.pack(offset, *ticks, *counts, size, type_, level, 0)

    def list_entry(self, entry, level=1):
        """Remember a block for the INDEX of a level, and write that when it is full."""
        while len(self.pending) < level:
            self.pending.append([])
        entries = self.pending[level - 1]
        entries.append(entry)
        if len(entries) < self.index_every:
            return
        fields = [sf.ENTRY.unpack(e) for e in entries]
        timed = [f for f in fields if f[6] != sf.RECORDS and f[2]]
        ticks = (min((f[1] for f in timed), default=0), max((f[2] for f in timed), default=0))
        counts = (sum(f[3] for f in fields), sum(f[4] for f in fields))
        self.pending[level - 1] = []
        made = self.block(sf.INDEX, b"", b"".join(entries), level, len(entries), ticks, counts)
        self.list_entry(made, level + 1)

    def flush_records(self):
        """Write the waiting records as a block."""
        if self.n_records:
            stored = pack_records(self.records)
            body = struct.pack("<II", len(self.records), len(stored)) + stored
            n, self.records, self.n_records = self.n_records, bytearray(), 0
            self.list_entry(self.block(sf.RECORDS, b"", body, n_items=n))

    def flush(self):
        """Write the waiting records, then the waiting events as one block."""
        self.flush_records()
        parts = []
        for thread in self.threads.values():
            thread.cut_part()
            parts += thread.parts
            thread.parts = []
        self.n_pending = 0
        if not parts:
            return
        head = sf.varint(len(parts)) + b"".join(part.head(self.list_all) for part in parts)
        raws = [b"".join(getattr(part, name) for part in parts) for name in ("sym", "lo", "hi", "big", "side")]
        stored = [pack(raw) for raw in raws]
        is_by_lo = self.seq % 2     # both forms in one file
        if is_by_lo:
            stored[2] = pack_hi_by_lo(raws[1], raws[2])
        body = b"".join(struct.pack("<II", len(r), len(s)) for r, s in zip(raws, stored)) + b"".join(stored)
        ticks = (min(part.tick_min() for part in parts), max(part.tick_high for part in parts))
        counts = (len(raws[0]), sum(len(part.ended) for part in parts))
        self.list_entry(self.block(sf.EVENTS, head, body, 0, len(raws[0]), ticks, counts, is_by_lo))

    def footer(self):
        """The body of the FOOTER block."""
        out = sf.varint(len(self.kinds))
        for kind in sorted(self.kinds):
            out += sf.varint(kind) + sf.varint(self.kinds[kind])
        out += sf.varint(len(self.losses))
        for cause in sorted(self.losses):
            out += sf.varint(cause) + sf.varint(self.losses[cause])
        out += sf.varint(len(self.processes)) + sf.varint(len(self.threads))
        out += sf.varint(self.first_tick or 0) + sf.varint(self.last_tick) + sf.varint(len(self.pending))
        for entries in self.pending:
            out += sf.varint(len(entries)) + b"".join(entries)
        return out

    def close(self, footer=True):
        """Write what waits; then footer and trailer, unless the writer shall look killed."""
        self.flush()
        if footer:
            self.write_footer()
        self.write_reserved()
        self.file.close()

    def write_footer(self):
        """Footer and trailer; whoever goes on after it is a recorder that recovers."""
        at = self.file.tell()
        self.block(sf.FOOTER, b"", self.footer())
        trailer = sf.TRAILER_MAGIC + struct.pack("<QQ", at, self.file.tell())
        self.file.write(trailer + struct.pack("<Q", xxh64(trailer)))

    def write_reserved(self):
        """The reserved ledger: an older slot that must not count, and the one that does."""
        for seq, losses in enumerate((self.reserved[:1], self.reserved), 1):
            if losses:
                data = b"".join(self.encode_record(NUMBERS["loss"], loss) for loss in losses)
                slot = sf.SLOT.pack(sf.SLOT_MAGIC, seq, len(data), 0, xxh64(data)) + data
                self.file.seek(sf.LEDGER_OFF + (seq - 1) * sf.SLOT_BYTES)
                self.file.write(slot)

    # -- records -----------------------------------------------------------------------------------------

    @staticmethod
    def encode_record(number, fields, proc=None):
        """A record's bytes."""
        data = sf.varint(proc) if 64 <= number < 96 else b""
        data += sf.encode_fields(KINDS[number][1], fields)
        return sf.varint(number) + sf.varint(len(data)) + data

    def record(self, kind, *fields, proc=None):
        """A record of a kind (number or name)."""
        number = NUMBERS.get(kind, kind)
        self.records += self.encode_record(number, fields, proc)
        self.n_records += 1
        if number == NUMBERS["loss"]:
            self.losses[fields[2]] += fields[3]
            if (fields[0], fields[1]) not in self.threads:
                self.unknown_losses[fields[:3]] += fields[3]

    def reserve_loss(self, proc, track, cause, count, first_tick, last_tick):
        """A loss that goes to the reserved ledger."""
        self.reserved.append((proc, track, cause, count, first_tick, last_tick))
        if (proc, track) in self.threads:
            self.threads[proc, track].dropped[cause] += count
        else:
            self.unknown_losses[proc, track, cause] += count

    def process(self, proc, pid=None, name="prog"):
        """A process and the records every process has."""
        self.processes.add(proc)
        pid = pid or 1000 + proc
        self.record("process", pid, 1, 12345, f"/usr/bin/{name}", "/", f"{name}\0--fast", proc=proc)
        self.record("program_name", name, proc=proc)

    def thread(self, proc, track, name=None, start_tick=0):
        """A thread of a process; the process is made if it isn't there."""
        if proc not in self.processes:
            self.process(proc)
        self.record("thread", track, 2000 + 100 * proc + track, start_tick, name or f"thread {track}", proc=proc)
        return self.threads.setdefault((proc, track), Thread(self, proc, track))

    def loc(self, proc, id_, name, line=1, function="work", file="work.c", color=0):
        """A source location."""
        self.names[proc, id_] = name or function
        self.record("loc", id_, line, color, function, file, name, proc=proc)
        return id_

    def clocks(self, first_tick, last_tick, real_ns=1_700_000_000_000_000_000):
        """Two sync points: 2.5 ticks per ns."""
        for tick in (first_tick, last_tick):
            mono = MONO_AT_ZERO + tick * 2 // 5
            self.record("clock_sync", 1, tick, mono, real_ns + mono, 40, 0)

    # -- facts -------------------------------------------------------------------------------------------

    def note(self, kind, tick):
        """Count an event; cut a block when enough are waiting."""
        self.kinds[kind] += 1
        if self.first_tick is None or tick < self.first_tick:
            self.first_tick = tick
        self.last_tick = max(self.last_tick, tick)

    def maybe_flush(self):
        """Cut a block when enough events are waiting."""
        if self.n_pending >= self.block_events:
            self.flush()

    def fiber_stack(self, thread):
        """Open zones of the fiber that a thread runs."""
        return self.fibers.setdefault((thread.proc, thread.fiber), [])

    def add_zone(self, proc, loc, duration, own):
        """A zone ended."""
        self.zones[proc, loc].add(duration, own)

    def facts(self):
        """What a reader must find, as JSON-able data."""
        zones = [{"proc": proc, "loc": loc, "name": self.names.get((proc, loc), ""), "count": s.count,
                  "total": s.total, "self": s.own, "min": s.shortest, "max": s.longest}
                 for (proc, loc), s in sorted(self.zones.items())]
        ledger = [{"proc": t.proc, "track": t.track, "stored": t.stored, "gap_words": t.gap_words,
                   "hole_words": 0 if any(t.dropped[c] for c in sf.GAP_CAUSES) else t.gap_words,
                   "dropped": {str(c): n for c, n in sorted(t.dropped.items()) if n}}
                  for _, t in sorted(self.threads.items())]
        n_open = sum(len(t.stack) for t in self.threads.values()) + sum(map(len, self.fibers.values()))
        return {"events": sum(self.kinds.values()), "kinds": {str(k): n for k, n in sorted(self.kinds.items())},
                "zones": zones, "ledger": ledger, "open": n_open, "unfinished": self.n_unfinished,
                "lost_begin": self.n_lost_begin, "processes": len(self.processes), "threads": len(self.threads),
                "other_losses": [[*key, n] for key, n in sorted(self.unknown_losses.items())]}


class Generator:
    """Random threads that nest zones; with all kinds, everything else too."""

    N_LOCS = 12

    def __init__(self, writer, args):
        self.w, self.args = writer, args
        self.random = random.Random(args.seed)
        self.tick = 1_000_000
        self.n_begun = 0
        self.next_span = 1
        self.threads = []
        self.in_use = {}    # (proc, fiber): thread that runs it

    def run(self):
        """All of it: the names, the events, the ends."""
        self.describe()
        while self.n_begun < self.args.zones:
            thread = self.random.choice(self.threads)
            for _ in range(self.random.randrange(1, 200)):
                self.step(thread)
            self.w.maybe_flush()
        for number, thread in enumerate(self.threads):
            self.finish(thread, leave_open=self.args.kinds == "all" and number % 3 == 1)
        self.w.clocks(1_000_000, self.tick)
        self.w.record("recording", self.tick, 1)

    def describe(self):
        """Host, processes, threads, locations and names."""
        self.w.record("host", "synthetic", "Linux 6.1", "no CPU")
        self.w.record("recording", self.tick, 0)
        for proc in range(1, self.args.procs + 1):
            self.w.process(proc, name=f"prog{proc}")
            for i in range(self.N_LOCS):
                self.w.loc(proc, 10 + i * 3, "" if i == 5 else f"zone {i}", 10 + i, f"function_{i}", "work.c", i)
            for i, text in enumerate(("queue", "frame", "heap", "fiber a", "fiber b")):
                self.w.record("string", 100 + i, text, proc=proc)
            for i in (103, 104):
                self.w.record("fiber_name", i, f"fiber {i}", proc=proc)
            self.w.record("plot_config", 100, 1, 0, 0xff8800, proc=proc)
            self.w.record("lock_name", 7, 10, "mutex", proc=proc)
            if self.args.kinds == "all":
                self.more_records(proc)
        for number in range(self.args.threads):
            self.threads.append(self.w.thread(1 + number % self.args.procs, 1 + number // self.args.procs,
                                              start_tick=self.tick))

    def more_records(self, proc):
        """One of every kind of record that isn't there yet, and a text in pieces."""
        self.w.record("module", 0x400000, 65536, 0, "00ff", "/usr/bin/prog", proc=proc)
        self.w.record("environment", "HOME=/", proc=proc)
        self.w.record("pool", proc, f"{proc}.pool", 17)
        self.w.record("overhead", 1000, 5000, 0, 1)
        self.w.record("note", proc, "all is well")
        self.w.record("str_piece", "a text in ")
        self.w.record("str_piece", "three ")
        self.w.record("note", proc, "pieces")
        self.w.record("trigger_kept", self.tick, "asked")

    def advance(self):
        """The next tick: mostly near, at times far."""
        far = self.random.random()
        self.tick += self.random.randrange(1, 400) if far < 0.97 else self.random.randrange(1, 300_000)
        return self.tick

    def step(self, thread):
        """One event of a thread."""
        if self.args.kinds == "all" and self.random.random() < 0.25:
            self.other(thread)
            return
        depth = len(self.w.fiber_stack(thread)) if thread.fiber else len(thread.stack)
        if depth < 24 and self.n_begun < self.args.zones and self.random.random() < (0.8 if depth < 3 else 0.45):
            self.n_begun += 1
            thread.begin(10 + 3 * self.random.randrange(self.N_LOCS), self.advance())
        elif depth:
            thread.end(self.advance())

    def other(self, thread):
        """Something that isn't a plain begin or end."""
        choice = self.random.randrange(12)
        if choice == 0:
            self.odd_end(thread)
        elif choice == 1:
            self.switch_fiber(thread)
        elif choice == 2 and self.random.random() < 0.05:
            thread.drop(self.random.choice((0, 1, 2, 5, 7)), self.random.randrange(1, 50), self.tick, self.advance())
        elif choice == 3 and self.random.random() < 0.05 and not thread.fiber:
            thread.lose(self.random.randrange(1, 100), self.random.randrange(len(thread.stack) + 1))
        elif choice == 4 and not thread.fiber:
            thread.event("zone_value", self.tick - self.random.randrange(1, 50), self.random.getrandbits(64))
        else:
            self.plain(thread)

    def odd_end(self, thread):
        """An end after losses."""
        if not thread.fiber and len(thread.stack) > 2:
            ends = thread.end_pop if self.random.random() < 0.5 else thread.end_under
            ends(self.random.randrange(1, len(thread.stack)), self.advance())
        else:
            thread.end_lost(10 + 3 * self.random.randrange(self.N_LOCS), self.advance())

    def switch_fiber(self, thread):
        """Enter a fiber that no thread runs, or leave."""
        if thread.fiber:
            del self.in_use[thread.proc, thread.fiber]
            thread.event("fiber_leave", self.advance())
            return
        fiber = self.random.choice((103, 104))
        if (thread.proc, fiber) not in self.in_use:
            self.in_use[thread.proc, fiber] = thread
            thread.event("fiber_enter", self.advance(), fiber)

    def plain(self, thread):
        """Any kind that has no state."""
        kind = self.random.choice([k for k in KINDS if 3 <= k < 63 and k not in (sf.FIBER_ENTER, sf.FIBER_LEAVE, sf.END_UNDER)])
        name, letters, _ = KINDS[kind]
        if kind == sf.PIECE:
            for text in ("one ", "two "):
                thread.event(kind, self.advance(), text)
            thread.event("message", self.tick, 2, 0, "three")
            return
        thread.event(kind, self.advance(), *(self.value(name, letter) for letter in letters))

    def value(self, name, letter):
        """A value for a field."""
        return {
            "u": lambda: self.random.getrandbits(self.random.choice((1, 7, 24, 48, 64))),
            "i": lambda: self.random.randrange(-(1 << 63), 1 << 63),
            "d": lambda: self.random.uniform(-1e9, 1e9),
            "n": lambda: self.random.randrange(100, 103),
            "l": lambda: 10 + 3 * self.random.randrange(self.N_LOCS),
            "s": lambda: f"{name} é " + "x" * self.random.randrange(0, 60),
            "a": lambda: [self.random.getrandbits(64) for _ in range(self.random.randrange(0, 6))],
        }[letter]()

    def finish(self, thread, leave_open):
        """Close what is open, or leave it."""
        if thread.fiber and not leave_open:
            self.switch_fiber(thread)
        while thread.stack and not leave_open:
            thread.end(self.advance())
        self.w.record("thread_end", thread.proc, thread.track, self.tick)
        if thread.track == 1:
            self.w.record("process_end", thread.proc, self.tick, 1, 0)
        if self.args.kinds == "all" and thread.track == 1:
            self.w.reserve_loss(thread.proc, 1, 3, 11, self.tick, self.tick)
            self.w.record("loss", thread.proc, 0, 1, 5, self.tick, self.tick)


def parse_args():
    """The command line."""
    parser = argparse.ArgumentParser(description="write a synthetic trace")
    parser.add_argument("out")
    parser.add_argument("--zones", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2, help="over all processes")
    parser.add_argument("--procs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-footer", action="store_true", help="as if the writer was killed")
    parser.add_argument("--kinds", choices=("zones", "all"), default="zones")
    parser.add_argument("--expect", metavar="FILE", help="write what a reader must find, as JSON")
    parser.add_argument("--block-events", type=int, default=40000, help="cut a block from so many events on")
    parser.add_argument("--index-every", type=int, default=256, help="entries of an INDEX")
    return parser.parse_args()


def main():
    args = parse_args()
    writer = Writer(args.out, args.index_every, min(args.block_events, sf.EVENTS_MAX - 1000))
    Generator(writer, args).run()
    writer.close(not args.no_footer)
    if args.expect:
        with open(args.expect, "w", encoding="utf-8") as file:
            json.dump(writer.facts(), file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
