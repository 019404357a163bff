"""test_hostile.py - a process whose pool can't be trusted, beside a good one: the good one's events are all there, and
the recorder ends with a file that says what happened."""
import glob
import os
import shutil
import struct

import harness
from test_leave import Steady

DAMAGED = 5
PID = 12            # offsets in the control page: wire/ring_layout.h
START = 16
N_CHUNKS = 128
PRIVATE_BLOCK = 40


class Hostile(harness.ProgramTest):
    def setUp(self):
        super().setUp()
        self.env["STROBE_SESSION"] = "crew"
        self.recorder, self.trace = self.attach("t.strobe", "--session", "crew")
        self.folder = os.path.join(self.sessions, "crew")
        self.good = Steady(self, 4, "200")

    def pool(self, process):
        return glob.glob(os.path.join(self.folder, f"{process.pid}-*.pool"))[0]

    def emits_on(self):
        """The good process is drained after the deed: it fills its pool's first segments again and again."""
        before = self.good.rows()
        self.wait_for(lambda: all(now[0] > then[0] + 1000 for now, then in zip(self.good.rows(), before)), 60)

    def judge_good(self, *, says=None, ended=True):
        """End it all; the good one is whole."""
        self.emits_on()
        self.good.process.communicate("", timeout=30)
        code, _, err = self.end(self.recorder, timeout=60)
        self.assertEqual(code, 0, err)
        trace = self.judge(self.trace)
        number = next(n for n, proc in trace.procs.items() if proc.pid == self.good.process.pid)
        rows = [row for row in trace.facts["ledger"] if row["proc"] == number]
        self.assertEqual(sum(row["stored"] for row in rows), 2 * sum(row[1] for row in self.good.rows()))
        self.assertEqual(sum(sum(row["dropped"].values()) for row in rows), 0)
        if says:
            self.assertIn(says, " ".join(trace.notes()))
        return trace

    def bad(self):
        """A second process, recorded already."""
        bad = Steady(self, 2, "200")
        bad.path = self.path("counts-2")
        self.wait_for(lambda: all(row[1] > 100 for row in bad.rows()), 60)
        return bad.process

    def forge(self, name, *fields):
        """A pool of that name: a copy of the good one's with other words in its control page."""
        path = os.path.join(self.folder, name)
        with open(self.pool(self.good.process), "rb") as file:
            page = bytearray(file.read(4096))
        for offset, form, value in fields:
            struct.pack_into(form, page, offset, value)
        with open(path + ".new", "wb") as file:
            file.write(page)
            file.truncate(os.path.getsize(self.pool(self.good.process)))
        os.rename(path + ".new", path)

    def test_a_pool_that_is_cut_to_nothing(self):
        bad = self.bad()
        os.truncate(self.pool(bad), 0)
        trace = self.judge_good(says=f"process {bad.pid}: its pool was cut")
        self.assertIn(DAMAGED, trace.dropped())

    def test_a_pool_that_is_cut_in_its_middle(self):
        bad = self.bad()
        os.truncate(self.pool(bad), 4096)
        self.judge_good(says=f"process {bad.pid}: its pool was cut")

    def test_a_session_page_that_is_cut(self):
        os.truncate(os.path.join(self.folder, "session"), 0)
        self.judge_good()

    def test_a_pool_that_has_the_recorders_pid(self):
        with open(f"/proc/{self.recorder.pid}/stat", encoding="ascii") as file:
            start = int(file.read().rpartition(")")[2].split()[19])
        self.forge(f"{self.recorder.pid}-{start}-0.pool", (PID, "<I", self.recorder.pid), (START, "<Q", start),
                   (PRIVATE_BLOCK, "<Q", 0x1000))
        self.judge_good()

    def test_a_pool_that_says_it_has_chunks_gets_none(self):
        bad = self.bad()
        with open(self.pool(bad), "r+b") as file:
            file.seek(N_CHUNKS)
            file.write(struct.pack("<I", 256))
        used = os.stat(self.pool(bad)).st_blocks * 512
        self.emits_on()
        self.assertLess(os.stat(self.pool(bad)).st_blocks * 512, used + (4 << 20))
        bad.kill()
        self.judge_good()

    def test_files_that_are_no_pools(self):
        os.mkfifo(os.path.join(self.folder, "1-1-0.pool"))
        os.mkdir(os.path.join(self.folder, "2-1-0.pool"))
        os.symlink("/etc/passwd", os.path.join(self.folder, "3-1-0.pool"))
        with open(os.path.join(self.folder, "4-1-0.pool"), "wb") as file:
            file.truncate(1 << 40)
        with open(os.path.join(self.folder, "5-1-0.pool"), "wb") as file:
            file.write(b"x" * 100000)
        with open(os.path.join(self.folder, "6-1-0.pool"), "wb") as file:
            file.truncate(1 << 40)
            file.write(b"STRBPROC")
        self.judge_good()
        shutil.rmtree(self.folder, ignore_errors=True)

    def test_a_pool_that_is_replaced(self):
        bad = self.bad()
        path = self.pool(bad)
        with open(path + ".new", "wb") as file:
            file.write(b"\xff" * 100000)
        os.rename(path + ".new", path)
        self.judge_good()


if __name__ == "__main__":
    harness.main()
