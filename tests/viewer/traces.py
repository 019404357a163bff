#!/usr/bin/env python3
"""traces.py FOLDER: the traces that the tests of the viewer look at, written by the second writer.

rich    two processes with everything: nested zones, texts, messages, frames, plots, locks, flows, spans, a fiber
names   Chinese, emoji, right-to-left, HTML in every place that takes a text
ages    a zone of 3 days, and one of 1 ns
one     one zone;  none: no event at all;  open: zones that never end
losses  events lost on one thread;  cut: rich without its end;  clocks: one that jumps, one that is uncertain
daily   zones and messages with colours of their own, JSON as texts, 40 depths, a thread that is empty for most of the time
deep    calls of a Python program, up to 80 deep
ranks   three ranks of a job, as they are merged: each with a solver and a loader
film    60 frames, every second one with an image: a red bar that grows over blue
locs    100,000 source locations;  tracks: 4,000 threads;  far: blocks behind the first 4 GiB
"""
import os
import pathlib
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reader"))
import strobe_writer as sw  # noqa: E402

MS = 2_500_000  # ticks
US = 2_500
ORIGIN = 1_000_000
FRAME_IMAGE = "32 frame_image uuuus frame,width,height,flip,dxt1\n"
CLOCK_MAP = "106 clock_map uiuuu proc,time,tick,mult,error_ns\n"
HTML = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>"


def begin(path, **options):
    """A trace whose origin is tick ORIGIN."""
    writer = sw.Writer(path, **options)
    writer.record("host", "build-7", "Linux 6.1", "Some CPU")
    writer.record("recording", ORIGIN, 0)
    return writer


def end(writer, last):
    """Clock, end of the recording, footer."""
    writer.clocks(ORIGIN, max(last, ORIGIN + MS))
    writer.record("overhead", 12_000_000, 11_000, 0, 1000)
    writer.record("recording", max(last, ORIGIN + MS), 1)
    writer.close()


def rich(path):
    """100 frames of 10 ms on a main thread, three workers, a second process."""
    w = begin(path)
    w.process(1, 4001, "renderer")
    w.process(2, 4002, "encoder")
    main = w.thread(1, 1, "main", ORIGIN)
    workers = [w.thread(1, 2 + i, f"worker {i}", ORIGIN) for i in range(3)]
    encoder = w.thread(2, 1, "encoder", ORIGIN)
    places = ("run", "frame", "update", "draw", "wait", "tile", "trace rays", "shade")
    for i, name in enumerate(places, 1):
        w.loc(1, i, name, 10 * i, f"{name.replace(' ', '_')}_fn", "src/render.c")
    w.loc(2, 1, "encode", 7, "encode_fn", "src/encode.c")
    w.loc(1, 20, "script step", 3, "step", "game.lua")
    w.loc(1, 21, "download", 4, "fetch", "net.c")
    for i, text in enumerate(("frames", "tiles waiting", "memory"), 50):
        w.record("string", i, text, proc=1)
    w.record("plot_config", 52, 1, 0, 0, proc=1)
    w.record("lock_name", 7, 6, "tile queue", proc=1)
    w.record("fiber_name", 9, "camera script", proc=1)
    rng = random.Random(7)
    main.begin(1, ORIGIN + 10)
    for frame in range(100):
        rich_frame(frame, ORIGIN + 1000 + frame * 10 * MS, main, workers, encoder, rng)
        if frame % 10 == 9:
            w.flush()
    last = ORIGIN + 1000 * MS + 5000
    main.end(last)
    for i in range(5):
        main.event("span_begin", last + i, 100 + i, 21)
    for i in range(5):
        main.event("span_end", last + 10 * MS + i * MS, 100 + i)
    end(w, last + 20 * MS)


