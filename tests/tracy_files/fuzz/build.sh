#!/bin/sh
# build.sh OUT [FLAG...]: fuzz_tracy_file with libFuzzer and the address sanitizer, at OUT. -DSTROBE_FUZZ_WALK: reading only,
# without the import, which is slower. Then: OUT [libFuzzer's options] CORPUS SEEDS
set -eu
out=$1
shift
cd "$(dirname "$0")/../../.."
exec tests/fuzz/build.sh "$out" "$@" tests/tracy_files/fuzz/fuzz_tracy_file.c src/tracy_file/blocks_in.c src/tracy_file/content*.c src/tracy_file/import*.c \
    src/build/*.c
