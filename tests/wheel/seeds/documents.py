"""Takes the programs out of the documents: fenced blocks of Markdown, code-block directives of reStructuredText."""
import os
import pathlib
import re

ABSENT = "the documents are neither in $STROBE_SHARED nor in a folder `shared` beside the tree"


def folder():
    """Where the documents are: in seeds/ of $STROBE_SHARED or of a folder `shared` beside the tree; or None."""
    beside = pathlib.Path(__file__).resolve().parents[4] / "shared"
    place = pathlib.Path(os.environ.get("STROBE_SHARED") or beside, "seeds")
    return place if place.is_dir() else None


def read(number):
    """The blocks of document `number`: [(language, text)]."""
    path = sorted(folder().glob(f"{number}_*.txt"))[0]
    text = path.read_text()
    return rst_blocks(text) if ".. code-block::" in text.replace("..  code", ".. code") else markdown_blocks(text)


def markdown_blocks(text):
    """Blocks of a language. A document that names none has plain ones."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.S | re.M) or re.findall(r"^```()\n(.*?)^```", text, re.S | re.M)


def rst_blocks(text):
    blocks, lines = [], iter(text.split("\n"))
    for line in lines:
        found = re.match(r"\.\.\s+code-block::\s*(\S+)", line)
        if not found:
            continue
        body = []
        for line in lines:
            if line.strip() and not line.startswith("    "):
                break
            body.append(line[4:])
        blocks.append((found.group(1), "\n".join(body).strip() + "\n"))
    return blocks


def commands(text):
    """The commands of a shell block, one string each; comments and blank lines are left out."""
    joined = re.sub(r"\\\n\s*", "", text)
    return [line for line in joined.split("\n") if line.strip() and not line.startswith("#")]
