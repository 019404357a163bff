# SPDX-License-Identifier: MIT
"""python -m tracy: the process that records, and the one that runs the program (tracy/program.py).

The parent has `strobe record` run `python -m tracy --no-capture-tool ...` and makes the report afterwards.
Arguments are handed on as they are: no shell sees them. Exit codes: the program's own; 1 the recording or the
report failed, 2 usage, 3 interrupted (with the report of what ran), 4 the program failed under --check-exit-code, or a pass of
counters left no device log, 70 the recorder died.
"""
import contextlib
import fcntl
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys

from tracy import counters, processes, report, strobe_command, viewer
from tracy import options as command_line
from tracy.report import HOST_TRACE, say

SRAM_SHARERS = ("TT_METAL_DPRINT_CORES", "TT_METAL_WATCHER")


def artifacts_folder(given):
    """Where everything goes: -o, $TT_METAL_PROFILER_DIR, below $TT_METAL_HOME or here."""
    from tracy.process_ops_logs import default_folder
    return pathlib.Path(given or default_folder()).absolute()


def child_environment(given, folder, passes, client):
    wanted = {**os.environ, "STROBE_DEVICE_LOGS": "apart"}  # two processes of a run do not overwrite each other's
    for name, value in command_line.environment(given, folder, passes, client).items():
        if value is None:
            wanted.pop(name, None)
        else:
            wanted[name] = value
    return wanted


def tell_about_device(given):
    """Options that only a device's runtime can obey: passed on, and said."""
    words = command_line.device_words(given)
    if words:
        say(f"{', '.join(words)}: handed to the device's runtime through the environment; "
            "without a device they change nothing")
    if given.device and "grayskull" in counters.architecture():
        say("the timers of Grayskull's cores are skewed after a reset by tt-smi: reboot (sudo reboot) before times of two cores are compared")
    for variable in SRAM_SHARERS:
        if given.device and os.environ.get(variable):
            say(f"{variable} is set: it uses the same memory on the device as its profiler, and the runtime will "
                f"refuse one of them. Unset it, or give --no-device")


def make_logs_folder(folder):
    logs = folder / ".logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    return logs


class Ended(Exception):
    """The run is over, with an exit code of this module's own."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def record(given, words, environment, trace):
    """Run the program under `strobe record`; its exit code as the shell counts, None: it was interrupted. The recorder ends with a code of
    its own making in any case: death by a signal is its own, Ended(70)."""
    command = [strobe_command.find(), "record", "--python", "off", "-o", str(trace)]
    if not given.verbose:
        command.append("--quiet")
    command += ["--", sys.executable, *subprocess._args_from_interpreter_flags(), "-m", "tracy", "--no-capture-tool", *words]
    if given.verbose:
        say("running " + " ".join(command))
    process = subprocess.Popen(command, env=environment)
    interrupted = []

    def hand_on(number, _frame):
        interrupted.append(number)
        process.send_signal(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if code < 0 and not interrupted:
        say(f"the recorder was killed by {signal.Signals(-code).name}; what it left is completed: strobe recover {trace}")
        subprocess.run([strobe_command.find(), "recover", str(trace)], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        raise Ended(70)
    return None if interrupted else code


def show(given, program, folder, trace):
    """With --web-app-port: say where the viewer has the trace. Else: how to look at it."""
    if given.web_app_port is None:
        say(f"to look at it: strobe view {shlex.quote(str(trace))}")
        return
    try:
        link, pid = viewer.show(trace, folder, program, given.name_append, given.web_app_port)
    except viewer.ViewerError as problem:
        say(f"--web-app-port {given.web_app_port}: {problem}")
        return
    if pid:
        say(f"the viewer goes on until: kill {pid}")
    say(f"the viewer has it: {link}")


def main(words):
    """The whole of `python -m tracy`; the exit code."""
    try:
        given, program = command_line.parse(words)
        if given.is_child and program:
            from tracy import program as runner
            return runner.run(given, program)
        if not words or given.is_child:
            raise command_line.UsageError(command_line.make_parser().get_usage())
        folder = artifacts_folder(given.output_folder)
        if given.process_logs_only:
            return report.generate_report(folder, given.tools_folder, None, None)
        if not program:
            print(command_line.make_parser().get_usage())
            return 0
        return record_and_report(given, program, words, folder)
    except command_line.UsageError as problem:
        print(problem, file=sys.stderr)
        return problem.code
    except (report.ReportError, strobe_command.NotFound, OSError) as problem:
        say(problem)
        return 1


@contextlib.contextmanager
def own_folder(folder):
    """The folder of the run's files: `folder`, or one in it where another run is at work there."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield folder
            return
        except BlockingIOError:
            pass
    own = folder / f"run_{os.getpid()}"
    say(f"another run uses {folder}: the files of this one are in {own}, its report beside the other's")
    yield own


