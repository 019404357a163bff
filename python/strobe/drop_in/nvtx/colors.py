"""nvtx.colors, likewise."""
from strobe.nvtx import color_to_hex  # noqa: F401
