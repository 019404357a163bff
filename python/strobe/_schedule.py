"""strobe.schedule(): record some steps of a long loop, each stretch of them into a trace of its own.

    step        0     1      2 3 4   5     6      7 8 9   …
    wait=1   wait  warmup  active  wait  warmup  active        warmup=1, active=3

Nothing is recorded outside of the active steps; the recorder starts and ends between two steps."""
import os


class schedule:
    """Call step() at the end of every step of the loop; `with` ends a recording that still runs."""

    def __init__(self, wait, warmup, active, repeat=0, skip_first=0, *, path="steps.strobe", ready=None, **options):
        for name, value in (("wait", wait), ("warmup", warmup), ("repeat", repeat), ("skip_first", skip_first)):
            if not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} is a number of steps, 0 or more: {value!r}")
        if not isinstance(active, int) or active < 1:
            raise ValueError(f"active is a number of steps, 1 or more: {active!r}")
        self._wait, self._warmup, self._active = wait, warmup, active
        self._repeat, self._skip_first = repeat, skip_first
        self._path, self._ready, self._options = os.fspath(path), ready, options
        self._step = 0
        self._recording = None
        self._recorded = ""
        self._enter()

    def phase(self, step):
        """What a step is: "wait", "warmup", "active", or "done" behind the last repetition."""
        step -= self._skip_first
        if step < 0:
            return "wait"
        cycle, place = divmod(step, self._wait + self._warmup + self._active)
        if self._repeat and cycle >= self._repeat:
            return "done"
        if place < self._wait:
            return "wait"
        return "warmup" if place < self._wait + self._warmup else "active"

    def path_of(self, step):
        """The trace of an active step: the path, with the number of the repetition from the second on."""
        cycle = (step - self._skip_first) // (self._wait + self._warmup + self._active)
        stem, end = os.path.splitext(self._path)
        return self._path if not cycle else f"{stem}-{cycle + 1}{end}"

    @property
    def active(self):
        """Whether the step that runs is recorded."""
        return self._recording is not None

    def _enter(self):
        """The next step begins: start or end what must be. Steps of two repetitions without a rest between them have a trace each."""
        path = self.path_of(self._step) if self.phase(self._step) == "active" else ""
        if path == self._recorded:
            return
        self.stop()
        if path:
            from strobe import _record
            self._recording = _record.record(path, **self._options)
            self._recorded = path

    def step(self):
        """A step has ended."""
        self._step += 1
        self._enter()

    def stop(self):
        """End the recording that runs, if one does."""
        recording, self._recording, path, self._recorded = self._recording, None, self._recorded, ""
        if recording is None:
            return
        recording.stop()
        if self._ready is not None:
            self._ready(path)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()
