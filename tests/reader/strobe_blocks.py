"""strobe_blocks.py - the pieces of a trace file: block headers, the heads of parts, levels of detail. See docs/file-format.md."""
import collections
import struct

import xxhash
import zstandard

import strobe_format as sf
from strobe_format import FormatError, read_varint, read_zigzag

DEPTH_MAX = 1 << 22     # open zones of a thread: more can't be true
Entry = collections.namedtuple("Entry", "offset tick_min tick_max n_events n_zones bytes type level zero")


def xxh64(data):
    """XXH64 with seed 0."""
    return xxhash.xxh64_intdigest(data, seed=0)


def unzstd(data, raw_size):
    """Decompress one frame whose size must come out right."""
    if raw_size > sf.BLOCK_MAX:
        raise FormatError(f"{raw_size} bytes after decompression: more than 16 MiB")
    try:
        if zstandard.frame_content_size(data) > raw_size:  # decompress() would allocate what the frame claims
            raise FormatError(f"zstd frame of {zstandard.frame_content_size(data)} bytes instead of {raw_size}")
        out = zstandard.ZstdDecompressor().decompress(data, max_output_size=max(1, raw_size))
    except zstandard.ZstdError as error:
        raise FormatError(f"zstd: {error}") from None
    if len(out) != raw_size:
        raise FormatError(f"zstd frame of {len(out)} bytes instead of {raw_size}")
    return out


class Block:
    """A block whose two hashes are right."""

    __slots__ = ("offset", "type", "level", "flags", "seq", "head_bytes", "body_bytes", "head_raw", "n_items",
                 "tick_min", "tick_max", "prev_index")

    def __init__(self, offset, fields):
        self.offset = offset
        (_, self.type, self.level, self.flags, self.seq, self.head_bytes, self.body_bytes, self.head_raw,
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
                 "n_unsure", "nested")

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
        self.nested = {} if self.flags & 4 else None    # {loc: ticks}; None: not known
        self.summary = None
        if self.flags & 1:
            self.summary, at = read_summary(data, at, self.first_tick)
        return at

    def read_ends(self, data, at):
        """Ends of the longest zones of the summary, from behind the last part; returns the offset of what follows."""
        n = int.from_bytes(data[at:at + 2], "little")
        _, shift, depths = self.summary
        give_ends(data[at + 2:at + 2 + n], shift, depths)
        return at + 2 + n

    def read_nested(self, data, at):
        """Nested sums, from behind the ends; returns the offset of what follows."""
        n, at = read_varint(data, at)
        index = 0
        for _ in range(n):
            step, at = read_varint(data, at)
            ticks, at = read_varint(data, at)
            index += step
            if index >= len(self.locs):
                raise FormatError(f"nested sum of location {index} of {len(self.locs)}")
            self.nested[self.locs[index]] = ticks
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
    """({index: (count, sum, self, min, max, squares, {bucket: n})}, shift, [{bucket: (count, busy, longest, loc, end)}])."""
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
        buckets[number] = (count, busy, longest, index, None)
    if len(buckets) != n:
        raise FormatError("level of detail: a bucket twice")
    return buckets, at


def give_ends(data, shift, depths):
    """Give the buckets whose longest zone is at least as long as they are wide its end."""
    at = 0
    for buckets in depths:
        for number, row in buckets.items():
            if row[2] >> shift:
                end, at = read_zigzag(data, at)
                buckets[number] = (*row[:4], (number << shift) + end)
    if at != len(data):
        raise FormatError("ends: bytes left over")


LodTrack = collections.namedtuple(
    "LodTrack", "proc track n_parts n_events n_zones first_tick last_tick low depth open coarse fine")


def read_lanes(data, at, first_tick):
    """(shift, [{bucket: (count, busy, longest, id of its location + 1, end)}]) of one track of an LOD block."""
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
            buckets[number] = (*values, None)
        if len(buckets) != n:
            raise FormatError("LOD block: a bucket twice")
        depths.append(buckets)
    return (shift, depths), at


def split_ends(data):
    """(what is before, [ends of each track]) of lanes with ends."""
    size = int.from_bytes(data[-4:], "little")
    if size + 4 > len(data):
        raise FormatError("LOD block: ends")
    ends, start, at = [], len(data) - 4 - size, len(data) - 4 - size
    while at < len(data) - 4:
        n = int.from_bytes(data[at:at + 4], "little")
        ends.append(data[at + 4:at + 4 + n])
        at += 4 + n
    return data[:start], ends


def read_lod(head, body, flags):
    """(first_offset, n_blocks, {offset: kinds}, [LodTrack]) of an LOD block."""
    head, head_ends = split_ends(head) if flags & 1 else (head, None)
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
    lanes, body_ends = split_ends(lanes) if flags & 1 else (lanes, None)
    tracks, in_body = [], 0
    for number in range(n):
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
        if flags & 1:
            give_ends(head_ends[number], *coarse)
            give_ends(body_ends[number], *fine)
        tracks.append(LodTrack(*fields, last, low, depth, is_open, coarse, fine))
    if at != len(head) or in_body != len(lanes):
        raise FormatError("LOD block: bytes left over")
    return first_offset, n_blocks, masks, tracks
