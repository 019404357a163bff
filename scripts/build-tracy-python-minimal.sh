#!/usr/bin/env bash
# build-tracy-python-minimal.sh [FOLDER]: builds the client only into FOLDER (default: dist/minimal): strobe-profiler without its
# commands, and tracy_client; the file of the latter is in dist too, where documents look for it. Needs a C compiler, cmake and
# Python's headers, and no library. What records the program (`strobe record`) comes from elsewhere.
set -eu
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
folder=${1:-$root/dist/minimal}
"${PYTHON:-python3}" "$root/python/backend/strobe_backend.py" --client-only "$folder"
if [ $# = 0 ]; then
    cp "$folder"/tracy_client-*.whl "$root/dist/"
fi
echo
echo "Install with: python -m pip install $folder/tracy_client-*.whl"
echo "Or use it from here: source scripts/source_env.sh"
