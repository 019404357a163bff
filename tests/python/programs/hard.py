"""The hard program: does everything that makes calls hard to count, counts them by a hook in C of its own (module counting, where
it is told to) and knows the numbers itself. Writes both to the file named by its first argument, as JSON; ends by sys.exit(7)."""
import asyncio
import gc
import json
import multiprocessing
import sys
import threading

known = {}


def know(name, n):
    known[name] = known.get(name, 0) + n


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def exhausted():
    for i in range(10):
        yield i


def abandoned():
    try:
        for i in range(10):
            yield i
    finally:
        cleaned()


def cleaned():
    pass


def delegating():
    yield from exhausted()


def five(depth):
    if depth == 1:
        raise ValueError("from below")
    five(depth - 1)


def handler():
    try:
        five(5)
    except ValueError:
        pass


def leaf():
    pass


def in_thread(n):
    for _ in range(n):
        leaf()


def called_back():
    leaf()


async def step(n):
    for _ in range(n):
        await asyncio.sleep(0)
    leaf()


async def task(n):
    await step(n)
    in_task()


def in_task():
    leaf()


async def numbers():
    for i in range(3):
        yield i
        await asyncio.sleep(0)


async def consumer():
    return [i async for i in numbers()]


async def failing():
    await asyncio.sleep(0)
    raise KeyError("in a task")


async def cancelled():
    await asyncio.sleep(60)


async def main(n, eager):
    if eager:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    tasks = [asyncio.create_task(task(i % 4)) for i in range(n)]
    await asyncio.gather(*tasks)
    await asyncio.gather(consumer(), consumer())
    await asyncio.gather(failing(), return_exceptions=True)
    one = asyncio.create_task(cancelled())
    await asyncio.sleep(0)
    one.cancel()
    await asyncio.gather(one, return_exceptions=True)


def pooled(n):
    for _ in range(n):
        leaf_of_pool()
    return n


def leaf_of_pool():
    pass


class Callable:
    def __call__(self):
        leaf()

    @property
    def attribute(self):
        return leaf()

    def __del__(self):
        leaf()


def run_all(counting, n_tasks):
    fib(18)
    know("fib", 8361)
    for _ in range(100):
        list(exhausted())
    know("exhausted", 1100)
    for _ in range(50):
        generator = abandoned()
        next(generator), next(generator), next(generator)
        del generator
    gc.collect()
    know("abandoned", 200)  # three items and the close
    know("cleaned", 50)
    for _ in range(20):
        list(delegating())
    know("delegating", 220)
    know("exhausted", 220)
    for _ in range(100):
        handler()
    know("handler", 100)
    know("five", 500)
    threads = [threading.Thread(target=in_thread, args=(1000,), name=f"worker {i}") for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    know("in_thread", 4)
    know("leaf", 4000)
    if counting:
        counting.call_back(called_back, 500)
        know("called_back", 500)
        know("leaf", 500)
    one = Callable()
    one(), one.attribute
    del one
    know("__call__", 1)
    know("attribute", 1)
    know("__del__", 1)
    know("leaf", 3)
    for eager in [False, True] if sys.version_info >= (3, 12) else [False]:
        asyncio.run(main(n_tasks, eager))
        know("task", n_tasks)
        know("step", n_tasks)
        know("in_task", n_tasks)
        know("leaf", 2 * n_tasks)
        know("consumer", 2)
        know("failing", 1)
        know("cancelled", 1)
        know("main", 1)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            pool.map(pooled, [100] * 4, chunksize=1)
            pool.close()
            pool.join()
        know("pooled", 4)
        know("leaf_of_pool", 400)


def write(path, counting):
    counted = {}
    elsewhere = ("pooled", "leaf_of_pool", "<module>", "start_counting")  # in other processes, or before the counting began
    if counting:
        for code, events in counting.counts().items():
            if code.co_filename == __file__ and code.co_name not in elsewhere:
                name = getattr(code, "co_qualname", code.co_name)
                kind = "coroutine" if code.co_flags & 0x80 else "async generator" if code.co_flags & 0x200 else "function"
                counted[f"{name}:{code.co_firstlineno}"] = {"kind": kind, "events": events}
    with open(path, "w") as file:
        json.dump({"known": known, "counted": counted}, file)


def start_counting(folder):
    sys.path.insert(0, folder)
    import counting

    counting.start()
    return counting


if __name__ == "__main__":
    counting = start_counting(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None
    n_tasks = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    run_all(counting, n_tasks)
    write(sys.argv[1], counting)
    sys.exit(7)
