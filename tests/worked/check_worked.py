#!/usr/bin/env python3
"""check_worked.py ROOT WORKED [--write]: the worked examples in documents are what tests/worked/worked.c prints.

In a document, <!-- worked NAME --> stands before a fenced block. --write puts the program's words there."""
import os
import re
import subprocess
import sys

EXAMPLE = re.compile(r"(<!-- worked (\w+) -->\n```\n)(.*?)(```\n)", re.S)
DOCUMENTS = {"docs/ring-protocol.md": {"words"}, "docs/file-format.md": {"block"}}


def printed(program, name):
    """What the program prints, the same every time."""
    done = subprocess.run([program, name], capture_output=True, text=True, check=True, env={**os.environ, "STROBE_DISABLE": "1"})
    return done.stdout


def main():
    root, program = sys.argv[1:3]
    problems = []
    for document, names in DOCUMENTS.items():
        path = os.path.join(root, document)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if "--write" in sys.argv:
            text = EXAMPLE.sub(lambda found: found[1] + printed(program, found[2]) + found[4], text)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        found = {one[1]: one[2] for one in EXAMPLE.findall(text)}
        if set(found) != names:
            problems.append(f"{document}: has the examples {sorted(found)}, not {sorted(names)}")
        for name, shown in found.items():
            if shown != printed(program, name):
                problems.append(f"{document}: example '{name}' is not what {os.path.basename(program)} {name} prints:\n{printed(program, name)}")
    print("\n".join(problems) or "the worked examples are right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
