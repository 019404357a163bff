"""work.py TOOL WORKLOAD C: run a workload under a tool in this process; prints its CPU time. TOOL: plain, limit, strobe, viztracer,
cprofile; C: 1 with C functions. Or: work.py zones PEER, the cost of context managers, ours and limit's; work.py many N, calls alone;
work.py startup PTH, the start of an interpreter with nobody recording.  SPDX-License-Identifier: MIT"""
import json
import os
import statistics
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def one(x):
    return x


def two(items, x):
    items.append(x)
    return len(items)


def small(n):
    items = []
    for i in range(n):
        one(i)
        two(items, i)
        items.pop()


def start(tool, c):
    """Switch the tool on; the function that switches it off."""
    if tool == "limit":
        import limit

        limit.start("monitor" if sys.version_info >= (3, 12) else "profile" if c else "hook", c)
        return limit.stop
    if tool == "strobe":
        import strobe

        assert strobe.recording()
        strobe.trace(c_functions=bool(c))
        return strobe.untrace
    if tool == "viztracer":
        import viztracer

        tracer = viztracer.VizTracer(verbose=0, ignore_c_function=not c)
        tracer.start()
        return tracer.stop
    if tool == "cprofile":
        import cProfile

        profile = cProfile.Profile(builtins=bool(c))
        profile.enable()
        return profile.disable
    return lambda: None


def run(tool, workload, c):
    n = int(os.environ.get("BENCH_SMALL", "300000"))
    stop = start(tool, c)
    before, wall = time.process_time(), time.perf_counter()
    fib(27) if workload == "fib" else small(n)
    cpu_s, wall_s = time.process_time() - before, time.perf_counter() - wall
    stop()
    return {"cpu_s": cpu_s, "wall_s": wall_s}


def loop_of(setup, body, make):
    """A function that does `body` n times."""
    space = {"make": make}
    exec(f"def loop(n):\n    {setup}\n    for _ in range(n):\n        {body}\n", space)
    return space["loop"]


def zones(peer, n=20000):
    """CPU time of a use of each context manager in ns, the empty loop taken off: ours and the peer's by turns, each time from the other end."""
    import limit
    import strobe

    loops = {"empty": loop_of("pass", "pass", None)}
    for who, make in (("ours", strobe.zone), ("peer", getattr(limit, peer))):
        loops[f"{who}_reused_ns"] = loop_of("z = make('bench')", "with z: pass", make)
        loops[f"{who}_new_ns"] = loop_of("pass", "with make('bench'): pass", make)
    spent, turns = {key: [] for key in loops}, list(loops.items())
    for i in range(20):
        for key, loop in turns if i % 2 else turns[::-1]:
            before = time.process_time()
            loop(n)
            spent[key].append(time.process_time() - before)
    middle = {key: statistics.median(times) for key, times in spent.items()}
    return {key: (middle[key] - middle["empty"]) / n * 1e9 for key in loops if key != "empty"}


def startup(path):
    """Time in us that site takes to run the lines of a .pth file that are no paths: the median of many."""
    line, wall, cpu = "".join(line for line in open(path) if line.startswith("import")), [], []
    for _ in range(300):
        times = time.perf_counter(), time.thread_time()
        exec(line)
        wall.append(time.perf_counter() - times[0])
        cpu.append(time.thread_time() - times[1])
    return {"us": statistics.median(wall) * 1e6, "cpu_us": statistics.median(cpu) * 1e6}


def anonymous_kib():
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return int(line.split()[1])


def many(n):
    import strobe

    def leaf():
        pass

    def calls(n):
        for _ in range(n):
            leaf()

    strobe.trace()
    calls(100000)
    before = anonymous_kib()
    calls(n - 100000)
    grown = anonymous_kib() - before
    strobe.untrace()
    return {"grown_kib": grown, "calls": n}


def main():
    if sys.argv[1] == "zones":
        found = zones(sys.argv[2])
    elif sys.argv[1] == "startup":
        found = startup(sys.argv[2])
    elif sys.argv[1] == "many":
        found = many(int(sys.argv[2]))
    else:
        found = run(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print("BENCH " + json.dumps(found))


if __name__ == "__main__":
    main()
