# SPDX-License-Identifier: MIT
"""Results as a table for people, as CSV and as JSON."""
import csv
import json

COLUMNS = ["name", "size", "iterations", "warmup", "dispatches", "total_ns", "median_ns", "low_ns", "high_ns", "mean_ns", "min_ns", "wall_ns",
           "rate"]


def record_of(result):
    """The figures of a result by their names. rate: operations per ns."""
    return {"name": result.name, "size": result.size, "iterations": len(result.samples), "warmup": result.n_warmup,
            "dispatches": result.n_dispatches, "total_ns": result.total_ns, "median_ns": result.median_ns,
            "low_ns": result.interval_ns[0], "high_ns": result.interval_ns[1], "mean_ns": result.mean_ns, "min_ns": result.min_ns,
            "wall_ns": result.wall_ns, "rate": result.rate}


def time_text(ns):
    for unit, length in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= length:
            return f"{ns / length:.3f} {unit}"
    return f"{ns:.0f} ns"


def table(results):
    """A line per region, and one below it per named location inside."""
    width = max([len(result.name) for result in results] + [len(name) + 2 for one in results for name in one.locations] + [6])
    lines = [f"{'region':{width}s}  iterations  warm-up  dispatches      in dispatches (95 % of the median)              whole        rate"]
    for result in results:
        low, high = result.interval_ns
        rate = f"{result.rate:8.3f} G/s" if result.rate else "           -"
        lines.append(f"{result.name:{width}s}  {len(result.samples):10d}  {result.n_warmup:7d}  {result.n_dispatches:10d}  "
                     f"{time_text(result.median_ns):>12s} ({time_text(low):>11s} - {time_text(high):>11s})  "
                     f"{time_text(result.wall_ns):>12s}  {rate}")
        lines += [f"  {name:{width - 2}s}  {'':10s}  {'':7s}  {'':10s}  {time_text(ns):>12s}" for name, ns in result.locations.items()]
    return "\n".join(lines) + "\n"


def write_csv(results, path):
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        writer.writerows(record_of(result) for result in results)


def write_json(results, path):
    """All figures, with every iteration's: {"results": [{..., "locations": {}, "samples": [{start_ns, end_ns, dispatch_ns}]}]}."""
    found = [{**record_of(result), "locations": result.locations,
              "samples": [{"start_ns": one.start_ns, "end_ns": one.end_ns, "dispatch_ns": one.dispatch_ns} for one in result.samples]}
             for result in results]
    with open(path, "w") as out:
        json.dump({"results": found}, out, indent=1)
        out.write("\n")
