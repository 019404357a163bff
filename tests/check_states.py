#!/usr/bin/env python3
"""check_states.py ROOT: the drawing of a life and the code name the same states and the same moves.

The drawing is a comment under src/ or web/ (in the header, beside the enum):

    /* states of NAME, moved by FUNCTION:
     *
     *     OPEN --> BUSY --> CLOSED          (any picture; lower-case words are free)
     *
     *   OPEN -> BUSY           who moves it, and when
     *   OPEN, BUSY -> CLOSED   likewise */
    enum NAME { PREFIX_OPEN, PREFIX_BUSY, PREFIX_CLOSED };

and the table of legal moves, in the source that has FUNCTION:

    /* moves of NAME */
    ... {PREFIX_OPEN, PREFIX_BUSY}, {PREFIX_OPEN, PREFIX_CLOSED}, ... };

In JavaScript, under web/, the enum is `const NAME = Object.freeze({OPEN: 1, BUSY: 2 …});`, the table an array of [NAME.OPEN, NAME.BUSY],
and FUNCTION a method.

A state's short name is its enumerator without the prefix that all of them share. From "states of" to the end of the comment a word
of two capitals and more is a state, and nothing else is. What is checked:
  - the enum NAME is there, once; the drawing and the enum have the same states;
  - each state is part of a move; none but the first is without a move to it;
  - "moved by FUNCTION" (it may be absent, where several processes move a state in shared memory): FUNCTION is there, a table of moves is
    there and has the drawing's moves, and no other function assigns a state of NAME to a field called `state`, or ending in `_state`.
A table of moves without "moved by" is checked against the drawing too."""
import os
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
HEAD = re.compile(r"\bstates of (\w+)(?:, moved by (\w+))?:")
MOVE = re.compile(r"^((?:[A-Z][A-Z0-9_]+, )*[A-Z][A-Z0-9_]+) -> ([A-Z][A-Z0-9_]+)\b")
WORD = re.compile(r"\b[A-Z][A-Z0-9_]+\b")


def plain(text):
    """Code without its comments, lines kept."""
    return COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)


class Drawing:
    def __init__(self, where, name, mover, body):
        self.where, self.name, self.mover = where, name, mover
        self.states, self.moves = set(WORD.findall(body)), set()
        for line in body.splitlines():
            move = MOVE.match(line.strip(" \t*"))
            if move:
                self.moves |= {(before, move.group(2)) for before in move.group(1).split(", ")}


def drawings(sources):
    for path, text in sources.items():
        for comment in COMMENT.finditer(text):
            head = HEAD.search(comment.group())
            if head:
                yield Drawing(path, head.group(1), head.group(2), comment.group()[head.end():-2])


def enums(sources, name):
    """Every definition of the enum: its enumerators, in order."""
    for text in sources.values():
        for body in re.findall(rf"\benum {name}\s*(?::\s*\w+\s*)?\{{(.*?)\}}", plain(text), re.S):
            yield re.findall(r"(?:^|,)\s*([A-Z]\w*)", body)
        for body in re.findall(rf"\bconst {name} = Object\.freeze\(\{{(.*?)\}}\)", plain(text), re.S):
            yield [f"{name}.{state}" for state in re.findall(r"(?:^|,)\s*([A-Z]\w*):", body)]


def prefix_of(names):
    shared = os.path.commonprefix(names)
    return shared[:max(shared.rfind("_"), shared.rfind(".")) + 1]


def tables(sources, name, prefix):
    """Every table "moves of NAME": its pairs, by short names."""
    for text in sources.values():
        for table in re.findall(rf"/\* moves of {name}\b.*?\*/(.*?)[\]}}];", text, re.S):
            pairs = re.findall(r"[\[{]\s*([\w.]+)\s*,\s*([\w.]+)\s*[\]}]", plain(table))
            yield {(a.removeprefix(prefix), b.removeprefix(prefix)) for a, b in pairs}


def bodies(text, function):
    """Code without the bodies of a function; how many it had."""
    return re.subn(rf"^( *)(?:\w[\w *]*)?\b{function}\([^;{{}}]*\)\s*\{{\n.*?^\1\}}", "", plain(text), flags=re.S | re.M)


def check_mover(drawing, sources, prefix):
    found = 0
    for path, text in sources.items():
        rest, n = bodies(text, drawing.mover)
        found += n
        for assignment in re.findall(rf"(?:->|\.)(?:\w*_)?state\s*=\s*{re.escape(prefix)}\w+", rest):
            yield f"{path}: '{assignment}' outside of {drawing.mover}"
    if found != 1:
        yield f"{drawing.where}: {drawing.mover}, which moves {drawing.name}, is defined {found} times"


