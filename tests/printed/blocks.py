"""The blocks of the five documents that this project began with, in their order, and the rows of docs/printed-lines.md.

A block is known by document and place, `4.2` is the second block of the fourth, and by the digest of its text, so that the list can
be checked where the documents are not at hand and a changed document is noticed."""
import hashlib
import os
import pathlib
import re
from typing import NamedTuple

TREE = pathlib.Path(__file__).resolve().parents[2]
LIST = TREE / "docs" / "printed-lines.md"
HOW = ("as printed", "stand-in", "no command", "can't")
ABSENT = "the documents are neither in $STROBE_SHARED nor in a folder `shared` beside the tree"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
DIRECTIVE = re.compile(r"^\.\.\s+code-block::\s*(\S+)\n\n((?:    .*\n|\n)+)", re.M)


class Block(NamedTuple):
    place: str
    language: str
    text: str

    @property
    def digest(self):
        return hashlib.sha256(self.text.strip().encode()).hexdigest()[:8]

    @property
    def first_line(self):
        """The first line that is no comment."""
        lines = [line.strip() for line in self.text.split("\n") if line.strip()]
        return next((line for line in lines if not re.match(r"#(?!include)|//", line)), lines[0])


class Row(NamedTuple):
    place: str
    digest: str
    line: str
    how: str
    why: str


def folder():
    """Where the documents are, or None."""
    place = pathlib.Path(os.environ.get("STROBE_SHARED") or TREE.parent / "shared", "seeds")
    return place if place.is_dir() else None


def documents():
    return [path.read_text(encoding="utf-8") for path in sorted(folder().glob("*.txt"))]


def read():
    """{place: Block} of all documents."""
    found = {}
    for number, text in enumerate(documents(), 1):
        pieces = [(language, re.sub(r"^    ", "", body, flags=re.M)) for language, body in DIRECTIVE.findall(text)] or FENCE.findall(text)
        for i, (language, body) in enumerate(pieces, 1):
            found[f"{number}.{i}"] = Block(f"{number}.{i}", language.lower(), body.strip("\n") + "\n")
    return found


def rows():
    """The rows of the list."""
    pattern = re.compile(r"^\| (\d\.\d+) \| `([0-9a-f]{8})` \| `(.*?)` \| (.*?) \| (.*?) \|$", re.M)
    return [Row(*cells) for cells in pattern.findall(LIST.read_text(encoding="utf-8"))]
