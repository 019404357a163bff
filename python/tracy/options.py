# SPDX-License-Identifier: MIT
"""The command line of `python -m tracy`, and what it means for the environment of the program.

Every option of tt-metal's module is known here. Those whose work needs a device's own profiler do what the
module has to do for it (set the variable that the runtime reads) and are told to the user once.
"""
import optparse
import os
import sys

from tracy import counters

USAGE = "python3 -m tracy [-m module | scriptfile] [arg] ..."
WEB_PORT_VARIABLE = "TRACY_WASM_HTTP_PORT"
NO_WEB_VARIABLE = "TRACY_NO_WEB_SERVER"
DEFAULT_CHILDREN = ["CompileProgram", "HWCommandQueue_write_buffer"]
# option, variable, what it is for: a switch that the runtime of the device obeys
DEVICE_SWITCHES = [
    ("--profile-dispatch-cores", "TT_METAL_DEVICE_PROFILER_DISPATCH", "Collect data of the dispatch cores"),
    ("--enable-sum-profiling", "TT_METAL_PROFILER_SUM", "Accumulating zones on the device"),
    ("--enable-accumulate-profiling", "TT_METAL_PROFILER_ACCUMULATE", "Keep many runs in L1, push when it is full"),
    ("--sync-host-device", "TT_METAL_PROFILER_SYNC", "Sync the host's clock with all devices"),
    ("--device-trace-profiler", "TT_METAL_TRACE_PROFILER", "Profile traces on the device"),
    ("--device-memory-profiler", "TT_METAL_MEM_PROFILER", "Events of L1 and DRAM buffers"),
    ("--dump-device-data-mid-run", "TT_METAL_PROFILER_MID_RUN_DUMP", "Dump device data during the run"),
    ("--disable-device-data-dump-to-files", "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES", "No device files"),
    ("--disable-device-data-push-to-tracy", "TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY", "No device zones in the trace"),
    ("--collect-noc-traces", "TT_METAL_DEVICE_PROFILER_NOC_EVENTS", "Collect traces of NoC events"),
]


class UsageError(Exception):
    """Wrong words on the command line; `code` is the exit code that upstream has for it."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


class Parser(optparse.OptionParser):
    def error(self, msg):
        raise UsageError(f"{self.get_usage()}\npython -m tracy: {msg}")


def make_parser():
    """Parsing stops at the first word that is no option: the rest is the program's."""
    parser = Parser(prog="python3 -m tracy", usage=USAGE)
    parser.disable_interspersed_args()
    add = parser.add_option
    add("-m", dest="module", action="store_true", default=False, help="Profile a library module")
    add("-p", "--partial", dest="partial", action="store_true", default=False,
        help="Only profile between Profiler().enable() and .disable()")
    add("-l", "--lines", dest="lines", action="store_true", default=False,
        help="Profile every line of Python code (with -p)")
    add("-r", "--report", dest="report", action="store_true", default=False, help="Make the report folder")
    add("-v", "--verbose", dest="verbose", action="store_true", default=False, help="Say more")
    add("--no-device", dest="device", action="store_false", default=True, help="No device data")
    add("-o", "--output-folder", dest="output_folder", help="Folder of all artifacts")
    add("-n", "--name-append", dest="name_append", help="Name to be appended to the report")
    add("-t", "--port", dest="port", type="int", help="Port of the program's own Tracy client")
    add("--web-app-port", dest="web_app_port", type="int", default=os.environ.get(WEB_PORT_VARIABLE) or None,
        help=f"Port of a viewer that shows the trace, and stays (${WEB_PORT_VARIABLE})")
    add("--no-op-info-cache", dest="op_info_cache", action="store_false", default=True,
        help="Full op info also for cached ops")
    add("--op-support-count", dest="op_support_count", type="int", help="Ops that the device's buffers must hold")
    add("--child-functions", dest="child_functions", help="Further child zones whose time is added per op: a,b,c")
    add("--process-logs-only", dest="process_logs_only", action="store_true", default=False,
        help="Only make the report of the logs that are there")
    for option, variable, text in DEVICE_SWITCHES:
        add(option, dest=variable, action="store_true", default=False, help=text)
    add("--no-runtime-analysis", dest="runtime_analysis", action="store_false", default=True,
        help="No analysis by the device's runtime")
    add("--check-exit-code", dest="check_exit_code", action="store_true", default=False,
        help="When the program fails: exit 4, and no report")
    add("-a", "--device-analysis-types", dest="device_analysis_types", action="append", default=[],
        help="Only this device analysis; may be given again")
    add("--tracy-tools-folder", dest="tools_folder", help="Where tracy-csvexport is")
    add("--profiler-capture-perf-counters", dest="perf_counters", help="Groups of counters: fpu,pack,...,all")
    add("--perf-counter-multipass", dest="multipass", action="store_true", default=None,
        help="Counters that do not fit into one run: run the program again for them, and merge (`all` does so by itself)")
    add("--no-multipass", dest="multipass", action="store_false", help="One run: of the L1's counters the first bank alone")
    add("--no-web-server", dest="web_server", action="store_false", default=True,
        help=f"No viewer, whatever ${WEB_PORT_VARIABLE} says (${NO_WEB_VARIABLE}=1)")
    add("--older-names", dest="older_names", action="store_true", default=False,
        help="Column names of older reports (COMPUTE KERNEL PATH ...)")
    add("--process-columns", dest="process_columns", action="store_true", default=False,
        help="Columns PROCESS ID and RANK at the end of the report")
    add("--no-capture-tool", dest="is_child", action="store_true", default=False,
        help="Run the program in this process; for this module's own use")
    return parser


