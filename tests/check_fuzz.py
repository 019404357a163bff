#!/usr/bin/env python3
"""check_fuzz.py ROOT: the table of tests/fuzz/README.md says what tests/fuzz/counts.tsv says, every target of tests/fuzz/targets.txt has its sources and seeds,
and every harness is in the list. Where a parser changed since its runs were counted, that is said: the next `make fuzz` begins to count anew."""
import glob
import os
import sys

sys.dont_write_bytecode = True
root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
sys.path.insert(0, os.path.join(root, "tests/fuzz"))
import targets  # noqa: E402

faults = []
listed = set()
for target in targets.read_targets(root):
    listed.update(target.harness)
    faults += [f"tests/fuzz/targets.txt: {target.name}: {path} is missing" for path in target.harness if not os.path.exists(os.path.join(root, path))]
    if not any(files for _, _, files in os.walk(os.path.join(root, target.seeds))):
        faults.append(f"tests/fuzz/targets.txt: {target.name} has no seeds in {target.seeds}")
for pattern in ("tests/fuzz/fuzz_*.c", "tests/*/fuzz_*.c", "tests/*/fuzz/fuzz_*.c"):
    faults += [f"{path} is no target of tests/fuzz/targets.txt" for path in (os.path.relpath(path, root) for path in glob.glob(os.path.join(root, pattern))) if path not in listed]
text, wanted = targets.filled(root)
if text != wanted:
    faults.append("tests/fuzz/README.md and tests/fuzz/counts.tsv disagree: tests/fuzz/run --fill writes the table anew")
changed = targets.changed(root)
if changed:
    print("changed since their runs were counted: " + " ".join(changed))
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
