"""test_api.py - the whole client API in every language standard that it is for, and switched off."""
import csv
import io
import os
import shutil
import subprocess

import harness

ROOT = os.path.abspath(os.path.join(harness.HERE, os.pardir, os.pardir))
SOURCE = os.path.join(harness.HERE, "parts", "api.c")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
STANDARDS = [("c", std) for std in ("c11", "c17", "gnu11", "gnu2x")] + \
            [("c++", std) for std in ("c++11", "c++14", "c++17", "c++20", "gnu++17")]
# Events of one run, zones' begins and ends apart; callstacks are of the event behind them.
KINDS = {"zone_text": 5, "zone_name": 3, "zone_value": 3, "zone_color": 3, "zone_text_at": 1, "zone_name_at": 1,
         "zone_value_at": 1, "zone_color_at": 1, "lock_mark": 1, "lock_gone": 1, "message": 4, "plot_int": 3,
         "plot_double": 3, "frame": 3, "frame_start": 2, "frame_end": 2, "alloc": 3, "free": 3, "lock_wait": 1,
         "lock_obtain": 1, "lock_release": 1, "fiber_enter": 2, "fiber_leave": 2, "span_begin": 2, "span_end": 2,
         "flow_begin": 2, "flow_step": 2, "flow_end": 2, "app_info": 2, "trigger": 2, "callstack": 2}
ZONES = ["plain", "coloured", "with stack", "scoped", "scope", "coloured scope", "run-time", "inside", "called"]


class Api(harness.ProgramTest):
    def compilers(self):
        """[(command, language)] of what is installed."""
        for c, cpp in (("gcc", "g++"), ("clang", "clang++")):
            if shutil.which(c):
                yield c, "c"
            if shutil.which(cpp):
                yield cpp, "c++"

    def compile(self, compiler, language, std, out, *more):
        """Compile the source; the compiler must have nothing to say."""
        command = [compiler, "-x", language, f"-std={std}", *WARNINGS, "-I", os.path.join(ROOT, "include"), SOURCE,
                   "-x", "none", "-o", out, *more]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""), " ".join(command))

    def variants(self):
        """(compiler, language, standard) of everything here."""
        return [(compiler, language, std) for compiler, language in self.compilers()
                for own, std in STANDARDS if own == language]

    def test_every_standard_compiles_without_a_warning(self):
        variants = self.variants()
        self.assertGreaterEqual(len(variants), 9)
        for number, (compiler, language, std) in enumerate(variants):
            self.compile(compiler, language, std, self.path("api.o"), "-c", "-O2" if number % 2 else "-O0")

    def test_switched_off_nothing_is_left(self):
        for compiler, language, std in self.variants():
            out = self.path("off")
            self.compile(compiler, language, std, out, "-O2", "-DSTROBE_OFF")     # links without the library
            names = subprocess.run(["nm", out], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("strobe", names.lower())
            text = subprocess.run(["strings", "-a", out], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("coloured", text)
            self.assertEqual(self.run_it(out)[:2], (0, "0\n"))

    def test_every_call_is_in_the_trace_once(self):
        lib = os.path.join(harness.PROGRAMS, os.pardir, os.pardir, "lib")
        for compiler, language, std in (("gcc", "c", "c11"), ("g++", "c++", "c++11")):
            out = self.path("api")
            self.compile(compiler, language, std, out, "-O1", "-fno-omit-frame-pointer", f"-L{lib}", "-lstrobe",
                         f"-Wl,-rpath,{os.path.abspath(lib)}")
            ran = self.record(out)
            self.assertEqual((ran.code, ran.out), (0, "1\n"), ran.err)
            kinds = {name: n for name, n in ran.trace.facts["kind_names"].items() if not name.startswith("zone_end")}
            n_zones = len(ZONES) + (language == "c++")
            self.assertEqual(kinds.pop("zone_begin"), n_zones)
            self.assertEqual(kinds, KINDS)
            zones = ZONES + (["class"] if language == "c++" else [])
            self.assertEqual(sorted(name for _, name in ran.trace.zones()), sorted(zones))
            self.assertEqual(ran.trace.facts["open"] + ran.trace.facts["unfinished"], 0)
            records = ran.trace.facts["records"]
            self.assertEqual((records["lock_name"], records["plot_config"]), (2, 2))
            self.assertEqual(set(ran.trace.threads().values()), {"first"})
            table = self.run_it(harness.STROBE, "csv", "--kind", "zones", ran.trace.path)[1]
            said = [row for row in csv.DictReader(io.StringIO(table)) if row["file"] == "api.txt"]
            self.assertEqual([(row["name"], row["text"], row["value"], row["color"]) for row in said],
                             [("outer name", "bytes\nformat\nouter bytes", "3", "#000004")])


if __name__ == "__main__":
    harness.main()
