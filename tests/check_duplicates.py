#!/usr/bin/env python3
"""check_duplicates.py ROOT: no six lines of code in a row stand twice in src/. Comments, blank lines, lone punctuation, #include
and labels of a switch do not count; white space is folded.

A pair that repeats by nature is a line of tests/known_duplicates.txt, with its reason:
    src/room/file.c src/room/other.c: why"""
import collections
import pathlib
import re
import sys

import house

RUN = 6
THIN = re.compile(r"(?:case [\w ]+:)?[\s{}()\[\];,*/\\]*(?:else|break;|return;|default:)?[\s{}()\[\];,*/\\]*$")


def lines_of(path):
    """(number, code) of the lines that count."""
    text = path.read_text(errors="replace")
    plain = house.C_TOKEN.sub(lambda m: house.blank(m.group()) if m.group().startswith("/") else m.group(), text)
    for number, line in enumerate(plain.splitlines(), 1):
        code = " ".join(line.split())
        if not THIN.match(code) and not code.startswith("#include"):
            yield number, code


def runs_of(root):
    """{six lines: [(file, index of its first in the file's lines)]}, and the lines of each file."""
    runs, files = collections.defaultdict(list), {}
    for path in sorted((root / "src").rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        files[name] = list(lines_of(path))
        codes = [code for _, code in files[name]]
        for i in range(len(codes) - RUN + 1):
            runs["\n".join(codes[i:i + RUN])].append((name, i))
    return runs, files


def pairs_of(runs):
    """Pairs of places, each the first of its run: those one line further are of the same."""
    places = {(a, b) for where in runs.values() for k, a in enumerate(where) for b in where[k + 1:]}
    return sorted((a, b) for a, b in places if ((a[0], a[1] - 1), (b[0], b[1] - 1)) not in places)


def length(files, a, b):
    n = 0
    while a[1] + n < len(files[a[0]]) and b[1] + n < len(files[b[0]]) and files[a[0]][a[1] + n][1] == files[b[0]][b[1] + n][1]:
        n += 1
    return n


def known(root):
    """The pairs of files that may have the same lines, and why."""
    pairs = {}
    for line in (root / "tests" / "known_duplicates.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            files, why = line.split(":", 1)
            pairs[tuple(sorted(files.split()))] = why.strip()
    return pairs


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    runs, files = runs_of(root)
    allowed, used, wrong = known(root), set(), []
    for a, b in pairs_of(runs):
        pair = tuple(sorted((a[0], b[0])))
        used.add(pair)
        if pair not in allowed:
            first, second = (f"{name}:{files[name][i][0]}" for name, i in (a, b))
            wrong.append(f"{first} and {second}: the same {length(files, a, b)} lines")
    wrong += [f"tests/known_duplicates.txt: {' '.join(pair)} gives no reason" for pair, why in allowed.items() if not why]
    for pair in sorted(set(allowed) - used):
        print(f"tests/known_duplicates.txt: {' '.join(pair)} have no lines in common any more: the line can go")
    print("\n".join(wrong) or f"{len(files)} files, {sum(map(len, files.values()))} lines of code; {len(used)} known pairs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
