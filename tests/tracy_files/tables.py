#!/usr/bin/env python3
"""tables.py FILE.tracy [OTHER.tracy]: every table of a .tracy file as rows that say what they mean: names instead of numbers of strings,
threads' ids instead of their numbers, call stacks as lists of addresses. So files that were written by different programs can be
compared. With one file: the number of rows of each table. With two: which rows of the first the second lacks; exit code 1 if any.

Written from the description of the format, apart from the reader and the writer that it judges.  SPDX-License-Identifier: MIT"""
import collections
import pathlib
import struct
import sys

KERNEL = 3 << 60  # of a stack's address: the two bits that stand for the four uppermost


def content_of(path):
    import lz4.block
    import zstandard
    data = pathlib.Path(path).read_bytes()
    assert data[:4] == b"tr\xfdP", path
    packed, n = data[4], data[5]
    streams = [zstandard.ZstdDecompressor().decompressobj() for _ in range(n)]
    before, out, at, k = [b""] * n, [], 6, 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        block = data[at + 4:at + 4 + size]
        at += 4 + size
        raw = streams[k % n].decompress(block) if packed else \
            lz4.block.decompress(block, uncompressed_size=65536, dict=before[k % n])
        before[k % n] = raw
        out.append(raw)
        k += 1
    return b"".join(out)


