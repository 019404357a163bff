#!/usr/bin/env python3
"""fleet.py - traces of many runs in one lake, and the question which zone became slower between two sets of runs, asked of DuckDB,
ClickHouse or Spark with the same SQL.

    fleet.py load LAKE TRACE...                                   every trace becomes a run, called as its file
    fleet.py slower LAKE 'w31-*' 'w32-*' --engine duckdb          duckdb, clickhouse or spark

Needs the command `strobe`, and of pip the engine that is asked: duckdb, chdb, or pyspark with a Java. SPDX-License-Identifier: MIT"""
import argparse
import fnmatch
import pathlib
import subprocess
import sys

# The mean of a zone's mean over the runs of each side: a run is one observation, however many zones it has. The source is the only
# word that differs between the engines.
SLOWER = """
WITH per_run AS (
    SELECT run, name, count(dur) AS zones, avg(dur) AS mean_ns FROM {source} WHERE dur IS NOT NULL GROUP BY run, name
), sides AS (
    SELECT name,
           avg(CASE WHEN run IN ({before}) THEN mean_ns END) AS before_ns,
           avg(CASE WHEN run IN ({after}) THEN mean_ns END) AS after_ns,
           sum(zones) AS zones
    FROM per_run WHERE run IN ({before}, {after}) GROUP BY name
)
SELECT name, before_ns, after_ns, after_ns / before_ns AS ratio, zones
FROM sides WHERE before_ns > 0 AND after_ns > 0 ORDER BY ratio DESC, name LIMIT {limit}
"""


def load(lake, traces, strobe="strobe"):
    """Write each trace below the folder of its run."""
    for trace in traces:
        subprocess.run([strobe, "export", "--to", "parquet", "-o", lake, trace], check=True)


def runs(lake, pattern):
    """The runs whose names match, as words of SQL."""
    found = sorted(path.name[4:] for path in pathlib.Path(lake).glob("run=*") if fnmatch.fnmatch(path.name[4:], pattern))
    if not found:
        sys.exit(f"no run in {lake} matches {pattern}")
    return ", ".join("'" + name.replace("'", "''") + "'" for name in found)


def by_duckdb(sql, files):
    import duckdb
    return duckdb.sql(sql.replace("{source}", f"read_parquet('{files}', hive_partitioning = true)")).fetchall()


def by_clickhouse(sql, files):
    import json

    import chdb
    text = chdb.query(sql.replace("{source}", f"file('{files}', Parquet)") + " SETTINGS use_hive_partitioning = 1", "JSONCompactEachRow")
    return [(*row[:4], int(row[4])) for row in map(json.loads, str(text).splitlines())]


def by_spark(sql, files):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
    spark.read.option("basePath", files.split("/*")[0]).parquet(files).createOrReplaceTempView("zone")
    return [tuple(row) for row in spark.sql(sql.replace("{source}", "zone")).collect()]


ENGINES = {"duckdb": by_duckdb, "clickhouse": by_clickhouse, "spark": by_spark}


def slower(lake, before, after, engine, limit=20):
    """Rows (name, ns before, ns after, ratio, zones), the largest ratio first."""
    sql = SLOWER.replace("{before}", runs(lake, before)).replace("{after}", runs(lake, after)).replace("{limit}", str(limit))
    return ENGINES[engine](sql, f"{lake}/*/*/*/zone.parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    loading = commands.add_parser("load")
    loading.add_argument("lake")
    loading.add_argument("traces", nargs="+")
    asking = commands.add_parser("slower")
    asking.add_argument("lake")
    asking.add_argument("before")
    asking.add_argument("after")
    asking.add_argument("--engine", choices=ENGINES, default="duckdb")
    given = parser.parse_args()
    if given.command == "load":
        load(given.lake, given.traces)
        return
    print(f"{'zone':40} {'before ns':>14} {'after ns':>14} {'ratio':>8} {'zones':>12}")
    for name, before, after, ratio, zones in slower(given.lake, given.before, given.after, given.engine):
        print(f"{name[:40]:40} {before:14.1f} {after:14.1f} {ratio:8.4f} {zones:12}")


if __name__ == "__main__":
    main()
