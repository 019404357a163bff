#!/usr/bin/env bash
# coverage.sh [N_RUNS [SEED]]: which lines of the decoders damaged traces reach. Builds in build-coverage.
set -eu
cd "$(dirname "$0")/../.."
runs=${1:-5000}
seed=${2:-1}
cmake -S . -B build-coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSTROBE_FUZZ_COVERAGE=ON >/dev/null
cmake --build build-coverage --target fuzz_file >/dev/null
find build-coverage -name '*.gcda' -delete
build-coverage/bin/fuzz_file tests/fuzz/seeds "$runs" "$seed"

# The reader and the decoders of src/file, then all that walks over them.
total=0 hit=0
report() {
    local room=$1; shift
    for name in "$@"; do
        local line
        line=$(cd build-coverage && gcov -n "CMakeFiles/strobe_$room.dir/src/$room/$name.c.gcda" 2>/dev/null |
            grep -A1 "src/$room/$name.c'" | sed -n 's/Lines executed:\([0-9.]*\)% of \([0-9]*\)/\1 \2/p')
        set -- $line
        printf '%7s %% of %4d lines  src/%s/%s.c\n' "$1" "$2" "$room" "$name"
        hit=$(awk -v h="$hit" -v p="$1" -v n="$2" 'BEGIN { print h + p * n / 100 }')
        total=$((total + $2))
    done
    awk -v h="$hit" -v t="$total" 'BEGIN { printf "%7.2f %% of %4d lines together\n", 100 * h / t, t }'
    total=0 hit=0
}
report file decode fields replay file_read file_roots file_scan file_walk
report query trace names clock texts feed loose walk overview stats stats_exact
