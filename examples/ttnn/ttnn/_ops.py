# SPDX-License-Identifier: MIT
"""The ops. Each says how its work is split and what its kernels get; kernels/ has the kernels.

Tensors are on a device, in tiles unless an op says otherwise; what pads a tile is never a part of a result."""
import builtins
import math
import struct

from ttnn import _profiler
from ttnn._program import Op, Ring, next_base_id
from ttnn._tensor import Tensor, from_device, to_device
from ttnn._types import TILE_SIZE, DataType, Layout

BINARY = ("add", "subtract", "multiply")  # the order is that of eltwise.cpp
UNARY = ("relu", "exp", "sqrt", "reciprocal", "square", "tanh", "sigmoid", "neg", "abs")
GELU_1, GELU_0 = 2 * math.sqrt(2 / math.pi) * 0.044715, 2 * math.sqrt(2 / math.pi)
MAX_ROW_TILES = 16  # that fit into L1 with all that softmax and layer norm keep beside them


def bits(value):
    """A number as the bits of a 32-bit float."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def tiles(tensor):
    """(planes, rows of tiles, columns of tiles)"""
    w, z, y, x = tensor.padded_shape
    return w * z, y // TILE_SIZE, x // TILE_SIZE


def in_last(size):
    """How many lines of the last tile count."""
    return size % TILE_SIZE or TILE_SIZE


def check(name, *tensors, layout=Layout.TILE):
    for tensor in tensors:
        if not isinstance(tensor, Tensor) or not tensor.mesh:
            raise TypeError(f"ttnn.{name}: {tensor!r} is not on a device: ttnn.to_device moves it there")
        if tensor.layout is not layout:
            raise ValueError(f"ttnn.{name}: {tensor!r} is not in layout {layout.name}: ttnn.to_layout changes it")
        if tensor.mesh is not tensors[0].mesh:
            raise ValueError(f"ttnn.{name}: the tensors are on different devices")
        if tensor.dtype is not tensors[0].dtype:
            raise ValueError(f"ttnn.{name}: {tensor.dtype.name} and {tensors[0].dtype.name} do not go together")


def axis_of(name, tensor, dim):
    rank = len(tensor.shape)
    if not -rank <= dim < rank:
        raise IndexError(f"ttnn.{name}: there is no dimension {dim} in {list(tensor.shape)}")
    return dim % rank


def elementwise(code, function, a, how, b=None, scalar=0.0, memory_config=None):
    n_tiles = a.n_pages()
    inputs = [a] if b is None else [a, b]
    return Op(code, inputs, a.shape, n_tiles, "reader_tiles.cpp",
              lambda at, first, n: [*at[0], *(at[1] if b is not None else (0, 0)), how, bits(scalar), tiles(a)[2], first, n, 0],
              [Ring(0, 2, a), Ring(1, 2, a)], "eltwise.cpp", lambda n: [n, (BINARY + UNARY).index(function), how == 2],
              {"op_type": function, "scalar": scalar if how == 2 else "std::nullopt"}, memory_config=memory_config).run()


def binary(function, a, b, memory_config=None):
    check(function, a)
    if isinstance(b, (int, float)):
        return elementwise("BinaryNgDeviceOperation", function, a, 2, None, float(b), memory_config)
    check(function, a, b)
    if a.shape.four() == b.shape.four():
        return elementwise("BinaryNgDeviceOperation", function, a, 1, b, memory_config=memory_config)
    if b.shape.four() == (1, 1, 1, a.shape[-1]):
        return elementwise("BinaryNgDeviceOperation", function, a, 3, b, memory_config=memory_config)
    raise ValueError(f"ttnn.{function}: {list(b.shape)} is neither the shape {list(a.shape)} nor one row of it")


def add(a, b, *, memory_config=None):
    """a + b; b: a tensor of a's shape, one row, or a number."""
    return binary("add", a, b, memory_config)


def subtract(a, b, *, memory_config=None):
    return binary("subtract", a, b, memory_config)


