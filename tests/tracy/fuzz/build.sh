#!/bin/sh
# build.sh OUT [FLAG...]: fuzz_tracy with libFuzzer and the address sanitizer, at OUT. Then: OUT [libFuzzer's options] CORPUS SEEDS
set -eu
out=$1
shift
cd "$(dirname "$0")/../../.."
exec tests/fuzz/build.sh "$out" "$@" tests/tracy/fuzz/fuzz_tracy.c src/tracy/decode*.c src/tracy/events.c src/tracy/frames.c src/tracy/held.c \
    src/tracy/names.c src/tracy/own_clock.c src/tracy/session.c src/tracy/welcome.c src/build/*.c
