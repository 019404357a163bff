"""test_hostile.py HOSTILE MAKE_TRACE [--count N] [--seed S] [--late] [--show]: statements that mean harm, made by a seed. Each is answered or refused with words, stays
within its memory, and writes nothing; with --late, it ends at most 50 ms of CPU time after its time is over, too.
SPDX-License-Identifier: MIT"""
import argparse
import collections
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TIMEOUT_MS, HEAP_MIB, LATE_NS = 20, 32, 50_000_000
TABLES = ("zone", "slice", "thread", "process", "loc", "stat", "counter", "message", "alloc", "flow", "frame", "lock_wait", "sched", "arg", "thread_state", "thread_or_process_slice",
          "zone_sum", "counter_track", "op", "coverage", "run", "sqlite_master", "sqlite_schema", "pragma_table_info('zone')", "json_each('[1,2,3]')", "json_tree('{\"a\":[1]}')")


class Maker:
    """Statements of every kind of harm."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self):
        return self.random.choice([getattr(self, name) for name in sorted(dir(self)) if name.startswith("make_")])()

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self):
        return self.pick(0, 1, -1, 7, 1000, 999_999, 1_000_000, 1_048_576, 2_000_000, 2**31 - 1, 2**31, 2**63 - 1, -2**63, 1e308, 0.5)

    def text(self):
        """An expression whose value is long."""
        n = self.pick(1000, 100_000, 500_000, 999_999)
        return self.pick(f"hex(zeroblob({n // 2}))", f"printf('%.{n}c', 'a')", f"replace(hex(zeroblob({n // 2})), '0', 'a')", f"printf('%{n}s', 'ab')",
                         f"hex(randomblob({n // 2}))", f"quote(zeroblob({n // 2}))")

    def make_recursion(self):
        step = self.pick("i + 1", "i * 2", "i || i", "i || 'x'", "printf('%s%s', i, i)", "(SELECT max(i) FROM loc) + 1")
        use = self.pick("count(*)", "max(i)", "sum(length(i))", "group_concat(i)", "count(DISTINCT i)", "json_group_array(i)", "total(i)")
        union = self.pick("UNION ALL", "UNION")
        return f"WITH RECURSIVE n(i) AS (SELECT 1 {union} SELECT {step} FROM n{self.pick('', ' LIMIT 100000000', ' ORDER BY 1 DESC')}) SELECT {use} FROM n"

    def make_product(self):
        tables = [f"{self.pick(*TABLES)} AS t{i}" for i in range(self.random.randrange(2, 12))]
        what = self.pick("count(*)", "*", "max(t0.rowid)", "group_concat(t0.trace_id)", "DISTINCT t0.*, t1.*")
        return f"SELECT {what} FROM {self.pick(', ', ' CROSS JOIN ', ' NATURAL JOIN ', ' LEFT JOIN ').join(tables)}{self.pick('', ' ORDER BY 1', ' ORDER BY random()', ' GROUP BY 2', ' LIMIT 5')}"

    def make_sort(self):
        n = self.pick(100_000, 10_000_000, 10**12)
        return (f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {n}) SELECT {self.pick('i', 'i, i, i', 'i, hex(randomblob(100))', '*')} FROM n "
                f"ORDER BY {self.pick('-i', 'random()', 'i % 7, i', 'hex(i)')} {self.pick('', 'LIMIT 1 OFFSET 99999')}")

    def make_group(self):
        key = self.pick("i", "i % 1000003", "hex(i)", "random()", "i || ''")
        return (f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {key}, count(*), {self.pick('max(i)', 'group_concat(i)', 'count(DISTINCT i)', 'json_group_array(i)')} "
                f"FROM n GROUP BY {self.pick('1', '1, 1', key)} {self.pick('', 'HAVING count(*) > 1', 'ORDER BY 2')}")

    def make_window(self):
        frame = self.pick("", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                          "GROUPS BETWEEN 5 PRECEDING AND 5 FOLLOWING EXCLUDE TIES")
        return f"SELECT {self.pick('max(ts)', 'group_concat(name)', 'count(*)', 'nth_value(ts, 3)', 'min(dur)')} OVER (ORDER BY {self.pick('ts', 'name', 'dur', '1')} {frame}) FROM {self.pick('zone', 'slice', 'zone, thread')}"

    def make_long_text(self):
        f = self.pick("length", "upper", "lower", "hex", "trim", "quote", "json_valid", "json_quote", "unicode", "typeof", "soundex", "json")
        return f"SELECT {f}({self.text()}) {self.pick('', 'FROM zone', 'FROM zone, zone', '|| ' + self.text())}"

    def make_bomb(self):
        f = self.pick("zeroblob", "randomblob", "char", "printf", "hex", "abs", "round")
        return f"SELECT {f}({', '.join(str(self.number()) for _ in range(self.random.randrange(1, 4)))})"

    def make_format(self):
        n = self.number()
        return f"SELECT printf('%{self.pick('', '-', '0', '+', ',')}{self.pick('*', '1000000', '2147483647', '99')}.{self.pick('*', '1000000', '2147483646', '5')}{self.pick('d', 'f', 's', 'c', 'x', 'e', 'g', 'Q', 'w', 'n', 'p')}', {n}, {n}, {n})"

    def make_wildcards(self):
        k = self.random.randrange(3, 330)
        star, one = ("%", "_") if self.pick(0, 1) else ("*", "?")
        pattern = "".join(self.pick(star + "a", star + one, star + "ab", "a" + star, star * 3) for _ in range(k))[:990] + "b"
        return f"SELECT {self.text()} {'LIKE' if star == '%' else 'GLOB'} '{pattern}' {self.pick('', 'FROM zone', 'FROM zone, zone')}"

    def make_sets(self):
        return f"SELECT {self.text()} GLOB '{''.join(self.pick('*[a-z]', '*[^b]', '[', '*[]a]', '[a-', '*[z-a]') for _ in range(self.random.randrange(2, 100)))}' FROM zone"

    def make_search(self):
        n = self.pick(1000, 400_000)
        many = f"printf('%.{n}c', 'a')"
        f = self.pick(f"instr(printf('%.{2 * n}c', 'a'), {many} || 'b')", f"replace(printf('%.{2 * n}c', 'a'), {many} || 'b', 'c')", f"replace({many}, 'a', {many})",
                      f"trim({many}, replace({many}, 'a', 'b') || 'a')", f"rtrim({many}, replace({many}, 'a', 'é') || 'a')", f"ltrim({many}, {many})")
        return f"SELECT length({f}) {self.pick('', 'FROM zone')}"

    def make_depth(self):
        n = self.pick(50, 190, 500, 5000)
        return self.pick(f"SELECT {'(' * n}1{')' * n}", f"SELECT {'-' * n}1".replace("--", "- -"), f"SELECT {'1+' * n}1", f"SELECT {'NOT ' * n}1", f"SELECT {'abs(' * n}1{')' * n}",
                         "SELECT * FROM " + "(SELECT * FROM " * min(n, 300) + "loc" + ")" * min(n, 300), f"SELECT {'CASE WHEN 1 THEN ' * n}1{' END' * n}",
                         " UNION ALL ".join(["SELECT 1"] * n), f"VALUES {','.join(['(1)'] * n)}", f"SELECT 1 IN ({','.join(map(str, range(n)))})",
                         f"SELECT json('{'[' * n}{']' * n}')", f"SELECT * FROM json_tree('{'[' * n}{']' * n}')")

    def make_wide(self):
        n = self.pick(10, 100, 1000, 1990)
        what = self.pick("1", "hex(randomblob(50000))", f"length({self.text()})", "(SELECT count(*) FROM loc)", "(SELECT max(ts) FROM zone)", f"max({', '.join(['length(hex(randomblob(200000)))'] * 40)})")
        return f"SELECT {', '.join([what] * (n if len(what) * n < 900_000 else 5))}"

    def make_many_joins(self):
        n = self.random.randrange(5, 70)
        table = self.pick("loc", "thread", "zone", "process")
        return f"SELECT count(*) FROM {', '.join(f'{table} t{i}' for i in range(n))} WHERE " + " AND ".join(f"t{i}.id = t{i + 1}.id" for i in range(n - 1))

    def make_many_conditions(self):
        n = self.pick(10, 100, 190)
        return "SELECT count(*) FROM zone WHERE " + self.pick(" OR ", " AND ").join(f"{self.pick('ts', 'dur', 'track_id', 'name')} {self.pick('=', '<', '>', 'LIKE')} {self.random.randrange(10**6)}" for _ in range(n))

    def make_correlated(self):
        return f"SELECT (SELECT count(*) FROM {self.pick('zone', 'slice', 'arg', 'flow', 'lock_wait')} b WHERE b.trace_id = a.trace_id AND {self.pick('1', 'b.rowid > a.rowid')}) FROM {self.pick('zone', 'loc')} a"

    def make_write(self):
        return self.pick("CREATE TABLE t(x)", "CREATE TEMP TABLE t AS SELECT 1", "CREATE VIEW v AS SELECT 1", "CREATE TRIGGER t AFTER INSERT ON zone BEGIN SELECT 1; END", "CREATE INDEX i ON zone(ts)",
                         "INSERT INTO zone(ts) VALUES (1)", "REPLACE INTO loc VALUES (1)", "DELETE FROM zone", "UPDATE loc SET name = 'x'", "DROP VIEW slice", "DROP TABLE zone", "ALTER TABLE zone RENAME TO y",
                         "ATTACH 'x.db' AS x", "ATTACH ':memory:' AS x", "ATTACH 'file:x?vfs=unix' AS x", "DETACH main", "VACUUM", "VACUUM INTO 'x.db'", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s",
                         "ANALYZE", "REINDEX", "PRAGMA temp_store = 1", "PRAGMA temp_store_directory = '.'", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1", "PRAGMA cache_size = 100000000",
                         "PRAGMA mmap_size = 1000000000", "PRAGMA hard_heap_limit = 0", "PRAGMA table_info(zone)", "PRAGMA data_store_directory = '/tmp'", "SELECT load_extension('x.so')",
                         "SELECT load_extension('/lib/x86_64-linux-gnu/libm.so.6', 'sin')", "SELECT writefile('x', 'y')", "SELECT readfile('/etc/passwd')", "SELECT edit('x')", "SELECT fts3_tokenizer('simple')",
                         "SELECT sqlite_compileoption_get(1)", "CREATE VIRTUAL TABLE t USING zone", "CREATE VIRTUAL TABLE t USING fts5(x)", "CREATE VIRTUAL TABLE t USING rtree(a, b, c)", "EXPLAIN SELECT * FROM zone",
                         "EXPLAIN QUERY PLAN SELECT * FROM zone", "INSERT INTO sqlite_master VALUES (1,2,3,4,5)", "SELECT * FROM dbstat", "SELECT * FROM sqlite_dbpage", "SELECT * FROM pragma_database_list",
                         "INCLUDE PERFETTO MODULE android.startup;", "INCLUDE PERFETTO MODULE " + "a." * 5000 + ";")

    def make_broken(self):
        text = getattr(self, self.pick("make_product", "make_sort", "make_group", "make_wildcards"))()[:3000]
        at = self.random.randrange(len(text))
        return self.pick(text[:at], text[at:], text[:at] + self.pick("'", '"', "[", "/*", "--", "\0", "\x01", "é", ";", "(", "$", "?1", "@x") + text[at:], "/*", "--", "''", "x'0", ";" * 50)

    def make_huge(self):
        n = self.pick(10_000, 200_000)
        return self.pick("SELECT '" + "x" * n + "'", "SELECT " + "1," * n + "1", "SELECT \"" + "a" * n + "\"", "--" + "c" * n, " " * n + "SELECT 1", "SELECT " + "a" * n, ";" * n, "SELECT " + "(" * n)


def run(binary, trace, statements, folder):
    """What the driver says of each."""
    data = b"".join(b"%d\n%s" % (len(text), text) for text in (statement.encode().replace(b"\0", b" ") for statement in statements))
    done = subprocess.run([binary, trace, str(TIMEOUT_MS), str(HEAP_MIB)], input=data, capture_output=True, cwd=folder, env={**os.environ, "TMPDIR": str(folder), "SQLITE_TMPDIR": str(folder)})
    lines = done.stdout.decode(errors="replace").splitlines()
    return done, [line for line in lines if not line.startswith("rss ")], [int(line.split()[1]) for line in lines if line.startswith("rss ")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hostile")
    parser.add_argument("make_trace")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--late", action="store_true", help="whoever is over 50 ms late fails; else it is only printed")
    parser.add_argument("--show", action="store_true", help="the latest ones")
    args = parser.parse_args()
    maker = Maker(args.seed)
    statements = [maker.one() for _ in range(args.count)]
    failures, latest, words = [], [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="strobe-hostile-") as folder:
        folder = pathlib.Path(folder)
        trace, empty = folder / "made.strobe", folder / "empty"
        empty.mkdir()
        subprocess.run([os.path.abspath(args.make_trace), trace, "30000", "3", "40"], check=True, capture_output=True)
        done, lines, rss = run(os.path.abspath(args.hostile), trace, statements, empty)
        if done.returncode or len(lines) != len(statements) or not rss:
            at = len(lines)
            sys.exit(f"ended with {done.returncode} at statement {at} of seed {args.seed}: {statements[at][:2000] if at < len(statements) else ''}\n{done.stderr.decode(errors='replace')[-3000:]}")
        for statement, line in zip(statements, lines):
            code, late, heap, *error = line.split(" ", 3)
            error = error[0] if error else ""
            words["answered" if code == "0" else "over its time" if "--timeout" in error else "over its memory" if "--memory" in error else "refused"] += 1
            latest.append((int(late), statement))
            if args.late and int(late) > LATE_NS:
                failures.append(f"{int(late) / 1e6:.1f} ms late: {statement[:300]}")
            if int(heap) > (HEAP_MIB << 20):
                failures.append(f"{int(heap) >> 20} MiB: {statement[:300]}")
            if code != "0" and not error:
                failures.append(f"refused without a word: {statement[:300]}")
        if list(empty.iterdir()):
            failures.append(f"files were written: {list(empty.iterdir())}")
    latest.sort(key=lambda pair: -pair[0])
    print(f"{len(statements)} statements of seed {args.seed}: " + ", ".join(f"{n} {what}" for what, n in sorted(words.items())) +
          f"; at most {latest[0][0] / 1e6:.1f} ms of CPU time late; {rss[0] >> 10} MiB resident")
    if args.show:
        for late, statement in latest[:15]:
            print(f"{late / 1e6:8.1f} ms  {statement[:200]}")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
