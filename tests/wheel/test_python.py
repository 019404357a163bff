#!/usr/bin/env python3
"""test_python.py BUILD [STEP...]: the whole of `make test-python`, step by step, with a table at its end.

Builds the wheels into BUILD/dist and tests those files everywhere: every CPython of this machine, a free-threaded one,
IREE, systems that have nothing but Python. A step is named by the beginning of its row; what a failed one said is shown."""
import os
import pathlib
import subprocess
import sys
import time

import venvs

HERE = pathlib.Path(__file__).resolve().parent
BESIDE = ["ipython", "ipykernel", "nbclient", "coverage"]  # what some tests use where it can be had
SKIPPED = 77


def steps(dist, place):
    """(name, command) of each step, in order; commands are those of this folder, by the Python that runs this."""
    folders = [str(dist), str(place)]
    yield "wheels", [str(venvs.ROOT / "python/backend/strobe_backend.py"), str(dist)]
    yield "contents, manners, building", ["test_build.py", *folders]
    yield "type stubs", ["test_stubs.py", *folders]
    for version in venvs.interpreters():
        text = ".".join(map(str, version))
        for suite in ("tests/wheel/suite", "tests/python"):
            yield f"{text} {suite}", ["run_all.py", *folders, "--only", text, "--suite", str(venvs.ROOT / suite),
                                      "--with", *BESIDE]
    yield "documents", ["run_all.py", *folders, "--newest", "--suite", str(HERE / "seeds"), "--with", *BESIDE]
    yield "iree", ["test_iree.py", *folders]
    yield "microbenchmark", ["test_microbenchmark.py", *folders]
    yield "ways", ["test_ways.py", *folders, str(venvs.ROOT / "build/bin/strobe")]
    yield "free-threaded", ["test_freethreaded.py", *folders]
    for system in ("bookworm", "sid"):
        yield f"chroot {system}", ["test_chroot.py", *folders, system]


def run(command):
    """(verdict, seconds, what was said) of a step."""
    begin = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-B", *command], cwd=HERE, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    verdict = {0: "passed", SKIPPED: "not run"}.get(done.returncode, "FAILED")
    return verdict, time.monotonic() - begin, done.stdout.strip()


def main():
    build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    rows, failed = [], 0
    for name, command in steps(build / "dist", build / "venvs"):
        if wanted and not any(name.startswith(word) for word in wanted):
            continue
        verdict, seconds, text = run(command)
        last = text.splitlines()[-1] if text else ""
        rows.append(f"{name:30s} {verdict:8s} {seconds:7.1f} s  {last[:100]}")
        print(rows[-1], flush=True)
        if verdict == "FAILED":
            failed += 1
            print(text[-8000:], flush=True)
            if name == "wheels":
                break
    print("\n" + "\n".join(rows))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
