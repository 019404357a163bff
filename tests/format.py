#!/usr/bin/env python3
"""format.py ROOT: clang-format would change nothing. Another version than the one that .clang-format is written for may see it differently:
the check is skipped then (exit code 77), and says why."""
import re
import shutil
import subprocess
import sys

VERSION, SKIPPED = 14, 77  # Debian 12's


def main():
    root, tool = sys.argv[1], shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    if not tool:
        print("skipped: clang-format is not installed")
        return SKIPPED
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    if re.search(r"version (\d+)", version)[1] != str(VERSION):
        print(f"skipped: this is {version.strip()}, the tree is formatted by {VERSION}")
        return SKIPPED
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.c", "*.h", "*.cpp", "*.hpp"], capture_output=True, text=True, check=False)
    if listed.returncode:
        print(f"skipped: no list of files: {listed.stderr.strip()}")
        return SKIPPED
    done = subprocess.run([tool, "--dry-run", "-Werror", *listed.stdout.split()], cwd=root, capture_output=True, text=True, check=False)
    wrong = [line for line in done.stderr.splitlines() if "error:" in line]
    print("\n".join(wrong + ["make format"]) if wrong else f"{len(listed.stdout.split())} files are formatted")
    return 1 if wrong or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
