"""PyTorch: torch.profiler.record_function, which is torch.autograd.profiler's, as zones. What PyTorch itself marks with it (steps of
the profiler, optimizers, data loaders) is among them. ATen's operators are not: merge the profiler's own file (docs/frameworks.md)."""
import functools

from strobe import _strobe
from strobe.frameworks import begin

_STEP = "ProfilerStep#"


def wrap(profiler):
    """Wrap the class's methods in place, so that it stays the class that TorchScript and torch.compile know."""
    record_function = profiler.record_function
    enter, leave = record_function.__enter__, record_function.__exit__
    recording = _strobe.recording

    @functools.wraps(enter)  # TorchScript compiles the source that it finds behind __wrapped__
    def __enter__(self):
        entered = enter(self)
        if recording():
            try:
                _begin(self)
            except Exception:
                self._strobe_zone = None
        return entered

    @functools.wraps(leave)
    def __exit__(self, *exception):
        zone = self.__dict__.pop("_strobe_zone", None)
        if zone is not None:
            zone.end()
            if self.name.startswith(_STEP):
                _strobe.frame_end("ProfilerStep")
        return leave(self, *exception)

    record_function.__enter__, record_function.__exit__ = __enter__, __exit__


def _begin(range_):
    name = range_.name
    if name.startswith(_STEP):
        _strobe.frame_start("ProfilerStep")
    zone = begin("torch", name, 3)
    range_._strobe_zone = zone
    arguments = getattr(range_, "args", None)
    if arguments:
        zone.text(str(arguments))
