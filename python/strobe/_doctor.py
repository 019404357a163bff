"""python -m strobe doctor: what this interpreter can record, and what is in the way. It changes nothing."""
import importlib.util
import os
import subprocess
import sys


def check_interpreter():
    from strobe._refuse import reason
    import strobe
    why = reason(strobe.__path__)
    return not why, f"Python {sys.version.split()[0]} at {sys.executable}: {why or 'can be recorded'}"


def check_command():
    from strobe._record import find_command
    try:
        path = find_command()
    except RuntimeError as problem:
        return False, str(problem)
    found = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if found.returncode:
        return False, f"{path} does not run: {found.stderr.strip() or found.returncode}"
    import strobe
    words = found.stdout.split()
    if strobe.__version__ not in words:
        return False, f"{path} is version {words[-1] if words else '?'}, the package is {strobe.__version__}"
    return True, f"{path}, version {strobe.__version__}"


def check_module(name, marker):
    """Whose module it is that `import name` would take."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        import strobe
        wanted = f"strobe-profiler[{name.replace('_', '-')}]=={strobe.__version__}"
        return True, f"module {name}: not installed (pip install '{wanted}')"
    folder = os.path.dirname(spec.origin or "")
    if os.path.exists(os.path.join(folder, marker)):
        return True, f"module {name}: Strobe's, {folder}"
    return True, f"module {name}: of another package, {folder}; it is left alone"


def check_startup():
    """Whether interpreters that `strobe record` starts join by themselves."""
    import site
    import sysconfig
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages(),
              site.getusersitepackages()}
    for place in places:
        if os.path.exists(os.path.join(place, "strobe.pth")):
            return True, f"`strobe record -- python ...` traces functions by itself ({place})"
    return True, "no .pth of Strobe in site-packages: use `python -m strobe record`, or install the wheel"


def check_recording():
    from strobe import _strobe
    if os.environ.get("STROBE_DISABLE"):
        return False, "STROBE_DISABLE is set: nothing of this process is recorded"
    if _strobe.recording():
        return True, "a recorder takes this process's events now"
    return True, "nobody records this process now: start it with `strobe record -- python ...`"


def main():
    failed = 0
    for check in (check_interpreter, check_command, check_startup, check_recording,
                  lambda: check_module("tracy_client", "_events.py"), lambda: check_module("tracy", "hooks.py")):
        good, text = check()
        failed += not good
        print(f"{'ok     ' if good else 'WRONG  '}{text}")
    return 1 if failed else 0
