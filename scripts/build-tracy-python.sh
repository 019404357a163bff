#!/usr/bin/env bash
# build-tracy-python.sh [FOLDER]: builds the wheels strobe-profiler and tracy_client into FOLDER (default: dist).
# Any CPython from 3.9 on builds them, and every one from 3.9 on can use them: there is no version to match.
set -eu
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
folder=${1:-$root/dist}
"$root/scripts/deps" build
"${PYTHON:-python3}" "$root/python/backend/strobe_backend.py" --only-tracy-client "$folder"
echo
echo "Install with: python -m pip install $folder/tracy_client-*.whl"
