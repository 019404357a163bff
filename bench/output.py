"""output.py - what was measured, as a file of bench/history, as Markdown and as a picture. Text has places for figures in it: {key} is the value with
its interval, {key:value} the value alone.  SPDX-License-Identifier: MIT"""
import html
import importlib
import json
import math
import pathlib
import re

import stats

HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = ("zone", "instructions", "program", "recorder", "tracy", "opening", "query", "export", "importing", "quiet", "startup", "memory", "sample", "python", "viewer", "live", "device", "report")
PLACE = re.compile(r"\{([a-z0-9][\w.+-]*)(?::(value))?\}")
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.S)
VOID, NEVER = "not measurable here", "Not measured yet"
VERDICTS = {**dict.fromkeys(("MiB", "KiB", "bytes"), ("smaller", "larger")), **dict.fromkeys(("instructions", "zones", "calls", "events"), ("fewer", "more")), "%": ("less", "more")}


# ---- history

def dumped(value, depth=6, pad=""):
    """JSON with a line per round and per figure."""
    if not depth or not isinstance(value, (dict, list)) or not value or "key" in value:
        return json.dumps(value, ensure_ascii=False)
    items = [f"{json.dumps(name)}: {dumped(one, depth - 1, pad + ' ')}" for name, one in value.items()] if isinstance(value, dict) else [
        dumped(one, depth - 1, pad + " ") for one in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + "\n" + ",\n".join(f"{pad} {item}" for item in items) + f"\n{pad}{ends[1]}"


def path_of(run, folder):
    kind = "-quick" if run["quick"] else f"-against-{run['against'][:7]}" if run["against"] else ""
    return pathlib.Path(folder) / f"{run['date'].replace(':', '')}-{run['commit'][:7]}{kind}.json"


def save(run, folder):
    path = path_of(run, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dumped(run) + "\n")
    return path


def full_runs(folder):
    """The runs that may stand in documents, oldest first: neither quick nor against another commit."""
    runs = [json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.json"))]
    return sorted((run for run in runs if not run["quick"] and not run["against"]), key=lambda run: run["date"])


def newest(runs):
    """{family: the newest run that has it}"""
    return {name: run for run in runs for name, family in run["families"].items() if "figures" in family}


def figures_of(run, families):
    return {figure["key"]: figure for name in families for figure in run["families"].get(name, {}).get("figures", ())}


# ---- figures as words

def number(value, low=None, high=None):
    """A list of texts, with the decimals that the interval's width is worth; without one, three digits."""
    width = (high - low) if low is not None else 0
    if width > 0:
        decimals = max(0, -math.floor(math.log10(width / 3)))
    else:
        decimals = 0 if value == int(value) else max(0, 2 - math.floor(math.log10(abs(value))))
    return [f"{one:,.{min(decimals, 6)}f}" for one in (value, low, high) if one is not None]


def scaled(unit, numbers):
    for small, most, factor, large in (("ns", 1e4, 1e3, "µs"), ("KiB", 1e4, 1024, "MiB")):
        if unit == small and abs(numbers[0]) >= most:
            return large, [one if one is None else one / factor for one in numbers]
    return unit, numbers


def shown(figure, how=""):
    """`24.1 ns (24.0–24.4)`"""
    if figure is None:
        return "–"
    if figure["state"].startswith(VOID):
        return VOID
    unit, (value, low, high) = scaled(figure["unit"], [figure[what] for what in ("value", "low", "high")])
    unit = "" if unit in ("×", "instructions", "zones", "calls", "events") else f" {unit}"
    texts = number(value, low, high)
    if len(texts) < 3 or how == "value" or low == high:
        text = texts[0] + unit
    else:
        text = f"{texts[0]}{unit} ({texts[1]}–{texts[2]})" if float(low) >= 0 else f"{texts[0]}{unit} ({texts[1]} to {texts[2]})"
    missed = None not in (figure.get("bar"), low) and figure["low"] > figure["bar"]
    return text + (" **missed**" if missed and not how else "")


def filled(text, figures):
    return PLACE.sub(lambda m: shown(figures.get(m[1]), m[2] or ""), text)


def table(head, rows):
    """A Markdown table; columns without anything in them are left out."""
    used = [i for i in range(len(head)) if i == 0 or any(row[i] not in ("", "–") for row in rows)]
    lines = ["| " + " | ".join(head[i] for i in used) + " |", "|" + "---|" * len(used)]
    return "\n".join(lines + ["| " + " | ".join(row[i] for i in used) + " |" for row in rows])


def where(run, name):
    """One line: what was measured, when, on what."""
    family, m = run["families"][name], run["machine"]
    rounds = [one for trial in family["trials"] for one in trial["rounds"]]
    virtual = " (virtual machine)" if m["virtual"] else ""
    state = " with changes" if run["dirty"] else ""
    return (f"`{family['command']}`{', a quick run' if run['quick'] else ''}: commit {run['commit'][:10]}{state}, {run['date'][:10]}; {m['cores']} × {m['cpu']}{virtual}, {m['memory_gib']} GiB, Linux {m['kernel']}, "
            f"{m['compiler']}, governor {m['governor']}; load {family['load'][0]:.1f} before; {len(rounds)} rounds in {family['seconds']:.0f} s, {sum(one['disturbed'] for one in rounds)} disturbed.")


def family_text(run, name):
    """The family's tables, and why figures are not in them."""
    family = run["families"][name]
    if "figures" not in family:
        return f"{name}: {family['absent']}\n"
    figures = figures_of(run, [name])
    parts = [where(run, name)]
    parts += [table(one["head"], [[filled(cell, figures) for cell in row] for row in one["rows"]]) for one in family["tables"]]
    void = [f"- {figure['title']}: {figure['state']}" for figure in family["figures"] if figure["state"].startswith(VOID)]
    absent = [f"- {why}" for trial in family["trials"] for why in trial["failed"].values()]
    return "\n\n".join(parts + ["\n".join(void + absent)] * bool(void + absent)) + "\n"


def said(figure):
    """The verdict on new and old."""
    words, low, high = VERDICTS.get(figure["of_unit"], ("faster", "slower")), figure["low"], figure["high"]
    if figure.get("counted") and figure["old"] == figure["new"] and low == high:
        return "the same"
    return stats.verdict(low, high, words) if figure["unit"] == "×" else stats.difference_verdict(low, high, words)


def against_text(run, name):
    """old, new, ratio with interval, verdict"""
    family = run["families"][name]
    if "figures" not in family:
        return f"{name}: {family['absent']}\n"
    rows = []
    for figure in family["figures"]:
        if figure["value"] is None:
            rows.append([figure["title"], "–", "–", VOID, figure["state"].partition(": ")[2]])
            continue
        old, new = (shown({**figure, "unit": figure["of_unit"], "state": "", "value": figure[side], "low": None, "high": None}, "value") for side in ("old", "new"))
        rows.append([figure["title"], old, new, shown({**figure, "state": "", "bar": None}), "can't tell: a quick run" if run["quick"] and figure["low"] is None else said(figure)])
    return f"{where(run, name)}\n\n{table([f'{name}: less is better', run['against'][:10], run['commit'][:10], 'new : old, or new - old', 'verdict'], rows)}\n"


# ---- documents

def claims_text():
    rows = []
    for name in FAMILIES:
        family = importlib.import_module(name)
        rows.append([family.CLAIM, f"[{name}.py]({name}.py)", f"`bench/run {name}`", family.PEER])
    return table(["claim", "file", "command", "what it is compared with"], rows) + "\n"


def filled_cells(row, figures):
    """The row of a table; a cell none of whose figures was ever measured is empty."""
    def cell(text):
        keys = [m[1] for m in PLACE.finditer(text)]
        return filled(text, figures) if not keys or any(key in figures for key in keys) else " "
    return "|".join(cell(text) for text in row.split("|"))


def costs_text(latest):
    """bench/costs.md with the newest figures; a row stands there once its first figure has been measured."""
    figures = {key: one for family, run in latest.items() for key, one in figures_of(run, [family]).items()}
    lines = (HERE / "costs.md").read_text().splitlines()
    rows = [filled_cells(line, figures) for line in lines[2:] if PLACE.search(line)[1] in figures]
    if not rows:
        return f"{NEVER}.\n"
    days = sorted({run["date"][:10] for run in latest.values()})
    machines = sorted({f"{run['machine']['cores']} × {run['machine']['cpu']}{' (virtual machine)' if run['machine']['virtual'] else ''}" for run in latest.values()})
    return "\n".join(lines[:2] + rows) + f"\n\nMeasured on {' and '.join(machines)}, {' to '.join(days[:1] + days[1:][-1:])}; in brackets: 95 % intervals, ranges of what is counted.\n"


def block_text(name, runs):
    """What belongs between the marks of that name."""
    latest = newest(runs)
    if name == "claims":
        return claims_text()
    if name == "costs":
        return costs_text(latest)
    return family_text(latest[name], name) if name in latest else f"{NEVER}: `bench/run {name}`.\n"


def filled_document(text, runs):
    return BLOCK.sub(lambda m: m[1] + block_text(m[2], runs) + m[3], text)


# ---- pictures

STYLE = """text{font:11px system-ui,sans-serif;fill:#24292f}.dim{fill:#6e7781}.frame{fill:none;stroke:#d0d7de}.line{fill:none;stroke:#0969da;stroke-width:1.5}
.bar{stroke:#0969da;stroke-opacity:.5;stroke-width:3}.dot{fill:#0969da}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#8d96a0}.frame{stroke:#3d444d}.line,.bar{stroke:#58a6ff}.dot{fill:#58a6ff}}"""
COLUMNS, WIDE, HIGH = 3, 300, 176


def panel(title, points, x0, y0):
    """One figure over the runs: `points` are (day, figure)."""
    lows = [f["low"] if f["low"] is not None else f["value"] for _, f in points]
    highs = [f["high"] if f["high"] is not None else f["value"] for _, f in points]
    bottom, top = min(lows), max(highs)
    pad = (top - bottom) * 0.1 or abs(top) * 0.1 or 1
    bottom, top, left, width = bottom - pad, top + pad, x0 + 10, WIDE - 30

    def x(i):
        return left + 40 + (width - 40) * (i + 0.5) / len(points)

    def y(value):
        return y0 + 144 - 100 * (value - bottom) / (top - bottom)
    what, _, measured = title.rpartition(": ")
    out = [f'<rect class="frame" x="{left}" y="{y0 + 44}" width="{width}" height="100"/>', f'<text x="{left}" y="{y0 + 20}">{html.escape(what[:48])}</text>',
           f'<text x="{left}" y="{y0 + 35}">{html.escape(measured[:24])}</text>', f'<text x="{left + width}" y="{y0 + 35}" text-anchor="end">{html.escape(shown(points[-1][1]))}</text>']
    out += [f'<text class="dim" x="{left + 4}" y="{y0 + at}">{value:.3g}</text>' for at, value in ((56, top), (140, bottom))]
    out.append('<path class="line" d="M' + " L".join(f"{x(i):.1f} {y(f['value']):.1f}" for i, (_, f) in enumerate(points)) + '"/>')
    for i, (day, figure) in enumerate(points):
        out.append(f'<line class="bar" x1="{x(i):.1f}" x2="{x(i):.1f}" y1="{y(lows[i]):.1f}" y2="{y(highs[i]):.1f}"/>')
        out.append(f'<circle class="dot" cx="{x(i):.1f}" cy="{y(figure["value"]):.1f}" r="3"><title>{day}: {html.escape(shown(figure))}</title></circle>')
    ends = points[0][0] if len(points) == 1 else f"{points[0][0]} – {points[-1][0]}"
    out.append(f'<text class="dim" x="{left + width}" y="{y0 + 158}" text-anchor="end">{ends}</text>')
    return "\n".join(out)


def picture(runs, keys):
    """The figures over time, as SVG."""
    panels = []
    for key in keys:
        points = [(run["date"][:10], figure) for run in runs for figure in [figures_of(run, run["families"]).get(key)] if figure and figure["state"] == "measured"]
        if points:
            at = len(panels)
            panels.append(panel(points[-1][1]["title"], points, at % COLUMNS * WIDE, at // COLUMNS * HIGH))
    high = max(1, math.ceil(len(panels) / COLUMNS)) * HIGH
    body = "\n".join(panels) or f'<text x="10" y="30">{NEVER}</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDE} {high}" width="{COLUMNS * WIDE}" height="{high}">\n<style>{STYLE}</style>\n{body}\n</svg>\n'


def documents(root, history):
    """{path: what it should hold}"""
    runs = full_runs(history)
    keys = list(dict.fromkeys(key for key, _ in PLACE.findall((HERE / "costs.md").read_text())))
    found = {path: filled_document(path.read_text(), runs) for path in (root / "README.md", root / "bench" / "README.md")}
    return {**found, root / "bench" / "history" / "history.svg": picture(runs, keys)}
