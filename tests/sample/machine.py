#!/usr/bin/env python3
"""machine.py KERNEL COMMAND...: run a command as root in a machine of its own, emulated by qemu-system-x86_64: another kernel over the files
of this one, which it can only read.

KERNEL is a folder with a Debian kernel (`dpkg-deb -x linux-image-*.deb KERNEL`). $STROBE_QEMU and $STROBE_BUSYBOX (a static one) are the
programs where they are not in PATH. The exit code is the command's, 99: the machine did not get so far."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "arm64"))
from system import archive, depends  # noqa: E402

MODULES = ["virtio_pci", "9pnet_virtio", "9p"]
MACHINE = ["-M", "q35", "-cpu", "max", "-smp", "2", "-m", "1500M", "-nographic", "-net", "none", "-no-reboot"]
FIRST = """#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs none /dev
for module in {modules}; do $b insmod /$module.ko; done
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose host /host || $b poweroff -f
$b mount -t proc proc /host/proc
$b mount -t sysfs sysfs /host/sys
$b mount -t tracefs tracefs /host/sys/kernel/tracing
$b mount -t devtmpfs dev /host/dev
$b mkdir -p /host/dev/shm
$b mount -t tmpfs tmpfs /host/dev/shm
$b mount -t tmpfs tmpfs /host/run
$b ip link set lo up
$b chroot /host /bin/sh -c {command}
echo "MACHINE EXIT $?"
$b poweroff -f
"""


def make_initrd(kernel, command, path):
    files = {file.stem.replace("-", "_"): file for file in kernel.glob("lib/modules/*/kernel/**/*.ko")}
    modules = list(dict.fromkeys(name for module in MODULES for name in depends(module, files)))
    busybox = os.environ.get("STROBE_BUSYBOX") or shutil.which("busybox")
    entries = [(name, 0o040755, b"") for name in ("bin", "dev", "host")]
    entries += [("bin/busybox", 0o100755, pathlib.Path(busybox).read_bytes()),
                ("init", 0o100755, FIRST.format(modules=" ".join(modules), command=shlex.quote(command)).encode())]
    entries += [(name + ".ko", 0o100644, files[name].read_bytes()) for name in modules]
    path.write_bytes(archive(entries))


def main():
    kernel, command = pathlib.Path(sys.argv[1]), shlex.join(sys.argv[2:])
    command = f"cd {shlex.quote(os.getcwd())}; export PATH={shlex.quote(os.environ['PATH'])} HOME=/dev/shm TMPDIR=/dev/shm; {command}"
    with tempfile.TemporaryDirectory() as folder:
        initrd = pathlib.Path(folder) / "initrd"
        make_initrd(kernel, command, initrd)
        qemu = os.environ.get("STROBE_QEMU") or "qemu-system-x86_64"
        more = shlex.split(os.environ.get("STROBE_QEMU_OPTIONS", ""))
        process = subprocess.Popen([qemu, *more, *MACHINE, "-kernel", str(next(kernel.glob("boot/vmlinuz-*"))), "-initrd", str(initrd),
                                    "-append", "console=ttyS0 quiet panic=-1 mitigations=off",
                                    "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
        code = 99
        for line in process.stdout:
            found = re.search(r"MACHINE EXIT (\d+)", line)
            if found:
                code = int(found[1])
            else:
                print(line, end="", flush=True)
        process.wait()
    sys.exit(code)


if __name__ == "__main__":
    main()
