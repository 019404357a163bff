#!/usr/bin/env bash
# setup.sh FOLDER: playwright-core and axe-core, once, into FOLDER of the build tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cmp -s "$here/package.json" "$1/package.json" && [ -d "$1/node_modules/axe-core" ] && exit 0
cp "$here/package.json" "$1/package.json"
cd "$1" && npm install --silent --no-audit --no-fund --ignore-scripts
