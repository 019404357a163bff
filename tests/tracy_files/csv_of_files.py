#!/usr/bin/env python3
"""csv_of_files.py CSVEXPORT DATA [STROBE]: the tables of every .tracy file in DATA are those that the
real csvexport of its version printed. With STROBE, of the traces that it imports from them."""
import pathlib
import subprocess
import sys
import tempfile

import same_csv

TABLES = {
    "csv": [],
    "self.csv": ["-e"],
    "unwrap.csv": ["-u"],
    "unwrap_self.csv": ["-u", "-e"],
    "messages.csv": ["-m"],
    "plots.csv": ["-u", "-p"],
    "gpu.csv": ["-g"],
}


def check(tool, trace, flavor, want, options):
    out = subprocess.run([tool, "--flavor", flavor, *options, str(trace)], capture_output=True, text=True)
    assert out.returncode == 0 and not out.stderr, out.stderr
    compare = same_csv.same_unwrapped if "-u" in options else same_csv.same_plain
    return compare(out.stdout, want.read_text())


def main():
    tool, data = sys.argv[1], pathlib.Path(sys.argv[2])
    n = wrong = 0
    folder = tempfile.TemporaryDirectory()
    for trace in sorted(data.glob("v0.*/*.tracy")):
        shown = trace
        if len(sys.argv) > 3:
            shown = pathlib.Path(folder.name) / f"{trace.parent.name}.{trace.stem}.strobe"
            subprocess.run([sys.argv[3], "import", "-o", str(shown), str(trace)], check=True, stderr=subprocess.DEVNULL)
        flavor = trace.parent.name[1:].rsplit(".", 1)[0]
        for end, options in TABLES.items():
            want = trace.with_name(f"{trace.stem}.{end}")
            if not want.exists():
                continue
            n += 1
            said = check(tool, shown, flavor, want, options)
            if said:
                wrong += 1
                print(f"{want}: {said}")
    print(f"{n} tables, {wrong} wrong")
    return 1 if wrong or not n else 0


if __name__ == "__main__":
    sys.exit(main())
