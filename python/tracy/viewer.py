# SPDX-License-Identifier: MIT
"""--web-app-port: a run's trace in Strobe's viewer, where tt-metal's module leaves it in its own.

Each trace is kept in <artifacts>/traces, named after its command. A viewer that shows that folder on the port already is
used again; else one is started. It goes on when this process ends, on loopback, behind the token in its link. What goes
wrong here is said, and changes nothing for the run."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from tracy import strobe_command

FOLDER = "traces"
LOG_FILE = "tracy_wasm_gui_server.log"  # its first line is the viewer's link
START_SECONDS = 30


class ViewerError(Exception):
    """There is no viewer, and why."""


def trace_name(program, name_append, moment):
    """<command>[_<name>]_<date>.strobe; pytest's runs are named after its last word."""
    word = program[-1] if program[0] == "pytest" else program[0]
    parts = [pathlib.PurePath(word).stem, name_append, time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(moment))]
    return "_".join(re.sub(r"[^A-Za-z0-9_-]", "_", part) for part in parts if part) + ".strobe"


def keep(trace, folder, name):
    """Put the trace into the viewer's folder: the next run empties the one it is in."""
    kept = folder / FOLDER / name
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.unlink(missing_ok=True)
    try:
        os.link(trace, kept)
    except OSError:  # a file system without links
        shutil.copyfile(trace, kept)
    return kept


def link_of(log):
    """The link that a viewer has printed; None: none yet."""
    try:
        first = log.read_text(errors="replace").split("\n", 1)
    except OSError:
        return None
    return first[0] if len(first) == 2 and first[0].startswith("http://127.0.0.1:") else None


def shows(link, name):
    """Whether a viewer answers there, and has the trace in its folder."""
    address = urllib.parse.urlsplit(link)
    try:
        with urllib.request.urlopen(address._replace(path="/traces").geturl(), timeout=15) as answer:
            return name in json.load(answer)
    except (urllib.error.URLError, OSError, ValueError):
        return False


def start(folder, port):
    """Start a viewer of the folder's traces, which outlives this process; its link and its pid."""
    log = folder / LOG_FILE
    command = [strobe_command.find(), "view", "--no-open", "--port", str(port), str(folder / FOLDER)]
    with open(log, "wb") as out:
        viewer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and viewer.poll() is None:
        link = link_of(log)
        if link:
            viewer.returncode = 0  # it is left alone: no warning when this object goes
            return link, viewer.pid
        time.sleep(0.02)
    viewer.kill()
    viewer.wait()
    raise ViewerError(log.read_text(errors="replace").strip() or f"{' '.join(command)} did not start")


def show(trace, folder, program, name_append, port):
    """Have the trace in a viewer on the port; (link, pid of the viewer that was started, or None). Raises ViewerError."""
    try:
        kept = keep(trace, folder, trace_name(program, name_append, time.time()))
    except OSError as problem:
        raise ViewerError(f"the trace can't be put into {folder / FOLDER}: {problem.strerror}") from None
    link, pid = link_of(folder / LOG_FILE), None
    if not link or urllib.parse.urlsplit(link).port != port or not shows(link, kept.name):
        link, pid = start(folder, port)
    return f"{link}&trace={urllib.parse.quote(kept.name)}", pid
