#!/usr/bin/env python3
"""check_kinds.py ROOT: numbers that are written down more than once are the same everywhere.

The sources are the lists in src/wire (kinds of events, facts, causes of losses) and the enums of include/strobe/strobe.h. Held to
them: the tables of docs/file-format.md, the second reader's schema and causes, the words of the Python module. The viewer's page
gets its numbers from cmake/page.cmake, which reads the C sources.
"""
import ast
import os
import re
import sys

ROW = re.compile(r'X\((\w+), (\d+),\s+"((?:[^"\\]|\\.)*)"(?:,\s*"(\w*)",\s*((?:"[^"]*"\s*)+))?\)')


def read(root, *path):
    with open(os.path.join(root, *path), encoding="utf-8") as file:
        return file.read()


def x_list(text, name):
    """{number: (text, letters, [field])} of an X list."""
    body = re.search(rf"#define {name}\(X\)(.*?[^\\])\n", text, re.S)[1].replace("\\\n", "\n")
    rows = {}
    for _, number, label, letters, fields in ROW.findall(body):
        names = "".join(re.findall(r'"([^"]*)"', fields))
        rows[int(number)] = (label, letters, names.split(",") if names else [])
    return rows


def enum(text, name, prefix):
    """{word: number} of an enum."""
    body = re.search(rf"enum {name} \{{(.*?)\}}", text, re.S)[1]
    return {word.lower(): int(number) for word, number in re.findall(rf"{prefix}(\w+) = (\d+)", body)}


def tables(document):
    """Cells of all table rows."""
    for line in document.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def named(cell):
    """[(number, name)] that the first cell of a row is about: '11 frame, 12 frame_start'."""
    return [(int(number), name) for number, name in re.findall(r"(\d+) ([a-z]\w*)", cell)]


def fields_of(cell):
    """The words of a cell that may be names of fields, explanations in brackets left out."""
    cell = re.sub(r"\([^()]*\)", "", cell.replace("**", ""))
    return re.findall(r"[a-z]\w*", cell)


def check_kinds(document, kinds):
    """The tables have each kind with its letters; fields are named in order."""
    seen = {}
    for cells in tables(document):
        if len(cells) >= 3 and re.match(r"\d+ [a-z]", cells[0]):
            for number, name in named(cells[0]):
                seen[number] = (name, cells[1], cells[2])
    for number, (name, letters, fields) in sorted(kinds.items()):
        if number <= 2 or number == 63:  # described in the table of symbols
            continue
        row = seen.pop(number, None)
        if row is None:
            yield f"kind {number} {name} is in no table"
            continue
        if row[0] != name:
            yield f"kind {number} is called {row[0]}, the source says {name}"
        if row[2] != (letters or "-"):
            yield f"kind {number} {name} has the letters {row[2]}, the source says {letters or '-'}"
        words = iter(fields_of(row[1]))
        if len(named(row[1])) == 0 and len(fields) and number not in (50, 51, 52, 53) and not all(field in words for field in fields):
            yield f"kind {number} {name} has not the fields {','.join(fields)} in this order"
    for number, row in sorted(seen.items()):
        yield f"kind {number} {row[0]} is in a table and not in the sources"


def check_schema(reader, kinds):
    """Lines of the second reader's schema are lines of the writer's."""
    lines = {f"{number} {name} {letters or '-'} {','.join(fields) or '-'}" for number, (name, letters, fields) in kinds.items()}
    for line in re.search(r'SCHEMA = """\\\n(.*?)"""', reader, re.S)[1].splitlines():
        if line not in lines:
            yield f"schema line '{line}' is not what src/wire has"


def check_causes(document, reader, causes):
    """Each cause is in the document's list, in order, and in the reader's."""
    text = re.search(r"Loss causes: (.*?)\n\n", document, re.S)[1]
    numbers = [int(n) for n in re.findall(r"(?:^|,\s)(\d+) [a-z]", text)]
    if numbers != sorted(causes):
        yield f"docs/file-format.md lists the causes {numbers}, the source has {sorted(causes)}"
    own = ast.literal_eval(re.search(r"LOSS_CAUSES = (\(.*?\))\n", reader, re.S)[1])
    if len(own) != len(causes):
        yield f"tests/reader/strobe_format.py has {len(own)} causes, the source {len(causes)}"


def check_words(root, header):
    """The words of the Python module are those of strobe.h."""
    text = read(root, "python", "strobe", "_events.py")
    for name, tag in (("SEVERITIES", "strobe_severity"), ("FORMATS", "strobe_plot_format")):
        words = ast.literal_eval(re.search(rf"^{name} = (\{{.*?\}})", text, re.M | re.S)[1])
        if words != enum(header, tag, "STROBE_"):
            yield f"python/strobe/_events.py: {name} is {words}, enum {tag} has {enum(header, tag, 'STROBE_')}"
    document = read(root, "docs", "file-format.md")
    for word, number in enum(header, "strobe_severity", "STROBE_").items():
        if f"{number} {word}" not in document:
            yield f"docs/file-format.md does not say that severity {number} is {word}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    wire, layout = read(root, "src", "wire", "kinds.h"), read(root, "src", "wire", "file_layout.h")
    kinds = {**x_list(wire, "STROBE_KIND_LIST"), **x_list(wire, "STROBE_KIND_LATER_LIST"), **x_list(wire, "STROBE_META_LIST"), **x_list(wire, "STROBE_LATER_LIST"),
             **x_list(layout, "STROBE_FACT_LIST"), **x_list(layout, "STROBE_FACT_LATER_LIST")}
    causes = x_list(read(root, "src", "wire", "ring_layout.h"), "STROBE_LOSS_LIST")
    document, reader = read(root, "docs", "file-format.md"), read(root, "tests", "reader", "strobe_format.py")
    problems = [f"docs/file-format.md: {text}" for text in check_kinds(document, kinds)]
    problems += [f"tests/reader/strobe_format.py: {text}" for text in check_schema(reader, kinds)]
    problems += check_causes(document, reader, causes)
    problems += check_words(root, read(root, "include", "strobe", "strobe.h"))
    print("\n".join(problems) or f"{len(kinds)} kinds, {len(causes)} causes: the same everywhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
