#!/usr/bin/env python3
"""Real op reports have the same columns in the same order as ours. Their folder is not ours to copy:
$STROBE_TT_DATA names it (with ops_csv/ and device_log/ in it); skipped where it is absent."""
import csv
import os
import pathlib
import shutil
import sys
import unittest

from helper import ReportTest, rows_of

DATA = pathlib.Path(os.environ.get("STROBE_TT_DATA", "/nonexistent"))
OLDER = ("MAX KERNEL SIZE", "_W", "_Z", "_Y", "_X")


class RealReports(ReportTest):
    def test_columns_of_real_reports_come_in_our_order(self):
        _, path = self.report(self.golden("A_host_device_legacy"))
        with open(path, newline="") as f:
            ours = next(csv.reader(f))
        for real in sorted((DATA / "ops_csv").glob("*.csv")):
            with open(real, newline="") as f:
                theirs = next(csv.reader(f))
            common = [c for c in theirs if c in ours]
            self.assertEqual(common, [c for c in ours if c in common], real.name)
            unknown = [c for c in theirs if c not in ours and not c.startswith(("INPUT_", "OUTPUT_"))
                       and not c.endswith(("_TT_HOST_FUNC [ns]", "MAX KERNEL SIZE [B]")) and "util" not in c.lower()]
            self.assertEqual(unknown, [], real.name)

    def test_real_old_device_log_is_read_whole(self):
        root = self.folder / "old"
        (root / ".logs").mkdir(parents=True)
        shutil.copy(DATA / "device_log" / "profile_log_device_13col_excerpt.csv",
                    root / ".logs" / "profile_log_device.csv")
        summary, path = self.report(root)
        self.assertEqual(summary["coverage"]["log_lines_set_aside"], 0)
        self.assertTrue(rows_of(path))


if __name__ == "__main__":
    if not (DATA / "ops_csv").is_dir():
        print("skipped: STROBE_TT_DATA does not name a folder with real tt-metal data")
        sys.exit(77)
    unittest.main()
