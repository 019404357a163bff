"""client.py - a page without a browser: HTTP and the WebSocket of docs/viewer-protocol.md, standard library only."""
import base64
import json
import os
import re
import socket
import struct
import subprocess
import time

TYPES = {"f64": ("d", 8), "u32": ("I", 4), "f32": ("f", 4), "u8": ("B", 1)}


class Server:
    """`strobe view` on a port of its own."""

    def __init__(self, strobe, *args, env=None, cwd=None):
        environment = {k: v for k, v in os.environ.items() if k not in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY")}
        environment.update(env or {})
        self.process = subprocess.Popen([strobe, "view", "--no-open", *args], stdout=subprocess.PIPE, text=True,
                                        env=environment, cwd=cwd)
        self.link = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.link)
        if not found:
            raise RuntimeError(f"no link: {self.link!r}")
        self.port, self.token = int(found[1]), found[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End it; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process.stdout.close()
        return code

    def peak_kib(self):
        """Most memory that it has held."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])

    def request(self, path, method="GET", token=True, headers=None, host=None, body=b""):
        """(status, headers, body) of an HTTP request."""
        if token:
            path += ("&" if "?" in path else "?") + "token=" + self.token
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as sock:
            sock.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
            data = b""
            while True:
                try:
                    more = sock.recv(65536)
                except ConnectionResetError:
                    break
                if not more:
                    break
                data += more
        if not data:
            return 0, {}, b""
        head, _, rest = data.partition(b"\r\n\r\n")
        first, *others = head.decode("latin-1").split("\r\n")
        fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in others if ":" in line}
        return int(first.split()[1]), fields, rest


class Refused(Exception):
    """The server does not want this connection."""


class Page:
    """One WebSocket."""

    def __init__(self, server, trace=None, token=True, origin="own", host=None, protocol="strobe.1", cookie=None):
        host = host or f"127.0.0.1:{server.port}"
        path = "/ws?" + "&".join(filter(None, [f"trace={trace}" if trace else "", f"token={server.token}" if token else ""]))
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        if protocol:
            lines.append(f"Sec-WebSocket-Protocol: {protocol}")
        if origin:
            lines.append("Origin: " + (f"http://{host}" if origin == "own" else origin))
        if cookie:
            lines.append(f"Cookie: {cookie}")
        self.sock = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        self.sock.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
        self.buffer, self.next_id, self.told, self.waiting = b"", 1, [], {}
        while b"\r\n\r\n" not in self.buffer:
            try:
                more = self.sock.recv(4096)
            except ConnectionResetError:
                more = b""
            if not more:
                self.sock.close()
                raise Refused("closed")
            self.buffer += more
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0] + b" ":
            self.sock.close()
            raise Refused(head.split(b"\r\n")[0].decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send_frame(self, opcode, data, final=True):
        """One frame, masked as pages do."""
        mask = os.urandom(4)
        head = bytes([(0x80 if final else 0) | opcode])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(data))
        pad = (mask * (len(data) // 4 + 1))[:len(data)]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(data), "big") if data else b""
        self.sock.sendall(head + mask + masked)

    def take(self, n):
        """The next n bytes."""
        while len(self.buffer) < n:
            more = self.sock.recv(1 << 16)
            if not more:
                raise EOFError
            self.buffer += more
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def read_frame(self):
        """(opcode, bytes) of the next whole message."""
        message, kind = b"", None
        while True:
            first, second = self.take(2)
            n = second & 127
            n = struct.unpack(">H", self.take(2))[0] if n == 126 else struct.unpack(">Q", self.take(8))[0] if n == 127 else n
            data = self.take(n)
            if first & 15 == 9:     # a ping: who gives no sign of life is let go
                self.send_frame(10, data)
                continue
            kind = first & 15 if first & 15 else kind
            message += data
            if first & 0x80:
                return kind, message

    def read(self):
        """The next answer: (id, JSON with arrays as lists)."""
        while True:
            kind, data = self.read_frame()
            if kind == 8:
                raise EOFError
            if kind != 2:
                continue
            number, n_json = struct.unpack_from("<II", data)
            answer = json.loads(data[8:8 + n_json])
            assert n_json % 8 == 0
            for name, array in answer.pop("arrays", {}).items():
                code, size = TYPES[array["type"]]
                assert array["at"] % 8 == 0 and array["at"] + size * array["n"] <= len(data)
                answer[name] = list(struct.unpack_from(f"<{array['n']}{code}", data, array["at"]))
            return number, answer

    def read_answer(self, number):
        """The answer of that number; what is told meanwhile is kept."""
        while True:
            got, answer = self.read()
            if got == number:
                return answer
            if got == 0:
                self.told.append(answer)
            else:
                self.waiting[got] = answer

    def ask(self, question, **fields):
        """Ask and wait for the answer; what is told meanwhile is kept."""
        number, self.next_id = self.next_id, self.next_id + 1
        self.send_frame(1, json.dumps({"id": number, "ask": question, **fields}).encode())
        return self.read_answer(number)

    def wait_told(self, what, seconds=10):
        """The next thing of this sort that is told."""
        end = time.time() + seconds
        while time.time() < end:
            for i, told in enumerate(self.told):
                if told.get("tell") == what:
                    return self.told.pop(i)
            self.sock.settimeout(max(0.05, end - time.time()))
            try:
                got, answer = self.read()
            except TimeoutError:
                break
            finally:
                self.sock.settimeout(30)
            if got == 0:
                self.told.append(answer)
        return None
