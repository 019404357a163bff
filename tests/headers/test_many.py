"""test_many.py - locations in constant memory without a limit, from many threads; forks; ends out of order.
SPDX-License-Identifier: MIT"""
import collections

import test_macros
from test_macros import harness


class Many(harness.ProgramTest):
    def test_every_location_keeps_its_name(self):
        locations, threads = 20000, 4
        out = self.path("many")
        test_macros.compile_it(self, "gcc", "gnu11", "many.c", out, "-O2", "-DTRACY_ENABLE", *test_macros.libraries())
        ran = self.record(out, str(locations), str(threads))
        self.assertEqual(ran.code, 0, ran.err)
        seen, wrong = collections.Counter(), 0
        states = collections.Counter()
        for row in test_macros.table(self, ran.trace.path, "zones"):
            if row["name"].startswith("place "):
                seen[row["name"]] += 1
                wrong += row["name"] != f"place {row['value']}" or row["line"] != row["value"]
            else:
                states[row["name"], row["state"]] += 1
        self.assertEqual((len(seen), set(seen.values()), wrong), (locations, {threads}, 0))
        self.assertEqual(states, {("ends first", "ended"): 1, ("never ends", "unfinished"): 1, ("in both", "ended"): 2,
                                  ("cut by a fork", "ended"): 1, ("(begun before)", "no_begin"): 1})


if __name__ == "__main__":
    harness.main()
