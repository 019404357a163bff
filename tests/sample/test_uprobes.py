"""test_uprobes.py - functions and marks of code that nothing was built into, by the kernel's probes (hooked.c). As root, on a kernel that is
fit for it: see machine.py, which makes one (`make test-uprobes`).

    python3 test_uprobes.py STROBE PROGRAMS [unittest arguments]

STROBE_PLAIN is hooked.c without hooks, as C, STROBE_THROWING as C++."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_functions  # noqa: E402
from test_sample import NO_EVENTS, harness  # noqa: E402

PLAIN, THROWING = os.environ.get("STROBE_PLAIN"), os.environ.get("STROBE_THROWING")


@unittest.skipUnless(PLAIN and os.geteuid() == 0 and not os.uname().release.startswith("6.18."), "a machine for it is made by machine.py")
class Uprobes(test_functions.Recorded):
    """What hooks do, by probes; by the same tests where few calls are made."""
    hooked = PLAIN
    may_lose = NO_EVENTS

    def named(self, *names):
        self.options = ["--sample", "1"]  # names of few samples: the machine is slow
        self.options += [word for name in names for word in ("--zone", name)]

    def test_each_call_is_a_zone_in_the_zone_of_its_caller(self):
        self.named("main", "tree", "branch", os.path.basename(PLAIN) + ":lea?")
        test_functions.Functions.test_each_call_is_a_zone_in_the_zone_of_its_caller(self)

    def test_a_function_has_its_source_file_and_line_in_the_trace(self):
        self.named("leaf")
        test_functions.Functions.test_a_function_has_its_source_file_and_line_in_the_trace(self)

    def test_after_longjmp_the_next_call_is_where_it_was(self):
        self.named("jump_*", "leaf")
        test_functions.Functions.test_after_longjmp_the_next_call_is_where_it_was(self)

    def test_a_program_that_may_throw_has_no_probes_and_its_own_result(self):
        self.hooked = THROWING
        self.named("scope::*", "leaf")
        self.assertEqual(self.zones("exceptions", "10"), {})
        self.assertIn("functions are not recorded: exceptions", self.last.err)

    def test_functions_that_are_left_by_pthread_exit_end_with_the_thread(self):
        self.named("run_thread")
        self.assertEqual(len(self.zones("threads", "1")["run_thread"]), 8)

    def test_each_thread_has_its_own_zones_and_pthread_exit_ends_them(self):
        self.named("tree", "leaf")
        zones = self.zones("threads", "3")
        self.assertEqual([len(zones[name]) for name in ("tree", "leaf")], [8, 48])
        self.assertEqual(set(self.depths(zones, "leaf")), {self.depths(zones, "tree")[0] + 1})
        self.assertEqual(len({thread["tid"] for _, _, thread in zones["tree"]}), 8)

    def test_a_process_that_runs_has_zones_and_goes_on_without_them(self):
        process = self.start(PLAIN, "slowly")
        path = self.path("attached.strobe")
        code, _, err = self.run_it(harness.STROBE, "record", "-o", path, "--for", "4s", "--zone", "leaf", "--pid", str(process.pid), timeout=400)
        self.assertEqual(code, 0, err)
        self.assertGreater(self.judge(path).n_zones("leaf"), 2)
        self.assertIsNone(process.poll())

    def test_a_mark_is_a_message_with_its_arguments(self):
        self.named(os.path.basename(PLAIN) + ":hooked:st*")
        self.zones("marks", "4")
        texts = [row["text"] for row in self.rows(self.last.trace.path, "messages")]
        self.assertEqual(texts, [f"hooked:step {-i} 0x{7000000000 + i:x} -5" for i in range(4)])

    def test_functions_of_a_library_are_named_by_its_file(self):
        self.named("libc.so*:puts", "libc.so*:*printf*")
        zones = self.zones("tree", "1")
        self.assertTrue([name for name in zones if "printf" in name or "puts" in name])
        self.assertIn("came by a probe", " ".join(self.last.trace.notes()))


if __name__ == "__main__":
    harness.main()
