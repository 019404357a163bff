#!/usr/bin/env bash
# coverage.sh HARNESS [N_RUNS [MORE]]: which lines of the decoders damaged input reaches. Builds in build-coverage.
#   file         traces; MORE is the seed of the damage
#   tracy        what Tracy's clients send; MORE is a folder of further inputs, as libFuzzer leaves them
#   tracy_files  .tracy files; likewise
set -eu
cd "$(dirname "$0")/../.."
harness=${1:-file} runs=${2:-5000} more=${3:-}
case $harness in
file) target=fuzz_file seeds=tests/fuzz/seeds ;;
tracy) target=fuzz_tracy_seeds seeds=tests/tracy/fuzz/seeds ;;
tracy_files) target=fuzz_tracy_file seeds=tests/tracy_files/fuzz/seeds ;;
*) exit 2 ;;
esac
cmake -S . -B build-coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSTROBE_FUZZ_COVERAGE=ON >/dev/null
cmake --build build-coverage --target $target >/dev/null
find build-coverage -name '*.gcda' -delete
if [ $harness = file ]; then
    build-coverage/bin/$target $seeds "$runs" "${more:-1}"
else
    build-coverage/bin/$target $seeds "$runs"
    [ -z "$more" ] || build-coverage/bin/$target "$more" 0
fi

report() { # ROOM NAME...
    local room=$1 total=0 hit=0
    shift
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
}
case $harness in
file) # the reader and the decoders, then all that walks over them
    report file decode fields replay file_read file_roots file_scan file_walk
    report query trace names clock texts feed loose walk overview stats stats_exact ;;
tracy)
    report tracy session decode decode_zones decode_thread decode_stacks decode_serial decode_gpu decode_system names held own_clock events \
        sink store ;;
tracy_files) # the reader, then the import over it
    report tracy blocks_in content content_tables content_zones content_rest
    report tracy import import_events ;;
esac
