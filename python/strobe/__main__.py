"""python -m strobe: the `strobe` command, for the Python that runs this.

    python -m strobe record [options] script.py args...      every Python function of a script
    python -m strobe record [options] -m module args...      or of a module
    python -m strobe record [options] -- command args...     any command, as `strobe record` itself
    python -m strobe tracy ...                               as `python -m tracy`
    python -m strobe paths                                   where command, library, headers are
    python -m strobe doctor                                  what this interpreter can do, and what is in the way
    python -m strobe anything else                           handed to the `strobe` command
"""
import os
import sys

from strobe._record import find_command

# options of `strobe record` that take a word of their own
WITH_VALUE = {"-o", "--output", "--pid", "--session", "--for", "--max-memory", "--max-file", "--policy", "--python", "--zone",
              "--include", "--exclude", "--min-duration", "--max-depth", "--frameworks", "--flight", "--after", "--trigger", "--tracy", "--tracy-announced",
              "--sample", "--ranks", "--rank", "--listen", "--peer", "--clock-key"}


def split_options(words):
    """The words before the program: options of `strobe record`; and the rest."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-m", "-c", "--", "-"):
        at += 2 if words[at] in WITH_VALUE else 1
    return words[:at], words[at:]


def record_command(words):
    """The argv of the recorder for `python -m strobe record ...`."""
    options, program = split_options(words)
    if program[:1] == ["--"]:
        return ["record", *options, *program]
    if not program:
        return ["record", *options]
    if not any(word == "--python" or word.startswith("--python=") for word in options):
        options = ["--python", "functions", *options]
    return ["record", *options, "--", sys.executable, *interpreter_options(), *program]


def interpreter_options():
    """-X, -W, -E ... of this interpreter, for the one that is started."""
    import subprocess
    return subprocess._args_from_interpreter_flags()


def become(words):
    """Become the `strobe` command; an exit text where there is none."""
    try:
        binary = find_command()
    except RuntimeError as problem:
        return f"strobe: {problem}"
    sys.stdout.flush()
    os.execv(binary, ["strobe", *words])


def paths():
    """Where the parts of the package are, for build scripts."""
    here = os.path.dirname(os.path.abspath(__file__))
    for name, folder in (("prefix", ""), ("bin", "bin"), ("lib", "lib"), ("include", "include"),
                         ("cmake", os.path.join("lib", "cmake")), ("pkgconfig", os.path.join("lib", "pkgconfig"))):
        print(f"{name:10s}{os.path.join(here, folder).rstrip(os.sep)}")
    return 0


def main(words=None):
    words = sys.argv[1:] if words is None else words
    if words[:1] in ([], ["-h"], ["--help"]):
        print(__doc__)
        return 0 if words else 2
    if words[0] == "record":
        return become(record_command(words[1:]))
    if words[0] == "paths":
        return paths()
    if words[0] == "doctor":
        from strobe import _doctor
        return _doctor.main()
    if words[0] == "tracy":
        return tracy(words[1:])
    return become(words)


def tracy(words):
    """`python -m tracy` by another name: also where a foreign module `tracy` is installed."""
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_strobe_tracy")
    if os.path.isdir(own):
        sys.path.insert(1, own)
    try:
        from tracy.command import main as tracy_main
    except ImportError:
        import strobe
        return f"strobe: the module `tracy` is not installed: pip install 'strobe-profiler[tracy]=={strobe.__version__}'"
    return tracy_main(words)


if __name__ == "__main__":
    sys.exit(main())
