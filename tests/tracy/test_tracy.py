#!/usr/bin/env python3
"""test_tracy.py BUILD [CLASS]: Tracy's protocol, the server's side, against stand-in clients on loopback."""
import collections
import csv
import io
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import judge                                    # noqa: E402
import standin                                  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent.parent / "build"
RECORDINGS = sorted(p.relative_to(HERE / "data").with_suffix("") for p in (HERE / "data").rglob("*.c2s"))
SAME = ("--clock", "same", "--past")            # recorded ticks are no ticks of this machine
ALL_PROTOCOLS = range(56, 83)


def free_port():
    """A port that nobody has, for programs that must be told one."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class TracyTest(unittest.TestCase):
    """Records with tracy_probe."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="strobe-tracy-")
        self.addCleanup(self.folder.cleanup)

    def record(self, *args, timeout=60):
        """Run the probe; (its lines about clients, the trace)."""
        out = pathlib.Path(self.folder.name) / "out.strobe"
        done = subprocess.run([BUILD / "bin" / "tracy_probe", out, *map(str, args)], capture_output=True, text=True,
                              timeout=timeout, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), judge.Judge(out)

    def play(self, name, *args, pieces="whole", misbehave=""):
        """Play a recording to the probe."""
        player = standin.Player(standin.Recording(HERE / "data" / name), pieces, misbehave=misbehave)
        player.start()
        lines, trace = self.record(*args, player.port)
        player.join(20)
        return player, lines, trace


def table(name, kind):
    """What Tracy's csvexport printed of a recording."""
    return HERE.parent / "tracy_files" / "data" / f"{name}.{kind}.csv"


def csv_zones(name):
    """(start, duration) of every row of X.unwrap.csv; texts with newlines break rows there."""
    rows = [line.split(",") for line in table(name, "unwrap").read_text().splitlines()[1:]]
    return collections.Counter((int(row[3]), int(row[4])) for row in rows if len(row) > 5 and row[2].isdigit())


def trace_zones(trace):
    """The same of a trace."""
    return collections.Counter((trace.ns(z[0], z[4]), trace.ns(z[0], z[5]) - trace.ns(z[0], z[4])) for z in trace.zones)


class Recordings(TracyTest):
    """Every recording gives the zones that Tracy's own tools printed, to the nanosecond."""

    def check(self, pieces, *args):
        for name in RECORDINGS:
            with self.subTest(name=str(name), pieces=pieces):
                player, lines, trace = self.play(name, *args, pieces=pieces)
                self.assertEqual(trace_zones(trace), csv_zones(name))
                self.assertEqual(trace.open, [])
                self.assertTrue(player.ended, "the client was not told to end")
                self.assertRegex(lines[0], "done .* aside 0 unnamed 0")
                self.assertEqual(trace.notes, [])
                self.assertFalse(trace.losses())

    def test_in_whole_frames(self):
        self.check("whole", *SAME)

    def test_in_random_pieces(self):
        self.check("random", *SAME)

    def test_in_recorded_pieces(self):
        self.check("recorded", *SAME)

    def test_byte_by_byte_on_another_machines_clock(self):
        self.check("byte", "--clock", "auto")

    def test_on_a_clock_slower_than_the_traces(self):
        self.check("whole", "--clock", "own", "--mhz", "3100")

    def test_messages_have_their_times(self):
        for name in ("v0.14.0/rich", "v0.14.0/rich_cs", "v0.11.1/rich", "v0.11.1/rich_od"):
            _, _, trace = self.play(name, "--clock", "own")
            said = collections.Counter((e[5][2].decode(), trace.ns(e[0], e[4])) for e in trace.events if e[2] == "message")
            rows = re.findall(r"^(.*),(\d+)$", table(name, "messages").read_text(), re.M)
            self.assertEqual(said, collections.Counter((text, int(ns)) for text, ns in rows), name)


