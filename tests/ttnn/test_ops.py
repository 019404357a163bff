#!/usr/bin/env python3
"""test_ops.py BUILD: every op of examples/ttnn gives what plain Python gives, in float32 and bfloat16, with and without padding;
programs are built once; traces replay; meshes gather; what can't be done is said."""
import math
import os
import pathlib
import random
import shutil
import sys
import tempfile
import unittest

BUILD, TREE = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(__file__).resolve().parents[2]
FOLDER = tempfile.mkdtemp(prefix="strobe-ttnn-")
os.environ.update(STROBE_DEVICE_LIBRARY=str(BUILD / "lib/libstrobe-device.so"), TT_METAL_PROFILER_DIR=FOLDER, TT_METAL_DEVICE_PROFILER="1",
                  TT_METAL_PROFILER_MID_RUN_DUMP="1", TT_METAL_PROFILER_CPP_POST_PROCESS="1")
sys.path[:0] = [str(TREE / "examples/ttnn"), str(BUILD / "python")]
import ttnn  # noqa: E402

TOLERANCE = {ttnn.float32: 1e-4, ttnn.bfloat16: 2e-2}
SIZES = ((40, 70), (64, 32))


def numbers(rows, columns, seed=1):
    dice = random.Random(seed)
    return [[dice.uniform(-2, 2) for _ in range(columns)] for _ in range(rows)]


def transposed(a):
    return [list(column) for column in zip(*a)]


def softmax(row):
    powers = [math.exp(value - max(row)) for value in row]
    return [power / sum(powers) for power in powers]


def normed(row, weight, bias):
    mean = sum(row) / len(row)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in row) / len(row) + 1e-5)
    return [(value - mean) / deviation * w + b for value, w, b in zip(row, weight, bias)]


