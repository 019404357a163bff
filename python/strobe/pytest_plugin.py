"""pytest --strobe: one zone per test, per phase and per fixture, in a file per run. Fixtures: tracy_profile, strobe_trace.

    pytest --strobe                         writes strobe-pytest.strobe
    pytest --strobe=run.strobe -k slow      with the =: a word of its own behind --strobe is a test to run
    pytest --strobe --strobe-functions      every Python function too

Under `strobe record -- pytest` or `python -m tracy -m pytest` the zones go to that recording. With pytest-xdist every worker
is on the timeline by itself. The plugin changes no result: where it can't record, it says so and the tests run."""
import os

import pytest

DEFAULT_FILE = "strobe-pytest.strobe"
COLORS = {"passed": 0x2E8B57, "failed": 0xB22222, "skipped": 0xB8860B}
_own_profiler = None


def pytest_addoption(parser):
    group = parser.getgroup("strobe", "Strobe's recording")
    group.addoption("--strobe", nargs="?", const=DEFAULT_FILE, default=None, metavar="FILE",
                    help=f"record the run: a zone per test and fixture, into FILE (default: {DEFAULT_FILE})")
    group.addoption("--strobe-functions", action="store_true", default=False,
                    help="with --strobe: a zone for every Python function too")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    """Keep the word behind --strobe what it is: a parser of optional values would take it for the file."""
    end = args.index("--") if "--" in args else len(args)
    if "--strobe" not in args[:end]:
        return
    args[:end] = [f"--strobe={DEFAULT_FILE}" if word == "--strobe" else word for word in args[:end]]
    early_config.known_args_namespace.file_or_dir = parser.parse_known_args(list(args)).file_or_dir


def check_name(path):
    """UsageError where --strobe names what is no trace."""
    if path and not path.endswith(".strobe"):
        raise pytest.UsageError(f"--strobe={path}: the name of a trace ends in .strobe; nothing was recorded or changed")


def pytest_configure(config):
    check_name(config.getoption("--strobe"))
    try:
        import strobe
    except ImportError as problem:  # an interpreter without the C half
        if config.getoption("--strobe"):
            config.issue_config_time_warning(pytest.PytestConfigWarning(f"--strobe: {problem}"), stacklevel=2)
        return
    wanted = config.getoption("--strobe")
    if not wanted and not strobe.recording():
        return
    recording = start(config, strobe, wanted) if wanted else None
    config.pluginmanager.register(Zones(config, strobe, recording), "strobe-zones")


def start(config, strobe, path):
    """Record this process, unless somebody does already."""
    if strobe.recording() or hasattr(config, "workerinput"):
        return None
    path = os.path.join(str(config.invocation_params.dir), path)
    try:
        return strobe.record(path, functions=config.getoption("--strobe-functions"))
    except (RuntimeError, OSError) as problem:
        config.issue_config_time_warning(pytest.PytestConfigWarning(f"--strobe: {problem}"), stacklevel=2)
        return None


class Zones:
    """The hooks of a run that is recorded."""

    def __init__(self, config, strobe, recording):
        self.config, self.strobe, self.recording = config, strobe, recording
        self.colors = {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        file, line, _ = item.location
        with self.strobe.zone(item.nodeid, 0, str(file), (line or 0) + 1, item.name) as zone:
            yield
            color = self.colors.pop(item.nodeid, None)
            if color:
                zone.recolor(color)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self):
        with self.strobe.zone("setup"):
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self):
        with self.strobe.zone("call"):
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self):
        with self.strobe.zone("teardown"):
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        function = fixturedef.func
        code = getattr(function, "__code__", None)
        place = (code.co_filename, code.co_firstlineno) if code else ("?", 0)
        with self.strobe.zone(f"fixture {fixturedef.argname}", 0, place[0], place[1], fixturedef.argname):
            yield

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.colors[report.nodeid] = COLORS.get(report.outcome)

    def pytest_unconfigure(self):
        if self.recording:
            self.recording.stop()

    def pytest_terminal_summary(self, terminalreporter):
        if self.recording:
            terminalreporter.write_line(f"strobe: the run is recorded in {self.recording.path}")


def own_profiler():
    """Strobe's, where strobe-tracy is not installed: one for all tests, and so one file."""
    global _own_profiler
    if _own_profiler is None:
        import strobe
        _own_profiler = strobe.Profiler("tracy_profile_log_host.strobe")
    return _own_profiler


@pytest.fixture(scope="function")
def tracy_profile():
    """Profiles the Python functions of one test, as tt-metal's fixture does: with `python -m tracy -p`, or alone."""
    try:
        from tracy import Profiler
        profiler = Profiler()
    except ImportError:
        profiler = own_profiler()
    profiler.enable()
    try:
        yield profiler
    finally:
        profiler.disable()


@pytest.fixture
def strobe_trace(tmp_path):
    """Records a block of a test, and gives demands on what was recorded (strobe.assert_trace):

        def test_steps(strobe_trace):
            with strobe_trace() as recorded:
                train(steps=3)
            recorded.count("step", exactly=3).budget("step", max=50_000_000)
    """
    import strobe

    if strobe.recording():
        pytest.skip("the run is recorded already, and a process can be in one recording at a time")
    return lambda **options: _Block(strobe, tmp_path, options)


class _Block:
    """A recording around a block; the demands of assert_trace once it has ended."""

    def __init__(self, strobe, folder, options):
        self._strobe, self._recorded = strobe, None
        self.path = os.path.join(str(folder), f"{len(os.listdir(folder))}.strobe")
        self._recording = strobe.record(self.path, **options)

    def __enter__(self):
        self._recording.__enter__()
        return self

    def __exit__(self, *problem):
        return self._recording.__exit__(*problem)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if self._recorded is None:
            self._recorded = self._strobe.assert_trace(self.path)
        return getattr(self._recorded, name)
