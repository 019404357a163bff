#!/usr/bin/env python3
"""make_seeds.py RECORDINGS OUT: seeds for fuzz_tracy, of recordings and of one script that has every event."""
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import standin                                  # noqa: E402

START = (1 << 40) - 90_000_000
FORMATS = dict(zip("atscgpqdfIi4YH2yBb", "qqqqqQqdfIiIIHHHBb"))


def frames(raws):
    """Frames of a seed."""
    return b"".join(struct.pack("<H", len(raw)) + raw for raw in raws)


def of_recording(path):
    """Its frames as they were, cut to what a seed may have; times are moved to the fuzzer's clock by their first use."""
    rec = standin.Recording(path)
    raws, history, at = [], b"", 1 + len(rec.welcome) + len(rec.on_demand)
    while at + 4 <= len(rec.sent) and sum(map(len, raws)) < 6000:
        n = struct.unpack_from("<I", rec.sent, at)[0]
        raw = standin.unlz4(rec.sent[at + 4:at + 4 + n], history)
        history = (history + raw)[-65536:]
        at += 4 + n
        events, size = [], 0
        for _, event in rec.split(raw):
            if size + len(event) > 3000:
                break
            events.append(event)
            size += len(event)
        raws.append(b"".join(events))
    return bytes([rec.protocol - 55, 0]) + frames(raws)


class Script:
    """Every event of a protocol once or more, with strings before what takes them and answers to what is asked."""

    def __init__(self, protocol):
        self.protocol = protocol
        self.rows = standin.table(protocol)
        self.number = {name: i for i, (name, _) in enumerate(self.rows)}
        self.layout = dict(self.rows)
        self.random = random.Random(protocol)

    def event(self, name, tail=b"", **fixed):
        """An event with small numbers, or those given by letter and place, e.g. I0=7."""
        out, seen = bytes([self.number[name]]), {}
        for letter in self.layout[name]:
            i = seen[letter] = seen.get(letter, -1) + 1
            value = fixed.get(f"{letter}{i}", {"a": START + 5000, "t": 100, "s": 100, "p": 0x7000, "I": 7}.get(letter, 1))
            if letter == "6":
                out += struct.pack("<Q", value)[:6]
            elif letter == "X":
                out += struct.pack("<q", value)
            elif letter in "NnL":
                n = len(tail) - (256 if letter == "N" and self.protocol >= 80 and name[:6] in ("Single", "Second") else 0)
                out += struct.pack(standin.TAILS[letter], n) + tail
            else:
                out += struct.pack("<" + FORMATS[letter], value)
        return out

    def single(self, text=b"text", second=False):
        """A string for the next event."""
        name = "SecondStringData" if second else "SingleStringData"
        return self.event(name + "8" if self.protocol >= 80 else name, text)

    def tail(self, name):
        """Bytes for an event that has some."""
        if name == "SourceLocationPayload":
            return struct.pack("<II", 0xff00, 12) + b"function\0file.c\0name"
        if name == "CallstackPayload":
            return struct.pack("<3Q", 0x401000, 0x402000, 0xffffffff81000000)
        if name == "CallstackAllocPayload":
            return b"\2" + 2 * (struct.pack("<IH", 5, 3) + b"lua" + struct.pack("<H", 5) + b"a.lua")
        if name in ("SingleStringData", "SecondStringData"):
            return b"x" * 300
        return b"tail of " + name.encode()

    def raws(self):
        """Frames: each event alone after a ThreadContext, then answers, then all in one."""
        context = self.event("ThreadContext", I0=7)
        every, out = [], []
        for name, layout in self.rows:
            if name in ("Terminate", "ThreadContext"):
                continue
            body = self.event("CallstackPayload", self.tail("CallstackPayload")) if "allstack" in name else b""
            if "allstack" in name and "Sample" not in name:
                body += self.event("CallstackSerial" if "Mem" in name or "Serial" in name else "Callstack")
            if "AllocSrcLoc" in name:
                body += self.event("SourceLocationPayload", self.tail("SourceLocationPayload"))
            if "Named" in name:
                body += self.event("MemNamePayload", p0=0x9000)
            first = {"t0": START, "s0": 10}
            body += self.single() + self.event(name, self.tail(name), **first)
            every.append(context + self.event("ZoneBegin", t0=START) + body + self.event("ZoneEnd", t0=5))
        for i in range(0, len(every), 12):
            out.append(self.event("MemFree", s0=START) + b"".join(every[i:i + 12]) if i == 0 else b"".join(every[i:i + 12]))
        out.append(self.answers())
        out.append(context + self.fiber() + self.zones(40))
        out.append(self.event("Crash"))
        out.append(self.event("Terminate"))
        out.append(self.answers())
        return out

    def answers(self):
        """To the queries that the events above lead to."""
        out = self.event("SourceLocation", p0=0xa000, p1=0xb000, p2=0xc000, I0=10)
        for ptr in (0x7000, 0x9000, 0xa000, 0xb000, 0xc000, 0x70, 0x7000 >> 8):
            out += self.event("StringData", b"string", p0=ptr)
        out += self.event("ThreadName", b"main", p0=7) + self.event("PlotName", b"plot", p0=0x7000)
        out += self.event("FrameName", b"frame", p0=0x7000) + self.event("FiberName", b"fiber", p0=0x7000)
        out += self.event("ExternalThreadName", b"other", p0=7) + self.event("ExternalName", b"process", p0=7)
        out += self.single(b"image") + self.event("CallstackFrameSize", p0=0x401000, B0=2)
        for _ in range(2):
            out += self.single(b"inner") + self.single(b"f.c", True) + self.event("CallstackFrame", p0=0x400000)
        return out + self.event("AckServerQueryNoop")

    def fiber(self):
        """Zones in a fiber, one end too many."""
        return (self.event("FiberEnter", t0=START, I0=7) + self.zones(6) + self.event("ZoneEnd", t0=1) +
                self.event("FiberLeave", t0=1, I0=7))

    def zones(self, n):
        """Nested ones, in all widths of time."""
        out = b""
        widths = ("", "16", "32") if self.protocol >= 78 else ("",)
        for i in range(n):
            out += self.event("ZoneBegin" + widths[i % len(widths)], p0=0x7000 + 32 * (i % 5))
        return out + b"".join(self.event("ZoneEnd" + widths[i % len(widths)]) for i in range(n))


