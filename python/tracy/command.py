# SPDX-License-Identifier: MIT
"""python -m tracy: the process that records, and the one that runs the program (tracy/program.py).

The parent has `strobe record` run `python -m tracy --no-capture-tool ...` and makes the report afterwards.
Arguments are handed on as they are: no shell sees them. Exit codes: the program's own; 1 the recording or the
report failed, 2 usage, 3 interrupted, 4 the program failed under --check-exit-code.
"""
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys

from tracy import options as command_line
from tracy import report, strobe_command, viewer
from tracy.report import HOST_TRACE, say

SRAM_SHARERS = ("TT_METAL_DPRINT_CORES", "TT_METAL_WATCHER")


def artifacts_folder(given):
    """Where everything goes: -o, $TT_METAL_PROFILER_DIR, below $TT_METAL_HOME or here."""
    from tracy.process_ops_logs import default_folder
    return pathlib.Path(given or default_folder()).absolute()


def child_environment(given, folder):
    wanted = os.environ.copy()
    for name, value in command_line.environment(given, folder).items():
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
    if given.device and "grayskull" in command_line.architecture():
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


def record(given, words, environment, logs):
    """Run the program under `strobe record`; its exit code as the shell counts, None: it was interrupted."""
    command = [strobe_command.find(), "record", "--python", "off", "-o", str(logs / HOST_TRACE)]
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
    if interrupted:
        return None
    return code if code >= 0 else 128 - code


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


def record_and_report(given, program, words, folder):
    if given.report or given.tools_folder:
        report.find_tool("tracy-csvexport", given.tools_folder)  # before the run, not after it
    tell_about_device(given)
    environment = child_environment(given, folder)
    logs = make_logs_folder(folder)
    code = record(given, words, environment, logs)
    if code is None:
        return 3
    if code and given.check_exit_code:
        return 4
    trace = logs / HOST_TRACE
    if not trace.exists():
        say("no profiling data could be captured: `strobe record` left no trace; its words are above")
        return code or 1
    say(f"the trace is {trace}")
    if given.report:
        report.generate_report(folder, given.tools_folder, given.name_append, command_line.child_functions(given),
                               bool(given.TT_METAL_DEVICE_PROFILER_NOC_EVENTS), given.device_analysis_types,
                               environment)
    show(given, program, folder, trace)
    return code
