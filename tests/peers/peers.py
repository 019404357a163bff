"""peers.py - real Tracy clients, fetched and built under build/peers, never committed: programs on the crate
tracy-client (each of its versions carries Tracy's own client), C programs on the same sources, IREE's runtime; packages of PyPI.
SPDX-License-Identifier: MIT"""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# tracy-client, the tracy-client-sys with the Tracy that it was made with, protocol
CRATES = (("0.14.0", "0.17.1", 56), ("0.14.1", "0.18.0", 57), ("0.15.0", "0.19.0", 63), ("0.16.1", "0.21.2", 63),
          ("0.17.0", "0.22.2", 64), ("0.17.2", "0.23.0", 66), ("0.18.0", "0.24.3", 69), ("0.18.1", "0.25.0", 74),
          ("0.18.2", "0.26.1", 74), ("0.18.3", "0.27.0", 76), ("0.18.4", "0.28.0", 76), ("0.18.5", "0.29.0", 82),
          ("0.19.0", "0.30.1", 82))
# wheels of the runtime and the compiler, protocol, numpy
IREE = {"3.13.0": ("iree-base-runtime==3.13.0", "iree-base-compiler==3.13.0", 72, "numpy"),
        "3.1.0": ("iree-base-runtime==3.1.0", "iree-base-compiler==3.1.0", 66, "numpy<2"),
        "20240410": ("iree-runtime==20240410.859", "iree-compiler==20240410.859", 65, "numpy<2"),
        "20231113": ("iree-runtime==20231113.707", "iree-compiler==20231113.707", 63, "numpy<2")}


class Missing(Exception):
    """A peer that can't be had here."""


def call(command, cwd=None, env=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{' '.join(map(str, command))}\n{done.stdout[-800:]}{done.stderr[-1200:]}")
    return done.stdout


def find_python(version):
    """The CPython of a version like "3.10": one of pyenv's, or the one in PATH; None: this one."""
    if version is None:
        return sys.executable
    for found in sorted(pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv").glob(f"versions/{version}.*/bin/python3")):
        return found
    found = shutil.which(f"python{version}")
    if not found:
        raise Missing(f"there is no CPython {version}")
    return found


class Peers:
    def __init__(self, build):
        self.folder = pathlib.Path(build).resolve() / "peers"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.folder / "lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)  # tests run side by side: one of them builds

    def done(self):
        self.lock.close()

    # ---- crates

    def crate(self, version):
        """The Rust program on tracy-client `version`."""
        folder = self.folder / f"crate-{version}"
        program = folder / "target" / "release" / "peer"
        source = (HERE / "crate.rs").read_text()
        main = folder / "src" / "main.rs"
        if program.exists() and main.read_text() == source:
            return program
        main.parent.mkdir(parents=True, exist_ok=True)
        main.write_text(source)
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2021"\n[profile.release]\nopt-level = 1\n'
            f'[dependencies]\ntracy-client = "={version}"\n[workspace]\n')
        (folder / "Cargo.lock").unlink(missing_ok=True)
        env = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
        call(["cargo", "generate-lockfile"], cwd=folder, env=env)
        call(["cargo", "update", "-p", "tracy-client-sys", "--precise", dict(row[:2] for row in CRATES)[version]], cwd=folder, env=env)
        call(["cargo", "build", "--release"], cwd=folder, env=env)
        return program

    def tracy_source(self, version):
        """The folder tracy/ of the crate tracy-client-sys of that version."""
        folder = self.folder / f"sys-{version}"
        source = folder / "vendor" / "tracy-client-sys" / "tracy"
        if not source.exists():
            folder.mkdir(exist_ok=True)
            (folder / "lib.rs").write_text("")
            (folder / "Cargo.toml").write_text(
                '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
                f'[dependencies]\ntracy-client-sys = "={version}"\n[workspace]\n')
            call(["cargo", "vendor", folder / "vendor"], cwd=folder)
        return source

    def c_client(self, version, name="zones", flags=(), link=(), tracing=False):
        """A C program with the Tracy client of that tracy-client-sys in it; `tracing`: with system tracing and sampling, as Tracy has it."""
        source = self.tracy_source(version)
        traced = "traced" if tracing else ""
        tag = f"{version}{traced}{''.join(flags)}{''.join(link)}".replace("/", "")
        client = self.folder / f"TracyClient-{version}{traced}{''.join(flags)}.o"
        program = self.folder / f"{name}-{tag}"
        text = HERE / f"{name}.c"
        if program.exists() and program.stat().st_mtime > text.stat().st_mtime:
            return program
        flags = ["-O2", "-g1", "-D_GNU_SOURCE", "-DTRACY_ENABLE", *([] if tracing else ["-DTRACY_NO_SYSTEM_TRACING"]), f"-I{source}",
                 f"-I{source / 'tracy'}", *flags]
        if not client.exists():
            call(["g++", *flags, "-w", "-c", source / "TracyClient.cpp", "-o", client])
        obj = self.folder / f"{name}-{tag}.o"
        call(["gcc", *flags, "-w", "-c", text, "-o", obj])
        call(["g++", obj, client, *link, "-o", program, "-lpthread", "-ldl"])
        return program

    # ---- IREE

    def iree(self, version):
        """(python, vmfb, capture) of that wheel: an environment of its own, a module compiled for it."""
        runtime, compiler, _, numpy = IREE[version]
        folder = self.folder / f"iree-{version}"
        python = folder / "bin" / "python"
        module = folder / "scale.vmfb"
        if not module.exists():
            call([sys.executable, "-m", "venv", folder])
            call([python, "-m", "pip", "install", "-q", runtime, compiler, numpy])
            call([folder / "bin" / "iree-compile", "--iree-hal-target-backends=llvm-cpu", HERE / "scale.mlir", "-o", module])
        libs = next((folder / "lib").glob("python3*/site-packages/iree/_runtime_libs_tracy"))
        capture = libs / "iree-tracy-capture"
        capture.chmod(0o755)
        return python, module, capture

    # ---- PyPI

    def pytracy(self):
        """A Python with the package pytracy in it."""
        folder = self.folder / "pytracy"
        python = folder / "bin" / "python"
        if not (folder / "ready").exists():
            call([sys.executable, "-m", "venv", folder])
            call([python, "-m", "pip", "install", "-q", "pytracy==0.0.2"])
            (folder / "ready").write_text("")
        return python

    def packages(self, version, *names):
        """An interpreter (of that version; None: of this one's) with these packages of PyPI, and with ours as an installation has it."""
        folder = self.folder / "-".join(name.replace("==", "-") for name in names)
        interpreter = folder / "bin" / "python"
        if not (folder / "ready").exists():
            call([find_python(version), "-m", "venv", "--clear", folder])
            call([interpreter, "-m", "pip", "install", "-q", *names])
            (folder / "ready").write_text("")
        site = next((folder / "lib").glob("python3*/site-packages"))
        tree = self.folder.parent / "python"
        (site / "strobe-tree.pth").write_text(f"{tree}\n")
        (site / "zz-strobe.pth").write_text((tree / "strobe.pth").read_text())
        return interpreter
