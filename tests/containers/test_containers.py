#!/usr/bin/env python3
"""test_containers.py BUILD CLASS - programs and recorders in namespaces of their own: counted to the event, or refused in words.

Shapes    who is inside and who is outside, two containers in one session, users, mounts, no /proc
Kills     programs, recorders and both are killed inside; `strobe recover` brings the rest
Refused   what can't be recorded is in the trace and on stderr, with what to do about it
Tools     --pid from outside, `strobe sessions --clean`
Memory    a memory cgroup whose limit the pool would reach

STROBE_CONTAINER_ROUNDS: how often each shape is run (default 1), with four kills at random moments, by STROBE_CONTAINER_SEED, in each
round; STROBE_CONTAINER_EVENTS: at least so many events each.
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "death"))
import death  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
ROUNDS = int(os.environ.get("STROBE_CONTAINER_ROUNDS", "1"))
SEED = int(os.environ.get("STROBE_CONTAINER_SEED", "1"))
EVENTS = int(os.environ.get("STROBE_CONTAINER_EVENTS", "20000"))
KERNEL = tuple(int(word) for word in re.findall(r"\d+", os.uname().release)[:2])
THREADS = 8
SUMS = {}       # by test, of all its runs: what table() shows
USER = 12345    # an ordinary user that nobody has
INSIDE = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]


def can(*command):
    """Whether a command works here."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def children(pid):
    """Pids of a process's children."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def wait_for(condition, what, timeout=60):
    """The condition's first true value."""
    end = time.time() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.time() > end:
            raise AssertionError(f"{what} did not come")
        time.sleep(0.005)


def find_program(pid, name):
    """The descendant of `pid` that runs the program."""
    for child in children(pid):
        try:
            if os.path.basename(os.readlink(f"/proc/{child}/exe")) == name:
                return child
        except OSError:
            pass
        found = find_program(child, name)
        if found:
            return found
    return None


def table():
    """What was counted, a line for each shape and one for all."""
    columns, rows = ("runs", "threads", "emitted", "stored", "dropped"), dict(SUMS)
    rows["all"] = sum(SUMS.values(), collections.Counter())
    lines = [f"{'shape':84}" + "".join(f"{name:>12}" for name in columns)]
    for name, row in rows.items():
        lines.append(f"{name.removeprefix('test_').replace('_', ' '):84}" + "".join(f"{row[column]:>12,}" for column in columns))
    is_exact = all(row["emitted"] == row["stored"] + row["dropped"] for row in rows.values())
    return "\n".join([*lines, f"emitted = stored + dropped, to the event: {'holds' if is_exact else 'FAILS'}"])


