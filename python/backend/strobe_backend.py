# SPDX-License-Identifier: MIT
"""The build backend (PEP 517) of the wheels: `pip install .` and `make wheel` end here.

Four distributions come from one build: `strobe-profiler` (everything native, module `strobe`), `strobe-tracy` (module `tracy`),
`strobe-microbenchmark` (module `microbenchmark`) and `tracy_client`. The last three are put into folders of their own that a .pth file appends to sys.path:
they come after site-packages, so a foreign module of that name is neither overwritten nor hidden. The file of `tracy_client` needs
no other: it has a package `strobe` in its folder, which is used where strobe-profiler is not installed.
A fifth file, strobe_profiler-…-py3-none-…, is what pip finds where the stable ABI does not work (free-threaded
interpreters): the same commands, and an `import strobe` that explains.
"""
import argparse
import pathlib
import subprocess
import sys
import sysconfig
import tarfile

import metadata
import native
from metadata import ROOT
from wheel_file import WheelFile

SOURCES = ROOT / "python"
EXTENSION = "_strobe.abi3.so"


def add_licenses(wheel, texts):
    names = ["LICENSE", *(f"third-party/{name}" for name in sorted(texts))]
    wheel.add(f"{wheel.info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
    for name, text in sorted(texts.items()):
        wheel.add(f"{wheel.info}/licenses/third-party/{name}", text)
    return names


def add_native(wheel, stage):
    """The installed tree becomes strobe/{bin,lib,include}: a prefix inside the package, without symbolic links."""
    for path in sorted((stage / "bin").glob("*")) if (stage / "bin").is_dir() else ():
        if not path.is_symlink():  # a link is a command by another name: _strobe_commands knows
            wheel.add(f"strobe/bin/{path.name}", path.read_bytes(), True)
    wheel.add_tree(stage / "include", "strobe/include/")
    if (stage / "share").is_dir():
        wheel.add_tree(stage / "share", f"{wheel.data}/data/share/")
    for path in sorted((stage / "lib").rglob("*")):
        name = f"strobe/lib/{path.relative_to(stage / 'lib').as_posix()}"
        if path.suffix == ".pc":
            wheel.add(name, moved(path.read_text()))
        elif path.is_file():  # the few links to libraries become copies: the loader goes by what is written in them
            wheel.add(name, path.read_bytes(), ".so" in path.suffixes)


def moved(text):
    """A .pc file that finds its prefix from where it is."""
    lines = ["prefix=${pcfiledir}/../.." if line.startswith("prefix=") else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def not_shipped(path):
    return path.suffix in (".c", ".h", ".o", ".so") or path.name in ("CMakeLists.txt", "_tree.py")


def write_strobe(folder, stage, tree, tag, client_only, with_extension):
    """The main wheel, or with_extension=False the fallback."""
    wheel = WheelFile(folder, metadata.NAME, metadata.version(), tag, "0client" if client_only else "")
    wheel.add_tree(SOURCES / "strobe", "strobe/", not_shipped)
    for path in sorted(SOURCES.glob("*.pth")) if with_extension else ():
        wheel.add(path.name, path.read_bytes())
        wheel.add("_strobe_join.py", (SOURCES / "_strobe_join.py").read_bytes())
    if with_extension:
        for module in sorted((stage / "python" / "strobe").glob("*.abi3.so")):  # what records, and what reads where it was built
            wheel.add(f"strobe/{module.name}", module.read_bytes(), True)
    add_native(wheel, stage)
    wheel.add("_strobe_commands.py", (SOURCES / "_strobe_commands.py").read_bytes())
    texts = {} if client_only else native.bundled_licenses(tree)
    names = add_licenses(wheel, texts)
    commands = sorted(path.name for path in (stage / "bin").glob("*")) if (stage / "bin").is_dir() else []
    wheel.add(f"{wheel.info}/METADATA",
              metadata.describe(metadata.NAME, names, (ROOT / "README.md").read_text(encoding="utf-8")))
    wheel.add(f"{wheel.info}/entry_points.txt", metadata.entry_points(commands, with_extension))
    return wheel.close()


def open_aside(folder, name, module, tag):
    """A wheel whose module lives in a folder of its own, after site-packages; and that folder."""
    wheel = WheelFile(folder, name, metadata.version(), tag)
    place = f"_strobe_{module}"
    wheel.add_tree(SOURCES / module, f"{place}/{module}/")
    wheel.add(f"{place}/README.txt", f"The module {module} of {name}: here, so that it never overwrites another of that name.\n")
    return wheel, place


def close_aside(wheel, place, name, texts, lines=""):
    wheel.add(f"{place}.pth", f"{place}\n{lines}")
    wheel.add(f"{wheel.info}/METADATA", metadata.describe(name, add_licenses(wheel, texts)))
    return wheel.close()


def write_pure(folder, name, module):
    """strobe-tracy, strobe-microbenchmark: pure Python."""
    wheel, place = open_aside(folder, name, module, "py3-none-any")
    return close_aside(wheel, place, name, {})


def write_tracy_client(folder, stage, tree, client_only):
    """tracy_client, whole in one file: the package `strobe` with its C half, library and command, for Python alone (no headers).
    The tag is that of every CPython: one that can't load the C half gets the reason when it imports it."""
    wheel, place = open_aside(folder, "tracy_client", "tracy_client", f"py3-none-{native.platform_tag(stage)}")
    wheel.add_tree(SOURCES / "strobe", f"{place}/strobe/", not_shipped)
    wheel.add(f"{place}/strobe/{EXTENSION}", (stage / "python" / "strobe" / EXTENSION).read_bytes(), True)
    for library in (sorted((stage / "lib").glob("libstrobe.so.*"))[0], *(stage / "lib").glob("libstrobe-tracy-shim.so")):
        wheel.add(f"{place}/strobe/lib/{library.name}", library.read_bytes(), True)
    wheel.add(f"{place}/_strobe_join.py", (SOURCES / "_strobe_join.py").read_bytes())
    if not client_only:
        for path in sorted((stage / "bin").glob("*")):
            if not path.is_symlink():
                wheel.add(f"{place}/strobe/bin/{path.name}", path.read_bytes(), True)
    texts = {} if client_only else native.bundled_licenses(tree)
    return close_aside(wheel, place, "tracy_client", texts, (SOURCES / "strobe.pth").read_text(encoding="utf-8"))


def write_main(folder, client_only=False, fallback=False):
    stage, tree = native.build(client_only)
    platform = native.platform_tag(stage)
    done = [write_strobe(folder, stage, tree, f"cp39-abi3-{platform}", client_only, True)]
    if fallback:
        done.append(write_strobe(folder, stage, tree, f"py3-none-{platform}", client_only, False))
    return done, stage, tree


def gil_is_gone():
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


# ---- PEP 517 ---------------------------------------------------------------------------------------

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """pip's way in. A free-threaded interpreter gets the wheel that explains."""
    try:
        return write_main(wheel_directory, fallback=gil_is_gone())[0][-1]
    except native.BuildFailed as problem:
        sys.exit(f"strobe: {problem}")


def build_sdist(sdist_directory, config_settings=None):
    """The tree as git knows it; without git, all but build trees and hidden files."""
    stem = f"{metadata.NAME.replace('-', '_')}-{metadata.version()}"
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = [name for name in listed.stdout.decode().split("\0") if name]
    else:
        names = [str(path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*")) if path.is_file() or path.is_symlink()]
        names = [name for name in names if not name.startswith((".", "build", "dist"))]
    with tarfile.open(pathlib.Path(sdist_directory) / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name in names:
            if (ROOT / name).is_file() or (ROOT / name).is_symlink():
                tar.add(ROOT / name, f"{stem}/{name}", recursive=False)
        info = pathlib.Path(sdist_directory) / "PKG-INFO"
        info.write_text(metadata.describe(metadata.NAME))
        tar.add(info, f"{stem}/PKG-INFO")
        info.unlink()
    return f"{stem}.tar.gz"


# ---- make wheel ------------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(prog="strobe_backend", description="Build the wheels.")
    parser.add_argument("folder", help="where they go")
    parser.add_argument("--client-only", action="store_true",
                        help="without the commands: a recorder comes from elsewhere")
    parser.add_argument("--only-tracy-client", action="store_true", help="strobe-profiler and tracy_client")
    given = parser.parse_args()
    try:
        done, stage, tree = write_main(given.folder, given.client_only, fallback=not given.client_only)
    except native.BuildFailed as problem:
        sys.exit(f"strobe: {problem}")
    done.append(write_tracy_client(given.folder, stage, tree, given.client_only))
    if not given.client_only and not given.only_tracy_client:
        done += [write_pure(given.folder, name, module) for name, module in
                 (("strobe-tracy", "tracy"), ("strobe-microbenchmark", "microbenchmark"))]
    for name in done:
        print(f"{given.folder}/{name}")


if __name__ == "__main__":
    main()