def gelu(x):
    return x * 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class Ops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_device(device_id=0)
        cls.addClassCleanup(ttnn.close_device, cls.device)

    def on(self, values, dtype=ttnn.float32, **more):
        return ttnn.from_list(values, dtype=dtype, device=self.device, **more)

    def near(self, got, want, dtype=ttnn.float32):
        got, want = got.to_list() if isinstance(got, ttnn.Tensor) else got, want
        self.assertEqual((len(got), len(got[0])), (len(want), len(want[0])))
        for one, other in zip((v for row in got for v in row), (v for row in want for v in row)):
            self.assertTrue(math.isclose(one, other, rel_tol=TOLERANCE[dtype], abs_tol=TOLERANCE[dtype]), (one, other))

    def every(self, op, want):
        """op(tensor) is want(its rows), for all data types and sizes."""
        for dtype in TOLERANCE:
            for size in SIZES:
                with self.subTest(dtype=dtype, size=size):
                    tensor = self.on(numbers(*size), dtype)
                    self.near(op(tensor), want(tensor.to_list()), dtype)

    def test_numbers_come_back_as_they_went(self):
        for size in SIZES:
            values = numbers(*size)
            self.near(self.on(values), values)
            self.near(self.on(values, ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG), values, ttnn.bfloat16)

    def test_sums_differences_and_products(self):
        for op, plain in ((ttnn.add, lambda x, y: x + y), (ttnn.subtract, lambda x, y: x - y), (ttnn.multiply, lambda x, y: x * y)):
            self.every(lambda a, op=op: op(a, a), lambda rows, plain=plain: [[plain(x, x) for x in row] for row in rows])
            self.every(lambda a, op=op: op(a, 0.75), lambda rows, plain=plain: [[plain(x, 0.75) for x in row] for row in rows])
        row, rows = numbers(1, 70, 5), numbers(40, 70)
        self.near(ttnn.add(self.on(rows), self.on(row)), [[x + y for x, y in zip(one, row[0])] for one in rows])

    def test_functions_of_elements(self):
        for op, plain in ((ttnn.relu, lambda x: max(x, 0)), (ttnn.exp, math.exp), (ttnn.tanh, math.tanh), (ttnn.square, lambda x: x * x),
                          (ttnn.neg, lambda x: -x), (ttnn.abs, abs), (ttnn.sigmoid, lambda x: 1 / (1 + math.exp(-x))), (ttnn.gelu, gelu)):
            self.every(op, lambda rows, plain=plain: [[plain(x) for x in row] for row in rows])

    def test_products_of_matrices(self):
        for dtype in TOLERANCE:
            a, b = self.on(numbers(40, 70), dtype), self.on(numbers(70, 33, 2), dtype)
            columns = transposed(b.to_list())
            want = [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a.to_list()]
            self.near(ttnn.matmul(a, b), want, dtype)
        self.near(a @ ttnn.transpose(ttnn.transpose(b)), want, dtype)

    def test_what_pads_the_left_factor_does_not_count(self):
        """exp makes 1 of the padding of both factors."""
        a, b = ttnn.exp(self.on(numbers(4, 5))), ttnn.exp(self.on(numbers(5, 6)))
        self.near(ttnn.matmul(a, b), [[sum(x * y for x, y in zip(row, column)) for column in transposed(b.to_list())] for row in a.to_list()])

    def test_softmax(self):
        self.every(ttnn.softmax, lambda rows: [softmax(row) for row in rows])
        self.near(ttnn.softmax(self.on([[1000.0, 1001.0, 999.0]])), [softmax([1.0, 2.0, 0.0])])

    def test_layer_norm(self):
        weight, bias = numbers(1, 70, 3), numbers(1, 70, 4)
        rows = numbers(40, 70)
        plain = [[1.0] * 70], [[0.0] * 70]
        self.near(ttnn.layer_norm(self.on(rows), epsilon=1e-5), [normed(row, plain[0][0], plain[1][0]) for row in rows])
        self.near(ttnn.layer_norm(self.on(rows), weight=self.on(weight), epsilon=1e-5), [normed(row, weight[0], plain[1][0]) for row in rows])
        self.near(ttnn.layer_norm(self.on(rows), weight=self.on(weight), bias=self.on(bias), epsilon=1e-5), [normed(row, weight[0], bias[0]) for row in rows])

    def test_sums_and_means(self):
        self.every(lambda a: ttnn.mean(a, dim=-1), lambda rows: [[sum(row) / len(row)] for row in rows])
        rows = numbers(40, 70)
        self.near(ttnn.sum(self.on(rows), dim=-1), [[sum(row)] for row in rows])
        self.near(ttnn.sum(self.on(rows), dim=-2), [[sum(column) for column in zip(*rows)]])
        self.near(ttnn.sum(self.on(rows)), [[sum(map(sum, rows))]])

    def test_transpose_and_concat(self):
        self.every(ttnn.transpose, transposed)
        planes = [numbers(32, 64, seed) for seed in (1, 2)]
        for dim, want in ((0, planes + planes), (1, [plane + plane for plane in planes]), (2, [[row + row for row in plane] for plane in planes])):
            got = ttnn.concat([self.on(planes), self.on(planes)], dim=dim).to_list()
            self.assertEqual(len(got), len(want))
            for plane, other in zip(got, want):
                self.near(plane, other)

    def test_embedding_takes_rows_by_number(self):
        table, wanted = numbers(6, 20), [[1, 3, 2], [0, 5, 1]]
        got = ttnn.embedding(self.on(wanted, ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT), self.on(table, layout=ttnn.ROW_MAJOR_LAYOUT))
        for plane, numbers_ in zip(got.to_list(), wanted):
            self.near(plane, [table[number] for number in numbers_])

    def test_a_program_is_built_once(self):
        a = self.on(numbers(33, 33))
        ttnn.relu(a)
        n = self.device.num_program_cache_entries()
        for _ in range(3):
            ttnn.relu(a)
        self.assertEqual(self.device.num_program_cache_entries(), n)

    def test_a_trace_runs_when_it_is_replayed(self):
        a = self.on([[1.0, 2.0]])
        ttnn.add(a, 1.0)  # builds it
        trace = ttnn.begin_trace_capture(self.device, cq_id=0)
        out = ttnn.add(a, 1.0)
        ttnn.end_trace_capture(self.device, trace, cq_id=0)
        a.shards[0].write(self.on([[5.0, 6.0]]).shards[0].read())
        ttnn.execute_trace(self.device, trace, cq_id=0, blocking=True)
        self.near(out, [[6.0, 7.0]])
        ttnn.release_trace(self.device, trace)

    def test_perf_data_are_those_of_the_last_read_and_of_all(self):
        ttnn.ReadDeviceProfiler(self.device)
        before = len(ttnn.get_all_programs_perf_data()[0])
        for _ in range(3):
            ttnn.exp(self.on([[1.0]]))
        ttnn.ReadDeviceProfiler(self.device)
        latest = ttnn.get_latest_programs_perf_data()[0]
        self.assertEqual((len(latest), len(ttnn.get_all_programs_perf_data()[0])), (3, before + 3))
        kernel = [data.program_analyses_results["DEVICE KERNEL DURATION [ns]"].duration for data in latest]
        summary = ttnn.get_latest_kernel_duration_summary()[0]
        self.assertEqual((summary.count, summary.min_ns, summary.max_ns), (3, min(kernel), max(kernel)))
        self.assertEqual((sum(summary.histogram.bucket_counts), len(summary.histogram.bucket_edges_ns)), (3, 11))
        self.assertEqual({data.core_count for data in latest}, {1})

    def test_what_cannot_be_done_is_said(self):
        a = self.on([[1.0, 2.0]])
        for problem, words, call in ((TypeError, "not on a device", lambda: ttnn.relu(ttnn.from_list([[1.0]]))),
                                     (ValueError, "can't be multiplied", lambda: ttnn.matmul(a, a)),
                                     (ValueError, "neither the shape", lambda: ttnn.add(a, self.on([[1.0]]))),
                                     (IndexError, "no dimension", lambda: ttnn.softmax(a, dim=7)),
                                     (ValueError, "different lengths", lambda: ttnn.from_list([[1.0], [1.0, 2.0]]))):
            with self.assertRaisesRegex(problem, words):
                call()
        ttnn.deallocate(a)
        self.assertFalse(a.is_allocated())
        with self.assertRaisesRegex(RuntimeError, "deallocated"):
            ttnn.relu(a)