class Case(unittest.TestCase):
    """A place of its own per test, and what all shapes share."""

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not can(*INSIDE, "true"):
            print("skipped: namespaces need root here")
            raise unittest.SkipTest("namespaces need root here")
        death.adopt_orphans()

    def setUp(self):
        self.place = death.Place(BUILD)
        self.addCleanup(self.clean)
        self.more_pages = []
        self.started = []

    def clean(self):
        """Nothing of a failed test goes on."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.place.__exit__()

    def pages(self, name="pages"):
        """Counted pages for one program."""
        pages = death.Pages(os.path.join(self.place.dir, name), THREADS)
        self.more_pages.append(pages)
        self.addCleanup(pages.stop)
        return pages

    def emitter(self, pages, pause_us=500, shell=None):
        """The command of a program that counts; `shell` runs before it."""
        command = [self.place.program("death_emitter"), pages.path, "tree", "1", str(THREADS), str(pause_us)]
        return ["sh", "-c", f"{shell}; exec \"$@\"", "sh", *command] if shell else command

    def start(self, command, **env):
        """Start something with the sessions of this place."""
        with open(self.place.errors, "ab") as errors:
            process = subprocess.Popen(command, env=self.place.env(**env), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=errors)
        self.started.append(process)
        return process

    def strobe(self, *args):
        """A strobe command line."""
        return [self.place.strobe, *args]

    def record(self, *command):
        """The command line of a recording."""
        return self.strobe("record", "-o", self.place.trace, "--", *command)

    def emit_for_a_while(self, seconds=0.0, least=EVENTS):
        """Until all programs emitted enough; then they are asked to end."""
        end = time.time() + seconds
        for pages in self.more_pages:
            pages.wait_ready(THREADS, 60)
        for pages in self.more_pages:
            wait_for(lambda p=pages: sum(row.after for row in p.threads()) >= least, "enough events")
        while time.time() < end:
            time.sleep(0.01)
        for pages in self.more_pages:
            pages.stop()

    def ledger(self):
        """(pid, tid, stored + dropped) of each thread of the trace, and what the checker says."""
        judge = death.Judge(self.place.trace, closed=True)
        keyed = judge.trace.keyed
        pids = {key[1]: fields[0] for key, fields in keyed.items() if key[0] == "process"}
        rows = collections.Counter()
        for key, fields in keyed.items():
            if key[0] == "thread":
                row = judge.rows.get((key[1], key[2]), {"stored": 0, "dropped": {}})
                rows[pids.get(key[1]), fields[1], row["stored"] + sum(row["dropped"].values())] += 1
        judge.names()
        return rows, judge

    def check(self, n_procs=1):
        """Emitted = stored + dropped of every thread, and no thread that nobody has."""
        rows, judge = self.ledger()
        emitted = collections.Counter()
        for pages in self.more_pages:
            for count in pages.threads():
                self.assertEqual(count.before, count.after)
                emitted[count.pid, count.tid, count.after] += 1
        self.assertEqual(judge.problems, [])
        self.assertEqual(rows, emitted, self.place.stderr())
        self.assertEqual(judge.facts["processes"], n_procs)
        stored, dropped = judge.emitted()
        n_emitted = sum(n * c for (_, _, n), c in emitted.items())
        print(f"{self.id()}: {n_emitted} emitted = {stored} stored + {dropped} dropped")
        SUMS.setdefault(self._testMethodName, collections.Counter()).update(
            runs=1, threads=sum(emitted.values()), emitted=n_emitted, stored=stored, dropped=dropped)
        return judge

    def info(self):
        """What `strobe info --json` says."""
        return json.loads(self.place.run("info", "--json", self.place.trace).stdout)

    def run_shape(self, command, seconds=0.0, n_procs=1, **env):
        """Run a whole recording, as often as asked for."""
        for i in range(ROUNDS):
            if i:   # new pages under the same names
                names, self.more_pages = [os.path.basename(pages.path) for pages in self.more_pages], []
                for name in names:
                    owner = os.stat(os.path.join(self.place.dir, name))
                    os.chown(self.pages(name).path, owner.st_uid, owner.st_gid)
            recorder = self.start(command, **env)
            self.emit_for_a_while(seconds)
            self.assertEqual(recorder.wait(60), 0, self.place.stderr())
            self.check(n_procs)


class Shapes(Case):
    def test_recorder_outside_program_inside_for_longer_than_slots_are_looked_at(self):
        self.run_shape(self.record(*INSIDE, *self.emitter(self.pages(), 3000)), seconds=3.5)
        process = self.info()["processes"][0]
        self.assertEqual(process["pid"], 1)
        self.assertGreater(process["outer_pid"], 1)
        if KERNEL >= (6, 15):   # an older one forgets how a process ended when another than us has reaped it
            self.assertEqual((process["end"], process["end_value"]), ("exit", 0))

    def test_recorder_inside_program_outside(self):
        for _ in range(ROUNDS):
            self.more_pages = []
            pages = self.pages()
            outer = self.start([*INSIDE, *self.strobe("record", "--session", "shared", "-o", self.place.trace)])
            page = os.path.join(self.place.sessions, "shared", "session")
            wait_for(lambda: os.path.exists(page) and os.path.getsize(page) >= 2048, "the session")
            inner = wait_for(lambda: find_program(outer.pid, "strobe"), "the recorder")
            wait_for(lambda: "recorder" in self.place.run("sessions").stdout, "the recorder's lock")
            program = self.start(self.emitter(pages), STROBE_SESSION="shared")
            self.emit_for_a_while()
            self.assertEqual(program.wait(60), 0)
            os.kill(inner, signal.SIGINT)
            self.assertEqual(outer.wait(60), 0, self.place.stderr())
            self.check()

    def test_both_inside(self):
        self.run_shape([*INSIDE, *self.record(*self.emitter(self.pages()))])

    def test_two_containers_with_the_same_pids_in_one_session(self):
        first, second = self.emitter(self.pages()), self.emitter(self.pages("pages-2"))
        inside = " ".join(INSIDE)
        shell = f"{inside} {' '.join(first)} & {inside} {' '.join(second)} & wait"
        self.run_shape(self.record("sh", "-c", shell), n_procs=2)
        processes = self.info()["processes"]
        self.assertEqual([process["pid"] for process in processes], [1, 1])
        self.assertEqual(len({process["outer_pid"] for process in processes}), 2)

    def test_an_ordinary_user_in_a_user_namespace(self):
        for arguments in ["--map-root-user"], []:
            if not can(*AS_USER, "unshare", "--user", *arguments, *INSIDE[1:], "true"):
                print(f"skipped: no user namespaces {arguments} for ordinary users here")
                continue
            self.more_pages = []
            pages = self.pages()
            for path in self.place.dir, pages.path:
                os.chown(path, USER, USER)
            self.run_shape([*AS_USER, *self.record("unshare", "--user", *arguments, *INSIDE[1:],
                                                   *self.emitter(pages))])
            shutil.rmtree(self.place.sessions, ignore_errors=True)

    def test_the_folder_bound_to_another_path(self):
        elsewhere = os.path.join(self.place.dir, "elsewhere")
        os.mkdir(elsewhere)
        shell = f"mount --bind {self.place.sessions} {elsewhere}; export STROBE_DIR={elsewhere}"
        self.run_shape(self.record(*INSIDE, *self.emitter(self.pages(), shell=shell)))

    def test_a_program_without_proc(self):
        self.run_shape(self.record("unshare", "--fork", "--pid", "--mount",
                                   *self.emitter(self.pages(), shell="umount -l /proc")))

    def test_nobody_has_proc(self):
        command = self.record(*self.emitter(self.pages()))
        self.run_shape(["unshare", "--fork", "--pid", "--mount", "sh", "-c", "umount -l /proc; exec \"$@\"", "sh",
                        *command])

    def test_proc_of_the_outer_namespace(self):
        self.run_shape(["unshare", "--fork", "--pid", *self.record(*self.emitter(self.pages()))])

    def test_read_only_root_and_own_network(self):
        shell = "mount -o remount,bind,ro /"
        self.run_shape(self.record("unshare", "--net", "--mount", *INSIDE[1:],
                                   *self.emitter(self.pages(), shell=shell)))

    def test_an_ordinary_user_where_proc_hides_others(self):
        pages = self.pages()
        for path in self.place.dir, pages.path:
            os.chown(path, USER, USER)
        shell = "mount -t proc -o hidepid=2 proc /proc"
        self.run_shape(["unshare", "--mount", "sh", "-c", f"{shell}; exec \"$@\"", "sh", *AS_USER,
                        *self.record(*self.emitter(pages))])

    def test_sixty_four_kilobytes_of_shared_memory_drop_and_count(self):
        os.mkdir(self.place.sessions, 0o700)
        command = self.record(*INSIDE, *self.emitter(self.pages()))
        self.run_shape(["unshare", "--mount", "sh", "-c",
                        f"mount -t tmpfs -o size=640k,mode=700 none {self.place.sessions}; exec \"$@\"", "sh", *command])


class Kills(Case):
    def kill_inside(self, pause_us=200):
        """A recording of a program in a container, all threads emitting."""
        pages = self.pages()
        recorder = self.start(self.record(*INSIDE, *self.emitter(pages, pause_us)))
        pages.wait_ready(THREADS, 60)
        program = wait_for(lambda: find_program(recorder.pid, "death_emitter"), "the program")
        return pages, recorder, program

    def compare(self, pages, n_procs=1):
        """Between what was begun and what was done of every thread."""
        judge = death.Judge(self.place.trace, closed=True, pattern=death.PATTERN)
        self.assertEqual(judge.compare(pages), [], self.place.stderr())
        self.assertEqual(judge.facts["processes"], n_procs)
        return judge.emitted()

    def recover(self, *wrapper):
        """`strobe recover`, here or in a container."""
        done = subprocess.run([*wrapper, *self.strobe("recover", self.place.trace)], env=self.place.env(), capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def kill_at_any_moment(self, seed):
        """Two processes of four threads inside; who is killed goes by the seed. The last one is the container's first process, the
        recorder, whose death ends all that is inside."""
        rng = random.Random(seed)
        who = ("program", "recorder", "both", "container")[seed % 4]
        pages = self.pages()
        command = [self.place.program("death_emitter"), pages.path, "tree", "2", str(THREADS // 2), str(rng.choice([200, 1000, 3000]))]
        outer = self.start([*INSIDE, *self.record(*command)] if who == "container" else self.record(*INSIDE, *command))
        pages.wait_ready(THREADS, 60)
        recorder = find_program(outer.pid, "strobe") if who == "container" else outer.pid
        program = find_program(outer.pid, "death_emitter")
        family = [program, *children(program)]
        time.sleep(rng.random() * 0.1)
        if who != "program":
            death.kill(recorder)
        if who in ("program", "both"):
            for pid in rng.sample(family, 2):
                death.kill(pid)
        pages.stop()
        outer.wait(60)
        death.wait_gone(family)
        if who != "program":
            self.recover(*(INSIDE if seed % 8 > 3 else []))
        stored, dropped = self.compare(pages, 2)
        return who, stored + dropped

    def test_kills_at_any_moment_are_exact(self):
        sums = collections.Counter()
        for seed in range(SEED, SEED + 4 * ROUNDS):
            who, emitted = self.kill_at_any_moment(seed)
            sums[who, "kills"] += 1
            sums[who, "events"] += emitted
            os.unlink(self.place.trace)
            shutil.rmtree(self.place.sessions, ignore_errors=True)
            self.more_pages = []
        print(f"{self.id()}: {dict(sums)}")

    def test_a_killed_program_loses_nothing(self):
        for _ in range(ROUNDS):
            pages, recorder, program = self.kill_inside()
            death.kill(program)
            recorder.wait(60)
            self.compare(pages)

    def test_a_killed_recorder_is_recovered_while_the_program_lives(self):
        for _ in range(ROUNDS):
            pages, recorder, program = self.kill_inside(3000)
            death.kill(recorder.pid)
            recorder.wait(60)
            pages.stop()
            death.wait_gone([program])
            self.recover()
            self.compare(pages)

    def test_both_killed_are_recovered_inside_another_container(self):
        for _ in range(ROUNDS):
            pages, recorder, program = self.kill_inside(3000)
            death.kill(recorder.pid)
            death.kill(program)
            recorder.wait(60)
            death.wait_gone([program])
            self.recover(*INSIDE)
            self.compare(pages)


class Refused(Case):
    def refuse(self, command, *words):
        """A recording whose program can't join; what is said of it."""
        pages = self.more_pages[0]
        recorder = self.start(command)
        wait_for(lambda: "is not recorded" in self.place.stderr(), "a word on stderr")
        pages.stop()
        self.assertEqual(recorder.wait(60), 0)
        info = self.info()
        self.assertEqual(len(info["unrecorded"]), 1, info["unrecorded"])
        for word in words:
            self.assertIn(word, info["unrecorded"][0]["reason"])
            self.assertIn(word, self.place.stderr())
        self.assertIn("could not take part", self.place.stderr())
        self.assertNotIn("coverage 100.00", self.place.stderr())
        self.assertEqual(info["unrecorded"][0]["what"], "death_emitter")

    def hidden(self):
        """A shell line after which the sessions are out of sight, the pages are not."""
        return f"mount -t tmpfs none {self.place.sessions}"

    def test_a_folder_out_of_sight_is_called(self):
        self.refuse(self.record(*INSIDE, *self.emitter(self.pages(), 1000, self.hidden())), "not visible",
                    f"-v {self.place.sessions}:{self.place.sessions}")

    def test_a_folder_out_of_sight_in_another_network_is_seen_by_the_recorder(self):
        self.refuse(self.record("unshare", "--net", *INSIDE[1:],
                                *self.emitter(self.pages(), 1000, self.hidden())), "not visible", "mount namespace")

    def test_a_folder_mounted_read_only(self):
        shell = f"mount --bind {self.place.sessions} {self.place.sessions}; " \
                f"mount -o remount,bind,ro {self.place.sessions}"
        self.refuse(self.record(*INSIDE, *self.emitter(self.pages(), 1000, shell)), "read-only", ":rw")

    def test_a_program_of_another_user(self):
        pages = self.pages()
        os.chmod(self.place.dir, 0o755)
        os.chown(pages.path, USER, USER)
        self.refuse(self.record(*INSIDE, *AS_USER, *self.emitter(pages, 1000)), f"runs as user {USER}", "--user 0")

    def test_a_program_without_marks_in_another_mount_namespace_raises_no_alarm(self):
        self.start(self.record("unshare", "--net", "--mount", "sh", "-c", f"{self.hidden()}; sleep 1")).wait(60)
        self.assertNotIn("is not recorded", self.place.stderr())
        self.assertEqual(self.info()["unrecorded"], [])

    def test_a_program_that_gives_its_memory_back_as_it_ends_raises_no_alarm(self):
        """Its memory is gone before its mounts are: what it had can't be looked up any more."""
        use = "import mmap; m = mmap.mmap(-1, 150 << 20, mmap.MAP_PRIVATE); m.madvise(15); m.write(bytes(150 << 20))"    # no huge pages
        shell = f"""{self.hidden()}; while :; do /bin/true; done & others=$!
                    for i in 1 2 3 4 5; do {sys.executable} -c '{use}'; done; kill $others"""
        self.start(self.record("unshare", "--net", "--mount", "sh", "-c", shell)).wait(60)
        self.assertNotIn("is not recorded", self.place.stderr())
        self.assertEqual(self.info()["unrecorded"], [])


