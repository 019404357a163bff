"""coverage.py beside the tracing of functions: each sees all, where it is installed."""
import json
import sys

import pytest

import helper

pytest.importorskip("coverage")
APP = """
def odd(n):
    if n % 2:
        return 1
    return 0
def never():
    return 2
print(sum(odd(n) for n in range(10)))
"""


CORES = ["ctrace", pytest.param("sysmon", marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="has no sys.monitoring"))]


def lines(folder, core, *before, says=""):
    """The lines that coverage saw of a run."""
    words = [*before, sys.executable, "-m", "coverage"]
    done = helper.run(*words, "run", "app.py", cwd=folder, env={"COVERAGE_CORE": core})
    assert done.stdout == "5\n"
    assert says in done.stderr if says else done.stderr == ""
    helper.run(sys.executable, "-m", "coverage", "json", "-q", "-o", "seen.json", cwd=folder)
    return json.loads((folder / "seen.json").read_text())["files"]["app.py"]["executed_lines"]


@pytest.mark.parametrize("core", CORES)
def test_both_see_all(tmp_path, core):
    (tmp_path / "app.py").write_text(APP)
    plain = lines(tmp_path, core)
    assert plain == [2, 3, 4, 5, 6, 8]
    assert lines(tmp_path, core, helper.STROBE, "record", "-q", "-o", "out.strobe", "--") == plain
    assert len(helper.zones(tmp_path / "out.strobe", "odd")) == 10


@pytest.mark.parametrize("core", CORES)
def test_lines_beside_it_are_traced_or_given_up_in_words(tmp_path, core):
    plain = ("import strobe\nif strobe.recording(): strobe.trace(lines=True, include='__main__')\n" + APP.strip() +
             "\nif strobe.tracing(): strobe.untrace()\n")
    (tmp_path / "app.py").write_text(plain)
    alone = lines(tmp_path, core)
    says = "lines are not traced: a debugger or coverage tool" if sys.version_info < (3, 12) else ""
    record = [helper.STROBE, "record", "-q", "--python", "off", "-o", "out.strobe", "--"]
    assert lines(tmp_path, core, *record, says=says) == alone
    assert len([zone for zone in helper.zones(tmp_path / "out.strobe", "odd") if zone.line == 3]) == 10
