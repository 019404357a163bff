#!/usr/bin/env python3
"""test_list.py: docs/printed-lines.md has one row for every block of the documents, and every row is held by a test that exists. Where
the documents are not at hand, the rows are held against the tests alone."""
import re
import unittest

import blocks
import test_cpp
import test_python
import test_shell

RUNNERS = {"tests/printed/test_shell.py": {*test_shell.RUNS, "4.1", "5.5", "5.9", "5.19"}, "tests/printed/test_python.py": set(test_python.RUNS),
           "tests/printed/test_cpp.py": {*test_cpp.HOST, *test_cpp.KERNELS, "5.15"}}
INLINE = re.compile(r"`((?:pip|cmake|ninja|make|git|brew|ss|ssh|scp|python|pytest|tt-torch/install)[ /][^`]+)`")


class List(unittest.TestCase):
    rows = blocks.rows()

    def test_a_row_says_how_and_with_which_test(self):
        self.assertGreater(len(self.rows), 60)
        self.assertEqual(len({row.place for row in self.rows}), len(self.rows))
        for row in self.rows:
            with self.subTest(row.place):
                self.assertIn(row.how, blocks.HOW)
                named = re.findall(r"`(tests/[\w/]+\.(?:py|c))`", row.why)
                if row.how == "can't":
                    self.assertFalse(named)
                    self.assertGreater(len(row.why), 5)
                    continue
                self.assertTrue(named, row.why)
                for path in named:
                    self.assertTrue((blocks.TREE / path).exists(), path)
                    self.assertIn(row.place, RUNNERS.get(path, (row.place,)))

    def test_what_the_tests_run_has_a_row(self):
        held = {row.place: row.why for row in self.rows if row.how != "can't"}
        for path, places in RUNNERS.items():
            for place in places:
                self.assertIn(f"`{path}`", held.get(place, ""), place)

    @unittest.skipIf(blocks.folder() is None, blocks.ABSENT)
    def test_every_block_has_a_row_and_every_row_a_block(self):
        self.assertEqual({row.place: row.digest for row in self.rows}, {block.place: block.digest for block in blocks.read().values()})

    @unittest.skipIf(blocks.folder() is None, blocks.ABSENT)
    def test_every_command_in_the_text_has_a_row(self):
        listed = blocks.LIST.read_text(encoding="utf-8")
        for number, text in enumerate(blocks.documents(), 1):
            text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
            for line in INLINE.findall(text):
                self.assertTrue(f"| {number} | `{line}` |" in listed, (number, line))


if __name__ == "__main__":
    unittest.main(verbosity=1)
