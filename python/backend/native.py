# SPDX-License-Identifier: MIT
"""Builds the native half with CMake and looks at what came out: the tag and the licences it calls for."""
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess

from metadata import ROOT

LICENSES = pathlib.Path("/usr/share/common-licenses")
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of an ELF file: the platform tag's word


class BuildFailed(Exception):
    """Says what is missing, for a person."""


def run(command):
    print("+", " ".join(map(str, command)), flush=True)
    try:
        subprocess.run([str(part) for part in command], check=True)
    except FileNotFoundError:
        raise BuildFailed(f"{command[0]} is not installed; `scripts/deps build` installs what a build needs")
    except subprocess.CalledProcessError:
        raise BuildFailed("the native part did not build: the lines above say why. "
                          "`scripts/deps build` installs what it needs; no pybind11 is needed, "
                          "and any CPython from 3.9 on will do")


def build(client_only=False):
    """Configure, build and install into a folder of its own; that folder and the build tree. $CMAKE_ARGS: more words for cmake, a
    toolchain file for another machine say; they have a build tree of their own."""
    given = os.environ.get("CMAKE_ARGS", "")
    tree = ROOT / "build" / ("wheel-client" if client_only else "wheel")
    if given:
        tree = tree.with_name(f"{tree.name}-{hashlib.sha256(given.encode()).hexdigest()[:8]}")
    stage = tree / "stage"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    if (tree / "CMakeCache.txt").exists():
        generator = []
    run(["cmake", "-S", ROOT, "-B", tree, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DSTROBE_WHEEL=ON",
         f"-DSTROBE_CLIENT_ONLY={'ON' if client_only else 'OFF'}", "-DTRACY_CLIENT_PYTHON=ON",
         "-DSTROBE_TESTS=OFF", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_INSTALL_BINDIR=bin",
         "-DCMAKE_INSTALL_PREFIX=/usr/local", *shlex.split(given)])
    run(["cmake", "--build", tree, "--parallel", str(os.cpu_count() or 1)])
    shutil.rmtree(stage, ignore_errors=True)
    run(["cmake", "--install", tree, "--prefix", stage, "--strip"])
    run(["cmake", "--install", tree, "--prefix", stage, "--strip", "--component", "wheel"])
    return stage, tree


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(stage):
    return [path for path in sorted(pathlib.Path(stage).rglob("*"))
            if path.is_file() and not path.is_symlink() and is_elf(path)]


def platform_tag(stage):
    """manylinux_X_Y_arch of the newest glibc symbol that anything here asks for."""
    newest = (2, 17)
    for path in elf_files(stage):
        text = subprocess.run(["readelf", "-V", "-W", str(path)], check=True, capture_output=True,
                              text=True).stdout
        for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", text):
            newest = max(newest, (int(major), int(minor)))
    return f"manylinux_{newest[0]}_{newest[1]}_{machine_of(elf_files(stage)[0])}"


def machine_of(path):
    """The machine that a file is for, which may not be this one."""
    with open(path, "rb") as file:
        return MACHINES[struct.unpack_from("<H", file.read(20), 18)[0]]


def linked_archives(tree):
    """The static libraries of the system that were linked into the commands."""
    text = "".join(path.read_text() for path in
                   [*tree.glob("build.ninja"), *tree.glob("CMakeFiles/*/link.txt")])
    found = set(re.findall(r"(/[^\s:]+/lib\w+\.a)\b", text))
    return sorted(path for path in found if not path.startswith(str(tree)))


def owner_of(archive):
    """Debian's package of a file, or None."""
    found = subprocess.run(["dpkg", "-S", archive], capture_output=True, text=True, check=False)
    return found.stdout.split(":")[0] if found.returncode == 0 else None


def bundled_licenses(tree):
    """{file name: text} for the libraries linked in, with the texts that those refer to."""
    texts, index = {}, []
    for archive in linked_archives(tree):
        package = owner_of(archive) if shutil.which("dpkg") else None
        copyright_file = pathlib.Path("/usr/share/doc") / str(package) / "copyright"
        if package == "libc6-dev":
            continue  # empty archives: what was in them is in libc itself
        if not copyright_file.exists():
            print(f"warning: no licence text was found for {archive}: do not hand this wheel on")
            continue
        text = copyright_file.read_text(encoding="utf-8", errors="replace")
        texts[f"{package}.txt"] = text
        index.append(f"{pathlib.Path(archive).name}: see {package}.txt")
        for name in re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text):
            if (LICENSES / name).exists():
                texts[f"{name}.txt"] = (LICENSES / name).read_text(encoding="utf-8", errors="replace")
    if index:
        texts["README.txt"] = ("These libraries are linked into the commands. Strobe's sources are all one needs to "
                               "link them anew with other versions.\n\n" + "\n".join(index) + "\n")
    return texts
