#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare an op report with the C++ report, as tt-metal's compare_ops_logs; the work is strobe's."""
import argparse
import sys

from tracy import strobe_command


def compare_ops_logs(python_ops_perf_report=None, cpp_ops_perf_report=None, only_compare_op_ids=False):
    """Exits with 1 when the reports differ, as upstream does."""
    command = ["--compare"]
    if only_compare_op_ids:
        command.append("--only-compare-op-ids")
    command += [str(p) for p in (python_ops_perf_report, cpp_ops_perf_report) if p]
    code = strobe_command.run(*command)
    if code:
        sys.exit(code)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="compare_ops_logs", description=__doc__)
    parser.add_argument("--only-compare-op-ids", action="store_true", help="Only compare op ids")
    parser.add_argument("python_ops_perf_report", nargs="?")
    parser.add_argument("cpp_ops_perf_report", nargs="?")
    compare_ops_logs(**vars(parser.parse_args(arguments)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