def multiply(a, b, *, memory_config=None):
    return binary("multiply", a, b, memory_config)


def unary(function):
    def op(tensor, *, memory_config=None):
        check(function, tensor)
        return elementwise("UnaryDeviceOperation", function, tensor, 0, memory_config=memory_config)
    op.__name__ = op.__qualname__ = function
    op.__doc__ = f"{function} of every element."
    return op


def gelu(tensor, *, memory_config=None, **_):
    """x * Phi(x), by its tanh form."""
    check("gelu", tensor)
    return Op("UnaryDeviceOperation", [tensor], tensor.shape, tensor.n_pages(), "reader_tiles.cpp",
              lambda at, first, n: [*at[0], 0, 0, 0, 0, 1, first, n, 2, bits(GELU_1), bits(GELU_0)],
              [Ring(0, 2, tensor)] + [Ring(index, 1) for index in (2, 3, 24, 25)], "gelu.cpp", lambda n: [n],
              {"op_type": "gelu"}, memory_config=memory_config).run()


def matmul(a, b, *, transpose_a=False, transpose_b=False, memory_config=None, **_):
    """The matrix product; b has a's planes, or one."""
    a, b = transpose(a, -2, -1) if transpose_a else a, transpose(b, -2, -1) if transpose_b else b
    check("matmul", a, b)
    if a.shape.four()[3] != b.shape.four()[2]:
        raise ValueError(f"ttnn.matmul: {list(a.shape)} and {list(b.shape)} can't be multiplied")
    (planes, rows, inner), (b_planes, _, columns) = tiles(a), tiles(b)
    if b_planes not in (1, planes):
        raise ValueError(f"ttnn.matmul: {planes} and {b_planes} matrices can't be paired")
    return Op("MatmulDeviceOperation", [a, b], (*a.shape[:-1], b.shape[-1]), planes * rows * columns, "reader_matmul.cpp",
              lambda at, first, n: [*at[0], *at[1], rows, inner, columns, b_planes > 1, in_last(a.shape[-1]), first, n],
              [Ring(0, 2, a), Ring(1, 2, b)], "matmul.cpp", lambda n: [n, inner], {"transpose_a": transpose_a, "transpose_b": transpose_b},
              memory_config=memory_config, n_macs=planes * rows * columns * inner * TILE_SIZE ** 3).run()


def linear(a, b, *, bias=None, activation=None, memory_config=None, **_):
    """a @ b + bias, then an activation by its name."""
    out = matmul(a, b, memory_config=memory_config)
    out = add(out, bias) if bias is not None else out
    return globals()[activation](out) if activation else out


def softmax(tensor, dim=-1, *, memory_config=None, **_):
    """Softmax of the rows; the greatest element of each is taken off first."""
    check("softmax", tensor)
    if axis_of("softmax", tensor, dim) != len(tensor.shape) - 1:
        raise NotImplementedError("ttnn.softmax: only of the last dimension; ttnn.transpose brings another there")
    return rows_op("SoftmaxDeviceOperation", "softmax.cpp", [tensor], 1.0, 0.0, 1, [(1, 1), (24, None), (25, 1)],
                   lambda n, per_row: [n, per_row], {"dim": dim, "numeric_stable": True}, memory_config)


def layer_norm(tensor, *, weight=None, bias=None, epsilon=1e-12, memory_config=None, **_):
    """Rows less their mean, divided by their deviation, times a weight, plus a bias, which are rows themselves."""
    extra = [one for one in (weight, bias) if one is not None]
    check("layer_norm", tensor, *extra)
    if bias is not None and weight is None:
        raise NotImplementedError("ttnn.layer_norm: a bias needs a weight")
    for one in extra:
        if one.shape.four() != (1, 1, 1, tensor.shape[-1]):
            raise ValueError(f"ttnn.layer_norm: {list(one.shape)} is not a row of {list(tensor.shape)}")
    rooms = [(24, 1), (25, None), (26, None), (27, 1), (28, 1), (29, 1), (30, 1)]
    return rows_op("LayerNormDeviceOperation", "layernorm.cpp", [tensor, *extra], 1 / tensor.shape[-1], epsilon, 2 * bool(extra) + 4 * (bias is not None),
                   rooms, lambda n, per_row: [n, per_row, bool(extra), bias is not None], {"eps": epsilon}, memory_config)


