"""test_scale.py - trees of processes, thousands of threads, millions of names, programs that live a moment."""
import os
import resource

import harness


def lives(pid):
    """Whether a process of that number runs; nobody may reap it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Processes(harness.ProgramTest):
    def test_a_tree_of_64_children_is_on_one_timeline(self):
        ran = self.record(self.program("tree"), "1000")
        self.assertEqual(ran.code, 0, ran.err)
        self.assertEqual(ran.trace.n_zones("leaf"), 64000)
        leaves = {proc: n for (proc, name), n in ran.trace.zones().items() if name == "leaf"}
        self.assertEqual(set(leaves.values()), {1000})
        self.assertEqual(len(leaves), 64)

    def test_every_process_of_a_tree_has_its_pid_arguments_and_end(self):
        trace = self.record(self.program("tree"), "10").trace
        leaves = {proc for proc, name in trace.zones() if name == "leaf"}
        exits, kills, execs = set(), 0, set()
        for number in leaves:
            proc = trace.procs[number]
            self.assertTrue(proc.exe.endswith("/tree"), proc.exe)
            self.assertEqual(os.path.realpath(self.dir), proc.cwd)
            if proc.how == 1:
                exits.add(proc.value)
            else:
                self.assertEqual((proc.how, proc.value), (2, 9))
                kills += 1
            if proc.argv[2:3] == ["leaf"]:
                execs.add(int(proc.argv[3]))
            else:
                self.assertEqual(proc.argv[1:], ["10"])
        self.assertEqual(exits, {i + 1 for i in range(64) if i % 4 < 2})
        self.assertEqual(kills, 32)
        self.assertEqual(execs, set(range(1, 64, 2)))
        self.assertEqual(len({trace.procs[number].pid for number in leaves}), 64)

    def test_a_thousand_short_processes_need_the_room_of_a_few(self):
        n = harness.amount("STROBE_TEST_PROCESSES", 1000)
        script = f"i=0; while [ $i -lt {n} ]; do {self.program('flood')} 10; i=$((i+1)); done; ls {self.sessions}/*"
        ran = self.record("sh", "-c", f"ulimit -Hn 80; {script}", timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80)))
        self.assertEqual(ran.trace.n_zones("flood"), 10 * n)
        self.assertEqual(len(ran.trace.procs), n)
        self.assertLess(len(ran.out.split()), 500)
        known = sum(proc.how == 1 for proc in ran.trace.procs.values())
        print(f"{n} short processes: the end of {known} is known")

    def test_with_any_number_of_descriptors_a_process_is_recorded_or_the_recorder_says_why_it_does_not_begin(self):
        seen = set()
        for n in range(12, 40, 2):
            path = self.path(f"{n}.strobe")
            code, _, err = self.run_it(harness.STROBE, "record", "-o", path, "--", self.program("flood"), "10",
                                       preexec_fn=lambda n=n: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            if not os.path.exists(path):
                self.assertNotEqual(code, 0)
                self.assertIn("strobe", err, f"{n} descriptors: neither a trace nor a word")
                seen.add("refused")
            else:
                self.assertEqual(self.judge(path).n_zones("flood"), 10, f"{n} descriptors: {err}")
                seen.add("recorded")
        self.assertIn("recorded", seen)
        print("with 12 to 38 descriptors:", ", ".join(sorted(seen)))

    def test_recovering_adds_those_for_whom_the_recorder_had_no_descriptor_and_the_trace_is_whole_then(self):
        n, path = 12, self.path("few.strobe")
        script = (f"exec 3<&0; for i in $(seq {n}); do {self.program('pulse')} 100 0 <&3 >/dev/null 2>&1 & echo $!; done; "
                  f"until [ $(ls {self.sessions}/*/*.pool | wc -l) -ge {n} ]; do sleep 0.05; done")
        ours, theirs = os.pipe()
        recorder = self.start(harness.STROBE, "record", "--no-sample", "-o", path, "--", "sh", "-c", script, stdin=ours,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)))
        os.close(ours)
        out, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 1, err)
        self.assertIn("had no file descriptor left for", err)
        self.assertIn(f"next: strobe recover {path}", err)
        self.assertNotIn("could not take part", err)
        info = self.run_it(harness.STROBE, "info", path)[1]
        self.assertIn("not closed: the recorder could not read all that the session's memory holds", info)
        os.close(theirs)  # they end
        self.wait_for(lambda: not any(lives(pid) for pid in out.split()))
        code, _, err = self.run_it(harness.STROBE, "recover", path)
        self.assertEqual(code, 0, err)
        trace = self.judge(path)
        self.assertEqual((len(trace.procs), trace.dropped()), (n, {}))
        info = self.run_it(harness.STROBE, "info", path)[1]
        for claim in ("not closed", "could not take part", "descriptor"):
            self.assertNotIn(claim, info)

    def test_a_program_that_lives_5_ms_is_all_there(self):
        runs = harness.amount("STROBE_TEST_BRIEF_RUNS", 15)
        ran = self.record(self.program("brief"), "measure", str(runs))
        with_it, without = map(float, ran.out.split())
        print(f"brief program: {without:.0f} us alone, {with_it:.0f} us recorded: {with_it - without:+.0f} us")
        self.assertEqual(ran.trace.n_zones("brief"), 1000 * runs)


class Threads(harness.ProgramTest):
    def test_10000_threads_alive_at_once_are_all_there(self):
        n = harness.amount("STROBE_TEST_THREADS", 10000)
        soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        if hard != resource.RLIM_INFINITY and hard < n + 200:
            self.skipTest(f"this user may have {hard} threads only")
        resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
        ran = self.record(self.program("threads"), "alive", str(n), "100")
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
        if ran.code == 77:
            self.skipTest("this machine refuses so many threads: " + ran.err)
        self.assertEqual(ran.trace.n_zones("work"), 100 * n)
        by_track = ran.trace.zones_by_track()
        self.assertEqual(len(by_track), n)
        self.assertEqual(set(by_track.values()), {100})
        self.assertEqual(ran.trace.facts["threads"], n)

    def test_a_thread_storm_with_destructors_that_emit_is_all_there(self):
        n = harness.amount("STROBE_TEST_STORM", 3000)
        ran = self.record(self.program("threads"), "storm", str(n), "20")
        self.assertEqual(ran.trace.n_zones("work"), 20 * n)
        self.assertEqual(ran.trace.n_zones("destructor"), 3 * n)
        self.assertEqual(set(ran.trace.zones_by_track().values()), {23})
        self.assertEqual(ran.trace.facts["threads"], n)
        self.assertEqual(ran.trace.facts["records"]["thread_end"], n)


class Names(harness.ProgramTest):
    def test_distinct_names_grow_the_program_by_its_pool_at_most(self):
        n = harness.amount("STROBE_TEST_NAMES", 300000)
        ran = self.record(self.program("names"), str(n), timeout=600)
        grown = int(ran.out)
        print(f"{n} names: the program grew by {grown} KiB")
        self.assertLess(grown, 16384 + 512)
        zones = ran.trace.zones()
        self.assertEqual(len(zones), n)
        self.assertEqual(set(zones.values()), {1})
        self.assertEqual({name for _, name in zones}, {f"name {i}" for i in range(n)})

    def test_long_names_of_several_processes_are_not_mixed(self):
        n = 500
        runs = "".join(f"{self.program('names')} {n} {letter} & " for letter in "wxyz")
        trace = self.record("sh", "-c", runs + "wait").trace
        names = {(proc, name) for proc, name in trace.zones()}
        self.assertEqual(len(names), 4 * n)
        for proc, name in names:
            letter = trace.procs[proc].argv[2]
            text = name.rstrip(letter)
            self.assertEqual((len(name), text), (5000, "name " + text[5:]))
            self.assertTrue(text[5:].isdigit())


if __name__ == "__main__":
    harness.main()
