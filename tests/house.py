#!/usr/bin/env python3
"""house.py [--check] ROOT: draws the house. Of every room of src/, and of web/ and python/: files, lines, how long functions
are, comments, run-time asserts per 1,000 lines (static ones apart), and which rooms it includes; then what is longest.

With --check it prints what breaks a rule of the house, and fails if something does: a file over 700 lines, a function over 60,
an include against the order of src/rooms.txt, fewer than 20 run-time asserts per 1,000 lines in a room of the recorder's side. C in src/ and python/, JavaScript in web/, Python in python/."""
import ast
import collections
import pathlib
import re
import statistics
import sys

import check_rooms

FILE_LINES, FUNCTION_LINES = 700, 60
ASSERTED, ASSERTS = ("ring", "fifo", "file", "build", "sample", "device", "device_files", "device_record", "collector", "recorder"), 20
# Over a limit and not yet split. The list only gets shorter; what is here and is no longer over is printed.
KNOWN = set()

Function = collections.namedtuple("Function", "name line lines")


# ---- text without what only looks like code ----

def blank(text):
    """As many lines, nothing on them."""
    return re.sub(r"[^\n]", " ", text)


C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def plain_c(text):
    """C without comments and the content of strings."""
    return C_TOKEN.sub(lambda m: blank(m.group()), text)


