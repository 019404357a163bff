#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python's zones and IREE's own on one timeline.

    pip install strobe-profiler==0.1.0 tracy_client iree-base-runtime iree-base-compiler numpy
    IREE_PY_RUNTIME=tracy strobe record -o iree.strobe -- python examples/iree/example.py

IREE_PY_RUNTIME=tracy chooses the runtime that is built with Tracy; `strobe record` finds the client in it by itself. The zones
below and IREE's are on the same thread's track, nested as they ran. `--turns N`: how often the module is called."""
import argparse
import pathlib

import numpy as np

try:
    from tracy_client.scoped import ScopedZone
except ImportError:  # the program works without
    def ScopedZone(*_):
        return None

import iree.runtime as runtime

MODULE = pathlib.Path(__file__).with_name("scale.mlir")


def compile_module():
    """The module for the CPU."""
    from iree.compiler import compile_file
    held = ScopedZone("Compile", 0x8844FF)
    binary = compile_file(str(MODULE), target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=generic"])
    del held
    return binary


def run_inference(binary, inputs, turns):
    """Load the module and call it; the last result."""
    whole = ScopedZone("IREE Inference", 0xFF0000)

    held = ScopedZone("Create Device", 0x00FF00)
    device = runtime.get_device("local-sync")
    device.begin_profiling()
    del held

    held = ScopedZone("Load Module", 0x0000FF)
    context = runtime.SystemContext(config=runtime.Config(device=device))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, binary))
    main_function = context.modules.module["main"]
    del held

    for _ in range(turns):
        held = ScopedZone("Execute Function", 0xFFFF00)
        result = main_function(*inputs)
        device.flush_profiling()  # now and then in a program that runs for long
        del held
    device.end_profiling()
    del whole
    return np.asarray(result)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--module", type=pathlib.Path, help="a compiled module, to compile none")
    given = parser.parse_args()
    binary = given.module.read_bytes() if given.module else compile_module()
    numbers = np.arange(64, dtype=np.float32)
    result = run_inference(binary, (numbers, numbers), given.turns)
    print(f"number 3 of {len(result)} numbers is {result[3]:g}")


if __name__ == "__main__":
    main()
