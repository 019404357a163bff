#!/usr/bin/env python3
"""test_device_import.py TREE STROBE: `strobe import` of what a tt-metal run leaves: device logs of all forms, names by hash, ops by name, damage, order, and the host's capture on one
axis with the device. The real log is read from STROBE_SHARED, or from `shared` beside the tree; without it that part is skipped, which is said."""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE, STROBE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
del sys.argv[1:3]
sys.path.insert(0, str(TREE / "tests" / "viewer"))
from client import Page, Server  # noqa: E402

GOLDEN = TREE / "tests" / "report" / "golden"
REAL = pathlib.Path(os.environ.get("STROBE_SHARED", TREE.parent / "shared")) / "data" / "tt" / "device_log" / "profile_log_device_13col_excerpt.csv"
HEAD = "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, " \
       "trace id, trace id counter, zone name, type, source line, source file, meta data\n"
LOG = "profile_log_device.csv"


def row(time, kind, name="BRISC-FW", timer=34935, core=(1, 1), risc="BRISC", run=1024, data=0, meta=""):
    return f"0,{core[0]},{core[1]},{risc},{timer},{time},{data},{run},,,{name},{kind},{433 if name else 0},{'/fw/brisc.cc' if name else ''},{meta}\n"


class Import(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def run_strobe(self, *words, code=0):
        done = subprocess.run([STROBE, *map(str, words)], capture_output=True, text=True, check=False, timeout=280)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def imported(self, folder, code=0):
        """What was said, the trace's zones, its notes."""
        trace = self.folder / "out.strobe"
        said = self.run_strobe("import", "-f", "-o", trace, folder, code=code).stderr
        zones = list(csv.DictReader(io.StringIO(self.run_strobe("csv", trace).stdout)))
        return said, zones, self.run_strobe("info", trace).stdout

    def golden(self, name):
        root = self.folder / name
        shutil.copytree(GOLDEN / name / "logs", root / ".logs")
        return root

    def write(self, text, name=LOG):
        root = self.folder / "run"
        root.mkdir(exist_ok=True)
        (root / name).write_text(text)
        return root

    def test_lines_that_are_set_aside_are_losses(self):
        _, zones, info = self.imported(self.write(HEAD + row(10, "ZONE_END") + row(20, "ZONE_END")))
        self.assertEqual(zones, [])
        self.assertIn("coverage: 0.00 % (2 emitted = 0 stored + 2 dropped)", info)

    # ---- forms ----

    @unittest.skipUnless(REAL.exists(), f"no real log at {REAL}")
    def test_real_log_of_13_columns(self):
        said, zones, info = self.imported(self.write(REAL.read_text()))
        names = [zone["name"] for zone in zones]
        self.assertIn("BRISC-FW", names)  # hash 22845
        self.assertIn("BRISC-KERNEL", names)  # hash 21766
        self.assertNotIn("set aside", said)
        self.assertIn("Device 0: wormhole_b0", info)

    @unittest.skipUnless(REAL.exists(), f"no real log at {REAL}")
    def test_hashes_of_a_real_log_are_named_by_source_locations(self):
        lines = REAL.read_text().split("\n")
        cells = [line.split(",") for line in lines[2:] if line]
        sites = sorted({f"{c[8]},{c[11]},{c[10]},KERNEL_PROFILER" for c in cells if c[8]})
        root = self.write("".join(f"x.cc:1: note: '#pragma message: {site}'\n" for site in sites), "zone_src_locations.log")
        self.write("\n".join(lines[:2] + [",".join(c[:8] + ["", c[9], "0", "", ""]) for c in cells]) + "\n")
        _, zones, _ = self.imported(root)
        named = {zone["name"] for zone in zones}
        self.assertLessEqual({"BRISC-FW", "BRISC-KERNEL"}, named)
        self.assertFalse([name for name in named if name.startswith("zone ")])

    def test_15_columns_with_op_names(self):
        said, zones, _ = self.imported(self.golden("A_host_device_legacy"))
        self.assertEqual(len([z for z in zones if z["name"] == "BRISC-FW"]), 8)
        self.assertEqual(len({z["thread"] for z in zones}), 15)
        self.assertIn("3 of 3 ops by name", said)
        op = [z for z in zones if z["name"] == "BRISC-FW" and z["thread"].endswith("core 1,1 BRISC")]
        self.assertEqual([z["text"] for z in op], ["MatmulDeviceOperation", "MatmulDeviceOperation", "BinaryNgDeviceOperation"])
        self.assertEqual([int(z["duration_ns"]) for z in op], [5000, 5000, 5000])
        self.assertEqual(int(op[1]["start_ns"]) - int(op[0]["start_ns"]), 20000)

    def test_a_logs_folder_and_the_log_itself_are_as_good_as_the_folder_above(self):
        root = self.golden("A_host_device_legacy")
        expected = self.imported(root)[1]
        self.assertEqual(self.imported(root / ".logs")[1], expected)
        self.assertEqual(self.imported(root / ".logs" / LOG)[1], expected)

    def test_several_devices(self):
        _, zones, info = self.imported(self.golden("E_multi_device"))
        self.assertEqual({z["process"] for z in zones}, {"Device 0: wormhole_b0", "Device 1: wormhole_b0"})
        self.assertIn("device 1: no samples of its clock", info)

    def test_cycles_of_another_frequency_become_its_ns(self):
        _, zones, _ = self.imported(self.golden("B_trace_replay_legacy"))
        op = [z for z in zones if z["name"] == "BRISC-FW" and z["thread"].endswith("core 1,2 BRISC")]
        self.assertEqual(len(op), 6)
        for zone in op:
            self.assertAlmostEqual(int(zone["duration_ns"]), 5000 / 1.35, delta=1)  # each end is rounded down
        self.assertIn("trace 4, replay 2", [z["text"].split(", ", 1)[-1] for z in op])

    def test_counters_and_data_are_marks_with_values(self):
        _, zones, _ = self.imported(self.golden("D_perf_counters"))
        counts = [z for z in zones if z["name"] == "FPU_COUNTER"]
        self.assertEqual(sorted(int(z["value"]) for z in counts), [500, 600, 700])

    def test_12_columns(self):
        root = self.write("Chip clock is at 1200 MHz\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, Run ID, zone name, zone phase, source line, source file\n"
                          "0,1,1,BRISC,100,1200,0,1024,BRISC-FW,begin,1,/a.cc\n0,1,1,BRISC,65636,3600,0,1024,BRISC-FW,end,1,/a.cc\n")
        _, zones, info = self.imported(root)
        self.assertEqual([z["name"] for z in zones], ["BRISC-FW"])
        self.assertAlmostEqual(int(zones[0]["duration_ns"]), 2400 / 1.2, delta=1)
        self.assertIn("Device 0: grayskull", info)

    def test_the_viewer_shows_a_runs_folder(self):
        root = self.golden("C_device_only")
        with Server(STROBE, str(root)) as server:
            self.assertIn(LOG, json.loads(server.request("/traces")[2]))
            with Page(server, trace=LOG) as page:
                self.assertEqual(page.ask("trace")["totals"]["zones"], len(self.imported(root)[1]))

    # ---- damage, order ----

    def test_what_makes_no_sense_is_set_aside_and_counted(self):
        good = row(1000, "ZONE_START") + row(2000, "ZONE_END")
        said, zones, info = self.imported(self.write(
            HEAD + good + "0,1,1,BRISC,34935,30\n" + "garbage\n" + "0,1,x,BRISC,34935,3000,0,1024,,,BRISC-FW,ZONE_START,433,/fw/brisc.cc,\n" + row(2500, "ZONE_END") + row(3000, "ZONE_START") +
            row(4000, "ZONE_END")[:20]))
        self.assertEqual([(z["name"], z["state"]) for z in zones], [("BRISC-FW", "ended"), ("BRISC-FW", "open")])
        self.assertIn("set aside: 5 lines", said)
        for why in ("lines of the log were set aside: they are cut", "lines of the log were set aside: a number is expected", "1 ends without a begin were set aside", "1 zones without an end stay open"):
            self.assertIn(why, info)

    def test_a_file_without_a_marker_is_refused(self):
        root = self.write(HEAD + "nothing,here\n")
        said = self.run_strobe("import", "-o", self.folder / "out.strobe", root, code=1).stderr
        self.assertIn("not one line of it is a marker", said)
        self.assertFalse((self.folder / "out.strobe").exists())

    def test_a_folder_without_a_log_is_refused(self):
        said = self.run_strobe("import", self.folder, code=1).stderr
        self.assertIn("a folder without a profile_log_device.csv", said)

    def test_a_log_in_no_order_gives_the_same_trace(self):
        root = self.golden("A_host_device_legacy")
        expected = self.imported(root)[1]
        log = root / ".logs" / LOG
        lines = log.read_text().split("\n")
        log.write_text("\n".join(lines[:2] + sorted(lines[2:-1], key=lambda line: line[::-1])) + "\n")
        in_order = lambda zones: sorted(({**z, "tid": ""} for z in zones), key=lambda z: (z["thread"], int(z["start_ns"]), z["depth"]))  # noqa: E731
        self.assertEqual(in_order(self.imported(root)[1]), in_order(expected))

    # ---- the host's capture ----

    def capture(self, root, ops):
        """A .tracy with a host zone per op: (id, start in us)."""
        source = self.folder / "host.json"
        source.write_text(json.dumps([{"name": "TT_DNN_DEVICE_OP", "ph": "X", "ts": us, "dur": 100, "pid": 7, "tid": 7, "args": {"text": f"id:{op}"}} for op, us in ops]))
        host = self.folder / "host.strobe"
        self.run_strobe("import", "-f", "-o", host, source)
        self.run_strobe("export", "--to", "tracy", "-o", root / "tracy_profile_log_host.tracy", host)

    def two_ops(self):
        return self.write(HEAD + "".join(row(t, "ZONE_START", run=run) + row(t + 1000, "ZONE_END", run=run) for t, run in ((5000000, 1024), (5500000, 2048))))

    def test_samples_put_the_device_on_the_hosts_axis(self):
        root = self.two_ops()
        self.capture(root, [(1024, 1000), (2048, 1500)])
        # device = delay + frequency * ratio * host: host 0 is 300 us behind the capture's start, and cycle 4,200,000 there
        self.write("device id,core_x, core_y,device,host_tracy,host_real,write_overhead,host_start,delay,frequency,tracy_ratio,tracy_base_time,device_frequency_ratio,device_shift\n" +
                   "".join(f"    0,    1,    1,{4200000 + host * 0.5},{host},{host * 0.5},40,900000600000,4200000.00,1.0,0.5,900000000000,1.0,0\n" for host in (0, 1000, 2000)), "sync_device_info.csv")
        said, zones, _ = self.imported(root)
        self.assertIn("by sync_device_info.csv, within 11 ns", said)
        host = {z["text"]: int(z["start_ns"]) for z in zones if z["name"] == "TT_DNN_DEVICE_OP"}
        device = [int(z["start_ns"]) for z in zones if z["name"] == "BRISC-FW"]
        self.assertEqual(len(host), 2)
        self.assertEqual(device[0] - min(host.values()), 300000 + 800000 - 1000000)
        self.assertEqual(device[1] - device[0], 500000)

    def test_without_samples_ops_align_it_and_that_is_said(self):
        root = self.two_ops()
        self.capture(root, [(1024, 1000), (2048, 1700)])
        said, zones, info = self.imported(root)
        host = sorted(int(z["start_ns"]) for z in zones if z["name"] == "TT_DNN_DEVICE_OP")
        device = sorted(int(z["start_ns"]) for z in zones if z["name"] == "BRISC-FW")
        self.assertEqual(device[1], host[1])  # the second was launched later than the first's place would allow
        self.assertGreaterEqual(device[0], host[0])
        self.assertIn("aligned by its ops, give or take 1.000 ms", said)
        self.assertIn("it is aligned by its ops", info)

    def test_a_damaged_capture_leaves_the_device(self):
        root = self.two_ops()
        self.write("no capture", "tracy_profile_log_host.tracy")
        said, zones, info = self.imported(root, code=1)
        self.assertEqual([z["name"] for z in zones], ["BRISC-FW", "BRISC-FW"])
        self.assertIn("tracy_profile_log_host.tracy", said)
        self.assertIn("the host's capture could not be read whole", info)


if __name__ == "__main__":
    unittest.main(verbosity=2)
