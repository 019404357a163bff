#!/usr/bin/env python3
"""test_gate.py ROOT - the client compiles for arm64, and its hot path tests the gate with an acquire load, before `floor`; it makes no call."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GCC = "aarch64-linux-gnu-gcc"
PROGRAM = """
#include "strobe/strobe.h"
void hot(struct strobe_loc *loc) { struct strobe_zone zone = strobe_zone_begin(loc); strobe_zone_end(&zone); }
"""


@unittest.skipUnless(shutil.which(GCC), f"{GCC} is not installed (scripts/deps test)")
class Arm64(unittest.TestCase):
    def compile(self, source, *options):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            done = subprocess.run([GCC, "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-format-truncation", "-fPIC", "-D_GNU_SOURCE", "-std=c17",
                                   f"-I{ROOT}/include", f"-I{ROOT}/src", '-DSTROBE_INSTALLED_BINARY="strobe"', *options,
                                   "-o", out, source], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, "rb") as file:
                return file.read()

    def hot(self, *options):
        """The text of a zone's hot path."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "hot.c")
            with open(path, "w", encoding="ascii") as file:
                file.write(PROGRAM)
            return self.compile(path, "-S", *options).decode()

    def test_a_word_is_reserved_without_a_call_into_libgcc(self):
        """Compilers make calls of atomic additions by default, for machines with LSE and without."""
        self.assertEqual(len(re.findall(r"\bstxr\b", self.hot())), 2)
        self.assertNotIn("__aarch64_", self.hot())
        self.assertEqual(len(re.findall(r"\bldadd\b", self.hot("-march=armv8.1-a"))), 2)

    def test_the_gate_is_tested_with_acquire_before_the_floor_is_read(self):
        text = self.hot()
        loads = re.findall(r"^\s*(lda\w*|ldr)\s+(\w+), \[(\w+)(?:, (\d+))?\]", text, re.M)
        acquires = [i for i, load in enumerate(loads) if load[0] in ("ldar", "ldapr") and load[1].startswith("w")]
        floors = [i for i, load in enumerate(loads) if load[0] == "ldr" and load[3] == "8" and
                  any(loads[k][2] == load[2] for k in acquires)]
        self.assertTrue(acquires, text)
        self.assertTrue(floors, text)
        self.assertLess(acquires[0], floors[0], text)

    def test_the_client_compiles(self):
        sources = glob.glob(f"{ROOT}/src/client/*.c") + [f"{ROOT}/src/ring/ring_write.c", f"{ROOT}/src/ring/session.c"]
        for source in sources:
            self.compile(source, "-c")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
