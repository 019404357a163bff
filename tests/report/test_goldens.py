#!/usr/bin/env python3
"""The reports of the synthetic runs equal upstream's byte for byte."""
import csv
import json
import unittest

from helper import HERE, ReportTest, rows_of, strobe


class Goldens(ReportTest):
    def same(self, name, *options):
        _, path = self.report(self.golden(name), *options)
        expected = (HERE / "golden" / name / "reports" / "ops_perf_results.csv").read_bytes()
        self.assertEqual(path.read_bytes(), expected, name)
        return path.parent

    def test_host_and_device(self):
        folder = self.same("A_host_device_legacy")
        log = self.golden("A_host_device_legacy") / ".logs" / "profile_log_device.csv"
        self.assertEqual((folder / "profile_log_device.csv").read_bytes(), log.read_bytes())

    def test_trace_replays(self):
        self.same("B_trace_replay_legacy")

    def test_device_only(self):
        folder = self.same("C_device_only")
        expected = HERE / "golden" / "C_device_only" / "reports" / "per_core_op_to_op_times.csv"
        self.assertEqual(rows_of(folder / "per_core_op_to_op_times.csv"), rows_of(expected))

    def test_perf_counters(self):
        self.same("D_perf_counters")

    def test_several_devices(self):
        self.same("E_multi_device")

    def test_cpp_report(self):
        self.same("F_trace_replay_cpp_report")

    def test_device_log_is_used_instead_of_the_cpp_report_on_request(self):
        _, path = self.report(self.golden("F_trace_replay_cpp_report"), "--force-legacy-device-logs")
        expected = HERE / "golden" / "B_trace_replay_legacy" / "reports" / "ops_perf_results.csv"
        self.assertEqual(path.read_bytes(), expected.read_bytes())

    def test_a_folder_of_logs_is_as_good_as_the_folder_above(self):
        root = self.golden("A_host_device_legacy")
        _, path = self.report(root / ".logs")
        expected = HERE / "golden" / "A_host_device_legacy" / "reports" / "ops_perf_results.csv"
        self.assertEqual(path.read_bytes(), expected.read_bytes())

    def test_device_statistics(self):
        data = self.folder / "data" / "synthetic" / "C_device_only"
        data.mkdir(parents=True)
        (self.folder / "work").mkdir()
        self.golden("C_device_only").rename(data / "moved")
        (data / "moved" / ".logs").rename(data / ".logs")
        log = "../data/synthetic/C_device_only/.logs/profile_log_device.csv"
        strobe("--device-stats", self.folder / "art", "-d", log, "-o", "out_c", "--no-artifacts",
               cwd=self.folder / "work")
        for name in ("device_stats.txt", "device_analysis_data.json"):
            made = (self.folder / "art" / "out_c" / name).read_bytes()
            self.assertEqual(made, (HERE / "golden" / "C_device_only" / name).read_bytes(), name)