def rows_op(code, compute, inputs, scaler, epsilon, wanted, rooms, compute_arguments, attributes, memory_config):
    """An op whose unit is a row of tiles. rooms: (buffer, tiles), None: a row of them."""
    tensor = inputs[0]
    planes, rows, per_row = tiles(tensor)
    if per_row > MAX_ROW_TILES:
        raise NotImplementedError(f"{code}: rows of {tensor.shape[-1]} do not fit into a core's L1 here; {MAX_ROW_TILES * TILE_SIZE} do")
    rings = [Ring(0, 2 * per_row, tensor)] + [Ring(index, 1) for index in (2, 3, 4)]
    rings += [Ring(5 + i, per_row, tensor) for i in range(2)] + [Ring(index, n or per_row) for index, n in rooms]

    def reader_arguments(at, first, n):
        more = [place for pair in (*at[1:], (0, 0), (0, 0)) for place in pair][:4]
        return [*at[0], per_row, in_last(tensor.shape[-1]), first, n, wanted, bits(scaler), bits(epsilon), *more]

    return Op(code, inputs, tensor.shape, planes * rows, "reader_rows.cpp", reader_arguments, rings, compute,
              lambda n: compute_arguments(n, per_row), attributes, memory_config=memory_config, pages_per_unit=per_row).run()


def reduce(name, tensor, dim, is_mean, keepdim, memory_config):
    check(name, tensor)
    if not keepdim:
        raise NotImplementedError(f"ttnn.{name}: dimensions stay, with size 1")
    if dim is None:
        dim = (-2, -1)
        if len(tensor.shape) > 2 and math.prod(tensor.shape[:-2]) > 1:
            raise NotImplementedError(f"ttnn.{name}: of one matrix, or along the last two dimensions")
    if isinstance(dim, (tuple, list)):
        for one in sorted(axis_of(name, tensor, one) for one in dim):
            tensor = reduce(name, tensor, one, is_mean, True, memory_config)
        return tensor
    axis = axis_of(name, tensor, dim)
    if axis < len(tensor.shape) - 2:
        raise NotImplementedError(f"ttnn.{name}: along one of the last two dimensions, not {dim}")
    by_rows = axis == len(tensor.shape) - 2
    planes, rows, columns = tiles(tensor)
    size = tensor.shape[axis]
    shape = [1 if i == axis else one for i, one in enumerate(tensor.shape)]
    return Op("ReduceDeviceOperation", [tensor], shape, planes * (columns if by_rows else rows), "reader_reduce.cpp",
              lambda at, first, n: [*at[0], rows, columns, by_rows, bits(1 / size if is_mean else 1.0), in_last(size), first, n],
              [Ring(0, 2, tensor), Ring(1, 2, tensor)], "matmul.cpp", lambda n: [n, rows if by_rows else columns],
              {"math_op": "AVG" if is_mean else "SUM", "dim": "H" if by_rows else "W"}, memory_config=memory_config).run()


def sum(tensor, dim=None, keepdim=True, *, memory_config=None, **_):
    """The sum along one or both of the last two dimensions, which stay, with size 1."""
    return reduce("sum", tensor, dim, False, keepdim, memory_config)


def mean(tensor, dim=None, keepdim=True, *, memory_config=None, **_):
    return reduce("mean", tensor, dim, True, keepdim, memory_config)


def transpose(tensor, dim1=-2, dim2=-1, *, memory_config=None):
    """The last two dimensions exchanged."""
    check("transpose", tensor)
    if {axis_of("transpose", tensor, dim1), axis_of("transpose", tensor, dim2)} != {len(tensor.shape) - 2, len(tensor.shape) - 1}:
        raise NotImplementedError("ttnn.transpose: only of the last two dimensions")
    planes, rows, columns = tiles(tensor)
    return Op("TransposeDeviceOperation", [tensor], (*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2]), planes * rows * columns,
              "reader_transpose.cpp", lambda at, first, n: [*at[0], rows, columns, first, n], [Ring(0, 1, tensor)],
              attributes={"dim": "WH"}, memory_config=memory_config).run()


