#!/usr/bin/env python3
"""check_rooms.py ROOT: every #include under src/ follows the order of src/rooms.txt, every folder is a room of it, and the
table in ARCHITECTURE.md is the list's; within a room that has a table of layers there, no file includes one of a higher layer.
With --write before ROOT the table of rooms is written, not checked."""
import pathlib
import re
import sys


def read(root):
    """The rooms of src/rooms.txt, in order: {room: (rooms it uses, what lives there)}."""
    rooms = {}
    for line in (root / "src" / "rooms.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            room, uses, _, text = (part.strip() for part in line.split("|", 3))
            rooms[room] = (uses.split(), text)
    return rooms


def reach(rooms, room):
    """All rooms that `room` may include, itself among them."""
    seen = {room}
    for used in rooms[room][0]:
        seen |= reach(rooms, used)
    return seen


def order(rooms, src):
    """Rooms that use a later one, folders that are no room, rooms without a folder."""
    before = set()
    for room, (uses, _) in rooms.items():
        yield from (f"src/rooms.txt: {room} uses {used}, which does not stand before it" for used in uses if used not in before)
        before.add(room)
    folders = {p.name for p in src.iterdir() if p.is_dir()}
    yield from (f"src/{room}: a room without a place in src/rooms.txt" for room in sorted(folders - set(rooms)))
    yield from (f"src/rooms.txt: {room} has no folder" for room in sorted(set(rooms) - folders))


def includes(rooms, src):
    for path in sorted(src.rglob("*.[ch]")):
        room = path.relative_to(src).parts[0]
        allowed = reach(rooms, room)
        for line, text in enumerate(path.read_text().splitlines(), 1):
            m = re.match(r'#include "(([a-z_]+)/[^"]*)"', text)
            if not m or not (src / m.group(1)).exists():
                continue  # not of a room: a public header may have its name in front too
            if m.group(2) not in allowed:
                yield f"{path}:{line}: {room} must not use {m.group(2)}"


def read_layers(text):
    """The tables of layers in ARCHITECTURE.md, lowest layer first: {room: [(layer, [file without its end])]}."""
    found = {}
    for room, rows in re.findall(r"\| layer of (\w+) \|.*\n\|[-|]+\n((?:\|.*\n)+)", text):
        cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()]
        found[room] = [(row[0], re.findall(r"`(\w+)`", row[-1])) for row in cells]
    return found


def layers(room, listed, src):
    """Files of the room that no layer has, or two; files of layers that are not there; includes of a higher layer."""
    names = [name for _, files in listed for name in files]
    there = {path.stem for path in (src / room).glob("*.[ch]")}
    yield from (f"src/{room}/{name}: in no layer of {room} (ARCHITECTURE.md)" for name in sorted(there - set(names)))
    yield from (f"ARCHITECTURE.md: {name} is in a layer of {room}, not in src/{room}" for name in sorted(set(names) - there))
    yield from (f"ARCHITECTURE.md: {name} is in two layers of {room}" for name in sorted({name for name in names if names.count(name) > 1}))
    level = {name: number for number, (_, files) in enumerate(listed) for name in files}
    for path in sorted((src / room).glob("*.[ch]")):
        for line, text in enumerate(path.read_text().splitlines(), 1):
            m = re.match(rf'#include "{room}/(\w+)\.h"', text)
            if m and level.get(m.group(1), 0) > level.get(path.stem, len(listed)):
                yield f"{path}:{line}: {listed[level[path.stem]][0]} must not use {listed[level[m.group(1)]][0]}"


def table(rooms, text):
    """ARCHITECTURE.md with the table of the list."""
    rows = "".join(f"| [{room}](src/{room}) | {what} |\n" for room, (_, what) in rooms.items())
    return re.sub(r"(\| room \| what lives there \|\n\|---\|---\|\n)(?:\|.*\n)*", lambda m: m.group(1) + rows, text)


def main():
    root = pathlib.Path(sys.argv[-1])
    rooms = read(root)
    document = root / "ARCHITECTURE.md"
    text = document.read_text()
    wanted = table(rooms, text)
    if sys.argv[1] == "--write":
        document.write_text(wanted)
        return 0
    wrong = list(order(rooms, root / "src")) or list(includes(rooms, root / "src"))
    layered = read_layers(text)
    wrong += [] if layered else ["ARCHITECTURE.md: no table of layers"]
    for room, listed in layered.items():
        wrong += layers(room, listed, root / "src")
    if text != wanted:
        wrong.append("ARCHITECTURE.md: its table is not src/rooms.txt's (check_rooms.py --write ROOT)")
    print("\n".join(wrong) or f"{len(rooms)} rooms, order kept")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
