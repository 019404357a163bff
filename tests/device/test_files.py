#!/usr/bin/env python3
"""test_files.py TREE WRITER STROBE: the files of a run (src/device_files). Markers of synthetic runs, written as raw words by this file's own encoder
(docs/device-protocol.md), decoded and written by WRITER, are the logs that upstream's tools were run on, byte for byte, and so are the reports of `strobe report`."""
import csv
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TREE, WRITER, STROBE = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
del sys.argv[1:4]
GOLDEN = TREE / "tests" / "report" / "golden"
VALID = 1 << 31
RISCS = ["BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"]
PACKETS = {"ZONE_START": 0, "ZONE_END": 1, "ZONE_TOTAL": 2, "TS_DATA": 3, "TS_EVENT": 4}
ARCHS = {"wormhole_b0": 2, "blackhole": 3}
GRIDS = {64: (8, 8), 140: (14, 10)}
NONE = 0xFFFFFFFF


def zone_hash(text):
    """The classic id of a site: FNV-1a, folded."""
    h = 2166136261
    for byte in text.encode():
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    return (h & 0xFFFF) ^ (h >> 16)


def text_words(text):
    data = text.encode()
    data += b"\0" * (-len(data) % 4)
    return [len(text.encode()), *struct.unpack(f"<{len(data) // 4}I", data)]


def frame(subtype, words):
    """An extension frame, padded."""
    out = [15 << 27 | subtype << 19 | len(words), *words]
    return out + [0] * (-len(out) % 16)


def marker(packet, number, time):
    return [VALID | packet << 28 | number << 12 | (time >> 32 & 0xFFF), time & 0xFFFFFFFF]


def counter_type(meta):
    """The number of a performance counter, by its name."""
    names = [line.strip(' ",') for line in (TREE / "src" / "device" / "counter_names.c").read_text().split("\n") if line.startswith('    "')]
    return names.index(json.loads(meta.replace(";", ","))["counter type"])


