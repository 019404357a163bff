"""A forwarded port, as `ssh -NL` makes it, from one network namespace to another: two machines as far as ports are concerned. So the
port of the document can be used whatever runs on this one.

As a program: `forward.py far SOCKET` serves connections of SOCKET in the namespace it runs in; `forward.py near SOCKET ssh -NL ...`
listens where the line says."""
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import time


def can():
    return subprocess.run(["unshare", "-rn", "ip", "link", "set", "lo", "up"], check=False, capture_output=True).returncode == 0


def pump(source, target):
    """Bytes of one into the other, until it ends."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def join(one, other):
    for pair in ((one, other), (other, one)):
        threading.Thread(target=pump, args=pair, daemon=True).start()


def serve(listener, reach):
    while True:
        one, _ = listener.accept()
        try:
            join(one, reach())
        except OSError:
            one.close()


def far(path, port):
    """In the remote namespace: what comes through the socket goes to a port there."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    serve(listener, lambda: socket.create_connection(("127.0.0.1", port)))


def near(path, line):
    """In the local one: what the printed line asks for."""
    port, host, _ = re.search(r"-NL (\d+):([\d.]+):(\d+) ", line).groups()
    listener = socket.create_server((host, int(port)))

    def reach():
        other = socket.socket(socket.AF_UNIX)
        other.connect(path)
        return other
    serve(listener, reach)


def capture_through(line, build, folder):
    """A program is recorded in one namespace; a capture in another gets its trace through the forwarded port. "captured", or why not."""
    line = [one for one in line.split("\n") if one.startswith("ssh")][0]
    path, out = folder / "forward.socket", folder / "through.tracy"
    me, strobe, done = shlex.join([sys.executable, os.path.abspath(__file__)]), build / "bin/strobe", folder / "captured"
    hello = f"until test -e {done}; do {build}/bin/strobe-hello-c; sleep 0.1; done"
    there = f"ip link set lo up; {me} far {path} & {strobe} record -q --tracy-bridge=8086 -o {folder}/far.strobe -- bash -c {shlex.quote(hello)}; kill $!"
    here = (f"ip link set lo up; {me} near {path} {shlex.quote(line)} & {build}/bin/tracy-capture -f -o {out} -a 127.0.0.1 -p 8086 -s 2; "
            f"touch {done}; kill $!; test -s {out}")
    processes = []
    for text in (there, here):
        processes.append(subprocess.Popen(["unshare", "-rn", "bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        while text is there and not path.exists() and processes[0].poll() is None:
            time.sleep(0.05)  # the socket is there when the far side listens
    words = [process.communicate(timeout=300)[0] for process in processes]
    if processes[1].returncode:
        return "\n".join(words)
    zones = subprocess.run([build / "bin/tracy-csvexport", out], capture_output=True, text=True, check=False).stdout
    return "captured" if len(zones.splitlines()) > 1 else zones + "\n".join(words)


if __name__ == "__main__":
    if sys.argv[1] == "far":
        far(sys.argv[2], 8086)
    else:
        near(sys.argv[2], sys.argv[3])
