# SPDX-License-Identifier: MIT
"""What is sent to the executor: plain objects, which pickle; nothing of IREE is imported here."""
import dataclasses
from typing import Any, Optional


@dataclasses.dataclass
class Input:
    """An argument of an invocation. cold: each iteration gets a copy that no cache holds any more."""

    array: Any
    cold: bool = False


@dataclasses.dataclass
class Invocation:
    """One function of one module with its inputs: a region of the trace by its name, once per iteration.

    golden_result: what the function must return, within rtol and atol; None: not compared. work: operations of one call (of a matmul
    M*K*N), for rates. size: where the invocation is on the axis of a plot. locations: names of MLIR locations, which become regions
    inside of it where the compiler keeps them; compile_module() finds them."""

    name: str
    vmfb: bytes
    function_name: str
    inputs: list
    golden_result: Any = None
    iterations: int = 0  # 0: as many as the experiment says
    work: float = 0.0
    size: Optional[float] = None
    locations: tuple = ()
    rtol: float = 1e-4
    atol: float = 1e-4


# the words of the pipe, both ways
ONLY_CHECK = "only check correctness"
DO_BENCHMARK = "do benchmarking"
NO_MORE = "done sending invocations"
ALL_DONE = "done executing child work"
