"""iree_app.py MODULE TURNS: run a compiled module so many times on the calling thread.  SPDX-License-Identifier: MIT"""
import sys

import iree.runtime as rt
import numpy as np


def main():
    path, turns = sys.argv[1], int(sys.argv[2])
    context = rt.SystemContext(config=rt.Config("local-sync"))
    with open(path, "rb") as file:
        content = file.read()
    load = getattr(rt.VmModule, "copy_buffer", None) or rt.VmModule.from_flatbuffer
    context.add_vm_module(load(context.instance, content))
    scale = context.modules.module["scale"]
    numbers = np.arange(64, dtype=np.float32)
    for _ in range(turns):
        result = scale(numbers, numbers)
    assert float(np.asarray(result)[3]) == 12.0


main()
