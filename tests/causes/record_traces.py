#!/usr/bin/env python3
"""record_traces.py STROBE CAUSES FOLDER [--user]: programs with a planted cause each, recorded without a mark, as root or as an ordinary user.

Beside the program of this folder, three that come from the distribution: sqlite3, redis-server and perl, where they are installed.
The traces are FOLDER/NAME.strobe; which ones there are is printed.
"""
import os
import pathlib
import shutil
import subprocess
import sys

WAITS = ("--waits",)
PLANTED = {"convoy": ("--waits", "--locks"), "read": WAITS, "faults": WAITS, "crowd": WAITS, "leak": ("--memory",), "storm": ("--memory=all",)}
SQL = "create table t(a);\n" + "".join(f"insert into t values({i});\n" for i in range(150))
REDIS = ("redis-server --port 0 --unixsocket redis.sock --save '' --daemonize no >/dev/null & "
         "until redis-cli -s redis.sock ping >/dev/null 2>&1; do sleep 0.05; done; redis-benchmark -s redis.sock -q -n 60000 -t set,get >/dev/null; redis-cli -s redis.sock shutdown nosave; wait")
PERL = "for my $i (1..60000) { my %row = map { $_ => \"value $i\" } split /,/, 'a,b,c,d,e,f'; }"
FOREIGN = {"sqlite": (("sqlite3",), WAITS, ("sqlite3", "book.db", SQL)), "redis": (("redis-server", "taskset"), WAITS, ("taskset", "-c", "0", "sh", "-c", REDIS)),
           "perl": (("perl",), ("--memory=all",), ("perl", "-e", PERL))}


def as_user(folder):
    """The words that run a command as nobody, who may write to the folder."""
    os.chmod(folder, 0o777)
    return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]


def record(strobe, folder, name, options, command, is_user):
    """One trace. What an ordinary user may not ask for is left out."""
    trace = folder / f"{name}.strobe"
    trace.unlink(missing_ok=True)
    words = (as_user(folder) if is_user else []) + [strobe, "record", "-o", str(trace), *(o for o in options if not (is_user and o == "--waits")), "--", *command]
    environment = {k: v for k, v in os.environ.items() if k != "STROBE_SAMPLE"}
    if is_user:
        own = folder / "runtime"
        own.mkdir(exist_ok=True)
        os.chown(own, 65534, 65534)
        environment.update(XDG_RUNTIME_DIR=str(own), HOME=str(own))
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode or not trace.exists():
        sys.exit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return trace


def main():
    """Record all."""
    strobe, causes, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    is_user = "--user" in sys.argv
    if os.geteuid():
        print("skipped: only root may record what waits are for")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in PLANTED.items():
        print(record(strobe, folder, name, options, (causes, name), is_user))
    for name, (needed, options, command) in FOREIGN.items():
        for left in folder.glob("book.db*"):
            left.unlink()
        missing = [program for program in needed if not shutil.which(program)]
        print(f"{name}: {' and '.join(missing)} is not installed" if missing else record(strobe, folder, name, options, command, is_user))
    return 0


if __name__ == "__main__":
    sys.exit(main())