class File:
    """A walk over a content; self.tables has the rows."""

    def __init__(self, path):
        self.data, self.at = content_of(path), 0
        self.tables = collections.defaultdict(collections.Counter)
        assert self.raw(5) == b"tracy"
        version = self.get("BBB")
        self.v = version[1] * 100 + version[2]
        self.head()
        self.frames()
        self.names()
        self.locks_and_messages()
        self.threads()
        self.gpu()
        self.values()
        self.stacks()
        self.switches()
        self.code()
        assert self.at == len(self.data), (self.at, len(self.data))
        self.resolve()

    def raw(self, n):
        self.at += n
        assert self.at <= len(self.data), "cut off"
        return self.data[self.at - n:self.at]

    def get(self, form):
        values = struct.unpack("<" + form, self.raw(struct.calcsize("<" + form)))
        return values if len(values) > 1 else values[0]

    def each(self, count="Q"):
        return range(self.get(count))

    def idx(self):
        return int.from_bytes(self.raw(3), "little")

    def put(self, table, *row):
        self.tables[table][row] += 1

    def ref(self):
        value, flags = self.get("QB")
        return (flags & 1, value) if flags & 2 else None

    def head(self):
        if self.v < 1203:
            self.get("Q")
        numbers = self.get("QdqQQqBI")
        self.put("head", numbers[0], numbers[2], *numbers[4:], self.raw(12), self.get("B"))
        self.raw(self.get("Q"))  # the capture's name
        self.put("head", self.raw(self.get("Q")), self.get("QQ"), self.raw(self.get("Q")))
        for _ in self.each():
            package = self.get("I")
            for _ in self.each() if self.v >= 1102 else [0]:
                die = self.get("I") if self.v >= 1102 else None
                for _ in self.each():
                    core = self.get("I")
                    for _ in self.each():
                        self.put("processors", package, die, core, self.get("I"))
        self.crash = self.get("QqQI")

    def frames(self):
        self.sets, self.sections, self.section_names = [], [], []
        for _ in self.each():
            name, is_marks = self.get("QB")
            rows, ref = [], 0
            for _ in self.each():
                start = ref = ref + self.get("q")
                end = None
                if not is_marks:
                    end = ref = ref + self.get("q")
                rows.append((start, end, self.get("i") >= 0))
            self.sets.append((name, is_marks, rows))
        if self.v >= 1400:
            for _ in self.each():
                category = self.get("H")
                for _ in self.each():
                    times = [int.from_bytes(self.raw(6), "little", signed=True) for _ in range(2)]
                    self.sections.append((category, *times, self.idx()))
            self.section_names = [(self.get("H"), self.idx()) for _ in self.each()]

    def names(self):
        by_file, self.strings, self.pointers, self.thread_names = {}, [], {}, {}
        for _ in self.each():
            pointer = self.get("Q")
            by_file[pointer] = self.raw(self.get("Q"))
            self.strings.append(by_file[pointer])
        for table in (self.pointers, self.thread_names):
            for _ in self.each():
                pointer, name = self.get("QQ")
                table[pointer] = by_file[name]
        for _ in self.each():
            tid, process, thread = self.get("QQQ")
            self.put("others' names", tid, by_file.get(process), by_file.get(thread))
        self.numbers, self.others = ([self.get("Q") for _ in self.each()] for _ in range(2))
        location = lambda: (*(self.text(self.ref()) for _ in range(3)), *self.get("II"))
        by_pointer = {}
        for _ in self.each():
            pointer = self.get("Q")
            by_pointer[pointer] = location()
        self.locations = dict(enumerate(by_pointer.get(self.get("Q")) for _ in self.each()))
        self.locations.update({-1 - i: location() for i in self.each()})
        for _ in range(2):
            self.raw(10 * self.get("Q"))
        for category, start, end, name in self.sections:
            self.put("sections", category, start, end, self.string(name))
        for category, name in self.section_names:
            if name:
                self.put("names of sections", category, self.string(name))
        for name, is_marks, rows in self.sets:
            for row in rows:
                self.put("frames", name and self.pointers.get(name), is_marks, *row)

    def string(self, number):
        return self.strings[number - 1] if number else None

    def text(self, ref):
        return None if ref is None else self.strings[ref[1]] if ref[0] else self.pointers.get(ref[1])

    def locks_and_messages(self):
        for _ in self.each():
            self.get("I")
            name = self.string(self.idx())
            loc, shared, _, made, gone = self.get("hBBqq")
            threads = [self.get("Q") for _ in self.each()]
            self.put("locks", name, self.locations[loc], shared, made, gone)
            ref = made
            for _ in self.each():
                delta, loc, thread, kind = self.get("qhBB")
                ref += delta
                self.put("events of locks", name, ref, threads[thread], kind, loc and self.locations[loc])
        self.messages, ref = {}, 0
        for _ in self.each():
            number, delta = self.get("Qq")
            ref += delta
            row = (ref, self.text(self.ref()), self.get("I"), ("stack", self.idx()))
            self.messages[number] = (*row, *(self.get("BB") if self.v >= 1400 else ()))
        self.extras = [(("stack", self.idx()), self.string(self.idx()), self.string(self.idx()), self.idx()) for _ in self.each()]

    def timeline(self, tid, depth):
        for _ in self.each("I"):
            loc, delta, extra = self.get("hqI")
            self.ref_time += delta
            start = self.ref_time
            self.timeline(tid, depth + 1)
            self.ref_time += self.get("q")
            self.put("zones", tid, depth, self.locations[loc], start, self.ref_time, *(self.extras[extra]))

    def times(self, table, *key):
        ref = 0
        for _ in self.each():
            ref += self.get("q")
            self.put(table, *key, ref, ("stack", self.idx()))

    def threads(self):
        self.raw(16)
        for _ in self.each():
            tid, _, kernel, is_fiber = self.get("QQQB")
            group = self.get("i") if self.v >= 1101 else 0
            tid = tid if not is_fiber else ("fiber", self.thread_names.get(tid))
            self.put("threads", tid, group, self.thread_names.get(tid))
            self.put("samples in the kernel", tid, kernel)
            self.ref_time = 0
            self.timeline(tid, 0)
            for _ in self.each():
                self.put("messages", tid, *self.messages[self.get("Q")])
            self.times("samples at switches", tid)
            self.times("samples", tid)

    def gpu_timeline(self, name, tid, depth):
        for _ in self.each():
            cpu, gpu, loc = self.get("qqh")
            self.cpu, self.gpu_time = self.cpu + cpu, self.gpu_time + gpu
            start, stack = (self.cpu, self.gpu_time), ("stack", self.idx())
            self.get("H")
            self.gpu_timeline(name, tid, depth + 1)
            cpu, gpu = self.get("qq")
            self.cpu, self.gpu_time = self.cpu + cpu, self.gpu_time + gpu
            query = self.get("H") if self.v >= 1300 else 0
            row = (name, tid, depth, self.locations[loc], *start, self.cpu, self.gpu_time, stack)
            self.put("GPU zones", *row)
            self.by_query[query] = row

    def gpu(self):
        self.raw(16)
        for _ in self.each():
            tid, _, _, _, kind = self.get("QBQfB")
            name = self.string(self.idx())
            self.get("Q")
            self.by_query = {}
            self.put("GPU contexts", name, tid, kind)
            notes = {self.get("q"): self.string(self.idx()) for _ in self.each()} if self.v >= 1300 else {}
            for _ in self.each():
                self.cpu = self.gpu_time = 0
                self.gpu_timeline(name, self.get("Q"), 0)
            for _ in self.each() if self.v >= 1300 else ():
                query = self.get("H")
                for _ in self.each():
                    note, value = self.get("qd")
                    if query in self.by_query:
                        self.put("notes of GPU zones", *self.by_query[query][:-1], notes.get(note), value)

    def values(self):
        for _ in self.each():
            *drawn, name, low, high, total = self.get("BBBBIQddd")
            name, ref = self.pointers.get(name) if drawn[0] != 2 else None, 0
            self.put("plots", name, *drawn, low, high)
            for _ in self.each():
                delta, value = self.get("qd")
                ref += delta
                self.put("points of plots", name, ref, value)
        pools = self.get("QQ")[0]
        for _ in range(pools):
            name, events = self.get("QQ")
            name, ref = name and self.pointers.get(name), 0
            self.get("QQ")
            for _ in range(events):
                address, size = self.get("QQ")
                stacks = [("stack", self.idx()) for _ in range(2)]
                delta, life, a, b = self.get("qqHH")
                ref += delta
                self.put("memory", name, address, size, ref, max(life, -1), self.numbers[a], self.numbers[b] if life >= 0 else 0, *stacks)
            self.raw(32)

    def stacks(self):
        self.lists = [()] + [tuple(self.get("Q") for _ in self.each("H")) for _ in self.each()]
        for _ in self.each():
            address, n = self.get("QB")
            image = self.string(self.idx())
            for k in range(n):
                row = (self.string(self.idx()), self.string(self.idx()), *self.get("IQ"))
                self.put("frames of stacks", address, k, image, *row)
        for _ in self.each():
            self.put("app info", self.text(self.ref()))
        self.raw(self.get("I"))
        for _ in self.each():
            width, height, flip = self.get("HHB")
            self.put("images", width, height, flip, self.raw(width * height // 2))

    def switches(self):
        is_fiber = {tid for tid in self.thread_names if tid >> 32 == 1}
        for _ in self.each():
            tid, ref = self.get("Q"), 0
            tid = ("fiber", self.thread_names[tid]) if tid in is_fiber else tid
            for _ in self.each():
                wakeup, start, end, cpu, reason, _, carrier = self.get("qqqBbbQ")
                times = (ref + wakeup, ref + wakeup + start, ref + wakeup + start + end)
                ref = times[2]
                more = self.get("B") if self.v >= 1103 else None
                if times[0] <= 0:  # a switch of which the system did not tell the time
                    self.put("runs without a time", tid)
                    continue
                if isinstance(tid, tuple):  # the processor of a fiber is the thread's business
                    cpu = more = 0
                self.put("runs", tid, *times, cpu, reason, carrier, more)
        self.get("Q")
        for cpu in range(256):
            ref = 0
            for _ in self.each():
                start, end, thread = self.get("qqH")
                ref += start + end
                if ref - end <= 0:
                    self.put("runs without a time", cpu)
                else:
                    self.put("runs of processors", cpu, ref - end, ref, self.others[thread])
        for _ in self.each():
            self.put("processes of others", *self.get("QQ"))
        for _ in self.each():
            self.put("sums of runs", self.get("QqII")[0])  # made of the runs by whoever writes the file

    def code(self):
        self.raw(16)
        for _ in self.each():
            start, name, file, line = self.get("Q"), self.string(self.idx()), self.string(self.idx()), self.get("I")
            image, call_file = self.string(self.idx()), self.string(self.idx())
            call_line, is_inline = self.get("IB")
            self.put("functions", start, name, file, line, image, call_file, call_line, is_inline, self.idx())
        for _ in self.each():
            start = self.get("Q")
            self.put("code", start, self.raw(self.get("I")))
        for _ in self.each():
            self.put("addresses in functions", *self.get("QQ"))
        for _ in self.each():
            address = self.get("Q")
            for counter in range(6):
                ref = 0
                for _ in self.each():
                    ref += self.get("q")
                    self.put("samples of counters", address, counter, ref)
        for _ in self.each():
            self.put("source files", self.raw(self.get("I")), self.raw(self.get("I")))

    def resolve(self):
        """Stacks are what is in them."""
        thread, time, message, stack = self.crash
        if thread:
            self.put("crash", thread, time, self.pointers.get(message), ("stack", stack))
        for rows in self.tables.values():
            for row in list(rows):
                if any(isinstance(cell, tuple) and cell[:1] == ("stack",) for cell in row):
                    whole = tuple(self.lists[cell[1]] if isinstance(cell, tuple) and cell[:1] == ("stack",) else cell for cell in row)
                    rows[whole] += rows.pop(row)
        for stack in self.lists[1:]:
            self.put("call stacks", stack)


def lacks(before, after):
    """Per table, the rows of one file that another lacks."""
    missing = {}
    for table, rows in before.tables.items():
        there = after.tables[table]
        gone = [row for row in rows if row not in there]
        if table == "call stacks":  # equal ones may be one
            gone = [row for row in set(rows) if row not in there]
        elif not gone:
            gone = [row for row, n in rows.items() if there[row] < n and table not in ("functions", "frames of stacks", "code")]
        if gone:
            missing[table] = gone
    return missing


def main():
    files = [File(path) for path in sys.argv[1:]]
    print("\n".join(f"{sum(rows.values()):10}  {table}" for table, rows in sorted(files[0].tables.items())))
    missing = lacks(*files) if len(files) == 2 else {}
    for table, rows in missing.items():
        print(f"{len(rows)} of {sum(files[0].tables[table].values())} {table} are not in {sys.argv[2]}, e.g. {rows[0]}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
