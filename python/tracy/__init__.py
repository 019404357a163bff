# SPDX-License-Identifier: MIT
"""The `tracy` module of tt-metal, recorded by Strobe.

    python -m tracy my_script.py                   record every Python function of a script
    python -m tracy -p -r -m pytest test_it.py     only what Profiler() enables; with a report folder

    from tracy import Profiler, signpost
    signpost(header="warm-up over", message="ten runs follow")
    with Profiler():
        run()

Profiler and signpost also work without `python -m tracy`.
"""
import logging

from tracy import tracy_state
from tracy.hooks import finish_all_zones, trace_options
from tracy.report import generate_report  # noqa: F401

logger = logging.getLogger("tracy")
OUTPUT = "tracy_profile_log_host.strobe"  # of a program that profiles itself
_profilers = {}  # strobe's, by file and whether they trace lines


def signpost(header, message=None):
    """Mark this moment: a message in the trace and a row in the op report."""
    import strobe
    text = f"TT_SIGNPOST: {header}" if message is None else f"TT_SIGNPOST: {header}\n{message}"
    strobe._strobe.unseen(logger.info, "%s%s", header, "" if message is None else f": {message}")  # no part of the program
    strobe.message(f"`{text}`")


def _profiler_of(output, lines=False):
    """The strobe.Profiler of a file, which is one until the program ends."""
    import strobe
    if (output, lines) not in _profilers:
        _profilers[output, lines] = strobe.Profiler(output, **trace_options(lines))
    return _profilers[output, lines]


class Profiler:
    """Profiles Python functions between enable() and disable(), or in a `with` block.

    Under `python -m tracy -p` that is all that is profiled (lines with -l); without -p the whole program already is,
    and nothing changes. Without `python -m tracy` it works by itself, like cProfile: where nobody records the process,
    into the file `output`, which has all that was profiled when the program ends. There is one profile for all objects of
    this class: any of them may disable it."""

    _running = None  # the strobe.Profiler that is on

    def __init__(self, output=OUTPUT):
        self.doProfile = tracy_state.doPartial or not tracy_state.isWrapped
        self.doLine = tracy_state.doLine
        self._output = None if tracy_state.isWrapped else output

    def enable(self):
        """Begin to profile. Best called outside of the function of interest, so that its own call is seen."""
        if not self.doProfile or Profiler._running:
            return
        profiler = _profiler_of(self._output, self.doLine)
        profiler.enable()
        Profiler._running = profiler

    def disable(self):
        """Stop what enable() began."""
        profiler, Profiler._running = Profiler._running, None
        if profiler:
            profiler.disable()

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *exception):
        self.disable()


def runctx(cmd, globals, locals, partialProfile=False):
    """Run code, source or compiled, with every function profiled unless `partialProfile`: as Profiler does it. Where the
    program is profiled already, it goes on to be."""
    import strobe
    profiler = None
    if not partialProfile and not strobe.tracing():
        profiler = _profiler_of(None if tracy_state.isWrapped else OUTPUT)
        profiler.enable()
    try:
        exec(cmd, globals, locals)
    finally:
        if profiler:
            profiler.disable()
        finish_all_zones()


def run_report_setup(verbose, outputFolder, binaryFolder=None, port=None):
    """Make the logs folder ready and say whether the tools are there. Nothing has to be started: `strobe record` is
    started with the program, so no process is returned."""
    import pathlib
    from tracy import command, process_ops_logs, report
    report.find_tool("tracy-csvexport", binaryFolder)
    command.make_logs_folder(pathlib.Path(outputFolder or process_ops_logs.default_folder()))
    return True, None


def get_available_port():
    """A port from 8086 on that is free on loopback, as a str; None: none is."""
    import socket
    for port in range(8086, 8500):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return str(port)
            except OSError:
                continue
    return None
