"""tracy_client: zones by with, by del, in any order; frames, plots, messages, memory, names."""
import pytest

import helper

MS = 1_000_000


def lasted(zone, ms):
    """Sleeping takes at least what was asked for; how much longer is the machine's affair, so order is compared elsewhere."""
    return zone.duration >= ms * MS


def end_of(zone):
    return zone.start + zone.duration


def test_with_goes_from_enter_to_exit(tmp_path):
    _, trace = helper.record(tmp_path, """
import time
from tracy_client import scoped
with scoped.ScopedZone("direct", 0xFF0000):
    time.sleep(.02)
zone = scoped.ScopedZone("made before")
with scoped.ScopedZone("before"):
    time.sleep(.1)
with zone:
    time.sleep(.02)
with scoped.ScopedZone("after"): pass
del zone
with (walrus := scoped.ScopedZone("walrus")):
    time.sleep(.02)
""")
    before, made, after = (helper.one(trace, name) for name in ("before", "made before", "after"))
    assert end_of(before) <= made.start and end_of(made) <= after.start
    for name in ("direct", "made before", "walrus"):
        assert lasted(helper.one(trace, name), 20)
    assert helper.lost(trace) == helper.ALL_WHOLE


def test_del_goes_from_making_to_deletion(tmp_path):
    _, trace = helper.record(tmp_path, """
import time
from tracy_client import scoped
def work():
    zone = scoped.ScopedZone("held")
    inner = scoped.ScopedZone("inner") if zone else None
    time.sleep(.02)
    if inner:
        del inner
    time.sleep(.02)
    if zone:
        del zone
work()
scoped.ScopedZone("dropped at once")
""")
    assert lasted(helper.one(trace, "held"), 40)
    assert lasted(helper.one(trace, "inner"), 20)
    assert helper.one(trace, "inner").depth == helper.one(trace, "held").depth + 1
    helper.one(trace, "dropped at once")
    assert helper.lost(trace) == helper.ALL_WHOLE


def test_a_zone_is_never_recorded_twice(tmp_path):
    _, trace = helper.record(tmp_path, """
from tracy_client import scoped
zone = scoped.ScopedZone("once")
with zone:
    zone.enter()
zone.exit()
zone.exit()
del zone
again = scoped.ScopedZone("two uses")
with again: pass
with again: pass
held = scoped.ScopedZone("by hand")
held.exit()
del held
off = scoped.ScopedZone("not active", active=False)
with off: pass
""")
    assert len(helper.zones(trace, "once")) == 1
    assert len(helper.zones(trace, "two uses")) == 2
    assert len(helper.zones(trace, "by hand")) == 1
    assert helper.zones(trace, "not active") == []


def test_zones_that_overlap_keep_their_own_times(tmp_path):
    _, trace = helper.record(tmp_path, """
import time
from tracy_client import scoped
a = scoped.ScopedZone("a"); time.sleep(.02)
b = scoped.ScopedZone("b"); time.sleep(.02)
del a
time.sleep(.02)
del b
many = [scoped.ScopedZone("many") for _ in range(3)]
for i in range(3):
    time.sleep(.05)
    many[i] = None
def locals_die_in_their_own_order():
    first = scoped.ScopedZone("first"); second = scoped.ScopedZone("second")
    time.sleep(.02)
locals_die_in_their_own_order()
""")
    a, b = helper.one(trace, "a"), helper.one(trace, "b")
    assert lasted(a, 40) and lasted(b, 40)
    assert a.start < b.start < a.start + a.duration < b.start + b.duration
    durations = sorted(zone.duration for zone in helper.zones(trace, "many"))
    assert len(durations) == 3
    assert all(later - earlier >= 50 * MS for earlier, later in zip(durations, durations[1:]))
    assert lasted(helper.one(trace, "first"), 20) and lasted(helper.one(trace, "second"), 20)
    assert helper.lost(trace) == helper.ALL_WHOLE


def test_a_zone_outlives_the_traced_function_that_made_it(tmp_path):
    _, trace = helper.record(tmp_path, """
import strobe, time
from tracy_client import scoped
class Stage:
    def __init__(self):
        self.zone = scoped.ScopedZone("stage")
def use():
    stage = Stage()
    time.sleep(.02)
    return stage
strobe.trace(prefix="F_")
kept = use()
with scoped.ScopedZone("between"): time.sleep(.02)
del kept
strobe.untrace()
""")
    assert lasted(helper.one(trace, "stage"), 40)
    use, between = helper.one(trace, "F_use"), helper.one(trace, "between")
    assert end_of(use) <= between.start and end_of(between) <= end_of(helper.one(trace, "stage"))
    assert lasted(use, 20) and use.state == "ended"
    made = [zone for zone in helper.zones(trace, "F___init__") if zone.file.endswith("program.py")]
    assert len(made) == 1 and made[0].state == "ended"


def test_garbage_collection_ends_zones(tmp_path):
    _, trace = helper.record(tmp_path, """
import gc, time
from tracy_client import scoped
class Ring: pass
def make():
    ring = Ring(); ring.ring = ring; ring.zone = scoped.ScopedZone("in a ring")
gc.disable()
make()
time.sleep(.05)
gc.collect()
with scoped.ScopedZone("after"): pass
""")
    assert end_of(helper.one(trace, "in a ring")) <= helper.one(trace, "after").start
    assert lasted(helper.one(trace, "in a ring"), 50)


