#!/usr/bin/env python3
"""test_json.py STROBE: Chrome's JSON with a million of everything is imported in 128 MiB, or set aside in words."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = sys.argv[1]
MEMORY = 128 << 20
IS_SANITIZED = "asan" in STROBE     # its shadow is memory, too


def limit():
    """Of the command that is about to run: its heap, its threads' stacks, what it maps for itself."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


class Json(unittest.TestCase):
    """strobe import, under a limit"""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="strobe-json-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.trace = os.path.join(self.folder, "out.strobe")

    def make(self, rows):
        """Import an array of these texts; what the command says."""
        path = os.path.join(self.folder, "in.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write("[")
            out.writelines(row + ",\n" for row in rows)
            out.write('{"ph":"i","ts":1,"name":"last","pid":1,"tid":1}]')
        result = subprocess.run([STROBE, "import", "-o", self.trace, path], check=False, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                preexec_fn=None if IS_SANITIZED else limit)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def counted(self, said):
        """Zones, spans, messages and values that were imported, and events that were set aside."""
        numbers = [int(n) for n in re.findall(r"(\d+) (?:zones|spans|messages|values)", said)]
        aside = re.search(r"set aside: (\d+)", said)
        return numbers, int(aside.group(1)) if aside else 0

    def all_counted(self, said, n):
        """Each of the n rows and the last event is in the trace or set aside."""
        numbers, aside = self.counted(said)
        self.assertEqual(sum(numbers) + aside, n + 1)
        return numbers

    def test_a_hundred_thousand_processes(self):
        n = 100_000
        said = self.make(f'{{"ph":"X","ts":{i},"dur":1,"name":"z","pid":{i * 7919},"tid":1}}' for i in range(n))
        self.assertGreater(self.all_counted(said, n)[0], 10_000)

    def test_half_a_million_threads(self):
        n = 400_000
        said = self.make(f'{{"ph":"X","ts":{i},"dur":1,"name":"z","pid":1,"tid":{i}}}' for i in range(n))
        self.all_counted(said, n)

    def test_half_a_million_names(self):
        n = 400_000
        said = self.make(f'{{"ph":"X","ts":{i},"dur":1,"name":"zone {i}","pid":1,"tid":1}}' for i in range(n))
        self.assertEqual(self.counted(said), ([n, 0, 1, 0], 0))

    def test_half_a_million_open_spans(self):
        n = 400_000
        said = self.make(f'{{"ph":"b","ts":{i},"cat":"c","id":{i},"name":"s","pid":1,"tid":1}}' for i in range(n))
        self.all_counted(said, n)

    def test_open_zones_of_many_threads(self):
        threads, depth = 2000, 500
        said = self.make(f'{{"ph":"B","ts":{i},"name":"z","pid":1,"tid":{t}}}'
                         for i in range(depth) for t in range(threads))
        self.all_counted(said, threads * depth)

    def test_begins_that_found_no_room_take_their_ends_with_them(self):
        rows = [f'{{"ph":"{ph}","ts":{1000 + i},"name":"z","pid":1,"tid":1}}'
                for i, ph in enumerate("B" * 5000 + "E" * 5000)]
        self.assertEqual(self.counted(self.make(rows)), ([4096, 0, 1, 0], 2 * (5000 - 4096)))

    def test_strings_and_events_of_many_megabytes(self):
        long = "\\u0041" * (2 << 20)
        said = self.make([f'{{"ph":"{ph}","ts":5,"dur":1,"name":"{long}","pid":"{long[:6000]}","tid":1,'
                          f'"args":{{"name":"{long[:60000]}"}}}}' for ph in "XiM"] +
                         ['{"ph":"X","ts":6,"dur":1,"name":"' + "y" * (17 << 20) + '","pid":1,"tid":1}'])
        self.assertIn("1 zones", said)
        self.assertIn("set aside: 1 ", said)

    def test_nesting_of_a_million_levels(self):
        levels = 1_000_000
        deep = "[" * levels + "]" * levels
        said = self.make([f'{{"ph":"X","ts":5,"dur":1,"name":"z","pid":1,"tid":1,"args":{{"a":{deep}}}}}'])
        self.assertIn("1 zones", said)

    def test_events_in_no_order(self):
        n = 400_000
        said = self.make(f'{{"ph":"X","ts":{i * 7919 % n},"dur":0.5,"name":"z","pid":1,"tid":{i % 5}}}'
                         for i in range(n))
        self.assertEqual(self.counted(said), ([n, 0, 1, 0], 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
