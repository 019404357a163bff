"""test_functions.py - functions as zones without a mark: programs built with -finstrument-functions or for XRay (hooked.c), judged by the
second reader.

    python3 test_functions.py STROBE PROGRAMS [unittest arguments]"""
import collections
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_sample import SampleTest, harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "hooked.c")
HOOKS = ("-finstrument-functions",)
XRAY = ("-fxray-instrument", "-fxray-instruction-threshold=1")
UNFINISHED, ABANDONED = 7, 11  # causes of losses
LINKED = "volatile int made; int linked(int n) { return made += n; }\nstatic void __attribute__((constructor)) construct(void) { linked(1); }\n"
PLUGIN = "static int __attribute__((noinline)) %s(int n) { return n * %d; }\nint plugged(int n) { return %s(n) + 1; }\n"

# a loader that prints a line in place of running the program, unless it is asked for a list
LOADER = """
static long call(long number, long a, const char *b, long c)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}
__attribute__((used)) void run(char **stack)
{
    const char *list = "--list", *word = stack[0] > (char *)1 ? stack[2] : "";
    while (*word && *word == *list)
        word++, list++;
    if (*word || *list)
        call(1, 1, "ran\\n", 4);
    call(231, 0, 0, 0);
}
__asm__(".globl _start\\n_start: mov %rsp, %rdi\\n and $-16, %rsp\\n call run");
"""

folder = None
built = {}


def build(compiler, *flags, source=SOURCE, language="c++"):
    """The program, built once with these flags; None: there is no such compiler."""
    key = (compiler, flags, source)
    if key not in built:
        path = os.path.join(folder.name, f"hooked{len(built)}")
        made = shutil.which(compiler) and subprocess.run([compiler, "-x", language, "-O2", "-g", "-pthread", *flags, source, "-o", path, "-ldl"],
                                                         capture_output=True, text=True)
        if made and made.returncode and "xray" not in made.stderr:
            raise AssertionError(made.stderr)
        built[key] = path if made and not made.returncode else None
    return built[key]


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory(prefix="strobe-hooked-")


def tearDownModule():
    folder.cleanup()


class Recorded(SampleTest):
    """A program and what its trace has of it."""
    hooked = None
    options = ("--no-sample",)
    may_lose = frozenset()

    def zones(self, *arguments, options=()):
        """Record the program: {name: [(depth, thread, row)]}; its result is that of a bare run, and nothing is dropped."""
        bare = self.run_it(self.hooked, *arguments)[:2]
        ran = self.record(self.hooked, *arguments, options=(*self.options, *options), whole=False, timeout=400)
        self.assertEqual((ran.code, ran.out), bare, ran.err)
        self.assertLessEqual(set(ran.trace.dropped()), self.may_lose, ran.err)
        zones = collections.defaultdict(list)
        for row in self.rows(ran.trace.path, "zones"):
            zones[row["name"].split("(")[0]].append((int(row["depth"]), row["thread"], row))
        self.last = ran
        return zones

    def depths(self, zones, name):
        return sorted(depth for depth, *_ in zones[name])