class Options(ReportTest):
    def header(self, *options):
        _, path = self.report(self.golden("A_host_device_legacy"), *options)
        with open(path, newline="") as f:
            return next(csv.reader(f))

    def test_dated_folder_has_links_to_the_newest_report(self):
        root = self.golden("A_host_device_legacy")
        strobe(root, "-n", "run", "-q")
        found = list((root / "reports" / "run").glob("20*/ops_perf_results_run_20*.csv"))
        self.assertEqual(len(found), 1)
        link = root / "reports" / "run" / "ops_perf_results_run.csv"
        self.assertEqual(link.resolve(), found[0].resolve())

    def test_date_alone_makes_no_links(self):
        root = self.golden("A_host_device_legacy")
        strobe(root, "--date", "-q")
        self.assertFalse((root / "reports" / "ops_perf_results.csv").exists())
        self.assertEqual(len(list((root / "reports").glob("20*/ops_perf_results_20*.csv"))), 1)

    def test_capture_is_copied(self):
        root = self.golden("A_host_device_legacy")
        (root / ".logs" / "tracy_profile_log_host.tracy").write_bytes(b"capture")
        (root / "npe_viz").mkdir()
        (root / "npe_viz" / "one.json").write_text("{}")
        _, path = self.report(root)
        self.assertEqual((path.parent / "tracy_profile_log_host.tracy").read_bytes(), b"capture")
        self.assertTrue((path.parent / "npe_viz" / "one.json").exists())

    def test_older_names(self):
        header = self.header("--older-names")
        self.assertIn("COMPUTE KERNEL PATH", header)
        self.assertIn("DATAMOVEMENT KERNEL PATH", header)
        self.assertNotIn("COMPUTE KERNEL SOURCE", header)

    def test_one_analysis_leaves_the_others_empty(self):
        _, path = self.report(self.golden("A_host_device_legacy"), "-a", "device_fw_duration")
        row = rows_of(path)[1]
        self.assertEqual(row["DEVICE FW DURATION [ns]"], "5014")
        self.assertEqual(row["DEVICE KERNEL DURATION [ns]"], "")

    def test_unknown_analysis_is_refused(self):
        strobe(self.golden("A_host_device_legacy"), "-a", "nonsense", code=2)

    def test_signpost_keeps_its_colon_unless_compatible(self):
        root = self.golden("A_host_device_legacy")
        data = root / ".logs" / "tracy_ops_data.csv"
        data.write_text(data.read_text().replace("Warmup Start", "Stage: one"))
        _, path = self.report(root)
        self.assertEqual(rows_of(path)[0]["OP CODE"], "Stage: one")
        _, path = self.report(root, "--upstream-compatible")
        self.assertEqual(rows_of(path)[0]["OP CODE"], "one")

    def test_gaps_per_core_are_in_ns_unless_compatible(self):
        root = self.golden("C_device_only")
        log = root / ".logs" / "profile_log_device.csv"
        log.write_text(log.read_text().replace("CHIP_FREQ[MHz]: 1000", "CHIP_FREQ[MHz]: 500"))
        _, path = self.report(root)
        ns = rows_of(path.parent / "per_core_op_to_op_times.csv")[0]["1; 1 [ns]"]
        _, path = self.report(root, "--upstream-compatible")
        cycles = rows_of(path.parent / "per_core_op_to_op_times.csv")[0]["1; 1 [ns]"]
        self.assertEqual((ns, cycles), (str(17527 * 2 - 1500), "16027"))

    def test_noc_figures_are_joined(self):
        root = self.golden("B_trace_replay_legacy")
        (root / ".logs" / "npe_op_stats.csv").write_text(
            "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,NOC UTIL (%),MULTICAST NOC UTIL (%),"
            "DRAM BW UTIL (%),DRAM BW UTIL PER CTRL (%),ETH BW UTIL (%),NPE CONG IMPACT (%)\n"
            '1024,,,10.5,25.0,3.1,"0: 1.0, 1: 2.0",,0.25\n2048,4,2,7.0,,,,,\n')
        _, path = self.report(root)
        rows = rows_of(path)
        self.assertEqual(rows[0]["MULTICAST NOC UTIL (%)"], "25.0")
        self.assertEqual(rows[0]["DRAM BW UTIL PER CTRL (%)"], "0: 1.0; 1: 2.0")
        replay = [r for r in rows if r["GLOBAL CALL COUNT"] == "2048" and r["METAL TRACE REPLAY SESSION ID"] == "2"]
        self.assertEqual(replay[0]["NOC UTIL (%)"], "7.0")

    def test_mlir_messages_become_columns(self):
        root = self.golden("A_host_device_legacy")
        data = root / ".logs" / "tracy_ops_data.csv"
        lines = data.read_text().split("\n")
        lines.insert(1, "MLIR_OP_LOCATION;loc(\"a\");900\nMLIR_CONST_EVAL_OP;true;901")
        data.write_text("\n".join(lines))
        _, path = self.report(root, "--mlir")
        row = rows_of(path)[1]
        self.assertEqual((row["LOC"], row["CONST_EVAL_OP"], row["PROGRAM_METADATA"]), ('loc("a")', "true", "{}"))

    def test_markdown_and_text_end_with_the_coverage(self):
        root = self.golden("A_host_device_legacy")
        for options in ((), ("--md",), ("-q",)):
            out = strobe(root, "-o", self.folder / "o", "--no-date", *options)
            self.assertTrue(out.strip().split("\n")[-1].startswith("coverage: 4 of 4 host ops in 6 rows"), out)

    def test_json_has_what_the_terminal_shows(self):
        summary, _ = self.report(self.golden("A_host_device_legacy"))
        self.assertEqual([s["signpost"] for s in summary["sections"]], [None, "Warmup Start", "Measure"])
        self.assertEqual(summary["slowest"][0]["id"], 2048)
        self.assertEqual(summary["devices"][0]["ops"], 3)
        self.assertAlmostEqual(sum(i["share"] for i in summary["slowest"] if i["kernel_ns"]), 1.0, places=5)

    def test_folder_without_logs_fails_in_words(self):
        (self.folder / "empty").mkdir()
        strobe(self.folder / "empty", code=1)
        self.assertFalse((self.folder / "empty" / "reports").exists())

    def test_help(self):
        self.assertIn("usage: strobe report", strobe("--help"))
        self.assertIn("usage", strobe("--device-stats", "--help"))
        self.assertIn("usage", strobe("--compare", "--help"))


class OldLogs(ReportTest):
    """Logs of 13 and 12 columns give the same times as the newest form."""

    def convert(self, root, n_columns):
        log = root / ".logs" / "profile_log_device.csv"
        preamble, header, *lines = log.read_text().rstrip("\n").split("\n")
        out = [preamble.rsplit(",", 1)[0]]
        if n_columns == 13:
            cells = header.split(",")
            out.append(",".join(cells[:8] + [" " + c for c in cells[10:]]))
        else:
            out.append("PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                       "stat value, Run ID, zone name, zone phase, source line, source file")
        for line in lines:
            cells = line.split(",")
            cells = cells[:8] + cells[10:]
            if n_columns == 12:
                cells = cells[:12]
                cells[9] = {"ZONE_START": "begin", "ZONE_END": "end"}.get(cells[9], cells[9])
            out.append(",".join(cells))
        log.write_text("\n".join(out) + "\n")

    def check(self, n_columns, empty):
        root = self.golden("A_host_device_legacy")
        _, path = self.report(root)
        new = rows_of(path)
        self.convert(root, n_columns)
        summary, path = self.report(root)
        self.assertEqual(summary["faults"], [])
        for row in new:
            for column in empty:
                row[column] = ""
        self.assertEqual(rows_of(path), new)

    def test_13_columns(self):
        self.check(13, [])

    def test_replays_are_counted_where_there_is_no_trace_counter(self):
        root = self.golden("B_trace_replay_legacy")
        self.convert(root, 13)
        _, path = self.report(root)
        expected = HERE / "golden" / "B_trace_replay_legacy" / "reports" / "ops_perf_results.csv"
        self.assertEqual(path.read_bytes(), expected.read_bytes())

    def test_12_columns(self):
        self.check(12, ["SUB DEVICE ID"])


if __name__ == "__main__":
    unittest.main()
