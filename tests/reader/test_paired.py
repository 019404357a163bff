#!/usr/bin/env python3
"""test_paired.py MAKE_PAIRED: rows and cells of fibers, spans and GPU contexts are what docs/file-format.md says, by the second reader."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import strobe_check  # noqa: E402
import strobe_paired  # noqa: E402


class Paired(unittest.TestCase):
    """Traces of one sort each."""

    def check(self, kinds):
        """(problems, rows) of a new trace."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "paired.strobe")
            subprocess.run([MAKE, path, kinds, "40000"], check=True)
            checker = strobe_check.Checker(path, must_be_closed=True)
            return checker.run(), checker.n_paired

    def test_rows_of_fibers_are_those_of_their_events(self):
        problems, n = self.check("f")
        self.assertEqual(problems, [])
        self.assertGreater(n, 40000)

    def test_spans_have_the_least_free_depth(self):
        problems, n = self.check("s")
        self.assertEqual(problems, [])
        self.assertGreater(n, 40000)

    def test_cells_of_gpu_contexts_are_those_of_their_rows(self):
        problems, n = self.check("g")
        self.assertEqual(problems, [])
        self.assertGreaterEqual(n, 40000)

    def test_cells_that_miss_a_row_are_found(self):
        right, strobe_paired.cells_of = strobe_paired.cells_of, lambda rows, *rest: right(rows[1:], *rest)
        try:
            problems, _ = self.check("s")
        finally:
            strobe_paired.cells_of = right
        self.assertTrue(any("cells of level" in text for text in problems))


if __name__ == "__main__":
    MAKE = sys.argv.pop(1)
    unittest.main()
