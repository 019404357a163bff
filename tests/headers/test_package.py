"""test_package.py - a project that asks for Tracy finds ours: find_package(Tracy) and pkg-config tracy of an installed tree.
SPDX-License-Identifier: MIT"""
import os
import pathlib
import shutil
import subprocess

import test_macros
from test_macros import harness

PROJECT = """cmake_minimum_required(VERSION 3.18)
project(User C CXX)
%s
find_package(Tracy 0.11 REQUIRED CONFIG)
add_executable(user user.cpp part.c)
target_link_libraries(user PRIVATE Tracy::TracyClient)
"""
USER = """#include <common/TracySystem.hpp>
#include <tracy/Tracy.hpp>
extern "C" void part(void);
int main()
{
    tracy::SetThreadName("user");
    ZoneScopedN("of C++");
    part();
    return 0;
}
"""
PART = """#include <TracyC.h>
void part(void);
void part(void)
{
    TracyCZoneN(zone, "of C", 1);
    TracyCZoneEnd(zone);
}
"""


class Package(harness.ProgramTest):
    def setUp(self):
        super().setUp()
        self.prefix = pathlib.Path(self.path("prefix"))
        done = subprocess.run(["cmake", "--install", harness.PROGRAMS, "--prefix", self.prefix], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.lib = next(self.prefix.glob("lib*/**/libTracyClient.so")).parent
        for name, text in (("user.cpp", USER), ("part.c", PART)):
            pathlib.Path(self.path(name)).write_text(text)

    def cmake(self, extra=""):
        """Configure and build a project of its own; the program."""
        pathlib.Path(self.path("CMakeLists.txt")).write_text(PROJECT % extra)
        build = self.path("user-build")
        shutil.rmtree(build, ignore_errors=True)
        for command in (["cmake", "-G", "Ninja", "-S", self.dir, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}"], ["cmake", "--build", build]):
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return os.path.join(build, "user")

    def check(self, program, n_zones, **env):
        ran = self.record(program, env=env)
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual((ran.trace.n_zones("of C"), ran.trace.n_zones("of C++")), (n_zones, n_zones))

    def test_find_package_gives_our_target(self):
        self.check(self.cmake(), 1)

    def test_switches_of_the_project_are_handed_on(self):
        self.check(self.cmake("set(TRACY_ON_DEMAND ON)\nset(TRACY_CALLSTACK 8)\nset(TRACY_NO_EXIT ON)"), 1)
        off = self.cmake("set(TRACY_ENABLE OFF)")
        names = subprocess.run(["nm", off], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("strobe", names)

    def test_pkg_config_gives_our_flags(self):
        pc = next(self.prefix.glob("lib*/pkgconfig/tracy.pc"))
        text = pc.read_text()
        first = text.splitlines()[0]
        pc.write_text(text.replace(first, f"prefix={self.prefix}"))  # it names where it was configured for
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "tracy"], capture_output=True, text=True, check=True,
                               env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent)}).stdout.split()
        out = self.path("user")
        for command in (["gcc", "-c", self.path("part.c"), "-o", self.path("part.o"), *flags],
                        ["g++", self.path("user.cpp"), self.path("part.o"), "-o", out, *flags]):
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.check(out, 1, LD_LIBRARY_PATH=str(self.lib))

    def by_hand(self, out, *words):
        """A link line as people write it: -lTracyClient and no other library of ours."""
        flags = ["-DTRACY_ENABLE", f"-I{self.prefix}/include", f"-I{self.prefix}/include/tracy"]
        for command in (["gcc", "-fPIC", "-c", self.path("part.c"), "-o", self.path("part.o"), *flags],
                        ["g++", "-fPIC", self.path("user.cpp"), self.path("part.o"), "-o", out, *words, *flags, f"-L{self.lib}", "-lTracyClient"]):
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def test_a_link_line_needs_one_library(self):
        for words in (["-O2"], ["-no-pie"], ["-fuse-ld=gold"] if shutil.which("ld.gold") else ["-O0"]):
            self.check(self.by_hand(self.path("user"), *words), 1, LD_LIBRARY_PATH=str(self.lib))

    def test_so_does_that_of_a_plugin(self):
        pathlib.Path(self.path("user.cpp")).write_text(USER.replace("int main()", 'extern "C" int run(void);\nint run(void)'))
        self.by_hand(self.path("plugin.so"), "-shared")
        pathlib.Path(self.path("main.c")).write_text("""#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "run") : 0;
    return run ? run() : 3;
}
""")
        done = subprocess.run(["gcc", self.path("main.c"), "-o", self.path("main"), "-ldl"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = self.record(self.path("main"), self.path("plugin.so"), env={"LD_LIBRARY_PATH": str(self.lib)})
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual((ran.trace.n_zones("of C"), ran.trace.n_zones("of C++")), (1, 1))

    def test_tt_metals_switch_means_the_same(self):
        self.check(self.cmake("set(ENABLE_TRACY ON)"), 1)
        names = subprocess.run(["nm", self.cmake("set(ENABLE_TRACY OFF)")], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("strobe", names)

    def test_tracys_viewer_by_its_names_is_ours(self):
        for name in ("tracy", "tracy-profiler", "Tracy-release", "iree-tracy-profiler"):
            said = subprocess.run([self.prefix / "bin" / name, "--help"], capture_output=True, text=True, check=True).stdout
            self.assertTrue(said.startswith("usage: strobe view"), name)
        said = subprocess.run([self.prefix / "bin/iree-tracy-csvexport", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertTrue(said.startswith("usage: tracy-csvexport"))

    def test_a_program_of_that_name_is_left_alone(self):
        own = self.prefix / "bin/tracy"
        own.unlink()
        own.write_text("another's")
        done = subprocess.run(["cmake", "--install", harness.PROGRAMS, "--prefix", self.prefix], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(own.read_text(), "another's")

    def test_the_library_has_the_names_of_the_real_one(self):
        for version in ("0.11.1", "0.12.2", "0.13.1", "0.14.0"):
            self.assertTrue((self.lib / f"libTracyClient.so.{version}").exists(), version)


if __name__ == "__main__":
    harness.main()