class Log:
    """A profile_log_device.csv, as the streams that would have made it."""

    def __init__(self, path):
        lines = path.read_text().split("\n")
        head = dict(part.split(": ") for part in lines[0].split(", "))
        self.arch, self.mhz, self.cores = head["ARCH"], int(head["CHIP_FREQ[MHz]"]), int(head["Max Compute Cores"])
        self.rows = [line.split(",", 14) for line in lines[2:] if line]
        self.subs = sorted({(int(r[7]) >> 10, *json.loads(r[14].replace(";", ",")).values()) for r in self.rows if "sub_device" in r[14]})

    def devices(self):
        return sorted({int(r[0]) for r in self.rows})

    def launches(self, rows):
        """(program, trace, counter) in the order of their first markers; and the number of each replay, of all traces."""
        first = {}
        for r in rows:
            key = (int(r[7]) >> 10, r[8], r[9])
            first[key] = min(int(r[5]), first.get(key, 1 << 63))
        order = sorted(first, key=lambda key: first[key])
        replays = {}
        for key in order:
            if key[1]:
                replays.setdefault(key[1:], len(replays) + 1)
        return order, replays

    def run_words(self, rows, risc, flat, replay):
        """One run of a program on a RISC: ids, guaranteed zones, the rest."""
        places = [[VALID, VALID] for _ in range(4)]
        rest = []
        for r in rows:
            packet, number, time, data = PACKETS[r[11]], int(r[4]), int(r[5]), int(r[6])
            slot = 0 if r[10].endswith("-FW") else 1 if r[10].endswith("-KERNEL") else None
            if slot is not None:
                places[2 * slot + packet] = marker(packet, number, time)
            elif packet == 2:
                rest += [VALID | 2 << 28 | number << 12, data]
            elif r[14].startswith('{"counter'):
                rest += marker(5, number, time) + [data >> 32, data & 0xFFFFFFFF, 0, counter_type(r[14])]
            elif packet == 3:
                rest += marker(3, number, time) + [data >> 32, data & 0xFFFFFFFF]
            else:
                rest += marker(packet, number, time)
        words = [0, 0, replay << 13 | flat << 5 | risc, int(rows[0][7]) >> 10] + sum(places, []) + rest
        return words + [VALID, 0] * (len(words) % 4 // 2)

    def stream(self, device):
        rows = [r for r in self.rows if int(r[0]) == device]
        grid = GRIDS[self.cores]
        out = frame(64, [1, device, ARCHS[self.arch], self.mhz * 1000, *grid, 5, 1, 0, 0, 4711, 0, 0, 0, 0, *text_words("raw")])
        cores = sorted({(int(r[1]), int(r[2])) for r in rows})
        for i, (x, y) in enumerate(cores):
            out += frame(65, [i, y << 16 | x, y << 16 | x, 0, i, 5, 0])
        for number, name, line, source in sorted({(int(r[4]), r[10], int(r[12]), r[13]) for r in rows if r[10]}):
            assert number == zone_hash(f"{name},{source},{line},KERNEL_PROFILER")
            out += frame(66, [1, number, line, *text_words(name), *text_words(source)])
        order, replays = self.launches(rows)
        for i, (program, trace, counter) in enumerate(order):
            out += frame(68, [program, i, 0, int(trace) if trace else NONE, replays.get((trace, counter), 0), 0, 0, 0, 0, 4711, 1, len(cores), 0, 0, 0])
        for i, (x, y) in enumerate(cores):
            for risc, name in enumerate(RISCS):
                words, run = [], []
                for r in (r for r in rows if (int(r[1]), int(r[2]), r[3]) == (x, y, name)):
                    run.append(r)
                    if r[10].endswith("-FW") and r[11] == "ZONE_END":
                        words += self.run_words(run, risc, i, replays.get((r[8], r[9]), 0))
                        run = []
                out += frame(73, [y << 16 | x, risc, 0, len(words), len(words), len(words), 12, *words])
        return struct.pack(f"<{len(out)}I", *out)


def write_files(folder, streams, *options):
    """Run the writer on streams; the folder of the logs."""
    paths = []
    for i, stream in enumerate(streams):
        paths.append(folder / f"{i}.frames")
        paths[-1].write_bytes(stream)
    subprocess.run([WRITER, folder / ".logs", *options, *paths], check=True)
    return folder / ".logs"


class Files(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def rewritten(self, name, *options):
        log = Log(GOLDEN / name / "logs" / "profile_log_device.csv")
        subs = [word for sub in log.subs for word in ("--sub", *map(str, sub))]
        return write_files(self.folder, [log.stream(device) for device in log.devices()], *options, *subs)

    def same_log(self, name):
        made = (self.rewritten(name) / "profile_log_device.csv").read_text().split("\n")
        wanted = (GOLDEN / name / "logs" / "profile_log_device.csv").read_text().split("\n")
        self.assertEqual(len(made), len(wanted))
        for i, (ours, theirs) in enumerate(zip(made, wanted)):
            self.assertEqual(ours, theirs, f"line {i + 1}")

    def test_host_and_device_run_is_written_as_it_was(self):
        self.same_log("A_host_device_legacy")

    def test_trace_replays_are_written_as_they_were(self):
        self.same_log("B_trace_replay_legacy")

    def test_device_only_run_is_written_as_it_was(self):
        self.same_log("C_device_only")

    def test_performance_counters_are_written_as_they_were(self):
        self.same_log("D_perf_counters")

    def test_several_devices_share_a_log(self):
        self.same_log("E_multi_device")

    def test_statistics_and_json_of_what_was_written_are_upstreams(self):
        """The log's path is in the JSON: as it was when upstream's tool was run."""
        data = self.folder / "data" / "synthetic" / "C_device_only"
        data.mkdir(parents=True)
        (self.folder / "work").mkdir()
        self.rewritten("C_device_only").rename(data / ".logs")
        subprocess.run([STROBE, "report", "--device-stats", self.folder / "art", "-d", "../data/synthetic/C_device_only/.logs/profile_log_device.csv", "-o", "out_c", "--no-artifacts"],
                       check=True, stdout=subprocess.DEVNULL, cwd=self.folder / "work")
        for name in ("device_stats.txt", "device_analysis_data.json"):
            self.assertEqual((self.folder / "art" / "out_c" / name).read_bytes(), (GOLDEN / "C_device_only" / name).read_bytes(), name)

    def test_perf_report_has_the_figures_of_the_markers(self):
        """But for the number of available cores, which is the grid's here."""
        with open(self.rewritten("B_trace_replay_legacy", "--perf") / "cpp_device_perf_report.csv", newline="", encoding="utf8") as made, \
             open(GOLDEN / "F_trace_replay_cpp_report" / "logs" / "cpp_device_perf_report.csv", newline="", encoding="utf8") as wanted:
            ours, theirs = list(csv.DictReader(made)), list(csv.DictReader(wanted))
        for row in ours + theirs:
            row.pop("AVAILABLE WORKER CORE COUNT")
        self.assertEqual(ours, theirs)

    def test_source_locations_are_kept_from_run_to_run(self):
        logs = self.rewritten("A_host_device_legacy")
        first = (logs / "zone_src_locations.log").read_text()
        self.assertIn("'#pragma message: BRISC-FW,/fw/brisc.cc,433,KERNEL_PROFILER'\n", first)
        self.assertEqual(first, (logs / "new_zone_src_locations.log").read_text())
        self.rewritten("A_host_device_legacy")
        self.assertEqual(first, (logs / "zone_src_locations.log").read_text())

    def test_a_long_log_is_sorted_through_a_file(self):
        """More markers than the sort has memory for; their order is that of cores, RISCs and time all the same."""
        out = frame(64, [1, 0, 5, 1000000, 2, 1, 5, 1, 0, 0, 1, 0, 0, 0, 0, *text_words("raw")])
        n, at = 100, 0
        for i in range(4000, 0, -1):
            words = [0, 0, 0, 7] + [VALID, VALID] * 4
            for j in range(n):
                at = i * 1000 + 4 * j
                words += marker(0, 5, at) + marker(1, 5, at + 2)
            out += frame(73, [1 << 16 | 1 + i % 2, 0, 0, len(words), 0, 0, 12, *words])
        logs = write_files(self.folder, [struct.pack(f"<{len(out)}I", *out)])
        before, rows = (0, 0), 0
        with open(logs / "profile_log_device.csv", encoding="utf8") as made:
            for line in list(made)[2:]:
                cells = line.split(",")
                self.assertLessEqual(before, (int(cells[1]), int(cells[5])))
                before, rows = (int(cells[1]), int(cells[5])), rows + 1
        self.assertEqual(rows, 4000 * n * 2)


if __name__ == "__main__":
    os.umask(0o77)
    unittest.main(verbosity=2)
