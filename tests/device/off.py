#!/usr/bin/env python3
"""off.py ROOT COMPILER...: a kernel with every macro, compiled without PROFILE_KERNEL, is the code of one without a macro."""
import subprocess
import sys

EMPTY = 'extern "C" void kernel_all(int x);\nextern "C" void kernel_all(int x) { (void)x; }\n'


def code(compiler, root, source, text=None):
    """The assembler's lines that are code or data, file names aside."""
    command = [compiler, "-std=c++17", "-O2", "-S", "-o", "-", f"-I{root}/kernel", "-x", "c++", source]
    lines = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    return [line for line in lines if ".file" not in line and ".ident" not in line]


def main():
    root, *compilers = sys.argv[1:]
    for compiler in compilers:
        ours = code(compiler, root, f"{root}/tests/device/kernel_all.cc")
        if ours != code(compiler, root, "-", EMPTY):
            print(f"{compiler}: profiling is off, and yet there is:\n" + "\n".join(ours))
            return 1
    print("nothing is left of the macros")
    return 0


if __name__ == "__main__":
    sys.exit(main())
