#!/usr/bin/env python3
"""upstream.py ROOT CACHE N COMPILER OBJECTS...: 3 times N random zones written by tt-metal's own streaming header are read by our decoder.

The header comes from the wheel of ttnn, kept in CACHE; nothing of it is in the tree. Where no package index is reachable the test is skipped: exit
77. The second reader, written from the document, reads the first N too."""
import glob
import os
import subprocess
import sys
import tempfile
import zipfile

WHEEL = "ttnn==0.81.1"
STREAMING = "ttnn/tt_metal/hw/inc/internal/profiler/kernel_profiler_streaming.hpp"
COMMON = ("streaming_profiler_common.h", "profiler_common.h", "profiler_zone_id.h")


def find_wheel(cache):
    """The wheel's path, downloaded if it is not there; None: it can't be."""
    os.makedirs(cache, exist_ok=True)
    if not glob.glob(f"{cache}/ttnn-*.whl"):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--python-version", "3.10", "--only-binary=:all:", "-d", cache, WHEEL]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print("the wheel can't be downloaded here:", done.stderr.strip().split("\n")[-1])
            return None
    return glob.glob(f"{cache}/ttnn-*.whl")[0]


def main():
    root, cache, n_zones, compiler, *rest = sys.argv[1:]
    wheel = find_wheel(cache)
    if wheel is None:
        return 77
    here = os.path.join(root, "tests/device/upstream")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        os.makedirs(f"{folder}/hostdev")
        for source, target in [(STREAMING, "kernel_profiler_streaming.hpp"), *((f"ttnn/tt_metal/hw/inc/hostdev/{name}", f"hostdev/{name}") for name in COMMON)]:
            with open(os.path.join(folder, target), "wb") as file:
                file.write(archive.read(source))
        program = f"{folder}/upstream_zones"
        writer = f"{folder}/writer.o"
        subprocess.run([compiler, "-std=c++20", "-O2", "-w", f"-I{here}", f"-I{folder}", f"-I{root}/tests/device", f"-I{root}/kernel", "-c",
                        f"{here}/writer_upstream.cc", "-o", writer], check=True)
        subprocess.run([compiler, writer, *rest, "-o", program], check=True)
        for seed in ("1", "2", "3"):
            done = subprocess.run([program, n_zones, seed, f"{folder}/frames", f"{folder}/expected", "1"], check=False, timeout=1200)
            if done.returncode:
                return 1
            check = [sys.executable, "-B", f"{root}/tests/device/reader.py", f"{folder}/frames", f"{folder}/expected"]
            if seed == "1" and subprocess.run(check, check=False).returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
