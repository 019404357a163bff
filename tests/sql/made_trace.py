"""made_trace.py: a small trace with everything that SQL has a table for, written by the second writer, and what must be in it.
SPDX-License-Identifier: MIT"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reader"))
import strobe_writer as sw  # noqa: E402

ORIGIN = 1_000_000


def at(ns):
    """The tick of a time: they are nanoseconds."""
    return ORIGIN + ns


def write(path):
    """Two processes; app has main, worker and ten more threads."""
    w = sw.Writer(path)
    w.record("host", "build-7", "Linux 6.1", "Some CPU")
    w.record("recording", ORIGIN, 0)
    w.process(1, 4001, "app")
    w.process(2, 4002, "server")
    main, worker = w.thread(1, 1, "main", ORIGIN), w.thread(1, 2, "worker", at(2000))
    for i in range(10):
        w.thread(1, 3 + i, f"pool {i}", ORIGIN)
    server = w.thread(2, 1, "server", ORIGIN)
    for i, name in enumerate(("measure", "DrawGame", "DrawPlayer", "send", "receive", "job"), 1):
        w.loc(1, i, name, 10 * i, name, "game.cc")
    w.loc(2, 1, "serve", 1, "serve", "server.cc")
    for i, text in enumerate(("Framerate", "mem.swap", "frame", "load"), 50):
        w.record("string", i, text, proc=1)
    w.record("string", 50, "mem.swap", proc=2)
    w.record("plot_config", 51, 1, 0, 0, proc=1)
    w.record("lock_name", 7, 1, "queue", proc=1)
    fill_main(main)
    fill_worker(worker)
    server.begin(1, at(100))
    server.event("plot_int", at(200), 50, 500)
    server.end(at(900))
    for tick in (ORIGIN, at(1_000_000)):
        w.record("clock_sync", 1, tick, 5_000_000 + tick, 1_700_000_000_000_000_000 + tick, 40, 0)
    w.record("recording", at(1_000_000), 1)
    w.close()


def fill_main(main):
    main.event("switch_in", at(0), 3, 0)
    main.event("frame", at(0), 52)
    main.begin(2, at(1000))
    main.event("plot_int", at(1100), 50, 120)
    main.event("plot_int", at(1200), 51, 999)
    for player in (1, 2):
        main.begin(3, at(1000 + 1000 * player))
        main.event("zone_text", at(1010 + 1000 * player), f'{{"player_number":{player},"at":[0.5,true,null],"who":{{"name":"p{player}"}}}}')
        main.end(at(1600 + 1000 * player))
    main.event("plot_int", at(3700), 51, 2048)
    main.end(at(4000))
    main.event("frame", at(5000), 52)
    main.begin(1, at(5200))
    main.event("zone_value", at(5210), 42)
    main.event("zone_text", at(5220), "no JSON {")
    main.event("lock_obtain", at(5300), 7, 0)
    main.begin(4, at(5400))
    main.event("flow_begin", at(5500), 1)
    main.end(at(5600))
    main.event("lock_release", at(6500), 7, 0)
    main.event("flow_begin", at(6600), 2)
    main.end(at(7000))
    main.event("message", at(7100), 3, 0, "half way")
    main.event("switch_out", at(8000), 3, 32)
    main.event("switch_in", at(9000), 1, 0)
    main.event("frame", at(9500), 52)
    main.event("switch_out", at(10000), 1, 0)


def fill_worker(worker):
    worker.event("switch_in", at(2000), 0, 0)
    worker.event("frame_start", at(2100), 53)
    worker.begin(5, at(5700))
    worker.event("flow_step", at(5800), 1)
    worker.event("lock_wait", at(6000), 7, 0)
    worker.event("lock_obtain", at(6600), 7, 0)
    worker.event("lock_release", at(6800), 7, 0)
    worker.end(at(7000))
    worker.event("frame_end", at(7200), 53)
    worker.event("lock_wait", at(7300), 7, 0)  # nobody holds it: no wait
    worker.event("lock_obtain", at(7302), 7, 0)
    worker.event("lock_release", at(7400), 7, 0)
    worker.begin(6, at(8000))
    worker.event("flow_end", at(8100), 1)
    worker.begin(1, at(8200))
    worker.end(at(8400))
    worker.end(at(8600))
