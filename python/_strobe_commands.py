# SPDX-License-Identifier: MIT
"""Launchers of the commands that the wheel carries: each becomes the binary in strobe/bin.

A module of its own, so that a command does not wait for `import strobe`. It only ever calls exec.
"""
import os
import sys


def launch(name):
    """Become strobe/bin/<name>, or `strobe` by that name; returns only when it can't."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "strobe", "bin")
    binary = os.path.join(folder, name)
    if not os.path.exists(binary):
        binary = os.path.join(folder, "strobe")
    try:
        os.execv(binary, [sys.argv[0], *sys.argv[1:]])
    except OSError as problem:
        return f"{name}: {binary} can't be run: {problem.strerror}"


def __getattr__(name):
    """One function per command: `tracy_csvexport` runs tracy-csvexport."""
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda: launch(name.replace("_", "-"))
