"""test_sanitizers.py - programs built with a sanitizer, linked with the library as it is installed, record clean and whole."""
import os
import shutil

import harness

SOURCE = os.path.join(harness.HERE, "parts", "sanitized.c")
INCLUDE = os.path.join(harness.HERE, os.pardir, os.pardir, "include")
EVENTS = 7      # of each round of the program


class Sanitizers(harness.ProgramTest):
    def build(self, compiler, sanitizer, source):
        """The program, or a skipped test where this compiler has no such sanitizer."""
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        library = os.path.join(os.path.dirname(os.path.dirname(harness.STROBE)), "lib")
        if not os.path.exists(os.path.join(library, "libstrobe.so")):
            self.skipTest("no shared library beside the command")
        flags = ["-g", "-O1", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=undefined"]
        empty = self.path("empty.c")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        if self.run_it(compiler, *flags, empty, "-o", self.path("empty"))[0] or self.run_it(self.path("empty"))[0]:
            self.skipTest(f"{compiler} has no working -fsanitize={sanitizer}")
        program = self.path("program")
        code, _, err = self.run_it(compiler, *flags, "-I", INCLUDE, source, "-o", program, "-L", library, "-lstrobe",
                                   f"-Wl,-rpath,{library}", "-lpthread", timeout=120)
        self.assertEqual(code, 0, err)
        return program

    def check(self, compiler, sanitizer, language="c"):
        """It ends well, the sanitizer has nothing to say, and every event is there."""
        source = SOURCE
        if language == "c++":
            source = self.path("sanitized.cpp")
            shutil.copy(SOURCE, source)
        ran = self.record(self.build(compiler, sanitizer, source), timeout=120)
        self.assertEqual(ran.code, 0, ran.err)
        for word in ("WARNING: ThreadSanitizer", "ERROR: AddressSanitizer", "runtime error"):
            self.assertNotIn(word, ran.err)
        self.assertEqual(ran.trace.facts["events"], EVENTS * int(ran.out))

    def test_gcc_threads(self):
        self.check("gcc", "thread")

    def test_gxx_threads(self):
        self.check("g++", "thread", "c++")

    def test_gcc_addresses(self):
        self.check("gcc", "address")

    def test_gcc_undefined(self):
        self.check("gcc", "undefined")

    def test_clang_threads(self):
        self.check("clang", "thread")

    def test_clangxx_threads(self):
        self.check("clang++", "thread", "c++")

    def test_clang_addresses(self):
        self.check("clang", "address")

    def test_clang_undefined(self):
        self.check("clang", "undefined")


if __name__ == "__main__":
    harness.main()