class Group:
    """A memory cgroup of its own below this process's, of version 1 or 2."""

    def __init__(self, limit):
        self.path = None
        with open("/proc/self/cgroup", encoding="ascii") as file:
            lines = [line.strip().split(":", 2) for line in file]
        own = {names: path for _, names, path in lines}
        old = next((path for names, path in own.items() if "memory" in names.split(",")), None)
        for base, name in ((f"/sys/fs/cgroup/memory{old}" if old else "", "memory.limit_in_bytes"), (f"/sys/fs/cgroup{own.get('', '/')}", "memory.max")):
            if base and self.make(os.path.join(base, f"strobe-test-{os.getpid()}"), name, limit):
                break

    def make(self, path, name, limit):
        """Whether there is such a group now."""
        try:
            os.mkdir(path)
        except OSError:
            return False
        try:
            with open(os.path.join(path, name), "r+", encoding="ascii") as file:
                file.write(str(limit))
        except OSError:     # the controller is not on there
            os.rmdir(path)
            return False
        self.path = path
        return True

    def enter(self):
        """A shell line that moves the shell into it."""
        return f"echo $$ > {self.path}/cgroup.procs"

    def read(self, name):
        """A file of the group; "": there is none."""
        try:
            with open(os.path.join(self.path, name), encoding="ascii") as file:
                return file.read()
        except OSError:
            return ""

    def n_killed(self):
        """Processes that the kernel ended for want of memory in it."""
        return sum(int(n) for n in re.findall(r"oom_kill (\d+)", self.read("memory.oom_control") + self.read("memory.events")))

    def remove(self):
        """When its processes have ended."""
        wait_for(lambda: not self.read("cgroup.procs").strip(), "the group's end")
        os.rmdir(self.path)


