#!/usr/bin/env python3
"""check_rooms.py ROOT: every #include under src/ follows the order of the rooms."""
import pathlib
import re
import sys

USES = {
    "base": set(),
    "wire": {"base"},
    "ring": {"wire"},
    "client": {"ring"},
    "tracy_client": set(),
    "file": {"wire"},
    "shim": {"wire"},
    "collector": {"ring", "file"},
    "tracy": {"file"},
    "import": {"tracy"},
    "query": {"file"},
    "report": {"base"},
    "page": {"base"},
    "export": {"query", "tracy", "page"},
    "bridge": {"query", "tracy"},
    "serve": {"query", "page"},
}


def reach(room):
    """All rooms that `room` may include, itself among them."""
    seen = {room}
    for used in USES[room]:
        seen |= reach(used)
    return seen


def main():
    src = pathlib.Path(sys.argv[1]) / "src"
    wrong = []
    rooms = {p.name for p in src.iterdir() if p.is_dir()}
    for path in sorted(src.rglob("*.[ch]")):
        room = path.relative_to(src).parts[0]
        allowed = rooms if room == "cli" else reach(room)
        for line, text in enumerate(path.read_text().splitlines(), 1):
            m = re.match(r'#include "(([a-z_]+)/[^"]*)"', text)
            if not m or not (src / m.group(1)).exists():
                continue  # not of a room: a public header may have its name in front too
            if m.group(2) not in allowed:
                wrong.append(f"{path}:{line}: {room} must not use {m.group(2)}")
    unknown = rooms - set(USES) - {"cli"}
    wrong += [f"src/{room}: a room without a place in the order" for room in sorted(unknown)]
    print("\n".join(wrong) or f"{len(rooms)} rooms, order kept")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