def test_a_zone_that_dies_on_another_thread_ends_on_its_own(tmp_path):
    _, trace = helper.record(tmp_path, """
import threading, time
from tracy_client import scoped
box = [scoped.ScopedZone("main's")]
thread = threading.Thread(target=box.clear)
thread.start(); thread.join()
time.sleep(.02)
def other():
    box.append(scoped.ScopedZone("other's")); ready.set()
    gone.wait()
    with scoped.ScopedZone("comes by"): pass
ready, gone = threading.Event(), threading.Event()
thread = threading.Thread(target=other); thread.start(); ready.wait()
box.clear(); gone.set(); thread.join()
""")
    assert helper.one(trace, "main's").state == "ended"
    theirs = helper.one(trace, "other's")
    assert theirs.state == "ended" and theirs.tid == helper.one(trace, "comes by").tid
    assert helper.lost(trace) == helper.ALL_WHOLE


def test_unnamed_zones_have_the_name_of_the_function(tmp_path):
    _, trace = helper.record(tmp_path, """
from tracy_client import scoped
def frobnicate():
    with scoped.ScopedZone(): pass
    zone = scoped.ScopedZone(color=0x00FF00)
    del zone
frobnicate()
""")
    assert len(helper.zones(trace, "frobnicate")) == 2


def test_decorators(tmp_path):
    done, trace = helper.record(tmp_path, """
import tracy_client
from tracy_client import scoped
@scoped.ScopedZoneDecorator(name="named", color=tracy_client.ColorType.Red)
def one(x, y=2):
    "what it does"
    return x + y
@scoped.ScopedZoneDecorator(class_name="Machine")
def two(): raise KeyError("two")
@scoped.ScopedZoneDecorator(depth=3)
def three(): return 3
@scoped.ScopedFrameDecorator("frame of four")
def four(): return 4
print(one(1), one.__doc__, three(), four())
try: two()
except KeyError: print("raised")
""")
    assert done.stdout == "3 what it does 3 4\nraised\n"
    assert helper.one(trace, "named").function == "one"
    assert helper.one(trace, "Machine:two").state == "ended"
    helper.one(trace, "three")
    assert helper.lost(trace) == helper.ALL_WHOLE


def test_exceptions_and_texts(tmp_path):
    _, trace = helper.record(tmp_path, """
from tracy_client import scoped
try:
    with scoped.ScopedZone("raises") as zone:
        assert zone.text("a line") and zone.text(42) and zone.value(7) and zone.is_active
        raise ValueError
except ValueError:
    pass
assert not zone.text("too late")
with scoped.ScopedZone("old name") as zone:
    zone.name("new name"); zone.color(0x123456)
""")
    zone = helper.one(trace, "raises")
    assert (zone.text, zone.value) == ("a line\n42", "7")
    assert len(helper.zones(trace, "new name")) == 1


def test_a_value_is_an_int_of_64_bits(tmp_path):
    _, trace = helper.record(tmp_path, """
from tracy_client import scoped
with scoped.ScopedZone("made with it", value=-5): pass
with scoped.ScopedZone("given it") as zone: zone.value(-5)
try:
    scoped.ScopedZone("none", value=3.7)
except TypeError:
    pass
else:
    raise AssertionError("accepted")
""")
    assert {zone.name: zone.value for zone in helper.zones(trace)} == {name: str(2 ** 64 - 5) for name in ("made with it", "given it")}


def test_frames_plots_messages_memory_and_names(tmp_path):
    done, trace = helper.record(tmp_path, """
import tracy_client as tc
assert tc.is_enabled() and tc.is_connected()
tc.program_name("the program"); tc.thread_name("the thread"); assert tc.app_info("version 3")
tc.frame_mark()
number = tc.frame_mark_start("load"); assert tc.frame_mark_end(number); assert not tc.frame_mark_end(12345)
with tc.ScopedFrame("scoped frame"): pass
plot = tc.plot_config("queue", tc.PlotFormatType.Memory, step=True, color=0xFF)
assert tc.plot(plot, 5) and tc.plot(plot, 2.5) and not tc.plot(54321, 1)
assert tc.message("hello") and tc.message("coloured", 0xFF00FF) and not tc.message("x" * 65535)
pool = tc.alloc(0x1000, 64, name="arena"); assert tc.free(0x1000, id=pool); assert tc.alloc(0x2000, 8) is None
thing = object(); tc.alloc(thing, 16); tc.free(thing)
with tc.ScopedZone("a zone"): pass
assert tc.frame_image(b"", 8, 8) and not tc.frame_image(b"", 7, 8)
""")
    info = helper.run(helper.STROBE, "info", trace).stdout
    for name, count in (("plot_int", 1), ("plot_double", 1), ("message", 2), ("alloc", 3), ("free", 2), ("frame", 1),
                        ("frame_start", 2), ("frame_end", 2)):
        assert any(line.split() == [str(count), name] for line in info.splitlines()), (name, info)
    assert "the thread" in info or "the thread" in helper.run(helper.STROBE, "csv", trace).stdout
    assert "100.00 %" in info


def test_nothing_happens_while_nobody_records():
    import gc
    import tracy_client
    from tracy_client import scoped
    assert tracy_client.is_enabled()
    if tracy_client.is_connected():
        pytest.skip("this test run is being recorded")
    for _ in range(1000):
        with scoped.ScopedZone("x"):
            zone = scoped.ScopedZone("y")
            del zone
    gc.collect()


def test_a_million_names_do_not_grow_the_process(tmp_path):
    done, _ = helper.record(tmp_path, """
import resource
from tracy_client import scoped
def burn(n):
    for i in range(n):
        with scoped.ScopedZone("name %d" % i): pass
        zone = scoped.ScopedZone("held %d" % i); del zone
burn(20000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
burn(60000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
""")
    assert int(done.stdout) < 24 << 10  # KiB; the pool is 16 MiB of it
