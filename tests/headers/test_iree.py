"""test_iree.py - IREE's tracing macros over strobe/iree_provider.h, in its modes 1 to 4.  SPDX-License-Identifier: MIT"""
import collections

import test_macros
from test_macros import harness

COMMON = {"zone_text": 2, "zone_name": 1, "zone_value": 1, "zone_color": 1, "plot_int": 1, "plot_double": 2, "frame": 2, "frame_start": 1,
          "frame_end": 1, "message": 4, "app_info": 1}
DEVICE = {"alloc": 2, "free": 2, "gpu_begin": 2, "gpu_end": 2, "gpu_time": 1, "gpu_calibration": 1, "lock_wait": 1, "lock_obtain": 2,
          "lock_release": 1, "lock_gone": 1}
FIBERS = {"fiber_enter": 1, "fiber_leave": 1}


class Iree(harness.ProgramTest):
    def run_mode(self, mode, compiler, std):
        out = self.path("iree")
        test_macros.compile_it(self, compiler, std, "iree.c", out, "-O1", "-fno-omit-frame-pointer", f"-DIREE_TRACING_MODE={mode}",
                               '-DIREE_TRACING_PROVIDER_H="strobe/iree_provider.h"', *test_macros.libraries())
        ran = self.record(out)
        self.assertEqual(ran.code, 0, ran.err)
        return ran.trace.path

    def check(self, mode, compiler, language, std):
        path = self.run_mode(mode, compiler, std)
        rows = test_macros.table(self, path, "all")
        kinds = collections.Counter(row["kind"] for row in rows)
        expected = dict(COMMON)
        if mode >= 2:
            expected.update(DEVICE)
        if mode >= 3:
            expected.update(FIBERS)
        cpp = language == "c++"
        expected["zone_text"] += cpp
        expected["zone_begin"] = 4 + 2 * cpp
        self.assertEqual({k: n for k, n in kinds.items() if not k.startswith("zone_end")}, expected)
        stacks = collections.Counter(row["of"] for row in test_macros.table(self, path, "callstacks"))
        self.assertEqual(stacks["alloc"], 2 if mode >= 3 else 0)
        self.assertEqual(stacks["zone_begin"], 4 + 2 * cpp if mode >= 4 else 0)
        zones = {r["name"]: r for r in test_macros.table(self, path, "zones")}
        names = {"zones", "named", "dynamic", "external"} | ({"main", "named scope"} if cpp else set())
        self.assertEqual(set(zones), names)
        self.assertEqual((zones["zones"]["text"], zones["zones"]["color"]), ("text\nlonger", "#112233"))
        messages = [(r["severity"], r["color"], r["text"]) for r in test_macros.table(self, path, "messages")]
        self.assertEqual(messages, [("warning", "#ffff00", "literal"), ("info", "#123456", "coloured"), ("error", "#ff0000", "dynamic"),
                                    ("info", "#123456", "dynamic")])

    def test_every_mode_records_what_it_asks_for(self):
        for mode in (1, 2, 3, 4):
            self.check(mode, "gcc", "c", "gnu11")
            self.check(mode, "g++", "c++", "c++17")


if __name__ == "__main__":
    harness.main()
