#!/usr/bin/env bash
# build-tracy-python-full.sh [FOLDER]: builds everything into FOLDER (default: dist): strobe-profiler with its commands,
# tracy_client, strobe-tracy (python -m tracy), and the wheel for interpreters that can't load the module.
set -eu
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
folder=${1:-$root/dist}
"$root/scripts/deps" build
"${PYTHON:-python3}" "$root/python/backend/strobe_backend.py" "$folder"
echo
echo "Install with: python -m pip install --find-links $folder 'strobe-profiler[tracy,tracy-client]==0.1.0'"
