# SPDX-License-Identifier: MIT
"""The package used from the source tree, by a PYTHONPATH that leads here: the C half is in one of the tree's build folders.
The wheels do not have this file."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILDS = ("build", "build/wheel", "build/wheel-client")  # make's, and those of build-tracy-python*.sh
NOT_BUILT = (f"this is the source tree of Strobe, and the package is not built in it yet. Build it: "
             f"{os.path.join(ROOT, 'build-tracy-python-minimal.sh')}")


def extend(path):
    """Append the folder of the C half, of the commands and the library, to the package's path; False: nothing is built.
    $STROBE_BUILD comes first."""
    named = os.environ.get("STROBE_BUILD")
    for build in ([named] if named else []) + [os.path.join(ROOT, name) for name in BUILDS]:
        folder = os.path.join(build, "python", "strobe")
        if os.path.exists(os.path.join(folder, "_strobe.abi3.so")):
            path.append(folder)
            return True
    return False
