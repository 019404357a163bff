# SPDX-License-Identifier: MIT
"""Microbenchmarks of IREE's modules, recorded by Strobe: what each invocation spent in dispatches, by named region.

    python -m microbenchmark.driver                          the matmuls of the driver
    python -m microbenchmark.driver -t micro.tracy -d micro.csv

    from microbenchmark import Experiment, Input, Invocation, compile_module

    vmfb = compile_module(open("model.mlir").read())
    run = Invocation("model 8x8", vmfb, "forward", [Input(array)], golden_result=expected, work=512)
    for result in Experiment([run]).run():
        print(result.name, result.median_ns, result.interval_ns)

Needs iree-base-runtime; compile_module needs iree-base-compiler too. docs/microbenchmark.md has the rest.
"""
from microbenchmark.analysis import Result
from microbenchmark.experiment import Experiment, ExperimentError, compile_module
from microbenchmark.invocation import Input, Invocation

__all__ = ["Experiment", "ExperimentError", "Input", "Invocation", "Result", "compile_module"]
