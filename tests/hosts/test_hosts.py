"""test_hosts.py BUILD CLASS...: recordings of several hosts on one axis, and what is said of their clocks.

Hosts are network namespaces of this machine, so that all have one true clock, and the test build of the command gives each another
one: offsets of seconds, drifts of 100 ppm, steps. Every zone carries the true tick at which it began; where the merged trace has it
is compared with that. The second reader reads the merged trace. SPDX-License-Identifier: MIT"""
import bisect
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reader"))
from strobe_reader import Trace  # noqa: E402

BUILD = None
PORT = 7400
KEY = "a key that is only good for tests"
LONG = int(os.environ.get("STROBE_HOSTS_SECONDS", "60"))


def ip(*words):
    return subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)


class Skew:
    """A host's counter as a function of the true one: skewed_ticks.c."""

    def __init__(self, zero, hz, path, offset_s=0.0, ppm=0.0, step_s=0.0):
        self.zero, self.offset, self.ppm, self.step, self.at, self.path = zero, int(offset_s * hz), ppm, int(step_s * hz), 0, path
        path.write_bytes(bytes(4096))

    def __str__(self):
        return f"{self.zero}:{self.offset}:{self.ppm}:{self.step}:{self.path}"

    def step_from(self, real):
        """It is stepped then, which is later."""
        self.at = real
        with open(self.path, "r+b", buffering=0) as file:
            file.write(struct.pack("<q", real))

    def of(self, real):
        return real + self.offset + int((real - self.zero) * self.ppm / 1e6) + (self.step if self.at and real >= self.at else 0)


