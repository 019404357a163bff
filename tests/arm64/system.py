#!/usr/bin/env python3
"""system.py BUILD ROOT [PATTERN...]: tests in a whole arm64 machine, emulated by qemu-system: a kernel of its own, whose ptrace, limits,
namespaces and memory are no emulation of ours.

BUILD is a build tree for arm64, ROOT the Debian that tests/arm64/root made. The disk is made of both, with what the tests need at the
same paths; guest.py runs them there and reports on the console. The machine's time goes by instructions, not by the clock of this
one, and jumps where nobody has anything to do: limits of time mean the same on a machine under load, and a pause costs nothing."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import choice

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
QEMU = "qemu-system-aarch64"
MACHINE = ["-M", "virt", "-cpu", "max,pauth-impdef=on", "-smp", "2", "-m", "2G", "-icount", "shift=1,sleep=off", "-nographic", "-net", "none",
           "-no-reboot"]
MODULES = ["virtio_mmio", "virtio_blk", "crc32c_generic", "ext4"]
UNUSED = ["boot", "lib/modules", "usr/include", "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/i18n", "var/cache", "var/lib/apt",
          "usr/lib/gcc"]
FOLDERS = ["bin", "sbin", "etc", "lib", "root", "usr", "var", "opt", "home"]
DISK_MB = 1500
FIRST = """#!/bin/busybox sh
/bin/busybox mount -t devtmpfs none /dev
for module in {modules}; do /bin/busybox insmod /$module.ko; done
/bin/busybox mount -t ext4 /dev/vda /disk && exec /bin/busybox switch_root /disk /init
exec /bin/busybox poweroff -f
"""
SECOND = """#!/bin/sh
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t devpts devpts /dev/pts
mount -t cgroup2 none /sys/fs/cgroup
busybox ip link set lo up
busybox hostname strobe-arm64
python3 {guest} /tests.json
sync
busybox poweroff -f
"""


def depends(module, files):
    """A module and those that it needs, in the order of their loading."""
    text = files[module].read_bytes()
    needed = re.search(rb"\0depends=([^\0]*)\0", text)[1].decode()
    found = []
    for name in filter(None, needed.split(",")):
        found += depends(name.replace("-", "_"), files)
    return found + [module]


def archive(entries):
    """A cpio file (newc) of (name, mode, bytes), as the kernel unpacks it."""
    out = bytearray()
    for number, (name, mode, data) in enumerate([*entries, ("TRAILER!!!", 0, b"")]):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + "".join(f"{field:08x}" for field in fields).encode() + name.encode() + b"\0"
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out)


def make_initrd(root, path):
    """What finds the disk."""
    files = {file.stem.replace("-", "_"): file for file in root.glob("lib/modules/*/kernel/**/*.ko")}
    modules = list(dict.fromkeys(name for module in MODULES for name in depends(module, files)))
    entries = [(name, 0o040755, b"") for name in ("bin", "dev", "disk")]
    entries += [("bin/busybox", 0o100755, (root / "bin/busybox").read_bytes()),
                ("init", 0o100755, FIRST.format(modules=" ".join(modules)).encode())]
    entries += [(f"{name}.ko", 0o100644, files[name].read_bytes()) for name in modules]
    path.write_bytes(archive(entries))


def make_disk(build, root, tests, path):
    """The system, the tests and what was built, as one file system; nothing is copied before it is written there."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        stage = pathlib.Path(folder)
        for name in FOLDERS:
            if (root / name).exists():
                subprocess.run(["cp", "-al", root / name, stage], check=True)
        for name in UNUSED:
            shutil.rmtree(stage / name, ignore_errors=True)
        for name in ("proc", "sys", "dev", "tmp", "mnt", "run"):
            (stage / name).mkdir()
        (stage / "tests.json").write_text(json.dumps(tests))
        (stage / "init").write_text(SECOND.format(guest=HERE / "guest.py"))
        (stage / "init").chmod(0o755)
        for part in (TREE / "tests", TREE / "include", build / "bin", build / "lib"):
            place = stage / part.relative_to("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-al", part, place], check=True)
        path.unlink(missing_ok=True)
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-d", stage, path, f"{DISK_MB}M"], check=True)


def boot(root, initrd, disk, log):
    """Run the machine to its end; {name: (code, seconds)} of the tests that ended, and whether all did."""
    kernel = next(root.glob("boot/vmlinuz-*"))
    command = [QEMU, *MACHINE, "-kernel", kernel, "-initrd", initrd, "-append", "console=ttyAMA0 quiet panic=-1",
               "-drive", f"if=none,format=raw,cache=unsafe,file={disk},id=disk", "-device", "virtio-blk-device,drive=disk"]
    rows, said = {}, []
    with open(log, "w", encoding="utf-8") as file, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                                    stderr=subprocess.STDOUT, text=True, errors="replace") as machine:
        for line in machine.stdout:
            file.write(line)
            file.flush()
            words = line.split()
            if words[:1] != ["@@"] or len(words) != 4:
                said.append(line)
                continue
            if words[2] != "0":
                print("".join(said))
            rows[words[1]] = words[2], float(words[3])
            print(f"{words[1]:28} {'passed' if words[2] == '0' else 'FAILED (' + words[2] + ')':12} {words[3]:>7} s of the machine's", flush=True)
            said = []
    return rows, "end" in rows


def main():
    build, root = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    tests = choice.tests(build, choice.SYSTEM, sys.argv[3:])
    if not shutil.which(QEMU):
        sys.exit(f"{QEMU} is not installed (scripts/deps test)")
    place = build / "system"
    place.mkdir(exist_ok=True)
    make_initrd(root, place / "initrd")
    make_disk(build, root, tests, place / "disk.img")
    rows, ended = boot(root, place / "initrd", place / "disk.img", place / "console.log")
    missing = [test["name"] for test in tests if test["name"] not in rows]
    failed = [name for name, (code, _) in rows.items() if code != "0"]
    print(f"{len(tests) - len(missing) - len(failed)} of {len(tests)} passed in an arm64 machine"
          + (f"; failed: {' '.join(failed)}" if failed else "") + (f"; did not run: {' '.join(missing)}" if missing else ""))
    return 0 if ended and not failed and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
