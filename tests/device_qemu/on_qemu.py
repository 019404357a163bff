"""on_qemu.py - recordings of device_churn (tests/device_sim/churned.py) on cores under QEMU, for the tests beside it. Leaves with exit code 77 where QEMU or the
cross compiler is not installed."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

TOOLS = ("qemu-system-riscv32", "riscv64-unknown-elf-g++")
missing = [tool for tool in TOOLS if not shutil.which(tool)]
if missing:
    print(f"not here, so nothing is tested: {', '.join(missing)} (packages qemu-system-riscv or qemu-system-misc, gcc-riscv64-unknown-elf)")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "device_sim"))
from churned import BUILD, FOR_EVER, LIMIT_S, RISCS, STROBE, Round, in_stream  # noqa: E402, F401

QEMU = {"STROBE_DEVICE_BACKEND": "qemu", "STROBE_SIM_GRID_X": "1", "STROBE_SIM_GRID_Y": "1", "CHURN_PAUSE_US": "0"}
ADD = BUILD / "bin" / "strobe-device-add"
LANES = [f"core 0,0 {risc}" for risc in RISCS]


def run(*words, **environment):
    """A command on a device under QEMU: exit code, output, errors."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT_S, check=False, env={**os.environ, **QEMU, **environment})
    return done.returncode, done.stdout, done.stderr


def churn(launches, zones, environment=None, command=("8", "")):
    return Round(launches, zones, {**QEMU, **(environment or {})}, command)


def children(pid):
    """Pids of the processes that any thread of a process started."""
    pids = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        pids += map(int, (task / "children").read_text().split())
    return pids


class Case(unittest.TestCase):
    maxDiff = None

    def done(self, it):
        self.assertEqual(it.recorder.wait(LIMIT_S), 0)
        self.assertTrue(it.out().endswith("end\n"), it.out()[-300:])

    def check_whole(self, it):
        """Every record that the device counted is stored or lost, lane by lane; nothing else is."""
        emitted, _ = it.emitted()
        self.assertTrue(emitted)
        stored, lost = it.stored(), it.lost()
        for counts in (stored, lost):
            for lane in [lane for lane in counts if lane.endswith(", after a reset")]:
                counts[lane.replace(", after a reset", "")] += counts.pop(lane)
        self.assertEqual(+(stored + lost), +emitted)

    def open_zones(self, it):
        return [(row["thread"], row["name"]) for row in it.rows("zones") if row["state"] == "open"]
