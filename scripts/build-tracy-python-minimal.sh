#!/usr/bin/env bash
# build-tracy-python-minimal.sh [FOLDER]: builds the client only into FOLDER (default: dist/minimal): strobe-profiler without its
# commands, and tracy_client. Needs a C compiler, cmake and Python's headers, and no library. What records the program
# (`strobe record`) comes from elsewhere.
set -eu
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
folder=${1:-$root/dist/minimal}
"${PYTHON:-python3}" "$root/python/backend/strobe_backend.py" --client-only "$folder"
echo
echo "Install with: python -m pip install --find-links $folder tracy_client"
