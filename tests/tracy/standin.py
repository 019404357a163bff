"""standin.py: a recorded session played as a live Tracy client that answers only what it is asked.

A recording is X.c2s (client to server) with X.s2c beside it. Answers are taken out of the stream of events and given when a
query comes, in any order; times can be moved to a clock of the player's choice.
"""
import ctypes
import ctypes.util
import pathlib
import random
import socket
import struct
import threading

TSV = pathlib.Path(__file__).with_name("events.tsv")
SIZES = dict(a=8, t=8, s=8, c=8, g=8, p=8, q=8, d=8, X=8, f=4, I=4, i=4, Y=4, H=2, y=2, B=1, b=1, N=0, n=0, L=0)
SIZES.update({"4": 4, "2": 2, "6": 6})
TAILS = {"N": "<H", "n": "<B", "L": "<I"}
QUERIES = {
    60: "Terminate String ThreadString SourceLocation PlotName FrameName Parameter FiberName Disconnect CallstackFrame "
        "ExternalName Symbol SymbolCode CodeLocation SourceCode DataTransfer DataTransferPart",
    65: "Terminate String ThreadString SourceLocation PlotName FrameName Parameter FiberName Disconnect CallstackFrame "
        "ExternalName Symbol SymbolCode SourceCode DataTransfer DataTransferPart",
    99: "Terminate String ThreadString SourceLocation PlotName FrameName Parameter FiberName ExternalName Disconnect "
        "CallstackFrame Symbol SymbolCode SourceCode DataTransfer DataTransferPart",
}
NAMED = {"StringData": "String", "ThreadName": "ThreadString", "PlotName": "PlotName", "FrameName": "FrameName",
         "FiberName": "FiberName"}


def table(protocol):
    """[(name, layout)] by number."""
    rows = [line.split() for line in TSV.read_text().splitlines() if line and line[0] != "#"]
    return [(name, "" if layout == "-" else layout) for first, last, name, layout in rows
            if int(first) <= protocol <= int(last)]


def queries(protocol):
    """Names of the queries, by number."""
    return next(names for last, names in sorted(QUERIES.items()) if protocol <= last).split()


def unlz4(block, history):
    """One raw LZ4 block, with what came before it."""
    out, at = bytearray(history), 0
    while True:
        token = block[at]
        at += 1
        n = token >> 4
        if n == 15:
            while True:
                n += block[at]
                at += 1
                if block[at - 1] != 255:
                    break
        out += block[at:at + n]
        at += n
        if at >= len(block):
            return bytes(out[len(history):])
        back = block[at] | block[at + 1] << 8
        at += 2
        n = (token & 15) + 4
        if n == 19:
            while True:
                n += block[at]
                at += 1
                if block[at - 1] != 255:
                    break
        for _ in range(n):
            out.append(out[-back])