def more_passes(given, words, environment, logs, passes, client):
    """Run the program again for the counters that did not fit, and put them into the first run's device log. Raises Ended."""
    if len(processes.owners(logs)) > 1:
        say("several processes of the program have a device: there is no second run, and the counters are those of "
            f"{','.join(passes[0])}")
        return
    kept = logs / counters.PASSES_FOLDER
    kept.mkdir()
    paths = []
    for i, groups in enumerate(passes):
        if i:
            say(f"pass {i} of {len(passes)}, for the counters {','.join(groups)}")
            again = {**environment, "TT_METAL_PROFILE_PERF_COUNTERS": str(counters.bits(groups, client)), "STROBE_DEVICE_LOGS": ""}
            record(given, words, again, kept / f"pass_{i}.strobe")
        if not (logs / report.DEVICE_FILE).exists():
            say(f"pass {i} left no {report.DEVICE_FILE}: its counters are missing, and nothing is merged")
            raise Ended(4)
        paths.append(kept / f"pass_{i}.csv")
        (logs / report.DEVICE_FILE).rename(paths[-1])
    added, dropped = counters.merge(paths, logs / report.DEVICE_FILE)
    say(f"{added} counters of later passes are in {logs / report.DEVICE_FILE}" +
        (f"; {dropped} are of ops that the first pass has not, and are left out" if dropped else ""))


def make_report(given, folder, own, environment):
    """The report of a run in `own`; below `folder` in any case."""
    report.generate_report(own, given.tools_folder, given.name_append, command_line.child_functions(given),
                           bool(given.TT_METAL_DEVICE_PROFILER_NOC_EVENTS), given.device_analysis_types, environment,
                           given.older_names, given.process_columns, given.TT_METAL_TRACE_PROFILER)
    if own == folder:
        return
    base = pathlib.Path(given.name_append or ".")
    for made in sorted((own / "reports" / base).iterdir()):
        # its own number in any case: the other run may make a folder of this second's name after a look at it
        target = folder / "reports" / base / f"{made.name}_{os.getpid()}"
        if made.is_symlink() or not made.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(str(made), str(target))
        say(f"the report was moved to {target}")


def record_and_report(given, program, words, folder):
    if given.report or given.tools_folder:
        report.find_tool("tracy-csvexport", given.tools_folder)  # before the run, not after it
    passes, client = command_line.counter_passes(given)
    tell_about_device(given)
    if len(passes) > 1:
        say(f"the counters need {len(passes)} runs of the program (--no-multipass: one): {counters.plan_text(passes)}")
    if given.plans_later:
        say("the device's architecture is not known (ARCH_NAME says it): the first run's device log will tell how many banks of L1 counters there "
            "are, each further one takes a run more (--no-multipass: none)")
    with own_folder(folder) as own:
        environment = child_environment(given, own, passes, client)
        if own != folder:
            environment["TT_METAL_PROFILER_DIR"] = str(own)
        logs = make_logs_folder(own)
        try:
            code = record(given, words, environment, logs / HOST_TRACE)
            banks = counters.later_banks(logs / report.DEVICE_FILE) if given.plans_later else []
            passes += counters.schedule(banks) if banks else []
            if code == 0 and len(passes) > 1:
                more_passes(given, words, environment, logs, passes, client)
        except Ended as ended:
            if ended.code == 70 and given.report and (logs / HOST_TRACE).exists():
                make_report(given, folder, own, environment)
            return ended.code
        if code and given.check_exit_code:
            return 4
        return finish(given, program, folder, own, environment, code)


def finish(given, program, folder, own, environment, code):
    """What is made of the recording; the exit code."""
    trace = own / ".logs" / HOST_TRACE
    if not trace.exists():
        say("no profiling data could be captured: `strobe record` left no trace; its words are above")
        return 3 if code is None else code or 1
    say(f"the trace is {trace}")
    if given.TT_METAL_MEM_PROFILER:
        say("memory by pool (strobe stats --memory):")
        subprocess.run([strobe_command.find(), "stats", "--memory", str(trace)], check=False, stdout=sys.stderr)  # stdout is the program's
    if given.report:
        make_report(given, folder, own, environment)
    if code is None:
        say("interrupted: the trace has what ran until then")
        return 3
    show(given, program, folder, trace)
    return code
