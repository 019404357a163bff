#!/bin/sh
# build.sh OUT FLAG|SOURCE...: a harness with libFuzzer and the sanitizers, at OUT, of these sources and the rooms `file` and `base`. What
# they reach in those rooms guides the fuzzer nowhere, and would cost a third of its time: it is not instrumented for it.
set -eu
out=$1
shift
cd "$(dirname "$0")/../.."
flags="-std=gnu17 -O2 -g -D_GNU_SOURCE -DSTROBE_VERSION=\"fuzz\" -fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all
    -Isrc -Iinclude"
room=$(mktemp -d)
trap 'rm -r "$room"' EXIT
for source in src/file/*.c src/base/*.c; do
    clang $flags -c -o "$room/$(basename "$source" .c).o" "$source"
done
clang $flags -fsanitize=fuzzer -o "$out" "$@" "$room"/*.o -lzstd -lxxhash -llz4 -lpthread -lm
