# SPDX-License-Identifier: MIT
"""python -m microbenchmark.executor FD: the process that runs the invocations, and nothing else: the traced code is alone in it.

What it does comes through the pipe FD: first one of the two words of invocation.py, then Invocations; for each it answers how many
iterations it ran, or with a text that says what went wrong. It ends after the word that there are no more.
"""
import importlib.util
import os
import sys
from multiprocessing.connection import Connection

from microbenchmark.invocation import ALL_DONE, DO_BENCHMARK, NO_MORE, Input, Invocation  # noqa: F401

COLD_BYTES = 64 << 20  # more than the caches of a core and its share of the last one hold


def choose_runtime():
    """The instrumented runtime, where IREE's wheel has one; a build that is instrumented itself needs no choice."""
    assert "iree.runtime" not in sys.modules, "the runtime is chosen before it is imported"
    if importlib.util.find_spec("iree._runtime_libs_tracy"):
        os.environ.setdefault("IREE_PY_RUNTIME", "tracy")


class Module:
    """A loaded module and the function of an invocation."""

    def __init__(self, invocation, device_name):
        import iree.runtime as runtime
        self.device = runtime.get_device(device_name)
        context = runtime.SystemContext(config=runtime.Config(device=self.device))
        module = runtime.VmModule.copy_buffer(context.instance, invocation.vmfb)
        context.add_vm_module(module)
        self.function = context.modules[module.name][invocation.function_name]

    def put(self, array):
        import iree.runtime as runtime
        return runtime.asdevicearray(self.device, array)


def arguments_of(module, inputs):
    """A function that gives the arguments of iteration i."""
    choices = []
    for one in inputs:
        n_copies = max(2, COLD_BYTES // max(1, one.array.nbytes)) if one.cold else 1
        choices.append([module.put(one.array) for _ in range(min(n_copies, 1024))])
    return lambda i: [copies[i % len(copies)] for copies in choices]


def to_host(result):
    """The result as an array of the host's: waits until it is there."""
    import numpy
    return numpy.asarray(result[0] if isinstance(result, (tuple, list)) else result)


def check(invocation, result):
    """The reason why a result is wrong, or None."""
    import numpy
    golden = invocation.golden_result
    if golden is None:
        return None
    if result.shape != golden.shape:
        return f"its result has the shape {result.shape}, the golden one {golden.shape}"
    if numpy.allclose(result, golden, rtol=invocation.rtol, atol=invocation.atol):
        return None
    return f"its result differs from the golden one by up to {float(numpy.abs(result - golden).max()):g}"


def execute(invocation, device_name, n_iterations):
    """Run an invocation; the number of iterations, or what is wrong with it. The first call, of which nothing is a region, is the one
    that is checked."""
    import strobe
    module = Module(invocation, device_name)
    arguments = arguments_of(module, invocation.inputs)
    wrong = check(invocation, to_host(module.function(*arguments(0))))
    if wrong:
        return wrong
    region = strobe.zone(invocation.name)
    for i in range(n_iterations):
        given = arguments(i + 1)
        with region as zone:
            zone.value(i)
            to_host(module.function(*given))
    return n_iterations


def main(descriptor, device_name, n_iterations):
    choose_runtime()
    pipe = Connection(descriptor)
    is_benchmark = pipe.recv() == DO_BENCHMARK
    while True:
        asked = pipe.recv()
        if asked == NO_MORE:
            break
        try:
            pipe.send(execute(asked, device_name, (asked.iterations or n_iterations) if is_benchmark else 0))
        except Exception as problem:  # noqa: B902 - whatever a module does is said, and the others are run
            pipe.send(f"{type(problem).__name__}: {problem}")
    pipe.send(ALL_DONE)
    pipe.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
