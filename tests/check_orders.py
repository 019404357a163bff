#!/usr/bin/env python3
"""check_orders.py ROOT - every field that ring, client, collector or the public headers load or store with acquire, release or stronger
order is in the table "Memory order" of docs/ring-protocol.md, so that each such pair was thought about.  SPDX-License-Identifier: MIT"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
ACCESS = re.compile(r"__atomic_\w+\(\s*&([\w>.\[\]() +*-]+?),[^;]*?__ATOMIC_(?:ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)", re.S)


def main():
    text = (ROOT / "docs/ring-protocol.md").read_text(encoding="utf-8")
    table = text.split("## Memory order", 1)[1].split("\n## ", 1)[0]
    words = set(re.findall(r"\w+", table))
    missing, n = {}, 0
    for folder in ("src/ring", "src/client", "src/collector", "include/strobe"):
        for path in sorted((ROOT / folder).glob("*.[ch]")):
            for found in ACCESS.finditer(path.read_text(encoding="utf-8")):
                field = re.sub(r"\[[^\]]*\]", "", found.group(1))
                field = re.split(r"->|\.", field)[-1].strip().rstrip("_")
                n += 1
                if field not in words:
                    missing.setdefault(field, path.relative_to(ROOT))
    for field, path in sorted(missing.items()):
        print(f"{path}: `{field}` has an order and no row in docs/ring-protocol.md, Memory order")
    print(f"{n} ordered accesses")
    return 1 if missing or not n else 0


if __name__ == "__main__":
    sys.exit(main())