class Tables(TracyTest):
    """What csvexport prints of a live session is what Tracy's own printed of it, whatever the clock."""

    def export(self, *options):
        out = pathlib.Path(self.folder.name) / "out.strobe"
        return subprocess.run([BUILD / "bin" / "tracy-csvexport", "--flavor", "0.14", *options, out], capture_output=True,
                              text=True, check=True).stdout

    def test_of_recordings(self):
        for name in RECORDINGS:
            for clock in (SAME, ("--clock", "auto")):
                with self.subTest(name=str(name), clock=clock):
                    self.play(name, *clock)
                    rows = list(csv.reader(io.StringIO(self.export("-u"))))[1:]
                    self.assertEqual(collections.Counter((int(r[3]), int(r[4])) for r in rows), csv_zones(name))
                    messages = table(name, "messages")
                    if messages.exists():
                        self.assertEqual(sorted(self.export("-m").splitlines()), sorted(messages.read_text().splitlines()))


class Command(TracyTest):
    """The same by `strobe record --tracy`, clients one by one."""

    def test_recordings_by_record_and_csvexport(self):
        for name in RECORDINGS:
            with self.subTest(name=str(name)):
                player = standin.Player(standin.Recording(HERE / "data" / name), "random")
                player.start()
                out = pathlib.Path(self.folder.name) / "out.strobe"
                subprocess.run([BUILD / "bin" / "strobe", "record", "--tracy", f"127.0.0.1:{player.port}", "-o", out],
                               capture_output=True, timeout=60, check=True)
                table = subprocess.run([BUILD / "bin" / "tracy-csvexport", "-u", out], capture_output=True, text=True,
                                       check=True).stdout
                rows = list(csv.reader(io.StringIO(table)))[1:]
                self.assertEqual(collections.Counter((int(r[3]), int(r[4])) for r in rows), csv_zones(name))
                self.assertTrue(player.ended)


