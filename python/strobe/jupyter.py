"""%%strobe: record a cell of a notebook and show its zones.

    %load_ext strobe

    %%strobe [--no-functions | --include MODULE] [--keep FILE] [--limit N]
    ...the cell...

The cell's value, output and exceptions are shown as ever; the table of its zones comes after them. --include: functions of
that module alone; may be given again. --no-functions: zones made by hand alone. --keep: the trace stays, as FILE.
--limit: rows of the table (default: 20). A notebook's cell with `await` outside of a function can't be recorded.
"""
import argparse
import ast
import asyncio
import os
import shlex
import subprocess
import tempfile

import strobe
from strobe._record import find_command

# what a kernel does in its other threads meanwhile
MACHINERY = ["IPython.*", "ipykernel.*", "traitlets.*", "zmq.*", "tornado.*", "jupyter_client.*", "asyncio.*", "selectors"]
BORDER = "_strobe_border"  # in the cell's namespace, while it runs
VALUE = "_strobe_value"


class MagicError(Exception):
    """The cell can't be recorded, and why."""


class CellFailed(Exception):
    """The cell raised, which IPython has shown already: with this, the cell that holds the magic fails too."""

    def _render_traceback_(self):
        """What IPython shows of it: one line, since the traceback stands above."""
        return [f"%%strobe: the cell failed: {self}"]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise MagicError(message)


def read_options(line):
    """What stands behind %%strobe; raises MagicError."""
    parser = Parser(prog="%%strobe", add_help=False)
    functions = parser.add_mutually_exclusive_group()
    functions.add_argument("--no-functions", action="store_true")
    functions.add_argument("--include", action="append", default=[])
    parser.add_argument("--keep", metavar="FILE")
    parser.add_argument("--limit", type=int, default=20)
    try:
        return parser.parse_args(shlex.split(line))
    except ValueError as problem:  # a quote without its end
        raise MagicError(str(problem)) from None


def check_cell(shell, cell):
    """MagicError where the cell needs the event loop that runs this magic, and so can't."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)):
        raise MagicError("a cell with `await` outside of a function can't be recorded: put it into a function")


def trace_options(options):
    """What of the cell's functions is traced; None: nothing."""
    if options.no_functions:
        return None
    return {"include": options.include} if options.include else {"exclude": MACHINERY}


class Border(ast.NodeTransformer):
    """Has the code of the cell traced, and not what IPython does before it and after it.

    As a context manager it is what the cell runs in; as a transformer it puts the cell into that `with` statement, but
    for imports from __future__, which must come first, and its last expression's value, where that is shown. The first tree
    that it is given is the cell's; later ones are code that magics in it, such as %time, have compiled."""

    def __init__(self, options, shows_value):
        self.options, self.shows_value, self.is_done = options, shows_value, False

    def __enter__(self):
        self.zone = strobe.zone("cell")
        self.zone.begin()
        if self.options is not None:
            strobe.trace(**self.options)

    def __exit__(self, *exception):
        if self.options is not None:
            strobe.untrace()
        self.zone.end()

    def visit_Module(self, tree):
        if self.is_done:
            return tree
        self.is_done = True
        first = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
        future, body, shown = tree.body[:first], tree.body[first:], []
        if not body:
            return tree
        if self.shows_value and isinstance(body[-1], ast.Expr):
            target = ast.Name(VALUE, ast.Store())
            shown = [ast.Expr(ast.Name(VALUE, ast.Load()))]
            body[-1] = ast.copy_location(ast.Assign([target], body[-1].value), body[-1])
        border = ast.withitem(ast.Name(BORDER, ast.Load()), None)
        whole = ast.copy_location(ast.With([border], body), body[0])
        tree.body = [*future, whole, *(ast.copy_location(node, body[-1]) for node in shown)]
        return ast.fix_missing_locations(tree)


def stats(path, limit):
    """The text of `strobe stats`."""
    done = subprocess.run([find_command(), "stats", "--limit", str(limit), path], capture_output=True, text=True,
                          check=False)
    return done.stdout + done.stderr


def run_recorded(shell, cell, options, path):
    """Run the cell while it is recorded into a file, then show its zones; what it raised, or None."""
    border = Border(trace_options(options), shows_value=not cell.rstrip().endswith(";"))
    with strobe.record(path):
        shell.ast_transformers.append(border)
        shell.user_ns[BORDER] = border
        try:
            result = shell.run_cell(cell)
        finally:
            shell.ast_transformers.remove(border)
            for name in (BORDER, VALUE):
                shell.user_ns.pop(name, None)
    print(stats(path, options.limit), end="")
    return result.error_before_exec or result.error_in_exec


def strobe_magic(shell, line, cell):
    """The magic itself: says what is wrong with its options, or why nothing can be recorded.

    A cell that raises makes the magic raise, so that a notebook that is run whole stops there."""
    try:
        options = read_options(line)
        check_cell(shell, cell)
        if options.keep:
            path = os.path.abspath(options.keep)
            raised = run_recorded(shell, cell, options, path)
            print(f"the trace is {path}")
        else:
            with tempfile.TemporaryDirectory(prefix="strobe-") as folder:
                raised = run_recorded(shell, cell, options, os.path.join(folder, "cell.strobe"))
    except (MagicError, RuntimeError, OSError) as problem:
        print(f"%%strobe: {problem}")
        return
    if raised is not None:
        raise CellFailed(f"{type(raised).__name__}: {raised}")


def load_ipython_extension(shell):
    """%load_ext strobe"""

    def run(line, cell):
        strobe_magic(shell, line, cell)

    run.__doc__ = __doc__
    shell.register_magic_function(run, magic_kind="cell", magic_name="strobe")
