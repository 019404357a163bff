"""JAX: jax.profiler.TraceAnnotation and StepTraceAnnotation as zones, steps as frames too."""
from strobe import _strobe
from strobe.frameworks import begin


def wrap(profiler):
    """Give the classes methods of their own before those that they inherit from XLA's TraceMe."""
    annotation, step = profiler.TraceAnnotation, profiler.StepTraceAnnotation
    make, enter, leave = annotation.__init__, annotation.__enter__, annotation.__exit__
    recording = _strobe.recording

    def __init__(self, name, **facts):
        make(self, name, **facts)
        self._strobe_name, self._strobe_facts = name, facts

    def __enter__(self):
        entered = enter(self)
        if recording():
            try:
                _begin(self, isinstance(self, step))
            except Exception:
                self._strobe_zone = None
        return entered

    def __exit__(self, *exception):
        zone = self.__dict__.pop("_strobe_zone", None)
        if zone is not None:
            zone.end()
            if isinstance(self, step):
                _strobe.frame_end(self._strobe_name)
        return leave(self, *exception)

    annotation.__init__, annotation.__enter__, annotation.__exit__ = __init__, __enter__, __exit__


def _begin(annotation, is_step):
    name, facts = annotation._strobe_name, annotation._strobe_facts
    if is_step:
        _strobe.frame_start(name)
    zone = begin("jax", name, 3)
    annotation._strobe_zone = zone
    for key, value in facts.items():
        if key == "step_num" and isinstance(value, int) and value >= 0:
            zone.value(value)
        elif not key.startswith("_"):
            zone.text(f"{key}={value}")
