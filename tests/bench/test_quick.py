"""test_quick.py FAMILY BUILD: a quick run of a family of bench/ works and leaves a valid file. It checks no time.  SPDX-License-Identifier: MIT"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBERS = ("value", "n", "disturbed")


def check_figure(figure):
    for name in NUMBERS:
        assert isinstance(figure[name], (int, float)) and math.isfinite(figure[name]), (figure["key"], name, figure[name])
    assert figure["key"] and figure["title"] and figure["unit"] and figure["state"] == "quick", figure


def check_round(one):
    assert set(one) == {"order", "s", "steal", "others", "switches", "migrations", "found", "disturbed"}, one
    assert one["order"] == list(one["found"]) and isinstance(one["disturbed"], bool), one


def check(run, name):
    for what in ("format", "commit", "date", "quick", "machine", "families"):
        assert what in run, what
    assert run["quick"] and {"cpu", "cores", "kernel", "load", "governor"} <= set(run["machine"]), run["machine"]
    family = run["families"][name]
    assert family["claim"] and family["peer"] and family["command"], family
    if "absent" in family:
        print(f"skipped: {family['absent']}")
        return 77
    keys = [figure["key"] for figure in family["figures"]]
    assert keys and len(keys) == len(set(keys)), keys
    for figure in family["figures"]:
        check_figure(figure)
    for trial in family["trials"]:
        assert trial["rounds"] and not trial["failed"], trial["failed"]
        for one in trial["rounds"]:
            check_round(one)
    print(f"{name}: {len(keys)} figures, {sum(len(trial['rounds']) for trial in family['trials'])} rounds")
    return 0


def main():
    name, build = sys.argv[1:]
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir=shm) as sessions:
        command = [sys.executable, "-B", ROOT / "bench" / "run", "--quick", "--build", build, "--history", folder, name, *([] if name == "tracy" else ["--no-peers"])]
        done = subprocess.run(list(map(str, command)), env={**os.environ, "STROBE_DIR": sessions}, stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.returncode
        (path,) = pathlib.Path(folder).glob("*-quick.json")
        table = subprocess.run([sys.executable, "-B", str(ROOT / "bench" / "run"), "--table", str(path)], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert table.strip() == done.stdout.strip()
        return check(json.loads(path.read_text()), name)


if __name__ == "__main__":
    sys.exit(main())
