#!/usr/bin/env python3
"""check_words.py ROOT: one meaning per word, terms of the art (docs/glossary.md).

Looks for words that stand for something which has a term. In public headers, README, CONTRIBUTING, SECURITY, manual
pages, the documents in DOCUMENTS and the headers of the rooms in ROOMS there are none. Code in backticks and fenced blocks is not looked
at.
"""
import os
import re
import sys

WORDS = [
    (r"\b(?:tells?|told|telling)\b", "say, describe, register, report, distinguish"),
    (r"\b(?:takes?|taken|took|taking) in\b", "ingest, read"),
    (r"\b(?:lets?|letting) (?:it |them )?go\b", "detach, release, disconnect"),
    (r"\b(?:is|are|be|was|were|been) had\b", "is available"),
    (r"\bloose(?:ly)?\b", "out of order"),
]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "include", "docs/man", "docs/design", "docs/file-format.md",
             "docs/glossary.md", "docs/python.md", "docs/python-tracing.md", "docs/ring-protocol.md")
ROOMS = ("src/client", "src/wire")  # rooms whose headers have none; add a room when its last one is gone
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
MAN_CODE = re.compile(r"^\.(?:B|BR|BI|I|IR) .*$", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def blank(found):
    """Spaces instead of a match; lines stay."""
    return re.sub(r"[^\n]", " ", found[0])


def prose(path, text):
    """What of a file is prose, at its own place."""
    if path.endswith((".h", ".hpp")):
        text = "".join(re.sub(r"[^\n]", " ", text[a:b]) + text[b:c] for a, b, c in comment_spans(text))
    if path.endswith(".1"):
        text = MAN_CODE.sub(blank, text)
    return CODE.sub(blank, text)


def comment_spans(text):
    """(start of code, start of comment, end of comment) over a C file."""
    at = 0
    for found in COMMENT.finditer(text):
        yield at, found.start(), found.end()
        at = found.end()


def files(root, tops, ends):
    for top in tops:
        path = os.path.join(root, top)
        if os.path.isfile(path):
            yield path
        for folder, _, names in sorted(os.walk(path)):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(ends))


def findings(root, path):
    """[text] of what a file has."""
    with open(path, encoding="utf-8") as file:
        lines = prose(path, file.read()).splitlines()
    return [f"{os.path.relpath(path, root)}:{number}: '{found[0]}': {instead}" for number, line in enumerate(lines, 1)
            for pattern, instead in WORDS for found in re.finditer(pattern, line, re.I)]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    problems = [text for path in files(root, DOCUMENTS + ROOMS, (".md", ".1", ".h", ".hpp")) for text in findings(root, path)]
    print("\n".join(problems) or "every word has its meaning")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
