#!/usr/bin/env python3
"""reader.py - a second reader of device streams, written from docs/device-protocol.md alone.

decode(words) gives records: ("zone", risc, id, program, start, end), ("event", risc, id, program, time),
("data", risc, id, program, time, values), ("sum", ...), ("drop", risc, count). main compares the zones of a stream with a list of rows:
reader.py FRAMES EXPECTED"""
import struct
import sys

UNKNOWN = 0xFFFFFFFF
M64 = (1 << 64) - 1
FIXED = {0: 2, 1: 2, 2: 3, 3: 2, 4: 5, 8: 1, 9: 1, 10: 3, 12: 2, 14: 2, 15: 1}
STALL = 0x7FFC000


def length(words, at, end):
    """Words of the record at `at`, 0 if there is none."""
    kind = words[at] >> 27
    n = FIXED.get(kind, 0)
    if not n or at + n > end:
        return 0
    if kind == 10:
        n += words[at + 2] >> 25
    if kind == 15:
        if (words[at] >> 19) & 0xFF >= 64:
            return 0
        n += words[at] & 0x7FFFF
    return n if at + n <= end else 0


class Lane:
    def __init__(self, risc, out):
        self.risc, self.out = risc, out
        self.count = None
        self.first = True
        self.high = self.program = self.cursor = None
        self.held = None
        self.raised = False
        self.discarded = 0

    def seed(self, words, at, end, head, high, program):
        kinds, i = set(), at
        while i < end and length(words, i, end):
            kinds.add(words[i] >> 27)
            i += length(words, i, end)
        fresh = self.first and head == 0
        self.cursor, self.raised = None, False
        self.high = high if 9 not in kinds else 0 if fresh else None
        self.program = program if not kinds & {8, 14} else 0 if fresh else UNKNOWN
        self.first = False

    def release(self, time=None):
        """The record that waits goes out; `time` is that of the next one."""
        if self.held is None:
            return
        record, self.held = list(self.held), None
        where = 5 if record[0] == "zone" else 4
        if time is not None and record[where] - time > 1 << 31:
            record[where] -= 1 << 32
        self.out.append(tuple(record))

    def run(self, words, at, end, head, high, program):
        if self.count is None:
            self.seed(words, at, end, head, high, program)
        elif head != self.count:
            behind = (self.count - head) & 0xFFFFFFFF
            if behind <= 512:
                at = min(end, at + behind)
            else:
                self.seed(words, at, end, head, high, program)
        tail = (head + (end - at)) & 0xFFFFFFFF
        while at < end:
            n = length(words, at, end)
            if not n:
                self.count = None
                return
            self.record(words, at)
            at += n
        self.count = tail

    def time(self, low):
        return None if self.high is None else self.high << 32 | low

    def record(self, words, at):
        word = words[at]
        kind, ident = word >> 27, word & 0x7FFFFFF
        if kind == 3:
            if self.cursor is None:
                self.discarded += 1
                return
            second = words[at + 1]
            end = (self.cursor + (second >> 16)) & M64
            if self.held is not None:
                self.release(end)
            self.cursor = end
            self.raised = False
            self.out.append(("zone", self.risc, ident, self.program, (end - (second & 0xFFFF)) & M64, end))
        elif kind == 2:
            end = self.time(words[at + 1])
            if end is None:
                self.discarded += 1
                return
            self.release(end)
            self.cursor, self.raised = end, False
            self.out.append(("zone", self.risc, ident, self.program, (end - words[at + 2]) & M64, end))
        elif kind == 4:
            end = words[at + 2] << 32 | words[at + 1]
            duration = words[at + 4] << 32 | words[at + 3]
            self.release(end)
            if words[at + 4] == 0xFFFFFFFF:
                duration += 1 << 32
                self.out.append(("zone", self.risc, ident, self.program, (end - duration) & M64, end))
            else:
                self.held = ("zone", self.risc, ident, self.program, (end - duration) & M64, end)
        elif kind == 8:
            self.program = ident
        elif kind == 14:
            self.program = words[at + 1]
        elif kind == 9:
            self.raised = self.high is not None and ident > self.high
            self.high, self.cursor = ident, None
        elif kind == 15:
            subtype = (word >> 19) & 0xFF
            if subtype == 1:
                self.out.append(("sum", self.risc, words[at + 1], self.program, words[at + 2], words[at + 4] << 32 | words[at + 3], words[at + 5], words[at + 6]))
            elif subtype == 2:
                self.out.append(("drop", self.risc, words[at + 1]))
        else:
            self.mark(words, at, kind, ident)

    def mark(self, words, at, kind, ident):
        time = self.time(words[at + 1])
        if time is None:
            self.discarded += 1
            return
        self.release(time)
        if kind == 10:
            n = words[at + 2] >> 25
            values = [words[at + 3 + i] << 32 | words[at + 4 + i] for i in range(0, n - 1, 2)]
            record = ("data", self.risc, ident, self.program, time, values)
        else:
            record = ("event" if kind == 12 else "begin" if kind == 0 else "end", self.risc, ident, self.program, time)
        if self.raised:
            self.held = record
        else:
            self.out.append(record)
        self.raised = False


