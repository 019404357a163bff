#!/usr/bin/env python3
"""check_symbols.py ROOT LIBSTROBE LIBTRACYCLIENT [--write]: the symbols that the shared libraries export.

tests/symbols/*.txt list them: an added or lost one fails, since programs are linked with them. Each function and variable that
include/strobe marks STROBE_API is exported by libstrobe, and nothing else of its own is. libTracyClient has its own symbols, and, where it is an
ELF filter of libstrobe, all of libstrobe's. --write makes the lists anew.
"""
import os
import re
import subprocess
import sys

HEADERS = ("strobe.h", "inline_abi.h", "facade.h")


def exported(library):
    """[symbol] that a library defines for others; the linker's own are none."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    return sorted(names - {"_init", "_fini", "_edata", "_end", "__bss_start"})


def declared(root):
    """Names behind STROBE_API."""
    names = set()
    for header in HEADERS:
        with open(os.path.join(root, "include", "strobe", header), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        for one in re.findall(r"^STROBE_API ([^;]*);", text, re.M):
            names.add(re.search(r"(strobe_\w+)\s*(?:\(|\[|__attribute__|$)", one.strip())[1])
    return names


def compare(path, symbols, write):
    """Differences between a list and what is there."""
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(f"{name}\n" for name in symbols))
    with open(path, encoding="utf-8") as file:
        listed = file.read().split()
    name = os.path.basename(path)
    return [f"{name}: {one} is exported and not in the list" for one in symbols if one not in listed] + \
           [f"{name}: {one} is in the list and not exported: programs need it" for one in listed if one not in symbols]


def main():
    root, libraries = sys.argv[1], sys.argv[2:4]
    problems, write = [], "--write" in sys.argv
    ours, promised, tracy = set(exported(libraries[0])), declared(root), exported(libraries[1])
    own = [name for name in tracy if name not in ours]
    for name, symbols in ("libstrobe.txt", sorted(ours)), ("libTracyClient.txt", own):
        problems += compare(os.path.join(root, "tests", "symbols", name), symbols, write)
    if len(own) < len(tracy):   # a filter of libstrobe (cmake/FilterNames.cmake): it stands for all of it
        problems += [f"libTracyClient is a filter of libstrobe and lacks {name}" for name in sorted(ours - set(tracy))]
    problems += [f"include/strobe declares {name}, libstrobe does not export it" for name in sorted(promised - ours)]
    problems += [f"libstrobe exports {name}, no header declares it" for name in sorted(ours - promised)]
    print("\n".join(problems) or f"{len(ours)} symbols of libstrobe, each declared")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
