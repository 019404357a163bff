"""What frameworks mark by themselves, in a recorded program that is not changed: ranges of PyTorch and JAX, records of `logging`,
greenlets. Nothing of a framework is imported here: its module is wrapped when the program imports it.

    STROBE_FRAMEWORKS   torch, jax, logging, greenlet, nvtx, opencl, with commas between, or off; all of them where it is not set

A wrapper calls what it wraps first and never raises: what goes wrong on our side is said once, and the framework goes on
without us. docs/frameworks.md has the table, and what each costs."""
import os
import sys

from strobe import _strobe

# name: (module that is wrapped after its import, our module that does it)
KNOWN = {
    "torch": ("torch.autograd.profiler", "_torch"),
    "jax": ("jax._src.profiler", "_jax"),
    "logging": ("logging", "_logging"),
    "greenlet": ("greenlet", "_greenlet"),
}
NATIVE = ("nvtx", "opencl")  # the recorder's affair
_MAX_NAMES = 4096            # zones by name; more of them share one and carry their name

_waiting: dict = {}  # module: name of the framework
_zones: dict = {}    # (framework, name): zone


def chosen(text):
    """The frameworks that STROBE_FRAMEWORKS asks for; ValueError for a word that is none."""
    if not text:
        return list(KNOWN)
    if text == "off":
        return []
    names = [name for name in text.replace(":", ",").split(",") if name]
    for name in names:
        if name not in KNOWN and name not in NATIVE:
            raise ValueError(f"STROBE_FRAMEWORKS names {name!r}: {', '.join((*KNOWN, *NATIVE))}, or off")
    return [name for name in names if name in KNOWN]


def watch(names=None):
    """Wrap these frameworks: those that are there now, the others when they are imported. Raises for unknown names alone."""
    for name in chosen(os.environ.get("STROBE_FRAMEWORKS")) if names is None else names:
        module = KNOWN[name][0]
        if module in sys.modules:
            _wrap(name, sys.modules[module])
        else:
            _waiting[module] = name
    if _waiting and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


_wrapped: set = set()


def _wrap(name, module):
    if name in _wrapped:
        return
    _wrapped.add(name)
    try:
        _strobe.unseen(__import__, f"strobe.frameworks.{KNOWN[name][1]}")
        sys.modules[f"strobe.frameworks.{KNOWN[name][1]}"].wrap(module)
    except Exception as error:  # another version of the framework, most likely
        from strobe import _trace

        _trace.say(f"{name} is not seen in this recording: {error!r}")


class _Finder:
    """The first of sys.meta_path while a framework is waited for: one look into a dict per import."""

    def find_spec(self, name, path=None, target=None):
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find else None
            if spec is not None:
                break
        else:
            return None
        _hook(name, spec.loader)
        return spec


_finder = _Finder()


def _hook(name, loader):
    """Have `loader` wrap the module once it was executed; a loader that can't be changed is left alone."""
    execute = getattr(loader, "exec_module", None)

    def exec_module(module):
        execute(module)
        framework = _waiting.pop(name, None)
        if framework:
            _wrap(framework, module)
        if not _waiting and _finder in sys.meta_path:
            sys.meta_path.remove(_finder)

    try:
        loader.exec_module = exec_module
    except (AttributeError, TypeError):
        pass


# ---- zones by name ----

def _make_zone(framework, name, depth):
    """The zone of a name; its place is that of the first use, `depth` frames above the caller's."""
    if len(_zones) >= _MAX_NAMES:
        return None
    frame = sys._getframe(depth)
    code = frame.f_code
    zone = _strobe.zone(name, 0, code.co_filename, frame.f_lineno, code.co_name)
    _zones[framework, name] = zone
    return zone


def begin(framework, name, depth=2):
    """Begin a range; the zone to end it with. Names that end in "#" and a number share one zone, and carry theirs."""
    plain, mark, number = name.rpartition("#")
    if not mark or not number.isdigit():
        plain = name
    zone = _zones.get((framework, plain)) or _make_zone(framework, plain, depth + 1)
    if zone is None:
        plain, zone = None, _strobe.zone(f"{framework} range", 0, "", 0, framework)
    zone.begin_loose()
    if plain is not name:
        zone.rename(name)
    return zone
