#!/usr/bin/env python3
"""test_server.py STROBE MAKE_TRACE PROGRAM CLASS: the viewer's server from outside: answers, security, live traces."""
import csv
import fcntl
import glob
import io
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import struct
import sys
import tempfile
import termios
import threading
import time
import unittest
import urllib.request

from client import Page, Refused, Server

STROBE, MAKE_TRACE, PROGRAM = sys.argv[1:4]


def run(*args):
    """What a command prints."""
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


class Folder(unittest.TestCase):
    """Tests with a folder of traces."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="strobe-viewer-")
        cls.path("flat", MAKE_TRACE, "300000", "5", "30")
        cls.path("work", MAKE_TRACE, "400000", "6", "200", "7")
        recorded = os.path.join(cls.folder, "recorded.strobe")
        subprocess.run([STROBE, "record", "-q", "-o", recorded, "--", PROGRAM, "40"], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        cls.names = ["flat.strobe", "work.strobe", "recorded.strobe"]

    @classmethod
    def path(cls, name, program, *args):
        """Make a trace."""
        run(program, os.path.join(cls.folder, f"{name}.strobe"), *args)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)


def threads_of(trace):
    """The tracks of threads, as lanes."""
    return [[t["id"], 0, max(1, t["n_depths"])] for t in trace["tracks"] if t["kind"] == "thread"]


class Answers(Folder):
    """Answers are what the other commands print."""

    def rows(self, name, *args):
        """`strobe stats` as {(name, function, file, line): numbers}."""
        text = run(STROBE, "stats", "--csv", *args, os.path.join(self.folder, name))
        return {(r["name"], r["function"], r["file"], int(r["line"])): r for r in csv.DictReader(io.StringIO(text))}

    def compare_stats(self, page, expected, **fields):
        """One answer against what the command prints."""
        answer = page.ask("stats", **fields)
        names = {}
        for at in range(0, len(answer["loc"]), 4096):
            names.update({n["id"]: n for n in page.ask("names", locs=answer["loc"][at:at + 4096])["locs"]})
        self.assertEqual(answer["n_rows"], len(expected))
        for i, loc in enumerate(answer["loc"]):
            n = names[loc]
            row = expected[(n["name"], n["function"], n["file"], n["line"])]
            for column, title in (("count", "count"), ("total", "total_ns"), ("self", "self_ns"), ("mean", "mean_ns"),
                                  ("min", "min_ns"), ("max", "max_ns"), ("std", "std_ns"), ("p50", "p50_ns"),
                                  ("p90", "p90_ns"), ("p99", "p99_ns"), ("inclusive", "inclusive_ns")):
                self.assertEqual(answer[column][i], float(row[title]), (n["name"], column))

    def test_statistics_are_those_of_strobe_stats(self):
        for name in self.names:
            with Server(STROBE, os.path.join(self.folder, name)) as server, Page(server) as page:
                self.compare_stats(page, self.rows(name))
                first, last = page.ask("trace")["range"]
                rng = random.Random(name)
                for _ in range(4):
                    a, b = sorted(rng.randint(int(first), int(last)) for _ in range(2))
                    self.compare_stats(page, self.rows(name, "--range", f"{a}ns..{b}ns"), **{"from": a, "to": b})

    def test_pixels_count_every_zone_of_the_trace(self):
        for name in self.names:
            n_zones = sum(int(r["count"]) for r in self.rows(name).values())
            with Server(STROBE, os.path.join(self.folder, name)) as server, Page(server) as page:
                trace = page.ask("trace")
                lanes = threads_of(trace) + [[t["id"], 0, 16] for t in trace["tracks"] if t["kind"] == "fiber"]
                first, last = trace["range"]
                for width, budget in ((100, 200000), (1900, 5000), (1900, 200000)):
                    drawn = page.ask("pixels", **{"from": first - 1, "to": last + 1}, width=width, budget=budget,
                                     lanes=[[t, a, max(n, 16)] for t, a, n in lanes])
                    self.assertLessEqual(len(drawn["t0"]), budget)
                    self.assertEqual(sum(c for c, f in zip(drawn["count"], drawn["flags"]) if not f & 4), n_zones, (name, width))

    def test_zones_found_by_drawing_are_those_of_csv(self):
        name = "work.strobe"
        text = run(STROBE, "csv", os.path.join(self.folder, name))
        rows = list(csv.DictReader(io.StringIO(text)))
        starts = next(c for c in rows[0] if "start" in c)
        takes = next(c for c in rows[0] if "dur" in c or "exec" in c)
        known = {(int(r[starts]), int(r[takes])) for r in rows if r[takes]}
        rng = random.Random(3)
        with Server(STROBE, os.path.join(self.folder, name)) as server, Page(server) as page:
            trace = page.ask("trace")
            first, last = trace["range"]
            n_compared = 0
            for _ in range(20):
                at, length = rng.uniform(first, last), rng.choice([2e3, 2e4, 2e5])
                drawn = page.ask("pixels", **{"from": at, "to": at + length}, width=1000, budget=100000, lanes=threads_of(trace))
                for lane in drawn["lanes"]:
                    for i in range(lane[2], lane[2] + lane[3]):
                        if drawn["flags"][i] != 1:
                            continue
                        zone = page.ask("zone", track=lane[0], depth=lane[1], at=drawn["t0"][i])["zone"] if n_compared < 60 else None
                        if zone:
                            self.assertEqual(zone["t0"], drawn["t0"][i])
                            self.assertIn((int(zone["t0"]), int(zone["t1"] - zone["t0"])), known)
                            n_compared += 1
            self.assertGreater(n_compared, 20)

    def test_flames_and_instances_add_up_to_the_statistics(self):
        with Server(STROBE, os.path.join(self.folder, "work.strobe")) as server, Page(server) as page:
            first, last = page.ask("trace")["range"]
            span = {"from": first, "to": first + (last - first) / 3}
            stats = page.ask("stats", **span)
            flame = page.ask("flame", **span, limit=200000)
            self.assertEqual(flame["left_out"], 0)
            totals = {}
            for loc, count in zip(flame["loc"], flame["count"]):
                totals[loc] = totals.get(loc, 0) + count
            self.assertEqual({k: v for k, v in totals.items() if v}, dict(zip(stats["loc"], stats["count"])))
            for i in (0, len(stats["loc"]) // 2):
                found = page.ask("instances", loc=stats["loc"][i], **span, limit=100000)
                self.assertEqual(found["total"], stats["count"][i])
                histogram = page.ask("histogram", loc=stats["loc"][i], **span)
                self.assertEqual(sum(histogram["n"]), stats["count"][i])

    def test_steps_go_through_all_zones_of_a_location(self):
        with Server(STROBE, os.path.join(self.folder, "flat.strobe")) as server, Page(server) as page:
            track = next(t["id"] for t in page.ask("trace")["tracks"] if t["kind"] == "thread")
            loc = page.ask("stats", tracks=[track])["loc"][3]
            found = page.ask("instances", loc=loc, tracks=[track], limit=40)
            starts, at = [], -1
            for _ in range(25):
                zone = page.ask("step", track=track, at=at, depth=0, to="next", same="loc", loc=loc)["zone"]
                self.assertEqual(zone["loc"], loc)
                at = zone["t0"]
                starts.append(at)
            self.assertEqual(starts, sorted(set(found["t0"]))[:25])
            back = page.ask("step", track=track, at=at, depth=0, to="previous", same="loc", loc=loc)["zone"]
            self.assertEqual(back["t0"], starts[-2])

    def test_a_saved_range_is_a_trace_with_the_same_zones(self):
        with Server(STROBE, os.path.join(self.folder, "work.strobe")) as server, Page(server) as page:
            first, last = page.ask("trace")["range"]
            a, b = int(first + (last - first) * 0.4), int(first + (last - first) * 0.5)
            saved = page.ask("save", **{"from": a, "to": b}, name="part.strobe")
            self.assertEqual(saved["name"], "part.strobe")
            self.assertIn("error", page.ask("save", **{"from": a, "to": b}, name="part.strobe"))
            self.assertIn("error", page.ask("save", **{"from": a, "to": b}, name="../part.strobe"))
        path = os.path.join(self.folder, "part.strobe")
        self.assertLess(os.path.getsize(path), os.path.getsize(os.path.join(self.folder, "work.strobe")) / 2)
        self.assertEqual(self.rows("part.strobe", "--range", f"{a}ns..{b}ns"), self.rows("work.strobe", "--range", f"{a}ns..{b}ns"))
        os.remove(path)

    def test_notes_are_kept_over_those_that_were_seen_only(self):
        path = os.path.join(self.folder, "work.strobe")
        with Server(STROBE, path) as server, Page(server) as one, Page(server) as other:
            seen = one.ask("notes")
            self.assertEqual(seen["notes"], "[]")
            self.assertTrue(other.ask("notes", set='[[1,1,"b"]]', over=seen["state"])["kept"])
            late = one.ask("notes", set='[[2,2,"a"]]', over=seen["state"])
            self.assertEqual((late["kept"], late["notes"]), (False, '[[1,1,"b"]]'))
            self.assertTrue(one.ask("notes", set='[[1,1,"b"],[2,2,"a"]]', over=late["state"])["kept"])
            self.assertEqual(other.ask("notes")["notes"], '[[1,1,"b"],[2,2,"a"]]')
        os.remove(f"{path}.notes.json")

    def test_search_finds_zones_messages_and_tracks(self):
        with Server(STROBE, os.path.join(self.folder, "work.strobe")) as server, Page(server) as page:
            found = page.ask("find", text="ZONE 17", what=["zones", "tracks"], limit=5, width=500)
            names = {n["id"]: n["name"] for n in page.ask("names", locs=[h["loc"] for h in found["hits"]])["locs"]}
            self.assertTrue(found["total"] > 5 and all("zone 17" in name for name in names.values()))
            self.assertEqual(sum(found["density"]), found["total"])
            after = page.ask("find", text="zone 17", after=found["hits"][1]["t0"], limit=1)
            self.assertEqual(after["hits"][0]["t0"], found["hits"][2]["t0"])
            self.assertEqual(len(page.ask("find", text="worker 2", what=["tracks"])["tracks"]), 1)
            self.assertIn("error", page.ask("find", text=""))

    def test_files_of_tracy_are_shown_too(self):
        path = os.path.join(self.folder, "other.tracy")
        run(STROBE, "export", "--to", "tracy", "-o", path, os.path.join(self.folder, "flat.strobe"))
        n_zones = sum(int(r["count"]) for r in self.rows("flat.strobe").values())
        with Server(STROBE, path) as server, Page(server) as page:
            self.assertEqual(sum(page.ask("stats")["count"]), n_zones)
            trace = page.ask("trace")
            drawn = page.ask("pixels", **{"from": trace["range"][0] - 1, "to": trace["range"][1] + 1}, width=900, lanes=threads_of(trace))
            self.assertEqual(sum(c for c, f in zip(drawn["count"], drawn["flags"]) if not f & 4), n_zones)
        os.remove(path)

    def test_cut_files_are_shown_up_to_the_cut(self):
        with open(os.path.join(self.folder, "flat.strobe"), "rb") as whole:
            data = whole.read()
        for share in (0.3, 0.9):
            cut = os.path.join(self.folder, "cut.strobe")
            with open(cut, "wb") as out:
                out.write(data[:int(len(data) * share)])
            with Server(STROBE, cut) as server, Page(server) as page:
                trace = page.ask("trace")
                self.assertFalse(trace["closed"])
                drawn = page.ask("pixels", **{"from": trace["range"][0], "to": trace["range"][1]}, width=800, lanes=threads_of(trace))
                self.assertGreater(sum(drawn["count"]), 1000)
            os.remove(cut)


class Guard(Folder):
    """Nothing is answered to strangers, and nobody can do harm."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(cls.folder, "secret.txt"), "w", encoding="ascii") as secret:
            secret.write("secret")
        os.symlink("/etc/passwd", os.path.join(cls.folder, "link.strobe"))
        cls.server = Server(STROBE, os.path.join(cls.folder, "flat.strobe"))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        super().tearDownClass()

    def test_no_answer_without_the_token(self):
        for path in ("/", "/index.html", "/traces", "/traces/flat.strobe", "/nothing", "/ws"):
            self.assertEqual(self.server.request(path, token=False)[0], 403, path)
            wrong = "0" * 32
            self.assertEqual(self.server.request(f"{path}?token={wrong}", token=False)[0], 403, path)
        for fields in ({"token": False}, {"token": False, "cookie": "strobe_00000000=" + "0" * 32}):
            with self.assertRaises(Refused):
                Page(self.server, **fields)

    def test_the_cookie_of_the_first_request_serves_the_next(self):
        status, headers, _ = self.server.request("/traces")
        self.assertEqual(status, 200)
        cookie = headers["set-cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        value = cookie.split(";")[0]
        self.assertEqual(self.server.request("/traces", token=False, headers={"Cookie": f"a=b; {value}"})[0], 200)
        self.assertEqual(self.server.request("/traces", token=False, headers={"Cookie": value[:-1] + "x"})[0], 403)
        with Page(self.server, token=False, cookie=value) as page:
            self.assertEqual(page.ask("trace")["name"], "flat.strobe")

    def test_wrong_hosts_and_origins_are_refused(self):
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "127.0.0.1:80x", "10.0.0.1", ""):
            self.assertNotEqual(self.server.request("/traces", host=host or "a b")[0], 200, host)
        for host in ("localhost:1234", "127.0.0.1", "[::1]:9"):
            self.assertEqual(self.server.request("/traces", host=host)[0], 200, host)
        for origin in ("http://evil.example", "https://127.0.0.1:%d" % self.server.port, "null", "http://127.0.0.1:1"):
            self.assertEqual(self.server.request("/traces", headers={"Origin": origin})[0], 403, origin)
            with self.assertRaises(Refused):
                Page(self.server, origin=origin)
        with self.assertRaises(Refused):
            Page(self.server, origin=None)
        with Page(self.server, host="localhost:4321") as page:      # as behind ssh -L
            self.assertEqual(page.ask("trace")["name"], "flat.strobe")

    def test_path_tricks_are_refused(self):
        for path in ("/../secret.txt", "/traces/../secret.txt", "/traces/..%2fsecret.txt", "/traces/secret.txt",
                     "/traces/%2e%2e/flat.strobe", "/traces/a%5cb.strobe", "/traces/.hidden.strobe", "/traces/x%0d%0a.strobe",
                     "/..%2f..%2fetc/passwd", "//etc/passwd", "/.git/config", "/traces/a%00.strobe", "/traces/"):
            status, _, body = self.server.request(path)
            self.assertIn(status, (0, 400, 403, 404), path)
            self.assertNotIn(b"secret", body)
        self.assertEqual(self.server.request("/traces/link.strobe")[0], 404)
        with Page(self.server, trace="..%2fx.strobe") as page:
            self.assertIn("error", page.ask("trace"))

    def test_headers_forbid_foreign_scripts(self):
        for path in ("/", "/traces", "/nothing"):
            _, headers, _ = self.server.request(path)
            policy = headers["content-security-policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy.replace("'wasm-unsafe-eval'", ""))  # which lets no script run, but the page's module
            self.assertEqual(headers["cross-origin-opener-policy"], "same-origin")
            self.assertEqual(headers["cross-origin-embedder-policy"], "require-corp")
            self.assertIn("no-store", headers["cache-control"])
            self.assertEqual(headers["x-content-type-options"], "nosniff")

    def test_traces_are_listed_read_in_ranges_and_deleted(self):
        names = json.loads(self.server.request("/traces")[2])
        self.assertEqual(sorted(names), sorted(self.names))
        with open(os.path.join(self.folder, "work.strobe"), "rb") as file:
            data = file.read()
        self.assertEqual(self.server.request("/traces/work.strobe")[2], data)
        status, headers, body = self.server.request("/traces/work.strobe", headers={"Range": "bytes=100-199"})
        self.assertEqual((status, body), (206, data[100:200]))
        self.assertEqual(headers["content-range"], f"bytes 100-199/{len(data)}")
        self.assertEqual(self.server.request("/traces/work.strobe", headers={"Range": "bytes=-50"})[2], data[-50:])
        self.assertEqual(self.server.request("/traces/work.strobe", headers={"Range": f"bytes={len(data)}-"})[0], 416)
        shutil.copy(os.path.join(self.folder, "work.strobe"), os.path.join(self.folder, "old.strobe"))
        self.assertEqual(self.server.request("/traces/old.strobe", method="DELETE", token=False)[0], 403)
        self.assertEqual(self.server.request("/traces/old.strobe", method="DELETE")[::2], (200, b"Deleted"))
        self.assertEqual(self.server.request("/traces/old.strobe", method="DELETE")[0], 404)
        self.assertEqual(self.server.request("/traces/secret.txt", method="DELETE")[0], 400)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "secret.txt")))

    def test_hostile_frames_end_their_connection_only(self):
        rng = random.Random(1)
        with Page(self.server) as good:
            self.assertIn("tracks", good.ask("trace"))
            hostile = [(1, b"{"), (1, b"[]"), (1, b"\xff\xfe"), (2, b"{}"), (1, b"{\"a\":" * 5000), (1, b" " * 70000),
                       (1, b'{"id":1,"ask":"pixels","lanes":[' + b"[1,2,3]," * 9000 + b"[1]]}"), (3, b"x"), (1, rng.randbytes(300))]
            for opcode, data in hostile:
                with Page(self.server) as page:
                    try:
                        page.send_frame(opcode, data)
                        page.sock.settimeout(5)
                        while True:
                            page.read_frame()
                    except (EOFError, OSError, AssertionError):
                        pass
                self.assertIn("tracks", good.ask("trace"))
            for question in ({"ask": "nonsense"}, {"ask": "pixels"}, {"ask": "zone", "track": -1}, {"ask": 7}, {"ask": "names", "locs": "x"},
                             {"ask": "pixels", "from": 1e300, "to": -1e300, "width": -5, "lanes": [[1e30, -1, 1e30]]},
                             {"ask": "pixels", "from": -1e300, "to": 1e300, "width": 1e9, "lanes": [[536870912, 0, 512]] * 20},
                             {"ask": "source", "loc": 4e9}, {"ask": "frames", "track": 5}, {"ask": "histogram", "loc": 1e9}):
                fields = {k: v for k, v in question.items() if k != "ask"}
                self.assertIsInstance(good.ask(question["ask"], **fields), dict)
            with socket.create_connection(("127.0.0.1", self.server.port)) as raw:
                raw.sendall(rng.randbytes(5000))
            self.assertIn("tracks", good.ask("trace"))

    def closed_with(self, *frames):
        """The code that the server ends a connection with after these bytes; None: without one."""
        with Page(self.server) as page:
            page.sock.settimeout(30)
            try:
                page.sock.sendall(b"".join(frames))
                while True:
                    kind, data = page.read_frame()
                    if kind == 8:
                        return struct.unpack(">H", data[:2])[0]
            except (EOFError, ConnectionResetError, BrokenPipeError):
                return None

    def test_a_frame_without_a_mask_ends_the_connection_and_is_not_answered(self):
        question = b'{"id":1,"ask":"trace"}'
        plain = bytes([0x81, len(question)]) + question
        masked = bytes([0x81, 0x80 | len(question)]) + bytes(4) + question
        long = b"\x81\x7e" + struct.pack(">H", 300) + question + b" " * (300 - len(question))
        ping = b"\x89\x00"
        for frames in (plain, long, ping, masked + plain, masked[:-1] + masked[-1:] + ping):
            with self.subTest(frames=frames[:2]), Page(self.server) as page:
                page.sock.settimeout(30)
                page.sock.sendall(frames)
                answers = []
                try:
                    while True:
                        answers.append(page.read_frame())
                except (EOFError, ConnectionResetError):
                    pass
                self.assertNotIn(10, [kind for kind, _ in answers])  # no pong
                if frames[1] < 0x80:
                    self.assertFalse([data for kind, data in answers if kind == 2 and data[:4] == struct.pack("<I", 1)])
        with Page(self.server) as good:
            self.assertIn("tracks", good.ask("trace"))

    def test_an_upgrade_to_http_2_is_refused(self):
        for path, upgrade in (("/", "h2c"), (f"/?token={self.server.token}", "h2c"), (f"/traces?token={self.server.token}", "H2C"), ("/", "TLS/1.0")):
            with self.subTest(path=path[:8], upgrade=upgrade):
                headers = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": upgrade, "HTTP2-Settings": "AAMAAABkAAQAAP__"}
                status, _, body = self.server.request(path, token=False, headers=headers)
                self.assertIn(status, (403, 0))     # what the library does not know ends without an answer
                self.assertNotIn(b"strobe-", body)
                if upgrade == "h2c":
                    self.assertEqual(status, 403)
        with Page(self.server) as good:
            self.assertIn("tracks", good.ask("trace"))

    def test_frames_that_break_the_rules_end_the_connection_at_once(self):
        def frame(opcode, data, final=1, rsv=0):
            n = len(data)
            head = bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n) if n < 65536 else b"\xff" + struct.pack(">Q", n)
            return bytes([final << 7 | rsv << 4 | opcode]) + head + bytes(4) + data

        question = b'{"id":5,"ask":"ping"}'
        for opcode in (3, 7, 11, 15):
            self.assertEqual(self.closed_with(frame(opcode, question)), 1002, opcode)
        self.assertEqual(self.closed_with(frame(1, question, rsv=4)), 1002)
        self.assertEqual(self.closed_with(frame(0, question)), 1002)
        self.assertEqual(self.closed_with(frame(9, b"x", final=0)), 1002)
        self.assertEqual(self.closed_with(frame(1, b"{", final=0), frame(1, b"}")), 1002)
        self.assertEqual(self.closed_with(frame(2, question)), 1003)
        self.assertEqual(self.closed_with(frame(1, b'{"ask":"\xff\xfe"}')), 1007)
        self.assertIn(self.closed_with(frame(1, b" " * 70000)), (1009, None))      # it may be reset before it is read
        self.assertEqual(self.closed_with(b"\x81\xff" + struct.pack(">Q", 1 << 62) + bytes(4) + b"x"), 1009)
        self.assertIn(self.closed_with(frame(1, b"{", final=0), frame(0, b" ", final=0) * 5000), (1009, None))
        with Page(self.server) as page:
            self.assertIn("tracks", page.ask("trace"))

    def test_a_cookie_of_another_server_neither_serves_nor_disturbs(self):
        own = self.server.request("/traces")[1]["set-cookie"].split(";")[0]
        self.assertTrue(own.startswith(f"strobe_{self.server.port}_"), own)
        with Server(STROBE, self.folder) as other:
            foreign = other.request("/traces")[1]["set-cookie"].split(";")[0]
        renamed = own.split("=")[0] + "=" + foreign.split("=")[1]
        for cookie in (foreign, renamed, own.split("=")[1]):
            self.assertEqual(self.server.request("/traces", token=False, headers={"Cookie": cookie})[0], 403)
        for cookie in (f"{foreign}; {own}", f"{own}; {foreign}"):
            self.assertEqual(self.server.request("/traces", token=False, headers={"Cookie": cookie})[0], 200)

    def test_too_many_questions_end_the_connection(self):
        with Page(self.server) as page:
            try:
                for i in range(5000):
                    page.send_frame(1, json.dumps({"id": i + 1, "ask": "stats"}).encode())
                page.sock.settimeout(20)
                while True:
                    page.read_frame()
            except (EOFError, OSError):
                pass
        with Page(self.server) as page:
            self.assertIn("tracks", page.ask("trace"))

    def test_a_page_that_does_not_read_does_no_harm(self):
        with Page(self.server) as slow, Page(self.server) as good:
            trace = good.ask("trace")
            question = {"ask": "pixels", "from": trace["range"][0], "to": trace["range"][1], "width": 16000, "budget": 1000000,
                        "lanes": threads_of(trace)}
            for i in range(30):
                try:
                    slow.send_frame(1, json.dumps({"id": i + 1, **question}).encode())
                except OSError:     # let go, because too much waits for it
                    pass
                self.assertIn("tracks", good.ask("trace"))
        self.assertLess(self.server.peak_kib(), 300 << 10)

    def test_a_thousand_connections(self):
        pages = []
        try:
            for _ in range(1000):
                pages.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=120))
        except OSError:
            pass
        with Page(self.server) as page:
            self.assertIn("tracks", page.ask("trace"))
        for sock in pages:
            sock.close()
        self.assertEqual(len(pages), 1000)
        pages = [Page(self.server) for _ in range(200)]
        self.assertIn("tracks", pages[-1].ask("trace"))
        for page in pages:
            page.sock.close()