JS_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`|/', re.S)
JS_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
JS_BEFORE_REGEX = re.compile(r"(?:^|[(,=:\[!&|?{};+<>~^%*-]|\b(?:return|typeof|case|in|of|await))\s*$")


def end_of_template(text, at):
    """Behind the ` that ends the template whose first one is at `at`."""
    at += 1
    while at < len(text) and text[at] != "`":
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            at = end_of_braces(text, at + 1)
        else:
            at += 1
    return at + 1


def end_of_braces(text, at):
    """Behind the } of the { at `at`, in an expression of a template."""
    depth = 0
    while at < len(text):
        if text[at] == "`":
            at = end_of_template(text, at)
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
        if not depth:
            break
    return at


def plain_js(text):
    """JavaScript without comments, strings, templates and regular expressions."""
    out, at = [], 0
    while found := JS_TOKEN.search(text, at):
        out.append(text[at:found.start()])
        end = found.end()
        if found.group() == "`":
            end = end_of_template(text, found.start())
        elif found.group() == "/":
            regex = JS_REGEX.match(text, found.start())
            before = text[max(0, found.start() - 40):found.start()]
            if not regex or not JS_BEFORE_REGEX.search(before):
                out.append("/")
                at = end
                continue
            end = regex.end()
        out.append(blank(text[found.start():end]))
        at = end
    return "".join(out) + text[at:]


# ---- functions ----

C_FUNCTION = re.compile(r"^(?![#}\s])(?!(?:struct|union|enum)\s+\w*\s*\{)[^;{}=#]*?\b(\w+)\s*\([^;{}]*\)[^;{}]*\n?\{", re.M)


def functions_c(text):
    """Those whose body ends with a } in column 0."""
    plain, at = plain_c(text), 0
    plain = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: blank(m.group()), plain, flags=re.M)
    while found := C_FUNCTION.search(plain, at):
        end = plain.find("\n}", found.end())
        end = len(plain) if end < 0 else end
        start = found.start() + len(found.group()) - len(found.group().lstrip())
        lines = plain.count("\n", start, end) + 2
        yield Function(found.group(1), plain.count("\n", 0, start) + 1, lines)
        at = end + 1


JS_FUNCTION = re.compile(r"\bfunction\s*\*?\s*(\w*)\s*\(|=>\s*\{|^\s*(?:static\s+|async\s+|get\s+|set\s+)*(#?\w+)\s*\([^\n;]*\)\s*\{", re.M)
JS_NO_METHOD = {"if", "for", "while", "switch", "catch", "function", "return", "with"}


def brace_after(plain, at):
    """The { of the body whose parameters begin behind `at`."""
    depth = 1
    while at < len(plain) and depth:
        depth += (plain[at] == "(") - (plain[at] == ")")
        at += 1
    return plain.find("{", at)


def functions_js(text):
    plain = plain_js(text)
    for found in JS_FUNCTION.finditer(plain):
        if found.group(2) in JS_NO_METHOD:
            continue
        start = found.start() + len(found.group()) - len(found.group().lstrip())
        at = brace_after(plain, found.end()) if found.group().lstrip().startswith("function") else found.end() - 1
        end, depth = at, 0
        while 0 <= end < len(plain):
            depth += (plain[end] == "{") - (plain[end] == "}")
            end += 1
            if not depth:
                break
        yield Function(found.group(1) or found.group(2) or "=>", plain.count("\n", 0, start) + 1, plain.count("\n", start, end) + 1)


def functions_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, node.lineno, node.end_lineno - node.lineno + 1)


FUNCTIONS = {".c": functions_c, ".h": functions_c, ".hpp": functions_c, ".js": functions_js, ".mjs": functions_js, ".py": functions_python}


# ---- files ----

class File:
    def __init__(self, root, path):
        self.name = path.relative_to(root).as_posix()
        self.text = path.read_text(errors="replace")
        self.lines = self.text.count("\n")
        self.functions = list(FUNCTIONS[path.suffix](self.text))
        self.plain = plain_c(self.text) if path.suffix in (".c", ".h") else self.text

    def n_asserts(self, is_static):
        names = r"(?:static_assert|_Static_assert|STATIC_ASSERT)" if is_static else r"(?:STROBE_ASSERT|assert|assert_\w+)"
        return len(re.findall(rf"(?<![\w#])(?<!define ){names}\s*\(", self.plain))

    def n_comments(self):
        lines = {self.text.count("\n", 0, m.start()) + i for m in C_TOKEN.finditer(self.text) if m.group().startswith("/")
                 for i in range(m.group().count("\n") + 1)}
        return len(lines)


def rooms_of(root):
    """{room: [File]}: the rooms of src/ in their order, then web and python."""
    rooms = {room: [] for room in check_rooms.read(root)}
    for top in ("src", "web", "python"):
        for path in sorted((root / top).rglob("*")):
            parts = path.relative_to(root).parts
            if path.suffix in FUNCTIONS and path.is_file() and "__pycache__" not in parts:
                rooms.setdefault(parts[1] if top == "src" else top, []).append(File(root, path))
    return rooms


def too_long(files):
    """(what, where, lines, limit)."""
    for file in files:
        if file.lines > FILE_LINES:
            yield file.name, file.name, file.lines, FILE_LINES
        for function in file.functions:
            if function.lines > FUNCTION_LINES:
                yield f"{file.name}:{function.name}", f"{file.name}:{function.line}: {function.name}", function.lines, FUNCTION_LINES


def per_thousand(files, is_static):
    """Asserts per 1,000 lines."""
    return 1000 * sum(f.n_asserts(is_static) for f in files) / max(1, sum(f.lines for f in files))


def check(root, rooms):
    files = [f for list_of in rooms.values() for f in list_of]
    found = list(too_long(files))
    wrong = [f"{where}: {lines} lines, {limit} at the most" for what, where, lines, limit in found if what not in KNOWN]
    wrong += check_rooms.includes(check_rooms.read(root), root / "src")
    wrong += [f"src/{room}: {per_thousand(rooms[room], False):.1f} asserts per 1,000 lines, {ASSERTS} at the least"
              for room in ASSERTED if per_thousand(rooms[room], False) < ASSERTS]
    for stale in sorted(KNOWN - {what for what, *_ in found}):
        print(f"tests/house.py: {stale} is no longer over a limit: its place in KNOWN can go")
    known = ", ".join(f"{where} {lines}" for what, where, lines, _ in found if what in KNOWN)
    print("\n".join(wrong) or f"{len(files)} files, {sum(len(f.functions) for f in files)} functions; still over a limit: {known or 'none'}")
    return 1 if wrong else 0


# ---- the drawing ----

def row(room, files):
    lines = sum(f.lines for f in files)
    lengths = sorted(f.lines for file in files for f in file.functions) or [0]
    uses = collections.Counter(m for f in files for m in re.findall(r'#include "(\w+)/', f.text) if m != room)
    return (f"{room:13}{len(files):5}{lines:8}{statistics.median(lengths):8.0f}{lengths[int(len(lengths) * 0.9) - 1]:5}{lengths[-1]:5}"
            f"{100 * sum(f.n_comments() for f in files) / max(1, lines):8.0f}%{per_thousand(files, False):9.1f}"
            f"{per_thousand(files, True):8.1f}  " + ", ".join(f"{used} {n}" for used, n in sorted(uses.items())))


def draw(root, rooms):
    files = [f for list_of in rooms.values() for f in list_of]
    longest = sorted(((f.lines, f.name) for f in files), reverse=True)[:8]
    functions = sorted(((f.lines, f"{file.name}:{f.line} {f.name}") for file in files for f in file.functions), reverse=True)[:8]
    against = list(check_rooms.includes(check_rooms.read(root), root / "src"))
    print("room         files   lines  median  90%  max comments  asserts  static  includes of (files)")
    for room, list_of in rooms.items():
        print(row(room, list_of))
    print("\nagainst the order:", "; ".join(against) or "none")
    print("longest files:", "; ".join(f"{name} {n}" for n, name in longest))
    print("longest functions:", "; ".join(f"{name} {n}" for n, name in functions))


def main():
    root = pathlib.Path(sys.argv[-1]).resolve()
    rooms = rooms_of(root)
    if "--check" in sys.argv[1:-1]:
        return check(root, rooms)
    draw(root, rooms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
