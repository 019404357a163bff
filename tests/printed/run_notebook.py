#!/usr/bin/env python3
"""run_notebook.py NOTEBOOK: runs the code cells of a notebook from the first to the last, in one namespace, and prints what they
print. Exit code 1 with the cell's number where one raises.

For plain Python cells that is what nbconvert --execute does; nbconvert with a kernel would be forty packages for it. Cells with magics
or an await are refused, not skipped."""
import ast
import json
import pathlib
import sys
import traceback


def main(path):
    notebook, space = json.loads(pathlib.Path(path).read_text(encoding="utf-8")), {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        text = "".join(cell["source"])
        try:
            code = compile(ast.parse(text, f"{path}[{number}]"), f"{path}[{number}]", "exec")
            exec(code, space)
        except Exception:  # the notebook's own, whatever it is
            traceback.print_exc()
            print(f"cell {number} of {path} failed", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
