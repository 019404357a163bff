"""The magic %%strobe in IPython and in a notebook's kernel, where they are installed."""
import sys

import pytest

import helper

CELLS = ["%load_ext strobe",
         "def crunch(n):\n    return sum(range(n))",
         "%%strobe --limit 50\nfor _ in range(3):\n    crunch(1000)\ntotal = crunch(10)\ntotal",
         "%%strobe --keep 'kept here.strobe' --no-functions\nimport strobe\nwith strobe.zone('by hand'):\n    crunch(5)",
         "%%strobe\ndef fail():\n    return 1 / 0\nfail()",
         "%%strobe\nfrom __future__ import annotations\ncrunch(4);",
         "%%strobe --limit\n1",
         "%%strobe\nimport asyncio\nawait asyncio.sleep(0)",
         "%%strobe --include __main__ --limit 50\n%time crunch(3)\n%timeit -n 2 -r 1 crunch(2)\ncrunch(7)",
         "print('the kernel lives:', total, [name for name in dir() if 'strobe' in name])"]
VALUE, KEPT, RAISED, FUTURE, WRONG, AWAITS, TIMED, AFTER = range(2, 10)


def calls(text):
    """{name: count} of what `strobe stats` printed."""
    rows = [line.split("  ") for line in text.splitlines() if line[:1] == " " and "count" not in line]
    rows = [[word.strip() for word in row if word.strip()] for row in rows]
    return {row[10]: int(row[0].replace(",", "")) for row in rows if len(row) > 10}


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A notebook's folder, and the text that each of its cells gave when a kernel ran them."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(book, timeout=120, allow_errors=True, resources={"metadata": {"path": str(folder)}}).execute()
    return folder, [text_of(cell) for cell in book.cells], [failed(cell) for cell in book.cells]


def failed(cell):
    return any(output.output_type == "error" for output in cell.outputs)


def text_of(cell):
    return "".join(output.get("text") or output.get("data", {}).get("text/plain") or "\n".join(output.get("traceback", []))
                   for output in cell.outputs)


def test_a_cell_shows_its_value_and_its_zones(notebook):
    text = notebook[1][VALUE]
    assert text.startswith("45"), text
    found = calls(text[2:])
    assert found["cell"] == 1 and found["crunch"] == 4


def test_a_cell_keeps_its_trace_when_asked_to(notebook):
    folder, texts, _ = notebook
    assert set(calls(texts[KEPT])) == {"cell", "by hand"}
    assert sorted(zone.name for zone in helper.zones(folder / "kept here.strobe")) == ["by hand", "cell"]


def test_an_exception_is_shown_and_its_showing_is_not_recorded(notebook):
    text = notebook[1][RAISED]
    assert "ZeroDivisionError" in text and calls(text)["fail"] == 1
    assert len(calls(text)) < 10, text


def test_a_cell_that_raises_fails_and_no_other_does(notebook):
    assert [at for at, is_failed in enumerate(notebook[2]) if is_failed] == [RAISED]
    assert "the cell failed: ZeroDivisionError" in notebook[1][RAISED]


def test_a_cell_may_begin_with_a_future_import_and_hide_its_value(notebook):
    text = notebook[1][FUTURE]
    assert calls(text)["crunch"] == 1 and "Error" not in text and not text.startswith("6")


def test_wrong_options_are_told(notebook):
    assert notebook[1][WRONG] == "%%strobe: argument --limit: expected one argument\n"


def test_a_cell_that_awaits_is_refused_in_words(notebook):
    assert "can't be recorded" in notebook[1][AWAITS] and "Traceback" not in notebook[1][AWAITS]


def test_magics_in_the_cell_work_as_ever(notebook):
    text = notebook[1][TIMED]
    assert "Error" not in text and "loop" in text and "21" in text, text
    assert calls(text)["cell"] == 1 and calls(text)["crunch"] == 4


def test_the_magic_leaves_nothing_in_the_namespace(notebook):
    assert notebook[1][AFTER] == "the kernel lives: 45 ['strobe']\n"  # which a cell has imported


def test_the_magic_in_ipython_itself(tmp_path):
    pytest.importorskip("IPython")
    code = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("%load_ext strobe")
shell.run_cell("%%strobe --limit 50\\ndef crunch():\\n    return 1\\ncrunch()")
"""
    done = helper.run(sys.executable, "-c", code, cwd=tmp_path, env={"IPYTHONDIR": str(tmp_path / "ipython")})
    assert calls(done.stdout)["crunch"] == 1
