"""test_macros.py - Tracy's macros over Strobe: every one in every language standard, each read back from a trace.

    python3 test_macros.py STROBE BUILD
"""
import csv
import io
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "programs"))
import harness  # noqa: E402
import macros  # noqa: E402

ROOT = os.path.abspath(os.path.join(HERE, os.pardir, os.pardir))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
STANDARDS = {"c": ("c99", "c11", "c17", "c2x"), "c++": ("c++11", "c++14", "c++17", "c++20", "c++2b")}
COMPILERS = [(c, language) for c, language in (("gcc", "c"), ("clang", "c"), ("g++", "c++"), ("clang++", "c++")) if shutil.which(c)]
SOURCE = {"c": "macros.c", "c++": "macros.cpp"}


def compile_it(test, compiler, std, source, out, *more):
    """Compile; the compiler must have nothing to say."""
    command = [compiler, f"-std={std}", *WARNINGS, f"-I{ROOT}/include", f"-I{HERE}", os.path.join(HERE, source), "-o", out, *more]
    done = subprocess.run(command, capture_output=True, text=True)
    test.assertEqual((done.returncode, done.stderr), (0, ""), " ".join(command))


def libraries(folder=""):
    lib = os.path.abspath(os.path.join(harness.PROGRAMS, "lib"))
    return [f"-L{os.path.join(lib, folder)}", f"-L{lib}", "-lTracyClient", "-lstrobe", f"-Wl,-rpath,{os.path.join(lib, folder)}",
            f"-Wl,-rpath,{lib}", "-lpthread"]


def table(test, path, kind):
    """`strobe csv --kind KIND`, rows as dicts."""
    code, out, err = test.run_it(harness.STROBE, "csv", "--kind", kind, path)
    test.assertEqual(code, 0, err)
    return list(csv.DictReader(io.StringIO(out)))


def as_text(row):
    """One event of `--kind all` as macros.py writes it."""
    fields = [row[f"field{i}"] for i in range(1, 9)]
    while fields and not fields[-1]:
        fields.pop()
    if row["kind"] == "frame" and not fields:
        fields = [""]
    return ("+" if row["callstack"] else "") + " ".join([row["kind"], *fields])


def matches(wanted, found):
    pattern = r"\S+".join(re.escape(part) for part in wanted.split("*"))
    return re.fullmatch(pattern, found) is not None


def by_macro(rows):
    """{macro: its events}, cut at the marks."""
    found, events = {}, []
    for row in rows:
        if row["kind"] == "app_info" and row["field1"].startswith("macro "):
            events = found.setdefault(row["field1"][6:], [])
        else:
            events.append(as_text(row))
    return found


def public_macros(header):
    """What a header defines under Tracy's names with TRACY_ENABLE."""
    with open(os.path.join(ROOT, "include", "tracy", header)) as f:
        text = f.read()
    names = set(re.findall(r"^#define (\w+)", text, re.M))
    return {n for n in names if re.match(r"(Tracy|Zone|Frame|Lock|SharedLock)", n) and not n.startswith("TracyConcat")}


class Macros(harness.ProgramTest):
    def test_every_standard_compiles_without_a_warning(self):
        self.assertGreaterEqual(len(COMPILERS), 2)
        for compiler, language in COMPILERS:
            for number, std in enumerate(STANDARDS[language]):
                compile_it(self, compiler, std, SOURCE[language], self.path("o"), "-c", "-O2" if number % 2 else "-O0", "-DTRACY_ENABLE")

    def test_without_tracy_enable_nothing_is_left(self):
        for compiler, language in COMPILERS:
            for std in STANDARDS[language][::3]:
                out = self.path("off")
                compile_it(self, compiler, std, SOURCE[language], out, "-O2")  # links without the library
                names = subprocess.run(["nm", out], capture_output=True, text=True, check=True).stdout
                self.assertNotIn("strobe", names.lower())
                self.assertNotIn("___tracy", names)
                self.assertEqual(self.run_it(out)[0], 0)

    def check(self, out, expected, records, exit_code):
        ran = self.record(out)
        self.assertEqual(ran.code, exit_code, ran.err)
        found = by_macro(table(self, ran.trace.path, "all"))
        for macro, events in expected.items():
            self.assertIn(macro, found)
            self.assertEqual(len(events), len(found[macro]), f"{macro}: {found[macro]}")
            for wanted, event in zip(events, found[macro]):
                self.assertTrue(matches(wanted, event), f"{macro}: '{event}' should be '{wanted}'")
        self.assertEqual(set(found) - set(expected), set() if exit_code == 59 else {"start", "end"})
        rows = table(self, ran.trace.path, "records")
        for kind, fields in records:
            self.assertTrue(any(r["record"] == kind and fields in r["fields"] for r in rows), f"{kind} {fields}")

    def test_every_c_macro_is_read_back(self):
        for compiler, language in COMPILERS:
            if language == "c":
                out = self.path("macros")
                compile_it(self, compiler, "c99", "macros.c", out, "-O1", "-fno-omit-frame-pointer", "-DTRACY_ENABLE", *libraries())
                self.check(out, macros.C, macros.C_RECORDS, 59)

    def test_every_cpp_macro_is_read_back(self):
        for compiler, language in COMPILERS:
            if language == "c++":
                out = self.path("macros")
                compile_it(self, compiler, "c++11", "macros.cpp", out, "-O1", "-fno-omit-frame-pointer", "-DTRACY_ENABLE", *libraries())
                self.check(out, macros.CPP, macros.CPP_RECORDS, 15)

    def test_the_on_demand_abi_has_its_own_library(self):
        out = self.path("macros")
        compile_it(self, "gcc", "c11", "macros.c", out, "-O1", "-fno-omit-frame-pointer", "-DTRACY_ENABLE", "-DTRACY_ON_DEMAND",
                   *libraries("tracy-on-demand"))
        self.check(out, macros.C, macros.C_RECORDS, 59)

    def test_headers_for_graphics_say_that_they_record_nothing(self):
        for std in ("c++11", "c++20"):
            out = self.path("stubs")
            compile_it(self, "g++", std, "gpu_stubs.cpp", out)
            compile_it(self, "g++", std, "gpu_stubs.cpp", out, "-DTRACY_ENABLE", *libraries())
        ran = self.record(out)
        self.assertEqual(ran.code, 0, ran.err)
        said = [(r["severity"], r["text"].split(":")[0]) for r in table(self, ran.trace.path, "messages")]
        self.assertEqual(said, [("warning", f"Tracy{api}.hpp") for api in ("OpenGL", "Vulkan", "OpenCL", "CUDA")])

    def test_no_macro_is_left_out(self):
        c = public_macros("TracyC.h") - {"TracyFunction", "TracyFile", "TracyLine"}
        self.assertEqual(c - set(macros.C) - macros.C_OTHERS, set())
        self.assertEqual(public_macros("Tracy.hpp") - set(macros.CPP) - macros.CPP_OTHERS, set())

    def test_nobody_recording_is_no_reason_to_fail(self):
        out = self.path("macros")
        compile_it(self, "g++", "c++17", "macros.cpp", out, "-O2", "-DTRACY_ENABLE", *libraries())
        self.assertEqual(self.run_it(out)[0], 11)


if __name__ == "__main__":
    harness.main()