class Noticed(TracyTest):
    """Clients of which a shim tells, below `strobe record`."""

    def notice(self, n, *options):
        """`n` stand-ins at once; (the trace's info, what each printed)."""
        out = pathlib.Path(self.folder.name) / "out.strobe"
        one = [sys.executable, HERE / "fake_client.py", HERE / "session_example.json", "--port", "0", "--protocol", "82", "--notice",
               *options]
        record = subprocess.Popen([BUILD / "bin" / "strobe", "record", "-q", "-o", out, "--", "sh", "-c",
                                   f'for i in $(seq {n}); do "$@" & done; wait', "sh", *one],
                                  stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            printed, _ = record.communicate(timeout=90)
        except subprocess.TimeoutExpired:
            os.killpg(record.pid, signal.SIGKILL)
            raise
        self.assertEqual(record.returncode, 0)
        info = subprocess.run([BUILD / "bin" / "strobe", "info", "--json", out], capture_output=True, text=True, check=True)
        return json.loads(info.stdout), printed

    def assert_all(self, n, info):
        script = json.loads((HERE / "session_example.json").read_text())
        zones = sum(count_zones(t.get("zones", [])) for t in script["threads"])
        self.assertEqual(info["unrecorded"], [])
        self.assertEqual([p["tracy"]["zones"] for p in info["processes"] if "tracy" in p], [zones] * n)

    def test_clients_that_close_the_first_connections_are_recorded(self):
        info, printed = self.notice(8, "--shut-out", "3")
        self.assert_all(8, info)
        self.assertEqual(printed.count("ended properly"), 8)

    def test_a_client_hears_whether_the_recorder_comes(self):
        info, printed = self.notice(1)
        self.assert_all(1, info)
        self.assertIn("notice yyn", printed)


class Families(TracyTest):
    """Every family of events is there, counted as the program made them."""

    def families(self, name):
        _, _, self.trace = self.play(name, *SAME, pieces="random")
        return collections.Counter(e[2] for e in self.trace.events)

    def named(self, kind, field=0):
        """Counts of a kind by the string that a field names; "" is the unnamed one."""
        return collections.Counter(self.trace.strings.get((e[0], e[5][field]), "") for e in self.trace.events if e[2] == kind)

    def test_rich_of_0_14(self):
        count = self.families("v0.14.0/rich")
        self.assertEqual(self.named("frame"), {"": 21, "named frame": 10})
        self.assertEqual(self.named("frame_start"), {"sub frame": 20})
        self.assertEqual(self.named("frame_end"), {"sub frame": 20})
        self.assertEqual(self.named("alloc"), {"": 20, "pool A": 20, "arena": 3})
        self.assertEqual(self.named("free"), {"": 10, "pool A": 15})
        self.assertEqual(self.named("discard"), {"arena": 1})
        plots = self.named("plot_int") + self.named("plot_double")
        self.assertEqual({k: v for k, v in plots.items() if k != "CPU usage"},
                         {"plot int": 20, "plot mem": 20, "plot pct": 20, "plot double": 20})
        self.assertEqual(sum(e[5][1] for e in self.trace.events
                             if e[2] == "plot_int" and self.trace.strings[e[0], e[5][0]] == "plot int"), 2470)
        self.assertEqual((count["lock_wait"], count["lock_obtain"], count["lock_release"], count["lock_mark"]), (80, 80, 80, 40))
        names = {r.fields[0]: r.fields[2] or self.trace.name((r.proc, r.fields[1])) for r in self.trace.of("lock_name")}
        shared = collections.Counter((names[e[5][0]], e[5][1]) for e in self.trace.events if e[2] == "lock_obtain")
        self.assertEqual(shared, {("rich mutex", 0): 40, ("rich shared mutex", 0): 8, ("rich shared mutex", 1): 32})
        self.assertEqual((count["gpu_begin"], count["gpu_end"], count["gpu_time"]), (60, 60, 120))
        self.assertEqual((count["gpu_calibration"], count["gpu_sync"], count["frame_image"], count["app_info"]), (2, 1, 1, 2))
        self.assertEqual({r.fields[0]: r.fields[1] for r in self.trace.of("gpu_name")}, {0: b"gpu ctx zero", 1: b"gpu ctx one"})
        self.assertEqual({r.fields[0]: r.fields[1:3] for r in self.trace.of("gpu_context")}, {0: [1, 0], 1: [2, 1]})
        image = next(e for e in self.trace.events if e[2] == "frame_image")
        self.assertEqual((image[5][1:3], len(image[5][4])), ([16, 16], 128))
        sections = [(e[5][1], e[5][2]) for e in self.trace.events if e[2] == "section_enter"]
        self.assertEqual(sorted(sections), [(0, b"plain section"), (3, b"section 1")])
        self.assertEqual(count["section_leave"], 2)
        self.assertEqual([r.fields for r in self.trace.of("section_name")], [[3, b"my category"]])

    def test_messages_and_texts_of_0_14(self):
        self.families("v0.14.0/rich")
        said = collections.Counter((e[5][0], e[5][1], re.sub(r"\d+", "N", e[5][2].decode()))
                                   for e in self.trace.events if e[2] == "message")
        self.assertEqual(said[2, 0, "literal message"], 20)
        self.assertEqual(said[2, 0xff8800, "literal colored"], 20)
        self.assertEqual(said[2, 0x0088ff, "colored dynamic N"], 20)
        self.assertEqual(said[2, 0, "dynamic message N from worker N"], 40)
        self.assertEqual(said[3, 0, "warning literal"], 1)
        self.assertEqual(said[4, 0xff0000, "error dynamic"], 1)
        renamed = collections.Counter(value for z in self.trace.zones for what, value in z[6]
                                      if what == "zone_name" and value.startswith(b"level2"))
        self.assertEqual(renamed, {b"level2-renamed-0": 21, b"level2-renamed-1": 21, b"level2-renamed-2": 18})
        names = collections.Counter(self.trace.name(z[3]) for z in self.trace.zones)
        self.assertEqual(names, {"level1": 60, "level2": 60, "level3": 60, "level4": 60, "level5": 120, "dyn_func_0": 10,
                                 "dyn_func_2": 10, "worker 1": 10, "worker 2": 10})
        threads = {self.trace.thread_names[z[:2][0], z[1]] for z in self.trace.zones}
        self.assertEqual(threads, {"Main thread", "worker 1", "worker 2"})

    def test_fibers(self):
        for release in ("v0.11.1", "v0.14.0"):
            count = self.families(f"{release}/rich_fib")
            self.assertEqual((count["fiber_enter"], count["fiber_leave"]), (12, 12))
            inside = collections.Counter((self.trace.name(z[3]), self.trace.fibers[z[0], z[2]])
                                         for z in self.trace.zones if z[2])
            self.assertEqual(sum(inside.values()), 8)
            self.assertEqual({name for name, _ in inside}, {"in fiber one", "in fiber two"})

    def test_call_stacks(self):
        for release in ("v0.11.1", "v0.14.0"):
            self.families(f"{release}/rich_cs")
            self.assertEqual(sum(1 for z in self.trace.zones if z[9]), 3)
            stacks = collections.Counter(e[2] for e in self.trace.events if e[7])
            self.assertEqual(stacks, {"message": 3, "alloc": 3, "free": 3})
            symbols = {r.fields[0] for r in self.trace.of("symbol")}
            used = {a for z in self.trace.zones for a in z[9] or ()}
            self.assertTrue(used & symbols)

    def test_older_clients(self):
        for name in ("p63/rs", "p66/rs"):
            count = self.families(name)
            self.assertEqual((count["frame"], count["plot_double"], count["message"]), (100, 100, 2))
        self.families("p72/iree")
        self.assertEqual((self.named("alloc").total(), self.named("free").total()), (150, 150))
        self.assertEqual(self.named("plot_double")["iree-executor-0"], 27)


def count_zones(zones):
    """Zones of a script, children too."""
    return sum(1 + count_zones(z.get("children", [])) for z in zones)


class Protocols(TracyTest):
    """The scripted stand-in at every number."""

    def fake(self, *args, probe=(), code=0, timeout=60, script=HERE / "session_example.json"):
        """Run the stand-in and the probe; (its exit code checked, lines, trace)."""
        port = free_port()
        client = subprocess.Popen([sys.executable, HERE / "fake_client.py", script, "--port", str(port), *args],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            lines, trace = self.record(*probe, port, timeout=timeout)
            self.said = client.communicate(timeout=timeout)[0]
        finally:
            client.kill()
            client.wait()
        self.assertEqual(client.returncode, code, self.said)
        return lines, trace

    def check(self, trace):
        script = json.loads((HERE / "session_example.json").read_text())
        self.assertEqual(len(trace.zones), sum(count_zones(t.get("zones", [])) for t in script["threads"]))
        first = min(trace.ns(z[0], z[4]) for z in trace.zones)
        self.assertEqual(first, 1000)
        count = collections.Counter(e[2] for e in trace.events)
        self.assertEqual(count["message"], 4)
        self.assertEqual(count["frame"], 6)
        self.assertEqual(count["plot_int"] + count["plot_double"], 5)
        self.assertEqual(count["alloc"], 5)
        self.assertEqual(count["lock_obtain"], count["lock_release"])
        self.assertIn("laden – 読み込み", {trace.name(z[3]) for z in trace.zones})
        self.assertFalse(trace.losses())

    def test_every_number_is_understood(self):
        for protocol in ALL_PROTOCOLS:
            with self.subTest(protocol=protocol):
                lines, trace = self.fake("--protocol", str(protocol), probe=("--protocol", protocol))
                self.assertRegex(lines[0], f"client {protocol} done .* unnamed 0")
                self.check(trace)

    def test_the_number_is_found_by_trying(self):
        lines, trace = self.fake("--protocol", "66")
        self.assertRegex(lines[0], "client 66 done")
        self.check(trace)

    def many_names(self, n, width):
        """A client with n locations, their names `width` bytes long."""
        locations = {str(i): {"name": f"name {i} " + "x" * width, "function": f"function {i} " + "y" * width,
                              "file": f"file{i % 100}.c", "line": i} for i in range(n)}
        zones = [{"loc": str(i), "start": 1000 + 10 * i, "end": 1005 + 10 * i} for i in range(n)]
        script = pathlib.Path(self.folder.name) / "many.json"
        script.write_text(json.dumps({"locations": locations, "threads": [{"id": 5, "name": "m", "zones": zones}]}))
        _, trace = self.fake("--protocol", "82", probe=("--protocol", 82), script=script)
        self.assertEqual(len(trace.zones), n)
        for zone in trace.zones:
            i = (trace.ns(zone[0], zone[4]) - 1000) // 10
            line, _, function, file, name = trace.locs[zone[3]]
            self.assertEqual((line, file, function[:12], name[:8]),
                             (i, b"file%d.c" % (i % 100), (b"function %d " % i + b"y" * width)[:12], (b"name %d " % i + b"x" * width)[:8]))
            self.assertEqual((len(function), len(name)), (len(f"function {i} ") + width, len(f"name {i} ") + width))

    def test_more_locations_than_tracy_can_hold(self):
        self.many_names(34000, 10)

    def test_more_names_than_the_budget_holds(self):
        self.many_names(15000, 700)

    def test_a_client_that_is_busy_is_left_alone(self):
        port = free_port()
        client = subprocess.Popen([sys.executable, HERE / "fake_client.py", HERE / "session_example.json", "--port", str(port),
                                   "--busy-first", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines, _ = self.record("--protocol", 69, port)
        client.kill()
        client.wait()
        self.assertRegex(lines[0], "client 69 unavailable")

    def test_on_demand(self):
        _, trace = self.fake("--on-demand", "--protocol", "82", probe=("--protocol", 82))
        self.check(trace)

    def test_single_bytes_and_small_frames(self):
        _, trace = self.fake("--byte-writes", "--frame-bytes", "200", "--protocol", "74", probe=("--protocol", 74))
        self.check(trace)


class Endings(Protocols):
    """What hangs Tracy's own server ends well here."""

    test_every_number_is_understood = test_the_number_is_found_by_trying = None
    test_more_locations_than_tracy_can_hold = test_more_names_than_the_budget_holds = None
    test_a_client_that_is_busy_is_left_alone = test_on_demand = test_single_bytes_and_small_frames = None

    def test_exit_inside_a_zone(self):
        began = time.monotonic()
        lines, trace = self.fake("--exit-in-zone", "--protocol", "82", probe=("--protocol", 82))
        self.assertLess(time.monotonic() - began, 5)
        self.assertRegex(lines[0], "client 82 done")
        self.assertEqual(len(trace.open), 1)

    def test_queries_that_are_never_answered(self):
        for mute in ("SourceLocation", "String", "ThreadString"):
            with self.subTest(mute=mute):
                began = time.monotonic()
                lines, trace = self.fake("--mute", mute, "--protocol", "69", probe=("--protocol", 69))
                self.assertLess(time.monotonic() - began, 6)
                self.assertRegex(lines[0], "client 69 done")
                self.assertNotRegex(lines[0], "unnamed 0")
                self.assertEqual(len(trace.zones), 8)
                self.assertTrue(any("never told" in note for note in trace.notes))

    def test_death_midway(self):
        lines, trace = self.fake("--die-after", "700", "--frame-bytes", "200", "--protocol", "66", probe=("--protocol", 66), code=2)
        self.assertRegex(lines[0], "client 66 done")
        self.assertTrue(trace.zones)
        self.assertTrue(any("inside a frame" in note for note in trace.notes))

    def test_no_goodbye(self):
        lines, trace = self.fake("--no-terminate", "--protocol", "56", probe=("--protocol", 56), code=2)
        self.assertRegex(lines[0], "client 56 done")
        self.assertEqual(len(trace.zones), 8)
        self.assertTrue(any("did not say that it ends" in note for note in trace.notes))

    def test_we_end_it(self):
        for protocol in (65, 82):
            began = time.monotonic()
            lines, trace = self.fake("--linger", "20", "--protocol", str(protocol),
                                     probe=("--protocol", protocol, "--stop-after", 500))
            self.assertLess(time.monotonic() - began, 5)
            self.assertIn("'Disconnect': 1", self.said)
            self.check(trace)

    def test_a_peer_that_is_no_tracy_client(self):
        listener = socket.create_server(("127.0.0.1", 0))

        def answer():
            sock, _ = listener.accept()
            sock.recv(12)
            sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            sock.close()
        threading.Thread(target=answer, daemon=True).start()
        lines, _ = self.record("--protocol", 82, listener.getsockname()[1])
        listener.close()
        self.assertRegex(lines[0], "broken .*does not speak")

    def test_a_recording_whose_locations_are_never_told(self):
        player, lines, trace = self.play("v0.14.0/rich", *SAME, misbehave="SourceLocation")
        self.assertTrue(player.ended)
        self.assertEqual(trace_zones(trace), csv_zones("v0.14.0/rich"))
        self.assertTrue(any("never told" in note for note in trace.notes))

    def test_many_clients_share_a_trace(self):
        players = [standin.Player(standin.Recording(HERE / "data" / name), "random", seed) for seed, name in enumerate(RECORDINGS)]
        for player in players:
            player.start()
        _, trace = self.record(*SAME, *[player.port for player in players], timeout=120)
        by_protocol = {proc: fields[0] for proc, fields in trace.clients.items()}
        self.assertEqual(len(by_protocol), len(RECORDINGS))
        zones = collections.Counter((trace.ns(z[0], z[4]), trace.ns(z[0], z[5]) - trace.ns(z[0], z[4])) for z in trace.zones)
        self.assertEqual(zones, sum((csv_zones(name) for name in RECORDINGS), collections.Counter()))


ENOUGH_MESSAGES = 200   # to judge a clock by


class DriftingClient(threading.Thread):
    """A client whose clock has an offset and a drift; messages carry the true time as text. It lives for so many seconds, and longer
    where the machine is too busy to let it say enough in that time."""

    def __init__(self, drift, on_demand, seconds, backlog=0, mul=1.0):
        super().__init__(daemon=True)
        self.drift, self.on_demand, self.seconds, self.backlog, self.mul = drift, on_demand, seconds, backlog, mul
        self.number = {name: i for i, (name, _) in enumerate(standin.table(82))}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.zero = time.monotonic_ns()

    def raw(self, ns):
        """The client's clock at a time."""
        return int(((ns - self.zero) * (1 + self.drift) + 123_456_789_012_345) / self.mul)

    def message(self, ns):
        """One message that says when it was."""
        text = str(ns).encode()
        return (bytes([self.number["SingleStringData8"], len(text)]) + text +
                bytes([self.number["Message"]]) + struct.pack("<qB", self.raw(ns), 0x20))

    def run(self):
        sock, _ = self.listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.recv(12)
        begin = self.raw(self.zero)
        welcome = struct.pack("<dqq", self.mul, begin, begin + 1) + bytes(40) + bytes([int(self.on_demand)])
        sock.sendall(b"\1" + welcome.ljust(1170, b"\0"))
        if self.on_demand:
            sock.sendall(struct.pack("<QQ", 0, self.raw(time.monotonic_ns())))
        packer = standin.Packer()
        now = time.monotonic_ns()
        for i in range(self.backlog):
            sock.sendall(packer.pack(self.message(now - (self.backlog - i) * 1_000_000)))
        n_sent = 0
        while time.monotonic_ns() - now < self.seconds * 1e9 or n_sent < ENOUGH_MESSAGES:
            sock.sendall(packer.pack(b"".join(self.message(time.monotonic_ns()) for _ in range(3))))
            n_sent += 3
            time.sleep(0.004)
        sock.sendall(packer.pack(bytes([self.number["Terminate"]])))
        sock.settimeout(5)
        try:
            while sock.recv(65536):
                pass
        except OSError:
            pass
        sock.close()
        self.listener.close()


class Clocks(TracyTest):
    """Times of a client with a clock of its own are within the error that is stated for them."""

    def check(self, most_ns, **how):
        client = DriftingClient(**how)
        client.start()
        lines, trace = self.record("--protocol", 82, client.port)
        self.assertRegex(lines[0], "own 1")
        ns_per_tick, inside, errors = 1000 / 2300, 0, []
        proc = next(iter(trace.clients))
        messages = [e for e in trace.events if e[2] == "message"]
        self.assertGreaterEqual(len(messages), ENOUGH_MESSAGES)
        for event in messages:
            true_ns = int(event[5][2])
            self.assertEqual(event[4], client.raw(true_ns))     # its own time is exact
            off = abs(event[3] * ns_per_tick - true_ns)
            stated = trace.clocks[proc].error(event[3])
            inside += off <= stated
            errors.append(stated)
        self.assertGreaterEqual(inside / len(messages), 0.99, how)
        self.assertLess(sorted(errors)[len(errors) // 2], most_ns, how)

    def test_drift_is_followed(self):
        for drift in (0, 100e-6, -400e-6):
            self.check(250e6, drift=drift, on_demand=False, seconds=3)

    def test_on_demand_clients_tell_the_time(self):
        self.check(250e6, drift=50e-6, on_demand=True, seconds=2)

    def test_a_backlog_is_waited_for(self):
        self.check(250e6, drift=-50e-6, on_demand=False, seconds=2, backlog=400)

    def test_a_clock_faster_than_the_traces(self):
        self.check(250e6, drift=200e-6, on_demand=False, seconds=2, mul=0.2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
