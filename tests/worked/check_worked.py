#!/usr/bin/env python3
"""check_worked.py ROOT WORKED WORKED_DEVICE [--write]: the worked examples in documents are what tests/worked/worked.c prints, and
tests/device/worked_device.c for the device's words.

In a document, <!-- worked NAME --> stands before a fenced block. --write puts the program's words there."""
import os
import re
import subprocess
import sys

EXAMPLE = re.compile(r"(<!-- worked (\w+) -->\n```\n)(.*?)(```\n)", re.S)
DOCUMENTS = {"docs/ring-protocol.md": {"words"}, "docs/file-format.md": {"block"}, "docs/device-protocol.md": {"device"}}


def printed(program, name):
    """What the program prints, the same every time."""
    done = subprocess.run([program, name], capture_output=True, text=True, check=True, env={**os.environ, "STROBE_DISABLE": "1"})
    return done.stdout


def main():
    root, *programs = [one for one in sys.argv[1:] if one != "--write"]
    problems = []
    for document, names in DOCUMENTS.items():
        program = programs["device" in names]
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
