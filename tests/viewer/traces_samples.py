#!/usr/bin/env python3
"""traces_samples.py FOLDER: traces with stack samples and context switches, written by the second writer.

sampled   a program that marked nothing: two threads on two processors, preempted, waiting, sampled every 500 us
wrapped   a shell, its tools and a program that were sampled, and a program with zones that began last
joined    a program with zones that was sampled, too: one process, one thread of both; samples inside and outside of its zones
woken     two threads: one waits for each reason in turn, and is woken by the other, by a thread of another program, and by nobody that is known
coded     two processes of one program: a function with its machine code and its source, another that is inlined into it, one without code
"""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reader"))
import strobe_writer as sw  # noqa: E402

SAMPLED = ("93 sampled uuu hz,error_ns,has_kernel\n79 symbol uuuusss address,inlined,line,start,function,file,image\n55 woken uu cpu,by\n"
           "88 code uuus start,offset,total,bytes\n89 source_file uuss offset,total,path,bytes\n")
sw.KINDS.update(sw.sf.parse_schema(SAMPLED))
sw.NUMBERS["woken"] = 55

MS, US, ORIGIN = 2_500_000, 2_500, 1_000_000
PREEMPTED, NOT_KNOWN = 32, 0
HZ = 2000
FRAMES = {0x1010: ("hash", "src/hash.c", 11), 0x1020: ("hash", "src/hash.c", 14), 0x2010: ("parse", "src/parse.c", 40), 0x3010: ("serve", "src/serve.c", 7), 0x4010: ("main", "src/main.c", 3)}
HASH, PARSE = (0x1010, 0x2010, 0x3010, 0x4010), (0x2010, 0x3010, 0x4010)


def begin(path):
    """A trace whose origin is tick ORIGIN."""
    writer = sw.Writer(path, schema=sw.sf.SCHEMA + SAMPLED)
    writer.record("host", "build-7", "Linux 6.1", "Some CPU")
    writer.record("recording", ORIGIN, 0)
    return writer


def end(writer, last):
    """Clock, end of the recording, footer."""
    writer.clocks(ORIGIN, last)
    writer.record("recording", last, 1)
    writer.close()


def record(writer, number, letters, proc, *fields):
    """A record of a kind that the second writer does not know."""
    data = sw.sf.varint(proc) + sw.sf.encode_fields(letters, fields)
    writer.records += sw.sf.varint(number) + sw.sf.varint(len(data)) + data
    writer.n_records += 1


def sampled_process(writer, proc, pid, name):
    """A process that the recorder sampled, with the names of its addresses."""
    writer.process(proc, pid, name)
    record(writer, 93, "uuu", proc, HZ, 20, 0)
    for address, (function, file, line) in FRAMES.items():
        record(writer, 79, "uuuusss", proc, address, 0, line, 0, function, file, f"/usr/bin/{name}")


def thread(writer, proc, track, tid, name):
    """A thread of the system's number `tid`."""
    writer.record("thread", track, tid, ORIGIN, name, proc=proc)
    return writer.threads.setdefault((proc, track), sw.Thread(writer, proc, track))


def run(track, cpu, start, length, reason, stacks=(HASH, PARSE)):
    """A run from `start` us on, for `length` us, with a sample every 500 us."""
    at = ORIGIN + start * US
    track.event("switch_in", at, cpu, 0)
    for i, tick in enumerate(range(at + 250 * US, at + length * US, 500 * US)):
        track.event("sample", tick, cpu, list(stacks[i % len(stacks)]))
    track.event("switch_out", at + length * US, cpu, reason)


def sampled(path):
    """Thread one runs 4 ms of 10 on processor 0, then waits; thread two 8 ms, in two runs, preempted between them."""
    w = begin(path)
    sampled_process(w, 1, 5001, "server")
    one, two = thread(w, 1, 1, 5001, "one"), thread(w, 1, 2, 5002, "two")
    for i in range(20):
        run(one, 0, 10_000 * i, 4_000, NOT_KNOWN)
        run(two, 1, 10_000 * i + 500, 5_000, PREEMPTED, (PARSE,))
        run(two, 0, 10_000 * i + 6_000, 3_000, NOT_KNOWN, (PARSE,))
    end(w, ORIGIN + 200 * MS)


def joined(path):
    """Ten requests of 6 ms every 10 ms, a query of 2 ms in each; samples all the time."""
    w = begin(path)
    w.process(1, 5001, "server")
    sampled_process(w, 2, 5001, "server")
    w.loc(1, 1, "request", 10, "request", "src/serve.c")
    w.loc(1, 2, "query", 20, "query", "src/query.c")
    zones, samples = thread(w, 1, 1, 5001, "main"), thread(w, 2, 1, 5001, "main")
    for i in range(10):
        at = ORIGIN + 10 * i * MS
        zones.begin(1, at + 1 * MS)
        zones.begin(2, at + 3 * MS)
        zones.end(at + 5 * MS)
        zones.end(at + 7 * MS)
        run(samples, 0, 10_000 * i, 9_000, NOT_KNOWN)
    end(w, ORIGIN + 100 * MS)


