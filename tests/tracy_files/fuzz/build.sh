#!/bin/sh
# build.sh OUT [FLAG...]: fuzz_tracy_file with libFuzzer and the address sanitizer, at OUT. -DSTROBE_FUZZ_WALK: reading only,
# without the import, which is slower. Then: OUT [libFuzzer's options] CORPUS SEEDS
set -eu
out=$1
shift
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
exec clang -std=gnu17 -O2 -g -D_GNU_SOURCE -DSTROBE_LIBFUZZER -DSTROBE_VERSION='"fuzz"' -fsanitize=fuzzer,address,undefined \
    -fno-sanitize=pointer-overflow -fno-sanitize-recover=all -Isrc -Iinclude -o "$out" "$@" tests/tracy_files/fuzz/fuzz_tracy_file.c \
    src/tracy/blocks_in.c src/tracy/content*.c src/tracy/import*.c src/tracy/sink.c src/tracy/store.c \
    src/file/*.c src/base/err.c -lzstd -lxxhash -llz4 -lpthread
