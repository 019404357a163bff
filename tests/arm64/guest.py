#!/usr/bin/env python3
"""guest.py LIST - runs inside an arm64 machine, as its second process: the tests of a list (JSON), two at a time.

A line per test goes to the console, "@@ name code seconds", and what a failed one said before it; system.py reads them."""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time

WORKERS = 2
CONSOLE = threading.Lock()


def run(test):
    """One test, with all that it started ended; its line."""
    begin = time.monotonic()
    os.makedirs(test["folder"], exist_ok=True)
    environment = {**os.environ, **test["environment"]}
    with subprocess.Popen(test["command"], cwd=test["folder"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
        try:
            text, _ = process.communicate(timeout=test["timeout"])
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            code = "time"
    with CONSOLE:
        if code != 0:
            print(text[-6000:])
        print(f"@@ {test['name']} {code} {time.monotonic() - begin:.1f}", flush=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tests = json.load(file)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(run, [test for test in tests if not test["alone"]]))
    for test in tests:
        if test["alone"]:
            run(test)
    print("@@ end 0 0", flush=True)


if __name__ == "__main__":
    main()
