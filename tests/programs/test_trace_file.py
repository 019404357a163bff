"""test_trace_file.py - a trace that is renamed or deleted while it is recorded: said at once, noted, and never lost."""
import os
import shutil
import subprocess

import harness


class TraceFile(harness.ProgramTest):
    def begin(self, path):
        """Record `pulse` into a file: the recorder, with its file there."""
        self.said = self.path("said")
        with open(self.said, "w") as said:
            process = self.start(harness.STROBE, "record", "-o", path, "--", self.program("pulse"), "500", "0",
                                 stdin=subprocess.PIPE, stderr=said)
        self.wait_for(lambda: os.path.exists(path), 60)
        return process

    def stderr(self):
        """What the recorder has said so far."""
        with open(self.said) as said:
            return said.read()

    def wait_said(self, text):
        """Until the recorder, which goes on, has said that."""
        self.wait_for(lambda: text in self.stderr(), 60)

    def finish(self, process, path, note=None):
        """End the program: the trace is at `path`, with all beats and the note in it."""
        out, _ = process.communicate("", timeout=60)
        self.assertEqual(process.returncode, 0, self.stderr())
        self.assertIn(f"strobe: next: strobe stats {path}\n", self.stderr())
        trace = self.judge(path)
        self.assertEqual(trace.n_zones("beat"), int(out))
        self.assertEqual(trace.dropped(), {})
        if note:
            self.assertIn(note, trace.notes())
        return trace

    def deleted_note(self, path, how):
        return (f"this trace, then {path}, was {how} while it was recorded; "
                "the recorder wrote it to a file again when it ended")

    def test_a_deleted_trace_is_back_at_the_end(self):
        path = self.path("t.strobe")
        process = self.begin(path)
        os.unlink(path)
        self.wait_said(f"strobe record: {path} was deleted; the recording goes on")
        self.finish(process, path, self.deleted_note(path, "deleted"))
        self.assertIn(f"the trace is in {path} again\n", self.stderr())

    def test_a_truncated_trace_is_said_to_be_and_has_what_came_later(self):
        path = self.path("t.strobe")
        process = self.begin(path)
        self.wait_for(lambda: os.path.getsize(path) > 70000, 60)
        os.truncate(path, 0)
        self.wait_said(f"strobe record: {path} was truncated by another program: what was in it is gone; the recording goes on\n")
        process.communicate("", timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("the trace is not whole", self.stderr())
        self.assertNotIn("coverage", self.stderr())
        code, out, _ = self.run_it(harness.STROBE, "info", path)
        self.assertEqual(code, 0)
        self.assertIn("somebody truncated this trace while it was recorded", out)
        self.assertIn("not closed", out)

    def test_a_renamed_trace_is_followed(self):
        path, folder = self.path("t.strobe"), self.path("kept")
        os.mkdir(folder)
        process = self.begin(path)
        new = os.path.join(folder, "new.strobe")
        os.rename(path, new)
        self.wait_said(f"strobe record: {path} was renamed to {new}; the recording goes on there\n")
        self.finish(process, new, f"this trace was renamed while it was recorded: {path} became {new}")
        self.assertFalse(os.path.exists(path))

    def test_a_file_that_took_the_traces_place_stays_and_the_trace_is_beside_it(self):
        path, other = self.path("t.strobe"), self.path("other")
        with open(other, "w") as file:
            file.write("somebody else's")
        process = self.begin(path)
        os.replace(other, path)
        self.wait_said(f"{path} was replaced by another file; the recording goes on")
        self.finish(process, self.path("t-2.strobe"), self.deleted_note(path, "replaced by another file"))
        with open(path) as file:
            self.assertEqual(file.read(), "somebody else's")
        self.assertIn(f"the trace is in {self.path('t-2.strobe')} now: {path} is taken", self.stderr())

    def test_recorders_of_one_file_leave_a_trace_each(self):
        path, processes, beats = self.path("t.strobe"), [], []
        for i in range(3):
            process = self.start(harness.STROBE, "record", "-o", path, "--", self.program("beacon"), str(i), stdin=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), "ready\n")
            processes.append(process)
        for process in processes:
            out, err = process.communicate("", timeout=60)
            self.assertEqual(process.returncode, 0, err)
            beats.append(int(out.split()[-1]))
        self.assertEqual(sorted(name for name in os.listdir(self.dir) if name.endswith(".strobe")), ["t-2.strobe", "t-3.strobe", "t.strobe"])
        traces = [self.judge(self.path(name)) for name in ("t.strobe", "t-2.strobe", "t-3.strobe")]
        self.assertEqual([next(iter(trace.procs.values())).argv[1:] for trace in traces], [["0"], ["1"], ["2"]])
        self.assertEqual([(trace.n_zones("tick"), trace.dropped()) for trace in traces], [(n, {}) for n in beats])

    def test_a_trace_whose_folder_was_removed_is_in_the_folder_above(self):
        folder = self.path("one/two")
        os.makedirs(folder)
        path = os.path.join(folder, "t.strobe")
        process = self.begin(path)
        shutil.rmtree(self.path("one"))
        self.wait_said(f"{path} was deleted with its folder; the recording goes on")
        self.finish(process, self.path("t.strobe"), self.deleted_note(path, "deleted with its folder"))

    def test_a_trace_that_was_renamed_and_then_deleted_is_back_at_its_last_name(self):
        path, new = self.path("t.strobe"), self.path("new.strobe")
        process = self.begin(path)
        os.rename(path, new)
        self.wait_said(f"was renamed to {new}")
        os.unlink(new)
        self.wait_said(f"{new} was deleted;")
        self.finish(process, new, self.deleted_note(new, "deleted"))

    def test_a_trace_that_is_deleted_in_the_last_moment_is_back_all_the_same(self):
        path = self.path("0.strobe")
        ran = self.record("sh", "-c", f"{self.program('pulse')} 1000 20; rm {path}")
        self.assertEqual(ran.trace.n_zones("beat"), 20)
        self.assertIn(f"the trace is in {path} again\n", ran.err)

    def test_recorders_of_one_name_write_a_trace_each(self):
        path = self.path("t.strobe")
        first = self.begin(path)
        code, _, err = self.run_it(harness.STROBE, "record", "-o", path, "--", self.program("pulse"), "1000", "20")
        self.assertEqual(code, 0, err)
        self.assertIn(f"another recorder is writing {path}; this trace is written to {self.path('t-2.strobe')}\n", err)
        self.assertEqual(self.judge(self.path("t-2.strobe")).n_zones("beat"), 20)
        self.assertEqual(self.finish(first, path).notes(), [])


if __name__ == "__main__":
    harness.main()
