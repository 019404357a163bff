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

    def test_the_library_has_the_names_of_the_real_one(self):
        for version in ("0.11.1", "0.12.2", "0.13.1", "0.14.0"):
            self.assertTrue((self.lib / f"libTracyClient.so.{version}").exists(), version)


if __name__ == "__main__":
    harness.main()
