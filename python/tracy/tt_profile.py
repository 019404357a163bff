#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile.py [-h] [-o OUTPUT_PATH] [-p PORT] "test_command": as tt-torch's tool of that name. The work is `strobe profile`'s.

    python tt_torch/tools/profile.py "pytest -svv test_mnist.py"
    python -m tracy.tt_profile "pytest -svv test_mnist.py"

    from tracy.tt_profile import tt_profile
    tt_profile("pytest -svv test_mnist.py")
"""
import os
import subprocess
import sys

OUTPUT = "device_ops_perf_trace.csv"


def find_strobe():
    """The command, also for this file as a script of its own."""
    try:
        from tracy import strobe_command
    except ImportError:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
        from tracy import strobe_command
    return strobe_command.find()


def tt_profile(test_command, output_filename=OUTPUT, port=8086):
    """Run and report a command line; raises RuntimeError where it fails. The report is results/perf/<output_filename>."""
    words = [find_strobe(), "profile", "-o", str(output_filename), "-p", str(port), test_command]
    code = subprocess.run(words, check=False).returncode
    if code:
        raise RuntimeError(f"{' '.join(words[:-1])} {test_command!r} ended with {code}")


def main():
    """The command line of profile.py; becomes `strobe profile`."""
    try:
        binary = find_strobe()
    except (FileNotFoundError, ImportError) as problem:
        return f"profile.py: {problem}"
    sys.stdout.flush()
    os.execv(binary, ["strobe", "profile", *sys.argv[1:]])


if __name__ == "__main__":
    if sys.path and os.path.exists(os.path.join(sys.path[0], "profile.py")):
        del sys.path[0]  # or it would hide the standard library's module of that name
    sys.exit(main())
