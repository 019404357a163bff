# SPDX-License-Identifier: MIT
"""What `python -m tracy` was asked for, for those who run inside it."""

isWrapped = False  # the program runs under `python -m tracy`
doPartial = False  # -p: only what Profiler() enables
doLine = False     # -l: lines, within -p
