# SPDX-License-Identifier: MIT
"""One layer of an encoder with random weights, on the simulator: something with ops to profile.

    PYTHONPATH=examples/ttnn python -m tracy -p -r examples/ttnn/bert_tiny.py
    PYTHONPATH=examples/ttnn python -m tracy -p -r -m pytest examples/ttnn/bert_tiny.py::test_demo
"""
import math

import ttnn

try:
    from tracy import signpost
except ImportError:
    def signpost(header, message=None):
        pass

WORDS, LENGTH, WIDTH, INNER = 64, 32, 64, 128


class Layer:
    """Attention and a feed-forward net, each behind a layer norm."""

    def __init__(self, device):
        def matrix(seed, rows, columns):
            return ttnn.sub(ttnn.multiply(ttnn.rand((rows, columns), device=device, seed=seed), 2 / math.sqrt(rows)), 1 / math.sqrt(rows))

        self.table = ttnn.rand((WORDS, WIDTH), layout=ttnn.ROW_MAJOR_LAYOUT, device=device, seed=1)
        self.query, self.key, self.value, self.out = (matrix(seed, WIDTH, WIDTH) for seed in range(2, 6))
        self.up, self.down = matrix(6, WIDTH, INNER), matrix(7, INNER, WIDTH)
        self.weight, self.bias = ttnn.ones((1, WIDTH), device=device), ttnn.zeros((1, WIDTH), device=device)

    def __call__(self, numbers):
        x = ttnn.to_layout(ttnn.embedding(numbers, self.table), ttnn.TILE_LAYOUT)
        x = ttnn.layer_norm(x, weight=self.weight, bias=self.bias, epsilon=1e-5)
        query, key, value = (ttnn.matmul(x, matrix) for matrix in (self.query, self.key, self.value))
        scores = ttnn.multiply(ttnn.matmul(query, ttnn.transpose(key, -2, -1)), 1 / math.sqrt(WIDTH))
        x = ttnn.add(x, ttnn.matmul(ttnn.matmul(ttnn.softmax(scores, dim=-1), value), self.out))
        x = ttnn.layer_norm(x, weight=self.weight, bias=self.bias, epsilon=1e-5)
        return ttnn.add(x, ttnn.matmul(ttnn.gelu(ttnn.matmul(x, self.up)), self.down))


def numbers_of(device):
    return ttnn.from_list([[(7 * i) % WORDS for i in range(LENGTH)]], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)


def run(n_runs=2):
    """The layer's output, as nested lists."""
    device = ttnn.open_device(device_id=0)
    try:
        layer, numbers = Layer(device), numbers_of(device)
        for i in range(n_runs):
            signpost(f"run {i}")
            output = layer(numbers)
        ttnn.synchronize_device(device)
        ttnn.argmax(output)
        ttnn.ReadDeviceProfiler(device)
        return output.to_list()
    finally:
        ttnn.close_device(device)


def test_demo():
    output = run()
    assert len(output[0]) == LENGTH and len(output[0][0]) == WIDTH
    assert all(math.isfinite(value) for row in output[0] for value in row)


if __name__ == "__main__":
    result = run()
    print(f"{len(result[0])} x {len(result[0][0])} numbers, the first is {result[0][0][0]:.3f}")