class Memory(Case):
    def group(self, limit):
        """A group, or the test is skipped."""
        group = Group(limit)
        if not group.path:
            print("skipped: no memory cgroup can be made here")
            self.skipTest("no memory cgroup can be made here")
        self.addCleanup(group.remove)
        return group

    def run_in(self, limit, n_procs=1, pause_us=0):
        """A program that emits as fast as it can, in a group of that limit; recorded from outside."""
        group, pages = self.group(limit), self.pages()
        command = [self.place.program("death_emitter"), pages.path, "tree", str(n_procs), str(THREADS // n_procs), str(pause_us)]
        recorder = self.start(self.record("sh", "-c", f"{group.enter()}; exec \"$@\"", "sh", *command))
        self.emit_for_a_while(least=400_000)
        code = recorder.wait(120)
        self.assertEqual((group.n_killed(), code), (0, 0), self.place.stderr())
        return self.check(n_procs)

    def test_a_program_in_a_group_of_6_megabytes_is_recorded_to_the_event(self):
        self.run_in(6 << 20)

    def test_four_processes_share_a_group_of_10_megabytes(self):
        self.run_in(10 << 20, n_procs=4)


class Tools(Case):
    def start_idle(self, *wrapper):
        """A program inside that nobody records, and its outer pid."""
        pages = self.pages()
        outer = self.start([*INSIDE, *wrapper, *self.emitter(pages, 1000)])
        pages.wait_ready(THREADS, 60)
        return pages, outer, wait_for(lambda: find_program(outer.pid, "death_emitter"), "the program")

    def test_a_program_inside_is_recorded_by_its_outer_pid(self):
        self.record_by_pid()

    def record_by_pid(self, *wrapper):
        """A program inside, recorded for a while by its outer pid."""
        pages, outer, pid = self.start_idle(*wrapper)
        recorder = self.start(self.strobe("record", "--pid", str(pid), "-o", self.place.trace))
        wait_for(lambda: os.path.exists(self.place.trace) and os.path.getsize(self.place.trace) > 70000, "events")
        time.sleep(0.5)
        pages.stop()
        self.assertEqual(outer.wait(60), 0)
        self.assertEqual(recorder.wait(60), 0, self.place.stderr())
        process = self.info()["processes"][0]
        self.assertEqual((process["pid"], process["outer_pid"]), (1, pid))
        rows, judge = self.ledger()
        self.assertEqual(judge.problems, [])
        self.assertEqual(len(rows), THREADS)

    def test_a_program_inside_whose_folder_is_not_in_our_mounts_is_recorded_through_its_root(self):
        shell = f"mkdir -p {self.place.sessions}; mount -t tmpfs -o mode=700 none {self.place.sessions}"
        self.record_by_pid("sh", "-c", f"{shell}; exec \"$@\"", "sh")

    def test_a_folder_of_another_user_is_refused_in_words(self):
        pages, outer, pid = self.start_idle()
        os.chown(self.place.sessions, USER, USER)
        said = self.place.run("record", "--pid", str(pid), "-o", self.place.trace)
        pages.stop()
        self.assertEqual(outer.wait(60), 0)
        self.assertEqual(said.returncode, 1)
        self.assertIn(f"nsenter --target {pid} --user --mount --pid strobe record --pid 1", said.stderr)

    def test_cleaning_leaves_the_living_of_other_namespaces_alone(self):
        pages, outer, pid = self.start_idle()
        pool = [name for name in os.listdir(os.path.join(self.place.sessions, "default")) if name.endswith(".pool")]
        for command in self.strobe("sessions", "--clean"), [*INSIDE, *self.strobe("sessions", "--clean")]:
            said = subprocess.run(command, env=self.place.env(), capture_output=True, text=True, check=True, timeout=60)
            self.assertIn("idle", said.stdout)
            self.assertEqual([name for name in os.listdir(os.path.join(self.place.sessions, "default"))
                              if name.endswith(".pool")], pool)
        self.assertIn(f"    {pid} ", self.place.run("sessions").stdout)
        pages.stop()
        self.assertEqual(outer.wait(60), 0)


if __name__ == "__main__":
    program = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2, exit=False)
    if SUMS:
        print(table())
    sys.exit(not program.result.wasSuccessful())
