from collections.abc import Callable
from typing import Any, TypeVar, Union

from strobe._strobe import ScopedZone as ScopedZone
from tracy_client.colors import ColorType as ColorType

_F = TypeVar("_F", bound=Callable[..., Any])
Color = Union[int, ColorType]

class ScopedFrame:
    """A frame from enter to exit."""

    def __init__(self, name: str) -> None: ...
    def __enter__(self) -> ScopedFrame: ...
    def __exit__(self, *exception: object) -> None: ...

def ScopedZoneDecorator(name: str | None = None, color: Color = 0, depth: int | None = None, active: bool = True,
                        class_name: str | None = None) -> Callable[[_F], _F]: ...
def ScopedFrameDecorator(name: str) -> Callable[[_F], _F]: ...

__all__ = ["Color", "ColorType", "ScopedFrame", "ScopedFrameDecorator", "ScopedZone", "ScopedZoneDecorator"]
