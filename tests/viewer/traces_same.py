#!/usr/bin/env python3
"""traces_same.py FOLDER: traces that differ in all that a server and a page could answer differently about.

all     a bit of everything: fibers, spans, GPU contexts, device cores, plots, messages, contended and shared locks, memory,
        frames of several sets, flows, call stacks with symbols, values beyond 2^53
twins   three processes; two clients in one of them, whose threads are the same, and a Tracy client with a clock of its own
broken  losses, holes, a clock that jumps, cut short
names   100,000 locations, with names in Chinese, emoji and HTML
"""
import os
import pathlib
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import traces as tr  # noqa: E402

MS, US, ORIGIN = tr.MS, tr.US, tr.ORIGIN
# kinds that the second writer does not know by itself
MORE = """\
39 gpu_begin uuul context,query,tid,location
40 gpu_end uuu context,query,tid
41 gpu_time uui context,query,time
42 gpu_calibration uiui context,time,host,delta_ns
43 gpu_sync uiu context,time,host
75 gpu_context uuuuuid context,type,calibrated,tid,host,time,period_ns
76 gpu_name us context,name
79 symbol uuuusss address,inlined,line,start,function,file,image
85 tracy_client uduuuuuuiuuusss protocol,timer_mul,init_begin,init_end,delay,resolution,epoch,exec_time,sampling,flags,arch,cpu_id,maker,program,host
106 clock_map uiuuu proc,time,tick,mult,error_ns
"""
MORE = "".join(line + "\n" for line in MORE.splitlines() if f"\n{line.split()[0]} " not in "\n" + tr.sw.sf.SCHEMA)
SCHEMA = "".join(sorted((tr.sw.sf.SCHEMA + MORE).splitlines(True), key=lambda line: int(line.split()[0])))
tr.sw.KINDS.update(tr.sw.sf.parse_schema(MORE))
tr.sw.NUMBERS.update({name: number for number, (name, _, _) in tr.sw.KINDS.items()})


