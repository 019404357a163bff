#!/usr/bin/env python3
"""environments.py STROBE BURNER: what samples and switches show of a program, in one environment after another: printed as the table of docs/sampling.md.

As root: it changes users, makes namespaces and attaches. Exit status 1 where a row has not what the document says of it, 77 without root.
Toolchains that are missing (go, rustc, node, strip, unshare) leave their rows out, and say so.
"""
import csv
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

STROBE, BURNER = map(os.path.abspath, sys.argv[1:3])
USER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
INSIDE = ["unshare", "--mount", "--fork", "--pid", "--mount-proc", "--kill-child"]
GO = """package main
//go:noinline
func hot(n int) int { s := 0; for i := 0; i < n; i++ { s += i * i % 7 }; return s }
func main() { s := 0; for { s += hot(1000000) } }
"""
RUST = """#[inline(never)] fn hot(n: u64) -> u64 { let mut s = 0u64; for i in 0..n { s = s.wrapping_add(std::hint::black_box(i) * i % 7); } s }
fn main() { let mut s = 0u64; loop { s = s.wrapping_add(hot(1000000)); std::hint::black_box(s); } }
"""
NODE = "function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += i * i % 7; return s; } let s = 0; for (;;) s += hot(1000000);"


def table(trace, kind):
    """Rows of `strobe csv`."""
    done = subprocess.run([STROBE, "csv", "--kind", kind, str(trace)], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def facts(trace):
    """What a trace shows: samples, the share of them whose innermost function has a name, whether there are frames of the kernel, switches, waits with a
    reason, wake-ups, all names."""
    samples, switches = table(trace, "samples"), table(trace, "switches")
    frames = [row["frames"].split(";") for row in samples if row["frames"]]
    is_named = [" (" in f[0] or f[0].startswith("[") for f in frames]
    names = {frame.split(" (")[0].split(" < ")[0] for stack in frames for frame in stack}
    reasons = {int(row["reason"]) for row in switches if row.get("reason", "").isdigit()} if switches and "reason" in switches[0] else set()
    return {"samples": len(samples), "named": sum(is_named) / max(1, len(is_named)), "kernel": any("[kernel]" in row["frames"] for row in samples), "switches": len(switches),
            "reasons": {r for r in reasons if r >= 128}, "wakeups": len(table(trace, "wakeups")), "names": names}


def environment(folder, is_user):
    """That of a recording by whoever it is: each has a folder of its own for its session."""
    own = tempfile.mkdtemp(dir=folder)
    if is_user:
        os.chown(own, 65534, 65534)
    return {**{k: v for k, v in os.environ.items() if k != "STROBE_SAMPLE"}, "XDG_RUNTIME_DIR": own, "HOME": own}


def record(folder, command, before=(), options=(), inside=()):
    """Record a command: (its facts, what was said)."""
    trace = folder / f"{len(list(folder.iterdir()))}.strobe"
    done = subprocess.run([*before, STROBE, "record", "-o", str(trace), *options, "--", *inside, *command], cwd=folder, env=environment(folder, USER[0] in before), capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.returncode}\n{done.stderr}")
    return facts(trace), done.stderr


def attach(folder, command):
    """Record a program that runs, for a second: (its facts, what was said)."""
    trace = folder / f"{len(list(folder.iterdir()))}.strobe"
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            while int(open(f"/proc/{program.pid}/stat").read().rsplit(")", 1)[1].split()[11]) < 20:
                time.sleep(0.02)  # until it has used a fifth of a second of CPU time
            done = subprocess.run([STROBE, "record", "--for", "1s", "--pid", str(program.pid), "-o", str(trace)], cwd=folder, env=environment(folder, False), capture_output=True, text=True, timeout=300, check=False)
        finally:
            program.kill()
    if done.returncode:
        sys.exit(f"{command}: {done.returncode}\n{done.stderr}")
    return facts(trace), done.stderr


def build(folder, name, text, command):
    """A program of a toolchain, or None without it."""
    if not shutil.which(command[0]):
        return None
    (folder / name).write_text(text)
    env = {**os.environ, "GOCACHE": str(folder / "go-cache"), "GOPATH": str(folder / "go"), "GOFLAGS": "-mod=mod"}
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
    return str(folder / "hot")


def programs(folder):
    """Name of a row, a command that runs on and on, what must be among its names."""
    stripped = shutil.which("strip") and shutil.copy(BURNER, folder / "stripped")
    if stripped:
        subprocess.run(["strip", str(stripped)], check=True)
        yield "`--pid` of a stripped program", [str(stripped), "split", "1000"], None
    for name, text, command, want in (("Go", GO, ["go", "build", "-o", "hot", "hot.go"], "main.hot"), ("Rust", RUST, ["rustc", "-O", "-o", "hot", "hot.rs"], "hot::hot")):
        place = folder / name
        place.mkdir()
        made = build(place, command[-1], text, command)
        print(f"{name}: {command[0]} is not installed", file=sys.stderr) if not made else None
        if made:
            yield f"`--pid` of a program in {name}", [made], want
    if shutil.which("node"):
        (folder / "hot.js").write_text(NODE)
        yield "`--pid` of node", ["node", str(folder / "hot.js")], None
        yield "`--pid` of `node --perf-basic-prof`", ["node", "--perf-basic-prof", str(folder / "hot.js")], "hot"


def rows(folder):
    """(environment, facts, said, whether that is what the document says)"""
    waits = [BURNER, "waits", "200"]
    found, said = record(folder, waits, options=("--waits",))
    yield "root, `--waits`", found, said, found["samples"] and found["kernel"] and {129, 130, 133} <= found["reasons"] and found["wakeups"]
    found, said = record(folder, [BURNER, "split", "0.5"])
    yield "root", found, said, found["samples"] > 100 and found["switches"] and not found["wakeups"]
    found, said = record(folder, [BURNER, "split", "0.5"], before=USER)
    yield "an ordinary user, `perf_event_paranoid` " + pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text().strip(), found, said, found["samples"] > 100 and not found["kernel"] and found["switches"]
    found, said = record(folder, [BURNER, "split", "0.5"], before=[*USER, BURNER, "refuse"])
    yield "refused: a filter answers EACCES", found, said, found["samples"] > 40 and not found["switches"] and "a timer in the program takes the stack samples" in said
    found, said = record(folder, [BURNER, "split", "0.5"], inside=INSIDE)
    yield "root, the program in a container", found, said, found["samples"] > 100 and "half" in found["names"]
    found, said = record(folder, [BURNER, "split", "0.5"], before=INSIDE)
    yield "root, both in a container", found, said, found["samples"] > 100 and "half" in found["names"]
    for name, command, want in programs(folder):
        found, said = attach(folder, command)
        yield name, found, said, found["samples"] > 100 and (not want or any(want in n for n in found["names"]))


def main():
    """Print the table."""
    if os.geteuid():
        print("skipped: only root can be everybody")
        return 77
    status = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        print("| environment | samples | of them with a name | kernel's frames | switches | reasons of waits | wake-ups |\n|---|---|---|---|---|---|---|")
        for name, found, said, is_right in rows(folder):
            yes = {True: "yes", False: "–"}
            print(f"| {name} | {found['samples']} | {100 * found['named']:.0f} % | {yes[found['kernel']]} | {found['switches'] or '–'} | {', '.join(map(str, sorted(found['reasons']))) or '–'} | {found['wakeups'] or '–'} |", flush=True)
            if not is_right:
                status = 1
                print(f"{name}: not what docs/sampling.md says\n{sorted(found['names'])[:40]}\n{said}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