def frame_of_five(words, at, lanes, out):
    heads, core = words[at + 2:at + 7], words[at + 7]
    state = words[at + 8:at + 24]
    place, end = 24, 8 + words[at + 1]
    for risc in range(5):
        head, n = heads[risc], (state[8 + risc] - heads[risc]) & 0xFFFFFFFF
        if not n:
            continue
        wraps = head % 512 + n > 512 and n >= 448
        place += ((0 if wraps else head) - place) & 3
        if n > 512 or place + (512 if wraps else n) > end:
            return
        run = words[at + place:at + place + (512 if wraps else n)]
        if wraps:
            run = (run[head % 512:] + run[:head % 512])[:n]
        place += 512 if wraps else n
        lane = lanes.setdefault((core, risc), Lane(risc, out))
        lane.run(run, 0, n, head, state[risc], state[5 + risc] if risc < 3 else state[10 + risc])


def frame_of_lanes(words, at, lanes, out):
    core, n_lanes = words[at + 1], words[at + 2]
    place = at + 3 + 5 * n_lanes
    for i in range(n_lanes):
        risc, head, tail, high, program = words[at + 3 + 5 * i:at + 8 + 5 * i]
        n = (tail - head) & 0xFFFFFFFF
        lanes.setdefault((core, risc), Lane(risc, out)).run(words, place, place + n, head, high, program)
        place += n


def decode(words):
    """All records of a stream, and its lanes."""
    lanes, out, at = {}, [], 0
    while at + 16 <= len(words):
        word = words[at]
        if word == 13 << 27 and 16 <= words[at + 1] <= 2591:
            n = 8 + words[at + 1]
            frame_of_five(words, at, lanes, out)
        elif word >> 27 == 15 and (word >> 19) & 0xFF >= 64:
            n = 1 + (word & 0x7FFFF)
            if (word >> 19) & 0xFF == 75:
                frame_of_lanes(words, at, lanes, out)
        else:
            n = 16
        at += (n + 15) // 16 * 16
    for lane in lanes.values():
        lane.release()
    return out, lanes


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    records, lanes = decode(list(struct.unpack(f"<{len(data) // 4}I", data)))
    zones = {}
    for record in records:
        if record[0] == "zone" and record[2] != STALL:
            zones.setdefault(record[1], []).append(record[2:])
    wrong = n_rows = 0
    places = dict.fromkeys(zones, 0)
    with open(sys.argv[2], "rb") as file:
        for risc, ident, program, _, start, end in struct.iter_unpack("<IIIIQQ", file.read()):
            n_rows += 1
            row = zones.get(risc, [])
            at = places.get(risc, 0)
            wrong += at >= len(row) or row[at] != (ident, program, start, end)
            places[risc] = at + 1
    n_zones = sum(len(one) for one in zones.values())
    print(f"{n_zones} zones read, {n_rows} written, {wrong} wrong, {sum(lane.discarded for lane in lanes.values())} discarded")
    return 1 if wrong or n_zones != n_rows or not n_rows else 0


if __name__ == "__main__":
    sys.exit(main())