class Closed(unittest.TestCase):
    def test_a_closed_device_and_its_tensors_say_so(self):
        device = ttnn.open_device(device_id=0)
        a = ttnn.ones((32, 32), device=device)
        ttnn.close_device(device)
        ttnn.close_device(device)
        for call in (lambda: ttnn.relu(a), a.to_list, lambda: ttnn.ones((32, 32), device=device), lambda: ttnn.synchronize_device(device)):
            with self.assertRaisesRegex(RuntimeError, "closed"):
                call()


class Mesh(unittest.TestCase):
    def test_every_device_gets_the_shards_of_all(self):
        with ttnn.open_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
            values = numbers(32, 128)
            spread = ttnn.from_list(values, dtype=ttnn.float32, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=1))
            self.assertEqual(list(spread.shape), [32, 64])
            whole = ttnn.all_gather(ttnn.add(spread, 1.0), dim=1)
            for shard in range(2):
                for row, other in zip(whole.to_list(shard), values):
                    for one, want in zip(row, other):
                        self.assertAlmostEqual(one, want + 1, places=4)
            self.assertEqual(len(ttnn.ConcatMeshToTensor(mesh, dim=1)(spread)[0]), 128)


if __name__ == "__main__":
    try:
        unittest.main(verbosity=1)
    finally:
        shutil.rmtree(FOLDER)