def check(drawing, sources):
    found = list(enums(sources, drawing.name))
    if len(found) != 1:
        yield f"{drawing.where}: enum {drawing.name} is defined {len(found)} times"
        return
    prefix = prefix_of(found[0])
    states = [name.removeprefix(prefix) for name in found[0]]
    where = f"{drawing.where}: states of {drawing.name}"
    yield from (f"{where}: {s} is drawn and is no state" for s in sorted(drawing.states - set(states)))
    yield from (f"{where}: {s} is not drawn" for s in states if s not in drawing.states)
    moved = {state for move in drawing.moves for state in move}
    reached = {after for _, after in drawing.moves}
    yield from (f"{where}: no move has {s}" for s in states if s not in moved)
    yield from (f"{where}: nothing moves to {s}" for s in states[1:] if s not in reached)
    legal = list(tables(sources, drawing.name, prefix))
    if len(legal) != 1 and (drawing.mover or legal):
        yield f"{where}: {len(legal)} tables of moves"
    for table in legal:
        yield from (f"{where}: {a} -> {b} is drawn and is not legal" for a, b in sorted(drawing.moves - table))
        yield from (f"{where}: {a} -> {b} is legal and is not drawn" for a, b in sorted(table - drawing.moves))
    if drawing.mover:
        yield from check_mover(drawing, sources, prefix)


EXAMPLE = """/* states of door, moved by move: SHUT <--> OPEN, drawn
 *   SHUT -> OPEN   a hand
 *   OPEN -> SHUT   the wind */
enum door { DOOR_SHUT, DOOR_OPEN };
/* moves of door */
static const enum door legal[][2] = {{DOOR_SHUT, DOOR_OPEN}, {DOOR_OPEN, DOOR_SHUT}};
static void move(struct house *h, enum door to)
{
    h->state = to;
}
"""
WRONG = [("DOOR_OPEN }", "DOOR_OPEN, DOOR_AJAR }", "AJAR is not drawn"), ("drawn\n", "drawn AJAR\n", "AJAR is drawn"),
         (" *   OPEN -> SHUT   the wind */", " */", "OPEN -> SHUT is legal"), (", {DOOR_OPEN, DOOR_SHUT}", "", "OPEN -> SHUT is drawn"),
         ("static void move", "void f(void)\n{\n    h->state = DOOR_OPEN;\n}\nvoid move", "outside of move"),
         ("static void move", "static void shift", "defined 0 times"), ("enum door {", "enum gate {", "enum door is defined 0"),
         ("/* moves of door */", "", "0 tables"), ("SHUT -> OPEN   a hand", "", "nothing moves to OPEN")]


SCRIPT = """/* states of Door, moved by move: SHUT <--> OPEN, drawn
 *   SHUT -> OPEN   a hand
 *   OPEN -> SHUT   the wind */
const Door = Object.freeze({SHUT: 1, OPEN: 2});
/* moves of Door */
const MOVES = [[Door.SHUT, Door.OPEN], [Door.OPEN, Door.SHUT]];
class House {
    move(to) {
        this.state = to;
    }
}
"""
WRONG_SCRIPT = [("OPEN: 2}", "OPEN: 2, AJAR: 3}", "AJAR is not drawn"), (", [Door.OPEN, Door.SHUT]", "", "OPEN -> SHUT is drawn"),
                ("    move(to", "    f() {\n        this.state = Door.OPEN;\n    }\n    move(to", "outside of move"),
                ("    move(to", "    shift(to", "defined 0 times")]


def self_test():
    """The checker finds each of the faults that it is for."""
    def faults(text):
        return [fault for d in drawings({"example": text}) for fault in check(d, {"example": text})]
    for example, wrong in ((EXAMPLE, WRONG), (SCRIPT, WRONG_SCRIPT)):
        assert faults(example) == [], faults(example)
        for good, bad, wanted in wrong:
            text = example.replace(good, bad, 1)
            assert text != example and any(wanted in fault for fault in faults(text)), (wanted, faults(text))


def main():
    self_test()
    root = pathlib.Path(sys.argv[1])
    paths = sorted((root / "src").rglob("*.[ch]")) + sorted((root / "web").rglob("*.js"))
    sources = {str(path): path.read_text() for path in paths}
    drawn = list(drawings(sources))
    wrong = [fault for drawing in drawn for fault in check(drawing, sources)]
    print("\n".join(wrong) or f"{len(drawn)} drawings of states, as the code has them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
