# SPDX-License-Identifier: MIT
"""What the distributions say of themselves: names, extras, entry points. No work is done here."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUIRES_PYTHON = ">=3.9"

# The distribution; the module in it is `strobe`. (That name belongs to another project's distribution.)
NAME = "strobe-profiler"
# No version is asked for in the extras: whoever has another distribution of that name keeps it.
EXTRAS = {"tracy": "strobe-tracy", "tracy-client": "tracy_client", "microbenchmark": "strobe-microbenchmark"}
PYTEST_PLUGIN = "strobe = strobe.pytest_plugin"

SUMMARIES = {
    NAME: "A profiler for programs that are part Python, part native code",
    "strobe-tracy": "Tenstorrent's `tracy` module, recorded by Strobe",
    "strobe-microbenchmark": "Microbenchmarks on IREE's runtime, recorded by Strobe",
    "tracy_client": "Tracy's `tracy_client` module, recorded by Strobe",
}


def version():
    """The one version number of the tree."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(Strobe VERSION (\S+)", text).group(1)


def describe(name, licenses=(), description=""):
    """The METADATA file of a distribution."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version()}",
             f"Summary: {SUMMARIES[name]}", "License: MIT", f"Requires-Python: {REQUIRES_PYTHON}",
             "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Programming Language :: Python :: 3",
             "Classifier: Programming Language :: C",
             "Classifier: Topic :: Software Development :: Debuggers"]
    lines += [f"License-File: {path}" for path in licenses]
    if name == NAME:
        for extra, wanted in EXTRAS.items():
            lines += [f"Provides-Extra: {extra}", f'Requires-Dist: {wanted}; extra == "{extra}"']
    elif name != "tracy_client":  # tracy_client has all that it needs in itself
        lines.append(f"Requires-Dist: {NAME}=={version()}")
    if description:
        lines += ["Description-Content-Type: text/markdown", "", description]
    return "\n".join(lines) + "\n"


def entry_points(commands, with_plugin):
    """entry_points.txt: a launcher per command, and the pytest plugin where it can be imported."""
    lines = []
    if commands:
        lines.append("[console_scripts]")
        lines += [f"{name} = _strobe_commands:{name.replace('-', '_')}" for name in commands]
        lines.append("")
    if with_plugin:
        lines += ["[pytest11]", PYTEST_PLUGIN, ""]
    return "\n".join(lines)
