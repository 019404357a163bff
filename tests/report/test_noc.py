#!/usr/bin/env python3
"""NoC figures of noc_trace files: bytes, hops, use of the links, waiting. All numbers are counted by hand."""
import json
import unittest

from helper import ReportTest, rows_of, strobe

LOG = """ARCH: sim, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data
"""
WIDTH = 64  # bytes of a link per cycle, of the simulator


def zones(x, y, start, end, run):
    return "".join(f"0,{x},{y},BRISC,{timer},{time},0,{run},,,{name},{kind},1,/fw,\n"
                   for timer, name, kind, time in ((1, "BRISC-FW", "ZONE_START", start), (2, "BRISC-KERNEL", "ZONE_START", start + 1),
                                                   (2, "BRISC-KERNEL", "ZONE_END", end - 1), (1, "BRISC-FW", "ZONE_END", end)))


def event(kind, time, source, target, n_bytes, noc=0, proc="BRISC", **more):
    entry = {"run_host_id": 1024, "op_name": "x", "proc": proc, "noc": f"NOC_{noc}", "vc": -1, "src_device_id": 0, "sx": source[0],
             "sy": source[1], "num_bytes": n_bytes, "type": kind, "timestamp": time}
    if target:
        entry.update(dx=target[0], dy=target[1])
    return {**entry, **more}


def zone(time, phase):
    return {"run_host_id": 1024, "proc": "BRISC", "zone": "BRISC-KERNEL", "zone_phase": phase, "sx": 0, "sy": 0, "timestamp": time}


class Noc(ReportTest):
    def figures(self, entries, name="noc_trace_dev0_x_ID1024.json", text=None):
        """The figures of one op on a grid of 4 x 4 that runs for 1000 cycles."""
        logs = self.folder / "run" / ".logs"
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "profile_log_device.csv").write_text(LOG + zones(0, 0, 1000, 2000, 1024) + zones(3, 3, 1000, 2000, 1024))
        (logs / name).write_text(json.dumps([zone(1000, "ZONE_START"), *entries, zone(2000, "ZONE_END")], indent=2) if text is None else text)
        strobe(logs.parent, "--no-date")
        row, = rows_of(logs.parent / "reports" / "ops_perf_results.csv")
        return [float(row[name]) for name in ("NOC TRANSFERS", "NOC BYTES", "NOC AVG HOPS", "NOC LINK UTIL AVG (%)", "NOC LINK UTIL MAX (%)",
                                              "NOC CONGESTION (%)")]

    def test_a_write_goes_right_then_down_and_wraps(self):
        # 64000 bytes take a link for 1000 cycles, which is all of the run; of 64 links 5 are taken: (3,0) wraps to 0, 1; then down 3
        self.assertEqual(self.figures([event("WRITE_", 1000, (3, 0), (1, 3), 64 * 1000)]), [1, 64000, 5, round(100 * 5 / 64, 3), 100, 0])

    def test_the_other_noc_goes_up_then_left(self):
        # from (3, 0) up: wraps to 3 in one step; then two to the left
        self.assertEqual(self.figures([event("WRITE_", 1000, (3, 0), (1, 3), 64 * 1000, noc=1)])[2:4], [3, round(100 * 3 / 64, 3)])

    def test_a_read_takes_its_way_from_the_far_end(self):
        # bytes go from (1, 3) to (3, 0): two to the right, one down, with a wrap
        self.assertEqual(self.figures([event("READ", 1000, (3, 0), (1, 3), 64)])[2], 3)

    def test_transfers_wait_for_a_link_that_another_uses(self):
        # both go from (0, 0) to (1, 0) at once, for 100 cycles each: the second waits 100 of 300; the third has a link of its own
        taken = [event("WRITE_", 1000, (0, 0), (1, 0), 6400), event("WRITE_", 1000, (0, 0), (1, 0), 6400, proc="NCRISC")]
        self.assertEqual(self.figures(taken)[-1], 33.33)
        self.assertEqual(self.figures([taken[0], event("WRITE_", 1000, (0, 1), (1, 1), 6400)])[-1], 0)
        self.assertEqual(self.figures([taken[0], event("WRITE_", 1100, (0, 0), (1, 0), 6400)])[-1], 0)

    def test_a_multicast_takes_each_link_once(self):
        # to the rectangle (1,0)..(2,1): right 2 in the first row, down 1 in both columns
        cast = event("WRITE_MULTICAST", 1000, (0, 0), None, 64, mcast_start_x=1, mcast_start_y=0, mcast_end_x=2, mcast_end_y=1)
        self.assertEqual(self.figures([cast])[:3], [1, 64, 4])

    def test_a_transfer_with_state_goes_where_that_was_set(self):
        found = self.figures([event("READ_SET_STATE", 1000, (1, 0), (0, 0), 0), event("READ_WITH_STATE", 1010, (1, 0), None, 128),
                              event("READ_WITH_STATE", 1020, (2, 0), None, 128)])  # another core: where it goes is not known
        self.assertEqual(found[:3], [1, 128, 1])

    def test_what_moves_nothing_is_no_transfer(self):
        found = self.figures([event(kind, 1000, (0, 0), (1, 0), 64) for kind in ("READ_BARRIER_START", "WRITE_FLUSH", "SEMAPHORE_WAIT", "FULL_BARRIER")])
        self.assertEqual(found, [0, 0, 0, 0, 0, 0])

    def test_files_of_older_runs_are_read(self):
        text = ('[ { "proc":"BRISC" , "zone":"BRISC-KERNEL", "zone_phase":"begin", "sx":1 , "sy":1 , "timestamp" : 1000 }\n'
                ',{ "proc":"BRISC", "noc":"NOC_0", "vc":-1, "sx":0 , "sy":0 , "dx":2 , "dy":0 , "num_bytes":640 , "type":"WRITE_", "timestamp":1000, '
                '"kernel_start_delta":188 } ]')
        self.assertEqual(self.figures([], text=text)[:3], [1, 640, 2])

    def test_a_cut_file_counts_as_far_as_it_goes_and_is_named(self):
        text = json.dumps([event("WRITE_", 1000, (0, 0), (1, 0), 64)], indent=2)[:-2] + ', {"sx": 1, '
        self.assertEqual(self.figures([], text=text)[:3], [1, 64, 1])
        out = strobe(self.folder / "run", "--no-date", "--strict", code=3)
        self.assertIn("bad-noc-trace (1)", out)

    def test_runs_of_one_program_have_their_own(self):
        logs = self.folder / "run" / ".logs"
        logs.mkdir(parents=True)
        (logs / "profile_log_device.csv").write_text(LOG + zones(0, 0, 1000, 2000, 1024) + zones(0, 0, 3000, 4000, 1024))
        for name, n_bytes in (("noc_trace_dev0_x_ID1024.json", 64), ("noc_trace_dev0_x_ID1024_run1.json", 128)):
            (logs / name).write_text(json.dumps([event("WRITE_", 1000, (0, 0), (1, 0), n_bytes)]))
        strobe(logs.parent, "--no-date")
        self.assertEqual([row["NOC BYTES"] for row in rows_of(logs.parent / "reports" / "ops_perf_results.csv")], ["64", "128"])
        self.assertEqual([(row["RUN"], row["NOC BYTES"]) for row in rows_of(logs.parent / "reports" / "noc_op_stats.csv")], [("0", "64"), ("1", "128")])


