"""walks.py - orders of steps out of the models: what `spin -p` prints of a simulation or a counterexample, as the lines that the
program `replay` reads. A statement of a model is a step where its line ends with a comment /* STEP name */; with
/* STEP name: text */ only the statement that has this text in it, and /* STEP Actor.name */ is a step of another actor's code.  SPDX-License-Identifier: MIT"""
import pathlib
import re
import subprocess
import threading

MODELS = pathlib.Path(__file__).resolve().parent.parent / "model"
LABEL = re.compile(r"/\* STEP (?:(\w+)\.)?([\w ]+?)(?:: ([^*]+?))? \*/")
STATEMENT = re.compile(r"proc +(\d+) \(([^:)]+)[^)]*\) ([^ ]+):(\d+) \(state (\d+)\)\s*(?:<[^>]*>)?\s*\[(.*)\]")
ACTIVE = re.compile(r"active *(?:\[ *(\d+) *\])? *proctype +(\w+)")
STEPS_MAX = 4000


class Model:
    """A model with some faults planted, ready to be walked in `folder`."""

    def __init__(self, name, folder, defines=()):
        self.name, self.folder = name, pathlib.Path(folder)
        source = MODELS / f"{name}.pml"
        self.labels = {}
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            found = LABEL.search(line)
            if found:
                self.labels[number] = found.groups()
        self.text = self.folder / f"{name}{''.join('-' + define for define in defines)}.i"
        subprocess.run(["cc", "-E", "-x", "c", *(f"-D{define}" for define in defines), str(source), "-o", str(self.text)], check=True)
        self.names = []  # by number, of those that are there from the start
        for count, kind in ACTIVE.findall(self.text.read_text(encoding="utf-8")):
            self.names += [f"{kind}{i}" for i in range(int(count))] if count else [kind]

    def steps(self, trace):
        """(actor, label) in the order of the trace."""
        out, last, later = [], {}, []
        for line in trace.splitlines():
            found = STATEMENT.search(line)
            if not found:
                continue
            number, kind, at, state, text = int(found.group(1)), found.group(2), int(found.group(4)), int(found.group(5)), found.group(6)
            if text in (".(goto)", "else", "break", "goto"):
                continue
            before = last.get(number, (0, 0))
            last[number] = (at, state)
            other, label, wanted = self.labels.get(at, (None, None, None))
            if not label:
                continue
            if wanted is None and before[0] == at and before[1] < state:
                continue  # the same line goes on
            if wanted is not None and wanted not in text:
                continue
            out.append((other or self.actor(number, kind, later), label))
        return out

    def actor(self, number, kind, later):
        """Its name; of two that were started one after the other the second succeeds the first."""
        if number < len(self.names):
            return self.names[number]
        if number not in later:
            later.append(number)
        return kind if number == later[0] else "Successor"

    def spin(self, *options):
        folder = self.folder / str(threading.get_ident())  # it leaves a file of a fixed name
        folder.mkdir(exist_ok=True)
        trace = subprocess.run(["spin", "-Pcat", "-p", "-T", f"-u{STEPS_MAX}", *options, str(self.text)], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, check=False).stdout
        if "syntax error" in trace or not STATEMENT.search(trace):
            raise RuntimeError(f"{self.text.name}: no walk: {trace}")
        return trace

    def walk(self, seed):
        return self.steps(self.spin(f"-n{seed}"))

    def violating_walk(self, seed):
        """The steps of a simulation that ends in a violation; None: it does not."""
        trace = self.spin(f"-n{seed}")
        return self.steps(trace) if "assertion violated" in trace else None

    def counterexample(self):
        """The steps that lead to the shortest violation; None: there is none."""
        run = {"cwd": self.folder, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "check": False}
        subprocess.run(["spin", "-Pcat", "-a", self.text.name], **run)
        subprocess.run(["cc", "-w", "-O1", "-DSAFETY", "-DBFS", "-o", self.text.stem, "pan.c"], **run)
        subprocess.run([f"./{self.text.stem}"], **run)
        trail = pathlib.Path(f"{self.text}.trail")
        return self.steps(self.spin("-t")) if trail.exists() else None


def lines(name, steps):
    return "".join([f"walk {name}\n", *(f"{actor} {label}\n" for actor, label in steps)])
