"""test_endings.py - the odd ways in which programs end, emit and are put together."""
import collections
import signal

import harness


class Endings(harness.ProgramTest):
    def check_end(self, how, code, end, n_zones=1000):
        """All zones are there, the open one is told as open, and so is the end."""
        ran = self.record(self.program("endings"), how)
        self.assertEqual(ran.code, code, ran.err)
        self.assertEqual(ran.trace.n_zones("work"), n_zones)
        self.assertEqual([zone["name"] for zone in ran.trace.facts["open_zones"]], ["left open"])
        ends = [(proc.how, proc.value) for proc in ran.trace.procs.values()]
        self.assertIn(ends, [[end], [(0, 0)]] if how == "exec" else [[end]])

    def test_exit_keeps_everything(self):
        self.check_end("exit", 3, (1, 3))

    def test__exit_keeps_everything(self):
        self.check_end("_exit", 4, (1, 4))

    def test_quick_exit_keeps_everything(self):
        self.check_end("quick", 5, (1, 5))

    def test_return_from_main_keeps_everything(self):
        self.check_end("return", 0, (1, 0))

    def test_abort_keeps_everything(self):
        self.check_end("abort", 128 + signal.SIGABRT, (2, signal.SIGABRT))

    def test_a_crash_keeps_everything(self):
        self.check_end("segv", 128 + signal.SIGSEGV, (2, signal.SIGSEGV))

    def test_a_main_thread_that_ends_first_keeps_everything(self):
        self.check_end("thread", 0, (1, 0), 2000)

    def test_exec_of_a_program_without_the_library_keeps_everything(self):
        self.check_end("exec", 6, (1, 6))     # or unknown, if the image was seen to go

    def test_a_program_that_comes_again_under_its_pid_is_there_twice(self):
        ran = self.record(self.program("endings"), "relay")
        self.assertEqual(ran.code, 3, ran.err)
        self.assertEqual(ran.trace.n_zones("work"), 2000)
        self.assertEqual(len(ran.trace.procs), 2)
        self.assertEqual(len({proc.pid for proc in ran.trace.procs.values()}), 1)

    def test_handlers_that_emit_are_all_there(self):
        # a handler drops what finds no room, by design: here there is room, however long the recorder is kept waiting
        ran = self.record(self.program("endings"), "handler", options=("--max-memory", "256M"))
        n, n_handled = map(int, ran.out.split())
        self.assertEqual(ran.trace.n_zones("work"), n)
        self.assertEqual(ran.trace.n_zones("handler"), n_handled)
        texts = collections.Counter(event.fields[2] for event in ran.trace.events("message"))
        self.assertEqual(texts, {b"signal 14": n_handled})
        self.assertEqual(ran.trace.facts["unfinished"] + ran.trace.facts["lost_begin"], 0)

    def test_a_handler_on_a_small_signal_stack_may_emit_first(self):
        ran = self.record(self.program("endings"), "altstack")
        self.assertEqual(ran.code, 0)
        self.assertEqual(ran.trace.n_zones("handler"), 100)

    def test_destructors_of_the_program_emit_to_the_last(self):
        ran = self.record(self.program("endings"), "destructor")
        self.assertEqual(ran.trace.n_zones("work"), 30)

    def test_a_signal_that_the_program_blocked_stays_blocked_while_it_waits(self):
        ran = self.record(self.program("flood"), "2000000", "blocked", options=("--max-memory", "256K"))
        self.assertEqual(ran.code, 0)
        self.assertEqual(ran.trace.n_zones("flood"), 2000000)


class Linked(harness.ProgramTest):
    def check(self, host, plugins, rounds, n_host):
        """Plugins run on one track per thread, inside the host's zones, as often as they are loaded."""
        paths = [self.program(plugin) for plugin in plugins]
        ran = self.record(self.program(host), str(rounds), *paths)
        self.assertEqual(ran.code, 0, ran.err)
        runs = 2 * rounds * len(plugins)
        zones = collections.Counter()
        for (_, name), n in ran.trace.zones().items():
            zones[name] += n
        self.assertEqual(zones, collections.Counter({"plugin": runs, "inside": 5 * runs, "host": n_host and runs}))
        self.assertEqual(len(ran.trace.zones_by_track()), 1 + runs // 2)
        self.assertEqual(ran.trace.facts["processes"], 1)
        depths = {zone.depth for zone in type(ran.trace.trace)(ran.trace.path).zones()}
        self.assertEqual(depths, set(range(3 if n_host else 2)))

    def test_a_plugin_with_the_shared_library_in_a_plain_host(self):
        self.check("host_plain", ["plugin_shared.so"], 5, 0)

    def test_a_plugin_with_a_static_copy_in_a_plain_host(self):
        self.check("host_plain", ["plugin_static.so"], 5, 0)

    def test_a_plugin_with_the_shared_library_in_a_host_that_has_it(self):
        self.check("host_shared", ["plugin_shared.so"], 5, 1)

    def test_two_copies_share_one_track_per_thread(self):
        self.check("host_static", ["plugin_shared.so"], 5, 1)
        self.check("host_shared", ["plugin_static.so"], 5, 1)

    def test_three_copies_share_one_track_per_thread(self):
        self.check("host_static", ["plugin_static.so", "plugin_shared.so"], 3, 1)

    def test_a_plugin_comes_and_goes_a_hundred_times(self):
        self.check("host_static", ["plugin_static.so"], 100, 1)

    def test_two_copies_share_one_track_in_a_forked_child_too(self):
        ran = self.record(self.program("host_static"), "3", self.program("plugin_shared.so"), env={"HOST_FORKS": "1"})
        self.assertEqual(ran.code, 0, ran.err)
        tracks = collections.Counter(process for process, _ in ran.trace.zones_by_track())
        self.assertEqual(sorted(tracks.values()), [1, 1, 1, 1 + 3])  # three children; main and three threads. Who is found first has number 0
        self.assertEqual(ran.trace.n_zones("plugin"), 9)
        self.assertEqual(ran.trace.facts["unfinished"] + ran.trace.facts["lost_begin"], 0)


if __name__ == "__main__":
    harness.main()
