from types import ModuleType

NAMES: tuple[str, ...]
MESSAGE_MAX_BYTES: int

def start_tracy_zone(source: str = "", functName: str = "", lineNum: int = 0, color: int = 0, *, line_number: int | None = None) -> None:
    """Begin a zone on the calling thread; stop_tracy_zone ends the innermost one."""
def stop_tracy_zone(name: str = "", color: int = 0) -> bool:
    """End the thread's innermost zone, with a new name or colour if given. True: none was open.

    While functions are traced, one that is stopped in another function than it was started in keeps name and colour."""
def tracy_message(message: object, color: int = 0xF0F8FF) -> None:
    """Put a text on the timeline; what is over 65534 bytes is cut, with a warning."""
def tracy_frame() -> None:
    """A frame ends here and the next one begins."""
def patch(ttnn: ModuleType | None = None) -> list[str]:
    """Give `ttnn` (default: the one that is imported) the names it lacks; those that it got."""
