#!/usr/bin/env python3
"""The tables of performance counters that `strobe report` prints: numbers of a run that was worked out by hand."""
import unittest

from helper import ReportTest, strobe
from test_noc import LOG, zones

VALUES = {1024: {(0, 0): 100, (3, 3): 300}, 2048: {(0, 0): 500, (3, 3): 500}}  # FPU_COUNTER by op and core; of 1000 cycles


class Tables(ReportTest):
    def run_folder(self):
        logs = self.folder / "run" / ".logs"
        logs.mkdir(parents=True, exist_ok=True)
        text = LOG
        for x, y in ((0, 0), (3, 3)):
            for run, start in ((1024, 1000), (2048, 3000)):
                text += zones(x, y, start, start + 1000, run)
                text += (f'0,{x},{y},BRISC,9090,{start + 990},0,{run},,,,TS_DATA,0,,'
                         f'{{"counter type":"FPU_COUNTER";"ref cnt":1000;"value":{VALUES[run][x, y]}}}\n')
        (logs / "profile_log_device.csv").write_text(text)
        return logs.parent

    def tables(self, *options):
        """{title: {name: its numbers}}."""
        found, title = {}, None
        for line in strobe(self.run_folder(), "--no-date", *options).splitlines():
            if " - DEVICE 0" in line:
                title = line
                found[title] = {}
            elif title and len(line.split()) > 5 and "Median" not in line:
                found[title][line[:40].strip()] = [float(number) for number in line[40:].split()]
            elif title and "ops with counters" in line:
                title = None
        return found

    def test_counters_metrics_and_shares_of_all_ops(self):
        found = self.tables()
        # ops, the least, the median of the medians 200 and 500, the greatest, the mean of the means 200 and 500
        self.assertEqual(found["PERFORMANCE COUNTER STATISTICS - DEVICE 0"], {"FPU_COUNTER": [2, 100, 350, 500, 350]})
        self.assertEqual(found["COUNTER UTILIZATION (%) - DEVICE 0"], {"FPU_COUNTER": [2, 10, 35, 50, 35]})
        self.assertEqual(found["EFFICIENCY METRICS SUMMARY - DEVICE 0"]["FPU Util (%)"], [2, 10, 35, 50, 35])

    def test_they_are_left_out_where_little_is_wanted(self):
        self.assertEqual(self.tables("--quiet"), {})
        self.assertEqual(self.tables("-a", "device_fw_duration"), {})


if __name__ == "__main__":
    unittest.main()