class Functions(Recorded):
    """What every kind of build must do. Subclasses say how it is built."""
    build_with = None
    is_cxx = True

    def setUp(self):
        super().setUp()
        self.hooked = build(*self.build_with, language="c++" if self.is_cxx else "c") if self.build_with else None
        if not self.hooked:
            self.skipTest("not a build that can be made here")

    def test_each_call_is_a_zone_in_the_zone_of_its_caller(self):
        zones = self.zones("tree", "3")
        self.assertEqual([len(zones[name]) for name in ("main", "tree", "branch", "leaf")], [1, 1, 3, 6])
        for name, depth in (("main", 0), ("tree", 1), ("branch", 2), ("leaf", 3)):
            self.assertEqual(set(self.depths(zones, name)), {depth})

    def test_a_function_has_its_source_file_and_line_in_the_trace(self):
        row = self.zones("tree", "1")["leaf"][0][2]
        with open(SOURCE, encoding="utf-8") as file:
            line = next(n for n, text in enumerate(file, 1) if text.startswith("APART int leaf"))
        self.assertEqual(row["file"], SOURCE)
        self.assertIn(int(row["line"]), (line, line + 1, line + 2))  # its first statement, where what comes before has no line

    def test_a_program_of_any_path_or_of_none_has_its_names(self):
        deep = "/".join(["d" * 200] * 8)
        for name in ("two\nlines", deep, None):
            program = self.path(name or "made in memory")
            os.makedirs(os.path.dirname(program), exist_ok=True)
            shutil.copy(self.hooked, program)
            launcher = [] if name else [sys.executable, "-c", "import os, sys; at = os.memfd_create('m'); os.write(at, open(sys.argv[1], 'rb').read()); "
                                        "os.execve(at, sys.argv[1:], os.environ)"]
            ran = self.record(*launcher, program, "tree", "3", options=(*self.options, "--python", "off", "--zone", "*"), whole=False)
            self.assertEqual((ran.code, set(ran.trace.dropped()) - self.may_lose), (0, set()), ran.err)
            names = collections.Counter(row["name"].split("(")[0] for row in self.rows(ran.trace.path, "zones"))
            self.assertEqual([names[function] for function in ("main", "tree", "branch", "leaf")], [1, 1, 3, 6], name)

    def test_after_longjmp_the_next_call_is_where_it_was(self):
        zones = self.zones("jumps", "20")
        self.assertEqual([len(zones[name]) for name in ("jump_over", "jump_from", "leaf")], [20, 20, 20])
        self.assertEqual(set(self.depths(zones, "jump_over")), set(self.depths(zones, "leaf")))
        self.assertEqual(len(set(self.depths(zones, "leaf"))), 1)

    def test_after_an_exception_the_next_call_is_where_it_was(self):
        if not self.is_cxx:
            self.skipTest("C has none")
        zones = self.zones("exceptions", "10")
        self.assertEqual((len(zones["scope::catcher"]), len(zones["scope::thrower::run"])), (10, 10))
        below = self.depths(zones, "scope::catcher")[0]
        self.assertEqual(set(self.depths(zones, "scope::catcher")), {below})
        self.assertEqual(set(self.depths(zones, "scope::thrower::run")), {below + 1})
        self.assertEqual(collections.Counter(self.depths(zones, "leaf")), {below + 1: 10, below + 2: 5})  # in catcher and in run

    def test_a_signal_handler_is_inside_of_what_it_interrupted(self):
        for stack in ("signals", "altstack"):
            zones = self.zones(stack, "5")
            self.assertEqual([len(zones[name]) for name in ("on_signal", "branch")], [5, 5])
            self.assertEqual(set(self.depths(zones, "on_signal")), set(self.depths(zones, "branch")))
            self.assertEqual(len(set(self.depths(zones, "branch"))), 1)

    def counted(self):
        """By the program itself: handlers, calls of leaf outside of them."""
        return [int(n) for n in re.search(r"^handlers (\d+), calls (\d+)$", self.last.err, re.M).groups()]

    def test_a_signal_handler_that_interrupts_a_hook_has_its_zones(self):
        for stack in ((), ("altstack",)):
            zones = self.zones("interrupts", "40", *stack)
            n_handlers, n_calls = self.counted()
            self.assertEqual([len(zones[name]) for name in ("on_timer", "handled", "leaf")], [n_handlers, n_handlers, n_calls + n_handlers])
            self.assertEqual(self.depths(zones, "handled"), [depth + 1 for depth in self.depths(zones, "on_timer")])
            self.assertEqual(self.last.trace.facts.get("stray_ends", 0), 0)

    def test_after_a_jump_out_of_a_hook_calls_are_zones_as_before(self):
        self.may_lose = self.may_lose | {UNFINISHED, ABANDONED}  # the record that it jumped out of
        for stack in ((), ("altstack",)):
            zones = self.zones("leaps", "40", *stack)
            n_handlers, n_calls = self.counted()
            self.assertLessEqual(sum(self.last.trace.dropped().values()), n_handlers)
            self.assertEqual([len(zones[name]) for name in ("on_timer", "handled")], [n_handlers] * 2)
            self.assertLessEqual(abs(len(zones["leaf"]) - n_handlers - n_calls), 3 * n_handlers)

    def test_threads_that_begin_after_main_has_ended_have_their_zones(self):
        zones = self.zones("leaves", "3")
        self.assertEqual([len(zones[name]) for name in ("run_late", "tree", "branch", "leaf")], [1, 1, 3, 6])

    def test_a_fiber_is_a_track_of_its_own(self):
        zones = self.zones("fibers", "6")
        fibers = {thread for _, thread, _ in zones["run_fiber"]}
        self.assertEqual(len(fibers), 2)
        self.assertEqual(collections.Counter(thread for _, thread, _ in zones["leaf"] if thread in fibers), dict.fromkeys(fibers, 3))
        self.assertEqual(len({depth for depth, thread, _ in zones["branch"]}), 1)
        self.assertFalse({thread for _, thread, _ in zones["branch"]} & fibers)

    def test_each_thread_has_its_own_zones_and_pthread_exit_ends_them(self):
        zones = self.zones("threads", "3")
        self.assertEqual([len(zones[name]) for name in ("run_thread", "tree", "leaf")], [8, 8, 48])
        self.assertEqual(set(self.depths(zones, "leaf")), {self.depths(zones, "run_thread")[0] + 3})
        self.assertFalse([row for _, _, row in zones["run_thread"] if not row["duration_ns"]])

    def test_a_forked_child_begins_with_nothing_open(self):
        zones = self.zones("forks", "3")
        pids = collections.Counter(row["pid"] for _, _, row in zones["branch"])
        self.assertEqual(sorted(pids.values()), [1, 1, 1])
        self.assertEqual({depth for depth, _, row in zones["branch"] if row["pid"] in pids}, {0})
        self.assertEqual({row["file"] for _, _, row in zones["branch"]}, {SOURCE})
        self.assertEqual(self.last.trace.facts.get("stray_ends", 0), 0)

    def test_what_is_executed_is_recorded_anew(self):
        zones = self.zones("execs", "2")
        self.assertEqual((len(zones["leaf"]), len(set(self.depths(zones, "leaf")))), (4, 1))

    def test_arguments_and_results_are_left_alone(self):
        self.assertEqual(self.run_it(self.hooked, "numbers", "5")[1], self.run_it(self.hooked, "numbers", "5")[1])
        self.assertGreaterEqual(len(self.zones("numbers", "5")["numbers"]), 1)

    def test_patterns_choose_functions_and_leave_some_out(self):
        zones = self.zones("tree", "2", options=("--zone", "leaf", "--zone", "hooked*:t?ee"))
        self.assertEqual(set(zones), {"leaf", "tree"})
        self.assertEqual((self.depths(zones, "tree"), self.depths(zones, "leaf")), ([0], [1] * 4))
        self.assertEqual(set(self.zones("tree", "2", options=("--zone", "*", "--zone", "!l*", "--zone", "!main"))) & {"leaf", "main", "branch"}, {"branch"})
        self.assertEqual(self.zones("tree", "2", options=("--zone", "other.so:*")), {})

    def test_calls_by_the_hundred_thousand_are_all_there(self):
        zones = self.zones("tree", "30000")
        self.assertEqual(len(zones["leaf"]), 60000)

    def test_a_recursion_of_any_depth_is_followed(self):
        zones = self.zones("deep", "70000")
        self.assertEqual((len(zones["deep"]), len(zones["leaf"])), (70000, 70000))
        self.assertEqual(self.depths(zones, "deep"), list(range(1, 70001)))

    def test_functions_are_recorded_beside_memory_and_locks(self):
        zones = self.zones("tree", "300", options=("--memory=all", "--locks=all"))
        self.assertEqual(len(zones["leaf"]), 600)


