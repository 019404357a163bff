#!/usr/bin/env python3
"""test_real_tools.py BUILD [Class[.test]]: Tracy's own csvexport and capture on our files and our bridge.

STROBE_TRACY_TOOLS names a folder with a folder per version (0.11.1, 0.14.0, ...), each with the real tracy-csvexport and
tracy-capture, and with programs on the real client (rich*), as far as they are there: docs/tracy-files.md tells how they are made.
Without it there is nothing to be tested with: exit code 77.  SPDX-License-Identifier: MIT"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import same_csv
import tables
from test_files import BIN, DATA, TMP, csvexport, free_port, kinds, run, strobe

TOOLS = pathlib.Path(os.environ.get("STROBE_TRACY_TOOLS") or "/nowhere")
TABLES = [["-u"], ["-u", "-e"], [], ["-e"], ["-m"]]


def versions(tool):
    """Of the tools that are there: (version, path, our flavour of its tables)."""
    for path in sorted(TOOLS.glob(f"*/{tool}")):
        version = path.parent.name
        yield version, path, "0.11" if version.startswith("0.11") else "0.14"


def same(got, want, options):
    if "-u" in options:
        return same_csv.same_unwrapped(got, want)
    bare = "\n".join(",".join(row) for row in same_csv.ours(got)) + "\n"  # the real one never quotes
    return same_csv.same_plain(bare, want)


TRACED = ("grep -q ' tracefs ' /proc/mounts || mount -t tracefs tracefs /sys/kernel/tracing; exec \"$@\"", "sh")


def traced(*command):
    """A command that finds tracefs where it may: in mounts of its own."""
    as_root = ["unshare", "-m", "--propagation", "private", "sh", "-c", *TRACED] if os.geteuid() == 0 else []
    return [*as_root, *map(str, command)]


class Tools(unittest.TestCase):
    def assert_same_tables(self, path, shown=None):
        """Every real csvexport that opens the file prints what ours does, of the file or of another form of it."""
        for version, tool, flavor in versions("tracy-csvexport"):
            for options in TABLES:
                with self.subTest(version=version, file=path.name, options=options):
                    want = run(tool, *options, path).stdout
                    self.assertEqual(same(csvexport("--flavor", flavor, *options, shown or path), want, options), "")


class Exports(Tools):
    """Files that `strobe export --to tracy` writes."""

    def export(self, trace):
        out = trace.with_suffix(".tracy")
        strobe("export", "--to", "tracy", "-o", out, trace)
        return out

    def test_of_recordings_with_everything_in_them(self):
        for source in sorted(DATA.glob("v0.1*/rich*.tracy")):
            trace = TMP / f"{source.parent.name}-{source.stem}.strobe"
            strobe("import", "-f", "-o", trace, source)
            self.assert_same_tables(self.export(trace))

    def test_of_several_processes(self):
        trace = TMP / "several.strobe"
        strobe("record", "-q", "-o", trace, "--", BIN / "strobe-demo", code=None)
        self.assert_same_tables(self.export(trace))

    def test_of_many_zones_and_threads(self):
        trace = TMP / "many.strobe"
        run(BIN / "make_trace", trace, 200000, 8, 50, 6)
        self.assert_same_tables(self.export(trace))

    def test_of_more_locations_than_the_format_holds(self):
        trace = TMP / "locs.strobe"
        run(BIN / "make_trace", trace, 90000, 1, 300000)
        self.assert_same_tables(self.export(trace))

    def test_of_a_trace_and_its_export_are_the_same(self):
        trace = TMP / "twice.strobe"
        strobe("import", "-f", "-o", trace, DATA / "v0.11.1" / "rich.tracy")
        self.assert_same_tables(self.export(trace), shown=trace)


class Bridges(Tools):
    """Real captures that connect to the bridge."""

    def captured(self, tool, port, name):
        out = TMP / f"{name}.tracy"
        text = run(tool, "-f", "-o", out, "-a", "127.0.0.1", "-p", port, timeout=60).stdout
        self.assertIn("Saving trace", text)
        return out

    def test_of_a_trace_are_told_all_of_it(self):
        trace = TMP / "shown.strobe"
        strobe("import", "-f", "-o", trace, DATA / "v0.14.0" / "rich_fib.tracy")
        for version, tool, _ in versions("tracy-capture"):
            with self.subTest(version=version):
                port = free_port()
                bridge = subprocess.Popen([str(BIN / "strobe"), "tracy-bridge", "--no-broadcast", "-p", str(port), str(trace)],
                                          stderr=subprocess.DEVNULL)
                self.addCleanup(bridge.kill)
                out = self.captured(tool, port, f"bridge-{version}")
                self.assertEqual(bridge.wait(20), 0)
                names = lambda path: sorted(tuple(r[:3]) for r in same_csv.ours(csvexport("-u", path))[1:])
                self.assertEqual(names(out), names(trace))

    def test_of_a_recording_are_told_all_of_it(self):
        for version, tool, _ in versions("tracy-capture"):
            with self.subTest(version=version):
                port, trace = free_port(), TMP / f"live-{version}.strobe"
                command = f"for i in 1 2 3 4 5 6; do {BIN}/strobe-hello-c >/dev/null; sleep 0.3; done"
                record = subprocess.Popen([str(BIN / "strobe"), "record", "-q", "--no-tracy", "-o", str(trace), f"--tracy-bridge={port}", "--",
                                           "sh", "-c", command], env={**os.environ, "TRACY_NO_BROADCAST": "1"})
                self.addCleanup(record.kill)
                out = self.captured(tool, port, f"live-{version}")
                self.assertEqual(record.wait(60), 0)
                strobe("import", "-f", "-o", TMP / "back.strobe", out)
                self.assertEqual(kinds(TMP / "back.strobe")["zone_begin"], kinds(trace)["zone_begin"])


    # Of these a server has as many as the trace.
    KINDS = ("zones", "messages", "points of plots", "memory", "locks", "events of locks", "frames", "GPU contexts", "GPU zones", "samples",
             "samples at switches", "call stacks", "app info", "images", "sections")

    def counts(self, path):
        """Rows of each kind, and runs of processors; on some machines none of those has a time."""
        file = tables.File(path)
        runs = sum(n for row, n in file.tables["runs without a time"].items() if row[0] < 256)
        named = [name for loc in file.locations.values() for name in (loc or ())[:3] if name and not re.fullmatch(rb"0x[0-9a-f]{5,}", name)]
        every = [name for loc in file.locations.values() for name in (loc or ())[:3] if name]
        return {**{table: sum(file.tables[table].values()) for table in self.KINDS},
                "runs of processors": sum(file.tables["runs of processors"].values()) + runs,
                "addresses in place of names": len(every) - len(named)}

    def live(self, program, capture):
        """A client under a recorder with a bridge and a capture that comes while it runs: counts of the trace and of the capture."""
        port, trace, got, own = free_port(), TMP / "every.strobe", TMP / "every.tracy", TMP / "every_own.tracy"
        record = subprocess.Popen(traced(BIN / "strobe", "record", "-q", "-o", trace, f"--tracy-bridge={port}", "--", program),
                                  env={**os.environ, "TRACY_NO_BROADCAST": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(record.kill)
        while not trace.exists() and record.poll() is None:
            pass
        run(capture, "-f", "-o", got, "-a", "127.0.0.1", "-p", port, timeout=120)
        said = record.communicate(timeout=60)[1]
        strobe("export", "--to", "tracy-0.14", "-o", own, trace)
        trace.unlink()
        self.assertNotIn("not sent", said)
        return self.counts(own), self.counts(got)

    def test_of_a_live_client_have_as_much_of_every_kind(self):
        for program in sorted(TOOLS.glob("0.14*/rich_full")):
            for capture in (program.parent / "tracy-capture", BIN / "tracy-capture"):
                for turn in range(int(os.environ.get("STROBE_TRACY_RUNS") or 3)):
                    with self.subTest(capture=str(capture), turn=turn):
                        own, got = self.live(program, capture)
                        self.assertEqual(own, got)
                        self.assertEqual((own["zones"], own["addresses in place of names"]), (403, 0))


class Captures(Tools):
    """Files that real captures write of real clients."""

    def test_come_back_with_every_row_of_every_table(self):
        for program in sorted(TOOLS.glob("0.14*/rich_full")):
            port, before, trace, after = free_port(), TMP / "full.tracy", TMP / "full.strobe", TMP / "again.tracy"
            client = subprocess.Popen(traced(program), env={**os.environ, "TRACY_PORT": str(port), "TRACY_NO_EXIT": "1"},
                                      stdout=subprocess.DEVNULL)
            self.addCleanup(client.kill)
            run(program.parent / "tracy-capture", "-f", "-o", before, "-a", "127.0.0.1", "-p", port, timeout=300)
            client.wait(60)
            strobe("import", "-f", "-o", trace, before)
            said = strobe("export", "--to", "tracy-0.14", "-o", after, trace).stderr
            was, now = tables.File(before), tables.File(after)
            self.assertEqual({table: rows[:1] for table, rows in tables.lacks(was, now).items()}, {})
            self.assertNotIn("left out", said)
            for options in TABLES + [["-g"], ["-u", "-p"]]:
                for tool in (program.parent / "tracy-csvexport",):
                    self.assertEqual(*(sorted(run(tool, *options, path).stdout.splitlines()) for path in (before, after)), options)

    def test_are_read_as_their_own_csvexport_reads_them(self):
        for version, tool, flavor in versions("tracy-capture"):
            reader = TOOLS / version / "tracy-csvexport"
            for program in sorted((TOOLS / version).glob("rich*")):
                port, out = free_port(), TMP / f"{version}-{program.name}.tracy"
                trace = out.with_suffix(".strobe")
                client = subprocess.Popen([str(program)], env={**os.environ, "TRACY_PORT": str(port), "TRACY_NO_EXIT": "1"}, stdout=subprocess.DEVNULL)
                self.addCleanup(client.kill)
                run(tool, "-f", "-o", out, "-a", "127.0.0.1", "-p", port, timeout=60)
                client.wait(20)
                strobe("import", "-f", "-o", trace, out)
                for options in TABLES + ([] if flavor == "0.11" else [["-g"]]):
                    want = run(reader, *options, out).stdout
                    for path in (out, trace):
                        with self.subTest(version=version, file=path.name, options=options):
                            self.assertEqual(same(csvexport("--flavor", flavor, *options, path), want, options), "")


if __name__ == "__main__":
    if not any(versions("*")):
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
