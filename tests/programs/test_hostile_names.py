"""test_hostile_names.py - names that are no UTF-8 and full of quotes: what the commands write for programs stays JSON
in valid UTF-8, and nothing that they write for people is obeyed by a terminal."""
import ctypes
import json
import os
import shutil
import subprocess
import unicodedata

import harness

BAD = b"b\xff\"\\\xc3\n\x01\xf0\x9f\x98z"       # stray bytes, quotes, controls, a character that is cut off
SHOWN = "b\ufffd\"\\\ufffd\n\x01\ufffdz"        # each run of bytes that is no character as one U+FFFD
CLONE_NEWUTS = 0x04000000
HOST = b"h\xff\"\\\xe2\x82t"


def rename_host():
    """In a child: a namespace of its own whose host has a hostile name."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUTS) or libc.sethostname(HOST, len(HOST)):
        raise OSError(ctypes.get_errno(), "no namespace")


class HostileNames(harness.ProgramTest):
    def run_json(self, *command, **more):
        """What a command writes, decoded strictly."""
        env = {os.fsencode(key): os.fsencode(value) for key, value in self.env.items()}
        env.update(more.pop("env", {}))
        done = subprocess.run([harness.STROBE, *command], env=env, capture_output=True, timeout=60, **more)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout.decode("utf-8", "strict"))

    def test_doctor_of_hostile_paths_writes_valid_json(self):
        folder = os.path.join(os.fsencode(self.dir), BAD)
        os.mkdir(folder)
        found = self.run_json("doctor", "--json", cwd=folder,
                              env={b"STROBE_DIR": os.path.join(folder, b"s"), b"STROBE_DISABLE": BAD})
        texts = [row["text"] for row in found["findings"]]
        for topic in ("shared memory", "rights", "disk"):
            self.assertTrue(any(SHOWN in row["text"] for row in found["findings"] if row["topic"] == topic),
                            (topic, texts))
        self.assertEqual(found["problems"], sum(row["level"] == "problem" for row in found["findings"]))

    def test_doctor_cuts_a_long_path_into_valid_json(self):
        for shift in range(3):      # the cut goes through a character of three bytes
            folder = os.path.join(os.fsencode(self.dir), b"x" * shift + "\u20ac".encode() * 80)
            folder = os.path.join(folder, "\u20ac".encode() * 80)
            os.makedirs(folder)
            found = self.run_json("doctor", "--json", cwd=folder)
            self.assertTrue(any("\u20ac" * 80 in row["text"] for row in found["findings"] if row["topic"] == "disk"))

    def test_info_of_a_hostile_program_writes_valid_json(self):
        folder = os.path.join(os.fsencode(self.dir), BAD)
        program, trace = os.path.join(folder, b"p" + BAD), os.path.join(folder, BAD + b".strobe")
        os.mkdir(folder)
        shutil.copy(self.program("flood_static"), program)
        command = [harness.STROBE, "record", "-o", trace, "--", program, b"1", BAD]
        try:
            done = subprocess.run(command, env=self.env, cwd=folder, capture_output=True, timeout=60,
                                  preexec_fn=rename_host)
            host = "h\ufffd\"\\\ufffdt"
        except subprocess.SubprocessError:
            print("no right to name a host: recorded under the own name")
            done = subprocess.run(command, env=self.env, cwd=folder, capture_output=True, timeout=60)
            host = None
        self.assertTrue(os.path.exists(trace), done.stderr)
        info = self.run_json("info", "--json", trace)
        self.assertTrue(info["file"].endswith(SHOWN + ".strobe"), info["file"])
        process = info["processes"][0]
        self.assertTrue(process["exe"].endswith("p" + SHOWN), process)
        self.assertTrue(process["cwd"].endswith(SHOWN), process)
        self.assertEqual(process["argv"][1:], ["1", SHOWN])
        if host:
            self.assertEqual(info["host"]["hostname"], host)

    def assert_plain(self, command, *texts):
        for text in texts:
            odd = {c for c in text.decode("utf-8", "strict") if c != "\n" and unicodedata.category(c) == "Cc"}
            self.assertEqual(odd, set(), (command, text))

    def test_names_are_nothing_that_a_terminal_obeys(self):
        trace = self.path("e.strobe")
        commands = [["record", "-o", trace, "--", self.program("escapes")], ["info", trace], ["stats", trace], ["stats", "--exact", trace],
                    ["stats", "--memory", trace], ["explain", trace], ["explain", "--queries", trace], ["diff", trace, "--", trace],
                    ["diff", "--all", "--format", "markdown", trace, "--", trace], ["query", trace, "select * from zone, thread, process"],
                    ["query", "--format", "markdown", trace, "select * from message"], ["locks", trace], ["locks", "--orders", trace],
                    ["locks", "--waits", trace], ["memory", trace], ["memory", "--by", "zone", trace], ["memory", "--blocks", trace],
                    ["memory", "--folded", trace], ["report", "--by-region", trace], ["sessions"], ["top", "--once", trace]]
        for command in commands:
            done = subprocess.run([harness.STROBE, *command], env=self.env, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            self.assert_plain(command, done.stdout, done.stderr)
        shown = subprocess.run([harness.STROBE, "stats", trace], env=self.env, capture_output=True, timeout=60).stdout.decode()
        self.assertIn("zone?[31mred?]0;title????2J?  (file?[31mred", shown)


if __name__ == "__main__":
    harness.main()
