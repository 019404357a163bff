# SPDX-License-Identifier: MIT
"""The child of `python -m tracy`: runs the program in this process, as the interpreter itself would.

The program sees its own argv, its own `__main__`, its own folder in sys.path, and tracebacks without this module; its
exit code is its own. A program that is no Python is run as it is."""
import importlib.util
import io
import os
import runpy
import signal
import subprocess
import sys
import types

from tracy import hooks, tracy_state

NOT_PYTHON = (b"\x7fELF", b"MZ")


def run(given, words):
    """Run `words` as the options say; the exit code. SystemExit is the program's own and passes through."""
    tracy_state.isWrapped = True
    tracy_state.doPartial = given.partial
    tracy_state.doLine = given.lines and given.partial
    if given.lines and not given.partial:
        print("python -m tracy: -l works with -p only: functions are profiled", file=sys.stderr)
    if not given.module and not is_python(words[0]):
        return run_binary(words)
    watch_for_ttnn()
    action = run_module if given.module else run_script
    if not given.partial:
        os.environ.update(hooks.ENVIRONMENT)  # for interpreters that the program starts
        try:
            hooks.start_functions()
        except ImportError as problem:  # an interpreter that can't be traced
            print(f"python -m tracy: {problem}", file=sys.stderr)
            return 1
    try:
        return guarded(action, words)
    finally:
        hooks.finish_all_zones()  # the tracing ends by itself, when the program's other threads have


def is_python(path):
    """Whether a file is source or byte code of Python. What can't be read is left to the interpreter's own words."""
    try:
        with io.open_code(os.path.abspath(path)) as file:
            head = file.read(4096)
    except OSError:
        return True
    if head.startswith(NOT_PYTHON):
        return False
    if head.startswith(b"#!"):
        return b"python" in head.split(b"\n", 1)[0]
    return b"\0" not in head or head.startswith(importlib.util.MAGIC_NUMBER)


def run_binary(words):
    """A program of another kind, with its arguments as they are; a path without a slash is looked for here first."""
    path = words[0] if os.sep in words[0] or not os.path.exists(words[0]) else os.path.join(".", words[0])
    try:
        code = subprocess.run([path, *words[1:]], check=False).returncode
    except OSError as problem:
        print(f"python -m tracy: {words[0]} can't be run: {problem.strerror}", file=sys.stderr)
        return 127
    if code < 0:  # end as it ended
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    return code


def run_module(words):
    sys.argv[:] = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


def run_script(words):
    """The file as `__main__`, which multiprocessing and pickle must find in sys.modules."""
    path = os.path.abspath(words[0])  # as __file__ is, whatever the program's folder will be
    sys.argv[:] = words
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):  # else there is no entry for this module's folder
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        runpy.run_path(path, run_name="__main__")
        return
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    main = types.ModuleType("__main__")
    main.__file__, main.__cached__, main.__builtins__ = path, None, __builtins__
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def without_ours(trace):
    """A traceback from the program's first frame on."""
    own = (os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.abspath(runpy.__file__)))
    here = trace
    while here is not None and (os.path.dirname(here.tb_frame.f_code.co_filename) == own[0] or
                                here.tb_frame.f_globals.get("__name__") == "runpy" or
                                here.tb_frame.f_code.co_filename == "<frozen runpy>"):
        here = here.tb_next
    return here


def guarded(action, words):
    """Run it; an exception ends it as the interpreter would."""
    try:
        action(words)
        return 0
    except SystemExit:
        raise
    except FileNotFoundError as problem:
        if problem.filename == os.path.abspath(words[0]) and without_ours(problem.__traceback__) is None:
            print(f"{sys.executable}: can't open file {os.path.abspath(words[0])!r}: [Errno 2] No such file or directory",
                  file=sys.stderr)
            return 2
        return show(problem)
    except ImportError as problem:
        if without_ours(problem.__traceback__) is None:  # runpy's own word about -m
            print(f"{sys.executable}: {problem}", file=sys.stderr)
            return 1
        return show(problem)
    except BaseException as problem:  # noqa: B902 - all that the interpreter would show
        return show(problem)


def show(problem):
    trace = without_ours(problem.__traceback__)
    sys.excepthook(type(problem), problem.with_traceback(trace), trace)
    if isinstance(problem, BrokenPipeError):
        return problem.errno or 1
    if isinstance(problem, KeyboardInterrupt):
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 1


class TtnnFinder:
    """Puts the names that a `ttnn` lacks into it when it is imported; finds nothing itself."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "ttnn":
            return None
        sys.meta_path.remove(TtnnFinder)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            from strobe import ttnn_names
            ttnn_names.patch(module)

        spec.loader.exec_module = exec_module
        return spec


def watch_for_ttnn():
    if "ttnn" not in sys.modules:
        sys.meta_path.insert(0, TtnnFinder)