def nest(thread, rng, t, end, depth, locs):
    """Random zones in [t, end), nested up to a depth; ends may be missing."""
    for _ in range(rng.randrange(1, 4)):
        if t >= end:
            return
        stop = min(end, t + rng.randrange(1, max(2, (end - t) // rng.choice((1, 2, 5)))))
        level = len(thread.stack)
        thread.begin(rng.choice(locs), t)
        if rng.random() < 0.1:
            thread.event("zone_text", t, f"step {rng.randrange(50)}")
        if rng.random() < 0.03:
            thread.event("zone_name", t, f"special {rng.randrange(5)}")
        if rng.random() < 0.03:
            thread.event("zone_value", t, rng.choice((7, 2 ** 63 + 1)))
        if depth > 1 and rng.random() < 0.7:
            nest(thread, rng, t + rng.randrange(3), stop, depth - 1, locs)
        if level > 1 and len(thread.stack) > level and rng.random() < 0.01:
            thread.end_pop(1, stop)
        if len(thread.stack) < level:
            return
        if len(thread.stack) > level:
            thread.end(stop)
        t = stop + rng.choice((0, 1, 50, 5000))


def everything(path):
    """All sorts of events on four threads of two processes."""
    w, rng = tr.begin(path, block_events=4000, schema=SCHEMA), random.Random(31)
    w.process(1, 7001, "everything")
    w.process(2, 7002, "other")
    threads = [w.thread(1, 1 + i, f"thread {i}", ORIGIN) for i in range(4)] + [w.thread(2, 1, "alone", ORIGIN)]
    for proc in (1, 2):
        for i in range(1, 41):
            w.loc(proc, i, f"Work {i % 37}" if i % 5 else "", i % 7, f"fn_{i}", "src/work.c")
        for i, text in enumerate(("main frames", "queue length", "Watts"), 50):
            w.record("string", i, text, proc=proc)
    w.record("plot_config", 52, 3, 1, 0xff0000, proc=1)
    w.record("lock_name", 7, 6, "queue", proc=1)
    w.record("lock_name", 8, 6, "", proc=1)
    w.record("fiber_name", 9, "script", proc=1)
    w.record("module", 0x400000, 0x10000, 0, "abcd", "/usr/lib/libwork.so", proc=1)
    w.record("symbol", 0x400100, 0, 11, 0x400100, "inner", "in.c", "libwork.so", proc=1)
    w.record("symbol", 0x400100, 1, 12, 0x400100, "outer", "out.c", "libwork.so", proc=1)
    gpus(w)
    for i in range(120):
        step(threads, rng, ORIGIN + 1000 + i * MS, i)
        if i % 8 == 7:
            w.flush()
    threads[0].begin(3, ORIGIN + 125 * MS)
    threads[0].event("span_begin", ORIGIN + 125 * MS, 5, 9)
    tr.end(w, ORIGIN + 130 * MS)


def gpus(w):
    """Three contexts: plain, calibrated with a period, a core of a device."""
    w.record("gpu_context", 1, 2, 0, 0, ORIGIN, 500, 1.0, proc=1)
    w.record("gpu_name", 1, "queue 0", proc=1)
    w.record("gpu_context", 2, 7, 1, 99, ORIGIN, 1000, 0.4, proc=1)
    w.record("gpu_context", 3, 7, 0, 0, ORIGIN, 0, 1.0, proc=2)
    w.record("gpu_name", 3, "Device: 4, Logical (1,2) Physical (3,4)", proc=2)


def step(threads, rng, t, i):
    """A millisecond."""
    main, alone = threads[0], threads[4]
    main.event("frame", t, 50 if i % 3 else 0)
    main.event("plot_int", t + 5, 51, rng.randrange(-50, 50))
    main.event("plot_double", t + 5, 52, rng.random())
    main.event("message", t + 7, rng.randrange(6) + (256 if i % 9 == 0 else 0), 0xff, f"message {i} of {rng.randrange(9)}")
    for k, thread in enumerate(threads):
        if i % 7 == k:
            thread.event("callstack", t + 10, [0x400100, 0x400200, 0x999999])
            thread.begin(2, t + 10)
            thread.event("flow_begin" if k else "flow_end", t + 11, rng.choice((4, 2 ** 60 + i)))
            thread.end(t + 20)
        lock = rng.choice((7, 8))
        a = t + 30 + rng.randrange(40)
        thread.begin(1, t + 25)
        thread.event("lock_wait", a, lock, 0)
        thread.event("lock_obtain", a + rng.randrange(60), lock, 0)
        thread.event("lock_release", a + 70 + rng.randrange(60), lock, 0)
        thread.end(t + 280)
        nest(thread, rng, t + 300, t + MS - 300_000, 6, list(range(1, 41)))
        thread.event("alloc", t + MS - 1000, 0, 4096 + i, 64)
    fibers_and_spans(threads, rng, t, i)
    for context, thread, tid in ((1, main, 11), (1, main, 12), (2, main, 0), (3, alone, 2 + 8 * 5), (3, alone, 1 + 8 * 5)):
        gpu_zone(thread, rng, t + MS - 900, context, tid, i)
    if i % 10 == 5:
        main.event("gpu_calibration", t + MS - 500, 2, 1000 + i * 2_000_000, t + MS - 500, 900_000 * 10)


def gpu_zone(thread, rng, t, context, tid, i):
    """Two nested GPU zones and the times of their queries."""
    query = 4 * (i % 8) + (100 if tid % 2 else 0)
    at = 5000 + i * 1_000_000 + rng.randrange(400_000)
    thread.event("gpu_begin", t, context, query, tid, 4)
    thread.event("gpu_begin", t + 1, context, query + 1, tid, 5)
    thread.event("gpu_end", t + 2, context, query + 2, tid)
    thread.event("gpu_end", t + 3, context, query + 3, tid)
    for k, off in enumerate((0, 10_000, 200_000 + rng.randrange(50_000), 300_000)):
        if i != 77 or k != 3:
            thread.event("gpu_time", t + 4 + k, context, query + k, at + off)


def fibers_and_spans(threads, rng, t, i):
    """A fiber that changes threads, spans that overlap."""
    first, second = threads[i % 3], threads[(i + 1) % 3]
    first.event("fiber_enter", t + MS - 800_00, 9)
    first.begin(10, t + MS - 790_00)
    first.event("zone_text", t + MS - 789_00, f"resumed {i}")
    first.begin(11, t + MS - 780_00)
    first.event("fiber_leave", t + MS - 770_00)
    second.event("fiber_enter", t + MS - 760_00, 9)
    second.event("zone_end_at", t + MS - 750_00, 11 if i % 5 else 10)
    if i % 5:
        second.event("zone_end_at", t + MS - 740_00, 10)
    second.event("fiber_leave", t + MS - 730_00)
    for k in range(3):
        first.event("span_begin", t + MS - 50_00 + k, 100 * k + i % 4, 12 + k)
        if rng.random() < 0.9:
            second.event("span_end", t + MS - 40_00 + k * rng.randrange(500), 100 * k + i % 4)


def twins(path):
    """Two clients in process 8001, and a Tracy client with a clock of its own."""
    w, rng = tr.begin(path, block_events=6000, schema=SCHEMA), random.Random(5)
    for proc, name in ((1, "python"), (2, "python"), (3, "native")):
        w.process(proc, 8001 if proc < 3 else 8003, name)
        for i in range(1, 21):
            w.loc(proc, i, f"{name} {proc} zone {i}" if i % 4 else "shared name", i, "f", "a.py")
    w.record("tracy_client", 64, 0.4, 5000, 6000, 0, 0, 0, 0, 0, 0, 0, 0, "", "native", "", proc=3)
    w.record("clock_map", 3, 5000, ORIGIN, 1 << 32, 900)
    w.record("clock_map", 3, 5000 + 100 * MS, ORIGIN + 100 * MS, (1 << 32) + 12345, 900)
    pairs = [(w.thread(1, 1, "main", ORIGIN), w.thread(2, 1, "", ORIGIN)), (w.thread(1, 2, "pool", ORIGIN), w.thread(2, 7, "pool too", ORIGIN))]
    set_tids(w)
    other = w.thread(3, 1, "own clock", ORIGIN)
    w.record("gpu_context", 1, 2, 0, 1, 5000, 0, 1.0, proc=3)
    for i in range(60):
        t = ORIGIN + 1000 + i * 3 * MS
        for a, b in pairs:
            nest_two(a, b, rng, t)
        nest(other, rng, t, t + 2 * MS, 4, list(range(1, 21)))
        gpu_zone(other, rng, t + 2 * MS + 10, 1, 0, i)
        pairs[0][1].event("message", t + 5, 3, 0, f"from the second client {i}")
        if i % 8 == 7:
            w.flush()
    pairs[1][0].begin(2, ORIGIN + 190 * MS)
    tr.end(w, ORIGIN + 200 * MS)


def set_tids(w):
    """The threads of both clients are the same to the system."""
    for proc, track, tid, name in ((1, 1, 8001, "main"), (2, 1, 8001, ""), (1, 2, 8002, "pool"), (2, 7, 8002, "pool too")):
        w.record("thread", track, tid, ORIGIN, name, proc=proc)


def nest_two(a, b, rng, t):
    """Zones of two clients in each other."""
    for _ in range(rng.randrange(1, 12)):
        a.begin(rng.randrange(1, 21), t)
        a.event("zone_text", t + 1, f"outer {rng.randrange(4)}")
        for k in range(rng.randrange(3)):
            b.begin(rng.randrange(1, 21), t + 10 + 100 * k)
            a.begin(rng.randrange(1, 21), t + 20 + 100 * k)
            a.end(t + 60 + 100 * k)
            b.end(t + 60 + 100 * k + rng.randrange(3))
        a.end(t + 400)
        t += 500 + rng.randrange(20_000)


def broken(path):
    """Losses, holes in the stream and in the file, jumps of the clock, no end."""
    w, rng = tr.begin(path, block_events=2000, index_every=8), random.Random(77)
    w.process(1, 9001, "broken")
    threads = [w.thread(1, 1 + i, f"lossy {i}", ORIGIN) for i in range(3)]
    for i in range(1, 21):
        w.loc(1, i, f"zone {i}")
    for k, at in enumerate((0, 40 * MS, 90 * MS)):
        w.record("clock_sync", 1, ORIGIN + at, 5_000_000_000 + at * 2 // 5 + 3_000_000 * k, 1_700_000_000_000_000_000, 2500 * k, k)
    w.flush_records()
    for i in range(100):
        t = ORIGIN + i * MS
        for thread in threads:
            thread.begin(1, t)
            nest(thread, rng, t + 10, t + MS - 4000, 5, list(range(1, 21)))
            thread.event("message", t + MS - 3500, 4, 0, f"lost {i}?")
            if i % 17 == 3:
                thread.lose(500, keep=0)
            elif thread.stack:
                thread.end_pop(len(thread.stack) - 1, t + MS - 3000)
        if i % 31 == 9:
            threads[1].drop(0, 100 + i, t, t + MS)
            threads[2].drop(5, 7, t, t + 10)
        w.flush()
    tr.end(w, ORIGIN + 101 * MS)
    data = bytearray(pathlib.Path(path).read_bytes())
    at = len(data) // 2 // 8 * 8
    data[at:at + 6000] = bytes(6000)
    pathlib.Path(path).write_bytes(data[:len(data) - len(data) // 12])


def names(path):
    """100,000 locations with names that a careless reader breaks on."""
    w, rng = tr.begin(path), random.Random(8)
    thread, other = w.thread(1, 1, "主线程 🚀", ORIGIN), w.thread(1, 2, tr.HTML, ORIGIN)
    kinds = ("渲染{}", "🦊 fox {}", tr.HTML + "{}", "\u202eright to left {}", "Ünïcode {}", "plain {}", "tab\tand\nline {}")
    for i in range(1, 100_001):
        w.loc(1, i, kinds[i % 7].format(i) if i % 1000 else "same", i % 1000 if i % 1000 else 5, "函数", f"src/文件{i % 97}.c" if i % 1000 else "same.c")
    for i in range(1, 100_001):
        t = ORIGIN + i * 100
        (thread if i % 3 else other).begin(i, t)
        if i % 500 == 0:
            (thread if i % 3 else other).event("zone_text", t + 1, kinds[rng.randrange(7)].format("text"))
        (thread if i % 3 else other).end(t + rng.randrange(90))
        if i % 997 == 0:
            thread.event("message", t + 95, 2, 0, kinds[rng.randrange(7)].format("message"))
        if i % 16384 == 0:
            w.flush()
    tr.end(w, ORIGIN + 10_100_000)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (everything, twins, broken, names):
        make(str(folder / f"{'all' if make is everything else make.__name__}.strobe"))


if __name__ == "__main__":
    main()
