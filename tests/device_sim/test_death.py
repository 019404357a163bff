#!/usr/bin/env python3
"""test_death.py BUILD [TEST…]: a device's program, its recorder, or both are killed at random moments: what had left the device is in the trace, once.

The counts to compare with are the device's own (churn.c prints them), or, where the program is killed, those of the second reader, which reads the whole stream
out of a link to its file. STROBE_DEATH_ROUNDS: kills per test (default 2), STROBE_DEATH_SEED: of the moments."""
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from churned import FOR_EVER, LIMIT_S, STROBE, Round, in_stream  # noqa: E402

ROUNDS = int(os.environ.get("STROBE_DEATH_ROUNDS", "2"))
SEED = int(os.environ.get("STROBE_DEATH_SEED", "1"))


class Death(unittest.TestCase):
    maxDiff = None

    def each(self, test):
        for number in range(ROUNDS):
            seed = SEED * 1000003 + number
            with self.subTest(seed=seed):
                test(random.Random(seed))

    def check_whole(self, it):
        """What the device emitted is stored or counted as lost, lane by lane; nothing is twice."""
        emitted, dropped = it.emitted()
        self.assertTrue(emitted)
        self.assertEqual(it.stored() + it.lost(), emitted)
        self.assertEqual(+it.lost(), +dropped)
        self.assertEqual(len(list(it.rows("processes"))), 1)

    def test_a_killed_recorder_loses_nothing_that_a_device_sent(self):
        def kill(rng):
            with Round(rng.randrange(50, 1500), rng.choice(["2", "8", "60"])) as it:
                time.sleep(rng.random() * 0.8)
                it.kill_recorder()
                it.wait_program()
                it.strobe("recover", it.trace)
                self.check_whole(it)
                self.assertEqual(list(pathlib.Path(it.sessions).glob("*/*.device")), [])
        self.each(kill)

    def test_a_killed_program_leaves_all_that_its_device_had_sent(self):
        def kill(rng):
            with Round(FOR_EVER, rng.choice(["2", "8", "60"])) as it:
                time.sleep(rng.random() * 0.8)
                it.kill_program()
                it.recorder.wait(LIMIT_S)
                self.assertEqual(it.stored(), +in_stream(it.link))
        self.each(kill)

    def test_both_killed_leave_all_that_the_device_had_sent(self):
        def kill(rng):
            with Round(FOR_EVER, rng.choice(["2", "8", "60"])) as it:
                time.sleep(rng.random() * 0.8)
                first, second = (it.kill_recorder, it.kill_program) if rng.random() < 0.5 else (it.kill_program, it.kill_recorder)
                first()
                time.sleep(rng.random() * 0.3)
                second()
                it.wait_program()
                it.strobe("recover", it.trace)
                self.assertEqual(it.stored(), +in_stream(it.link))
        self.each(kill)

    def test_a_recovery_that_is_killed_is_made_again(self):
        def kill(rng):
            with Round(rng.randrange(100, 1500)) as it:
                time.sleep(rng.random() * 0.6)
                it.kill_recorder()
                it.wait_program()
                recovery = subprocess.Popen([STROBE, "recover", it.trace], env=it.environment, stdout=subprocess.DEVNULL)
                time.sleep(rng.random() * 0.1)
                recovery.kill()
                recovery.wait(LIMIT_S)
                it.strobe("recover", it.trace)
                self.check_whole(it)
        self.each(kill)

    def test_cores_drop_and_count_when_nobody_takes_their_stream(self):
        """The recorder is dead and the ring full: the program goes on to its end, and every record is stored or counted."""
        with Round(500, "400", {"TT_METAL_STREAMING_PROFILER_FIFO_MB": "1", "CHURN_PAUSE_US": "0"}) as it:
            it.kill_recorder()
            it.wait_program()
            emitted, dropped = it.emitted()
            self.assertTrue(emitted)
            self.assertGreater(sum(dropped.values()), 0)
            it.strobe("recover", it.trace)
            lost = it.lost()
            self.assertEqual(it.stored() + lost, emitted)
            for lane, n in dropped.items():
                self.assertGreaterEqual(lost[lane], n)

    def test_a_recovery_takes_what_a_running_program_has_sent(self):
        with Round(FOR_EVER) as it:
            it.wait_for(lambda: it.head(64) > 1 << 18)
            it.kill_recorder()
            it.strobe("recover", it.trace)
            stored, taken = it.stored(), it.head(128)
            self.assertTrue(os.path.exists(f"/proc/{it.program}"))
            it.kill_program()
            it.wait_program()
            self.assertEqual(it.head(64), taken)  # from then on nobody records
            self.assertEqual(stored, +in_stream(it.link))


if __name__ == "__main__":
    unittest.main(verbosity=2)