class Gcc(Functions):
    build_with = ("gcc", *HOOKS)
    is_cxx = False

    def test_a_library_that_takes_the_place_of_another_has_its_own_names(self):
        paths = []
        for name, factor in (("first", 2), ("second", 3)):
            source = os.path.join(self.dir, name + ".c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(PLUGIN % (name, factor, name))
            paths.append(build("gcc", *HOOKS, "-shared", "-fPIC", source=source, language="c"))
        zones = self.zones("loads", "6", *paths)
        self.assertEqual([len(zones[name]) for name in ("first", "second", "plugged")], [3, 3, 6])


    def test_constructors_of_linked_libraries_are_zones(self):
        source, library = os.path.join(self.dir, "linked.c"), os.path.join(self.dir, "liblinked.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(LINKED)
        subprocess.run(["gcc", *HOOKS, "-g", "-shared", "-fPIC", source, "-o", library], check=True)
        self.hooked = build("gcc", *HOOKS, f"-L{self.dir}", f"-Wl,--no-as-needed,-rpath,{self.dir}", "-llinked", language="c")
        zones = self.zones("tree", "3")
        self.assertEqual([len(zones[name]) for name in ("construct", "linked", "main", "leaf")], [1, 1, 1, 6])
        self.assertEqual((self.depths(zones, "construct"), self.depths(zones, "linked")), ([0], [1]))
        self.assertEqual(set(self.zones("tree", "3", options=("--zone", "linked"))), {"linked"})


class Patterns(SampleTest):
    def test_a_pattern_that_nothing_fits_is_said(self):
        ran = self.record(build("gcc", *HOOKS, language="c"), "tree", "2", options=("--no-sample", "--zone", "no_such_function*"), whole=False)
        self.assertEqual(ran.code, 0, ran.err)
        self.assertIn("--zone: no function became a zone", ran.err)

    def test_a_program_whose_hooks_are_not_ours_is_named_once(self):
        hooks = os.path.join(self.dir, "own.c")
        with open(hooks, "w", encoding="utf-8") as file:
            file.write("void __cyg_profile_func_enter(void *a, void *b) { }\nvoid __cyg_profile_func_exit(void *a, void *b) { }\nint main(void) { return 0; }\n")
        own, static = build("gcc", source=hooks, language="c"), build("gcc", *HOOKS, "-static", language="c")
        for program, why in ((own, "hooks of its own"), (static, "linked statically")):
            for options in ((), ("--zone", "*")):
                ran = self.record(program, "tree", "2", options=("--no-sample", *options), whole=False)
                self.assertEqual((ran.code, ran.err.count("functions are not recorded"), why in ran.err), (0, 1, True), ran.err)
                self.assertNotIn("no function became a zone", ran.err)

    @unittest.skipIf(os.geteuid(), "mounts are root's")
    def test_without_proc_functions_are_zones(self):
        program, trace = build("gcc", *HOOKS, language="c"), self.path("bare.strobe")
        ran = subprocess.run(["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh", harness.STROBE, "record", "--no-sample", "-o", trace, "--",
                              program, "tree", "3"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("is not beside", ran.stderr)
        self.assertEqual(len(self.rows(trace, "zones")), 11)  # main, tree, 3 branches, 6 leaves: by their addresses

    @unittest.skipUnless(platform.machine() == "x86_64", "the loader is made of x86-64's system calls")
    def test_looking_for_libraries_runs_nothing_of_the_program(self):
        """By a loader that runs the program whatever the environment says, unless it is asked for a list."""
        loader, program = os.path.join(self.dir, "loader"), os.path.join(self.dir, "loaded")
        with open(loader + ".c", "w", encoding="utf-8") as file:
            file.write(LOADER)
        subprocess.run(["gcc", "-nostdlib", "-static", "-fno-stack-protector", loader + ".c", "-o", loader], check=True)
        subprocess.run(["gcc", "-nostdlib", "-pie", "-fPIE", loader + ".c", "-o", program, f"-Wl,--dynamic-linker={loader}"], check=True)
        ran = self.record(program, options=("--zone", "main"), whole=False)
        self.assertEqual((ran.code, ran.out), (0, "ran\n"), ran.err)


class Gxx(Functions):
    build_with = ("g++", *HOOKS)


class Clang(Functions):
    build_with = ("clang++", *HOOKS)


class ClangAfterInlining(Functions):
    build_with = ("clang++", "-finstrument-functions-after-inlining")


@unittest.skipUnless(platform.machine() == "x86_64", "sleds are patched on x86-64")
class Xray(Functions):
    build_with = ("clang++", *XRAY)
    options = ("--no-sample", "--zone", "*")

    def test_patterns_choose_functions_and_leave_some_out(self):
        self.options = ("--no-sample",)
        super().test_patterns_choose_functions_and_leave_some_out()

    def test_without_patterns_nothing_is_patched(self):
        self.options = ("--no-sample",)
        self.assertEqual(self.zones("tree", "2"), {})


if __name__ == "__main__":
    harness.main()
