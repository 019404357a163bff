#!/usr/bin/env python3
"""test_bombs.py STROBE: small files that stand for large ones are answered with work and memory that follow their own size.

Work is CPU time, which other programs do not add to; memory is the address space that a command may have."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bombs  # noqa: E402

STROBE = sys.argv[1]
SIZE = 300 << 10
CPU_S, MEMORY = 5, 512 << 20
IS_SANITIZED = "asan" in STROBE     # its shadow is address space


def limit():
    """Of the command that is about to run."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S * (4 if IS_SANITIZED else 1),) * 2)
    if not IS_SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(*args):
    """Exit code and what a command says; a signal is a failure."""
    result = subprocess.run((STROBE,) + args, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            preexec_fn=limit)
    said = result.stdout[-4000:].decode(errors="replace")
    if result.returncode < 0 or result.returncode > 1 or "out of memory" in said or "Sanitizer" in said:
        raise AssertionError(f"{args}: exit {result.returncode}: {said}")
    return result.returncode, said


class Bombs(unittest.TestCase):
    """Every maker of bombs.py, with every command that reads a trace."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="strobe-bombs-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        """In the folder of this test."""
        return os.path.join(self.folder, name)

    def try_all(self, name):
        """All commands over a bomb; what `info` says."""
        trace = self.path("bomb.strobe")
        bombs.OF_TRACES[name](trace, SIZE)
        said = run("info", trace)[1]
        run("info", "--verify", trace)
        run("stats", trace)
        for kind in ("zones", "messages", "threads"):
            run("csv", "--kind", kind, trace)
        run("export", "--to", "chrome", "-o", self.path("out.json"), trace)
        run("export", "--to", "tracy", "-o", self.path("out.tracy"), trace)
        run("recover", trace)
        return said

    def test_heads_that_unpack_to_16_mib_are_holes(self):
        self.assertIn("hole", self.try_all("heads"))

    def test_records_that_unpack_to_16_mib_are_holes(self):
        self.assertIn("hole", self.try_all("records"))

    def test_streams_that_unpack_to_16_mib_are_not_unpacked(self):
        self.try_all("sides")

    def test_blocks_of_more_events_than_bytes_allow_are_holes(self):
        self.assertIn("hole", self.try_all("events"))

    def test_lanes_that_unpack_to_16_mib_are_not_unpacked(self):
        self.try_all("lods")

    def test_open_zones_that_nobody_saw_take_no_memory(self):
        self.try_all("depths")

    def test_blocks_in_blocks_are_read_once(self):
        self.try_all("nested")

    def test_a_depth_whose_next_one_is_0_is_refused(self):
        trace = self.path("deep.strobe")
        bombs.deep_zone(trace)
        for args in (("--to", "tracy", "-o", self.path("o.tracy")), ("--to", "chrome", "-o", self.path("o.json"))):
            self.assertIn("1 holes", run("export", *args, trace)[1])

    def test_the_deepest_zones_that_may_be_are_exported(self):
        trace = self.path("deep.strobe")
        bombs.deep_zone(trace, 1 << 20)
        self.assertEqual(run("export", "--to", "tracy", "-o", self.path("o.tracy"), trace)[0], 0)
        self.assertIn("1048576", run("csv", trace)[1])

    def test_a_tracy_file_that_unpacks_to_far_more_is_refused(self):
        bombs.tracy(self.path("in.tracy"), SIZE)
        code, said = run("import", "-o", self.path("out.strobe"), self.path("in.tracy"))
        self.assertEqual(code, 1)
        self.assertIn("unpacks to far more than its size", said)
        self.assertFalse(os.path.exists(self.path("out.strobe")))

    def test_compressed_json_that_unpacks_to_far_more_is_refused(self):
        bombs.json_gz(self.path("in.json.gz"), SIZE)
        code, said = run("import", "-o", self.path("out.strobe"), self.path("in.json.gz"))
        self.assertEqual(code, 1)
        self.assertIn("unpacks to far more than its size", said)
        self.assertFalse(os.path.exists(self.path("out.strobe")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