def parse(words):
    """(options, the program's words); raises UsageError."""
    options, program = make_parser().parse_args(list(words))
    asked = any(word.split("=")[0] == "--web-app-port" for word in words[:len(words) - len(program)])
    if not options.web_server or (os.environ.get(NO_WEB_VARIABLE, "").startswith("1") and not asked):
        options.web_app_port = None
    if options.TT_METAL_PROFILER_ACCUMULATE and options.report:
        raise UsageError("python -m tracy: --enable-accumulate-profiling makes no report: leave -r out")
    if options.TT_METAL_PROFILER_MID_RUN_DUMP and (options.TT_METAL_TRACE_PROFILER or
                                                   options.TT_METAL_DEVICE_PROFILER_DISPATCH):
        raise UsageError("python -m tracy: --dump-device-data-mid-run goes neither with --device-trace-profiler nor "
                         "with --profile-dispatch-cores", 1)
    for port, least, most, name in ((options.port, 1, 65535, "--port"),
                                    (options.web_app_port, 1, 65534, "--web-app-port")):
        if port is not None and not least <= port <= most:
            raise UsageError(f"python -m tracy: {name} {port} is not in {least}..{most}")
    if options.op_support_count is not None and options.op_support_count < 1:
        raise UsageError(f"python -m tracy: --op-support-count {options.op_support_count} is not a count")
    return options, program


def counter_passes(options):
    """([groups of each pass], number of l1_client), ([], 0) without counters. `all` takes as many passes as it needs, other lists one
    unless --perf-counter-multipass is given; raises UsageError. options.plans_later: `all` of an architecture that the environment does not
    name, so that banks may be missing."""
    options.plans_later = False
    if not options.perf_counters:
        return [], 0
    try:
        groups, client, is_all = counters.read(options.perf_counters)
    except counters.CounterError as problem:
        raise UsageError(f"python -m tracy: {problem}", 1) from None
    options.plans_later = is_all and options.multipass is not False and counters.banks_of(counters.architecture()) is None
    if options.multipass is False:
        groups = counters.one_bank(groups)[:counters.GROUPS_PER_PASS]
    passes = counters.schedule(groups)
    if len(passes) > 1 and not is_all and options.multipass is not True:
        raise UsageError(f"python -m tracy: these counters do not fit into one run: {counters.plan_text(passes)}. "
                         "--perf-counter-multipass runs the program that often, --no-multipass takes the first bank", 1)
    return passes, client


def device_words(options):
    """The given options whose work is the device's, as they are spelled."""
    return [option for option, variable, _ in DEVICE_SWITCHES if getattr(options, variable)] + \
        (["--profiler-capture-perf-counters"] if options.perf_counters else []) + \
        (["--op-support-count"] if options.op_support_count is not None else [])


def environment(options, folder, passes=(), client=0):
    """The variables of the program: {name: value, or None to take it away}. passes, client: of counter_passes."""
    is_off = os.environ.get("TT_METAL_DEVICE_PROFILER", "").startswith("0")  # the user's word stays
    wanted = {"TT_METAL_DEVICE_PROFILER": None if not options.device else "0" if is_off else "1"}
    if not options.op_info_cache:
        wanted["TT_METAL_PROFILER_NO_CACHE_OP_INFO"] = "1"
    if options.output_folder:
        wanted["TT_METAL_PROFILER_DIR"] = str(folder)
    if options.port:
        wanted["TRACY_PORT"] = str(options.port)
    if options.report:
        wanted.update(TTNN_OP_PROFILER="1", TT_METAL_PROFILER_TRACE_TRACKING="1")
    if options.op_support_count is not None:
        wanted["TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT"] = str(options.op_support_count)
    for _, variable, _ in DEVICE_SWITCHES:
        if getattr(options, variable):
            wanted[variable] = "1"
    if options.TT_METAL_DEVICE_PROFILER_NOC_EVENTS:
        wanted["TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH"] = str(folder / ".logs")
    if passes:
        wanted["TT_METAL_PROFILE_PERF_COUNTERS"] = str(counters.bits(passes[0], client))
    slow = [name for name, given in (("--no-runtime-analysis", not options.runtime_analysis),
                                     ("--enable-sum-profiling", options.TT_METAL_PROFILER_SUM),
                                     ("--profile-dispatch-cores", options.TT_METAL_DEVICE_PROFILER_DISPATCH),
                                     ("--profiler-capture-perf-counters", options.perf_counters)) if given]
    if not slow and options.device:
        wanted["TT_METAL_PROFILER_CPP_POST_PROCESS"] = "1"
    elif slow and options.verbose:
        print(f"python -m tracy: with {slow[0]} the device's data is analysed after the run, which takes longer",
              file=sys.stderr)
    return wanted


def child_functions(options):
    """The zones whose time is added to the op above them."""
    given = [name.strip() for name in (options.child_functions or "").split(",")]
    return DEFAULT_CHILDREN + [name for name in given if name and name not in DEFAULT_CHILDREN]
