"""python -m tracy: what is recorded, under which names, and that the program does not notice."""
import json
import os
import re
import subprocess
import sys

import pytest

import helper

APP = """
import sys
def child_function_1(): return sum(range(10))
def child_function_2(): return len("two")
def function_under_test():
    child_function_1()
    child_function_2()
    return "done"
if __name__ == "__main__":
    print(sys.argv[1:], __name__, function_under_test())
"""


def tracy(folder, *words, check=True, **options):
    """Run `python -m tracy` in a folder; its result and the trace."""
    done = helper.run(sys.executable, "-m", "tracy", *words, cwd=folder, check=check, **options)
    return done, folder / "generated/profiler/.logs/tracy_profile_log_host.strobe"


@pytest.fixture
def app(tmp_path):
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def names(trace):
    return [zone.name for zone in helper.zones(trace)]


def test_every_function_is_recorded(app):
    done, trace = tracy(app, "app.py", "a b", "$HOME", "*", "")
    assert done.stdout == "['a b', '$HOME', '*', ''] __main__ done\n"
    found = names(trace)
    for name in ("function_under_test", "child_function_1", "child_function_2"):
        assert found.count(f"PY_FUNC_{name}") == 1
    zone = helper.one(trace, "PY_FUNC_child_function_1")
    assert (zone.file, zone.line) == (str(app / "app.py"), 3)


def test_the_program_sees_the_paths_that_it_has_without_it(tmp_path):
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "beside.py").write_text("word = 'found'\n")
    (target / "app.py").write_text("""
import os, sys
import beside
print(__file__, sys.argv, sys.path[0], beside.word)
os.chdir("/")
def where(): return os.path.abspath(__file__), where.__code__.co_filename
print(where())
""")
    (tmp_path / "linked.py").symlink_to(target / "app.py")
    for word in ("elsewhere/app.py", "linked.py"):
        plain = helper.run(sys.executable, word, "x", cwd=tmp_path).stdout
        assert tracy(tmp_path, word, "x")[0].stdout == plain


def test_the_interpreters_options_are_the_programs(tmp_path):
    (tmp_path / "app.py").write_text("import sys\nprint(sys.flags.optimize, sys.flags.dev_mode, sys.argv)\nassert False\n")
    done = helper.run(sys.executable, "-O", "-X", "dev", "-m", "tracy", "app.py", cwd=tmp_path)
    assert done.stdout == "1 True ['app.py']\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there is no safe path yet")
def test_a_safe_path_stays_as_it_is(tmp_path):
    (tmp_path / "app.py").write_text("import sys\nprint([path for path in sys.path if 'strobe' not in path])\n")
    plain = helper.run(sys.executable, "app.py", cwd=tmp_path, env={"PYTHONSAFEPATH": "1"}).stdout
    assert tracy(tmp_path, "app.py", env={"PYTHONSAFEPATH": "1"})[0].stdout == plain


def test_threads_that_outlive_the_scripts_last_line_are_recorded(tmp_path):
    (tmp_path / "threads.py").write_text("""
import threading, time
def late(): return 1
def work():
    time.sleep(0.3)
    for _ in range(1000): late()
threading.Thread(target=work).start()
""")
    _, trace = tracy(tmp_path, "threads.py")
    assert names(trace).count("PY_FUNC_late") == 1000
    assert helper.lost(trace) == helper.ALL_WHOLE


def test_partial_records_what_is_enabled(app):
    (app / "part.py").write_text("""
from app import *
from tracy import Profiler
function_under_test()
profiler = Profiler()
profiler.enable()
function_under_test()
profiler.disable()
with Profiler():
    child_function_1()
function_under_test()
""")
    _, trace = tracy(app, "-p", "part.py")
    found = names(trace)
    assert found.count("PY_FUNC_function_under_test") == 1
    assert found.count("PY_FUNC_child_function_1") == 2
    _, trace = tracy(app, "part.py")  # without -p the profiler changes nothing
    assert names(trace).count("PY_FUNC_function_under_test") == 3