def rich_frame(frame, t, main, workers, encoder, rng):
    """One frame: 10 ms."""
    main.event("frame", t, 50)
    main.begin(2, t)
    main.event("zone_text", t + 5, f"frame number {frame}")
    main.begin(3, t + 100)
    main.event("plot_int", t + 110, 51, 60 - frame % 7)
    main.event("plot_double", t + 120, 52, 1e6 * (frame % 13))
    if frame % 10 == 0:
        main.event("message", t + 130, 3 if frame % 20 else 2, 0, f"checkpoint {frame}")
    main.end(t + MS)
    main.begin(4, t + MS + 50)
    main.event("flow_begin", t + MS + 60, 1000 + frame)
    main.end(t + 2 * MS)
    main.event("fiber_enter", t + 2 * MS + 10, 9)
    main.begin(20, t + 2 * MS + 20)
    main.event("zone_end_at", t + 3 * MS, 20)
    main.event("fiber_leave", t + 3 * MS + 10)
    main.begin(5, t + 3 * MS + 50)
    for number, worker in enumerate(workers):
        at = t + 2 * MS + number * 50
        if not number:
            worker.begin(6, at)
            worker.event("flow_end", at + 5, 1000 + frame)
            worker.event("lock_wait", at + 10, 7, 0)
            worker.event("lock_obtain", at + 20, 7, 0)
            worker.event("lock_release", at + MS, 7, 0)
            worker.end(at + MS + 10)
            at += MS + 20
        for _ in range(6):
            length = rng.randrange(300 * US, 900 * US)
            worker.begin(6, at)
            worker.begin(7, at + 10)
            worker.begin(8, at + 20)
            worker.end(at + length - 20)
            worker.end(at + length - 10)
            worker.end(at + length)
            at += length + 25
    main.end(t + 9 * MS)
    main.end(t + 10 * MS - 100)
    encoder.begin(1, t + 4 * MS)
    encoder.event("zone_value", t + 4 * MS + 5, frame)
    encoder.end(t + 7 * MS)


def names(path):
    """Texts that a careless page would run or break on."""
    w = begin(path)
    w.process(1, 5001, "程序 🚀")
    threads = [w.thread(1, 1, "主线程", ORIGIN), w.thread(1, 2, HTML, ORIGIN)]
    for i, name in enumerate(("渲染一帧", "🦊 fox", HTML, "\u202eright to left", "a" * 4000, "tab\tand\nline", ""), 1):
        w.loc(1, i, name, i, "函数" if i != 7 else HTML, f"{HTML}.c")
    for thread in threads:
        for i in range(1, 8):
            t = ORIGIN + i * 100 * MS
            thread.begin(i, t)
            thread.event("zone_text", t + 5, HTML)
            thread.event("message", t + 10, 2, 0, HTML)
            thread.end(t + 90 * MS)
    end(w, ORIGIN + 900 * MS)


def ages(path):
    """3 days beside 1 ns."""
    w = begin(path)
    thread, other = w.thread(1, 1, "slow", ORIGIN), w.thread(1, 2, "fast", ORIGIN)
    w.loc(1, 1, "three days")
    w.loc(1, 2, "one ns")
    day = 86_400_000 * MS
    thread.begin(1, ORIGIN)
    for i in range(1000):
        other.begin(2, ORIGIN + day + i * 10 * US)
        other.end(ORIGIN + day + i * 10 * US + 3)
    thread.end(ORIGIN + 3 * day)
    end(w, ORIGIN + 3 * day)


def small(path, n, is_open=False):
    """n zones, which may never end."""
    w = begin(path)
    thread = w.thread(1, 1, "main", ORIGIN)
    w.loc(1, 1, "only zone")
    for i in range(n):
        thread.begin(1, ORIGIN + (i + 1) * MS)
        if not is_open:
            thread.end(ORIGIN + (i + 1) * MS + 500 * US)
    end(w, ORIGIN + 10 * MS)


def losses(path):
    """A thread that lost 1234 events between 40 and 60 ms."""
    w = begin(path)
    thread = w.thread(1, 1, "lossy", ORIGIN)
    w.loc(1, 1, "work")
    for i in range(100):
        if 40 <= i < 60:
            continue
        thread.begin(1, ORIGIN + i * MS + 10)
        thread.end(ORIGIN + i * MS + 900 * US)
    thread.drop(0, 1234, ORIGIN + 40 * MS, ORIGIN + 60 * MS)
    end(w, ORIGIN + 100 * MS)


def clock_map(writer, *fields):
    """A record that the second writer does not know."""
    data = sw.sf.encode_fields("uiuuu", fields)
    writer.records += sw.sf.varint(106) + sw.sf.varint(len(data)) + data
    writer.n_records += 1