def concat(tensors, dim=0, *, memory_config=None, code="ConcatDeviceOperation"):
    """Tensors one behind the other; along the last two dimensions in whole tiles."""
    check("concat", *tensors)
    first, rank = tensors[0], len(tensors[0].shape)
    axis = axis_of("concat", first, dim)
    for one in tensors:
        if [size for i, size in enumerate(one.shape) if i != axis] != [size for i, size in enumerate(first.shape) if i != axis]:
            raise ValueError(f"ttnn.concat: {list(one.shape)} and {list(first.shape)} differ in more than dimension {dim}")
        if axis >= rank - 2 and one.shape[axis] % TILE_SIZE:
            raise NotImplementedError(f"ttnn.concat: along dimension {dim} the size {one.shape[axis]} is not in whole tiles")
    four = axis + 4 - rank
    turns = [math.prod(one.padded_shape[four:]) // TILE_SIZE ** 2 if four < 3 else tiles(one)[2] for one in tensors]
    shape = list(first.shape)
    shape[axis] = builtins.sum(one.shape[axis] for one in tensors)
    op = Op(code, tensors, shape, builtins.sum(one.n_pages() for one in tensors), "reader_concat.cpp",
            lambda at, begin, n: [begin, n, len(tensors)] + [value for place, turn in zip(at, turns) for value in (*place, turn)], [],
            attributes={"dim": dim}, memory_config=memory_config)
    return op.run()


def embedding(numbers, table, *, memory_config=None, **_):
    """Rows of a table by their numbers (UINT32). Both are in layout ROW_MAJOR, and so is the result."""
    check("embedding", numbers, layout=Layout.ROW_MAJOR)
    check("embedding", table, layout=Layout.ROW_MAJOR)
    if numbers.dtype is not DataType.UINT32:
        raise ValueError(f"ttnn.embedding: the numbers are {numbers.dtype.name}, not UINT32")
    n, per_page, row = numbers.shape.volume(), numbers.shape[-1], table.shape[-1]
    return Op("EmbeddingsDeviceOperation", [numbers, table], (*numbers.shape, row), n, "reader_embedding.cpp",
              lambda at, first, count: [*at[0], per_page, *at[1], math.prod(table.shape[:-1]), first, count],
              [Ring(0, 1, numbers)], attributes={"embeddings_type": "GENERIC"}, memory_config=memory_config).run()


def all_gather(tensor, dim=-1, *, memory_config=None, **_):
    """Every device gets the shards of all, one behind the other. The simulator's devices have no links: the host carries the shards,
    and a kernel of each device puts them together."""
    check("all_gather", tensor)
    host = from_device(tensor)
    shards = [to_device(Tensor([values], tensor.shape, tensor.dtype, tensor.layout), tensor.mesh, tensor.config) for values in host.shards]
    return concat(shards, dim, memory_config=memory_config, code="AllGatherDeviceOperation")


def argmax(tensor, dim=-1, **_):
    """The number of the greatest element of each row, as a list. It runs in Python, and a report shows it as a fallback."""
    if axis_of("argmax", tensor, dim) != len(tensor.shape) - 1:
        raise NotImplementedError("ttnn.argmax: only of the last dimension")
    with _profiler.fallback_op("ttnn.argmax", next_base_id(), [tensor], {"dim": str(dim)}):
        flat, size = from_device(tensor).shards[0], tensor.shape[-1]
        return [max(range(size), key=flat[at:at + size].__getitem__) for at in range(0, len(flat), size)]


relu, exp, sqrt, reciprocal, square, tanh, sigmoid, neg, abs = map(unary, UNARY)
mul, sub = multiply, subtract