def test_any_profiler_ends_what_another_began(app):
    (app / "part.py").write_text("""
from app import *
from tracy import Profiler
Profiler().enable()
child_function_1()
Profiler().disable()
child_function_2()
""")
    _, trace = tracy(app, "-p", "part.py")
    found = names(trace)
    assert "PY_FUNC_child_function_1" in found and "PY_FUNC_child_function_2" not in found


def test_lines_within_partial(app):
    (app / "part.py").write_text("""
from app import *
from tracy import Profiler
with Profiler():
    function_under_test()
""")
    _, trace = tracy(app, "-p", "-l", "part.py")
    lines = helper.zones(trace, "PY_LINE_function_under_test")
    assert sorted(zone.line for zone in lines) == [6, 7, 8]
    assert len(helper.zones(trace, "PY_FUNC_function_under_test")) == 1
    done, trace = tracy(app, "-l", "app.py")
    assert "-l works with -p only" in done.stderr
    assert helper.zones(trace, "PY_LINE_function_under_test") == []


def test_the_long_names_of_the_options_work(app):
    done, trace = tracy(app, "--partial", "--lines", "--verbose", "app.py")
    assert "strobe record" in done.stderr
    assert not any(name.startswith("PY_") for name in names(trace))


@pytest.mark.parametrize("ending, code", [("sys.exit(7)", 7), ("raise ValueError('x')", 1), ("sys.exit('word')", 1),
                                          ("import os; os._exit(5)", 5), ("", 0)])
def test_the_exit_code_is_the_programs_own(tmp_path, ending, code):
    (tmp_path / "end.py").write_text(f"import sys\n{ending}\n")
    plain = helper.run(sys.executable, "end.py", cwd=tmp_path, check=False)
    done, _ = tracy(tmp_path, "end.py", check=False)
    assert plain.returncode == done.returncode == code
    ours = [line for line in done.stderr.splitlines() if not line.startswith("python -m tracy: ")]
    assert [line.replace(str(tmp_path) + os.sep, "") for line in plain.stderr.splitlines()] == \
        [line.replace(str(tmp_path) + os.sep, "") for line in ours]
    checked, _ = tracy(tmp_path, "--check-exit-code", "end.py", check=False)
    assert checked.returncode == (4 if code else 0)


def test_a_module_and_its_arguments(tmp_path):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys\ndef f(): print(sys.argv[1:], __package__)\nf()\n")
    done, trace = tracy(tmp_path, "-m", "pack", "-v", "x y")
    assert done.stdout == "['-v', 'x y'] pack\n"
    helper.one(trace, "PY_FUNC_f")


def test_a_binary_with_its_arguments_as_they_are(tmp_path):
    done, _ = tracy(tmp_path, "/bin/echo", "two  blanks", "$x")
    assert done.stdout == "two  blanks $x\n"
    (tmp_path / "script.sh").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "script.sh").chmod(0o755)
    assert tracy(tmp_path, "script.sh", check=False)[0].returncode == 9


def test_multiprocessing_finds_its_main(tmp_path):
    (tmp_path / "pool.py").write_text("""
import multiprocessing, sys
def square(x): return x * x
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        print(pool.map(square, range(5)))
""")
    for method in ("fork", "spawn"):
        done, trace = tracy(tmp_path, "pool.py", method)
        assert done.stdout == "[0, 1, 4, 9, 16]\n"
    done, trace = tracy(tmp_path, "pool.py", "fork")
    assert names(trace).count("PY_FUNC_square") == 5


