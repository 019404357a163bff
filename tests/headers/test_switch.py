"""test_switch.py - a program built with Tracy's own TracyC.h and linked to Tracy's own shared library runs with ours in its place,
by LD_LIBRARY_PATH alone. The real one comes from the crate tracy-client-sys, into the build tree; without cargo or network the
test is skipped and says so.  SPDX-License-Identifier: MIT"""
import collections
import os
import pathlib
import shutil
import subprocess
import unittest

import test_macros
from test_macros import harness

CRATES = ("0.24.3", "0.30.1")  # Tracy 0.11.1 and 0.14.1
TURNS = 50
ZONES = {"outer": 2 * TURNS, "zones": 2 * TURNS, "made": 2 * TURNS, "stacked": 2 * TURNS, "ended elsewhere": 2 * TURNS}
KINDS = {"zone_text": 2 * TURNS, "zone_name": 2 * TURNS, "zone_color": 2 * TURNS, "zone_value": 2 * TURNS, "alloc": 4 * TURNS,
         "free": 4 * TURNS, "message": 4 * TURNS, "plot_double": 2 * TURNS, "plot_int": TURNS, "frame": 2 * TURNS, "frame_start": TURNS,
         "frame_end": TURNS, "frame_image": 1, "gpu_begin": TURNS, "gpu_end": TURNS, "gpu_time": 2 * TURNS, "lock_wait": TURNS,
         "lock_obtain": TURNS, "lock_release": TURNS, "lock_mark": TURNS, "lock_gone": 1, "app_info": 1}


def run(*command, cwd=None):
    return subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)


def real_tracy(version):
    """The folder of Tracy's sources in the crate, or None."""
    folder = pathlib.Path(harness.PROGRAMS) / "peers" / f"tracy-client-sys-{version}"
    source = folder / "vendor" / "tracy-client-sys" / "tracy"
    if source.exists():
        return source
    if not shutil.which("cargo"):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lib.rs").write_text("")
    (folder / "Cargo.toml").write_text('[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
                                       f'[dependencies]\ntracy-client-sys = "={version}"\n[workspace]\n')
    return source if run("cargo", "vendor", "vendor", cwd=folder).returncode == 0 and source.exists() else None


def real_library(source):
    """Tracy's shared library, built once."""
    library = source.parents[2] / "lib" / "libTracyClient.so"
    if not library.exists():
        library.parent.mkdir(exist_ok=True)
        done = run("g++", "-O0", "-std=c++17", "-fPIC", "-shared", "-DTRACY_ENABLE", "-DTRACY_EXPORTS", "-DTRACY_NO_SYSTEM_TRACING",
                   "-DTRACY_ONLY_LOCALHOST", "-Wl,-soname,libTracyClient.so", f"-I{source}", source / "TracyClient.cpp", "-o",
                   library, "-lpthread", "-ldl")
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
    return library


class Switch(harness.ProgramTest):
    def switch(self, version):
        source = real_tracy(version)
        if not source:
            raise unittest.SkipTest(f"tracy-client-sys {version} can't be had: no cargo, or no network")
        library = real_library(source)
        out = self.path("switch")
        done = run("gcc", "-O2", "-DTRACY_ENABLE", f"-I{source}", os.path.join(test_macros.HERE, "switch.c"), "-o", out,
                   f"-L{library.parent}", "-lTracyClient", "-lpthread")
        self.assertEqual(done.returncode, 0, done.stderr)
        real = self.run_it(out, env={"LD_LIBRARY_PATH": str(library.parent), "TRACY_NO_INVARIANT_CHECK": "1"})
        self.assertEqual(real[:2], (0, "0\n"), real[2])  # it is a program of theirs
        ours = os.path.abspath(os.path.join(harness.PROGRAMS, "lib"))
        ran = self.record(out, env={"LD_LIBRARY_PATH": ours})
        self.assertEqual((ran.code, ran.out), (0, "1\n"), ran.err)
        self.check(ran.trace.path)

    def check(self, path):
        kinds = collections.Counter(row["kind"] for row in test_macros.table(self, path, "all"))
        self.assertEqual({k: kinds[k] for k in KINDS}, KINDS)
        self.assertEqual(kinds["zone_begin"], sum(ZONES.values()))
        zones = collections.Counter()
        code, out, err = self.run_it(harness.STROBE, "stats", "--csv", path)
        self.assertEqual(code, 0, err)
        for row in test_macros.csv.DictReader(test_macros.io.StringIO(out)):
            zones[row["name"]] += int(row["count"])
        self.assertEqual(zones, ZONES)
        pools = collections.Counter((r["what"], r["pool"], r["size"]) for r in test_macros.table(self, path, "memory"))
        self.assertEqual(pools, {("alloc", "", "8"): TURNS, ("alloc", "pool", "9"): TURNS, ("alloc", "", "10"): TURNS,
                                 ("alloc", "pool", "11"): TURNS, ("free", "", ""): 2 * TURNS, ("free", "pool", ""): 2 * TURNS})
        self.assertEqual({r["name"] for r in test_macros.table(self, path, "locks")}, {"the lock"})
        stacks = collections.Counter(r["of"] for r in test_macros.table(self, path, "callstacks"))
        self.assertEqual(stacks, {"zone_begin": 2 * TURNS, "message": TURNS, "alloc": 2 * TURNS, "free": 2 * TURNS})

    def test_a_program_of_0_11_runs_with_our_library(self):
        self.switch(CRATES[0])

    def test_a_program_of_0_14_runs_with_our_library(self):
        self.switch(CRATES[1])


if __name__ == "__main__":
    harness.main()
