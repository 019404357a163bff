#!/usr/bin/env python3
"""Every fault that logs can have, planted one at a time and all together in a run of 50 ops.

Each time there are 50 rows, the cells that the fault makes unknown are empty and all others are as in
the sound report, the fault is named with its place, the coverage is exact, and the exit code is 0;
with --strict it is 3.
"""
import os
import random
import re
import subprocess
import sys
import unittest

import gen_run
from helper import STROBE, ReportTest, rows_of, strobe

N_OPS = 50
DEVICE_CELLS = re.compile(r"^(DEVICE (?!ID|ARCH)|OP TO OP|CORE COUNT|SUB DEVICE|PM FPU UTIL|DISPATCH)")
HOST_CELLS = re.compile(r"^HOST ")
KNOWN_OF_FIRST_LINE = {"OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "PROGRAM HASH", "PROGRAM CACHE HIT"}


def peak_kib(*arguments):
    """Peak memory of a report. From a small process: a child starts with its parent's peak. A sanitizer keeps what was freed."""
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    env = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"}
    return int(subprocess.check_output([sys.executable, "-c", code, STROBE, "report", *map(str, arguments)], env=env))


def op_of(number):
    return number << 10


class Logs:
    """The three logs as lists of records that can be damaged."""

    def __init__(self, root):
        self.folder = root / ".logs"
        self.device = (self.folder / "profile_log_device.csv").read_text().split("\n")[:-1]
        self.times = (self.folder / "tracy_ops_times.csv").read_text().split("\n")[:-1]
        text = (self.folder / "tracy_ops_data.csv").read_text()
        self.messages = re.findall(r"`[^`]*`;\d+", text)
        self.cut_messages = False

    def write(self):
        (self.folder / "profile_log_device.csv").write_text("\n".join(self.device) + "\n")
        (self.folder / "tracy_ops_times.csv").write_text("\n".join(self.times) + "\n")
        (self.folder / "tracy_ops_data.csv").write_text("MessageName;total_ns\n" + "\n".join(self.messages) + "\n")

    def message_of(self, op):
        return next(i for i, m in enumerate(self.messages) if re.match(rf"`TT_DNN_DEVICE_OP: [^`\n]*, {op}\b", m))

    def zone_of(self, op):
        return next(i for i, line in enumerate(self.times) if f'"id:{op}"' in line)

    def find(self, op, zone, kind, nth=0):
        found = [i for i, line in enumerate(self.device) if f",{op},,,{zone},{kind}," in line]
        return found[nth]


# Each fault: damages the logs; returns {fault word: count}, {op: cells it makes unknown or different}.

def op_without_device_rows(logs):
    logs.device = [line for line in logs.device if f",{op_of(7)},,," not in line]
    return {"op-without-device-rows": 1}, {op_of(7): "device", op_of(8): "latency"}


def device_rows_without_an_op(logs):
    extra = [line.replace(f",{op_of(50)},,,", f",{op_of(60)},,,") for line in logs.device if f",{op_of(50)},,," in line]
    shift = 10 ** 9
    for i, line in enumerate(extra):
        cells = line.split(",")
        cells[5] = str(int(cells[5]) + shift)
        extra[i] = ",".join(cells)
    by_series = {}
    for line in extra:
        by_series.setdefault(",".join(line.split(",")[:4]), []).append(line)
    out = []
    for i, line in enumerate(logs.device):
        out.append(line)
        series = ",".join(line.split(",")[:4])
        following = ",".join(logs.device[i + 1].split(",")[:4]) if i + 1 < len(logs.device) else ""
        if series != following:
            out += by_series.pop(series, [])
    logs.device = out
    return {"device-rows-without-op": 1}, {}


def lost_end_marker(logs):
    del logs.device[logs.find(op_of(10), "NCRISC-KERNEL", "ZONE_END")]
    return {"orphan-start": 1}, {op_of(10): "some device", op_of(11): "latency"}


def lost_start_marker(logs):
    del logs.device[logs.find(op_of(13), "NCRISC-KERNEL", "ZONE_START")]
    return {"orphan-end": 1}, {op_of(13): "some device", op_of(14): "latency"}


def lost_end_of_an_op(logs):
    del logs.device[logs.find(op_of(16), "BRISC-FW", "ZONE_END")]
    return {"orphan-start": 1}, {op_of(16): "some device"}


def cut_device_line(logs):
    i = logs.find(op_of(19), "USER-A", "ZONE_START")
    logs.device[i] = logs.device[i][:25]
    return {"cut-line": 1, "orphan-end": 1}, {}


def cut_end_of_the_device_log(logs):
    logs.device[-1] = logs.device[-1][:len(logs.device[-1]) // 2]
    last = int(logs.device[-2].split(",")[7])
    return {"cut-line": 1, "orphan-start": 1}, {last: "some device"}


def number_that_is_none(logs):
    i = logs.find(op_of(20), "USER-B", "ZONE_END")
    cells = logs.device[i].split(",")
    cells[5] = "12x4"
    logs.device[i] = ",".join(cells)
    return {"bad-cell": 1, "orphan-start": 1}, {}


def cut_host_zone(logs):
    i = logs.zone_of(op_of(22))
    logs.times[i] = logs.times[i][:40]
    return {"cut-line": 1, "lost-host-zone": 1}, {op_of(22): "host"}


def cut_message(logs):
    i = logs.message_of(op_of(24))
    logs.messages[i] = logs.messages[i].rsplit(";", 1)[0]
    return {"cut-line": 1}, {}


def bad_json(logs):
    """The JSON of an op that no other op refers to."""
    kinds = {}
    for i, m in enumerate(logs.messages):
        kinds.setdefault(re.search(r", (\d{10,}),", m).group(1), []).append(i)
    alone = next(v[0] for v in kinds.values() if len(v) == 1)
    logs.messages[alone] = logs.messages[alone].replace('"attributes"', '"attributes', 1)
    op = int(re.search(r", (\d+) ->", logs.messages[alone]).group(1))
    return {"bad-json": 1}, {op: "description"}


def cached_before_full(logs):
    kinds = {}
    for i, m in enumerate(logs.messages):
        kinds.setdefault(re.search(r", (\d{10,}),", m).group(1), []).append(i)
    first, second = next(v[:2] for v in kinds.values() if len(v) > 2)
    ids = [int(re.search(r", (\d+)( ->|`)", logs.messages[i]).group(1)) for i in (first, second)]
    n_between = second - first
    logs.messages[first], logs.messages[second] = logs.messages[second], logs.messages[first]
    return {"cached-before-full": 1, "id-order": n_between}, {}


def cached_without_full(logs):
    kinds = {}
    for i, m in enumerate(logs.messages):
        kinds.setdefault(re.search(r", (\d{10,}),", m).group(1), []).append(i)
    first, second = next(v for v in kinds.values() if len(v) == 2)
    lost = int(re.search(r", (\d+) ->", logs.messages[first]).group(1))
    other = int(re.search(r", (\d+)`", logs.messages[second]).group(1))
    del logs.messages[first]
    return {"cached-without-full": 1, "lost-message": 1}, {lost: "all of the description", other: "description"}


def lost_host_zone(logs):
    del logs.times[logs.zone_of(op_of(28))]
    return {"lost-host-zone": 1}, {op_of(28): "host"}


def ids_out_of_order(logs):
    i = logs.message_of(op_of(32))
    logs.messages[i], logs.messages[i + 1] = logs.messages[i + 1], logs.messages[i]
    return {"id-order": 1}, {}


def two_zones_with_one_hash(logs):
    i = next(i for i, line in enumerate(logs.device) if ",USER-A,ZONE_START," in line)
    hash_a = logs.device[i].split(",")[4]
    for i, line in enumerate(logs.device):
        if ",USER-B," in line:
            cells = line.split(",")
            cells[4] = hash_a
            logs.device[i] = ",".join(cells)
    return {"zone-hash": 1}, {}


def two_host_zones_with_one_id(logs):
    i = logs.zone_of(op_of(35))
    logs.times.insert(i, logs.times[i])
    return {"double-host-zone": 1}, {}


FAULTS = [op_without_device_rows, device_rows_without_an_op, lost_end_marker, lost_start_marker, lost_end_of_an_op,
          cut_device_line, cut_end_of_the_device_log, number_that_is_none, cut_host_zone, cut_message, bad_json,
          cached_before_full, cached_without_full, lost_host_zone, ids_out_of_order, two_zones_with_one_hash,
          two_host_zones_with_one_id]


class Faults(ReportTest):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "run"
        gen_run.main([str(self.root), "--ops", str(N_OPS), "--cores", "4", "--user", "--sub", "--seed", "11",
                      "--kinds", "30"])
        _, path = self.report(self.root)
        self.sound = {int(r["GLOBAL CALL COUNT"]): r for r in rows_of(path)}
        self.logs = Logs(self.root)

    def cells_may_differ(self, what, column):
        if what == "device":
            return bool(DEVICE_CELLS.match(column))
        if what == "some device":
            return bool(DEVICE_CELLS.match(column))
        if what == "latency":
            return column.startswith("OP TO OP")
        if what == "host":
            return bool(HOST_CELLS.match(column))
        if what == "description":
            return not (DEVICE_CELLS.match(column) or HOST_CELLS.match(column) or column in KNOWN_OF_FIRST_LINE
                        ) or column == "PM FPU UTIL (%)"
        if what == "all of the description":
            return not (DEVICE_CELLS.match(column) or HOST_CELLS.match(column)
                        or column in ("GLOBAL CALL COUNT", "DEVICE ID")) or column == "PM FPU UTIL (%)"
        return False

    def must_be_empty(self, what, column):
        if what in ("device", "host", "all of the description", "description"):
            return self.cells_may_differ(what, column)
        return False

    def check_rows(self, path, changed):
        rows = rows_of(path)
        self.assertEqual(len(rows), N_OPS)
        self.assertEqual({int(r["GLOBAL CALL COUNT"]) for r in rows}, set(self.sound))
        for row in rows:
            op = int(row["GLOBAL CALL COUNT"])
            kinds = changed.get(op, ())
            for column, value in row.items():
                if column.endswith("_TT_HOST_FUNC [ns]"):
                    continue
                if any(self.must_be_empty(k, column) for k in kinds):
                    self.assertEqual(value, "", (op, column))
                elif not any(self.cells_may_differ(k, column) for k in kinds):
                    self.assertEqual(value, self.sound[op].get(column, ""), (op, column))

    def plant(self, faults):
        expected, changed = {}, {}
        for fault in faults:
            counts, ops = fault(self.logs)
            for word, n in counts.items():
                expected[word] = expected.get(word, 0) + n
            for op, what in ops.items():
                changed.setdefault(op, []).append(what)
        self.logs.write()
        return expected, changed

    def check_places(self, summary):
        for fault in summary["faults"]:
            self.assertTrue(fault["file"])
            self.assertTrue(fault["line"] > 0 or fault["kind"].startswith("no-"), fault)

    def test_each_alone(self):
        sound = Logs(self.root)
        for fault in FAULTS:
            with self.subTest(fault.__name__):
                sound.write()
                self.logs = Logs(self.root)
                expected, changed = self.plant([fault])
                summary, path = self.report(self.root)
                self.assertEqual(summary["fault_counts"], expected)
                self.check_places(summary)
                self.check_rows(path, changed)
                coverage = summary["coverage"]
                self.assertEqual((coverage["host_ops"], coverage["rows"]), (N_OPS, N_OPS))
                self.assertEqual(coverage["faults"], sum(expected.values()))
                lost = sum("device" in what for what in changed.values())
                self.assertEqual(coverage["device_ops_with_data"], N_OPS - lost)
                self.assertEqual(coverage["host_ops_timed"], N_OPS - sum("host" in w for w in changed.values()))
                listed = strobe(self.root, "-o", self.folder / "out", "--no-date", "--strict", code=3)
                for word in expected:
                    self.assertIn(word, listed)

    def test_all_together(self):
        expected, changed = self.plant(sorted(FAULTS, key=lambda f: not f.__name__.startswith("cached")))
        summary, path = self.report(self.root)
        self.assertGreater(summary["fault_counts"].pop("id-order"), 0)  # the swaps overlap
        expected.pop("id-order")
        self.assertEqual(summary["fault_counts"], expected)
        self.check_places(summary)
        self.check_rows(path, changed)
        coverage = summary["coverage"]
        self.assertEqual(coverage["host_ops"], N_OPS)
        self.assertEqual(coverage["device_ops_with_data"], N_OPS - 1)
        self.assertEqual(coverage["device_runs"], N_OPS)
        self.assertEqual(coverage["device_runs_joined"], N_OPS - 1)
        self.assertEqual(coverage["log_lines_set_aside"], 3)
        strobe(self.root, "-o", self.folder / "out", "--no-date", "--strict", code=3)

    def test_no_device_log(self):
        (self.root / ".logs" / "profile_log_device.csv").unlink()
        summary, path = self.report(self.root)
        self.assertEqual(summary["fault_counts"], {"no-device-log": 1})
        self.check_rows(path, {op: ["device"] for op in self.sound})
        strobe(self.root, "-o", self.folder / "out", "--no-date", "--strict", code=3)

    def test_no_messages(self):
        for text in (None, "", "MessageName;total_ns\n", "There are currently no messages!\n"):
            file = self.root / ".logs" / "tracy_ops_data.csv"
            file.unlink() if text is None else file.write_text(text)
            summary, path = self.report(self.root)
            self.assertEqual(summary["fault_counts"], {"no-messages": 1})
            self.check_rows(path, {op: ["all of the description"] for op in self.sound})

    def test_no_host_zones(self):
        (self.root / ".logs" / "tracy_ops_times.csv").unlink()
        summary, path = self.report(self.root)
        self.assertEqual(summary["fault_counts"], {"no-host-zones": 1})
        self.check_rows(path, {op: ["host"] for op in self.sound})

    def test_lines_of_the_device_log_in_any_order(self):
        lines = self.logs.device[2:]
        random.Random(1).shuffle(lines)
        self.logs.device[2:] = lines
        self.logs.write()
        summary, path = self.report(self.root)
        self.assertEqual(summary["fault_counts"], {"scattered-log": 1})
        self.check_rows(path, {})

    def test_a_long_log_in_any_order_takes_bounded_memory_and_gives_the_same_report(self):
        root = self.folder / "long"
        gen_run.main([str(root), "--ops", "2500", "--cores", "24", "--seed", "3"])
        _, path = self.report(root)
        ordered = path.read_bytes()
        log = root / ".logs" / "profile_log_device.csv"
        lines = log.read_bytes().splitlines(keepends=True)
        self.assertGreater(len(lines), 1 << 19)  # more than are sorted in memory
        rows = lines[2:]
        random.Random(1).shuffle(rows)
        log.write_bytes(b"".join(lines[:2] + rows))
        summary, path = self.report(root)
        self.assertEqual(summary["fault_counts"], {"scattered-log": 1})
        self.assertEqual(path.read_bytes(), ordered)
        self.assertLess(peak_kib(root, "-o", self.folder / "out", "--no-date", "-q"), 200 << 10)

    def test_device_log_without_its_first_lines(self):
        del self.logs.device[:2]
        self.logs.write()
        summary, path = self.report(self.root)
        self.assertEqual(list(summary["fault_counts"]), ["bad-preamble"])
        self.check_rows(path, {})

    def test_sound_logs_have_no_fault_and_strict_is_content(self):
        strobe(self.root, "-o", self.folder / "out", "--no-date", "--strict")


class CppFaults(ReportTest):
    """The same for the C++ report."""

    def damaged(self, change):
        root = self.golden("F_trace_replay_cpp_report")
        file = root / ".logs" / "cpp_device_perf_report.csv"
        lines = file.read_text().split("\n")[:-1]
        change(lines)
        file.write_text("\n".join(lines) + "\n")
        summary, path = self.report(root)
        return summary["fault_counts"], rows_of(path)

    def test_lost_row(self):
        faults, rows = self.damaged(lambda lines: lines.remove(next(x for x in lines if x.startswith("4096,"))))
        self.assertEqual(faults, {"op-without-device-rows": 1})
        self.assertEqual((len(rows), rows[-1]["GLOBAL CALL COUNT"], rows[-1]["DEVICE FW DURATION [ns]"]), (9, "4096", ""))

    def test_row_without_an_op(self):
        faults, rows = self.damaged(lambda lines: lines.append(lines[-1].replace("4096,", "9216,", 1)))
        self.assertEqual((faults, len(rows)), ({"device-rows-without-op": 1}, 9))

    def test_cut_row(self):
        def cut(lines):
            lines[-1] = lines[-1][:40]
        faults, rows = self.damaged(cut)
        self.assertEqual((faults, len(rows)), ({"cut-line": 1, "op-without-device-rows": 1}, 9))

    def test_bad_number(self):
        faults, rows = self.damaged(lambda lines: lines.__setitem__(-1, lines[-1].replace(",130,", ",1x0,")))
        self.assertEqual((faults, len(rows)), ({"bad-cell": 1, "op-without-device-rows": 1}, 9))


class WithoutHostLogs(ReportTest):
    def test_a_run_that_was_not_recorded_is_told_how_to(self):
        root = self.golden("C_device_only")
        done = subprocess.run([STROBE, "report", str(root), "-q"], capture_output=True, text=True, check=True)
        self.assertIn("has no host logs", done.stderr)
        self.assertIn("python -m tracy -p -r SCRIPT", done.stderr)
        asked = subprocess.run([STROBE, "report", str(root), "-q", "--device-only"], capture_output=True, text=True, check=True)
        self.assertEqual(asked.stderr, "")


if __name__ == "__main__":
    unittest.main()
