"""test_tasks.py - asyncio tasks are tracks of their own, and awaits don't break their zones; generators are linked."""
import sys

import strobe_case


class Tasks(strobe_case.Case):
    def test_a_coroutine_is_one_zone_whatever_it_awaits(self):
        program = self.script(
            "import asyncio\n"
            "async def inner():\n"
            "    for _ in range(3): await asyncio.sleep(0.01)\n"
            "async def job():\n"
            "    await inner()\n"
            "async def main():\n"
            "    await asyncio.gather(*[asyncio.create_task(job()) for _ in range(20)])\n"
            "asyncio.run(main())\n")
        ran = self.record(program)
        jobs = [row for row in ran.rows() if row["name"] == "job"]
        self.assertEqual(len(jobs), 20)
        self.assertTrue(all(int(row["duration_ns"]) > 25_000_000 for row in jobs))
        self.assertEqual(len({row["thread"] for row in jobs}), 20)  # a track each
        self.assertTrue(all(row["thread"].endswith(" job") and row["state"] == "ended" for row in jobs))
        inner = [row for row in ran.rows() if row["name"] == "inner" and row["file"].endswith("program.py")]
        self.assertEqual({row["thread"] for row in inner}, {row["thread"] for row in jobs})
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_tasks_of_the_same_name_and_reused_addresses_stay_apart(self):
        program = self.script(
            "import asyncio\n"
            "async def job():\n"
            "    await asyncio.sleep(0)\n"
            "async def main():\n"
            "    for _ in range(200):\n"
            "        t = asyncio.create_task(job()); t.set_name('same'); await t\n"
            "asyncio.run(main())\n")
        ran = self.record(program)
        jobs = [row for row in ran.rows() if row["name"] == "job"]
        self.assertEqual((len(jobs), len({row["thread"] for row in jobs})), (200, 200))

    def test_eager_tasks_run_on_their_own_track(self):
        if sys.version_info < (3, 12):
            return  # there are none
        program = self.script(
            "import asyncio\n"
            "def sync(): pass\n"
            "async def at_once(): sync()\n"
            "async def later():\n"
            "    await asyncio.sleep(0.001); sync()\n"
            "async def main():\n"
            "    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)\n"
            "    for _ in range(50): await asyncio.create_task(at_once())\n"
            "    await asyncio.gather(*[asyncio.create_task(later()) for _ in range(50)])\n"
            "asyncio.run(main())\n")
        ran = self.record(program)
        for name in ("at_once", "later"):
            rows = [row for row in ran.rows() if row["name"] == name]
            self.assertEqual((len(rows), len({row["thread"] for row in rows})), (50, 50), name)
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_async_generators_and_coroutines_in_them_nest(self):
        program = self.script(
            "import asyncio\n"
            "async def deep(): await asyncio.sleep(0.001)\n"
            "async def items():\n"
            "    for i in range(5):\n"
            "        await deep()\n"
            "        yield i\n"
            "async def user():\n"
            "    async for i in items(): pass\n"
            "async def main(): await asyncio.gather(*[user() for _ in range(10)])\n"
            "asyncio.run(main())\n")
        ran = self.record(program)
        counts = ran.counts("program.py")
        self.assertEqual((counts["user"], counts["deep"], counts["items"]), (10, 50, 60))
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_coroutines_without_asyncio_are_zones_per_resume(self):
        program = self.script(
            "import types\n"
            "@types.coroutine\n"
            "def pause(): yield\n"
            "async def job():\n"
            "    await pause(); await pause()\n"
            "for _ in range(10):\n"
            "    c = job()\n"
            "    try:\n"
            "        while True: c.send(None)\n"
            "    except StopIteration: pass\n")
        ran = self.record(program)
        counts = ran.counts("program.py")
        self.assertEqual((counts["job"], counts["pause"]), (30, 40))

    def test_the_resumes_of_a_generator_are_linked(self):
        program = self.script(
            "def g():\n"
            "    yield 1\n"
            "    yield 2\n"
            "for i in range(10): list(g())\n")
        ran = self.record(program, env={"STROBE_PYTHON_INCLUDE": "__main__"})
        flows = ran.rows("flows")
        whats = [row["what"] for row in flows]
        self.assertEqual((len(flows), whats.count(whats[0])), (40, 10))  # begin, two steps, end


if __name__ == "__main__":
    strobe_case.main()
