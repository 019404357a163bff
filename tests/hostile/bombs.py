"""bombs.py - small files that stand for large ones, or for much work: what a stranger would send.

Every maker writes about `size` bytes to a path. None of them is what a writer of traces makes."""
import gzip
import os
import struct
import sys

import zstandard

for folder in ("reader", "tracy_files"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder))
import strobe_format as sf  # noqa: E402
import strobe_writer as sw  # noqa: E402
import write_tracy  # noqa: E402

LOD = 5
RAW = 16 << 20
PART = (1, 1, 0)    # process, track, position


def squeeze(data):
    """A frame as short as zstd makes it."""
    return zstandard.ZstdCompressor(level=19).compress(data)


def part(n_events, below=0, track=1, n_big=0, n_side=0, locs=1):
    """A part's entry in the head of its block; its zones are those of location 1."""
    fields = [1, track, 0, n_events, n_events, 1000, 0, 0, 0, below, 0, locs] + [2] * locs + [n_big, n_side, 0]
    return b"".join(map(sf.varint, fields))


def columns(*streams):
    """A body of EVENTS: (raw size, stored bytes) of each stream."""
    table = b"".join(struct.pack("<II", raw, len(stored)) for raw, stored in streams)
    return table + b"".join(stored for _, stored in streams)


class Bomb:
    """A file of one kind of block, again and again, after the records that a trace begins with."""

    def __init__(self, path):
        self.writer = sw.Writer(path)
        self.writer.thread(1, 1)
        self.writer.loc(1, 1, "zone")
        self.writer.flush()

    def put(self, type_, head, head_raw, body, n_items):
        """A block whose head is stored as it is given."""
        writer, payload = self.writer, head + body
        top = sf.BLOCK_HEAD.pack(sf.BLOCK_MAGIC, type_, 0, 0, writer.seq, len(head), len(body), head_raw, n_items,
                                 1000, 2000, writer.prev_index, sw.xxh64(payload), 0)[:64]
        size = sf.BLOCK_HEAD_BYTES + len(payload)
        entry = sf.ENTRY.pack(writer.file.tell(), 1000, 2000, n_items, 0, size, type_, 0, 0)
        writer.file.write(top + struct.pack("<Q", sw.xxh64(top)) + payload + bytes(sf.padded(size) - size))
        writer.seq += 1
        writer.list_entry(entry)

    def fill(self, size, *block):
        """So many of them that the file has the size."""
        while self.writer.file.tell() < size:
            self.put(*block)
        self.writer.close(True)


def heads(path, size):
    """EVENTS whose heads unpack to 16 MiB of zeros: parts of nothing."""
    head = squeeze(sf.varint(65536) + bytes(RAW - 3))
    Bomb(path).fill(size, sf.EVENTS, head, RAW, columns(*[(0, b"")] * 5), 0)


def records(path, size):
    """RECORDS of 16 MiB: the same name of a thread, a million times."""
    one = sf.encode_fields("uus", (1, 1, b"worker"))
    row = sf.varint(66) + sf.varint(len(one)) + one
    raw = row * (RAW // len(row))
    stored = squeeze(raw)
    Bomb(path).fill(size, sf.RECORDS, b"", 0, struct.pack("<II", len(raw), len(stored)) + stored, 1)


def sides(path, size):
    """EVENTS of one event whose side stream is 16 MiB out of one byte."""
    n = RAW - 4096
    body = columns((1, b"\0"), (1, b"\0"), (1, b"\0"), (0, b""), (n, b"\0"))
    Bomb(path).fill(size, sf.EVENTS, sf.varint(1) + part(1, n_side=n), 0, body, 1)


def events(path, size):
    """EVENTS of 65,536 events out of three bytes."""
    body = columns((65536, b"\x40"), (65536, b"\x01"), (65536, b"\0"), (0, b""), (0, b""))
    Bomb(path).fill(size, sf.EVENTS, sf.varint(1) + part(65536), 0, body, 65536)


def lods(path, size):
    """LOD blocks whose lanes unpack to 16 MiB."""
    stored = squeeze(bytes(RAW))
    head = b"".join(map(sf.varint, (sf.FIRST_BLOCK, 1, 0, 0)))
    Bomb(path).fill(size, LOD, head, 0, struct.pack("<II", RAW, len(stored)) + stored, 1)


def depths(path, size):
    """Tracks that each say that a million zones are open in them."""
    bomb, n = Bomb(path), 0
    while bomb.writer.file.tell() < size:
        head = sf.varint(256) + b"".join(part(2, 1 << 20, n + i + 1) for i in range(256))
        body = columns((512, b"\x40\0" * 256), (512, b"\x01"), (512, b"\0"), (0, b""), (0, b""))
        bomb.put(sf.EVENTS, squeeze(head), len(head), body, 512)
        n += 256
    bomb.writer.close(True)


def nested(path, size):
    """Blocks inside of blocks, and an index that lists all of them."""
    bomb = Bomb(path)
    writer, start = bomb.writer, bomb.writer.file.tell()
    payload, n = b"", (size - start) // 160
    offsets = []
    head = sf.varint(1) + part(1)
    body = columns((1, b"\x40"), (1, b"\0"), (1, b"\0"), (0, b""), (0, b""))
    for i in range(n):  # from the inside out
        inner = head + body + bytes(-len(head + body) % 8) + payload
        top = sf.BLOCK_HEAD.pack(sf.BLOCK_MAGIC, sf.EVENTS, 0, 0, writer.seq + n - 1 - i, len(head),
                                 len(inner) - len(head), 0, 1, 1000, 2000, 0, sw.xxh64(inner), 0)[:64]
        payload = top + struct.pack("<Q", sw.xxh64(top)) + inner
        offsets.append(len(payload))
    writer.file.write(payload)
    for length in reversed(offsets):
        writer.list_entry(sf.ENTRY.pack(start + len(payload) - length, 1000, 2000, 1, 0, 136, sf.EVENTS, 0, 0))
    writer.seq += n
    writer.close(True)


def deep_zone(path, below=(1 << 32) - 1):
    """One zone whose depth is the largest number of 32 bits, so that one more is none."""
    bomb = Bomb(path)
    body = columns((2, b"\x40\0"), (2, b"\x01"), (2, b"\0"), (0, b""), (0, b""))
    bomb.put(sf.EVENTS, sf.varint(1) + part(2, below), 0, body, 2)
    bomb.writer.close(True)


def tracy(path, size):
    """A .tracy file that announces a thousand million million processors, each of them zeros."""
    host = "a host of some name"
    content = write_tracy.Trace().content({"host": host})
    at = content.index(host.encode()) + len(host)
    data = content[:at] + struct.pack("<Q", 1 << 50)
    frame = zstandard.ZstdCompressor(level=3, write_content_size=False).compressobj()
    with open(path, "wb") as out:
        out.write(b"tr\xfdP\x01\x01")
        data += bytes(65536 - len(data))
        while out.tell() < size:
            packed = frame.compress(data) + frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
            out.write(struct.pack("<I", len(packed)) + packed)
            data = bytes(65536)


def json_gz(path, size):
    """JSON that is a thousand times as long as its gzip: blanks between two events."""
    with open(path, "wb") as out:
        zipped = gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=0)
        zipped.write(b'[{"ph":"X","ts":1,"dur":1,"name":"a","pid":1,"tid":1},')
        while out.tell() < size:
            zipped.write(b" " * (1 << 20))
        zipped.write(b"]")
        zipped.close()


OF_TRACES = {"heads": heads, "records": records, "sides": sides, "events": events, "lods": lods,
             "depths": depths, "nested": nested}
