#!/usr/bin/env python3
"""test_shell.py BUILD: the shell blocks of the documents, run as they are printed in a folder that has what they name (world.py)."""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import blocks
import forward
import world

N_SCRIPT_OPS = 2  # of world.SCRIPT
N_MODEL_OPS = 46  # of examples/ttnn/bert_tiny.py


def ops_of(rows):
    return [row for row in rows if row["OP TYPE"] == "tt_dnn_device"]


def no_more(case, at, done):
    """Nothing beyond the exit code."""


def reported(n_ops):
    """The report of the last command has so many ops, with both halves, and the files that the document names are beside it."""
    def check(case, at, done):
        ops = ops_of(at.rows())
        case.assertEqual(len(ops), n_ops)
        for op in ops:
            case.assertGreater(int(op["HOST DURATION [ns]"]), 0)
            case.assertGreater(int(op["DEVICE KERNEL DURATION [ns]"]), 0)
            case.assertTrue(op["DATA MOVEMENT KERNEL SOURCE"])
        newest = max(at.reports().iterdir(), key=lambda path: path.stat().st_mtime)
        for name in ("profile_log_device.csv", "tracy_profile_log_host.tracy", "tracy_ops_times.csv", "tracy_ops_data.csv"):
            case.assertTrue((newest / name).exists(), name)
        case.assertTrue(list(newest.glob("ops_perf_results_*.csv")))
    return check


def recorded(zone):
    """The trace has a zone of that name."""
    def check(case, at, done):
        trace = at.folder / "generated/profiler/.logs/tracy_profile_log_host.strobe"
        csv = subprocess.run([at.build / "bin/strobe", "csv", "--kind", "zones", trace], capture_output=True, text=True, check=True).stdout
        case.assertIn(f",{zone},", csv)
    return check


def said(*words):
    def check(case, at, done):
        for word in words:
            case.assertIn(word, done.stdout + done.stderr)
    return check


def mnist(case, at, done):
    with open(at.folder / "results/perf/device_ops_perf_trace.csv", encoding="utf-8") as report:
        case.assertIn("LOC", report.readline().strip().split(","))
        case.assertGreater(len(report.readlines()), N_MODEL_OPS)
    case.assertTrue(list(at.folder.rglob(".logs/tracy_profile_log_host.tracy")))


def installed(case, at, done):
    said("capture-release", "csvexport-release")(case, at, done)
    trace = at.folder / "metal.strobe"
    subprocess.run([at.build / "bin/strobe", "record", "-q", "-o", trace, "--", at.folder / "installed/metal"], check=True, env=at.environment())
    csv = subprocess.run([at.build / "bin/strobe", "csv", "--kind", "zones", trace], capture_output=True, text=True, check=True).stdout
    case.assertIn(",of metal,", csv)


def noc_traces(case, at, done):
    reported(N_SCRIPT_OPS)(case, at, done)
    case.assertTrue(list((at.folder / "generated/profiler/.logs").glob("noc_trace_dev0_*.json")))


def trained(case, at, done):
    reported(35)(case, at, done)
    said("step 4, loss", "35 ops in ops_perf_results", "MatmulDeviceOperation")(case, at, done)


def copied(case, at, done):
    reported(N_SCRIPT_OPS)(case, at, done)
    case.assertTrue((at.folder / "tracy_profile_log_host.tracy").exists())
    said("tracy: 200")(case, at, done)


def epochs(case, at, done):
    said("Epoch 99 complete")(case, at, done)
    case.assertEqual(len(ops_of(at.rows())), 100)


# place: what must be true afterwards
RUNS = {
    "2.2": said("tracy: 200"), "2.3": said("built"), "2.5": recorded("PY_FUNC_work"), "2.6": recorded("PY_FUNC_test_split_query_key_value_and_split_heads_with_program_cache"),
    "2.9": no_more, "4.2": mnist, "5.1": reported(N_SCRIPT_OPS), "5.2": reported(N_MODEL_OPS), "5.4": said("Tracy-release: 200"), "5.6": recorded("PY_FUNC_work"),
    "5.7": reported(N_SCRIPT_OPS), "5.8": reported(N_SCRIPT_OPS), "5.10": noc_traces, "5.11": reported(N_SCRIPT_OPS), "5.13": reported(N_SCRIPT_OPS),
    "5.16": reported(N_SCRIPT_OPS), "5.17": reported(N_SCRIPT_OPS), "5.18": reported(N_SCRIPT_OPS), "5.20": installed, "5.21": reported(N_SCRIPT_OPS),
    "5.22": reported(N_SCRIPT_OPS), "5.23": reported(N_SCRIPT_OPS), "5.24": reported(N_SCRIPT_OPS), "5.26": reported(N_MODEL_OPS), "5.27": trained,
    "5.29": epochs, "5.31": copied,
}
ADAPTED = {"2.5": ("{test_script}", "test_script")}  # a place that the reader fills in
TRAINING = "5.28"  # the program that 5.29 runs


class Shell(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.blocks = blocks.read()
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="strobe-printed-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.world = world.World(cls.root, BUILD, cls.blocks[TRAINING].text)

    def setUp(self):
        self.world.forget()

    def test_blocks_run_as_printed(self):
        self.world.configure()
        for place, check in RUNS.items():
            if ONLY and place not in ONLY:
                continue
            with self.subTest(place):
                self.world.forget()
                text = self.blocks[place].text
                text = text.replace(*ADAPTED.get(place, ("", "")))
                done = self.world.run(text)
                self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout[-1500:]}\n{done.stderr[-2500:]}")
                check(self, self.world, done)

    def test_synopses_are_what_the_commands_say(self):
        for place, command in (("4.1", "python tt_torch/tools/profile.py -h"), ("5.9", "python -m tracy -h")):
            said_words = " ".join((self.world.run(command).stdout).split())
            for word in re.findall(r"\[[^\]]+\]", self.blocks[place].text):
                if word not in ("[OPTIONS]", "[args...]", "[-h]"):
                    self.assertIn(word.lower(), said_words.lower(), place)

    def test_a_forwarded_port_shows_a_program_of_another_machine(self):
        if not forward.can():
            self.skipTest("no network namespaces here: `unshare -rn ip link set lo up` fails")
        self.assertEqual(forward.capture_through(self.blocks["5.5"].text, BUILD, self.root), "captured")


if __name__ == "__main__":
    if blocks.folder() is None:
        print("skipped:", blocks.ABSENT)
        sys.exit(77)
    if importlib.util.find_spec("pytest") is None:
        print(f"skipped: {sys.executable} has no pytest, which the documents' lines call")
        sys.exit(77)
    BUILD, ONLY = pathlib.Path(sys.argv[1]).resolve(), [word for word in sys.argv[2:] if re.fullmatch(r"\d\.\d+", word)]
    unittest.main(argv=[sys.argv[0], *[word for word in sys.argv[2:] if word not in ONLY]], verbosity=1)
