#!/usr/bin/env python3
"""test_hardening.py BUILD: every binary that is installed has a protected stack, read-only relocations, checked library calls,
and no executable stack.  SPDX-License-Identifier: MIT"""
import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
BINARIES = ["bin/strobe", "lib/libstrobe.so", "lib/libTracyClient.so", "lib/libstrobe-tracy-shim.so",
            "lib/libstrobe-nvtx.so", "lib/libstrobe-opencl.so", "python/strobe/_strobe.abi3.so"]
# linked with nothing, so that it fits any C library: there is nobody to call
WITHOUT_LIBRARY = {"lib/libstrobe-tracy-shim.so"}
# calls no function that has a checked form
WITHOUT_CHECKED_CALLS = {"lib/libTracyClient.so", "python/strobe/_strobe.abi3.so"}


def readelf(option, path):
    return subprocess.run(["readelf", option, "-W", str(path)], stdout=subprocess.PIPE, check=True, text=True).stdout


class Installed(unittest.TestCase):
    def each(self):
        for name in BINARIES:
            with self.subTest(name):
                self.assertTrue((BUILD / name).exists())
                yield name, BUILD / name

    def test_no_stack_is_executable(self):
        for _, path in self.each():
            (line,) = [line for line in readelf("-l", path).splitlines() if "GNU_STACK" in line]
            self.assertEqual(line.split()[6], "RW")

    def test_relocations_are_read_only_and_bound_at_once(self):
        for _, path in self.each():
            self.assertIn("GNU_RELRO", readelf("-l", path))
            self.assertIn("NOW", readelf("-d", path))

    def test_programs_are_position_independent(self):
        for _, path in self.each():
            self.assertIn("DYN", readelf("-h", path))

    def test_stacks_are_protected_and_library_calls_checked(self):
        for name, path in self.each():
            if name in WITHOUT_LIBRARY:
                continue
            symbols = readelf("--dyn-syms", path)
            self.assertIn("__stack_chk_fail", symbols)
            if name not in WITHOUT_CHECKED_CALLS:
                self.assertRegex(symbols, r"__\w+_chk\b")


if __name__ == "__main__":
    unittest.main()