def test_usage(tmp_path):
    assert tracy(tmp_path, check=False)[0].returncode == 2
    assert tracy(tmp_path, "-v", check=False)[0].returncode == 0
    wrong, _ = tracy(tmp_path, "--no-such-option", "x.py", check=False)
    assert wrong.returncode == 2 and "no such option" in wrong.stderr
    missing, _ = tracy(tmp_path, "missing.py", check=False)
    assert missing.returncode == 2 and "can't open file" in missing.stderr
    assert tracy(tmp_path, "--enable-accumulate-profiling", "-r", "x.py", check=False)[0].returncode == 2
    assert tracy(tmp_path, "--dump-device-data-mid-run", "--device-trace-profiler", "x.py",
                 check=False)[0].returncode == 1
    alone, _ = tracy(tmp_path, "--no-capture-tool", check=False)
    assert alone.returncode == 2 and "Traceback" not in alone.stderr and "scriptfile" in alone.stderr
    (tmp_path / "app.py").write_text("raise SystemExit('it ran')\n")
    nowhere, _ = tracy(tmp_path, "--tracy-tools-folder", "/nonexistent", "app.py", check=False)
    assert nowhere.returncode == 1 and "/nonexistent" in nowhere.stderr and "it ran" not in nowhere.stderr
    helped = tracy(tmp_path, "--help")[0].stdout
    for option in ("-m", "-p", "-l", "-r", "-v", "--no-device", "-o", "-n", "-t", "--web-app-port", "--no-op-info-cache",
                   "--op-support-count", "--child-functions", "--process-logs-only", "--profile-dispatch-cores",
                   "--enable-sum-profiling", "--enable-accumulate-profiling", "--no-runtime-analysis",
                   "--sync-host-device", "--device-trace-profiler", "--device-memory-profiler",
                   "--dump-device-data-mid-run", "--disable-device-data-dump-to-files",
                   "--disable-device-data-push-to-tracy", "--collect-noc-traces", "--check-exit-code", "-a",
                   "--tracy-tools-folder", "--profiler-capture-perf-counters", "--no-capture-tool"):
        assert re.search(rf"(?<![\w-]){re.escape(option)}\b", helped), option


def test_options_of_the_device_reach_its_runtime(tmp_path):
    (tmp_path / "env.py").write_text("import json, os\n"
                                     "print(json.dumps({k: v for k, v in os.environ.items() if 'T' in k}))\n")
    options = ["--sync-host-device", "--op-support-count", "5000", "--no-op-info-cache", "--collect-noc-traces",
               "--profiler-capture-perf-counters", "fpu,pack", "--device-memory-profiler", "-t", "9123"]
    done, _ = tracy(tmp_path, *options, "env.py")
    seen = json.loads(done.stdout)
    assert seen["TT_METAL_DEVICE_PROFILER"] == "1" and seen["TT_METAL_PROFILER_SYNC"] == "1"
    assert seen["TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT"] == "5000" and seen["TT_METAL_MEM_PROFILER"] == "1"
    assert seen["TT_METAL_PROFILE_PERF_COUNTERS"] == "3" and seen["TRACY_PORT"] == "9123"
    assert seen["TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH"].endswith("generated/profiler/.logs")
    assert "--sync-host-device" in done.stderr and "without a device they change nothing" in done.stderr
    plain = json.loads(tracy(tmp_path, "--no-device", "env.py",
                             env={"TT_METAL_DEVICE_PROFILER": "1"})[0].stdout)
    assert "TT_METAL_DEVICE_PROFILER" not in plain and "TT_METAL_PROFILER_NO_CACHE_OP_INFO" not in plain


@pytest.mark.parametrize("variables, words", [({"TT_METAL_DPRINT_CORES": "all"}, ["TT_METAL_DPRINT_CORES is set", "Unset it"]),
                                              ({"ARCH_NAME": "grayskull"}, ["timers", "sudo reboot"])])
def test_troubles_of_the_device_are_named_before_the_program_starts(tmp_path, variables, words):
    (tmp_path / "app.py").write_text("import sys\nprint('program', file=sys.stderr)\n")
    said = tracy(tmp_path, "app.py", env=variables)[0].stderr.splitlines()
    line, = [at for at, text in enumerate(said) if all(word in text for word in words)]
    assert line < said.index("program")
    assert not any(word in tracy(tmp_path, "--no-device", "app.py", env=variables)[0].stderr for word in words)


def test_signposts_are_messages(tmp_path):
    (tmp_path / "posts.py").write_text("""
from tracy import signpost
signpost("Warmup Start")
signpost(header="Run number 5", message="This is the run after 5 warmup runs")
""")
    _, trace = tracy(tmp_path, "posts.py")
    text = helper.run(helper.STROBE, "csv", "--kind", "messages", trace).stdout
    assert "`TT_SIGNPOST: Warmup Start`" in text
    assert "`TT_SIGNPOST: Run number 5\nThis is the run after 5 warmup runs`" in text


