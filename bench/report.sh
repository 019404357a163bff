#!/usr/bin/env bash
# bench/report.sh GENERATOR [OPS...]: CPU time and memory of the op report on invented big runs.
# GENERATOR is the program that writes the logs (called as GENERATOR DIR OPS --cpp); the default runs
# are 10,000 and 100,000 ops. Bars: 10,000 ops in 2 s of CPU time and 200 MiB on both paths, linear to
# 100,000 ops with the same memory. STROBE_BIN names the binary, STROBE_BENCH_DIR a folder with room
# (15 GB for 100,000 ops); with STROBE_UPSTREAM (a folder with tt-metal's own tracy package) and
# STROBE_PEERS (bin folder of its Python) upstream is measured in the same run, where it can be.
set -eu
generator=${1:?usage: bench/report.sh GENERATOR [OPS...]}
shift
here=$(cd "$(dirname "$0")/.." && pwd)
strobe=${STROBE_BIN:-$here/build/bin/strobe}
folder=${STROBE_BENCH_DIR:-${TMPDIR:-/tmp}/strobe-bench-report}
mkdir -p "$folder"

measure() { # name ops command...: best CPU time of three, peak memory
    local name=$1 ops=$2 best="" line cpu
    shift 2
    for _ in 1 2 3; do
        line=$(/usr/bin/time -f '%U %S %e %M' "$@" 2>&1 >/dev/null | tail -1)
        cpu=$(echo "$line" | awk '{printf "%.2f", $1 + $2}')
        if [ -z "$best" ] || [ "$(echo "$cpu < $best" | bc)" = 1 ]; then best=$cpu; kept=$line; fi
    done
    echo "$kept" | awk -v n="$name" -v o="$ops" -v c="$best" \
        '{printf "| %s | %d | %.2f | %.2f | %.1f |\n", n, o, c, $3, $4 / 1024}'
}

echo "| path | ops | CPU s | wall s | MiB |"
echo "|---|---:|---:|---:|---:|"
for ops in "${@:-10000 100000}"; do
    for n in $ops; do
        run=$folder/run-$n
        [ -d "$run/.logs" ] || python3 "$generator" "$run" "$n" --cpp >&2
        measure "device log" "$n" "$strobe" report "$run" -o "$folder/out" --no-date -q --force-legacy-device-logs
        measure "C++ report" "$n" "$strobe" report "$run" -o "$folder/out" --no-date -q
        rm -rf "$folder/out"
        if [ -n "${STROBE_UPSTREAM:-}" ] && [ "$n" -le 1000 ]; then
            PYTHONPATH=$STROBE_UPSTREAM TT_METAL_HOME=$folder measure "upstream, device log" "$n" \
                "$STROBE_PEERS/python" -m tracy.process_ops_logs -o "$run" --force-legacy-device-logs
            PYTHONPATH=$STROBE_UPSTREAM TT_METAL_HOME=$folder measure "upstream, C++ report" "$n" \
                "$STROBE_PEERS/python" -m tracy.process_ops_logs -o "$run"
        fi
    done
done
