#!/usr/bin/env python3
"""check_man.py ROOT: every long option in the --help of a command stands in the manual page where that command is: in its paragraph
under COMMANDS, or under OPTIONS OF the command. Those of Tracy's tools stand in their own pages."""
import pathlib
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"|\b(STROBE_[A-Z_]+)\b')
HELP = re.compile(r"static const char (?:\w*help|help_top)\[\] =(.*?);\n", re.S)
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9_-]*[a-z0-9])")
LISTED = re.compile(r" +(?:-\w, +)?--\S+(?:(?:, | \| | )\S+)*?(?=  |$)")    # a line of the list, before its explanation
OWN_PAGES = ("tracy-capture", "tracy-csvexport")


def macros(root):
    """Macros of literals that help texts are made of, by name: their text."""
    text = (root / "src/cli/choice.h").read_text()
    found = re.findall(r"#define (STROBE_\w+) +\\\n((?:.*\\\n)*.*\n)", text)
    return {name: "".join(literal for literal, _ in LITERAL.findall(body)) for name, body in found}


def helps(root):
    """(command, its help text) of every help text in the sources."""
    known = macros(root)
    for path in sorted((root / "src/cli").glob("cmd_*.c")):
        for body in HELP.findall(path.read_text()):
            text = "".join(known.get(macro, "") if macro else literal for literal, macro in LITERAL.findall(body))
            name = re.match(r"cmd_([a-z]+(?:_bridge|_capture|_csvexport)?)", path.stem).group(1).replace("_", "-")
            yield name, text.replace("\\n", "\n")


def options_of(text):
    """Long options of a help text: of its usage and of its list. What its sentences name may be another command's."""
    usage, _, rest = text.split("\nexample")[0].partition("\n\n")
    lines = usage.splitlines() + [match.group() for match in map(LISTED.match, rest.splitlines()) if match]
    return {name for line in lines for name in OPTION.findall(line)}


def plain(text):
    """A manual page without its fonts and escapes."""
    return re.sub(r"\\f[BIRP]", "", text).replace("\\-", "-")


def place_of(page, command):
    """The paragraph and the section of a command in the page."""
    paragraph = re.search(rf"^\.TP\n\.BR? {command}\n(.*?)(?=^\.TP\n|^\.SH )", page, re.S | re.M)
    section = re.search(rf"^\.SH OPTIONS OF {command.upper()}\n(.*?)(?=^\.SH )", page, re.S | re.M)
    return "\n".join(match.group(1) for match in (paragraph, section) if match)


def check(root):
    pages = {name: plain((root / f"docs/man/{name}.1").read_text()) for name in ("strobe", *OWN_PAGES)}
    n_options = 0
    for command, text in helps(root):
        place = pages[command] if command in OWN_PAGES else place_of(pages["strobe"], command)
        there = set(OPTION.findall(place)) | {"help"}
        n_options += len(options_of(text))
        for name in sorted(options_of(text) - there):
            yield f"docs/man: 'strobe {command}' has --{name}, and the page does not say so"
    if n_options < 100:
        yield f"only {n_options} options were found in the help texts: check_man.py does not read them any more"


def main():
    problems = list(check(pathlib.Path(sys.argv[1])))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
