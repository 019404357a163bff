"""test_forks.py - new processes while other threads emit: by fork, _Fork, clone, vfork and exec."""
import harness

N = harness.amount("STROBE_TEST_FORKS", 200)


class Forks(harness.ProgramTest):
    def check(self, mode, n):
        """The parent's tracks are whole, and so are the children's."""
        ran = self.record(self.program("forks"), mode, str(n), timeout=200)
        self.assertEqual(ran.code, 0, ran.err)
        emitted = dict(line.split() for line in ran.out.splitlines())
        by_track = ran.trace.zones_by_track()
        threads = ran.trace.threads()
        found = {threads[key]: str(count) for key, count in by_track.items() if threads[key].startswith("worker")}
        self.assertEqual(found, emitted)
        children = sorted(count for (_, name), count in ran.trace.zones().items() if name == "child")
        self.assertEqual(children, [1] + [10] * n)
        facts = ran.trace.facts
        self.assertEqual((facts["open"], facts["unfinished"], facts["lost_begin"]), (0, 0, 0))
        pids = {proc.pid for number, proc in ran.trace.procs.items() if (number, "child") in ran.trace.zones()}
        self.assertEqual(len(pids), n + 1)

    def test_fork_while_8_threads_emit_leaves_all_tracks_whole(self):
        self.check("fork", N)

    def test_Fork_without_handlers_is_noticed_by_the_child(self):
        self.check("_Fork", N // 4)

    def test_clone_without_exec_is_noticed_by_the_child(self):
        self.check("clone", N // 4)

    def test_vfork_and_exec_leave_the_parent_alone(self):
        self.check("vfork", N // 4)

    def test_a_child_ends_zones_of_its_parent_as_begun_before(self):
        ran = self.record(self.program("forks"), "inherit")
        facts = ran.trace.facts
        self.assertEqual((facts["open"], facts["unfinished"], facts["lost_begin"]), (0, 0, 2))
        self.assertEqual(sorted(ran.trace.zones().values()), [2, 2, 10, 20])


if __name__ == "__main__":
    harness.main()
