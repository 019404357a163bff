"""test_frameworks.py BUILD [test names]: what real frameworks mark, recorded without a change of the program. They come from PyPI, once, into
BUILD/peers (peers.py); where they can't be had, the test says so and is skipped. The large ones (PyTorch, JAX) are full tests.
SPDX-License-Identifier: MIT"""
import collections
import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from peers import Missing, Peers

BUILD = pathlib.Path(sys.argv[1]).resolve()
STROBE = BUILD / "bin" / "strobe"


class Recorded:
    """A recorded program: what it printed, its trace."""

    def __init__(self, trace, done):
        self.trace, self.done = trace, done

    def rows(self, kind="zones"):
        text = subprocess.run([STROBE, "csv", "--kind", kind, self.trace], capture_output=True, text=True, check=True).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def counts(self):
        return dict(collections.Counter(row["name"] for row in self.rows()))

    def text(self):
        return subprocess.run([STROBE, "info", self.trace], capture_output=True, text=True, check=True).stdout


class Case(unittest.TestCase):
    maxDiff = None
    packages = ()
    version = None  # that of this interpreter

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-frameworks-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        peers = Peers(BUILD)
        try:
            self.interpreter = peers.packages(self.version, *self.packages)
        except Missing as problem:
            self.skipTest(f"{' '.join(self.packages)} can't be had here: {str(problem)[-300:]}")
        finally:
            peers.done()

    def script(self, text, name="program.py"):
        path = self.folder / name
        path.write_text(text)
        return path

    def record(self, program, *options):
        trace = self.folder / f"{len(list(self.folder.iterdir()))}.strobe"
        done = subprocess.run([STROBE, "record", "-q", "-o", trace, *options, "--", self.interpreter, program], capture_output=True, text=True,
                              cwd=self.folder, env={**os.environ, "STROBE_SAMPLE": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return Recorded(trace, done)


class Nvtx(Case):
    """NVIDIA's own package: NVTX loads our library."""

    packages = ("nvtx==0.2.16",)

    def test_ranges_marks_domains_and_payloads_of_the_real_package(self):
        program = self.script(
            "import nvtx, threading\n"
            "assert 'site-packages/nvtx' in nvtx.__file__, nvtx.__file__\n"
            "@nvtx.annotate(color='red')\n"
            "def forward(): pass\n"
            "for _ in range(3): forward()\n"
            "with nvtx.annotate('load', domain='io', category='disk', payload=7): pass\n"
            "nvtx.push_range('outer'); nvtx.push_range('inner', domain='io'); nvtx.pop_range(); nvtx.pop_range(domain='io')\n"
            "nvtx.pop_range()\n"
            "started = nvtx.start_range('across')\n"
            "worker = threading.Thread(target=nvtx.end_range, args=(started,)); worker.start(); worker.join()\n"
            "nvtx.mark('here', color=0x102030)\n"
            "domain = nvtx.get_domain('again'); said = domain.get_event_attributes(message='step', payload=1.5)\n"
            "for _ in range(4): domain.push_range(said); domain.pop_range()\n")
        ran = self.record(program, "--python", "off")
        self.assertEqual(ran.counts(), {"forward": 3, "load": 1, "outer": 1, "inner": 1, "step": 4})
        rows = {row["name"]: row for row in ran.rows()}
        self.assertEqual([rows[name]["function"] for name in ("forward", "load", "inner", "step")], ["NVTX", "io/disk", "io", "again"])
        self.assertEqual((rows["load"]["value"], rows["step"]["text"]), ("7", "payload 1.5"))
        self.assertEqual([row["name"] for row in ran.rows("spans")], ["across"])
        self.assertEqual([row["text"] for row in ran.rows("messages")], ["here"])
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())
        self.assertEqual([self.record(program, "--python", "off", "--frameworks", "torch").rows()], [[]])

    def test_more_names_than_the_table_holds_share_a_location_and_keep_their_names(self):
        program = self.script("import nvtx\nfor i in range(9000):\n    nvtx.push_range(f'r{i}'); nvtx.pop_range()\n")
        ran = self.record(program, "--python", "off")
        self.assertEqual(ran.counts(), {f"r{i}": 1 for i in range(9000)})
        stats = subprocess.run([STROBE, "stats", "--csv", ran.trace], capture_output=True, text=True, check=True).stdout
        self.assertEqual({row["name"]: int(row["count"]) for row in csv.DictReader(io.StringIO(stats))}["NVTX range"], 9000 - 8192)


class Greenlets(Case):
    packages = ("greenlet==3.5.6", "gevent==26.9.0")

    def test_each_greenlet_has_a_track_and_zones_that_switches_do_not_break(self):
        program = self.script(
            "import greenlet, threading\n"
            "def part(): pass\n"
            "def work(n):\n"
            "    for _ in range(3):\n"
            "        part(); greenlet.getcurrent().parent.switch()\n"
            "def turns():\n"
            "    all = [greenlet.greenlet(work) for _ in range(4)]\n"
            "    for one in all: one.switch(1)\n"
            "    for _ in range(3):\n"
            "        for one in all: one.switch()\n"
            "turns()\n"
            "thread = threading.Thread(target=turns); thread.start(); thread.join()\n")
        ran = self.record(program, "--include", "__main__")
        work = [row for row in ran.rows() if row["name"] == "work"]
        self.assertEqual((len(work), len({row["thread"] for row in work})), (8, 8))
        parts = collections.Counter(row["thread"] for row in ran.rows() if row["name"] == "part")
        self.assertEqual(parts, {row["thread"]: 3 for row in work})
        self.assertEqual(sum(row["name"] == "turns" and not row["thread"].startswith("greenlet") for row in ran.rows()), 2)
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_gevents_greenlets_go_by_their_names(self):
        program = self.script(
            "import gevent\n"
            "def work():\n"
            "    for _ in range(3): gevent.sleep(0.001)\n"
            "gevent.joinall([gevent.spawn(work) for _ in range(4)])\n")
        work = [row for row in self.record(program, "--include", "__main__").rows() if row["name"] == "work"]
        self.assertEqual((len(work), {row["state"] for row in work}), (4, {"ended"}))
        self.assertEqual(len({row["thread"] for row in work}), 4)
        self.assertTrue(all(re.match(r"Greenlet-\d+ #\d+$", row["thread"]) for row in work), work)


class OpenCL(Case):
    """PoCL, a device on the processor, under the loader that pyopencl carries."""

    packages = ("pyopencl==2026.1.4", "pocl-binary-distribution==3.0", "numpy")

    def test_kernels_and_copies_are_on_a_track_of_their_queue_between_enqueue_and_wait(self):
        program = self.script(
            "import numpy, pyopencl as cl\n"
            "context = cl.Context(cl.get_platforms()[0].get_devices())\n"
            "queue = cl.CommandQueue(context)\n"
            "program = cl.Program(context, '__kernel void add_one(__global const float *a, __global float *b)'\n"
            "                     '{ int i = get_global_id(0); b[i] = a[i] + 1; }').build()\n"
            "ones = numpy.ones(65536, numpy.float32); out = numpy.empty_like(ones)\n"
            "a, b = (cl.Buffer(context, cl.mem_flags.READ_WRITE, ones.nbytes) for _ in range(2))\n"
            "cl.enqueue_copy(queue, a, ones)\n"
            "add_one = cl.Kernel(program, 'add_one')\n"
            "for _ in range(5): add_one(queue, ones.shape, None, a, b)\n"
            "queue.finish()\n"
            "cl.enqueue_copy(queue, out, b); assert (out == 2).all()\n"
            "cl.enqueue_fill_buffer(queue, a, numpy.float32(0), 0, ones.nbytes).wait()\n"
            "print(cl.get_platforms()[0].name)\n")
        os.environ["POCL_CACHE_DIR"] = str(self.folder)
        ran = self.record(program, "--python", "off")
        self.assertEqual(ran.done.stdout, "Portable Computing Language\n")
        device, host = ran.rows("gpu"), ran.rows()
        self.assertEqual(collections.Counter(row["name"] for row in device),
                         {"write buffer": 1, "add_one": 5, "read buffer": 1, "fill buffer": 1})
        self.assertEqual({row["context_name"].split(",")[0] for row in device}, {"OpenCL queue 0"})
        enqueued = [row for row in host if row["text"] == "add_one"]
        finished = next(int(row["start_ns"]) + int(row["duration_ns"]) for row in host if row["name"] == "clFinish")
        for call, kernel in zip(enqueued, [row for row in device if row["name"] == "add_one"]):
            begin = int(kernel["gpu_start_ns"])
            self.assertLessEqual(int(call["start_ns"]), begin)
            self.assertLessEqual(begin + int(kernel["gpu_duration_ns"]), finished)
        none = self.record(program, "--python", "off", "--frameworks", "nvtx")
        self.assertEqual((none.rows(), none.rows("gpu")), ([], []))


class Torch(Case):
    """The last wheel of PyTorch that carries all that it needs: later ones want some GB of CUDA beside it."""

    packages = ("torch==1.12.1",)
    version = "3.10"
    PROGRAM = (
        "import torch, sys\n"
        "from torch.profiler import profile, record_function, ProfilerActivity, schedule\n"
        "model = torch.nn.Linear(64, 64); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "def step():\n"
        "    with record_function('forward'): loss = model(torch.ones(8, 64)).sum()\n"
        "    with record_function('backward'): loss.backward()\n"
        "    optimizer.step(); optimizer.zero_grad()\n"
        "@torch.jit.script\n"
        "def scripted(x):\n"
        "    with torch.autograd.profiler.record_function('in a script'): y = x + 1\n"
        "    return y\n"
        "step()\n"
        "with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=0, active=10)) as prof:\n"
        "    for _ in range(5): step(); prof.step()\n"
        "assert scripted(torch.ones(2)).sum() == 4\n"
        "prof.export_chrome_trace(sys.argv[1] if sys.argv[1:] else 'trace.json')\n")

    def test_ranges_are_zones_and_steps_are_frames(self):
        ran = self.record(self.script(self.PROGRAM), "--python", "marks")
        counts = ran.counts()
        self.assertEqual((counts["forward"], counts["backward"]), (6, 6))
        self.assertEqual(counts["Optimizer.step#SGD.step"], 6)
        steps = {name: n for name, n in counts.items() if name.startswith("ProfilerStep#")}
        self.assertEqual(steps, {"ProfilerStep#0": 2, **{f"ProfilerStep#{i}": 1 for i in range(1, 5)}})  # this version counts like that
        self.assertEqual([row["what"] for row in ran.rows("frames") if row["frame"] == "ProfilerStep"], ["frame_start", "frame_end"] * 6)
        forward = next(row for row in ran.rows() if row["name"] == "forward")
        self.assertEqual((pathlib.Path(forward["file"]).name, forward["line"]), ("program.py", "5"))
        self.assertIn("0 unfinished, 0 ends without a begin", ran.text())

    def test_the_profilers_own_file_is_merged_onto_the_timeline_of_the_recording(self):
        ran = self.record(self.script(self.PROGRAM), "--python", "marks")
        both = self.folder / "both.strobe"
        said = subprocess.run([STROBE, "merge", ran.trace, self.folder / "trace.json", "-o", both], capture_output=True, text=True, check=True).stdout
        self.assertIn("placed by the wall clock that the recorder read: likely within", said)
        rows = Recorded(both, None).rows()
        recorded = [row for row in rows if row["name"] == "forward" and row["file"]][1:]  # the first step was not profiled
        profiled = [row for row in rows if row["name"] == "forward" and not row["file"]]
        self.assertEqual((len(recorded), len(profiled)), (5, 5))
        for ours, theirs in zip(recorded, profiled):  # ours begins after theirs began, and ends before: in times of both clocks
            begin, end = int(theirs["start_ns"]), int(theirs["start_ns"]) + int(theirs["duration_ns"])
            self.assertLessEqual(begin - 5000, int(ours["start_ns"]))
            self.assertLessEqual(int(ours["start_ns"]) + int(ours["duration_ns"]), end + 5000)
        self.assertTrue(any(row["name"] == "aten::linear" for row in rows))


class Jax(Case):
    packages = ("jax",)

    def test_annotations_are_zones_and_steps_are_frames(self):
        program = self.script(
            "import jax, jax.numpy as jnp\n"
            "double = jax.jit(lambda x: x * 2)\n"
            "for i in range(4):\n"
            "    with jax.profiler.StepTraceAnnotation('train', step_num=i):\n"
            "        with jax.profiler.TraceAnnotation('forward', size=8): double(jnp.ones(8)).block_until_ready()\n"
            "@jax.profiler.annotate_function\n"
            "def evaluate(): pass\n"
            "evaluate()\n")
        ran = self.record(program, "--python", "marks")
        rows, counts = ran.rows(), ran.counts()  # JAX marks its own work too
        self.assertEqual([counts[name] for name in ("train", "forward", "evaluate")], [4, 4, 1])
        self.assertEqual([row["value"] for row in rows if row["name"] == "train"], ["0", "1", "2", "3"])
        self.assertEqual({row["text"] for row in rows if row["name"] == "forward"}, {"size=8"})
        self.assertEqual([row["what"] for row in ran.rows("frames") if row["frame"] == "train"], ["frame_start", "frame_end"] * 4)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
