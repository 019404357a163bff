#!/usr/bin/env python3
"""test_faults.py BUILD [TEST…]: a recorded device whose cores hang, whose memory or stream is damaged, which is reset, whose host is slow, whose kernels have no
names: all that is good is in the trace, the rest is counted, lane by lane, and named."""
import collections
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from churned import CHURN, LIMIT_S, STROBE, SUMMED, Round  # noqa: E402

FAST = {"CHURN_PAUSE_US": "0", "STROBE_SIM_HANG_MS": "2"}
AFTER = ", after a reset"


def plain(counts):
    """Lanes by their names before a reset."""
    sums = collections.Counter()
    for lane, n in counts.items():
        sums[lane.replace(AFTER, "")] += n
    return sums


class Faults(unittest.TestCase):
    maxDiff = None

    def done(self, it):
        self.assertEqual(it.recorder.wait(LIMIT_S), 0)
        self.assertTrue(it.out().endswith("end\n"), it.out()[-300:])

    def check_whole(self, it, but=()):
        """Every record that the device counted is stored or lost, lane by lane."""
        emitted, _ = it.emitted()
        stored, lost = plain(it.stored()), plain(it.lost())
        for lane in but:
            del emitted[lane], stored[lane], lost[lane]
        self.assertTrue(emitted)
        self.assertEqual(stored + lost, emitted)

    def test_short_launches_behind_a_long_one_leave_no_zone_open(self):
        with Round(1200, "8", {"CHURN_PAUSE_US": "100"}) as it:
            self.done(it)
            self.assertIn("zones      0 open at the end, 0 unfinished", it.strobe("info", it.trace))
            self.check_whole(it)

    def test_a_core_that_hangs_is_shown_where_it_stands(self):
        with Round(20, "100", FAST, ("8", "hang")) as it:
            self.done(it)
            self.assertIn("finish ", it.out())
            zones = list(it.rows("zones"))
            open_zones = [(row["thread"], row["name"]) for row in zones if row["state"] == "open"]
            self.assertEqual(open_zones, [("core 0,0 BRISC", name) for name in ("BRISC-KERNEL", "all", "stuck")])
            self.check_whole(it)
            self.assertEqual(+it.lost(), {})

    def test_a_device_that_is_reset_goes_on_and_what_hung_stays_open(self):
        with Round(20, "100", FAST, ("8", "reset")) as it:
            self.done(it)
            zones = list(it.rows("zones"))
            open_zones = [(row["thread"], row["name"]) for row in zones if row["state"] == "open"]
            self.assertEqual(open_zones, [("core 0,0 BRISC", name) for name in ("BRISC-KERNEL", "all", "stuck")])
            self.assertEqual({row["depth"] for row in zones if row["thread"] == "core 0,0 BRISC" + AFTER and row["name"] == "BRISC-KERNEL"}, {"0"})
            self.check_whole(it)
            self.assertIn("device 0 was reset: its clocks began anew", it.strobe("info", it.trace))

    def test_garbage_in_the_l1_of_a_core_leaves_the_other_cores_whole(self):
        with Round(20, "100", FAST, ("8", "garbage")) as it:
            self.done(it)
            spoilt = [f"core 0,0 {risc}" for risc in ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")]
            self.check_whole(it, spoilt)
            stored = plain(it.stored())
            whole = stored["core 1,0 BRISC"]
            for lane in spoilt:  # what had left it before, and all after the reset
                self.assertEqual(stored[lane], whole)

    def flip(self, it, rng, n_flips):
        """Bits in words of the stream that nobody has taken yet."""
        with open(it.link, "r+b") as file:
            head = file.read(192)
            data_off, data_bytes = struct.unpack_from("<IQ", head, 12)
            written, read = struct.unpack_from("<Q", head, 64)[0], struct.unpack_from("<Q", head, 128)[0]
            self.assertGreater(written - read, 4096)
            for _ in range(n_flips):
                at = data_off + (read + rng.randrange((written - read) // 4) * 4) % data_bytes
                file.seek(at)
                word = struct.unpack("<I", file.read(4))[0] ^ 1 << rng.randrange(32)
                file.seek(at)
                file.write(struct.pack("<I", word))

    def test_flipped_words_of_a_stream_cost_what_they_say_and_are_counted(self):
        for seed in range(2):
            with self.subTest(seed=seed), Round(60, "60", {"CHURN_PAUSE_US": "1000"}) as it:
                os.kill(it.recorder.pid, signal.SIGSTOP)
                it.wait_for(lambda: it.head(64) - it.head(128) > 1 << 17)
                self.flip(it, random.Random(seed), 40)
                os.kill(it.recorder.pid, signal.SIGCONT)
                self.done(it)
                emitted, _ = it.emitted()
                stored, lost = it.stored(), it.lost()
                missing = sum((emitted - stored).values())
                self.assertLess(missing, 40 * 2600)  # a frame each, at the worst
                for lane, n in emitted.items():  # a flipped length may make two records of one
                    self.assertGreaterEqual(stored[lane] + lost[lane], n, lane)
                self.assertIn("notes", it.strobe("info", it.trace))

    def test_a_damaged_state_of_a_dead_recorder_never_ends_a_recovery(self):
        for seed in range(4):
            rng = random.Random(seed)
            with self.subTest(seed=seed), Round(200, "20", {"CHURN_PAUSE_US": "2000"}) as it:
                it.wait_for(lambda: it.head(128))  # it has given something back: its state is saved
                it.kill_recorder()
                it.wait_program()
                with open(it.link, "r+b") as file:
                    data_off, data_bytes = struct.unpack_from("<IQ", file.read(64), 12)
                    for slot in range(2):
                        file.seek(data_off + data_bytes + (slot << 28))
                        head = file.read(64)
                        n_bytes = struct.unpack_from("<Q", head, 32)[0] if len(head) == 64 else 0
                        for _ in range(n_bytes // 100):
                            file.seek(data_off + data_bytes + (slot << 28) + 64 + rng.randrange(n_bytes))
                            file.write(bytes([rng.randrange(256)]))
                done = subprocess.run([STROBE, "recover", it.trace], env=it.environment, check=False, capture_output=True, text=True, timeout=LIMIT_S)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                it.strobe("info", it.trace)

    def test_each_policy_counts_exactly_behind_a_slow_host(self):
        for policy, causes in (("block", set()), ("drop-newest", {"15"}), ("drop-oldest", {"15"}), ("sum-only", None)):
            environment = {**FAST, "STROBE_DEVICE_POLICY": policy, "STROBE_SIM_RELAY_SLOWDOWN": "60", "STROBE_SIM_GRID_X": "2", "STROBE_SIM_GRID_Y": "1"}
            with self.subTest(policy=policy), Round(6, "1000", environment) as it:
                self.done(it)
                self.check_whole(it)
                if causes is not None:
                    self.assertEqual({row["cause"] for row in it.rows("losses")}, causes)
                summed = [row for row in it.rows("zones") if row["name"].endswith(SUMMED)]
                self.assertEqual(bool(summed), policy == "sum-only")

    def test_a_recorder_that_stands_still_costs_only_what_the_device_counts(self):
        for policy in ("block", "drop-newest", "drop-oldest", "sum-only"):
            environment = {"CHURN_PAUSE_US": "0", "STROBE_DEVICE_POLICY": policy, "TT_METAL_STREAMING_PROFILER_FIFO_MB": "1"}
            with self.subTest(policy=policy), Round(60, "200", environment) as it:
                os.kill(it.recorder.pid, signal.SIGSTOP)
                it.wait_for(lambda: "lane" in it.out() or it.head(72))  # the stream found no room, or the program was faster
                os.kill(it.recorder.pid, signal.SIGCONT)
                self.done(it)
                self.check_whole(it)

    def test_kernels_without_names_have_numbers_and_the_trace_says_so(self):
        for how in (["--remove-section", ".tt_zone_meta", "--remove-section", ".tt_zone_str"], ["--update-section", ".tt_zone_str=/dev/null"]):
            with self.subTest(how=how), Round(3, "10") as first:
                kernels = pathlib.Path(first.folder.name, "kernels")
                first.recorder.wait(LIMIT_S)
                environment = {**first.environment, "STROBE_KERNEL_CACHE": str(kernels), "TT_METAL_DEVICE_PROFILER": "1",
                               "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES": "1"}  # the files want firmware's zones, and so other kernels
                subprocess.run([CHURN, "1", "10"], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S)
                for kernel in kernels.glob("*.so"):
                    subprocess.run(["objcopy", *how, kernel], check=True)
                with Round(3, "10", {"STROBE_KERNEL_CACHE": str(kernels)}) as it:
                    self.done(it)
                    self.check_whole(it)
                    self.assertIn("sites have numbers for names", it.strobe("info", it.trace))
                    self.assertTrue(all(row["name"].startswith("0") for row in it.rows("zones")), {row["name"] for row in it.rows("zones")})


if __name__ == "__main__":
    unittest.main(verbosity=2)
