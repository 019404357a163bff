#!/usr/bin/env python3
"""test_faults.py BUILD [TEST…]: cores under QEMU that hang, are killed, have garbage in their memory, or can't be started: all that is good is in the trace, the program goes on."""
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_qemu import ADD, BUILD, FOR_EVER, LANES, LIMIT_S, Case, children, churn, in_stream, run  # noqa: E402

STUCK = [("core 0,0 BRISC", name) for name in ("BRISC-KERNEL", "all", "stuck")]
SHORT = {"STROBE_SIM_HANG_MS": "400"}
LONG = {"STROBE_SIM_HANG_MS": "90000"}


class Faults(Case):
    def test_a_hart_that_hangs_is_shown_where_it_stands(self):
        with churn(4, "40", SHORT, ("8", "hang")) as it:
            self.done(it)
            self.assertIn("finish hung", it.out())
            self.assertEqual(self.open_zones(it), STUCK)
            self.check_whole(it)
            self.assertEqual(+it.lost(), {})

    def test_a_killed_process_leaves_what_its_harts_had_written(self):
        """The recorded program is in a kernel that never ends when its QEMU is killed."""
        with churn(4, "40", LONG, ("8", "hang")) as it:
            before = it.wait_for(lambda: it.head(64))
            it.wait_for(lambda: it.head(64) > before)  # the last program's launch is announced, its zones may be on their way
            it.wait_for(lambda: children(it.program))
            it.wait_for(lambda: self.is_stuck(it))
            for pid in children(it.program):
                os.kill(pid, signal.SIGKILL)
            self.done(it)
            self.assertIn("finish hung", it.out())
            self.assertEqual(self.open_zones(it), STUCK)
            self.check_whole(it)
            self.assertEqual(+it.lost(), {})

    def test_a_process_that_is_killed_at_any_moment_costs_nothing_that_was_sent(self):
        with churn(FOR_EVER, "40") as it:
            it.wait_for(lambda: it.head(64) > 1 << 16)
            for pid in children(it.program):
                os.kill(pid, signal.SIGKILL)
            self.assertEqual(it.recorder.wait(LIMIT_S), 1)  # the program's: it says that its device hung
            self.assertEqual(it.stored(), +in_stream(it.link))

    def test_a_killed_program_leaves_no_process(self):
        with churn(FOR_EVER, "40") as it:
            cores = it.wait_for(lambda: children(it.program))
            it.kill_program()
            it.recorder.wait(LIMIT_S)
            it.wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in cores))
            self.assertEqual(it.stored(), +in_stream(it.link))

    @staticmethod
    def is_stuck(it):
        """The stuck kernel is launched last: all harts of the process but one sleep, and that one has used its processor for a while."""
        for pid in children(it.program):
            used = []
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                used.append(int(fields[11]) + int(fields[12]))
            if max(used) >= 60:  # ticks of 10 ms: nothing else in this test takes so long
                return True
        return False

    def test_a_reset_brings_a_hung_core_back(self):
        with churn(3, "40", SHORT, ("8", "reset")) as it:
            self.done(it)
            self.assertEqual(self.open_zones(it), STUCK)
            self.check_whole(it)
            self.assertIn("device 0 was reset: its clocks began anew", it.strobe("info", it.trace))

    def test_garbage_in_the_l1_of_a_core_leaves_the_other_core_whole(self):
        with churn(3, "40", {**SHORT, "STROBE_SIM_GRID_X": "2"}, ("8", "garbage")) as it:
            self.done(it)
            emitted, _ = it.emitted()
            stored = it.stored()
            for lane in [lane for lane in stored if lane.endswith(", after a reset")]:
                stored[lane.replace(", after a reset", "")] += stored.pop(lane)
            for lane in LANES:
                other = lane.replace("0,0", "1,0")
                self.assertEqual(stored[other], emitted[other])
                self.assertEqual(stored[lane], stored[other])  # what had left it before, and all after the reset

    def test_without_qemu_the_error_names_its_packages(self):
        status, _, errors = run(ADD, 1, STROBE_QEMU="/nowhere/qemu")
        self.assertEqual(status, 1)
        self.assertIn("install qemu-system-riscv (qemu-system-misc in Debian 12", errors)

    def test_without_the_cross_compiler_the_error_names_its_package(self):
        status, _, errors = run(ADD, 1, STROBE_QEMU_CXX="/nowhere/g++")
        self.assertEqual(status, 1)
        self.assertIn("install gcc-riscv64-unknown-elf", errors)

    def test_a_qemu_that_does_not_start_is_an_error_with_its_words(self):
        status, _, errors = run(ADD, 1, STROBE_QEMU="/bin/ls")
        self.assertEqual(status, 1)
        self.assertIn("/bin/ls did not start a core: /bin/ls: ", errors)

    def test_a_damaged_kernel_of_the_cache_is_an_error(self):
        with tempfile.TemporaryDirectory() as cache:
            for path in [*(BUILD / "kernels").glob("*.elf"), *(BUILD / "kernels").glob("*.d")]:
                shutil.copy2(path, cache)
            status, _, errors = run(ADD, 1, STROBE_KERNEL_CACHE=cache)
            self.assertEqual((status, errors), (0, ""))
            for path in pathlib.Path(cache).glob("[0-9a-f]*.elf"):
                if not path.name.startswith("firmware"):
                    os.truncate(path, 200)
            status, _, errors = run(ADD, 1, STROBE_KERNEL_CACHE=cache)
            self.assertEqual(status, 1)
            self.assertIn("can't load the built kernel", errors)

    def test_too_many_cores_are_refused(self):
        status, _, errors = run(ADD, 1, STROBE_SIM_GRID_X="9", STROBE_SIM_GRID_Y="2")
        self.assertEqual(status, 1)
        self.assertIn("9 x 2 workers: the backend qemu runs a process a core, 16 at the most", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
