#!/usr/bin/env python3
"""cost.py ROOT [--table]: instructions per zone on rv32, by minstret in QEMU under -icount: counts, the same in every run.

Builds cost.cc for bare rv32imac with both wire forms and runs it; fails where one is above its bar. Without the cross compiler or QEMU there
is nothing to measure: exit 77."""
import os
import shutil
import subprocess
import sys
import tempfile

CXX, QEMU = "riscv64-unknown-elf-g++", "qemu-system-riscv32"
FLAGS = ("-march=rv32imac_zicsr -mabi=ilp32 -mcmodel=medany -O2 -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics "
         "-fno-asynchronous-unwind-tables -Wall -Wextra -Werror").split()
FORMS = {  # name: (defines, {loop: bar})
    "classic": (["-DPROFILE_KERNEL=1"], {"dense": 40, "nested": 40}),
    "streaming": (["-DPROFILE_KERNEL=1", "-DPROFILE_STREAMING"], {"dense": 45, "nested": 45}),
    "streaming, closed by a call": (["-DPROFILE_KERNEL=1", "-DPROFILE_STREAMING", "-DPROFILE_STREAMING_CALL"], {}),
}


def build(root, folder, defines):
    here = os.path.join(root, "tests/device")
    common = [*FLAGS, f"-I{root}/kernel", f"-I{here}", '-DSTROBE_DEVICE_PLATFORM="platform_cost.h"', *defines]
    objects = []
    for source, extra in (("start.S", []), ("cost.cc", ["-std=c++17"])):
        objects.append(os.path.join(folder, source + ".o"))
        subprocess.run([CXX, *common, *extra, "-c", os.path.join(here, source), "-o", objects[-1]], check=True)
    image = os.path.join(folder, "cost.elf")
    subprocess.run([CXX, "-march=rv32imac", "-mabi=ilp32", "-nostdlib", "-static", "-T", os.path.join(here, "link.ld"), *objects, "-lgcc", "-o", image], check=True)
    return image


def measure(image):
    """{loop: instructions per zone}."""
    command = [QEMU, "-machine", "virt", "-m", "16M", "-smp", "1", "-bios", "none", "-kernel", image, "-nographic", "-nodefaults", "-no-user-config",
               "-monitor", "none", "-serial", "stdio", "-icount", "shift=0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=300)
    return {name: int(value) / 1000 for name, value in (line.split() for line in done.stdout.split("\n") if line)}


def main():
    root = os.path.abspath(sys.argv[1])
    if not shutil.which(CXX) or not shutil.which(QEMU):
        print(f"{CXX} and {QEMU} are not both here: nothing measured")
        return 77
    missed = 0
    for form, (defines, bars) in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            for loop, cost in measure(build(root, folder, defines)).items():
                bar = bars.get(loop)
                missed += bar is not None and cost > bar
                print(f"{form}, {loop}: {cost:.2f} instructions per zone" + (f", bar {bar}" if bar else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