def word(kind, x, y, pieces, layout, noc=0, posted=0):
    """The 64 bits of a transfer, as kernels of each time wrote them."""
    if layout == "oldest":
        parts = [x, y, 0xff, 0xff, 0xf0 | noc + 1, pieces, kind, 0]
    elif layout == "8 bits":
        parts = [kind, x, y, 0xff, 0xff, 0xf0 | noc + 1, pieces, posted]
    else:
        parts = [kind, x, y, 0xff, 0xff, 0xf0 | noc + 1, pieces & 0xff, pieces >> 8 | posted << 4]
    return int.from_bytes(bytes(parts), "little")


class DeviceLog(ReportTest):
    """Without noc_trace files the log's own rows count, in each of their three layouts."""

    def figures(self, words, n_runs=1):
        logs = self.folder / "run" / ".logs"
        logs.mkdir(parents=True, exist_ok=True)
        text = LOG + "".join(zones(0, 0, 1000 + 2000 * i, 2000 + 2000 * i, 1024) for i in range(n_runs))
        text += "".join(f"0,0,0,BRISC,12345,{1100 + at},{data},1024,,,,TS_DATA,0,,\n" for at, data in enumerate(words))
        (logs / "profile_log_device.csv").write_text(text + zones(3, 3, 1000, 2000, 1024) * (n_runs == 1))
        strobe(logs.parent, "--no-date")
        return [[row.get(name) for name in ("NOC TRANSFERS", "NOC BYTES", "NOC AVG HOPS")] for row in rows_of(logs.parent / "reports" / "ops_perf_results.csv")]

    def test_each_layout_is_recognised(self):
        # a write of 64 bytes to (2, 1): 3 links; a read of 128 from (1, 0): 3 links back to (0, 0) on a torus of 4
        for layout in ("oldest", "8 bits", "12 bits"):
            extra = [word(11, 1, 0, 300, layout, posted=1)] if layout == "12 bits" else []  # more than 8 bits hold
            found, = self.figures([word(11, 2, 1, 2, layout), word(1, 1, 0, 4, layout), *extra])
            self.assertEqual(found, [str(2 + len(extra)), str(192 + 9600 * len(extra)), "3.00" if not extra else "2.33"], layout)

    def test_a_program_that_ran_twice_has_no_figures_of_which_run_is_not_known(self):
        self.assertEqual(self.figures([word(11, 2, 1, 2, "12 bits")], n_runs=2), [[None] * 3] * 2)


if __name__ == "__main__":
    unittest.main()