@pytest.mark.parametrize("options", [["-p"], ["-p", "-l"], []])
def test_signposts_own_logging_is_no_zone(tmp_path, options):
    (tmp_path / "posts.py").write_text("""
import logging
from tracy import Profiler, signpost
logging.basicConfig(level=logging.INFO)
def busy(): return logging.getLogger("mine").name
def run():
    busy()
    signpost("half way", "of two")
    busy()
with Profiler():
    run()
""")
    done, trace = tracy(tmp_path, *options, "posts.py")
    assert "INFO:tracy:half way: of two" in done.stderr
    found = helper.zones(trace)
    assert [zone.name for zone in found].count("PY_FUNC_busy") == 2
    assert [zone.name for zone in found].count("PY_FUNC_getLogger") == 4  # the program's own
    for name in ("info", "_log", "handle", "emit", "signpost"):
        assert not any(zone.name.endswith("FUNC_" + name) for zone in found), name
    assert helper.lost(trace).startswith(helper.ALL_WHOLE)


def test_profiler_works_by_itself(tmp_path):
    (tmp_path / "alone.py").write_text("""
from tracy import Profiler, signpost
def busy(): return sum(range(1000))
profiler = Profiler()
profiler.enable()
busy()
signpost("in it")
profiler.disable()
busy()
""")
    helper.run(sys.executable, "alone.py", cwd=tmp_path)
    trace = tmp_path / "tracy_profile_log_host.strobe"
    assert names(trace).count("PY_FUNC_busy") == 1


def test_profilers_by_themselves_keep_all_that_they_saw(tmp_path):
    (tmp_path / "alone.py").write_text("""
from tracy import Profiler, runctx
def busy(): return 1
profiler = Profiler()
for _ in range(3):
    profiler.enable()
    busy()
    profiler.disable()
    busy()
with Profiler(): busy()
runctx("busy()", globals(), globals())
busy()
with Profiler("own.strobe"): busy(); busy()
""")
    helper.run(sys.executable, "alone.py", cwd=tmp_path)
    assert names(tmp_path / "tracy_profile_log_host.strobe").count("PY_FUNC_busy") == 5
    assert names(tmp_path / "own.strobe").count("PY_FUNC_busy") == 2


def test_runctx_leaves_the_tracing_of_the_program_on(tmp_path):
    (tmp_path / "ctx.py").write_text("""
import tracy
def f(): return 1
def after(): return 2
tracy.runctx("f()", globals(), globals())
tracy.runctx("f()", globals(), globals(), partialProfile=True)
after()
""")
    _, trace = tracy(tmp_path, "ctx.py")
    assert names(trace).count("PY_FUNC_f") == 2 and names(trace).count("PY_FUNC_after") == 1
    (tmp_path / "part.py").write_text("""
import tracy
from ctx import f, after
profiler = tracy.Profiler()
profiler.enable()
tracy.runctx("f()", globals(), globals())
after()
profiler.disable()
after()
""")
    _, trace = tracy(tmp_path, "-p", "part.py")
    assert names(trace).count("PY_FUNC_f") == 2 and names(trace).count("PY_FUNC_after") == 1


def test_runctx(tmp_path):
    (tmp_path / "ctx.py").write_text("""
import tracy
def f(): return 1
tracy.runctx("f(); x = f()", globals(), globals())
tracy.runctx(compile("f()", "<c>", "exec"), globals(), None, partialProfile=True)
print(x)
""")
    trace = tmp_path / "o.strobe"
    helper.run(helper.STROBE, "record", "-q", "-o", trace, "--", sys.executable, "ctx.py", cwd=tmp_path,
               env={"STROBE_PYTHON": "off"})
    assert names(trace).count("PY_FUNC_f") == 2


