"""test_agree.py STROBE DEMO MAKE_TRACE BUILD [unittest arguments]: the numbers of five traces are the same to the last digit wherever they are asked for:
`stats`, `query` by each of its ways, Python, the page (its own modules and its server), and DuckDB, polars, ClickHouse (chdb) and Spark on Parquet.
Libraries come by pip and npm, into the build folder; without them the test is skipped, and says so.
SPDX-License-Identifier: MIT"""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
import test_duck  # noqa: E402
import test_export  # noqa: E402

STROBE = DEMO = MAKE = BUILD = None
LIBRARIES = (*test_export.LIBRARIES, "pyspark")
SUMS = "count(*) AS n, count(dur) AS ended, sum(dur) AS total, min(dur) AS least, max(dur) AS most, sum(self) AS own, max(depth) AS deep"
BY_NAME = f"SELECT name, {SUMS} FROM {{}} GROUP BY name"
STAT = "SELECT name, function, line, count, total, self, min, max FROM {} WHERE kind = 'zone'"


def run(*arguments, **more):
    done = subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, **more)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def rows_of(rows):
    """In one order; numbers as integers, no sum as 0."""
    plain = [tuple(int(cell) if isinstance(cell, (int, float)) or (isinstance(cell, str) and re.fullmatch(r"-?\d+", cell)) else cell or None for cell in row) for row in rows]
    return sorted((tuple(0 if cell is None and i else cell for i, cell in enumerate(row)) for row in plain), key=repr)