def drifting(protocol, step):
    """Frames of a client whose clock runs at another pace, a second apart."""
    script = Script(protocol)
    raws = []
    for i in range(40):
        time = START + 1_000_000 + i * step
        raws.append(script.event("ThreadContext", I0=7) + script.event("ZoneBegin", t0=time) + script.zones(3) +
                    script.single() + script.event("Message", a0=time + 50) + script.event("ZoneEnd", t0=60))
    return frames(raws)


def main():
    recordings, out = map(pathlib.Path, sys.argv[1:3])
    for path in sorted(recordings.rglob("*.c2s")):
        (out / f"rec-{path.parent.name}-{path.stem}").write_bytes(of_recording(path))
    for protocol in range(55, 83):
        body = frames(Script(protocol).raws())
        for flags in (0, 2, 1, 128) if protocol in (56, 69, 82) else (0,):
            (out / f"all-{protocol}-{flags}").write_bytes(bytes([protocol - 55, flags]) + body)
    for name, step in (("slow", 800_000_000), ("fast", 1_200_000_000), ("far", 1 << 57)):
        for flags in (2 | 128, 1 | 2 | 128, 2 | 8):
            (out / f"clock-{name}-{flags}").write_bytes(bytes([72 - 55, flags]) + drifting(72, step))
    many = Script(82)
    threads = b"".join(many.event("ThreadContext", I0=i) + many.zones(1) for i in range(900))
    literals = b"".join(many.event("MessageLiteral", a0=START, p0=(0x7000 + i) << 8) for i in range(4200))
    deep = many.event("ThreadContext", I0=1) + many.event("ZoneBegin", t0=START) * 2000
    chunks = [literals[i:i + 17 * 2000] for i in range(0, len(literals), 17 * 2000)]
    (out / "many-threads").write_bytes(bytes([82 - 55, 0]) + frames([threads]))
    (out / "many-literals").write_bytes(bytes([82 - 55, 0]) + frames(chunks)[:65000])
    (out / "deep").write_bytes(bytes([82 - 55, 0]) + frames([deep]))
    rec = standin.Recording(recordings / "v0.14.0" / "rich")
    (out / "bytes-82").write_bytes(bytes([82 - 55, 64]) + rec.sent[:6000])
    (out / "stop-82").write_bytes(bytes([82 - 55, 16 | 8]) + frames(Script(82).raws()))


if __name__ == "__main__":
    main()
