"""same_csv.py: compares tables of our csvexport with those that Tracy's own printed.

The order of rows is free. Where the real one does not quote (text with line breaks) or repeats a cell
of the row before (its `value`), what it must have meant is worked out."""
import collections
import csv
import io
import re


def ours(text, sep=","):
    """Rows of our table, head first."""
    return list(csv.reader(io.StringIO(text), delimiter=sep))


def real(text, n_columns, numbers):
    """Rows of a real table: a new row begins where the columns `numbers` are numbers."""
    rows = []
    for line in text.split("\n")[1:]:
        cells = line.split(",", n_columns - 1)
        if len(cells) == n_columns and all(re.fullmatch(r"-?\d+", cells[i]) for i in numbers):
            rows.append(cells)
        elif rows and (line or text.count("\n")):
            rows[-1][-1] += "\n" + line
    if rows:
        rows[-1][-1] = rows[-1][-1].rstrip("\n")
    return rows


def difference(a, b):
    """What is in one multiset and not in the other, as text; "" if they are the same."""
    a, b = collections.Counter(map(tuple, a)), collections.Counter(map(tuple, b))
    out = [f"only ours: {x}" for x in list((a - b).elements())[:5]]
    out += [f"only real: {x}" for x in list((b - a).elements())[:5]]
    return "\n".join(out)


def same_plain(got, want):
    """Byte for byte as a set of lines."""
    got, want = got.split("\n"), want.split("\n")
    if got[0] != want[0]:
        return f"head {got[0]} is not {want[0]}"
    return difference([[x] for x in got[1:]], [[x] for x in want[1:]])


def same_unwrapped(got, want):
    """Zones with their text; a plot's rows are compared as they are."""
    head = want.split("\n")[0]
    rows = ours(got)
    if ",".join(rows[0]) != head:
        return f"head {rows[0]} is not {head}"
    n = len(rows[0])
    if n == 6:
        return same_plain(got, want)
    zones = [r for r in rows[1:] if r[2]]
    plots = [r for r in rows[1:] if not r[2]]
    real_plots = [line.split(",") for line in want.split("\n") if re.match(r"[^,]*,,,\d+,,,", line)]
    cut = want.split("\n" + ",".join(real_plots[0]) + "\n")[0] + "\n" if real_plots else want
    real_zones = real(cut, n, [2, 3, 4, 5])
    wrong = difference([r[:6] for r in zones], [r[:6] for r in real_zones])
    wrong += difference(plots, real_plots)
    texts = collections.defaultdict(list)
    for row in real_zones:
        texts[tuple(row[:6])].append(row[6])
    for row in zones:
        if row[6] and row[6] not in texts[tuple(row[:6])]:
            wrong += f"\ntext of {row} is {texts[tuple(row[:6])]}"
            break
    return wrong
