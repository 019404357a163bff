"""The folder in which printed lines are run: what their documents expect a reader to have, and stand-ins for other people's programs.

Nothing of a printed line is changed. Scripts, tests, models and folders that it names are laid out under their names; commands that
can't be had here are programs of the same name in the folder `bin`, at the front of PATH. docs/printed-lines.md names each."""
import os
import pathlib
import shutil
import subprocess
import sys

from blocks import TREE

sys.path.insert(0, str(TREE / "tests" / "ttnn"))
import programs  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 900  # a hang's

SCRIPT = """import ttnn
from tracy import Profiler, signpost


def work(device):
    a = ttnn.ones((64, 64), device=device)
    return ttnn.add(ttnn.matmul(a, a), 1.0).to_list()


device = ttnn.open_device(0)
signpost("work")
with Profiler():
    assert work(device)[0][0] == 65.0
ttnn.close_device(device)
"""
# around the printed programs: what they leave to their reader
TRAINING = """import ttnn as _ttnn
_weights = []


def train_step(batch):
    if not _weights:
        _weights.append(_ttnn.ones((32, 32), device=mesh_device))
    return _ttnn.add(_weights[0], float(batch))


dataloader = [1]
"""
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(Metal CXX)
option(ENABLE_TRACY "zones of Tracy" OFF)
add_executable(metal metal.cpp)
target_include_directories(metal PRIVATE @TREE@/include @TREE@/include/tracy)
target_link_libraries(metal PRIVATE @BUILD@/lib/libTracyClient.so @BUILD@/lib/libstrobe.so)
set_target_properties(metal PROPERTIES INSTALL_RPATH @BUILD@/lib)
if(ENABLE_TRACY)
    target_compile_definitions(metal PRIVATE TRACY_ENABLE)
endif()
install(TARGETS metal DESTINATION ${CMAKE_SOURCE_DIR}/installed)
"""

# Stand-ins. @...@ are paths of this run.
STAND_INS = {
    "python": 'exec @PYTHON@ "$@"\n',
    "build_metal.sh": 'test -x "$TT_METAL_HOME/build/tt-train/sources/examples/nano_gpt/nano_gpt" && echo "built: nano_gpt"\n',
    "tracy": 'exec @PYTHON@ @HERE@/look.py @BUILD@/bin/tracy "$@"\n',
    "jupyter": 'test "$1" = lab && exec @PYTHON@ @HERE@/run_notebook.py "$2"\n',
    "git": ('test "$1" = clone && mkdir -p tracy/profiler/build/unix && cd tracy/profiler/build/unix && '
            "printf 'all:\\n\\tcp @FOLDER@/bin/Tracy-release .\\n' > Makefile\n"),
    "Tracy-release": 'exec @PYTHON@ @HERE@/look.py @BUILD@/bin/Tracy-release "$@"\n',
    "scp": 'for file in "$HOME"/${1#user@remote:}; do cp "$file" "$2" || exit 1; done\n',
}


def put(path, text, is_program=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if is_program:
        path.chmod(0o755)


def link(path, to):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)


class World:
    """A folder with all that; `run` runs a block in it."""

    def __init__(self, folder, build, training=""):
        self.folder, self.build = folder / "home" / "tt-metal", build
        self.folder.mkdir(parents=True)
        paths = {"@PYTHON@": sys.executable, "@HERE@": HERE, "@BUILD@": build, "@FOLDER@": self.folder, "@TREE@": TREE}
        for name, text in STAND_INS.items():
            for old, new in paths.items():
                text = text.replace(old, str(new))
            put(self.folder / "bin" / name, "#!/bin/bash\n" + text, True)
        link(self.folder / "build_metal.sh", "bin/build_metal.sh")
        model = (TREE / "examples/ttnn/bert_tiny.py").read_text()
        put(self.folder / "your_script.py", SCRIPT)
        put(self.folder / "test_script.py", SCRIPT)
        put(self.folder / "your_training_script.py", TRAINING + training)
        put(self.folder / "models/demos/bert_tiny/demo/demo.py", model)
        unit = "models/experimental/bert_large_performant/unit_tests/test_bert_large_split_and_transform_qkv_heads.py"
        put(self.folder / unit, model.replace("test_demo", "test_split_query_key_value_and_split_heads_with_program_cache"))
        put(self.folder / "path/to/test.py", model.replace("test_demo", "test_function"))
        mnist = model.replace("def test_demo():", "import pytest\n\n\n@pytest.mark.parametrize('mode', ['full-eval'])\ndef test_mnist_train(mode):")
        put(self.folder / "tests/models/mnist/test_mnist.py", mnist)
        link(self.folder / "build/tt-train/sources/examples/nano_gpt/nano_gpt", build / "bin/strobe-nano-gpt")
        link(self.folder / "build/tools", build / "tools")
        link(self.folder / "tt_torch", TREE / "tt_torch")
        put(self.folder / "tt-train/notebooks/profiler_results.ipynb", (TREE / "examples/train/profiler_results.ipynb").read_text())
        self.project = {name: text.replace("@TREE@", str(TREE)).replace("@BUILD@", str(build)) for name, text in
                        (("CMakeLists.txt", CMAKE), ("metal.cpp", '#include <tracy/Tracy.hpp>\nint main()\n{\n    ZoneScopedN("of metal");\n}\n'))}

    def environment(self, **more):
        base = programs.environment(self.build, TT_METAL_HOME=str(self.folder), HOME=str(self.folder.parent), **more)
        base.setdefault("STROBE_KERNEL_CACHE", str(self.build / "kernels"))
        return {**base, "PATH": f"{self.folder / 'bin'}{os.pathsep}{base['PATH']}"}

    def run(self, text, **more):
        """A shell text, as a shell would have it that stops at the first failure."""
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=self.folder, env=self.environment(**more), capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)

    def configure(self):
        """A project that is configured already, as the document has it."""
        for name, text in self.project.items():
            put(self.folder / name, text)
        subprocess.run(["cmake", "-G", "Ninja", "."], cwd=self.folder, check=True, capture_output=True)

    def reports(self):
        return self.folder / "generated" / "profiler" / "reports"

    def rows(self):
        return programs.rows_of(self.reports())

    def forget(self):
        shutil.rmtree(self.folder / "generated", ignore_errors=True)
