"""The suite runs on an installed wheel: nothing of the source tree may be in the way."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
