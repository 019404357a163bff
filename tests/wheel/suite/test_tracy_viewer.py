"""python -m tracy --web-app-port: the trace in a viewer that outlives the command."""
import json
import os
import re
import signal
import socket
import sys
import urllib.parse
import urllib.request

import pytest

import helper


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def app(tmp_path):
    """A program, and the end of the viewers that were started for it."""
    (tmp_path / "my app.py").write_text("def work(): pass\nwork()\n")
    started = []
    yield tmp_path, started
    for pid in started:
        os.kill(pid, signal.SIGTERM)


def tracy(app, port, *words):
    """Run it; what it said, and the link at the end of that."""
    folder, started = app
    done = helper.run(sys.executable, "-m", "tracy", "--web-app-port", port, *words, "my app.py", cwd=folder)
    started += [int(pid) for pid in re.findall(r"until: kill (\d+)", done.stderr)]
    return done.stderr, done.stderr.split()[-1]


def traces(link):
    """The traces that the viewer of a link has."""
    address = urllib.parse.urlsplit(link)
    with urllib.request.urlopen(address._replace(path="/traces").geturl(), timeout=120) as answer:
        return json.load(answer)


def test_the_last_word_is_the_link_of_a_viewer_that_has_the_trace(app):
    port = free_port()
    _, link = tracy(app, port, "-n", "first")
    address = urllib.parse.urlsplit(link)
    name, = urllib.parse.parse_qs(address.query)["trace"]
    assert address.netloc == f"127.0.0.1:{port}" and re.fullmatch(r"my_app_first_[\d_]+\.strobe", name)
    assert traces(link) == [name]
    with urllib.request.urlopen(link, timeout=120) as answer:
        assert b"<html" in answer.read()


def test_the_viewer_of_the_run_before_is_used_again(app):
    port = free_port()
    tracy(app, port, "-n", "first")
    text, link = tracy(app, port, "-n", "second")
    assert "until: kill" not in text
    assert [name.split("_")[2] for name in traces(link)] == ["second", "first"]


def test_a_port_that_is_taken_is_told_and_the_run_is_whole(app):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        text, _ = tracy(app, taken.getsockname()[1])
    assert "something listens there already" in text
    assert (app[0] / "generated/profiler/.logs/tracy_profile_log_host.strobe").exists()


def test_without_the_option_a_command_is_named_and_nothing_is_started(app):
    done = helper.run(sys.executable, "-m", "tracy", "my app.py", cwd=app[0])
    command = done.stderr.strip().splitlines()[-1]
    assert "to look at it: strobe view " in command and command.endswith("tracy_profile_log_host.strobe")
    assert not (app[0] / "generated/profiler/traces").exists()
