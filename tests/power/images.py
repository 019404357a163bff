"""images.py - what a disk may show after a power cut, made of the log of a writer (power_log.c).

The disk that is assumed: what was written before a sync began is there once the sync has ended. Of what was written since, each
sector of 512 bytes is there or not, whatever came before or after it; the file's length is any that it had since, or any
between. A sector that was not written shows what it had before, zeros where there was nothing, or, where nothing was, anything.
A write never harms bytes beside its own.
"""
import bisect
import collections
import random
import struct

CREATE, WRITE, TRUNCATE, ALLOCATE, SYNC_BEGIN, SYNC_END, DIR_BEGIN, DIR_END, MAPPED = range(1, 10)
ENTRY = struct.Struct("<4Q")
SECTOR, PAGE = 512, 4096
Op = collections.namedtuple("Op", "kind ns at n data")


def read_log(path):
    """All whole entries of a log."""
    with open(path, "rb") as file:
        data = file.read()
    ops, at = [], 0
    while at + ENTRY.size <= len(data):
        kind, ns, where, n = ENTRY.unpack_from(data, at)
        at += ENTRY.size
        payload = data[at:at + n] if kind == WRITE else b""
        if len(payload) < (n if kind == WRITE else 0):
            break
        at += len(payload)
        ops.append(Op(kind, ns, where, n, payload))
    return ops


class Disk:
    """The file as the disk has it."""

    def __init__(self, data=b""):
        self.data = bytearray(data)

    def resize(self, length):
        """Cut it, or add zeros."""
        if length < len(self.data):
            del self.data[length:]
        else:
            self.data.extend(bytes(length - len(self.data)))

    def put(self, at, data):
        """Bytes at a place, zeros before them where there was nothing."""
        if at + len(data) > len(self.data):
            self.resize(at + len(data))
        self.data[at:at + len(data)] = data

    def apply(self, op):
        """One entry, whole."""
        if op.kind == WRITE:
            self.put(op.at, op.data)
        elif op.kind == TRUNCATE:
            self.resize(op.at)
        elif op.kind == ALLOCATE:
            self.resize(max(len(self.data), op.at))
        elif op.kind == CREATE:
            self.resize(0)


class Log:
    """A log and the syncs in it."""

    def __init__(self, ops, base=b""):
        self.ops, self.base = ops, base
        self.ends, self.begins = [], []     # of each sync that ended: entry of its end, and of its begin
        begun = None
        for i, op in enumerate(ops):
            if op.kind == SYNC_BEGIN:
                begun = i
            elif op.kind == SYNC_END:
                self.ends.append(i)
                self.begins.append(begun)

    def n_durable(self, cut):
        """How many of the first `cut` entries a power cut behind them can't take away."""
        i = bisect.bisect_left(self.ends, cut)
        return self.begins[i - 1] if i else 0

    def durable(self, cut):
        """The disk with these, and nothing else."""
        disk = Disk(self.base)
        for op in self.ops[:self.n_durable(cut)]:
            disk.apply(op)
        return disk

    def blocks(self, first, last):
        """[(offset, bytes)] of the blocks that entries first to last wrote."""
        return [(op.at, op.data) for op in self.ops[first:last] if op.kind == WRITE and op.data[:4] == b"SBLK"]


def pieces(op, size):
    """A write cut at multiples of `size` in the file: (offset, bytes)."""
    at, end = op.at, op.at + len(op.data)
    while at < end:
        stop = min(end, at // size * size + size)
        yield at, op.data[at - op.at:stop - op.at]
        at = stop


class Cut:
    """One power cut: where in the log, and what is left of the last writes."""

    MODES = ("prefix", "writes", "pages", "sectors", "garbage")

    def __init__(self, log, seed):
        self.log, self.rng = log, random.Random(seed)
        self.at = self.rng.randrange(1, len(log.ops) + 1)
        self.mode = self.rng.choice(self.MODES)
        self.kept = self.rng.choice((0.1, 0.5, 0.5, 0.9))
        self.n_durable = log.n_durable(self.at)

    def image(self):
        """The file after it."""
        disk, rng = self.log.durable(self.at), self.rng
        pending = self.log.ops[self.n_durable:self.at]
        floor = len(disk.data)
        if self.mode == "prefix":
            self.keep_prefix(disk, pending)
            return bytes(disk.data)
        for op in pending:
            if op.kind != WRITE:
                if op.kind in (TRUNCATE, CREATE):
                    floor = min(floor, op.at)
                if rng.random() < self.kept:
                    disk.apply(op)
                continue
            self.keep_some(disk, op)
        if len(disk.data) > floor and rng.random() < 0.5:
            disk.resize(max(floor, rng.randrange(floor, len(disk.data) + 1) & -rng.choice((1, SECTOR, PAGE))))
        return bytes(disk.data)

    def keep_prefix(self, disk, pending):
        """All up to one write, and that one up to a sector."""
        stop = self.rng.randrange(len(pending) + 1)
        for op in pending[:stop]:
            disk.apply(op)
        if stop < len(pending) and pending[stop].kind == WRITE:
            torn = list(pieces(pending[stop], SECTOR))
            for at, data in torn[:self.rng.randrange(len(torn) + 1)]:
                disk.put(at, data)

    def keep_some(self, disk, op):
        """Each piece of a write, or not."""
        rng, length = self.rng, len(disk.data)
        size = {"writes": 1 << 40, "pages": PAGE}.get(self.mode, SECTOR)
        disk.resize(max(length, op.at + len(op.data)))
        for at, data in pieces(op, size):
            if rng.random() < self.kept:
                disk.put(at, data)
            elif self.mode == "garbage" and at >= length:
                disk.put(at, rng.choice((rng.randbytes(len(data)), b"\xff" * len(data), bytes(len(data)))))
