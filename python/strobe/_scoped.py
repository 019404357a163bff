"""What the code that makes a ScopedZone does with it next: `with`, or something else.

The C half asks once per place in the code. Only the byte code of the caller is looked at, nothing is run."""
import dis
import functools

_BESIDE_THE_POINT = {"CACHE", "PRECALL", "NOP", "EXTENDED_ARG", "RESUME"}
_COPIES = {"DUP_TOP", "COPY"}
_ENTERS = {"SETUP_WITH", "BEFORE_WITH", "LOAD_SPECIAL"}


@functools.lru_cache(maxsize=16)  # of a long function, the next place is asked about soon
def _steps(code):
    return list(_read(code))


def _read(code):
    """(offset, operation, name) of each instruction; those that handle two names at once are cut in two."""
    for step in dis.get_instructions(code):
        if step.opname in _BESIDE_THE_POINT:
            continue
        if isinstance(step.argval, tuple) and step.opname.count("_FAST") == 2:
            first, second = step.opname.split("_FAST")[0:2]
            yield step.offset, first + "_FAST", step.argval[0]
            yield step.offset, second.lstrip("_") + "_FAST", step.argval[1]
        else:
            yield step.offset, step.opname, step.argval


def _enters(steps, at):
    """Whether a `with` enters the value on top of the stack at `at`."""
    while at < len(steps) and steps[at][1] in _COPIES:
        at += 1
    return at < len(steps) and steps[at][1] in _ENTERS


def _is_entered_later(steps, at, kind, name):
    """Whether the next thing that happens to a stored name, other than being looked at, is a `with`."""
    for i in range(at, len(steps)):
        _, operation, other = steps[i]
        if other != name:
            continue
        if operation.startswith("LOAD_" + kind) and _enters(steps, i + 1):
            return True
        if operation in ("STORE_" + kind, "DELETE_" + kind):
            return False
    return False


def is_made_for_with(code, at):
    """True where the object that the call at byte `at` of `code` makes is meant for a `with` statement."""
    steps = _steps(code)
    after = next((i for i, step in enumerate(steps) if step[0] > at), len(steps))
    if _enters(steps, after):
        return True
    while after < len(steps) and steps[after][1] in _COPIES:  # with (zone := ScopedZone()):
        after += 1
    if after + 1 < len(steps) and steps[after][1].startswith("LOAD_") and steps[after + 1][1] == "STORE_ATTR":
        after += 1  # self.zone = ScopedZone()
    if after >= len(steps) or not steps[after][1].startswith("STORE_"):
        return False
    _, operation, name = steps[after]
    return _enters(steps, after + 1) or _is_entered_later(steps, after + 1, operation[len("STORE_"):], name)
