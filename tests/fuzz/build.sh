#!/bin/sh
# build.sh OUT FLAG|SOURCE...: a harness with libFuzzer and the sanitizers, at OUT, of these sources and the room `file`.
set -eu
out=$1
shift
cd "$(dirname "$0")/../.."
exec clang -std=gnu17 -O2 -g -D_GNU_SOURCE -DSTROBE_VERSION='"fuzz"' -fsanitize=fuzzer,address,undefined -fno-sanitize=pointer-overflow \
    -fno-sanitize-recover=all -Isrc -Iinclude -o "$out" "$@" src/file/*.c src/base/err.c -lzstd -lxxhash -llz4 -lpthread -lm
