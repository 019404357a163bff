#!/usr/bin/env python3
"""test_cpp.py BUILD: the C++ blocks of the documents. Those of host programs are compiled against our headers and recorded, those of
kernels run on the simulator; the zones, messages and frames that they name are in the trace. What a document leaves to its reader
stands around the printed text, never in it."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import blocks
import world

# A stand-in for {fmt}, which the document uses without a word about it: one {} is replaced.
FMT = """#include <sstream>
#include <string>
namespace fmt
{
template <typename T> std::string format(std::string text, const T &value)
{
    std::ostringstream out;
    out << value;
    return text.replace(text.find("{}"), 2, out.str());
}
} // namespace fmt
"""
TRACY = "#include <tracy/Tracy.hpp>\n"
# the class that the constructor of 2.4 belongs to
DEVICE = TRACY + """#include <cstdint>
#include <vector>
using chip_id_t = int;
struct Device {
    Device(chip_id_t device_id, const std::vector<uint32_t> &l1_bank_remap);
    void initialize(const std::vector<uint32_t> &) {}
    chip_id_t id_;
};
"""
MESH = """
#include "tt_metal/host_api.hpp"
int main()
{
    auto *mesh_device = tt::tt_metal::CreateDevice(0);
"""
# place: (in front, behind, zones, other words of the trace)
HOST = {
    "2.4": (DEVICE, "int main() { Device(0, {}); }\n", ["Device"], []),
    "5.36": ("", "int main() { ZoneScoped; }\n", ["main"], []),
    "5.37": (TRACY, "int main() { my_function(); }\n", ["my_function"], []),
    "5.38": (TRACY, "int main() { complex_function(); }\n", ["Phase1_Setup", "Phase2_Compute", "Phase3_Cleanup"], []),
    "5.39": (TRACY, "int main() { my_function(); }\n", ["MyZone"], []),
    "5.40": (TRACY + FMT, "int main() { process_batch(7); }\n", ["ProcessBatch"], ["batch_id: 7"]),
    "5.41": (FMT + "static int count = 3;\n", "int main() { my_function(); }\n", [], ["Starting important operation", "Processing 3 items"]),
    "5.42": (TRACY + "static int running = 3;\nstatic void update() { running--; }\nstatic void render() {}\n", "int main() { main_loop(); }\n", [], []),
}
# place: (in front, behind, zones and marks of the trace with their number)
PROFILER = "#include <tools/profiler/kernel_profiler.hpp>\n"
KERNELS = {
    "5.43": ("", "void kernel_main() { DeviceZoneScopedN(\"Included\"); }\n", {"Included": 1}),
    "5.44": (PROFILER, "", {"MyKernelOperation": 1}),
    "5.45": (PROFILER, "", {"LoadData": 1, "Compute": 1, "StoreData": 1}),
    "5.46": (PROFILER, "", {"KERNEL-MAIN": 1}),
    "5.47": (PROFILER, "", {"KERNEL-MAIN": 1, "KERNEL-INNER-LOOP": 1}),
    "5.48": (PROFILER + "constexpr int ITERATIONS = 4;\n", "", {"AccumulatedCompute (added up)": 1}),
    "5.49": (PROFILER + "constexpr int iterations = 4;\n", "", {"IterationData": 4}),
    "5.50": (PROFILER, "", {"event 1": 1, "event 2": 1}),
    "5.51": (PROFILER + "static bool check_preconditions() { return true; }\n", "", {}),
}
VARIABLES = {"5.48": {"TT_METAL_PROFILER_SUM": "1"}}
ELSEWHERE = ("5.15", "5.53", "5.54")  # the complete example: tests/device_sim/test_seed.py

LAUNCH = """import ctypes, sys
from ttnn import _library, _device
from ttnn._library import call
device, program, kernel = _device.Device(0, 1), ctypes.c_void_p(), ctypes.c_uint32()
call("program_create", program)
call("program_kernel", program, _library.Kernel(text=open(sys.argv[1], "rb").read(), name=b"printed", cores=_library.Cores(0, 0, 0, 0), risc=0), kernel)
call("device_enqueue", device.handle, program, None)
call("device_finish", device.handle)
call("program_free", program)
device.close()
"""


class Blocks(unittest.TestCase):
    def setUp(self):
        self.blocks = blocks.read()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-printed-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.world = world.World(self.folder, BUILD)

    def record(self, *command, **variables):
        """Record a command; all that its trace has, as text."""
        trace = self.folder / "printed.strobe"
        done = subprocess.run([BUILD / "bin/strobe", "record", "-q", "--python", "off", "-o", trace, "--", *command], env=self.world.environment(**variables), cwd=self.folder,
                              capture_output=True, text=True, timeout=world.LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {kind: subprocess.run([BUILD / "bin/strobe", "csv", "--kind", kind, trace], capture_output=True, text=True, check=True).stdout
                for kind in ("zones", "messages", "frames", "plots")}

    def test_host_code_compiles_and_records(self):
        for place, (before, behind, zones, words) in HOST.items():
            with self.subTest(place):
                source, program = self.folder / "printed.cpp", self.folder / "printed"
                source.write_text(before + self.blocks[place].text + behind)
                subprocess.run(["g++", "-std=c++17", "-DTRACY_ENABLE", f"-I{world.TREE}/include", source, "-o", program, f"-L{BUILD}/lib", "-lTracyClient", "-lstrobe",
                                f"-Wl,-rpath,{BUILD}/lib"], check=True)
                trace = self.record(program)
                for name in zones:
                    self.assertEqual(len(re.findall(rf",(?:\w+::)*{name}(?:\(.*\))?,", trace["zones"])), 1, (name, trace["zones"]))
                for word in words:
                    self.assertIn(word, trace["zones"] + trace["messages"])
                if "FrameMarkNamed" in self.blocks[place].text:
                    self.assertEqual(trace["frames"].count("main"), 3)

    def test_reading_the_profiler_compiles_and_runs(self):
        text = self.blocks["5.15"].text
        source, program = self.folder / "printed.cpp", self.folder / "printed"
        include, rest = text.split("\n", 1)
        source.write_text(include + MESH + rest + "    tt::tt_metal::CloseDevice(mesh_device);\n}\n")
        subprocess.run(["g++", "-std=c++17", f"-I{world.TREE}/include", source, "-o", program, f"-L{BUILD}/lib", "-lstrobe-device", "-lstrobe", f"-Wl,-rpath,{BUILD}/lib"], check=True)
        subprocess.run([program], env=self.world.environment(TT_METAL_DEVICE_PROFILER="1", TT_METAL_PROFILER_DIR=str(self.folder / "logs")), check=True, timeout=world.LIMIT_S)

    def test_kernels_run_and_leave_their_marks(self):
        launch = self.folder / "launch.py"
        launch.write_text(LAUNCH)
        for place, (before, behind, zones) in KERNELS.items():
            with self.subTest(place):
                kernel = self.folder / "kernel.cpp"
                kernel.write_text(before + self.blocks[place].text + behind)
                trace = self.record(sys.executable, launch, kernel, TT_METAL_DEVICE_PROFILER="1", TT_METAL_PROFILER_DIR=str(self.folder / "logs"), **VARIABLES.get(place, {}))
                for name, wanted in zones.items():
                    self.assertEqual(trace["zones"].count(f",{name},"), wanted, trace["zones"])


if __name__ == "__main__":
    if blocks.folder() is None:
        print("skipped:", blocks.ABSENT)
        sys.exit(77)
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=1)
