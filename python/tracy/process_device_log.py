#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device statistics with the command line of tt-metal's process_device_log; the work is strobe's."""
import argparse
import sys

from tracy import strobe_command


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="process_device_log", description=__doc__)
    parser.add_argument("-s", "--setup", default="default_setup", help="Which analyses")
    parser.add_argument("-d", "--device-input-log", help="Device log")
    parser.add_argument("-o", "--output-folder", help="Output folder for artifacts")
    parser.add_argument("--no-print-stats", action="store_true", help="Do not print the statistics")
    parser.add_argument("--no-artifacts", action="store_true", help="No tarball")
    parser.add_argument("--no-op-detection", action="store_true", help="Do not look for ops")
    given = parser.parse_args(arguments)
    command = ["--device-stats", "-s", given.setup]
    if given.device_input_log:
        command += ["-d", given.device_input_log]
    if given.output_folder:
        command += ["-o", given.output_folder]
    for flag in ("no_print_stats", "no_artifacts", "no_op_detection"):
        if getattr(given, flag):
            command.append("--" + flag.replace("_", "-"))
    return strobe_command.run(*command)


if __name__ == "__main__":
    sys.exit(main())
