"""perfetto_file.py: packets of Perfetto's protobuf, field by field, without a library; and a trace with everything that the importer reads.
SPDX-License-Identifier: MIT"""
import struct
import zlib

BOOT, MONO = 6, 3
CLEARED, NEEDS = 1, 2


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def message(*fields):
    """Fields as (number, value): an integer, a text, bytes (a message too), a double, or a list of integers, packed; None is left out."""
    out = b""
    for number, value in fields:
        if value is None:
            continue
        if isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            if isinstance(value, list):
                value = b"".join(map(varint, value))
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def fixed(number, values):
    """A repeated fixed64, not packed."""
    return b"".join(varint(number << 3 | 1) + struct.pack("<Q", v) for v in values)


def packet(*fields):
    return message((1, message(*fields)))


def compressed(packets):
    return packet((50, zlib.compress(packets)))


def process(uuid, pid, name):
    return packet((60, message((1, uuid), (3, message((1, pid), (6, name))))))


def thread(uuid, parent, pid, tid, name):
    return packet((60, message((1, uuid), (5, parent), (4, message((1, pid), (2, tid), (5, name))))))


def track(uuid, parent, name=None):
    return packet((60, message((1, uuid), (2, name), (5, parent))))


def counter(uuid, parent, name, *described):
    return packet((60, message((1, uuid), (2, name), (5, parent), (8, message(*described)))))


def snapshot(sequence, *clocks):
    """Clocks as (id, time) or (id, time, is_incremental)."""
    return packet((10, sequence), (6, b"".join(message((1, message(*enumerate(clock, 1)))) for clock in clocks)))


def event(ts, kind, uuid, name=None, sequence=1, clock=None, more=b"", flows=(), ends=()):
    body = message((9, kind), (11, uuid), (23, name)) + fixed(47, flows) + fixed(48, ends) + more
    return packet((8, ts), (10, sequence), (58, clock), (11, body))


def begin(ts, uuid, name, **more):
    return event(ts, 1, uuid, name, **more)


def end(ts, uuid, **more):
    return event(ts, 2, uuid, **more)


def instant(ts, uuid, name, **more):
    return event(ts, 3, uuid, name, **more)


def value(ts, uuid, number, **more):
    field = 44 if isinstance(number, float) else 30
    return event(ts, 4, uuid, more=message((field, number)), **more)


def sched(ts, state, before, behind):
    """A sched_switch in its bundle's form; `before` and `behind` are (name, tid)."""
    return message((2, message((1, ts), (2, before[1]), (4, message((1, before[0]), (2, before[1]), (3, 120), (4, state), (5, behind[0]), (6, behind[1]), (7, 120))))))


def bundle(cpu, *events):
    return packet((1, message((1, cpu)) + b"".join(events)))


def tree(processes, threads):
    """Processes as (pid, parent, command), threads as (tid, pid, name)."""
    return packet((2, b"".join(message((1, message((1, pid), (2, parent), (3, command)))) for pid, parent, command in processes) +
                   b"".join(message((2, message((1, tid), (2, name), (3, pid)))) for tid, pid, name in threads)))


def interned(sequence, first):
    """A sequence with names by number, a clock that counts in steps, and a default track; ten zones in a loop within a zone."""
    names = ((1, "outer"), (2, "inner"))
    out = packet((10, sequence), (13, CLEARED), (6, message((1, message((1, BOOT), (2, first))), (1, message((1, 64), (2, 0), (3, 1))))))
    out += packet((10, sequence), (13, NEEDS), (59, message((58, 64), (11, message((11, 21))))),
                  (12, b"".join(message((2, message((1, i), (2, name)))) for i, name in names) +
                   message((1, message((1, 5), (2, "cat")))) + message((3, message((1, 1), (2, "size")))) + message((4, message((1, 7), (2, "a.cc"), (3, "run"), (4, 42))))))

    def step(by, *fields):
        return packet((8, by), (10, sequence), (13, NEEDS), (11, message(*fields)))
    out += step(100, (9, 1), (10, 1), (3, 5), (34, 7))
    for i in range(10):
        out += step(10, (9, 1), (10, 2), (3, [5]), (4, message((1, 1), (4, -i)))) + step(20 + i, (9, 2))
    return out + step(50, (9, 2))


def everything():
    """What the importer reads, and one packet of a kind that it does not."""
    out = packet((45, message((1, message((1, "Linux"), (3, "6.1.0"))))))  # how states are numbered
    out += tree([(100, 1, "/usr/bin/app"), (300, 1, "/sbin/other")], [(100, 100, "main"), (101, 100, "worker"), (300, 300, "other")])
    out += process(10, 100, "app") + thread(20, 10, 100, 100, "main") + thread(21, 10, 100, 101, "worker") + process(11, 200, "server") + thread(22, 11, 200, 200, "server")
    out += track(30, 10, "lane") + track(31, 10, "op") + track(32, 10) + counter(40, 10, "load") + counter(41, 10, "bytes", (3, 3), (4, 1024), (5, 1))
    base = 5_000_000_000
    out += snapshot(1, (BOOT, base), (MONO, 1_000_000_000))
    mono = 1_000_000_000
    out += begin(mono + 100, 20, "frame", clock=MONO, more=message((22, "gui")), flows=[77])
    out += begin(mono + 200, 20, "draw", clock=MONO) + instant(mono + 250, 20, "tick", clock=MONO) + end(mono + 300, 20, clock=MONO) + end(mono + 900, 20, clock=MONO)
    out += compressed(interned(2, base + 1000))
    # the end of a slice on a lane stands before its begin in the file: two writers
    out += end(base + 800, 30, sequence=3) + begin(base + 400, 30, "step", sequence=1) + begin(base + 900, 30, "step", ends=[77]) + end(base + 950, 30)
    out += begin(base + 100, 31, "op") + end(base + 500, 31) + begin(base + 150, 32, "request") + begin(base + 160, 32, "part") + end(base + 170, 32) + end(base + 450, 32)
    out += value(base + 10, 40, 1.5) + value(base + 20, 40, 7) + value(base + 30, 41, 2) + value(base + 40, 41, 3)
    out += begin(base + 3000, 22, "serve") + instant(base + 3100, 22, "ask", flows=[5]) + end(base + 3200, 22) + begin(base + 3300, 22, "more", ends=[5])
    swapper = ("swapper", 0)
    out += bundle(1, sched(base + 10, 0, swapper, ("main", 100)), sched(base + 500, 1, ("main", 100), ("other", 300)), sched(base + 700, 256, ("other", 300), swapper),
                  message((2, message((1, base + 650), (2, 300), (20, message((1, "main"), (2, 100), (3, 120), (5, 1)))))))
    columns = message((1, [base + 50, 50, 300, 50]), (2, [0, 0, 2, 1]), (3, [0, 101, 300, 0]), (4, [120] * 4), (5, "worker"), (5, "other"), (5, "swapper"), (6, [2, 0, 1, 2]))
    out += bundle(0, message((4, columns)))
    out += bundle(1, message((2, message((1, base + 4000), (2, 300), (3, message((2, "B|300|from the kernel's buffer\n")))))),
                  message((2, message((1, base + 4500), (2, 300), (3, message((2, "E|300\n")))))))
    return out + packet((8, base + 5000), (9, message((1, message((1, 100))))))
