#!/usr/bin/env python3
"""check_names.py ROOT: the rule of names in CONTRIBUTING.md.

A function that a header declares is called strobe_<object>_<verb>: <object> is the tag of a struct, union or enum, a room, a
header's name, or what a kind of event is about (the first word of a kind in wire/kinds.h); something stands behind it. A struct, union or enum
tag is defined once in src/ and include/. tests/names_exceptions.txt lists what breaks the rule today; it may only shrink: a
line that is not needed any more fails as well.
"""
import os
import re
import sys

FUNCTION = re.compile(r"^[A-Za-z_][\w \t*()\",]*?[\s*](strobe_\w+)\(", re.M)
TAG = re.compile(r"^\s*(?:typedef )?(struct|union|enum) (strobe_\w+)\s*\{", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def sources(root, ends):
    """(path, text without comments) of the C sources."""
    for top in ("src", "include/strobe"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith(ends):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        text = COMMENT.sub(" ", file.read())
                    text = re.sub(r"^[ \t]*#.*?(?<!\\)\n", "\n", text, flags=re.M | re.S)
                    yield os.path.relpath(path, root), STRING.sub('""', text)


def outside_braces(text):
    """What stands at the top level of a file; extern "C" is none."""
    text, depth, out = re.sub(r'extern "" \{', "", text), 0, []
    for char in text:
        depth -= char == "}"
        out.append(char if depth <= 0 or char == "\n" else " ")
        depth += char == "{"
    return "".join(out)


def find_tags(root):
    """{tag: [where it is defined]}."""
    tags = {}
    for path, text in sources(root, (".c", ".h")):
        for kind, tag in TAG.findall(text):
            tags.setdefault(tag, []).append(f"{path} ({kind})")
    return tags


def find_functions(root):
    """{function: header}."""
    found = {}
    for path, text in sources(root, (".h",)):
        if path.endswith("iree_provider.h"):
            continue  # names that IREE chose
        for name in FUNCTION.findall(outside_braces(text)):
            found.setdefault(name, path)
    return found


def find_objects(root, tags, functions):
    """What may stand behind strobe_ in a function's name."""
    objects = {tag[len("strobe_"):] for tag in tags}
    with open(os.path.join(root, "src", "rooms.txt"), encoding="utf-8") as file:
        objects |= {line.split("|")[0].strip() for line in file if line.strip() and not line.startswith("#")}
    with open(os.path.join(root, "src", "wire", "kinds.h"), encoding="utf-8") as file:
        objects |= {name.split("_")[0].lower() for name in re.findall(r"^ +X\((\w+), \d+,", file.read(), re.M)}
    return objects | {os.path.basename(path)[:-2] for path in functions.values()}


def breaks_rule(name, objects):
    """Whether no object begins the name with something behind it."""
    words = name.split("_")[1:]
    return not any("_".join(words[:n]) in objects for n in range(1, len(words)))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    tags, functions = find_tags(root), find_functions(root)
    objects = find_objects(root, tags, functions)
    found = {f"function {name}": path for name, path in functions.items() if breaks_rule(name, objects)}
    found.update({f"tag {tag}": ", ".join(where) for tag, where in tags.items() if len(where) > 1})
    with open(os.path.join(root, "tests", "names_exceptions.txt"), encoding="utf-8") as file:
        allowed = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    problems = [f"{what}: {where}: breaks the rule of names (CONTRIBUTING.md)" for what, where in sorted(found.items())
                if what not in allowed]
    problems += [f"tests/names_exceptions.txt: '{what}' is not needed any more: remove the line" for what in sorted(allowed - set(found))]
    print("\n".join(problems) or f"{len(functions)} functions, {len(tags)} tags, {len(allowed)} exceptions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
