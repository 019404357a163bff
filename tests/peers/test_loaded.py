"""test_loaded.py BUILD [Class[.test]]: real clients of Tracy on a loaded machine, and what strangers do to a recorder.

Programs come from peers.py. STROBE_ALL_PEERS=1, `make test-peers`: more runs, longer stops.  SPDX-License-Identifier: MIT"""
import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs"))
import kernel  # noqa: E402
from test_peers import ALL, NEWEST, OLDER, STROBE, Peer, Trace, children, got  # noqa: E402

RUNS = 10 if ALL else 2
STOPPED_S = 12 if ALL else 4  # Tracy closes a connection that brings no greeting within 2 s
# tracefs, where it may be mounted, in mounts of the command's own
TRACED = "grep -q ' tracefs ' /proc/mounts || mount -t tracefs tracefs /sys/kernel/tracing; exec \"$@\""
EIGHT = 'for i in 1 2 3 4 5 6 7 8; do "$@" & done; wait'


@contextlib.contextmanager
def busy(n=8):
    """A machine with so much else to do."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def traced(command):
    return ["unshare", "-m", "--propagation", "private", "sh", "-c", TRACED, "sh", *command] if os.geteuid() == 0 else command


class Loaded(Peer):
    """Eight clients at once beside eight busy loops: all are recorded, all end, no one is given up."""

    def eight(self, tracing):
        program = got("c_client", NEWEST, tracing=True)
        with busy():
            for turn in range(RUNS):
                path = self.path()
                command = [str(w) for w in (STROBE, "record", "-q", "-o", path, "--", "sh", "-c", EIGHT, "sh", program, 300, 2)]
                done = subprocess.run(traced(command) if tracing else command, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                trace = Trace(path)
                self.assertEqual([c["tracy"]["zones"] for c in trace.clients], [1200] * 8, turn)
                self.assertEqual((trace.n("zone_end"), trace.info["losses"], trace.unrecorded), (8 * 1200, [], []), turn)
                if tracing and os.geteuid() == 0:
                    self.assertGreater(trace.n("sample"), 0)

    def test_eight_with_system_tracing_are_all_recorded(self):
        if not kernel.tracing_answers():
            self.skipTest("the kernel's tracing does not answer")
        self.eight(True)

    def test_eight_without_are_all_recorded(self):
        self.eight(False)

    def test_clients_of_an_older_protocol_among_them_are_recorded(self):
        newer, older = (got("c_client", version, flags=("-DTRACY_NO_CALLSTACK",)) for version in (NEWEST, OLDER))
        both = 'for i in 1 2 3 4; do "$1" 300 2 & "$2" 300 2 & done; wait'
        with busy():
            trace, _ = self.record("sh", "-c", both, "sh", newer, older)
        self.assert_whole(trace, 8 * 1200, 8)
        self.assertEqual(sorted(c["tracy"]["protocol"] for c in trace.clients), [69] * 4 + [82] * 4)


class Strangers(Peer):
    """A client or a recorder that stops, dies or starts at the worst moment. Each moment is tried: they are in the first tenth of a second."""

    MOMENTS = [i / 250 for i in range(0, 24, 1 if ALL else 3)]

    def start(self, *command, **more):
        path = self.path()
        recorder = subprocess.Popen([str(w) for w in (STROBE, "record", "-q", "-o", path, "--", *command)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(recorder.kill)
        return recorder, path

    def child(self, recorder):
        while not children(recorder.pid):
            self.assertIsNone(recorder.poll())
        return children(recorder.pid)[0]

    def finish(self, recorder, code=0):
        _, said = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, code, said)

    def all_moments(self, one):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(one, self.MOMENTS))

    def test_a_client_that_stops_in_its_handshake_is_recorded_when_it_goes_on(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))

        def one(moment):
            recorder, path = self.start(program, 300, 2)
            client = self.child(recorder)
            time.sleep(moment)
            with contextlib.suppress(ProcessLookupError):
                os.kill(client, signal.SIGSTOP)
                time.sleep(3)
                os.kill(client, signal.SIGCONT)
            self.finish(recorder)
            self.assert_whole(Trace(path), 1200)

        self.all_moments(one)

    def test_a_client_that_is_killed_in_its_handshake_ends_the_recording(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))

        def one(moment):
            recorder, path = self.start(program, 300, 2, "sleep", 3000)
            client = self.child(recorder)
            time.sleep(moment)
            os.kill(client, signal.SIGKILL)
            self.finish(recorder, 128 + signal.SIGKILL)
            Trace(path)

        self.all_moments(one)

    def test_a_recorder_that_stops_while_a_client_begins_records_it_when_it_goes_on(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))

        def one(moment):
            recorder, path = self.start(program, 300, 2)
            self.child(recorder)
            time.sleep(moment)
            os.kill(recorder.pid, signal.SIGSTOP)
            time.sleep(STOPPED_S)
            os.kill(recorder.pid, signal.SIGCONT)
            self.finish(recorder)
            self.assert_whole(Trace(path), 1200)

        self.all_moments(one)

    def test_a_program_that_ends_while_the_recorder_is_stopped_is_complete(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",), name="until_eof")
        recorder, path = self.start(program, stdin=subprocess.PIPE)
        recorder.stdout.readline()  # it runs, and its client is connected or will be
        time.sleep(0.5)
        os.kill(recorder.pid, signal.SIGSTOP)
        recorder.stdin.close()
        recorder.stdin = None
        time.sleep(STOPPED_S)
        os.kill(recorder.pid, signal.SIGCONT)
        self.finish(recorder)
        trace = Trace(path)
        self.assertEqual(len(trace.clients), 1)
        self.assertEqual(trace.n("zone_begin"), trace.n("zone_end"))
        self.assertEqual((trace.clients[0]["tracy"]["zones"], trace.info["losses"], trace.unrecorded), (trace.n("zone_end"), [], []))

    def test_a_client_that_a_program_forks_is_recorded(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK",))
        forks = f"import os, subprocess; p = [subprocess.Popen([{str(program)!r}, '300', '2']) for _ in range(3)]; [x.wait() for x in p]"
        trace, _ = self.record(sys.executable, "-c", forks)
        self.assert_whole(trace, 3 * 1200, 3)

    def test_a_client_on_demand_is_recorded_from_the_connection_on(self):
        program = got("c_client", NEWEST, flags=("-DTRACY_NO_CALLSTACK", "-DTRACY_ON_DEMAND"))
        recorder, path = self.start(program, 0, 1, "endless")
        client = self.child(recorder)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (os.path.exists(path) and Trace(path).n("zone_end") > 100):
            time.sleep(0.3)
        os.kill(client, signal.SIGTERM)
        self.finish(recorder, 128 + signal.SIGTERM)
        trace = Trace(path)
        self.assertEqual(len(trace.clients), 1)
        self.assertGreater(trace.n("zone_end"), 100)
        self.assertEqual((trace.info["losses"], trace.unrecorded), ([], []))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
