# SPDX-License-Identifier: MIT
"""python -m tracy: record a program, as tt-metal's module of that name does."""
import sys

from tracy.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
