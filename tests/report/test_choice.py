#!/usr/bin/env python3
"""A part of a report is rows of the whole report, as they are there."""
import subprocess
import unittest

from helper import HERE, STROBE, ReportTest, rows_of


class Choice(ReportTest):
    def rows(self, name, *options):
        summary, path = self.report(self.golden(name), *options)
        made = rows_of(path)
        whole = rows_of(HERE / "golden" / name / "reports" / "ops_perf_results.csv")
        places = [whole.index(row) for row in made]
        self.assertEqual(places, sorted(places))
        self.assertEqual(summary["coverage"]["rows"], len(made))
        return places, whole

    def signposts(self, whole):
        return [i for i, row in enumerate(whole) if row["OP TYPE"] == "signpost"]

    def test_rows_between_signposts(self):
        _, whole = self.rows("A_host_device_legacy")
        posts = self.signposts(whole)
        self.assertEqual([whole[i]["OP CODE"] for i in posts], ["Warmup Start", "Measure"])
        self.assertEqual(self.rows("A_host_device_legacy", "--from-signpost", "Measure")[0], list(range(posts[1], len(whole))))
        self.assertEqual(self.rows("A_host_device_legacy", "--to-signpost", "Measure")[0], list(range(posts[1])))
        self.assertEqual(self.rows("A_host_device_legacy", "--from-signpost", "Warm*", "--to-signpost", "Measure")[0], list(range(*posts)))

    def test_rows_of_a_device(self):
        for device in ("0", "1"):
            places, whole = self.rows("E_multi_device", "--device", device)
            self.assertEqual(places, [i for i, row in enumerate(whole) if row["DEVICE ID"] in (device, "")])

    def refused(self, name, *options):
        ran = subprocess.run([STROBE, "report", self.golden(name), "-o", self.folder / "out", *options], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        return ran.stderr

    def test_a_signpost_that_is_not_there_is_named(self):
        self.assertIn("'nowhere'", self.refused("A_host_device_legacy", "--from-signpost", "nowhere"))

    def test_a_report_of_the_device_alone_has_no_parts(self):
        self.assertIn("host's logs", self.refused("C_device_only", "--device", "0"))


if __name__ == "__main__":
    unittest.main()
