"""test_peers.py BUILD [test names]: real Tracy clients under `strobe record`, counted exactly.

Programs and wheels come from their registries, once, into BUILD/peers (peers.py). Other tests and other recorders may run at the
same time: ports are free ones, but for the tests about fixed ones.  SPDX-License-Identifier: MIT"""
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

import peers as peers_module
from peers import CRATES, HERE, IREE, Peers

BUILD = pathlib.Path(sys.argv[1]).resolve()
STROBE = BUILD / "bin" / "strobe"
NEWEST = "0.30.1"  # tracy-client-sys with Tracy 0.14, protocol 82
OLDER = "0.24.3"  # Tracy 0.11.1, protocol 69
ALL = bool(os.environ.get("STROBE_ALL_PEERS"))


def got(what, *arguments, **more):
    """Something of Peers, built if need be."""
    peers = Peers(BUILD)
    try:
        return getattr(peers, what)(*arguments, **more)
    finally:
        peers.done()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Trace:
    """What `strobe info` says of a trace."""

    def __init__(self, path):
        done = subprocess.run([STROBE, "info", "--json", "--verify", path], capture_output=True, text=True, check=True)
        self.info = json.loads(done.stdout)
        self.path = path
        self.kinds = self.info["kinds"]
        self.clients = [p for p in self.info["processes"] if "tracy" in p]
        self.unrecorded = self.info["unrecorded"]

    def n(self, *kinds):
        return sum(self.kinds.get(kind, 0) for kind in kinds)

    def rows(self, kind):
        done = subprocess.run([STROBE, "csv", "--kind", kind, self.path], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()


class Peer(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-peers-")
        self.n_traces = 0

    def tearDown(self):
        self.folder.cleanup()

    def path(self):
        self.n_traces += 1
        return os.path.join(self.folder.name, f"{self.n_traces}.strobe")

    def record(self, *command, env=None, options=(), code=0, path=None):
        """Record a command to its end; (trace, what it printed)."""
        path = path or self.path()
        done = subprocess.run([str(w) for w in (STROBE, "record", "-q", "-o", path, *options, "--", *command)],
                              env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return Trace(path), done.stdout

    def assert_whole(self, trace, zones, clients=1):
        self.assertEqual(len(trace.clients), clients, trace.info["processes"])
        self.assertEqual(trace.n("zone_begin"), zones)
        self.assertEqual(trace.n("zone_end"), zones)
        self.assertEqual(trace.info["losses"], [])
        if not any("did not say that it ends" in note for note in trace.info["notes"]):  # symbols of samples come late, if at all
            self.assertEqual([c["tracy"]["unnamed"] for c in trace.clients], [0] * clients)
        self.assertEqual([row for row in csv.DictReader(trace.rows("zones")) if row["name"].startswith("0x")], [])
        self.assertEqual([c["tracy"]["set_aside"] for c in trace.clients], [0] * clients)
        self.assertEqual(trace.unrecorded, [])


class Crates(Peer):
    """A Rust program on tracy-client, of each protocol."""

    def check(self, version, protocol):
        program = got("crate", version)
        trace, printed = self.record(program, "500")
        said = dict(zip(printed.split()[::2], map(int, printed.split()[1::2])))
        self.assert_whole(trace, said["zones"])
        self.assertEqual(trace.clients[0]["tracy"]["protocol"], protocol)
        own = [m for m in trace.rows("messages") if "fifty" in m]  # Tracy says things of its own too
        self.assertEqual(len(own), said["messages"])
        self.assertEqual(trace.n("frame"), said["frames"])
        plots = [p for p in trace.rows("plots") if "values" in p]
        self.assertEqual(len(plots), said["plots"])
        self.assertEqual(trace.n("zone_value"), said["zones"] // 2)
        self.assertEqual(trace.clients[0]["end"], "exit")

    def test_a_program_on_the_crate_is_counted_exactly(self):
        for version, _, protocol in CRATES:
            if ALL or version in ("0.18.0", "0.19.0"):
                with self.subTest(crate=version, protocol=protocol):
                    self.check(version, protocol)


class Many(Peer):
    def many(self, n, program, *arguments):
        return ["sh", "-c", f'for i in $(seq {n}); do "$@" & done; wait', "sh", program, *map(str, arguments)]

    def test_eight_with_one_fixed_port_are_all_complete(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        trace, _ = self.record(*self.many(8, program, 300, 2), env={"TRACY_PORT": str(free_port())})
        self.assert_whole(trace, 8 * 1200, 8)
        self.assertEqual({c["tracy"]["zones"] for c in trace.clients}, {1200})

    def test_a_port_that_was_compiled_in_is_no_obstacle(self):
        port = free_port()
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK", "-DTRACY_DATA_PORT=8086"))
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind(("127.0.0.1", 8086))
                taken.listen()
            except OSError:
                pass  # somebody else has it: as good
            trace, _ = self.record(*self.many(3, program, 300, 2), env={"TRACY_PORT": str(port)})
        self.assert_whole(trace, 3 * 1200, 3)

    def test_forty_without_any_port_are_all_complete(self):
        program = got("c_client", OLDER, flags=("-DTRACY_NO_CALLSTACK",))
        trace, _ = self.record(*self.many(40, program, 100, 2))
        self.assert_whole(trace, 40 * 400, 40)

    def test_children_by_exec_are_complete_too(self):
        newer, older = (got("c_client", v, flags=("-DTRACY_NO_CALLSTACK",)) for v in (NEWEST, OLDER))
        trace, _ = self.record(newer, 100, 1, "exec", older, 200, 1, "exec", newer, 300, 1)
        self.assert_whole(trace, 200 + 400 + 600, 3)
        self.assertEqual([c["end"] for c in trace.clients], ["exit"] * 3)

    def test_all_lie_on_one_timeline(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        trace, _ = self.record(*self.many(4, program, 100, 1, "sleep", 100))
        self.assert_whole(trace, 4 * 200, 4)
        begins = [int(row["start_ns"]) for row in csv.DictReader(trace.rows("zones"))]
        self.assertLess(max(begins) - min(begins), 5e9)
        self.assertGreater(min(begins), 0)
        self.assertLess(max(begins), trace.info["duration_ns"])


class Short(Peer):
    def one(self, program, path):
        done = subprocess.run([STROBE, "record", "-q", "-o", path, "--", program, "50", "1", "sleep", "10"], capture_output=True)
        return done.returncode == 0 and Trace(path).n("zone_end") == 100

    def test_a_program_of_20_ms_is_complete_in_100_of_100_runs(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        env = {k: v for k, v in os.environ.items() if k != "TRACY_NO_EXIT"}
        self.assertEqual(env.keys(), os.environ.keys())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            whole = list(pool.map(lambda path: self.one(program, path), [self.path() for _ in range(100)]))
        self.assertEqual(whole.count(True), 100)

    def test_a_client_that_says_no_goodbye_is_read_to_its_end(self):
        program = got("crate", "0.14.0") if ALL else got("c_client", OLDER, flags=("-DTRACY_NO_CALLSTACK", "-DTRACY_DELAYED_INIT",
                                                                                "-DTRACY_MANUAL_LIFETIME"), name="forever")
        for _ in range(10):
            trace, printed = self.record(program, "500")
            self.assert_whole(trace, int(printed.split()[1]))


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def state(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


class Killed(Peer):
    """The recorder is killed: the client goes on and ends as it would have."""

    def end_of(self, recorder, n):
        """Kill the recorder; seconds until its child, told to end, is gone."""
        child = children(recorder.pid)[0]
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait()
        time.sleep(0.05 * (n % 4))
        recorder.stdin.close()  # the program ends at the end of its input
        start = time.monotonic()
        while state(child) not in (None, "Z"):
            if time.monotonic() - start > 10:
                os.kill(child, signal.SIGKILL)
                return 10
            time.sleep(0.005)
        return time.monotonic() - start

    def test_the_client_exits_within_2_s_whenever_its_recorder_is_killed(self):
        rounds = 40 if ALL else 8
        for flags in (("-DTRACY_NO_CALLSTACK",), ("-DTRACY_NO_CALLSTACK", "-DTRACY_ON_DEMAND")):
            program = got("c_client", NEWEST, flags=flags, name="until_eof")
            for n in range(rounds):
                recorder = subprocess.Popen([STROBE, "record", "-q", "-o", self.path(), "--", program], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE)
                recorder.stdout.readline()  # it has begun
                time.sleep(random.uniform(0, 0.3))
                self.assertLess(self.end_of(recorder, n), 2, flags)
                recorder.stdout.close()

    def test_what_a_killed_recorder_wrote_is_in_the_file(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        path = self.path()
        recorder = subprocess.Popen([STROBE, "record", "-q", "-o", path, "--", program, "1000000", "1", "sleep", "60000"])
        while not os.path.exists(path) or os.path.getsize(path) < 500000:
            time.sleep(0.1)
        for _ in range(40):  # it is all written while the client lives, a second after it came
            time.sleep(0.5)
            if Trace(path).n("zone_end") == 2000000:
                break
        child = children(recorder.pid)[0]
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait()
        self.assertNotIn(state(child), (None, "Z"), "the client goes on")
        os.kill(child, signal.SIGKILL)
        trace = Trace(path)
        self.assertEqual(trace.n("zone_end"), 2000000)


class Ends(Peer):
    def test_a_copy_by_fork_is_named_and_the_client_is_whole(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        trace, _ = self.record(program, 100, 1, "fork")
        self.assertEqual(trace.n("zone_end"), 200)
        self.assertEqual(len(trace.unrecorded), 1)
        self.assertIn("without an exec", trace.unrecorded[0]["reason"])

    def test_a_client_that_exits_inside_a_zone_ends_well(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        start = time.monotonic()
        trace, _ = self.record(program, 100, 1, "inzone")
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual((trace.n("zone_begin"), trace.n("zone_end"), trace.info["open"]), (201, 200, 1))

    def test_a_client_that_is_killed_leaves_what_it_had_sent(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        trace, _ = self.record(program, 100, 1, "kill", code=128 + signal.SIGKILL)
        self.assertEqual(trace.n("zone_end"), 200)
        self.assertEqual(trace.clients[0]["end"], "signal")

    def test_a_recording_that_stops_first_leaves_a_client_that_works(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",), name="until_eof")
        path = self.path()
        recorder = subprocess.Popen([STROBE, "record", "-q", "-o", path, "--for", "1s", "--", program], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE)
        recorder.stdout.readline()
        time.sleep(2)
        self.assertIsNone(recorder.poll(), "it stays with its command")
        recorder.stdin.close()
        start = time.monotonic()
        self.assertEqual(recorder.wait(10), 0)
        self.assertLess(time.monotonic() - start, 2)
        recorder.stdout.close()
        trace = Trace(path)
        self.assertGreater(trace.n("zone_end"), 0)  # how many, the machine's load decides
        self.assertEqual(trace.clients[0]["tracy"]["unnamed"], 0)

    def test_nothing_is_touched_with_no_tracy(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        trace, _ = self.record(program, 100, 1, options=("--no-tracy",), env={"TRACY_PORT": str(free_port())})
        self.assertEqual(trace.clients, [])


class Others(Peer):
    """What is not a client of Tracy in the command's tree, and what is one without a shim."""

    SERVER = ("import socket,threading,ctypes,sys\n"
              "def serve():\n"
              "    ctypes.CDLL(None).prctl(15, sys.argv[2].encode(), 0, 0, 0)\n"
              "    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
              "    s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen(4)\n"
              "    print(s.getsockname()[1])\n"
              "t = threading.Thread(target=serve); t.start(); t.join()\n")

    def test_another_server_keeps_its_port(self):
        for name in ("server", "Tracy Profiler"):
            port = free_port()
            _, printed = self.record(sys.executable, "-c", self.SERVER, port, name, env={"TRACY_PORT": str(port)})
            self.assertEqual(printed.strip(), str(port), name)

    def test_a_preload_of_the_user_stays(self):
        _, printed = self.record("sh", "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": "libm.so.6"})
        self.assertRegex(printed, r"libstrobe-tracy-shim\.so:libm\.so\.6")

    def test_a_program_with_the_address_sanitizer_runs(self):
        source, program = (os.path.join(self.folder.name, n) for n in ("a.c", "a"))
        with open(source, "w") as file:
            file.write("int main(void) { return 7; }\n")
        subprocess.run(["gcc", "-fsanitize=address", source, "-o", program], check=True)
        self.record(program, code=7)

    def test_a_thread_that_is_cancelled_in_poll_is_unwound(self):
        program = os.path.join(self.folder.name, "cancelled")
        subprocess.run(["g++", HERE / "cancelled.cpp", "-o", program, "-lpthread"], check=True)
        _, printed = self.record(program)
        self.assertEqual(printed.split(), ["destroyed", "joined"])

    def test_a_session_with_a_long_path_works(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        folder = os.path.join(self.folder.name, "long" * 30)
        os.mkdir(folder, 0o700)
        trace, _ = self.record(program, 100, 1, env={"STROBE_DIR": folder})
        self.assert_whole(trace, 200)

    def test_losses_of_clients_are_counted(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        zones = 4 * 1500000  # over 2 MB even where a clock with coarse ticks makes them small
        trace, _ = self.record(program, 1500000, 2, options=("--max-file", "1M"))
        lost = sum(loss["count"] for loss in trace.info["losses"])
        self.assertGreater(lost, 0)
        self.assertGreaterEqual(trace.info["stored"] + lost, 2 * zones)  # and what Tracy adds: its CPU plot
        self.assertLess(trace.info["stored"] + lost, 2 * zones + 500)
        self.assertEqual(trace.clients[0]["tracy"]["zones"], zones)

    def test_a_static_client_is_found(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",), link=("-static",))
        trace, _ = self.record(program, 100, 1, "sleep", 2500, env={"TRACY_PORT": str(free_port())})
        self.assert_whole(trace, 200)

    def test_a_static_client_whose_port_is_taken_is_named(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",), link=("-static",))
        with socket.socket(socket.AF_INET6) as taken:
            taken.bind(("::", 0))
            taken.listen()
            port = taken.getsockname()[1]
            trace, _ = self.record(program, 100, 1, "sleep", 4500, env={"TRACY_PORT": str(port)})
        self.assertEqual(trace.clients, [])
        self.assertEqual(len(trace.unrecorded), 1)
        self.assertIn("taken", trace.unrecorded[0]["reason"])

    def test_a_client_that_was_asked_for_is_recorded_until_it_ends(self):
        program, port, path = got("c_client", OLDER, flags=("-DTRACY_NO_CALLSTACK",)), free_port(), self.path()
        recorder = subprocess.Popen([STROBE, "record", "-q", "-o", path, "--tracy", f"127.0.0.1:{port}"])
        time.sleep(0.3)
        env = {**os.environ, "TRACY_PORT": str(port), "TRACY_NO_EXIT": "1"}
        subprocess.run([program, "100", "2"], env=env, check=True, capture_output=True, timeout=120)
        self.assertEqual(recorder.wait(10), 0)
        self.assert_whole(Trace(path), 400)

    def test_a_client_on_demand_is_left_and_found_again(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK", "-DTRACY_ON_DEMAND"))
        port = free_port()
        client = subprocess.Popen([program, "0", "1", "endless"], env={**os.environ, "TRACY_PORT": str(port)})
        try:
            for _ in range(2):
                path = self.path()
                recorder = subprocess.Popen([STROBE, "record", "-q", "-o", path, "--tracy", f"127.0.0.1:{port}"])
                for _ in range(60):
                    time.sleep(0.5)
                    if os.path.exists(path) and Trace(path).n("zone_end"):
                        break
                recorder.send_signal(signal.SIGINT)
                self.assertEqual(recorder.wait(60), 0)  # the machine may be busy
                trace = Trace(path)
                self.assertGreater(trace.n("zone_end"), 0)
                self.assertEqual(trace.clients[0]["tracy"]["unnamed"], 0)
                self.assertIsNone(client.poll())
        finally:
            client.kill()
            client.wait()

    def test_a_client_that_announces_itself_on_loopback_is_recorded(self):
        heard = 20000 + zlib.crc32(str(BUILD).encode()) % 8000  # others' recorders listen on Tracy's own port
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK", "-DTRACY_ONLY_LOCALHOST", f"-DTRACY_BROADCAST_PORT={heard}"))
        port, path = free_port(), self.path()
        recorder = subprocess.Popen([STROBE, "record", "-q", "-o", path, "--tracy-announced", f"loopback:{heard}", "--", "sleep", "8"])
        time.sleep(0.5)
        client = subprocess.Popen([program, "100", "1"], env={**os.environ, "TRACY_PORT": str(port), "TRACY_NO_EXIT": "1"},
                                  stdout=subprocess.DEVNULL)
        try:
            self.assertEqual(client.wait(7), 0)
        finally:
            client.kill()
            self.assertEqual(recorder.wait(20), 0)
        found = [c for c in Trace(path).clients if c["pid"] == client.pid]
        self.assertEqual([c["tracy"]["zones"] for c in found], [200])


class Iree(Peer):
    """IREE's own runtime, with its own capture program as the judge."""

    TURNS = 200

    def captured(self, python, module, capture, env):
        """Zones that IREE's capture counts for the same program."""
        port = str(free_port())
        program = subprocess.Popen([python, HERE / "iree_app.py", module, str(self.TURNS)],
                                   env={**env, "TRACY_PORT": port, "TRACY_NO_EXIT": "1"}, stderr=subprocess.DEVNULL)
        out = os.path.join(self.folder.name, "judge.tracy")
        done = subprocess.run([capture, "-a", "127.0.0.1", "-p", port, "-o", out, "-f"], capture_output=True, text=True, timeout=60)
        self.assertEqual(program.wait(30), 0)
        return int(re.search(r"Zones: ([\d,]+)", done.stdout).group(1).replace(",", ""))

    def check(self, version):
        python, module, capture = got("iree", version)
        env = {**os.environ, "IREE_PY_RUNTIME": "tracy", "TRACY_NO_SYS_TRACE": "1"}
        trace, _ = self.record(python, HERE / "iree_app.py", module, self.TURNS, env=env)
        self.assertEqual(trace.clients[0]["tracy"]["protocol"], IREE[version][2])
        self.assertEqual(trace.info["losses"], [])
        self.assertEqual(trace.n("zone_begin"), self.captured(python, module, capture, env))

    def test_iree_is_counted_as_its_own_capture_counts(self):
        for version in IREE:
            if ALL or version == "3.13.0":
                with self.subTest(iree=version):
                    self.check(version)


@unittest.skipUnless(ALL, "one of the full matrix")
class PyTracy(Peer):
    def test_functions_that_pytracy_traces_are_counted(self):
        python = got("pytracy")
        trace, _ = self.record(python, HERE / "pytracy_app.py")
        self.assertEqual(trace.clients[0]["tracy"]["protocol"], 69)
        leaf = [row for row in trace.rows("zones") if "leaf" in row]
        self.assertEqual(len(leaf), 300)


if __name__ == "__main__":
    peers_module.sys.path.insert(0, str(HERE))
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