class Agree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-agree-"))
        cls.lake, session = cls.folder / "lake", cls.folder / "session"
        session.mkdir(mode=0o700)
        run("record", "-q", "-o", cls.folder / "demo.strobe", "--", DEMO, "2", env={**os.environ, "STROBE_DIR": str(session)})
        subprocess.run([MAKE, cls.folder / "made.strobe", "200000", "3", "40"], check=True, capture_output=True)  # row groups that are packed and not
        subprocess.run([os.environ["STROBE_TEST_PYTHON"], "-B", HERE.parent / "viewer" / "traces_same.py", cls.folder], check=True)
        (cls.folder / "names.strobe").unlink()
        cls.files = sorted(cls.folder.glob("*.strobe"))
        assert len(cls.files) == 5, cls.files
        for file in cls.files:
            run("export", "--to", "parquet", "-o", cls.lake, file)
        cls.expected = {file: rows_of(cls.query(file, BY_NAME.format("zone"), "--no-shortcut")) for file in cls.files}
        assert all(cls.expected.values())
        cls.expected_stat = {file: rows_of(cls.query(file, STAT.format("stat"))) for file in cls.files}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @staticmethod
    def query(file, sql, *options):
        return list(csv.reader(io.StringIO(run("query", "--format", "csv", *options, file, sql))))[1:]

    def parquet(self, file, table):
        return sorted(map(str, (self.lake / f"run={file.stem}").rglob(f"{table}.parquet")))

    def agree(self, ask, ask_stat):
        """Both questions of every trace."""
        for file in self.files:
            with self.subTest(file.name):
                self.assertEqual(rows_of(ask(file)), self.expected[file])
                self.assertEqual(rows_of(ask_stat(file)), self.expected_stat[file])

    def test_stats(self):
        columns = ("name", "function", "line", "count", "total_ns", "self_ns", "min_ns", "max_ns")
        for file in self.files:
            rows = csv.DictReader(io.StringIO(run("stats", "--csv", file)))
            self.assertEqual(rows_of([row[name] for name in columns] for row in rows), self.expected_stat[file])

    def test_querys_own_sums(self):
        self.agree(lambda file: self.query(file, BY_NAME.format("zone")), lambda file: self.query(file, STAT.format("stat"), "--no-shortcut"))

    def test_query_by_duckdb(self):
        if not os.environ.get("STROBE_DUCKDB"):
            self.skipTest("no libduckdb.so")
        self.agree(lambda file: self.query(file, BY_NAME.format("zone"), "--engine", "duckdb"), lambda file: self.query(file, STAT.format("stat"), "--engine", "duckdb"))

    def test_python_by_its_own_loop(self):
        import strobe

        def added(file):
            sums = {}
            for name, dur, own, depth in strobe.open(file).zones(columns=["name", "dur", "self", "depth"]):
                sums.setdefault(name, []).append((dur, own, depth))
            for name, zones in sums.items():
                durs = [dur for dur, _, _ in zones if dur is not None]
                yield (name, len(zones), len(durs), sum(durs), min(durs, default=None), max(durs, default=None), sum(own or 0 for _, own, _ in zones), max(depth for _, _, depth in zones))

        self.agree(added, lambda file: strobe.open(file).query(STAT.format("stat")))

    def test_duckdb_on_parquet(self):
        import duckdb
        source = "read_parquet({}, hive_partitioning = false)"
        self.agree(lambda file: duckdb.sql(BY_NAME.format(source.format(self.parquet(file, "zone")))).fetchall(),
                   lambda file: duckdb.sql(STAT.format(source.format(self.parquet(file, "stat")))).fetchall())

    def test_polars_on_parquet(self):
        import polars as pl

        def added(file):
            dur, own = pl.col("dur"), pl.col("self")
            return pl.scan_parquet(self.parquet(file, "zone"), hive_partitioning=False).group_by("name").agg(
                pl.len(), dur.count().alias("ended"), dur.sum().alias("total"), dur.min().alias("least"), dur.max().alias("most"), own.sum().alias("own"), pl.col("depth").max()).collect().rows()

        self.agree(added, lambda file: pl.read_parquet(self.parquet(file, "stat"), hive_partitioning=False).filter(pl.col("kind") == "zone").select(
            "name", "function", "line", "count", "total", "self", "min", "max").rows())

    def test_clickhouse_on_parquet(self):
        import chdb

        def ask(sql, file, table):
            source = f"file('{self.lake}/run={file.stem}/**/{table}.parquet', Parquet)"
            text = str(chdb.query(sql.format(source) + " SETTINGS output_format_json_quote_64bit_integers = 0, use_hive_partitioning = 0", "JSONCompactEachRow"))
            return map(json.loads, text.splitlines())

        self.agree(lambda file: ask(BY_NAME, file, "zone"), lambda file: ask(STAT, file, "stat"))

    @unittest.skipUnless(shutil.which("java"), "Spark needs Java")
    def test_spark_on_parquet(self):
        from pyspark.sql import SparkSession
        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1").config(
            "spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR").getOrCreate()

        def ask(sql, file, table):
            spark.read.parquet(*self.parquet(file, table)).createOrReplaceTempView("t")
            return map(tuple, spark.sql(sql.format("t")).collect())

        try:
            self.agree(lambda file: ask(BY_NAME, file, "zone"), lambda file: ask(STAT, file, "stat"))
        finally:
            spark.stop()

    @unittest.skipUnless(shutil.which("node"), "node runs the page's modules")
    def test_the_page(self):
        for file in self.files:
            os.utime(file, (1e9, 1e9))  # long ago: it is not being written
            done = subprocess.run(["node", HERE / "page_numbers.mjs", STROBE, file, BY_NAME.format("zone"), STAT.format("stat")], capture_output=True, text=True, check=True)
            told = json.loads(done.stdout)
            with self.subTest(file.name):
                self.assertEqual(rows_of(told["stats"]), self.expected_stat[file])
                for way in ("served", "own"):
                    sums, stat = told[way]
                    self.assertEqual(rows_of(sums["rows"]), self.expected[file])
                    self.assertEqual(rows_of(stat["rows"]), self.expected_stat[file])

    def test_every_example_of_the_document_answers(self):
        examples = re.findall(r"```sql\n(.*?)```", (HERE.parents[1] / "docs" / "query.md").read_text(), re.S)
        self.assertGreaterEqual(len(examples), 40)
        for file in self.files:
            for sql in examples:
                done = subprocess.run([STROBE, "query", "--format", "csv", file, sql], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, (file.name, sql, done.stderr))


def main():
    global STROBE, DEMO, MAKE, BUILD
    STROBE, DEMO, MAKE, BUILD = (os.path.abspath(path) for path in sys.argv[1:5])
    if sys.argv[5:6] == ["--inside"]:
        sys.path.insert(0, str(pathlib.Path(BUILD) / "python"))
        unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
    python = test_export.with_readers(BUILD, LIBRARIES)
    if not python:
        print("skipped: pip gets no pyarrow, polars, duckdb, chdb and pyspark")
        sys.exit(77)
    library = test_duck.find_library(BUILD)
    env = {**os.environ, "STROBE_TEST_PYTHON": sys.executable, **({"STROBE_DUCKDB": library} if library else {})}
    sys.exit(subprocess.run([python, "-B", __file__, *sys.argv[1:5], "--inside", *sys.argv[5:]], env=env, check=False).returncode)


if __name__ == "__main__":
    main()
