#!/usr/bin/env python3
"""check_docs.py ROOT: what the documents name exists - relative links, paths of the tree, and every strobe_ function and
STROBE_ macro or variable."""
import pathlib
import re
import sys

import check_rooms

FOLDERS = "src|include|docs|tests|bench|examples|scripts|cmake|python|web|kernel"
ROOMS = "|".join(check_rooms.read(pathlib.Path(__file__).resolve().parent.parent))
SOURCES = {".c", ".h", ".cpp", ".hpp", ".py", ".cmake", ".in", ".txt", ".bash", ".js", ".mjs"}

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(rf"(?<![\w./<-])((?:{FOLDERS})/[\w./*<>-]*|(?:{ROOMS})/\w+\.[ch]\b|\.ci/\w+)")
NAME = re.compile(r"(?<![\w-])(strobe_[a-z0-9_]+|STROBE_[A-Z0-9_]+)(?![\w-])([*<…]?)")


def documents(root):
    found = [p for p in (root / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md")) if p.exists()]
    return found + sorted((root / "docs").rglob("*.md")) + sorted((root / "docs").rglob("*.1"))


def tree(root):
    """Source files, those of build trees left out."""
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        if parts[0].startswith(("build", ".git")) or not path.is_file():
            continue
        if path.suffix in SOURCES or path.name in ("Makefile", "deps", "run"):
            yield path


def names_of(root):
    """All names in the sources, those that X-macro lists make among them."""
    names, items, prefixes = set(), set(), set()
    for path in tree(root):
        text = path.read_text(errors="replace")
        names |= set(re.findall(r"\b(?:strobe_\w+|STROBE_\w+)", text))
        items |= set(re.findall(r"\bX\((\w+),", text))
        prefixes |= set(re.findall(r"\b((?:strobe|STROBE)_\w*)##name", text))
    return names | {prefix + item for prefix in prefixes for item in items}


def path_exists(root, text):
    text = text.rstrip(".")
    if "<" in text:  # tests/unit/test_<file>.c: a pattern
        text = re.sub(r"<[^>]*>?", "*", text)
    places = [root / text, root / "src" / text]
    if "*" in text:
        return any(any(root.glob(prefix + text)) for prefix in ("", "src/"))
    return any(p.exists() for p in places)


def name_exists(names, name, more):
    if more or name.endswith("_"):
        return any(n.startswith(name) for n in names)
    return name in names


def check(root, path, names):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.relative_to(root)}:{number}"
        plain = line.replace("\\-", "-") if path.suffix == ".1" else line
        for link in LINK.findall(plain):
            target = link.split("#")[0]
            if target and "://" not in link and not link.startswith("mailto:") and not (path.parent / target).exists():
                yield f"{where}: link to {link}, which is not there"
        for text in PATH.findall(LINK.sub(" ", plain)):
            if not path_exists(root, text):
                yield f"{where}: {text} is not in the tree"
        for name, more in NAME.findall(plain):
            if not name_exists(names, name, more):
                yield f"{where}: {name} is nowhere defined or used"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    names = names_of(root)
    found = documents(root)
    wrong = [line for path in found for line in check(root, path, names)]
    print("\n".join(wrong) or f"{len(found)} documents, all that they name is there")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
