#!/usr/bin/env bash
# coverage.sh [N_RUNS [FOLDER]]: which lines of the session the seeds (and a folder of more inputs) reach. Builds in build-coverage.
set -eu
cd "$(dirname "$0")/../../.."
runs=${1:-20000}
cmake -S . -B build-coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSTROBE_FUZZ_COVERAGE=ON >/dev/null
cmake --build build-coverage --target fuzz_tracy_seeds >/dev/null
find build-coverage -name '*.gcda' -delete
build-coverage/bin/fuzz_tracy_seeds tests/tracy/fuzz/seeds "$runs"
[ -z "${2:-}" ] || build-coverage/bin/fuzz_tracy_seeds "$2" 0

total=0 hit=0
for name in session decode decode_zones decode_thread decode_stacks decode_serial decode_gpu decode_system names held own_clock events sink store; do
    line=$(cd build-coverage && gcov -n "CMakeFiles/strobe_tracy.dir/src/tracy/$name.c.gcda" 2>/dev/null |
        grep -A1 "src/tracy/$name.c'" | sed -n 's/Lines executed:\([0-9.]*\)% of \([0-9]*\)/\1 \2/p')
    set -- $line
    printf '%7s %% of %4d lines  src/tracy/%s.c\n' "$1" "$2" "$name"
    hit=$(awk -v h="$hit" -v p="$1" -v n="$2" 'BEGIN { print h + p * n / 100 }')
    total=$((total + $2))
done
awk -v h="$hit" -v t="$total" 'BEGIN { printf "%7.2f %% of %4d lines together\n", 100 * h / t, t }'
