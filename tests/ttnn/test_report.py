#!/usr/bin/env python3
"""test_report.py BUILD: `python -m tracy -r` makes the op report of a program that runs ops on the simulator, with host and device
columns filled: plain ops, cached ones, traces, meshes, fallbacks."""
import pathlib
import sys
import unittest

import programs

MODEL = programs.TREE / "examples/ttnn/bert_tiny.py"
FILLED = ("OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "DEVICE ARCH", "ATTRIBUTES", "CORE COUNT", "AVAILABLE WORKER CORE COUNT", "HOST START TS",
          "HOST END TS", "HOST DURATION [ns]", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "OP TO OP LATENCY [ns]", "DEVICE FW DURATION [ns]",
          "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL FIRST TO LAST START [ns]", "DEVICE BRISC KERNEL DURATION [ns]", "DEVICE NCRISC KERNEL DURATION [ns]",
          "INPUT_0_W_PAD[LOGICAL]", "INPUT_0_X_PAD[LOGICAL]", "INPUT_0_LAYOUT", "INPUT_0_DATATYPE", "INPUT_0_MEMORY", "OUTPUT_0_X_PAD[LOGICAL]",
          "OUTPUT_0_MEMORY", "DATA MOVEMENT KERNEL SOURCE", "DATA MOVEMENT KERNEL HASH", "PROGRAM HASH", "PROGRAM CACHE HIT", "PM IDEAL [ns]", "PM FPU UTIL (%)")

ADDITIONS = """
import ttnn
device = ttnn.open_device(0)
a = ttnn.ones((32, 32), device=device)
"""


def ops_of(rows, code=None):
    return [row for row in rows if row["OP TYPE"] == "tt_dnn_device" and code in (None, row["OP CODE"])]


class Report(programs.TracyTest):
    def test_every_op_of_a_model_has_its_host_and_its_device_columns(self):
        words = self.run_tracy("-p", "-r", MODEL)
        self.assertNotIn("absent", words)
        rows = programs.rows_of(self.folder / "generated")
        ops = ops_of(rows)
        self.assertEqual(len(ops), 12 + 2 * 17)
        for op in ops:
            self.assertEqual([name for name in FILLED if op[name] in ("", None)], [], op["OP CODE"])
            self.assertLessEqual(int(op["DEVICE KERNEL DURATION [ns]"]), int(op["DEVICE FW DURATION [ns]"]))
        self.assertEqual({op["OP CODE"] for op in ops},
                         {f"{name}DeviceOperation" for name in ("BinaryNg", "Embeddings", "LayerNorm", "Matmul", "Softmax", "Transpose", "Unary")})
        self.assertEqual([row["OP CODE"] for row in rows if row["OP TYPE"] == "signpost"], ["run 0", "run 1"])
        self.assertEqual([row["OP CODE"] for row in rows if row["OP TYPE"] == "python_fallback"], ["ttnn.argmax"])
        self.assertEqual([op["MATH FIDELITY"] for op in ops_of(rows, "MatmulDeviceOperation")], ["HiFi4"] * 16)
        self.assertEqual([op["PROGRAM CACHE HIT"] for op in ops_of(rows, "SoftmaxDeviceOperation")], ["False", "True"])

    def test_a_replayed_op_has_a_row_per_replay(self):
        rows = self.run_program(ADDITIONS + """
ttnn.add(a, 1.0)
trace = ttnn.begin_trace_capture(device, cq_id=0)
ttnn.relu(ttnn.add(a, 1.0))
ttnn.end_trace_capture(device, trace, cq_id=0)
for _ in range(3):
    ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
ttnn.synchronize_device(device)
ttnn.release_trace(device, trace)
ttnn.close_device(device)
""")
        replayed = [row for row in ops_of(rows) if row["METAL TRACE REPLAY SESSION ID"]]
        self.assertEqual(sorted((row["OP CODE"], row["METAL TRACE REPLAY SESSION ID"]) for row in replayed),
                         [(code, str(i)) for code in ("BinaryNgDeviceOperation", "UnaryDeviceOperation") for i in (1, 2, 3)])
        for row in replayed:
            self.assertGreater(int(row["DEVICE KERNEL DURATION [ns]"]), 0)
        captured = [row for row in ops_of(rows) if not row["METAL TRACE REPLAY SESSION ID"]]
        self.assertEqual([bool(row["DEVICE KERNEL DURATION [ns]"]) for row in captured], [True, False, False])

    def test_a_mesh_has_a_row_per_device(self):
        rows = self.run_program("""
import ttnn
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
a = ttnn.from_list([[1.0] * 64] * 32, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=1))
assert ttnn.all_gather(ttnn.relu(a), dim=1).to_list(1) == [[1.0] * 64] * 32
mesh.close()
""")
        self.assertEqual([(row["OP CODE"], row["DEVICE ID"], row["GLOBAL CALL COUNT"]) for row in ops_of(rows)],
                         [("UnaryDeviceOperation", "0", "1024"), ("UnaryDeviceOperation", "1", "1025"),
                          ("AllGatherDeviceOperation", "0", "2048"), ("AllGatherDeviceOperation", "1", "2049")])
        for row in ops_of(rows):
            self.assertGreater(int(row["DEVICE KERNEL DURATION [ns]"]), 0)
            self.assertIn(f"DEV_{row['DEVICE ID']}_DRAM", row["INPUT_0_MEMORY"])

    def test_the_first_launch_of_a_program_carries_its_build(self):
        rows = self.run_program(ADDITIONS + "ttnn.add(a, a)\nttnn.add(a, a)\nttnn.close_device(device)\n")
        built = [row["CompileProgram_TT_HOST_FUNC [ns]"] for row in ops_of(rows)]
        self.assertEqual([bool(cell) for cell in built], [True, False])


class Beside(programs.TracyTest):
    def test_the_real_ttnn_is_used_where_there_is_one(self):
        real = self.folder / "site" / "ttnn"
        real.mkdir(parents=True)
        (real / "__init__.py").write_text("from ttnn import part\nis_real = True\n")
        (real / "part.py").write_text("")
        paths = programs.environment(self.build)["PYTHONPATH"]
        (self.folder / "program.py").write_text("import ttnn, ttnn.part\nassert ttnn.is_real\n")
        words = self.run_tracy("-p", "program.py", PYTHONPATH=f"{paths}:{real.parent}")
        self.assertIn("steps back", words)


if __name__ == "__main__":
    programs.TracyTest.build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=1)