def wrapped(path):
    """A shell with two samples, a tool with six, a fork of the shell with no program of its own; then a client with one zone."""
    w = begin(path)
    for proc, name, length in ((1, "sh", 1_000), (2, "tool", 3_000)):
        sampled_process(w, proc, 5000 + proc, name)
        run(thread(w, proc, 1, 5000 + proc, name), 0, 1_000 * proc, length, NOT_KNOWN)
    w.processes.add(3)
    w.record("process", 5003, 1, 12345, "", "", "", proc=3)
    record(w, 93, "uuu", 3, HZ, 20, 0)
    run(thread(w, 3, 1, 5003, "sh"), 1, 0, 500, NOT_KNOWN)
    w.process(4, 5004, "program")
    w.loc(4, 1, "request", 10, "request", "src/serve.c")
    zones = thread(w, 4, 1, 5004, "main")
    zones.begin(1, ORIGIN + 6 * MS)
    zones.end(ORIGIN + 9 * MS)
    end(w, ORIGIN + 10 * MS)


REASONS = (129, 130, 131, 132, 133, 134, 135, 136, 137, 138)  # docs/file-format.md, kind 29


def woken(path):
    """Every 10 ms the waiter runs 2 ms, waits 4 ms, is ready for 0.2 ms and runs to 8 ms; the waker runs 5 ms from 2 ms on."""
    w = begin(path)
    sampled_process(w, 1, 5001, "server")
    waiter, waker = thread(w, 1, 1, 5001, "waiter"), thread(w, 1, 2, 5002, "waker")
    for i, reason in enumerate(REASONS):
        at = ORIGIN + 10 * i * MS
        waiter.event("switch_in", at, 0, 0)
        waiter.event("sample", at + MS, 0, list(HASH))
        waiter.event("switch_out", at + 2 * MS, 0, reason)
        waiter.event("woken", at + 6 * MS, 0, {4: 7777, 5: 0}.get(i, 5002))
        waiter.event("switch_in", at + 6 * MS + 200 * US, 0, 0)
        waiter.event("switch_out", at + 8 * MS, 0, PREEMPTED)
        run(waker, 1, 10_000 * i + 2_000, 5_000, 130)
    end(w, ORIGIN + 100 * MS)


# 0: push rbp  1: mov rbp, rsp  4: mov eax, 5  9: add eax, 1  c: cmp eax, 0x64  f: jne 9  11: call 0x20 (of itself)  16: pop rbp  17: ret
CODE = bytes.fromhex("55 4889e5 b805000000 83c001 83f864 75f8 e80a000000 5d c3")
SOURCE = "int spin(void)\n{\n    int i = 5;\n    while (i != 100)\n        i = step(i);\n    return leaf();\n}\n"
BASES = {1: 0x10000000, 2: 0x20000000}


def coded(path):
    """`spin` begins at 0x1000 of the file, `step` is inlined into it; `leaf` has no code in the trace. Process 2 is at other addresses."""
    w = begin(path)
    for proc, base in BASES.items():
        w.process(proc, 5000 + proc, "spinner")
        w.record("module", base, 0x10000, 0, "ab" * 20, "/usr/bin/spinner", proc=proc)
        record(w, 93, "uuu", proc, HZ, 20, 0)
        start, image = base + 0x1000, "/usr/bin/spinner"
        for at, chain in {0x9: (("step", "src/step.h", 2), ("spin", "src/spin.c", 5)), 0xF: (("spin", "src/spin.c", 4),), 0x15: (("spin", "src/spin.c", 6),)}.items():
            for inlined, (function, file, line) in enumerate(chain):
                record(w, 79, "uuuusss", proc, start + at, inlined, line, start if function == "spin" else 0, function, file, image)
        record(w, 79, "uuuusss", proc, base + 0x2010, 0, 9, base + 0x2000, "leaf", "src/leaf.c", image)
    record(w, 88, "uuus", 1, BASES[1] + 0x1000, 0, len(CODE), CODE[:10])
    record(w, 88, "uuus", 1, BASES[1] + 0x1000, 10, len(CODE), CODE[10:])
    record(w, 89, "uuss", 1, 0, len(SOURCE), "src/spin.c", SOURCE)
    for proc, base in BASES.items():
        stacks = ((base + 0x1009,), (base + 0x1009,), (base + 0x100F,), (base + 0x2010, base + 0x1015))
        run(thread(w, proc, 1, 5000 + proc, "main"), proc - 1, 0, 20_000, NOT_KNOWN, stacks)
    end(w, ORIGIN + 20 * MS)


def main():
    """Write them all."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (sampled, wrapped, joined, woken, coded):
        make(str(folder / f"{make.__name__}.strobe"))


if __name__ == "__main__":
    main()
