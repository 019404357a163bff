"""test_late.py - programs written for Tracy when the recorder comes late, or not at all.  SPDX-License-Identifier: MIT"""
import os
import time

import test_macros
from test_macros import harness


class Late(harness.ProgramTest):
    def build(self, *more):
        out = self.path("late")
        test_macros.compile_it(self, "g++", "c++17", "late.cpp", out, "-O2", "-DTRACY_ENABLE", *more, *test_macros.libraries())
        return out

    def test_a_late_recorder_is_told_what_was_said_before(self):
        program = self.start(self.build())
        self.assertEqual(program.stdout.readline(), "ready\n")
        recorder, path = self.attach("late.strobe", "--pid", str(program.pid))
        self.assertEqual(program.wait(timeout=30), 0)
        code, _, err = self.end(recorder) if recorder.poll() is None else (recorder.returncode, "", recorder.communicate()[1])
        self.assertEqual(code, 0, err)
        self.judge(path)
        facts = [(r["record"], r["fields"]) for r in test_macros.table(self, path, "records")]
        for kind, fields in (("section_name", "category=2 name=early section"), ("parameter", "index=4 type=0 value=17 name=early parameter"),
                             ("gpu_name", "context=9 name=early queue"), ("program_name", "name=late")):
            self.assertIn((kind, fields), facts)
        self.assertTrue(any(k == "gpu_context" and f.startswith("context=9 type=2") for k, f in facts), facts)
        self.assertEqual({r["name"] for r in test_macros.table(self, path, "locks")}, {"early lock"})
        zones = {r["name"]: r["state"] for r in test_macros.table(self, path, "zones")}
        self.assertEqual(zones, {"begun before": "no_begin", "late zone": "ended", "(named before the recording)": "ended",
                                 "scope begun before": "no_begin"})

    def run_unrecorded(self, program, **env):
        start = time.monotonic()
        code, _, err = self.run_it(program, env=env)
        self.assertEqual(code, 0, err)
        return time.monotonic() - start

    def test_no_exit_waits_for_a_recorder_and_never_for_good(self):
        short = self.path("short")
        with open(self.path("short.cpp"), "w") as f:
            f.write('#include <tracy/Tracy.hpp>\nint main() { ZoneScopedN("short"); return 0; }\n')
        test_macros.compile_it(self, "g++", "c++17", self.path("short.cpp"), short, "-DTRACY_ENABLE", *test_macros.libraries())
        self.assertLess(self.run_unrecorded(short), 0.8)
        waited = self.run_unrecorded(short, TRACY_NO_EXIT="1", STROBE_EXIT_WAIT="1")
        self.assertTrue(0.95 < waited < 5, waited)
        native = self.program("bin/programs/nap")  # not built for Tracy: the variable is not meant for it
        self.assertLess(self.run_unrecorded(native, TRACY_NO_EXIT="1"), 5)
        start = time.monotonic()
        ran = self.record(short, env={"TRACY_NO_EXIT": "1"})  # recorded: everything is in shared memory, nothing to wait for
        self.assertEqual((ran.code, ran.trace.n_zones("short")), (0, 1))
        self.assertLess(time.monotonic() - start, 5)

    def test_no_exit_goes_on_when_a_recorder_comes(self):
        program = self.build("-DTRACY_NO_EXIT")
        waiting = self.start(program, env={"STROBE_EXIT_WAIT": "30"})
        self.assertEqual(waiting.stdout.readline(), "ready\n")
        time.sleep(0.3)
        recorder, path = self.attach("exit.strobe", "--pid", str(waiting.pid))
        self.assertEqual(waiting.wait(timeout=120), 0)
        code, _, err = self.end(recorder) if recorder.poll() is None else (recorder.returncode, "", recorder.communicate()[1])
        self.assertEqual(code, 0, err)
        self.assertTrue(os.path.exists(path))


if __name__ == "__main__":
    harness.main()
