"""strobe.record(): record this process, and the children it starts meanwhile, into a file.

The recorder is the `strobe` command in a process of its own (and no child of this one: the program's waits never
see it), so the file is whole whatever becomes of the program."""
import errno
import os
import time

from strobe import _strobe, _trace

# select, shutil, signal and subprocess are imported where they are used: most programs that import strobe never record
# themselves, and those that `strobe record` starts must not pay for it.

MAGIC = b"\x89STROBE\n"  # what every trace begins with

_own_session = None  # the session that this process moved to for its first recording, with the pid it had then


def set_variable(name, value):
    """Of the environment; None takes it away."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def find_command():
    """The path of the `strobe` command: $STROBE_BIN, the one of this package, or the one in PATH."""
    import strobe

    named = os.environ.get("STROBE_BIN")
    for path in (named, *(os.path.join(folder, "bin", "strobe") for folder in strobe.__path__)):
        if path and os.access(path, os.X_OK):
            return path
    import shutil

    path = shutil.which("strobe")
    if path is None:
        raise RuntimeError("no `strobe` command to record with: it is neither in this package nor in PATH "
                           "(STROBE_BIN may name it)")
    return path


def _spawn(arguments, ready, alive):
    """Start the recorder as nobody's child; its pid."""
    import subprocess

    started = subprocess.run(
        ["/bin/sh", "-c", '"$@" >/dev/null & echo $!', "sh", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=(ready, alive), start_new_session=True,
        check=True, env={**os.environ, "STROBE_DISABLE": "1"})
    return int(started.stdout)


def _wait(fd, seconds):
    """Until there is something to read, or the other end is closed; False: neither in that time."""
    import select

    poll = select.poll()  # select() can't wait for a descriptor above 1023
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _check_place(path):
    """Raise where no trace can be made, or where a recording would replace what is no trace."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder for the trace", folder)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "the trace would be a folder", path)
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise PermissionError(errno.EACCES, "the trace can't be written here", path)
    if not os.path.isfile(path):
        return  # nothing, or what the recorder refuses
    try:
        with open(path, "rb") as file:
            head = file.read(len(MAGIC))
    except OSError:
        return  # the recorder says what is wrong
    if head and head != MAGIC:
        raise FileExistsError(f"{path} exists and is no Strobe trace; remove it or choose another name")


def _is_disabled():
    return os.environ.get("STROBE_DISABLE", "")[:1] not in ("", "0")


class Recording:
    """A recording in progress, made by record(): stop() ends it, and so does the end of a `with` block."""

    def __init__(self, path, options=()):
        self.path = os.path.abspath(os.fspath(path))
        self._pid = None
        self._owner = os.getpid()  # who may stop the recorder: a child by fork has this object too
        self._alive = -1
        self._before = {}  # variables as they were
        self._is_traced = False
        self._start(list(options))

    def _session(self):
        """The session to record, and how to name it to the recorder."""
        if _own_session and _own_session[1] == os.getpid():
            return _own_session[0], True
        return "record-%d-%x" % (os.getpid(), time.time_ns() // 1000000), False

    def _start(self, options):
        global _own_session
        _trace.end_idle_recording()
        if _strobe.recording():
            raise RuntimeError("this process is being recorded already, by the recorder of its session")
        if _is_disabled():
            raise RuntimeError("STROBE_DISABLE is set: nothing of this process can be recorded")
        _check_place(self.path)
        name, joined = self._session()
        command = find_command()
        ready_end, ready = os.pipe()
        alive_end, alive = os.pipe()
        try:
            self._pid = _spawn([command, "record", "--serve-session", name, "--ready-fd", str(ready),
                                "-o", self.path, *options], ready, alive)
        finally:
            os.close(ready)
            os.close(alive)
        self._alive = alive_end
        started = _wait(ready_end, 10) and os.read(ready_end, 1) == b"r"
        os.close(ready_end)
        if not started:
            self._end()
            raise OSError(f"the recorder did not start; can {self.path} be written?")
        if not joined and not _strobe.join_session(name):
            self._end()
            raise RuntimeError("this process was recorded before in another session and can't change to one of its "
                               f"own; record it from outside: strobe record --pid {os.getpid()}")
        _own_session = (name, os.getpid())
        until = time.monotonic() + 10
        while not _strobe.recording() and time.monotonic() < until:
            time.sleep(0.001)
        self._set_variables({"STROBE_SESSION": name})

    def _set_variables(self, wanted):
        """Give children variables of the recording, until stop() or _untrace(). None: none of that name."""
        for name, value in wanted.items():
            self._before[name] = os.environ.get(name)
            set_variable(name, value)

    def _restore_variables(self, names):
        for name in names:
            set_variable(name, self._before.pop(name))

    def _end(self):
        """Ask the recorder to finish, and wait until it has."""
        if self._pid is None:
            return
        if self._owner == os.getpid():
            import signal

            try:
                os.kill(self._pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
            _wait(self._alive, 60)  # its end closes the pipe
        os.close(self._alive)
        self._pid = None

    @property
    def active(self):
        """True until stop()."""
        return self._pid is not None

    def stop(self):
        """End the recording; the file is whole when this returns. In a child by fork it ends the child's tracing alone."""
        if self._pid is None:
            return
        self._untrace()
        self._end()
        self._restore_variables(list(self._before))

    def _trace_functions(self, options):
        """Trace functions, of this process and of those that it starts, until stop() or _untrace()."""
        self._set_variables(_trace.variables(**options))  # first: it is no part of the trace
        try:
            _trace.trace(**options)
        except BaseException:
            self._restore_python_variables()
            raise
        self._is_traced = True

    def _untrace(self):
        if self._is_traced:
            self._is_traced = False
            _trace.untrace()
            self._restore_python_variables()

    def _restore_python_variables(self):
        self._restore_variables([name for name in self._before if name.startswith("STROBE_PYTHON")])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()


def record(path, *, max_memory=None, max_file=None, functions=False, **trace_options):
    """Record this process and the children that it starts meanwhile into `path`; a Recording to stop or to use `with`.

    `functions=True` traces every Python function too, with the options of strobe.Profiler. A trace at `path` is replaced;
    for any other file there, FileExistsError is raised."""
    _trace.check_options("record", trace_options)  # wrong options are refused before anything starts
    options = []
    if max_memory is not None:
        options += ["--max-memory", str(max_memory)]
    if max_file is not None:
        options += ["--max-file", str(max_file)]
    from strobe import frameworks

    recording = Recording(path, options)
    frameworks.watch()
    if functions or trace_options:
        try:
            recording._trace_functions(trace_options)
        except BaseException:  # wrong options: the recording ends
            recording.stop()
            raise
    return recording
