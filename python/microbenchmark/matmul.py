# SPDX-License-Identifier: MIT
"""Square matmuls of several sizes: the experiment that the driver runs by itself, and an example of how to write one."""
import numpy

from microbenchmark.experiment import compile_module
from microbenchmark.invocation import Input, Invocation

SIZES = (32, 64, 96, 128, 192, 256, 384)

# every size has a function of its own name, so that the symbols of dispatches differ too
SOURCE = """
func.func @forward_{n}(%a: tensor<{n}x{n}xf32>, %b: tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{n}x{n}xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %c = linalg.matmul ins(%a, %b : tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>)
      outs(%fill : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> loc("multiply")
  return %c : tensor<{n}x{n}xf32>
}}
"""


def invocation(n, cold=False, options=()):
    """One matmul of n x n numbers, with its golden result."""
    random = numpy.random.default_rng(n)
    a, b = (random.uniform(-1, 1, (n, n)).astype(numpy.float32) for _ in range(2))
    vmfb = compile_module(SOURCE.format(n=n), *options)
    return Invocation(f"matmul {n}x{n}x{n}", bytes(vmfb), f"forward_{n}", [Input(a, cold), Input(b, cold)], golden_result=a @ b,
                      work=float(n) ** 3, size=n, locations=vmfb.locations, rtol=1e-3, atol=1e-3)
