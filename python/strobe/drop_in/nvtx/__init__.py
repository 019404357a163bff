"""`import nvtx` where NVIDIA's package is not installed: this folder is behind all others of sys.path."""
from strobe.nvtx import *  # noqa: F401,F403
