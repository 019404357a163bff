#!/usr/bin/env python3
"""test_ledger.py BUILD [LAUNCHES]: 64 cores of five RISCs run so many programs (10,000): what each RISC emitted by the device's own count is stored or dropped.
Prints what it took."""
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from churned import LIMIT_S, Round  # noqa: E402

LAUNCHES = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 10000


def peak_kib(pid):
    """Most memory that a process had so far; 0: it is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1))
    except (OSError, AttributeError):
        return 0


class Ledger(unittest.TestCase):
    def test_every_record_of_every_risc_is_stored_or_dropped(self):
        with Round(LAUNCHES, "2", {"STROBE_SIM_GRID_X": "8", "STROBE_SIM_GRID_Y": "8", "CHURN_PAUSE_US": "0"}, ("64", "")) as it:
            peak = 0
            while it.recorder.poll() is None:
                peak = max(peak, peak_kib(it.recorder.pid))
                time.sleep(0.05)
            self.assertEqual(it.recorder.wait(LIMIT_S), 0)
            emitted, dropped = it.emitted()
            stored = it.stored()
            self.assertEqual(len(emitted), 320)
            self.assertEqual(stored + it.lost(), emitted)
            self.assertEqual(+it.lost(), +dropped)
            info = it.strobe("info", it.trace)
            print(f"{LAUNCHES} programs: {sum(emitted.values()):,} records emitted, {sum(stored.values()):,} stored, {sum(dropped.values()):,} dropped; "
                  f"recorder {re.search('recorder ([^;]*) of CPU', info).group(1)} of CPU, {peak / 1024:.0f} MiB at most; {os.path.getsize(it.trace) / 1e6:.0f} MB of trace")


if __name__ == "__main__":
    unittest.main(verbosity=2)
