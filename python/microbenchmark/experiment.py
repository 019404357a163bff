# SPDX-License-Identifier: MIT
"""An experiment: invocations, the executor that runs them under `strobe record`, and what their trace says."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
from multiprocessing.connection import Connection

from microbenchmark import analysis
from microbenchmark.invocation import ALL_DONE, DO_BENCHMARK, NO_MORE, ONLY_CHECK

ITERATIONS = 40
NAMED = re.compile(r'loc\("([^"]+)"(?:\([^()]*\))?\)')  # of a module that was printed with its locations
PLAIN = re.compile(r'loc\("[^"]*":[^()]*\)')
OF_BLOCK = re.compile(r"^(\s*\}) loc\(.*\)$", re.M)     # functions and modules: around what is of interest


class ExperimentError(Exception):
    """An experiment that has no result, and why."""


def name_locations(mlir):
    """MLIR whose named locations survive to the trace, and their names. A dispatch's zone keeps the first file that its operations'
    locations have, and no name: so each name is made its own file, and all other locations go. A module without names stays as it is."""
    if not NAMED.search(mlir):
        return mlir, ()
    from iree.compiler import ir
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        text = ir.Module.parse(mlir).operation.get_asm(enable_debug_info=True)
    text = PLAIN.sub("loc(unknown)", OF_BLOCK.sub(r"\1 loc(unknown)", text))
    names = tuple(dict.fromkeys(NAMED.findall(text)))
    return NAMED.sub(lambda found: f'loc("{found.group(1)}"("{found.group(1)}":1:1))', text), names


class Compiled(bytes):
    """A compiled module, with the names of the locations that its source has."""

    locations = ()


def compile_module(mlir, *options, backend="llvm-cpu"):
    """Compile a module of MLIR text, for this machine's processor unless `options` say otherwise. Raises ExperimentError."""
    try:
        from iree.compiler import CompilerToolError, compile_str
    except ImportError as problem:
        raise ExperimentError(f"IREE's compiler is not there ({problem}): pip install iree-base-compiler") from None
    try:
        text, names = name_locations(mlir)
    except Exception as problem:  # noqa: B902 - MLIR's own, which older versions do not have
        raise ExperimentError(f"the module can't be read: {problem}") from None
    own = [] if any("target-cpu" in option for option in options) else ["--iree-llvmcpu-target-cpu=host"]
    try:
        module = Compiled(compile_str(text, target_backends=[backend],
                                      extra_args=[*own, "--iree-hal-executable-debug-level=3", *options]))
    except CompilerToolError as problem:
        raise ExperimentError(str(problem)) from None
    module.locations = names
    return module


def find_strobe():
    """The command that records."""
    from strobe._record import find_command
    try:
        return find_command()
    except RuntimeError as problem:
        raise ExperimentError(str(problem)) from None


def find_tool(name):
    """A tool of Tracy's by IREE's name: of $IREE_TRACY_BIN_DIR, of $IREE_BUILD_DIR/tracy, else Strobe's own; (binary, words)."""
    build = os.environ.get("IREE_BUILD_DIR")
    for folder in (os.environ.get("IREE_TRACY_BIN_DIR"), build and os.path.join(build, "tracy")):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name), [name]
    return find_strobe(), [name]


def environment():
    """The executor's: of its own Tracy client no call stacks are sampled, which crashes in some versions at the end."""
    here = str(pathlib.Path(__file__).resolve().parents[1])
    paths = [here, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "TRACY_NO_SAMPLING": "1", "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


class Experiment:
    """Invocations to run. iterations: of each, unless it says otherwise. device: IREE's; only local-sync keeps the names of locations.

    run() raises ExperimentError where a result is wrong or nothing could be recorded."""

    def __init__(self, invocations, iterations=ITERATIONS, device="local-sync"):
        self.invocations = list(invocations)
        self.iterations = iterations
        self.device = device
        names = [one.name for one in self.invocations]
        if len(set(names)) != len(names):
            raise ExperimentError("two invocations have the same name: their regions could not be told apart")

    def check(self):
        """Run each invocation once and compare its result with the golden one; the names. Raises ExperimentError."""
        self._execute(ONLY_CHECK, [])
        return [one.name for one in self.invocations]

    def run(self, trace=None, csv=None):
        """Record all; a list of Result. trace: keep the recording, as .tracy or .strobe. csv: the dispatches' rows, as
        iree-tracy-csvexport has them, with region and iteration."""
        with tempfile.TemporaryDirectory(prefix="microbenchmark-") as folder:
            recorded = os.path.join(folder, "run.strobe")
            counts = self._execute(DO_BENCHMARK, [find_strobe(), "record", "-q", "--python", "off", "-o", recorded, "--"])
            zones = analysis.zones_of(find_strobe(), recorded)
            found = analysis.read(zones, self.invocations)
            for one, count in zip(found, counts):
                if len(one.samples) != count:
                    raise ExperimentError(f"{one.name}: {count} iterations were run, {len(one.samples)} are in the trace")
            if csv:
                self._write_dispatches(recorded, folder, csv, found, zones)
            if trace:
                keep(recorded, trace)
        return found

    def _execute(self, word, recorder):
        """Start the executor, feed it, and wait for it; the numbers of iterations."""
        ours, theirs = socket.socketpair()
        command = [*recorder, sys.executable, "-m", "microbenchmark.executor", str(theirs.fileno()), self.device, str(self.iterations)]
        with ours, theirs:
            process = subprocess.Popen(command, env=environment(), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
            theirs.close()
            pipe = Connection(ours.detach())
            try:
                counts = self._feed(pipe, word)
            finally:
                pipe.close()
                code = process.wait()
        if code:
            raise ExperimentError(f"the executor ended with {code}; its words are above")
        return counts

    def _feed(self, pipe, word):
        counts, wrong = [], []
        try:
            pipe.send(word)
            for one in self.invocations:
                pipe.send(one)
                answer = pipe.recv()
                counts.append(answer)
                if isinstance(answer, str):
                    wrong.append(f"{one.name}: {answer}")
            pipe.send(NO_MORE)
            if pipe.recv() != ALL_DONE:
                raise EOFError
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise ExperimentError("the executor ended early; its words are above. Is iree-base-runtime installed?") from None
        if wrong:
            raise ExperimentError("\n".join(wrong))
        return counts

    def _write_dispatches(self, recorded, folder, path, found, zones):
        """The rows of the dispatches by the tool, each with its region, in the order of time."""
        tracy = os.path.join(folder, "run.tracy")
        keep(recorded, tracy)
        binary, words = find_tool("iree-tracy-csvexport")
        done = subprocess.run([*words, "-u", tracy], executable=binary, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ExperimentError(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()}")
        analysis.write_rows(path, done.stdout, found, zones)


def keep(recorded, path):
    """The recording at a place of its own, in the format of its name."""
    if str(path).endswith(".strobe"):
        import shutil
        shutil.copyfile(recorded, path)
        return
    done = subprocess.run([find_strobe(), "export", "--to", "tracy", "-o", str(path), recorded], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ExperimentError(done.stderr.strip())
