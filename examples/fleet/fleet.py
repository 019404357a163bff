#!/usr/bin/env python3
"""fleet.py - traces of many runs in one lake, and questions to all of them, asked of DuckDB, ClickHouse or Spark with the same SQL.

    fleet.py load LAKE TRACE...                               every trace becomes a run, called as its file
    fleet.py slower LAKE 'w31-*' 'w32-*'                      which zone became slower between these two weeks
    fleet.py regressions LAKE '*'                             of each zone the run at which it became slower
    fleet.py ops LAKE 'w32-*'                                 the op report of a device, over runs

--engine duckdb, clickhouse or spark; --from zone: slower from the zones themselves; --sql prints what is asked. Needs the command `strobe`,
and of pip the engine that is asked: duckdb, chdb, or pyspark with a Java. SPDX-License-Identifier: MIT"""
import argparse
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).parent
FILES = {"zone": "*/*/*/zone.parquet", "stat": "*/*/stat.parquet", "op": "*/*/op.parquet"}


def load(lake, traces, strobe="strobe"):
    """Write each trace below the folder of its run."""
    for trace in traces:
        subprocess.run([strobe, "export", "--to", "parquet", "-o", lake, trace], check=True)


def runs(lake, pattern):
    """The runs whose names match, as words of SQL."""
    names = (urllib.parse.unquote(path.name[4:]) for path in pathlib.Path(lake).glob("run=*"))
    found = sorted(fnmatch.filter(names, pattern))
    if not found:
        sys.exit(f"no run in {lake} matches {pattern}")
    return ", ".join("'" + name.replace("'", "''") + "'" for name in found)


def question(name, **words):
    """The SQL of a question; {zone}, {stat} and {op} are left to the engine."""
    text = (HERE / f"{name}.sql").read_text()
    return re.sub(r"\{(\w+)\}", lambda found: str(words.get(found[1], found[0])), text)


def fill(sql, source):
    return re.sub(r"\{(zone|stat|op)\}", lambda found: source(found[1]), sql)


def duckdb_sql(sql, lake):
    return fill(sql, lambda table: f"read_parquet('{lake}/{FILES[table]}', hive_partitioning = true, hive_types_autocast = false)")


def clickhouse_sql(sql, lake):
    return fill(sql, lambda table: f"file('{lake}/{FILES[table]}', Parquet)") + "SETTINGS use_hive_partitioning = 1"


def spark_sql(sql, lake):
    return fill(sql, lambda table: table)


def by_duckdb(sql, lake):
    import duckdb
    return [tuple(row) for row in duckdb.sql(duckdb_sql(sql, lake)).fetchall()]


def by_clickhouse(sql, lake):
    import chdb
    text = str(chdb.query(clickhouse_sql(sql, lake) + ", output_format_json_quote_64bit_integers = 0", "JSONCompactEachRow"))
    return [tuple(json.loads(line)) for line in text.splitlines()]


def by_spark(sql, lake):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1").config(
        "spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "4").config("spark.sql.sources.partitionColumnTypeInference.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for table in re.findall(r"\{(zone|stat|op)\}", sql):
        spark.read.option("basePath", str(lake)).parquet(f"{lake}/{FILES[table]}").createOrReplaceTempView(table)
    return [tuple(row) for row in spark.sql(spark_sql(sql, lake)).collect()]


ENGINES = {"duckdb": (by_duckdb, duckdb_sql), "clickhouse": (by_clickhouse, clickhouse_sql), "spark": (by_spark, spark_sql)}
HEADS = {"slower": ("zone", "before ns", "after ns", "ratio", "zones"), "regressions": ("zone", "from run", "before ns", "after ns", "ratio"),
         "ops": ("op", "ops", "kernel ns", "mean ns", "longest ns", "mean gap ns", "util", "bound")}


def slower(lake, before, after, engine, limit=20, source="stat"):
    """Rows (zone, ns before, ns after, ratio, zones), the largest ratio first."""
    sql = question("slower_zones" if source == "zone" else "slower", before=runs(lake, before), after=runs(lake, after), limit=limit)
    return ENGINES[engine][0](sql, lake)


def regressions(lake, pattern, engine, limit=20, least=3):
    """Rows (zone, run, ns before, ns after, ratio), the largest ratio first; `least` runs are on either side of each."""
    return ENGINES[engine][0](question("regressions", runs=runs(lake, pattern), limit=limit, least=least), lake)


def ops(lake, pattern, engine, limit=40):
    """Rows (op, times, ns in kernels, their mean, the longest, mean gap before it, use of the cores, what bounds it)."""
    return ENGINES[engine][0](question("ops", runs=runs(lake, pattern), limit=limit), lake)


def show(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=("load", *HEADS))
    parser.add_argument("lake")
    parser.add_argument("words", nargs="+", metavar="TRACE or RUNS", help="traces to load; patterns of runs: slower wants two")
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--from", dest="source", choices=("stat", "zone"), default="stat")
    parser.add_argument("--sql", action="store_true", help="print the statement as the engine gets it")
    given = parser.parse_args()
    if given.question == "load":
        load(given.lake, given.words)
        return
    if len(given.words) != (2 if given.question == "slower" else 1):
        parser.error("slower wants two patterns of runs, the others one")
    if given.sql:
        for name, (_, text_of) in ENGINES.items():
            ENGINES[name] = (lambda sql, lake, text_of=text_of: print(text_of(sql, lake)) or [], text_of)
    rows = (slower(given.lake, *given.words, given.engine, source=given.source) if given.question == "slower"
            else globals()[given.question](given.lake, given.words[0], given.engine))
    if given.sql:
        return
    table = [HEADS[given.question], *([show(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))))


if __name__ == "__main__":
    main()
