#!/usr/bin/env python3
"""test_files.py BUILD [Class[.test]]: .tracy files in and out, Tracy's tools by their names, the bridge."""
import collections
import csv
import io
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import contents
import same_csv
import tables

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else HERE.parents[1] / "build"
BIN = BUILD / "bin"
DATA = HERE / "data"
FOLDER = tempfile.TemporaryDirectory()
TMP = pathlib.Path(FOLDER.name)


def run(*command, code=0, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    assert code is None or done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done


def strobe(*command, **more):
    return run(BIN / "strobe", *command, **more)


def peak_kib(*command):
    """Peak memory of a command of ours. From a small process: a child starts with its parent's peak. A sanitizer keeps what was freed."""
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    env = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"}
    return int(run(sys.executable, "-c", code, BIN / "strobe", *command, env=env).stdout)


def csvexport(*command, tool="tracy-csvexport", **more):
    return run(BIN / tool, *command, **more).stdout


def rows(trace, kind):
    return same_csv.ours(strobe("csv", "--kind", kind, trace).stdout)[1:]


def kinds(trace):
    """Events of a trace by kind."""
    text = strobe("info", trace).stdout
    return {name: int(n.replace(",", "")) for n, name in re.findall(r"^ +([\d,]+)  (\w+)$", text, re.M)}


def walk(path):
    """What the walker finds; it must end at the last byte."""
    out = run(sys.executable, "-B", HERE / "walk.py", path).stdout
    assert re.search(r"END at (\d+) of \1 OK$", out.strip()), out[-300:]
    return out


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Imports(unittest.TestCase):
    """strobe import reads what Tracy wrote."""

    def counts(self, name, **want):
        out = TMP / f"{name.replace('/', '_')}.strobe"
        strobe("import", "-f", "-o", out, DATA / f"{name}.tracy")
        got = kinds(out)
        for kind, n in want.items():
            self.assertEqual(got.get(kind, 0), n, (name, kind, got))
        self.assertIn("100.00 %", strobe("info", out).stdout)
        return out

    def test_recordings_have_what_the_program_emitted(self):
        same = dict(frame=31, frame_start=20, frame_end=20, plot_double=None, gpu_begin=60, gpu_end=60, gpu_time=120,
                    lock_wait=80, lock_obtain=80, lock_release=80, lock_mark=40, app_info=2, frame_image=1)
        same.pop("plot_double")
        for version, messages, allocs, frees in (("v0.11.1", 0, 40, 25), ("v0.14.0", 2, 43, 28)):
            for name, zones, more in (("rich", 400, 0), ("rich_od", 400, 0), ("rich_fib", 408, 0), ("rich_cs", 403, 3)):
                trace = self.counts(f"{version}/{name}", zone_begin=zones, alloc=allocs + more, free=frees + more, **same)
                own = sum(1 for r in rows(trace, "messages") if "Loaded" in ",".join(r))
                self.assertEqual(kinds(trace)["message"], 100 + messages + more + own)
        trace = self.counts("v0.14.0/rich_fib", fiber_enter=12, fiber_leave=12, section_enter=2, section_leave=2)
        self.assertEqual(sum("in fiber" in ",".join(r) for r in rows(trace, "zones")), 8)
        trace = self.counts("v0.14.0/rich_cs", zone_end=403)
        zones = rows(trace, "gpu")
        self.assertEqual(collections.Counter(r[3] for r in zones), {"gpu ctx zero": 40, "gpu ctx one": 20})
        want = same_csv.ours((DATA / "v0.14.0" / "rich_cs.gpu.csv").read_text())[1:]
        self.assertEqual(sorted((r[5], r[11], r[12]) for r in zones), sorted((r[0], r[2], r[3]) for r in want))

    def test_addresses_of_call_stacks_have_the_names_that_the_file_has(self):
        trace = TMP / "named-stacks.strobe"
        strobe("import", "-f", "-o", trace, DATA / "v0.14.0" / "rich_cs.tracy")
        stacks = rows(trace, "callstacks")
        self.assertEqual(len(stacks), 12)
        for row in stacks:
            self.assertRegex(row[-1], r"(^|< )main \(rich_cs 0x[0-9a-f]+\);")

    def test_messages_of_the_client_itself_have_a_severity_in_words(self):
        trace = TMP / "severities.strobe"
        strobe("import", "-f", "-o", trace, DATA / "v0.14.0" / "rich_cs.tracy")
        self.assertEqual(collections.Counter(row[5] for row in rows(trace, "messages")),
                         {"info": 103, "client debug": 1, "warning": 1, "error": 1})

    def test_the_machine_is_named_by_its_parts(self):
        trace = TMP / "machine.strobe"
        strobe("import", "-f", "-o", trace, DATA / "by_capture_65.tracy")
        host = json.loads(strobe("info", "--json", trace).stdout)["host"]
        self.assertEqual((host["hostname"], host["kernel"], host["cpu"]), ("vm", "Linux 6.18.44-fc-v445", "AMD EPYC"))

    def test_captures_of_older_servers_are_read(self):
        for name in ("by_capture_63", "by_capture_65", "by_capture_72"):
            self.counts(name, zone_begin=400, message=103, gpu_begin=60, frame=31, alloc=43, free=28)

    def test_every_layout_and_container_gives_the_same(self):
        for layout in contents.LAYOUTS:
            content = contents.full(layout)
            for magic in (b"tr\xfdP\0\x01", b"tlZ\x04"):
                path, out = TMP / "layout.tracy", TMP / "layout.strobe"
                path.write_bytes(contents.file_of(content, magic))
                strobe("import", "-f", "-o", out, path)
                got = kinds(out)
                want = dict(zone_begin=5, message=2, gpu_begin=3, gpu_end=2, plot_double=2, alloc=4, free=2, crash=1, frame=2,
                            frame_start=2, frame_end=1, lock_wait=2, lock_obtain=2, lock_release=2, fiber_enter=2,
                            frame_image=1, hw_sample=6, sample=1, switch_in=2, cpu_switch=2, app_info=2)
                for kind, n in want.items():
                    self.assertEqual(got.get(kind, 0), n, (layout, kind, got))
                self.assertEqual(got.get("section_enter", 0), layout >= (13, 4))
                self.assertIn("source_file", strobe("csv", "--kind", "records", out).stdout)

    def test_streams_and_compressions(self):
        import lz4.block
        import zstandard
        session = json.loads((HERE.parent / "tracy" / "session_example.json").read_text())
        outer, inner = list(session["locations"])[:2]  # more blocks than the reader has places for
        session["threads"].append({"id": 99, "name": "many", "zones": [
            {"loc": outer, "start": 100 + i * 20, "end": 115 + i * 20,
             "children": [{"loc": inner, "start": 103 + i * 20, "end": 110 + i * 20}] * (i % 3 > 0)} for i in range(80000)]})
        (TMP / "many.json").write_text(json.dumps(session))
        run(sys.executable, "-B", HERE / "write_tracy.py", TMP / "many.json", TMP / "many.tracy", "--store")
        raw = (TMP / "many.tracy").read_bytes()[6:]
        big, at = b"", 0
        while at < len(raw):
            n = struct.unpack_from("<I", raw, at)[0]
            big += lz4.block.decompress(raw[at + 4:at + 4 + n], uncompressed_size=65536)
            at += 4 + n
        zones, sums = csvexport("-u", TMP / "many.tracy"), csvexport(TMP / "many.tracy")
        want, times = sorted(zones.splitlines()), [int(row["exec_time_ns"]) for row in csv.DictReader(io.StringIO(zones))]
        self.assertGreater(len(times), 130000)
        counted = [(int(row["counts"]), int(row["total_ns"])) for row in csv.DictReader(io.StringIO(sums))]
        self.assertEqual([sum(column) for column in zip(*counted)], [len(times), sum(times)])
        for streams in (1, 3, 17, 255):
            for zstd in (0, 1):
                pieces = [big[i:i + 65536] for i in range(0, len(big), 65536)]
                packers = [zstandard.ZstdCompressor(level=3, write_content_size=False).compressobj() for _ in range(streams)]
                last, out = [b""] * streams, [b"tr\xfdP" + bytes([zstd, streams])]
                for k, piece in enumerate(pieces):
                    s = k % streams
                    if zstd:
                        block = packers[s].compress(piece) + packers[s].flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
                    else:
                        block = lz4.block.compress(piece, store_size=False, dict=last[s]) if last[s] else \
                            lz4.block.compress(piece, store_size=False)
                        last[s] = piece
                    out.append(struct.pack("<I", len(block)) + block)
                (TMP / "streams.tracy").write_bytes(b"".join(out))
                self.assertTrue(sorted(csvexport("-u", TMP / "streams.tracy").splitlines()) == want, (streams, zstd))
                self.assertEqual(csvexport(TMP / "streams.tracy"), sums, (streams, zstd))

    def test_a_cut_file_gives_what_comes_before_the_cut(self):
        raw = contents.full((14, 0))
        n_ok = 0
        for at in range(8, len(raw), 97):
            (TMP / "cut.tracy").write_bytes(contents.file_of(raw[:at]))
            done = strobe("import", "-f", "-o", TMP / "cut.strobe", TMP / "cut.tracy", code=1)
            self.assertTrue("cut off" in done.stderr or "damaged" in done.stderr, done.stderr)
            if "wrote" in done.stderr:
                n_ok += 1
                strobe("info", TMP / "cut.strobe")
        self.assertGreater(n_ok, 20)

    def test_newer_and_foreign_files_are_refused_in_words(self):
        for version, word in (((15, 0), "newer"), ((8, 2), "0.9 or later")):
            (TMP / "other.tracy").write_bytes(contents.file_of(b"tracy" + bytes([0, *version]) + bytes(100)))
            self.assertIn(word, strobe("import", "-f", "-o", TMP / "x.strobe", TMP / "other.tracy", code=1).stderr)
        (TMP / "text.tracy").write_text("not at all")
        self.assertIn("no .tracy file", strobe("import", "-f", "-o", TMP / "x.strobe", TMP / "text.tracy", code=1).stderr)
        strobe("import", "-o", TMP / "y.strobe", TMP / "nowhere.tracy", code=1)


class Exports(unittest.TestCase):
    """strobe export --to tracy writes what every Tracy since 0.11.1 opens."""

    def test_round_trips_keep_every_table(self):
        for path in sorted(DATA.glob("*/*.tracy")) + sorted(DATA.glob("*.tracy")):
            trace, back = TMP / "round.strobe", TMP / "round.tracy"
            strobe("import", "-f", "-o", trace, path)
            strobe("export", "-o", back, trace)
            walk(back)
            for options in ([], ["-e"], ["-u"], ["-u", "-p"], ["-m"], ["-g"]):
                a, b = csvexport(*options, path), csvexport(*options, back)
                self.assertEqual(collections.Counter(a.splitlines()), collections.Counter(b.splitlines()), (path, options))

    def test_everything_a_file_can_hold_is_in_it(self):
        trace, back = TMP / "all.strobe", TMP / "all.tracy"
        strobe("import", "-f", "-o", trace, DATA / "v0.14.0" / "rich_fib.tracy")
        said = strobe("export", "-o", back, trace).stderr
        self.assertIn("2 sections left out", said)
        text = walk(back)
        for word in ("'0x0', 1, 23", "messages 103", "zones 408", "fiber 1", "image 16 16", "usage 1090", "usage 3840",
                     "second app info line", "plot 0 0 1 1 0xff0000"):
            self.assertIn(word, text)
        self.assertEqual(text.count(" gpu ctx"), 2)
        self.assertIn("type 1 threads 2 events 120", text)

    # What the file above says and no server would: numbers that don't fit to others, stacks of blocks that were not freed.
    # A fiber's messages are those of the thread that ran it.
    MADE_UP = {"threads", "samples in the kernel", "messages", "plots", "memory", "runs", "addresses in functions"}

    def round(self, content, layout):
        """A content, imported and exported again: (tables before, tables after, what the export says)."""
        before, trace, after = TMP / "before.tracy", TMP / "round.strobe", TMP / "after.tracy"
        before.write_bytes(contents.file_of(content))
        strobe("import", "-f", "-o", trace, before)
        said = strobe("export", "--to", layout, "-o", after, trace).stderr
        walk(after)
        return tables.File(before), tables.File(after), said

    def test_a_file_of_0_14_comes_back_with_every_table(self):
        before, after, said = self.round(contents.full((14, 0)), "tracy-0.14")
        missing = tables.lacks(before, after)
        self.assertLessEqual(set(missing), self.MADE_UP, missing)
        for table in self.MADE_UP:
            self.assertGreaterEqual(sum(after.tables[table].values()), sum(before.tables[table].values()), table)
        for table in ("code", "source files", "functions", "sections", "notes of GPU zones", "samples of counters", "crash", "processors",
                      "samples at switches"):
            self.assertEqual(sum(before.tables[table].values()), sum(after.tables[table].values()), table)
        self.assertNotIn("left out", said)

    def test_what_the_layout_of_0_11_has_no_place_for_is_counted(self):
        before, after, said = self.round(contents.full((14, 0)), "tracy")
        self.assertEqual([after.tables[t] for t in ("sections", "notes of GPU zones")], [{}, {}])
        for words in ("1 sections left out", "1 notes of GPU zones left out", "2 messages without their severity"):
            self.assertIn(words, said)
        for table in ("code", "source files", "functions", "samples of counters", "crash"):
            self.assertEqual(before.tables[table], after.tables[table])

    def test_long_code_and_sources_are_whole(self):
        code, text = bytes(i % 251 for i in range(100000)), b"line of a file\n" * 20000
        raw = contents.full((14, 0)).replace(struct.pack("<QI", 0x900, 4) + b"code", struct.pack("<QI", 0x900, len(code)) + code)
        raw = raw.replace(struct.pack("<I", 3) + b"int", struct.pack("<I", len(text)) + text)
        before, after, _ = self.round(raw, "tracy")
        self.assertEqual(list(after.tables["code"]), [(0x900, code)])
        self.assertEqual(list(after.tables["source files"]), [(b"file.c", text)])

    def test_addresses_of_a_kernel_are_those_of_a_kernel(self):
        kernel = 0xffffffff81000000
        raw = contents.full((14, 0)).replace(struct.pack("<HQQ", 2, 0x1000, 0x2000), struct.pack("<HQQ", 2, kernel & ~(3 << 62), 0x2000))
        _, after, _ = self.round(raw, "tracy-0.14")
        self.assertIn(hex(kernel), strobe("csv", "--kind", "samples", TMP / "round.strobe").stdout)
        self.assertEqual(list(after.tables["call stacks"]), [((kernel & ~(3 << 62), 0x2000),)])

    def test_open_zones_stay_open(self):
        (TMP / "open.tracy").write_bytes(contents.file_of(contents.full((11, 1))))
        strobe("import", "-f", "-o", TMP / "open.strobe", TMP / "open.tracy")
        self.assertEqual(sum(r[-1] == "open" for r in rows(TMP / "open.strobe", "zones")), 1)
        strobe("export", "-o", TMP / "open2.tracy", TMP / "open.strobe")
        walk(TMP / "open2.tracy")
        self.assertEqual(sorted(csvexport("-u", TMP / "open.tracy").splitlines()),
                         sorted(csvexport("-u", TMP / "open2.tracy").splitlines()))

    def test_many_locations_are_folded_and_said(self):
        n = 70000
        session = {"locations": {str(i): {"name": f"loc {i}", "function": "f", "file": "x.c", "line": i} for i in range(n)},
                   "threads": [{"id": 5, "name": "t", "zones": [{"loc": str(i), "start": i * 10, "end": i * 10 + 5}
                                                                for i in range(n)]}]}
        halves = []
        for half in (range(0, 40000), range(40000, n)):
            part = dict(session, threads=[dict(session["threads"][0], zones=session["threads"][0]["zones"][half[0]:half[-1] + 1])],
                        locations={str(i): session["locations"][str(i)] for i in half}, pid=half[0] + 1, program="half")
            (TMP / "half.json").write_text(json.dumps(part))
            run(sys.executable, "-B", HERE / "write_tracy.py", TMP / "half.json", TMP / "half.tracy")
            strobe("import", "-f", "-o", TMP / f"half{len(halves)}.strobe", TMP / "half.tracy")
            halves.append(len(csvexport(TMP / f"half{len(halves)}.strobe").splitlines()) - 1)
        self.assertEqual(halves, [40000, 30000])
        strobe("export", "--to", "tracy", "-o", TMP / "locs.tracy", TMP / "half0.strobe")
        walk(TMP / "locs.tracy")
        self.assertEqual(len(csvexport(TMP / "locs.tracy").splitlines()) - 1, 40000)

    def test_locations_beyond_what_the_format_holds_keep_their_names(self):
        trace, out, back = TMP / "locs.strobe", TMP / "folded.tracy", TMP / "unfolded.strobe"
        run(BIN / "make_trace", trace, 90000, 1, 300000)
        names = {row[0] for row in same_csv.ours(strobe("stats", "--csv", trace).stdout)[1:]}
        self.assertGreater(len(names), 65532)
        said = strobe("export", "--to", "tracy", "-o", out, trace).stderr
        self.assertRegex(said, f"{len(names) - 65532} source locations over 65,532 are one")
        walk(out)
        counts = {row[0]: int(row[5]) for row in same_csv.ours(csvexport(out))[1:]}
        self.assertEqual(len(counts), 65533)
        self.assertRegex(said, f"{counts['(too many source locations)']} zones of those have the location's name")
        strobe("import", "-f", "-o", back, out)
        self.assertEqual({row[4] for row in rows(back, "zones")}, names)

    def test_several_processes_are_one_and_said(self):
        trace, back = TMP / "demo.strobe", TMP / "demo.tracy"
        strobe("record", "-q", "--no-tracy", "-o", trace, "--", "sh", "-c", f"{BIN}/strobe-hello-c; {BIN}/strobe-hello-cpp")
        said = strobe("export", "-o", back, trace).stderr
        self.assertRegex(said, r"\d+ processes are one in the file")
        text = walk(back)
        zones = sum(int(r[5]) for r in same_csv.ours(csvexport(back))[1:])
        ended = sum(r[-1] == "ended" and int(r[9] or 0) > 0 for r in rows(trace, "zones"))
        self.assertEqual(zones, ended)
        self.assertRegex(text, r"strobe-hello-cpp\(\d+\) ")
        self.assertEqual(collections.Counter(csvexport("-u", trace).splitlines()),
                         collections.Counter(csvexport("-u", back).splitlines()))


    def test_gpu_zones_of_several_threads_keep_their_times(self):
        trace, path = TMP / "many_gpu.strobe", TMP / "many_gpu.tracy"
        run(BIN / "make_paired", trace, "gG", 2000)
        for layout in ("tracy", "tracy-0.14"):
            strobe("export", "--to", layout, "-o", path, trace)
            walk(path)
            self.assertEqual(sorted(csvexport("-g", path).splitlines()), sorted(csvexport("-g", trace).splitlines()))

    def test_memory_does_not_grow_with_gpu_zones(self):
        peaks = []
        for n_zones in (100_000, 500_000):
            trace, path = TMP / "grown_gpu.strobe", TMP / "grown_gpu.tracy"
            run(BIN / "make_paired", trace, "g", n_zones, "raw")
            peaks.append(peak_kib("export", "--to", "tracy", "-o", path, trace))
        path.unlink()
        self.assertLess(peaks[1] - peaks[0], 32 << 10)


class Tables(unittest.TestCase):
    """tracy-csvexport prints what Tracy's own printed."""

    def test_of_files(self):
        self.assertIn("48 tables, 0 wrong", run(sys.executable, "-B", HERE / "csv_of_files.py", BIN / "tracy-csvexport", DATA).stdout)

    def test_of_imported_traces(self):
        self.assertIn("48 tables, 0 wrong", run(sys.executable, "-B", HERE / "csv_of_files.py", BIN / "tracy-csvexport", DATA,
                                                BIN / "strobe").stdout)

    def test_filters_separators_and_the_truncated_mean(self):
        path = DATA / "v0.14.0" / "rich.tracy"
        self.assertEqual(len(csvexport("-f", "LEVEL", path).splitlines()), 6)
        self.assertEqual(len(csvexport("-c", "-f", "LEVEL", path).splitlines()), 1)
        self.assertIn(";", csvexport("-s", ";", path))
        rows_ = same_csv.ours(csvexport("--truncated_mean=50", path))
        self.assertEqual(rows_[0][-2:], ["percentile_ns", "truncated_mean_ns"])
        for row in rows_[1:]:
            self.assertLessEqual(int(row[-1]), int(row[-2]))
        self.assertEqual(csvexport("-u", "-p", "-f", "plot int", path).count("plot int"), 20)

    def tt_file(self):
        session = {"locations": {"p": {"name": "TT_DNN_op", "function": "f", "file": "a.py", "line": 1},
                                 "c": {"name": "child", "function": "g", "file": "b.py", "line": 2},
                                 "o": {"name": "other, with comma", "function": "h", "file": "b.py", "line": 3}},
                   "threads": [{"id": 5, "name": "t", "zones": [
                       {"loc": "p", "start": 10, "end": 100, "text": "op one", "name": "renamed", "children": [
                           {"loc": "o", "start": 20, "end": 90, "children": [{"loc": "c", "start": 30, "end": 40, "text": 'say "hi"\nyou'}]}]},
                       {"loc": "c", "start": 200, "end": 300}],
                       "messages": [{"time": 5, "text": "plain"}, {"time": 6, "text": "`a; \"b\"\nc`"}, {"time": 7, "text": "x;y"},
                                    {"time": 8, "text": "x,\"y\""}]}]}
        (TMP / "tt.json").write_text(json.dumps(session))
        run(sys.executable, "-B", HERE / "write_tracy.py", TMP / "tt.json", TMP / "tt.tracy")
        strobe("import", "-f", "-o", TMP / "tt.strobe", TMP / "tt.tracy")
        return TMP / "tt.tracy", TMP / "tt.strobe"

    def test_the_forks_columns(self):
        for path in self.tt_file():
            for options in (["-u", "-t", "TT_", "-x", "child,nothing"], ["-u", "-p", "TT_", "-x", "child"]):
                got = same_csv.ours(csvexport(*options, path))
                self.assertEqual(",".join(got[0]), "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,"
                                                   "value,special_parent_text")
                by = {(r[0], r[5]): r for r in got[1:]}
                self.assertEqual(by["child", "30"][-1], "op one")
                self.assertEqual(by["child", "30"][4], 'say "hi"\nyou')
                self.assertEqual(by["child", "200"][-1], "")   # cells of the zone before do not leak
                self.assertEqual(by["child", "200"][4], "")
                self.assertEqual(by["TT_DNN_op", "10"][3], "renamed")
                self.assertEqual(by["other, with comma", "20"][6], "70")
            self.assertEqual(csvexport("-u", path, tool="csvexport-release").splitlines()[0].count(","), 9)
            self.assertEqual(csvexport("-u", "--flavor", "0.11", path).splitlines()[0].count(","), 5)

    def test_messages_can_be_read_back(self):
        for path in self.tt_file():
            import csv
            text = csvexport("-m", "-s", ";", path)
            self.assertIn('`a; "b"\nc`;6', text)               # quoted by the program for the reader that it has
            text = csvexport("-m", path)
            rows_ = [r for r in csv.reader(text.replace('`a; "b"\nc`', "tick").splitlines())]
            self.assertEqual(rows_[1:], [["plain", "5"], ["tick", "6"], ["x;y", "7"], ['x,"y"', "8"]])
            text = csvexport("-m", "-s", ";", path, tool="csvexport-release")
            got = list(csv.reader(text.splitlines(keepends=True), delimiter=";", quotechar="`"))
            self.assertEqual([r[0] for r in got[1:]], ["plain", 'a; "b"\nc', "x;y", 'x,"y"'])
        (TMP / "none.json").write_text(json.dumps({"threads": []}))
        run(sys.executable, "-B", HERE / "write_tracy.py", TMP / "none.json", TMP / "none.tracy")
        self.assertEqual(csvexport("-m", TMP / "none.tracy"), "There are currently no messages!\n")

    def test_gpu_zones_have_statistics(self):
        trace = TMP / "gpu.strobe"
        strobe("import", "-f", "-o", trace, DATA / "v0.14.0" / "rich.tracy")
        took = collections.defaultdict(list)
        for name, _, _, ns in same_csv.ours(csvexport("-g", trace))[1:]:
            took[name].append(int(ns))
        got = json.loads(strobe("stats", "--gpu", "--json", trace).stdout)["zones"]
        self.assertEqual({z["name"]: (z["count"], z["total_ns"], z["min_ns"], z["max_ns"], z["p50_ns"]) for z in got},
                         {name: (len(l), sum(l), min(l), max(l), sorted(l)[(len(l) + 1) // 2 - 1]) for name, l in took.items()})
        by = {z["name"]: z for z in got}
        self.assertEqual(by["gpu_zone"]["self_ns"], by["gpu_zone"]["total_ns"] - by["gpu_inner"]["total_ns"])
        self.assertEqual(len(strobe("stats", "--gpu", "--csv", "--filter", "gpu_inner", trace).stdout.splitlines()), 2)

    def test_wrong_use_fails_as_the_real_one_does(self):
        csvexport(code=1)
        csvexport("-u", TMP / "nowhere.tracy", code=1)
        csvexport("--flavor", "9", DATA / "v0.14.0" / "rich.tracy", code=1)
        self.assertIn("tracy-csvexport", csvexport("-V"))
        for tool in ("tracy-capture", "capture-release", "iree-tracy-capture", "tracy-csvexport", "csvexport-release"):
            self.assertEqual((BUILD / "tools" / "profiler" / "bin" / tool).resolve(), BIN / "strobe")


# ---- a Tracy server, as small as can be ----

class Server:
    """Takes all events of a client of one protocol and counts them; asks what it is told to."""

    def __init__(self, port, protocol, slow=0):
        self.slow, self.counts, self.answers, self.texts = slow, collections.Counter(), [], []
        self.names, self.sizes, self.tails = [], [], []
        for line in (HERE.parent / "tracy" / "events.tsv").read_text().splitlines():
            if line.startswith("#") or not line.strip():
                continue
            first, last, name, layout = line.split()
            if int(first) <= protocol <= int(last):
                letters = "" if layout == "-" else layout
                self.names.append(name)
                self.sizes.append(sum({"a": 8, "t": 8, "s": 8, "c": 8, "g": 8, "4": 4, "2": 2, "Y": 4, "y": 2, "p": 8, "q": 8, "d": 8,
                                       "f": 4, "I": 4, "i": 4, "H": 2, "B": 1, "b": 1, "6": 6, "X": 8}.get(c, 0) for c in letters))
                self.tails.append({"N": 2, "n": 1, "L": 4}.get(letters[-1:], 0))
        self.protocol = protocol
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.socket.sendall(b"TracyPrf" + struct.pack("<I", protocol))
        self.status = self.read(1)[0]
        if self.status == 1:
            self.welcome = self.read(1178 if protocol < 75 else 1170)

    def read(self, n):
        out = b""
        while len(out) < n:
            piece = self.socket.recv(n - len(out))
            if not piece:
                raise EOFError
            out += piece
        return out

    def ask(self, number, pointer):
        self.socket.sendall(struct.pack("<BQI", number, pointer, 0))

    def take(self):
        """One frame. False: the client said that it has no more."""
        import lz4.block
        n = struct.unpack("<I", self.read(4))[0]
        raw = lz4.block.decompress(self.read(n), uncompressed_size=262144)
        time.sleep(self.slow)
        at, more = 0, True
        while at < len(raw):
            number = raw[at]
            name, fields = self.names[number], raw[at + 1:at + 1 + self.sizes[number]]
            at += 1 + self.sizes[number]
            if self.tails[number]:
                width = self.tails[number]
                length = int.from_bytes(raw[at:at + width], "little")
                if self.protocol >= 80 and name in ("SingleStringData", "SecondStringData"):
                    length += 256
                self.texts.append((name, raw[at + width:at + width + length]))
                at += width + length
            base = name[:-2] if name.endswith(("16", "32")) else name
            self.counts[base] += 1
            if base == "ZoneBegin":
                self.loc = struct.unpack("<Q", fields[-8:])[0]
            more &= name != "Terminate"
        assert at == len(raw)
        return more

    def take_all(self):
        while self.counts["Terminate"] == 0:
            self.take()
        for number, pointer in self.answers:
            self.ask(number, pointer)
            self.take()
        self.ask(0, 0)
        self.socket.close()


class Bridges(unittest.TestCase):
    """A trace is shown to Tracy's servers."""

    @classmethod
    def setUpClass(cls):
        cls.trace = TMP / "shown.strobe"
        strobe("import", "-f", "-o", cls.trace, DATA / "v0.14.0" / "rich_fib.tracy")

    def bridge(self, *options, trace=None):
        port = free_port()
        process = subprocess.Popen([str(BIN / "strobe"), "tracy-bridge", "--no-broadcast", "-p", str(port), *options,
                                    str(trace or self.trace)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIn("waiting", process.stderr.readline())
        return process, port

    def test_every_protocol(self):
        for protocol in (56, 57, 63, 64, 65, 66, 69, 72, 74, 76, 82):
            process, port = self.bridge()
            server = Server(port, protocol)
            server.take()
            server.answers = [(3, server.loc)]
            server.take_all()
            self.assertEqual(process.wait(20), 0)
            got = server.counts
            want = {"ZoneBegin": 408, "ZoneEnd": 408, "FrameMarkMsg": 31, "FrameMarkMsgStart": 20, "FiberEnter": 12,
                    "FiberLeave": 12, "GpuZoneBeginSerial": 60, "GpuTime": 120, "GpuNewContext": 2, "MessageAppInfo": 2,
                    "MemAlloc": 20, "MemAllocNamed": 23, "LockAnnounce": 2, "FrameImage": 1, "SourceLocation": 1, "Terminate": 1}
            for name, n in want.items():
                self.assertEqual(got[name], n, (protocol, name, got))
            self.assertEqual(got["Message"] + got["MessageColor"], 103)
            self.assertEqual(sum(got[f"PlotData{x}"] for x in ("", "Int", "Double")) + got["SysTimeReport"], 84)
            self.assertEqual(got["SectionEnter"], 2 if protocol == 82 else 0)
            self.assertGreaterEqual(got["LockWait"] + got["LockSharedWait"], 80)

    def test_a_server_gets_call_stacks_samples_and_switches(self):
        before, trace, got = TMP / "stacks.tracy", TMP / "stacks.strobe", TMP / "got.tracy"
        before.write_bytes(contents.file_of(contents.full((14, 0))))
        strobe("import", "-f", "-o", trace, before)
        process, port = self.bridge(trace=trace)
        run(BIN / "tracy-capture", "-f", "-o", got, "-a", "127.0.0.1", "-p", port, timeout=60)
        self.assertEqual(process.wait(20), 0)
        was, now = tables.File(before), tables.File(got)
        n = lambda file, table: sum(file.tables[table].values())
        for table in ("call stacks", "samples", "samples at switches", "runs of processors", "zones", "messages", "memory"):
            self.assertEqual(n(now, table), n(was, table), table)
        self.assertEqual({row[3] for row in now.tables["frames of stacks"] if row[0] == 0x1000}, {b"work"})
        self.assertIn((900, b"other process", b"other thread"), now.tables["others' names"])
        self.assertEqual({row[0]: row[5] for row in now.tables["zones"] if row[1] == 0 and row[5]}, {100: (0x1000, 0x2000)})

    def test_an_unknown_protocol_is_sent_away_and_the_next_one_served(self):
        process, port = self.bridge()
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"TracyPrf" + struct.pack("<I", 200))
            self.assertEqual(s.recv(1), b"\2")
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            try:
                self.assertEqual(s.recv(1), b"")
            except ConnectionResetError:
                pass
        server = Server(port, 72)
        server.take_all()
        self.assertEqual(process.wait(20), 0)

    def test_a_server_that_leaves_is_no_harm(self):
        process, port = self.bridge()
        Server(port, 72).socket.close()
        self.assertIn(process.wait(20), (0, 1))

    def test_our_own_capture_takes_it(self):
        process, port = self.bridge()
        out = TMP / "captured.tracy"
        text = run(BIN / "tracy-capture", "-o", out, "-p", port, timeout=60).stdout
        self.assertEqual(process.wait(20), 0)
        for word in ("Connecting to 127.0.0.1", "Timer resolution", "Frames: 23", "Zones: 408", "Saving trace... done!"):
            self.assertIn(word, text)
        walk(out)
        want = csvexport("-u", self.trace)
        cut = lambda text: collections.Counter(tuple(r[:5]) for r in same_csv.ours(text)[1:])
        self.assertEqual(cut(csvexport("-u", out)), cut(want))
        self.assertFalse(list(TMP.glob("captured.tracy.strobe")))
        self.assertIn("already exists", run(BIN / "tracy-capture", "-o", out, "-p", port, code=4).stdout)

    def test_a_recording_is_shown_while_it_runs(self):
        port, out = free_port(), TMP / "live.strobe"
        record = subprocess.Popen([str(BIN / "strobe"), "record", "-q", "--no-tracy", "-o", str(out), f"--tracy-bridge={port}", "--",
                                   "sh", "-c", f"for i in 1 2 3 4 5 6; do {BIN}/strobe-hello-c; sleep 0.3; done"], env={**os.environ, "TRACY_NO_BROADCAST": "1"})
        for _ in range(100):
            try:
                server = Server(port, 72, slow=0.02)
                break
            except OSError:
                time.sleep(0.05)
        server.take_all()
        self.assertEqual(record.wait(60), 0)
        self.assertEqual(server.counts["ZoneBegin"], kinds(out)["zone_begin"])

    def test_a_client_that_is_recorded_and_shown_at_the_same_time_has_all_its_names(self):
        port, out, shown = free_port(), TMP / "both.strobe", TMP / "both.tracy"
        client = HERE.parent / "tracy"
        record = subprocess.Popen([str(BIN / "strobe"), "record", "-q", "-o", str(out), f"--tracy-bridge={port}", "--", sys.executable,
                                   str(client / "fake_client.py"), str(client / "session_example.json"), "--notice", "--port", "0",
                                   "--protocol", "82", "--slow", "20", "--frame-bytes", "100"],
                                  stdout=subprocess.DEVNULL, env={**os.environ, "TRACY_NO_BROADCAST": "1", "TRACY_NO_EXIT": "1"})
        self.addCleanup(record.wait)
        self.addCleanup(record.kill)
        run(BIN / "tracy-capture", "-f", "-o", shown, "-p", port, timeout=60)
        self.assertEqual(record.wait(60), 0)
        names = lambda path: collections.Counter(tuple(r[:3]) for r in same_csv.ours(csvexport("-u", path))[1:])
        self.assertEqual(names(shown), names(out))
        for kind in ("frame", "alloc", "free", "lock_wait", "lock_obtain", "lock_release", "message"):
            strobe("import", "-f", "-o", TMP / "both-back.strobe", shown)
            self.assertEqual(kinds(TMP / "both-back.strobe").get(kind), kinds(out).get(kind), kind)

    def test_nobody_is_waited_for_unless_asked(self):
        env = {**os.environ, "STROBE_TRACY_BRIDGE": str(free_port()), "TRACY_NO_BROADCAST": "1"}
        start = time.time()
        strobe("record", "-q", "--no-tracy", "-o", TMP / "alone.strobe", "--", "true", env=env)
        self.assertLess(time.time() - start, 10)
        done = strobe("tracy-bridge", "--no-broadcast", "--wait", "0", "-p", free_port(), self.trace, code=1)
        self.assertIn("no Tracy server came", done.stderr)


class Captures(unittest.TestCase):
    """tracy-capture behaves as scripts expect."""

    def test_it_waits_for_the_client_and_ends_with_it(self):
        port, out = free_port(), TMP / "late.tracy"
        capture = subprocess.Popen([str(BIN / "capture-release"), "-o", str(out), "-f", "-p", str(port)], stdout=subprocess.PIPE,
                                   text=True)
        time.sleep(1)
        trace = TMP / "late.strobe"
        strobe("import", "-f", "-o", trace, DATA / "v0.11.1" / "rich.tracy")
        bridge = subprocess.Popen([str(BIN / "strobe"), "tracy-bridge", "--no-broadcast", "-p", str(port), str(trace)],
                                  stderr=subprocess.DEVNULL)
        self.assertIn("Zones: 400", capture.communicate(timeout=60)[0])
        self.assertEqual(capture.returncode, 0)
        bridge.wait(20)
        self.assertIn("400", str(sum(int(r[5]) for r in same_csv.ours(csvexport(out))[1:])))

    def test_the_holder_of_the_port_is_told(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            capture = subprocess.Popen([str(BIN / "tracy-capture"), "-o", str(TMP / "held.tracy"), "-p", str(s.getsockname()[1])],
                                       stdout=subprocess.PIPE, text=True)
            time.sleep(4)
            capture.send_signal(signal.SIGINT)
            text = capture.communicate(timeout=30)[0]
        self.assertIn(f"held by pid {os.getpid()} (", text)
        self.assertIn("is free", text)
        self.assertNotEqual(capture.returncode, 0)

    def test_a_trace_is_written_where_the_name_says_so(self):
        trace, out, port = TMP / "src.strobe", TMP / "kept.strobe", free_port()
        strobe("import", "-f", "-o", trace, DATA / "v0.11.1" / "rich.tracy")
        bridge = subprocess.Popen([str(BIN / "strobe"), "tracy-bridge", "--no-broadcast", "-p", str(port), str(trace)],
                                  stderr=subprocess.DEVNULL)
        run(BIN / "iree-tracy-capture", "-o", out, "-f", "-a", "127.0.0.1", "-p", port, timeout=60)
        bridge.wait(20)
        self.assertEqual(kinds(out)["zone_begin"], 400)

    def test_wrong_use(self):
        run(BIN / "tracy-capture", code=1)
        run(BIN / "tracy-capture", "-V")


if __name__ == "__main__":
    unittest.main()