class Packer:
    """LZ4 blocks that refer to those before them, by the system's library; without it, literals only."""

    def __init__(self):
        name = ctypes.util.find_library("lz4")
        self.lz4 = ctypes.CDLL(name) if name else None
        self.history = b""
        if self.lz4:
            self.lz4.LZ4_createStream.restype = ctypes.c_void_p

    def pack(self, data):
        """One frame."""
        if not self.lz4:
            n = len(data) - 15
            block = (bytes([len(data) << 4]) if n < 0 else b"\xf0" + b"\xff" * (n // 255) + bytes([n % 255])) + data
            return struct.pack("<I", len(block)) + block
        stream = ctypes.c_void_p(self.lz4.LZ4_createStream())
        history = ctypes.create_string_buffer(self.history + data, len(self.history) + len(data))
        self.lz4.LZ4_loadDict(stream, history, len(self.history))
        room = len(data) + len(data) // 255 + 64
        out = ctypes.create_string_buffer(room)
        source = ctypes.c_void_p(ctypes.addressof(history) + len(self.history))
        n = self.lz4.LZ4_compress_fast_continue(stream, source, out, len(data), room, 1)
        self.lz4.LZ4_freeStream(stream)
        self.history = (self.history + data)[-65536:]
        return struct.pack("<I", n) + out.raw[:n]


class Recording:
    """What a client sent, taken apart."""

    def __init__(self, path):
        path = pathlib.Path(path)
        self.sent = path.with_suffix(".c2s").read_bytes()
        asked = path.with_suffix(".s2c").read_bytes()
        self.protocol = struct.unpack_from("<I", asked, 8)[0]
        self.table = table(self.protocol)
        self.number = {name: i for i, (name, _) in enumerate(self.table)}
        names = queries(self.protocol)
        self.asked_locs = [ptr for kind, ptr, _ in
                           struct.iter_unpack("<BQI", asked[12:12 + (len(asked) - 12) // 13 * 13])
                           if kind < len(names) and names[kind] == "SourceLocation"]
        n = 1178 if self.protocol < 75 else 1170
        self.welcome = self.sent[1:1 + n]
        self.mul, self.begin, self.end = struct.unpack_from("<dqq", self.welcome)
        at = 1 + n
        self.on_demand = b""
        if self.welcome[72 if self.protocol < 75 else 64] & 1:
            self.on_demand = self.sent[at:at + 16]
            at += 16
        log = path.with_suffix(".log")
        self.reads = [int(line.split()[3]) for line in log.read_text().splitlines() if line.startswith("c2s")] \
            if log.exists() else []
        self.answers = {}
        self.frames = []        # lists of events, answers left out
        self.unpack(at)

    def unpack(self, at):
        """All frames."""
        history, waiting = b"", []
        while at + 4 <= len(self.sent):
            n = struct.unpack_from("<I", self.sent, at)[0]
            raw = unlz4(self.sent[at + 4:at + 4 + n], history)
            history = (history + raw)[-65536:]
            at += 4 + n
            self.frames.append([])
            for name, event in self.split(raw):
                self.sort_in(name, event, waiting)

    def split(self, raw):
        """(name, bytes) of every event of a frame."""
        at = 0
        while at < len(raw):
            name, layout = self.table[raw[at]]
            n = 1 + sum(SIZES[letter] for letter in layout)
            tail = TAILS.get(layout[-1:])
            if tail:
                length = struct.unpack_from(tail, raw, at + n)[0]
                if name in ("SingleStringData", "SecondStringData") and self.protocol >= 80:
                    length += 256
                n += struct.calcsize(tail) + length
            yield name, raw[at:at + n]
            at += n

    def sort_in(self, name, event, waiting):
        """An event to its frame, an answer to the answers. Strings wait for what uses them."""
        if name in NAMED:
            self.answers[NAMED[name], struct.unpack_from("<Q", event, 1)[0]] = event
        elif name == "SourceLocation":
            self.answers["SourceLocation", self.asked_locs.pop(0)] = event
        elif name.startswith("SingleString") or name.startswith("SecondString"):
            waiting.append(event)
        elif name == "CallstackFrameSize":
            self.symbol = "CallstackFrame", struct.unpack_from("<Q", event, 1)[0]
            self.answers[self.symbol] = b"".join(waiting) + event
            waiting.clear()
        elif name == "CallstackFrame":
            self.answers[self.symbol] += b"".join(waiting) + event
            waiting.clear()
        elif name in ("SymbolInformation", "SymbolCode", "SourceCode", "CodeInformation") or name.startswith("Ack"):
            waiting.clear()
        elif name not in ("Terminate", "KeepAlive"):
            self.frames[-1].append(b"".join(waiting) + event)
            waiting.clear()


class Player(threading.Thread):
    """Plays a recording to the first server that asks for its protocol.

    pieces: whole (a frame at a time), byte, random, recorded (of the lengths that were read in the recording).
    misbehave: the name of a query that is never answered.
    """

    def __init__(self, recording, pieces="whole", seed=1, misbehave=""):
        super().__init__(daemon=True)
        self.recording, self.pieces, self.random = recording, pieces, random.Random(seed)
        self.misbehave = misbehave
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.queries = queries(recording.protocol)
        self.inbox, self.asked, self.ended, self.refused = b"", [], False, 0
        self.disconnected = False
        self.reads = list(recording.reads)

    def run(self):
        try:
            self.play()
        except OSError:
            pass
        finally:
            self.listener.close()

    def accept(self):
        """The handshake."""
        while True:
            sock, _ = self.listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            hello = b""
            while len(hello) < 12:
                hello += sock.recv(12 - len(hello)) or b"\0" * 12
            if hello == b"TracyPrf" + struct.pack("<I", self.recording.protocol):
                return sock
            self.refused += 1
            sock.sendall(b"\2")
            sock.close()

    def send(self, data):
        """In pieces as told."""
        at = 0
        while at < len(data):
            n = {"whole": len(data), "byte": 1, "random": self.random.choice((1, 2, 3, 13, 100, 1000)),
                 "recorded": self.reads.pop(0) if self.reads else len(data)}[self.pieces] or 1
            self.sock.sendall(data[at:at + n])
            at += n

    def send_events(self, events):
        """One frame."""
        data = b"".join(events)
        if data:
            self.send(self.packer.pack(data))

    def read_queries(self, wait):
        """Queries that have come, answered."""
        self.sock.settimeout(wait)
        try:
            data = self.sock.recv(65536)
            if not data:
                raise ConnectionError
            self.inbox += data
        except (TimeoutError, BlockingIOError):
            pass
        finally:
            self.sock.settimeout(None)
        out = []
        while len(self.inbox) >= 13:
            kind, ptr, _ = struct.unpack_from("<BQI", self.inbox)
            self.inbox = self.inbox[13:]
            name = self.queries[kind]
            self.asked.append((name, ptr))
            if name == "Terminate":
                self.ended = True
                return
            if name == "Disconnect":
                self.disconnected = True
            elif name != self.misbehave:
                out.append(self.answer(name, ptr))
        self.send_events(out)

    def answer(self, name, ptr):
        """What the client would say; a pointer that it never sent would have killed it."""
        found = self.recording.answers.get((name, ptr))
        if found is not None:
            return found
        number = self.recording.number
        if name in ("CallstackFrame", "Symbol", "Parameter"):
            return bytes([number["AckServerQueryNoop"]])
        if name == "ThreadString":
            text = b"thread %d" % ptr
            return bytes([number["ThreadName"]]) + struct.pack("<QH", ptr, len(text)) + text
        raise AssertionError(f"asked for {name} {ptr:#x}, which was never sent")

    def play(self):
        rec = self.recording
        self.sock, self.packer = self.accept(), Packer()
        self.send(b"\1" + rec.welcome + rec.on_demand)
        for events in rec.frames:
            self.send_events(events)
            self.read_queries(0.0005)
            if self.ended or self.disconnected:
                break
        self.send_events([bytes([rec.number["Terminate"]])])
        while not self.ended:
            self.read_queries(10)
        self.sock.close()