class Hosts(unittest.TestCase):
    """A network of namespaces; recordings in them."""

    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("ip"):
            self.skip("network namespaces need root and ip")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-hosts-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.bin = pathlib.Path(BUILD) / "bin"
        self.running = {}
        self.addCleanup(self.end)
        self.zero, self.hz = self.now()
        self.skews = {}

    def skip(self, why):
        print(f"skipped: {why}")
        raise unittest.SkipTest(why)

    def now(self):
        """A true tick, a moment ago, and how many there are in a second."""
        tick, hz = subprocess.run([self.bin / "hosts_emitter"], capture_output=True, text=True, check=True).stdout.split()
        return int(tick), float(hz)

    def step(self, host):
        """Step its clock in a second; wait until that was, and until clocks were compared again."""
        at = self.now()[0] + int(1.5 * self.hz)
        self.skews[host].step_from(at)
        self.wait_until(lambda: self.now()[0] > at, "a second goes by")
        self.wait_for(host, self.exchanges(host) + 7)

    def name(self, host):
        return f"strobe-{os.getpid()}-{host}"

    def net(self, *links):
        """A namespace for each host, a link for each pair: net('ab', 'ac'). The n-th link has the addresses 10.77.n.1 and 2."""
        for host in sorted(set("".join(links))):
            made = ip("netns", "add", self.name(host))
            if made.returncode:
                self.skip(f"no network namespaces here: {made.stderr.strip()}")
            self.addCleanup(ip, "netns", "del", self.name(host))
            ip("-n", self.name(host), "link", "set", "lo", "up")
        for number, (one, other) in enumerate(links):
            ends = [f"st{number}{host}{os.getpid()}"[:15] for host in (one, other)]
            made = ip("-n", self.name(one), "link", "add", ends[0], "type", "veth", "peer", "name", ends[1], "netns", self.name(other))
            if made.returncode:
                self.skip(f"no veth here: {made.stderr.strip()}")
            for index, host in enumerate((one, other)):
                ip("-n", self.name(host), "addr", "add", f"10.77.{number}.{index + 1}/24", "dev", ends[index])
                ip("-n", self.name(host), "link", "set", ends[index], "up")

    def record(self, host, *options, key=KEY, board="", **skew):
        """A recording in a host's namespace, until stop() is called for it."""
        self.skews[host] = Skew(self.zero, self.hz, self.folder / f"step-{host}", **skew)
        session = self.folder / f"session-{host}"
        session.mkdir(mode=0o700)
        env = {**os.environ, "STROBE_DIR": str(session), "STROBE_SAMPLE": "0", "STROBE_CLOCK_KEY": key, "STROBE_TEST_TICKS": str(self.skews[host]),
               "STROBE_TEST_BOARD": f"{board}:{self.folder / 'board'}" if board else ""}
        command = [self.bin / "strobe_skewed", "record", "-o", self.file(host), *options, "--", self.bin / "hosts_emitter", self.folder / f"stop-{host}"]
        self.running[host] = subprocess.Popen(["ip", "netns", "exec", self.name(host), *map(str, command)], env=env,
                                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if len(self.running) == 1:  # the first one is the longest, so that the result has its clock
            self.wait_until(lambda: self.info(host).get("processes"), f"{host} records")

    def file(self, host):
        return self.folder / f"{host}.strobe"

    def stop(self, host):
        """Its emitter ends, and the recording with it; what it said."""
        (self.folder / f"stop-{host}").touch()
        said = self.running[host].communicate(timeout=120)[1]
        self.assertEqual(self.running.pop(host).returncode, 0, said)
        return said

    def end(self):
        """Nothing of a failed test goes on."""
        for host in list(self.running):
            (self.folder / f"stop-{host}").touch()
        for process in self.running.values():
            process.communicate()

    def info(self, host):
        """What its file says by now; {}: it is not there yet."""
        done = subprocess.run([self.bin / "strobe", "info", "--json", self.file(host)], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def wait_until(self, holds, what):
        until = time.monotonic() + 100
        while not holds():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.1)

    def exchanges(self, host):
        """How often it has compared clocks so far, by what its file has."""
        return sum(peer["exchanges"] for peer in self.info(host).get("peers", []))

    def wait_for(self, host, count):
        self.wait_until(lambda: self.exchanges(host) >= count, f"{host} compares clocks {count} times")

    def merge(self, *hosts):
        out = self.folder / "merged.strobe"
        done = subprocess.run([self.bin / "strobe", "merge", "-o", out, *(self.file(host) for host in hosts)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out, done.stdout

    def owner(self, trace):
        """{proc: host}, by the notes that say which file a process comes from."""
        notes = [record.fields for record in trace.records if record.name == "note" and record.fields[1].startswith(b"from ")]
        return {proc: pathlib.Path(text.decode()[5:]).stem for proc, text in notes}

    def compare(self, out, base):
        """Rows (host, distance from the truth, likely, proven, is_step), in ns, of all zones of hosts whose clock was compared."""
        trace, begun, rows = Trace(str(out)), {}, []
        owner, skew = self.owner(trace), self.skews[base]
        ns = 1e9 / (self.hz * (1 + skew.ppm / 1e6))
        errors = {}
        for record in trace.records:
            if record.name == "clock_placed":
                errors.setdefault(record.fields[0], []).append(record.fields)
        for event in trace.events():
            key = event.proc, event.track
            if event.kind == 63:
                begun[key] = [event.tick]
            elif event.kind == 6:
                begun[key].append(event.fields[0])
            elif event.kind == 4:
                tick, before = begun[key]
                low, high = skew.of(before), skew.of(before + int(event.fields[0]))
                off = max(low - tick, tick - high, 0) * ns
                how, likely, proven, is_step = self.error_at(errors, event.proc, tick)
                if how < 4:
                    rows.append((owner.get(event.proc), off, likely, proven, is_step))
        return rows

    @staticmethod
    def error_at(errors, proc, tick):
        """(how, likely, proven, whether a step lies between the two comparisons) at a tick."""
        rows = next(rows for rows in errors.values() if rows[0][0] <= proc < rows[0][0] + rows[0][1])
        i = max(0, bisect.bisect_right([row[3] for row in rows], tick) - 1)
        return rows[i][2], rows[i][4], rows[i][5], i > 0 and rows[i][6] > rows[i - 1][6]

    def check(self, rows, hosts):
        """All within what is proven; (share within the likely bound, the most that is proven) by host."""
        shares = {}
        for host in hosts:
            mine = [row for row in rows if row[0] == host]
            self.assertGreater(len(mine), 10, host)
            wrong = [row for row in mine if row[1] > row[3]]
            self.assertEqual(wrong[:3], [], f"{host}: {len(wrong)} of {len(mine)} outside of the proven bound")
            steady = sorted(row[3] for row in mine if not row[4])
            shares[host] = sum(row[1] <= row[2] for row in mine) / len(mine), steady[-1]
            print(f"{host}: {len(mine)} zones, off by {sum(row[1] for row in mine) / len(mine):.0f} ns on average, {max(row[1] for row in mine):.0f} at most; "
                  f"within the likely bound {shares[host][0]:.4f}; proven {steady[0]} to {steady[-1]} ns, the median {steady[len(steady) // 2]}")
        return shares

    def whole(self, out, hosts):
        """Nothing was lost on the way, and the merged file is as the document says."""
        reader = [sys.executable, "-B", HERE.parent / "reader" / "strobe_reader.py", out, "--check", "--closed"]
        done = subprocess.run(reader, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        count = "SELECT count(*) FROM zone"
        counts = [int(subprocess.run([self.bin / "strobe", "query", "--format", "csv", path, count], capture_output=True, text=True).stdout.split()[-1])
                  for path in [out, *(self.file(host) for host in hosts)]]
        self.assertEqual(counts[0], sum(counts[1:]))


class Three(Hosts):
    """Three hosts whose clocks are seconds apart and drift by 100 ppm; one is known by way of another."""

    def test_true_times_are_within_the_proven_bound(self):
        self.net("ab", "bc")
        self.record("a", "--listen", f"10.77.0.1:{PORT}", offset_s=3)
        self.record("b", "--peer", f"10.77.0.1:{PORT}", "--listen", f"10.77.1.1:{PORT}", offset_s=-7, ppm=100, board="get")
        self.record("c", "--peer", f"10.77.1.1:{PORT}", offset_s=11, ppm=-100, board="send")
        self.wait_for("b", 9)
        self.wait_for("c", 9)
        said = [self.stop(host) for host in "cba"]
        self.assertIn("clocks compared with 1 of 1 peers", said[0])
        self.assertIn("1 other recorders asked", said[2])
        out, text = self.merge("a", "b", "c")
        self.assertRegex(text, r"compared \d+ times and by \d+ flows, by way of another")
        rows = self.compare(out, "a")
        self.check(rows, "bc")
        self.whole(out, "abc")
        info = subprocess.run([self.bin / "strobe", "info", out], capture_output=True, text=True).stdout
        self.assertIn("merged     of 3 traces", info)
        self.assertIn("compared through others: likely within", info)


class Troubles(Hosts):
    """A clock that is stepped, a host that dies, one that has another key: each is said, and nothing that is proven is wrong."""

    def test_each_is_said(self):
        self.net("ab", "ac", "ad")
        self.record("a", "--listen", f"0.0.0.0:{PORT}", offset_s=1)
        self.record("b", "--peer", f"10.77.0.1:{PORT}", offset_s=5, ppm=100, step_s=0.007)
        self.record("c", "--peer", f"10.77.1.1:{PORT}", offset_s=-5, ppm=-100)
        self.record("d", "--peer", f"10.77.2.1:{PORT}", offset_s=-9, key="another key than all the others")
        self.wait_for("c", 9)
        self.kill("c")
        self.wait_for("b", 9)
        self.step("b")
        self.stop("b")
        self.stop("d")
        self.assertIn("datagrams were refused", self.stop("a"))
        out, text = self.merge("a", "b", "c", "d")
        lines = {line.split(".strobe")[0].rsplit("/")[-1]: line for line in text.splitlines()}
        self.assertIn("stepped, 1 time", lines["b"])
        self.assertIn("not closed", lines["c"])
        self.assertIn("never compared", lines["d"])
        self.check(self.compare(out, "a"), "bc")
        self.whole(out, "abcd")

    def kill(self, host):
        """The recorder dies, as by a power cut of its host."""
        pids = subprocess.run(["ip", "netns", "pids", self.name(host)], capture_output=True, text=True).stdout.split()
        for pid in pids:
            os.kill(int(pid), signal.SIGKILL)
        self.running.pop(host).communicate()


class Long(Hosts):
    """As Three, over a minute and with a clock that is stepped: what the document promises."""

    def test_likely_and_proven_errors_are_what_they_should_be(self):
        self.net("ab", "ac")
        self.record("a", "--listen", f"0.0.0.0:{PORT}", offset_s=3)
        self.record("b", "--peer", f"10.77.0.1:{PORT}", offset_s=-7, ppm=100)
        self.record("c", "--peer", f"10.77.1.1:{PORT}", offset_s=11, ppm=-100, step_s=-0.02)
        self.wait_for("c", LONG * 3 // 2)
        self.step("c")
        self.wait_for("c", LONG * 3)
        for host in "cba":
            self.stop(host)
        out, text = self.merge("a", "b", "c")
        print(text)
        rows = self.compare(out, "a")
        shares = self.check(rows, "bc")
        for host in "bc":
            self.assertGreaterEqual(shares[host][0], 0.95, host)
            steady = sorted(row[3] for row in rows if row[0] == host and not row[4])
            within = sum(proven <= 15000 for proven in steady) / len(steady)
            print(f"{host}: proven within 15 us for {within:.4f} of the zones")
            self.assertGreaterEqual(within, 0.95, host)
        self.whole(out, "abc")


if __name__ == "__main__":
    BUILD = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
