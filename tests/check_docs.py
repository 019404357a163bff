#!/usr/bin/env python3
"""check_docs.py ROOT: what the documents and the comments of the code name exists - relative links, paths of the tree, files by
their name alone, every strobe_ function and STROBE_ macro or variable, and every --option: in code, not in another comment."""
import io
import pathlib
import re
import sys
import tokenize

import check_rooms
import house

FOLDERS = "src|include|docs|tests|bench|examples|scripts|cmake|python|web|kernel"
ROOMS = "|".join(check_rooms.read(pathlib.Path(__file__).resolve().parent.parent))
SOURCES = {".c", ".h", ".cpp", ".hpp", ".py", ".cmake", ".in", ".txt", ".bash", ".js", ".mjs"}

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(rf"(?<![\w./<-])((?:{FOLDERS})/[\w./*<>-]*|(?:{ROOMS})/\w+\.[ch]\b|\.ci/\w+)")
NAME = re.compile(r"(?<![\w-])(strobe_[a-z0-9_]+|STROBE_[A-Z0-9_]+)(?![\w-])([*<…]?)")
FILE = re.compile(r"(?<![\w./*<{-])(\w+\.(?:c|h|hpp|cpp|py|js|mjs|cmake|md))(?![\w(])")
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9])(?![\w-])")
# Files that are made by the build.
MADE = {"page_table.h"}


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


def comments_of(path, text):
    """Places of the comments in a source file: (from, to)."""
    if path.suffix in (".c", ".h", ".cpp", ".hpp", ".js", ".mjs"):
        return [m.span() for m in house.C_TOKEN.finditer(text) if m.group().startswith("/")]
    if path.suffix == ".py":
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError):
            return []
        return [tuple(starts[row - 1] + column for row, column in (t.start, t.end)) for t in tokens if t.type == tokenize.COMMENT]
    return [m.span() for m in re.finditer(r"^[ \t]*#(?!!).*$", text, re.M)]


def code_of(path, text):
    """The text with its comments blanked."""
    pieces, at = [], 0
    for start, end in comments_of(path, text):
        pieces += [text[at:start], house.blank(text[start:end])]
        at = end
    return "".join(pieces) + text[at:]


def names_of(texts):
    """All names in these texts, those that X-macro lists make among them."""
    names, items, prefixes = set(), set(), set()
    for text in texts:
        names |= set(re.findall(r"\b(?:strobe_\w+|STROBE_\w+)", text))
        items |= set(re.findall(r"\bX\((\w+),", text))
        prefixes |= set(re.findall(r"\b((?:strobe|STROBE)_\w*)##name", text))
    return names | {prefix + item for prefix in prefixes for item in items}


INSTALL = re.compile(r"pip install[^\n`]*?\bstrobe-profiler(?:\[[\w,-]+\])?(==[\w.]+)?")


def pins(root):
    """Whoever reads "pip install" gets the version of this tree, not what an index has under the name."""
    version = re.search(r"project\(Strobe VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1)
    paths = documents(root) + sorted((root / "scripts").iterdir()) + sorted((root / "examples").rglob("*.py"))
    for path in paths:
        for found in INSTALL.finditer(path.read_text()):
            if found.group(1) != f"=={version}":
                yield f"{path.relative_to(root)}: '{found.group()}' asks for no version, or not for {version}"


def path_exists(root, text):
    text = text.rstrip(".")
    if "<" in text:  # tests/unit/test_<file>.c: a pattern
        text = re.sub(r"<[^>]*>?", "*", text)
    places = [root / folder / text for folder in ("", "src", "include", "bench")]
    if "*" in text:
        return any(any(root.glob(prefix + text)) for prefix in ("", "src/"))
    return any(p.exists() for p in places)


def name_exists(names, name, more):
    if more or name.endswith("_"):
        return any(n.startswith(name) for n in names)
    return name in names


def check_comments(root, path, text, code):
    """What the comments of a source file name and no code has."""
    for start, end in comments_of(path, text):
        comment, first = text[start:end], text.count("\n", 0, start) + 1
        found = [(m, path_exists(root, m.group(1)), "is not in the tree") for m in PATH.finditer(comment)]
        found += [(m, m.group(1) in code.files, "is no file of the tree") for m in FILE.finditer(comment)]
        found += [(m, name_exists(code.names, *m.groups()), "is in no code") for m in NAME.finditer(comment)]
        found += [(m, m.group(1) in code.options, "is an option of nothing") for m in OPTION.finditer(comment)]
        for match, is_there, what in found:
            if not is_there and match.group(1) not in MADE:
                yield f"{path.relative_to(root)}:{first + comment.count(chr(10), 0, match.start())}: {match.group(1)} {what}"


class Code:
    """All names, options and files of the code, its comments left out."""

    def __init__(self, root, texts):
        codes = [code_of(path, text) for path, text in texts.items()]
        self.names = names_of(codes)
        self.files = {path.name for path in texts} | {path.name for path in root.rglob("*.md")} | {path.name.removesuffix(".in") for path in texts}
        self.options = {word for text in codes for word in re.findall(r"(?:--|[\"'])([a-z][a-z0-9-]+)", text)}


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
    texts = {path: path.read_text(errors="replace") for path in tree(root)}
    names, code = names_of(texts.values()), Code(root, texts)
    found = documents(root)
    wrong = [line for path in found for line in check(root, path, names)]
    wrong += pins(root)
    wrong += [line for path, text in texts.items() for line in check_comments(root, path, text, code)]
    print("\n".join(wrong) or f"{len(found)} documents and the comments of {len(texts)} files, all that they name is there")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