class Live(Folder):
    """A trace that is being made."""

    def test_a_growing_trace_is_followed_to_its_end(self):
        path = os.path.join(self.folder, "growing.strobe")
        recorder = subprocess.Popen([STROBE, "record", "-q", "-o", path, "--", PROGRAM, "90"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not os.path.exists(path) or os.path.getsize(path) < 69632:
                time.sleep(0.02)
            with Server(STROBE, path) as server, Page(server) as page:
                told = page.wait_told("grown", 20)
                self.assertIsNotNone(told)
                first, last = told["range"]
                drawn = page.ask("pixels", **{"from": first, "to": last}, width=500, lanes=threads_of(page.ask("trace")))
                self.assertNotIn("error", drawn)
                self.assertIsNotNone(page.wait_told("closed", 120))
                trace = page.ask("trace")
                self.assertTrue(trace["closed"])
                rows = csv.DictReader(io.StringIO(run(STROBE, "stats", "--csv", path)))
                self.assertEqual(sum(page.ask("stats")["count"]), sum(int(r["count"]) for r in rows))
                os.remove(path)
                self.assertIsNotNone(page.wait_told("gone", 10))
        finally:
            recorder.wait(120)

    def test_a_trace_that_is_not_there_is_named(self):
        with Server(STROBE, self.folder) as server, Page(server, trace="deleted.strobe") as page:
            self.assertEqual(page.wait_told("gone", 20)["why"], "deleted.strobe is not there: it was deleted, renamed or moved")

    def test_a_recording_is_ended_from_the_page_and_the_program_goes_on(self):
        path = os.path.join(self.folder, "live.strobe")
        environment = {k: v for k, v in os.environ.items() if k not in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY")}
        mark = os.path.join(self.folder, "went-on")
        command = ["sh", "-c", f"{PROGRAM} 90 >/dev/null; touch {mark}"]
        recorder = subprocess.Popen([STROBE, "record", "-q", "--live", "-o", path, "--", *command], stdout=subprocess.PIPE, text=True,
                                    env=environment)
        link = recorder.stdout.readline().strip()

        class Address:
            """Where it is."""
            port, token = int(link.split(":")[2].split("/")[0]), link.split("=")[1]
        with Page(Address) as page:
            self.assertIsNotNone(page.wait_told("grown", 20))
            self.assertTrue(page.ask("traces")["can_stop"])
            self.assertTrue(page.ask("stop")["stopped"])
            self.assertIsNotNone(page.wait_told("closed", 30))
        recorder.stdout.close()
        recorder.wait(120)
        self.assertTrue(os.path.exists(mark))

    def test_a_new_trace_in_the_folder_is_told(self):
        with Server(STROBE, self.folder) as server, Page(server) as page:
            self.assertEqual(page.ask("trace")["error"], "no trace was chosen")
            names = [t["name"] for t in page.ask("traces")["traces"]]
            self.assertEqual(sorted(names), sorted(self.names))
            time.sleep(1.5)
            shutil.copy(os.path.join(self.folder, "flat.strobe"), os.path.join(self.folder, "new.strobe"))
            self.assertIsNotNone(page.wait_told("traces", 10))
            self.assertEqual(page.ask("traces")["traces"][0]["name"], "new.strobe")
            self.assertTrue(page.ask("delete", name="new.strobe")["deleted"])
            self.assertIn("error", page.ask("delete", name="../new.strobe"))

    def test_pages_that_go_in_the_middle_of_their_questions_do_no_harm(self):
        with Server(STROBE, os.path.join(self.folder, "work.strobe")) as server, Page(server) as good:
            trace = good.ask("trace")
            question = {"ask": "pixels", "from": trace["range"][0], "to": trace["range"][1], "width": 4000, "budget": 100000, "lanes": threads_of(trace)}
            for i in range(60):
                page = Page(server)
                for k in range(1 + i % 5):
                    page.send_frame(1, json.dumps({"id": k + 1, **(question if k % 2 else {"ask": "stats"})}).encode())
                if i % 3 == 0:
                    page.send_frame(1, b'{"id": 9, "ask"', final=False)
                page.sock.close()
            self.assertNotIn("error", good.ask("pixels", **{k: v for k, v in question.items() if k != "ask"}))

    def test_a_sign_of_life_is_given_without_a_trace_too(self):
        with Server(STROBE, self.folder) as server, Page(server) as page:
            self.assertTrue(page.ask("ping")["here"])

    def test_a_thousand_pages_are_told_and_answered(self):
        with Server(STROBE, os.path.join(self.folder, "flat.strobe")) as server:
            pages = [Page(server) for _ in range(1000)]
            for page in pages:
                page.send_frame(1, b'{"id": 1, "ask": "ping"}')
            for page in pages:
                self.assertTrue(page.read_answer(1)["here"])
            for page in pages[::50]:
                self.assertEqual(page.ask("trace")["name"], "flat.strobe")
            for page in pages:
                page.sock.close()
            self.assertLess(server.peak_kib(), 300 << 10)

    def test_many_pages_get_their_own_answers(self):
        failures = []
        with Server(STROBE, os.path.join(self.folder, "work.strobe")) as server:
            with Page(server) as page:
                trace = page.ask("trace")
            lanes, (first, last) = threads_of(trace), trace["range"]

            def look(seed):
                rng = random.Random(seed)
                try:
                    with Page(server) as page:
                        for _ in range(20):
                            a = rng.uniform(first, last)
                            b = a + (last - first) / 2 ** rng.randint(0, 12)
                            one = page.ask("pixels", **{"from": a, "to": b}, width=700, lanes=lanes)
                            two = page.ask("pixels", **{"from": a, "to": b}, width=700, lanes=lanes)
                            one.pop("id"), two.pop("id"), one.pop("n_depths"), two.pop("n_depths")
                            if one != two:
                                failures.append((seed, a, b))
                except (OSError, EOFError, AssertionError) as error:
                    failures.append((seed, error))
            threads = [threading.Thread(target=look, args=(i,)) for i in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])


def children(pid):
    """Processes that a process has started."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path, encoding="ascii") as file:
                found += file.read().split()
        except OSError:     # the thread has ended
            pass
    return found


def wait_until(what):
    """Wait for something that will come to pass; at most a minute."""
    end = time.time() + 60
    while not what():
        if time.time() > end:
            raise AssertionError("it did not come to pass")
        time.sleep(0.02)


class Imports(Folder):
    """Files of other profilers, and pages that wait for them."""

    def pipe(self, server_folder, name="slow.json"):
        """A file that nobody can read on in before it is written."""
        path = os.path.join(server_folder, name)
        os.mkfifo(path)
        return path

    def fill(self, path, is_enough):
        """Write a trace of one zone into the pipe for whoever reads it, and not again before it was read."""
        while not is_enough.wait(0.05):
            try:
                pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:     # nobody reads just now
                continue
            os.write(pipe, b'[{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":"late"}]' + b" " * 100)
            while not is_enough.is_set() and struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]:
                is_enough.wait(0.01)
            os.close(pipe)

    def test_other_pages_are_answered_while_a_file_is_imported(self):
        path = self.pipe(self.folder)
        with Server(STROBE, self.folder) as server, Page(server, trace="slow.json") as waiting, Page(server, trace="flat.strobe") as other:
            self.assertIsNotNone(waiting.wait_told("importing", 20))
            waiting.send_frame(1, json.dumps({"id": 1, "ask": "trace"}).encode())
            self.assertEqual(other.ask("trace")["name"], "flat.strobe")
            with Page(server, trace="slow.json") as second:
                second.send_frame(1, json.dumps({"id": 1, "ask": "stats"}).encode())
                is_enough = threading.Event()
                writer = threading.Thread(target=self.fill, args=(path, is_enough))
                writer.start()
                try:
                    self.assertEqual(waiting.read_answer(1)["totals"]["zones"], 1)
                    self.assertEqual(second.read_answer(1)["count"], [1.0])
                finally:
                    is_enough.set()
                    writer.join()
        os.remove(path)

    def test_an_import_that_nobody_waits_for_is_given_up(self):
        path = self.pipe(self.folder, "left.json")
        with Server(STROBE, self.folder) as server:
            with Page(server, trace="left.json") as page:
                self.assertIsNotNone(page.wait_told("importing", 20))
                wait_until(lambda: children(server.process.pid))
            wait_until(lambda: not children(server.process.pid))
            with Page(server, trace="flat.strobe") as page:
                self.assertIn("tracks", page.ask("trace"))
        os.remove(path)

    def test_a_file_that_can_not_be_read_says_why(self):
        path = os.path.join(self.folder, "wrong.json")
        with open(path, "w", encoding="ascii") as out:
            out.write("hello")
        with Server(STROBE, self.folder) as server, Page(server, trace="wrong.json") as page:
            self.assertIn("Chrome's JSON", page.wait_told("gone", 20)["why"])
            self.assertIn("error", page.ask("trace"))
        os.remove(path)

    def test_only_json_that_looks_like_a_trace_is_listed_and_deleted(self):
        files = {"package.json": '{"name": "x"}', "one.json": '[{"ph": "X"}]', "two.json": '{"traceEvents": []}', "three.json": '[1, 2]'}
        for name, text in files.items():
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as out:
                out.write(text)
        with Server(STROBE, self.folder) as server, Page(server) as page:
            names = {t["name"] for t in page.ask("traces")["traces"]}
            self.assertEqual(names & set(files), {"one.json", "two.json"})
            self.assertEqual(server.request("/traces/package.json", method="DELETE")[0], 404)
            self.assertIn("error", page.ask("delete", name="three.json"))
            self.assertEqual(server.request("/traces/one.json", method="DELETE")[0], 200)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "package.json")))
        for name in files:
            if name != "one.json":
                os.remove(os.path.join(self.folder, name))

    def test_a_range_of_an_imported_file_is_saved_into_the_folder(self):
        path = os.path.join(self.folder, "other.json")
        run(STROBE, "export", "--to", "chrome", "-o", path, os.path.join(self.folder, "flat.strobe"))
        with Server(STROBE, path) as server, Page(server) as page:
            first, last = page.ask("trace")["range"]
            self.assertEqual(page.ask("save", **{"from": first, "to": last}, name="piece.strobe")["name"], "piece.strobe")
        self.assertIn("zones", run(STROBE, "info", os.path.join(self.folder, "piece.strobe")))
        os.remove(path)
        os.remove(os.path.join(self.folder, "piece.strobe"))


class Threads(Folder):
    """What the server's threads do to each other, on traces that are small enough for a sanitizer."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="strobe-viewer-")
        cls.path("flat", MAKE_TRACE, "5000", "3", "30")
        cls.path("work", MAKE_TRACE, "20000", "3", "50", "7")

    pipe, fill = Imports.pipe, Imports.fill
    test_many_pages = Live.test_many_pages_get_their_own_answers
    test_pages_that_go = Live.test_pages_that_go_in_the_middle_of_their_questions_do_no_harm
    test_an_import_beside_other_pages = Imports.test_other_pages_are_answered_while_a_file_is_imported
    test_an_import_that_is_given_up = Imports.test_an_import_that_nobody_waits_for_is_given_up

    def test_a_trace_that_grows_is_closed_and_removed(self):
        path, source = os.path.join(self.folder, "grows.strobe"), os.path.join(self.folder, "work.strobe")
        with open(source, "rb") as file:
            data = file.read()
        with open(path, "wb", buffering=0) as out:
            out.write(data[:len(data) // 2])
            with Server(STROBE, path) as server, Page(server) as page, Page(server) as other:
                self.assertFalse(page.ask("trace")["closed"])
                out.write(data[len(data) // 2:])
                self.assertIsNotNone(page.wait_told("closed", 60))
                self.assertEqual(sum(page.ask("stats")["count"]), sum(other.ask("stats")["count"]))
                os.remove(path)
                self.assertIsNotNone(other.wait_told("gone", 60))


class Command(Folder):
    """What the command says."""

    def opened(self, **env):
        """The page that a browser was opened with, by a stand-in; "": none was."""
        tools = tempfile.mkdtemp(prefix="strobe-viewer-tools-")
        said = os.path.join(tools, "said")
        with open(os.path.join(tools, "xdg-open"), "w", encoding="ascii") as script:
            script.write(f'#!/bin/sh\nprintf "%s\\n" "$@" >{said}.args; stat -L -c "%a %u" "$1" "$(dirname "$1")" >{said}.mode\n'
                         f'tr "\\0" " " </proc/$$/cmdline >{said}.cmdline; cp "$1" {said}.part; mv {said}.part {said}\n')
        os.chmod(os.path.join(tools, "xdg-open"), 0o755)
        environment = {k: v for k, v in os.environ.items() if k not in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY")}
        environment.update(env, PATH=tools + ":" + os.environ["PATH"])
        process = subprocess.Popen([STROBE, "view", self.folder], stdout=subprocess.PIPE, text=True, env=environment)
        link = process.stdout.readline().strip()
        if env.get("DISPLAY") and "SSH_CONNECTION" not in env:
            wait_until(lambda: os.path.exists(said))
        files = {}
        for name in ("", ".args", ".mode", ".cmdline"):
            if os.path.exists(said + name):
                with open(said + name, encoding="utf-8") as file:
                    files[name] = file.read()
        if files:
            self.assertIn(f"url={link}", files[""])
            token = link.split("=")[1]
            self.assertNotIn(token, files[".args"] + files[".cmdline"])
            self.assertEqual(files[".mode"].split(), ["600", str(os.getuid()), "700", str(os.getuid())])
            path = files[".args"].strip()
            if env.get("VISIT"):
                urllib.request.urlopen(link).close()
                wait_until(lambda: not os.path.exists(path))
        process.terminate()
        self.assertEqual(process.wait(20), 0)
        process.stdout.close()
        if files:
            self.assertFalse(os.path.exists(path))
        shutil.rmtree(tools)
        return files.get("", "")

    def test_the_browser_gets_a_file_of_the_users_own_and_not_the_token(self):
        self.assertIn("/?token=", self.opened(DISPLAY=":99"))

    def test_the_file_for_the_browser_goes_when_the_page_has_come(self):
        self.assertIn("/?token=", self.opened(DISPLAY=":99", VISIT="1"))

    def test_without_a_display_or_under_ssh_no_browser_is_opened(self):
        self.assertEqual(self.opened(), "")
        self.assertEqual(self.opened(DISPLAY="localhost:10.0", SSH_CONNECTION="10.1.1.1 5000 10.2.2.2 22"), "")

    def test_the_usual_port_of_ssh_is_not_named(self):
        with Server(STROBE, self.folder, env={"SSH_CONNECTION": "fe80::1 5000 fe80::2 22"}) as server:
            server.process.stdout.readline()
            line = server.process.stdout.readline().strip()
            self.assertRegex(line, rf"^ssh -N -L {server.port}:127\.0\.0\.1:{server.port} \S+@fe80::2$")

    def test_the_link_stays_the_same_with_a_port_of_its_own(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        session = tempfile.mkdtemp(prefix="strobe-viewer-dir-")
        links = []
        for _ in range(2):
            with Server(STROBE, "--port", str(port), self.folder, env={"STROBE_DIR": session}) as server:
                links.append(server.link)
                self.assertEqual(server.request("/traces")[0], 200)
                second = subprocess.run([STROBE, "view", "--port", str(port), self.folder], stderr=subprocess.PIPE, text=True, check=False,
                                        env={**os.environ, "STROBE_DIR": session}, timeout=30)
                self.assertEqual(second.returncode, 1)
                self.assertIn("listens there already", second.stderr)
        self.assertEqual(links[0], links[1])
        shutil.rmtree(session)

    def test_under_ssh_the_tunnel_is_printed(self):
        with Server(STROBE, self.folder, env={"SSH_CONNECTION": "10.1.1.1 5000 10.2.2.2 2222"}) as server:
            server.process.stdout.readline()
            line = server.process.stdout.readline().strip()
            self.assertRegex(line, rf"^ssh -p 2222 -N -L {server.port}:127\.0\.0\.1:{server.port} \S+@10\.2\.2\.2$")

    def test_it_listens_on_the_loopback_only_and_ends_in_good_order(self):
        server = Server(STROBE, self.folder)
        with open("/proc/net/tcp", encoding="ascii") as table:
            lines = [line.split() for line in table.readlines()[1:]]
        listening = {line[1] for line in lines if line[3] == "0A"}
        self.assertIn(f"0100007F:{server.port:04X}", listening)
        self.assertNotIn(f"00000000:{server.port:04X}", listening)
        server.process.send_signal(signal.SIGINT)
        self.assertEqual(server.process.wait(20), 0)
        server.process.stdout.close()

    def test_what_is_no_trace_is_refused_in_words(self):
        for path in (os.path.join(self.folder, "none.strobe"), "/etc/passwd"):
            result = subprocess.run([STROBE, "view", path], stderr=subprocess.PIPE, text=True, check=False, timeout=30)
            self.assertEqual(result.returncode, 1)
            self.assertIn(path, result.stderr)

    def test_a_file_that_is_called_a_trace_and_is_none_is_refused_in_words(self):
        for name, text in (("empty.strobe", ""), ("text.strobe", "no trace at all")):
            path = os.path.join(self.folder, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            result = subprocess.run([STROBE, "view", "--no-open", path], capture_output=True, text=True, check=False, timeout=30)
            os.unlink(path)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(f"{path} is not a Strobe trace", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
