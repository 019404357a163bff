"""pytest --strobe, the fixture tracy_profile, and pytest under `python -m tracy`: same results, a zone per test."""
import re
import sys

import helper

TESTS = """
import pytest
@pytest.fixture
def number():
    yield 3
@pytest.mark.parametrize("i", range(198))
def test_many(i, number):
    assert number == 3
def test_fails(): assert 1 == 2
@pytest.mark.skip
def test_skipped(): pass
"""


def summary(text):
    """The last line's counts, without its time."""
    return re.sub(r" in [\d.]+s.*", "", text.strip().splitlines()[-1]).strip("= ")


def pytest_run(folder, *before, options=()):
    return helper.run(sys.executable, *before, "-m", "pytest", "-p", "no:cacheprovider", *options, "test_it.py", cwd=folder,
                      check=False)


def zones_of_tests(trace):
    return [zone for zone in helper.zones(trace) if zone.name.startswith("test_it.py::")]


def test_pytest_under_tracy_has_the_same_results_and_a_zone_per_test(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    plain = pytest_run(tmp_path)
    traced = pytest_run(tmp_path, "-m", "tracy")
    assert plain.returncode == traced.returncode == 1
    assert summary(plain.stdout) == summary(traced.stdout) == "1 failed, 198 passed, 1 skipped"
    trace = tmp_path / "generated/profiler/.logs/tracy_profile_log_host.strobe"
    assert len(zones_of_tests(trace)) == 200
    assert len(helper.zones(trace, "PY_FUNC_test_many")) == 198
    assert helper.lost(trace) == helper.ALL_WHOLE


def test_strobe_option_writes_a_file_per_run(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    done = pytest_run(tmp_path, options=["--strobe=run.strobe"])
    assert done.returncode == 1 and "the run is recorded in" in done.stdout
    trace = tmp_path / "run.strobe"
    found = zones_of_tests(trace)
    assert len(found) == 200 and len({zone.name for zone in found}) == 200
    assert len(helper.zones(trace, "fixture number")) == 198
    assert len(helper.zones(trace, "call")) == 199
    assert helper.lost(trace) == helper.ALL_WHOLE
    assert not helper.zones(trace, "test_many")


def test_strobe_functions(tmp_path):
    (tmp_path / "test_it.py").write_text("def f(): return 1\ndef test_one():\n    assert f() == 1\n")
    pytest_run(tmp_path, options=["--strobe", "--strobe-functions"])
    assert len(helper.zones(tmp_path / "strobe-pytest.strobe", "f")) == 1


def test_a_word_behind_the_option_is_a_test_to_run_and_stays_as_it_is(tmp_path):
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--own', action='store_true')\n")
    (folder / "test_it.py").write_text("def test_one(request): assert request.config.getoption('--own')\n")
    for options in (["--strobe", "sub/test_it.py", "--own"], ["--own", "--strobe", "--", "sub/test_it.py"]):
        before = {path: path.read_bytes() for path in folder.rglob("*.py")}
        done = helper.run(sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", *options, cwd=tmp_path)
        assert summary(done.stdout) == "1 passed"
        assert len(helper.zones(tmp_path / "strobe-pytest.strobe", "sub/test_it.py::test_one")) == 1
        assert {path: path.read_bytes() for path in folder.rglob("*.py")} == before
    done = helper.run(sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "--strobe", "sub", "--own", cwd=tmp_path,
                      env={"PYTEST_ADDOPTS": "--strobe=named.strobe"})
    assert (tmp_path / "strobe-pytest.strobe").exists() and not (tmp_path / "named.strobe").exists()  # the last one counts


def test_what_is_no_trace_is_never_replaced(tmp_path):
    text = "def test_one(): pass\n"
    (tmp_path / "test_it.py").write_text(text)
    done = pytest_run(tmp_path, options=["--strobe=test_it.py"])
    assert done.returncode == 4 and "ends in .strobe" in done.stderr
    (tmp_path / "mine.strobe").write_text(text)
    done = pytest_run(tmp_path, options=["--strobe=mine.strobe"])
    assert done.returncode == 0 and "exists and is no Strobe trace" in done.stdout
    assert (tmp_path / "test_it.py").read_text() == (tmp_path / "mine.strobe").read_text() == text


def test_strobe_functions_are_those_of_children_too(tmp_path):
    (tmp_path / "test_it.py").write_text("""
import multiprocessing
def in_child(): pass
def test_one():
    child = multiprocessing.get_context("spawn").Process(target=in_child)
    child.start()
    child.join()
""")
    assert pytest_run(tmp_path, options=["--strobe", "--strobe-functions"]).returncode == 0
    assert len(helper.zones(tmp_path / "strobe-pytest.strobe", "in_child")) == 1


def test_without_the_option_nothing_is_recorded(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    pytest_run(tmp_path)
    assert not list(tmp_path.glob("*.strobe"))


def test_the_fixture_profiles_one_test(tmp_path):
    (tmp_path / "test_it.py").write_text("""
def busy(): return 1
def test_profiled(tracy_profile): busy()
def test_not_profiled(): busy()
""")
    done = helper.run(sys.executable, "-m", "tracy", "-p", "-m", "pytest", "-q", "test_it.py", cwd=tmp_path)
    assert "2 passed" in done.stdout
    trace = tmp_path / "generated/profiler/.logs/tracy_profile_log_host.strobe"
    assert len(helper.zones(trace, "PY_FUNC_busy")) == 1
    done = pytest_run(tmp_path)  # and alone
    assert done.returncode == 0
    assert len(helper.zones(tmp_path / "tracy_profile_log_host.strobe", "PY_FUNC_busy")) == 1


def test_the_fixtures_of_a_run_write_one_file(tmp_path):
    (tmp_path / "test_it.py").write_text("""
import pytest
def busy(): return 1
@pytest.mark.parametrize("i", range(3))
def test_profiled(tracy_profile, i): busy()
def test_not_profiled(): busy()
""")
    trace = tmp_path / "tracy_profile_log_host.strobe"
    assert pytest_run(tmp_path).returncode == 0
    assert len(helper.zones(trace, "PY_FUNC_busy")) == 3
    (tmp_path / "tracy.py").write_text("raise ImportError('not installed')\n")  # then by Strobe's own means
    assert pytest_run(tmp_path).returncode == 0
    assert len(helper.zones(trace, "busy")) == 3


def test_the_fixture_strobe_trace_records_a_block_and_holds_it_to_demands(tmp_path):
    (tmp_path / "test_it.py").write_text("""
import strobe
def work():
    for _ in range(3):
        with strobe.zone("step"):
            pass
def test_kept(strobe_trace):
    with strobe_trace() as recorded:
        work()
    recorded.count("step", exactly=3).nothing_lost()
def test_broken(strobe_trace):
    with strobe_trace() as recorded:
        work()
    recorded.count("step", exactly=4)
""")
    ran = pytest_run(tmp_path)
    assert summary(ran.stdout) == "1 failed, 1 passed"
    assert "3 zones are named 'step', exactly 4 were expected" in ran.stdout