def clocks(path):
    """A process whose own clock is good to 2 ms, and a jump of the host's after 60 ms."""
    w = begin(path, schema=sw.sf.SCHEMA + CLOCK_MAP)
    w.process(1, 7001, "host")
    w.process(2, 7002, "far away")
    clock_map(w, 2, 0, ORIGIN, 5 << 31, 2_000_000)
    for proc in (1, 2):
        thread = w.thread(proc, 1, f"main {proc}", ORIGIN)
        w.loc(proc, 1, "work")
        for i in range(100):
            thread.begin(1, ORIGIN + i * MS + 10)
            thread.end(ORIGIN + i * MS + 900 * US)
    jump = ORIGIN + 60 * MS
    w.record("clock_sync", 1, jump, sw.MONO_AT_ZERO + jump * 2 // 5 + 5_000_000, 1_700_000_000_000_000_000, 40, 1)
    end(w, ORIGIN + 100 * MS)


def daily(path):
    """100 requests of 10 ms on a thread, of which every fifth is red; recursion of 40 depths; a thread with work in the last 100 ms only."""
    w = begin(path)
    w.process(1, 8001, "service")
    w.process(2, 8002, "helper")
    handler, deep, late = w.thread(1, 1, "handler", ORIGIN), w.thread(1, 2, "deep", ORIGIN), w.thread(1, 3, "late", ORIGIN)
    helper = w.thread(2, 1, "helper main", ORIGIN)
    for i, name in enumerate(("request", "parse", "answer", "recurse", "flush"), 1):
        w.loc(1, i, name, 10 * i, f"{name}_fn", "src/service.c")
    w.loc(2, 1, "assist", 5, "assist_fn", "src/helper.c")
    w.record("string", 51, "queue", proc=1)
    for i in range(100):
        t = ORIGIN + i * 10 * MS + 1000
        handler.begin(1, t)
        handler.event("zone_text", t + 5, '{"user": "u%d", "bytes": %d, "tags": ["a", "b"]}' % (i, 100 * i))
        handler.begin(2, t + 10)
        handler.end(t + 2 * MS)
        handler.begin(3, t + 2 * MS + 10)
        handler.end(t + (5 + i % 4) * MS)
        if i % 5 == 0:
            handler.event("zone_color", t + 9 * MS, 0xCC0000)
        handler.event("message", t + 20, 2 + i % 3, 0x00AA00 if i % 2 else 0, f"served {i}")
        handler.event("plot_int", t + 30, 51, i % 9)
        handler.end(t + 9 * MS + 10)
        helper.begin(1, t + MS)
        helper.end(t + 3 * MS)
    for i in range(5):
        t = ORIGIN + i * 200 * MS
        for d in range(40):
            deep.begin(4, t + d * MS)
        for d in range(40):
            deep.end(t + (100 + d) * MS)
    for i in range(20):
        late.begin(5, ORIGIN + (900 + 4 * i) * MS)
        late.end(ORIGIN + (902 + 4 * i) * MS)
    end(w, ORIGIN + 1000 * MS)


def deep(path):
    """A stack that grows to 80 and shrinks again, 40 times, with short calls at each depth."""
    w = begin(path)
    w.process(1, 900, "python app.py")
    main = w.thread(1, 1, "MainThread", ORIGIN)
    names = [f"{verb}_{noun}" for verb in ("parse", "visit", "check", "emit") for noun in ("module", "call", "body", "expression", "item")]
    for i, name in enumerate(names, 1):
        w.loc(1, i, name, 10 * i, name, "app.py")
    rng = random.Random(3)
    t = ORIGIN + 1000
    for wave in range(40):
        for d in range(80):
            main.begin(1 + rng.randrange(len(names)), t)
            t += rng.randrange(200, 20 * US)
            for _ in range(3):
                if d < 79:
                    main.begin(1 + rng.randrange(len(names)), t)
                    t += rng.randrange(50, 4 * US)
                    main.end(t)
        for d in range(80):
            t += rng.randrange(200, 8 * US)
            main.end(t)
        if wave % 10 == 9:
            w.flush()
    end(w, t + MS)


def image(width, height, share, flip):
    """DXT1, blocks of one colour: red up to `share` of the width, then blue; the lower half is darker."""
    blocks = bytearray()
    for row in range(height // 4):
        dark = (row < height // 8) if flip else (row >= height // 8)
        for column in range(width // 4):
            is_red = column * 4 < share * width
            color = (0x7800 if dark else 0xf800) if is_red else (0x000f if dark else 0x001f)
            blocks += color.to_bytes(2, "little") + b"\0\0" + b"\0\0\0\0"
    return bytes(blocks)


def film(path):
    """A game of 60 frames a second; every second frame has an image, of which the later half are upside down."""
    w = begin(path, schema=sw.sf.SCHEMA + FRAME_IMAGE)
    w.process(1, 6001, "game")
    main = w.thread(1, 1, "main", ORIGIN)
    w.loc(1, 1, "frame", 10, "frame_fn", "src/game.c")
    sw.KINDS.update(sw.sf.parse_schema(FRAME_IMAGE))
    t = ORIGIN + 1000
    for i in range(60):
        main.event("frame", t, 0)
        main.begin(1, t + 10)
        if i % 2:
            flip = i > 30
            main.event(32, t + 20, i + 1, 128, 72, int(flip), image(128, 72, i / 60, flip))
        main.end(t + 12 * MS)
        t += 16 * MS + (i % 7) * MS // 2
        if i % 20 == 19:
            w.flush()
    main.event("frame", t, 0)
    end(w, t + MS)
    del sw.KINDS[32]  # a trace of all kinds has those of the second writer


def ranks(path):
    """Rank n takes n + 1 ms for each of its ten steps; the file has the last rank first."""
    w = begin(path)
    for rank in (2, 0, 1):
        for proc, program in ((2 * rank + 1, "solver"), (2 * rank + 2, "loader")):
            w.process(proc, 7000 + proc, f"rank {rank}: {program}")
            w.loc(proc, 1, "step" if program == "solver" else "load", 3)
            thread = w.thread(proc, 1, "main", ORIGIN)
            for i in range(10):
                thread.begin(1, ORIGIN + 10 * i * MS)
                thread.end(ORIGIN + (10 * i + rank + 1) * MS)
    end(w, ORIGIN + 110 * MS)


def locs(path):
    """100,000 locations, one zone each."""
    w = begin(path)
    thread = w.thread(1, 1, "main", ORIGIN)
    for i in range(1, 100_001):
        w.loc(1, i, f"place {i}", i % 1000, f"fn_{i}", f"src/file{i % 97}.c")
    for i in range(1, 100_001):
        thread.begin(i, ORIGIN + i * 100)
        thread.end(ORIGIN + i * 100 + 90)
        if i % 16384 == 0:
            w.flush()
    end(w, ORIGIN + 10_100_000)


def tracks(path):
    """4,000 threads in 4 processes, 20 zones each, two deep."""
    w = begin(path)
    for proc in range(1, 5):
        w.process(proc, 6000 + proc, f"server {proc}")
        for i in range(1, 31):
            w.loc(proc, i, f"request {i}")
        for number in range(1, 1001):
            thread = w.thread(proc, number, f"pool {number}", ORIGIN)
            for k in range(10):
                t = ORIGIN + k * 10 * MS + number * 5 * US
                thread.begin(1 + (number + k) % 30, t)
                thread.begin(1 + (number * 7 + k) % 30, t + 100 * US)
                thread.end(t + 2 * MS)
                thread.end(t + 5 * MS)
        w.flush()
    end(w, ORIGIN + 110 * MS)


def far(path):
    """Half of it lies 5 GiB behind the other half; nothing is in between, which costs no disk."""
    w = begin(path, block_events=100)
    w.process(1, 4001, "far")
    thread = w.thread(1, 1, "main", ORIGIN)
    w.loc(1, 1, "early", 1)
    w.loc(1, 2, "late", 2)
    for i in range(100):
        if i == 50:
            w.flush()
            w.file.seek(5 << 30)
        thread.begin(1 + i // 50, ORIGIN + i * MS)
        thread.end(ORIGIN + i * MS + 300 * US)
    end(w, ORIGIN + 100 * MS)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    at = lambda name: str(folder / f"{name}.strobe")  # noqa: E731
    rich(at("rich"))
    names(at("names"))
    ages(at("ages"))
    small(at("one"), 1)
    small(at("none"), 0)
    small(at("open"), 3, True)
    losses(at("losses"))
    clocks(at("clocks"))
    daily(at("daily"))
    deep(at("deep"))
    film(at("film"))
    ranks(at("ranks"))
    locs(at("locs"))
    tracks(at("tracks"))
    far(at("far"))
    data = (folder / "rich.strobe").read_bytes()
    (folder / "cut.strobe").write_bytes(data[:len(data) - len(data) // 20])
    sw_all = sw.Writer(at("kinds"), block_events=3000, index_every=4)
    args = type("Args", (), {"zones": 6000, "threads": 6, "procs": 2, "seed": 5, "kinds": "all"})
    sw.Generator(sw_all, args).run()
    sw_all.close()


if __name__ == "__main__":
    main()
