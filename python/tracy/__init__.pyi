import logging
import os
from collections.abc import Iterable, Mapping
from types import CodeType
from typing import Any

from tracy.hooks import finish_all_zones as finish_all_zones

logger: logging.Logger
OUTPUT: str

def signpost(header: object, message: object = None) -> None:
    """Mark this moment: a message in the trace and a row in the op report."""

class Profiler:
    """Profiles Python functions between enable() and disable(), or in a `with` block."""

    doProfile: bool
    doLine: bool
    def __init__(self, output: str | os.PathLike[str] = ...) -> None: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...
    def __enter__(self) -> Profiler: ...
    def __exit__(self, *exception: object) -> None: ...

def runctx(cmd: str | CodeType, globals: dict[str, Any], locals: Mapping[str, object] | None, partialProfile: bool = False) -> None:
    """Run code, source or compiled, with every function profiled unless `partialProfile`."""
def generate_report(output_folder: str | os.PathLike[str], bin_folder: str | os.PathLike[str] | None = None, name_append: str | None = None,
                    child_calls: Iterable[str] | None = None, collect_noc_traces: bool = False, device_analysis_types: Iterable[str] = (),
                    environment: Mapping[str, str] | None = None) -> int:
    """Make the report folder of a run's logs; 0, or ReportError."""
def run_report_setup(verbose: bool, outputFolder: str | os.PathLike[str] | None, binaryFolder: str | os.PathLike[str] | None = None,
                     port: str | None = None) -> tuple[bool, None]:
    """Make the logs folder ready and say whether the tools are there. Nothing has to be started."""
def get_available_port() -> str | None:
    """A port from 8086 on that is free on loopback, as a str; None: none is."""