def test_ttnn_gets_the_names_it_lacks(tmp_path):
    (tmp_path / "ttnn.py").write_text("def tracy_frame(): return 'own'\n")
    (tmp_path / "use.py").write_text("""
import ttnn
ttnn.tracy_message("Starting batch processing")
ttnn.tracy_message("Critical section entered", color=0xFF0000)
ttnn.start_tracy_zone("my_file.py", "MY_CUSTOM_ZONE", line_number=42)
ttnn.start_tracy_zone("other.py", "INNER", lineNum=43, color=3)
assert ttnn.stop_tracy_zone("RENAMED", color=0x00FF00) is False
assert ttnn.stop_tracy_zone("MY_CUSTOM_ZONE", color=0x00FF00) is False
assert ttnn.stop_tracy_zone() is True
ttnn.start_tracy_zone("f.py", "LEFT OPEN", 1)
assert ttnn.tracy_frame() == "own"
""")
    _, trace = tracy(tmp_path, "-p", "use.py")
    zone = helper.one(trace, "MY_CUSTOM_ZONE")
    assert (zone.file, zone.line) == ("my_file.py", 42)
    helper.one(trace, "RENAMED")
    assert helper.one(trace, "LEFT OPEN").state == "ended"


def test_wrapped_bindings_have_their_own_names(tmp_path):
    (tmp_path / "wrapped.py").write_text("""
import types
from tracy.ttnn_profiler_wrapper import callable_decorator
binding = types.SimpleNamespace(matmul=max, Tensor=int)
callable_decorator(binding)
assert binding.matmul(1, 2) == 2 and binding.matmul.profiler_wrapped_function is max and binding.Tensor is int
""")
    _, trace = tracy(tmp_path, "wrapped.py")
    helper.one(trace, "PY_TT_LIB_matmul")


def test_interrupting_it_ends_all_and_keeps_the_trace(tmp_path):
    (tmp_path / "long.py").write_text("import time\ndef f(): pass\nf()\nprint('up', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([sys.executable, "-m", "tracy", "long.py"], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 3
    trace = tmp_path / "generated/profiler/.logs/tracy_profile_log_host.strobe"
    assert "PY_FUNC_f" in names(trace)


def test_process_model_log_runs_and_reads_a_report(tmp_path):
    (tmp_path / "model.py").write_text("""
from tracy import signpost
signpost("start"); signpost("inside"); signpost("stop"); signpost("after")
""")
    code = """
from tracy import process_model_log as log
log.run_device_profiler("model a 'b c'", "unit")
print([row["OP CODE"] for row in log.post_process_ops_log("unit", has_signposts=True)])
print(log.post_process_ops_log("unit", columns=["HOST START TS"], has_signposts=True)["HOST START TS"] > 0)
"""
    done = helper.run(sys.executable, "-c", code, cwd=tmp_path, env={"TT_METAL_HOME": str(tmp_path)})
    assert done.stdout.endswith("['inside']\nTrue\n")


def test_the_report_folder_of_a_run_without_ops(tmp_path):
    (tmp_path / "app.py").write_text("def f(): pass\nf()\n")
    done, _ = tracy(tmp_path, "-r", "-n", "named", "app.py")
    folder, = (tmp_path / "generated/profiler/reports/named").iterdir()
    for name in ("tracy_profile_log_host.tracy", "tracy_ops_times.csv", "tracy_ops_data.csv"):
        assert (folder / name).exists()
    assert "profile_log_device.csv is absent" in done.stderr and "has no ops" in done.stderr
    again, _ = tracy(tmp_path, "--process-logs-only")
    assert again.returncode == 0


def test_the_reason_for_absent_device_files_is_the_option_that_was_given(tmp_path):
    (tmp_path / "app.py").write_text("pass\n")
    for options, why in ((["--no-device", "--disable-device-data-dump-to-files"], "--disable-device-data-dump-to-files"),
                         (["--no-device"], "--no-device"), ([], "no device was used")):
        done, _ = tracy(tmp_path, "-r", *options, "app.py")
        line, = [line for line in done.stderr.splitlines() if "profile_log_device.csv is absent" in line]
        assert why in line
