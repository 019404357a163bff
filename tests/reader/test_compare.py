#!/usr/bin/env python3
"""test_compare.py STROBE: the command and the Python reader agree on synthetic traces, whole and damaged."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WRITER = os.path.join(HERE, "strobe_writer.py")
SHAPES = (
    ("zones", "--zones 3000 --threads 3 --seed 1"),
    ("all", "--zones 3000 --threads 5 --procs 2 --seed 2 --kinds all"),
    ("blocks", "--zones 2000 --threads 4 --procs 3 --seed 3 --kinds all --block-events 100 --index-every 3"),
    ("killed", "--zones 2000 --threads 2 --seed 4 --kinds all --block-events 300 --no-footer"),
)


def damage(path, folder):
    """Cut and holed copies of a trace."""
    with open(path, "rb") as file:
        data = file.read()
    cut = len(data) * 3 // 4
    hole = (69632 + len(data)) // 2 & ~4095
    for name, bad in (("cut", data[:cut]), ("holed", data[:hole] + bytes(4096) + data[hole + 4096:])):
        copy = os.path.join(folder, f"{name}.strobe")
        with open(copy, "wb") as file:
            file.write(bad)
        yield copy


def main():
    with tempfile.TemporaryDirectory(prefix="strobe-compare-") as folder:
        paths = []
        for name, options in SHAPES:
            paths.append(os.path.join(folder, f"{name}.strobe"))
            subprocess.run([sys.executable, "-B", WRITER, paths[-1], *options.split()], check=True)
        paths += damage(paths[2], folder)
        return subprocess.run([sys.executable, "-B", os.path.join(HERE, "compare.py"), sys.argv[1], *paths],
                              check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
