# SPDX-License-Identifier: MIT
"""How a tensor of the host is spread over the devices of a mesh, and put together again."""
from ttnn._tensor import Tensor, from_device
from ttnn._types import Shape


def pieces(flat, shape, axis, n):
    """n equal parts of a tensor along an axis."""
    if shape[axis] % n:
        raise ValueError(f"{shape[axis]} can't be split into {n} equal parts")
    inner = Shape(shape[axis:]).volume()
    part = inner // n
    return [[value for at in range(i * part, len(flat), inner) for value in flat[at:at + part]] for i in range(n)]


def ReplicateTensorToMesh(mesh_device):
    """The whole tensor on every device."""
    return lambda tensor: tensor


def ShardTensorToMesh(mesh_device, dim):
    """A part of the tensor on every device."""
    def spread(tensor):
        axis, n = dim % len(tensor.shape), len(mesh_device.devices)
        shape = [size // n if i == axis else size for i, size in enumerate(tensor.shape)]
        return Tensor(pieces(tensor.shards[0], tensor.shape, axis, n), shape, tensor.dtype, tensor.layout)
    return spread


def ConcatMeshToTensor(mesh_device, dim):
    """The shards of all devices one behind the other, as nested lists."""
    def gather(tensor):
        host, axis = from_device(tensor), dim % len(tensor.shape)
        inner = Shape(tensor.shape[axis:]).volume()
        n_outer = Shape(tensor.shape[:axis]).volume()
        flat = [value for i in range(n_outer) for shard in host.shards for value in shard[i * inner:(i + 1) * inner]]
        shape = [size * len(host.shards) if i == axis else size for i, size in enumerate(tensor.shape)]
        return Tensor([flat], shape, tensor.dtype).to_list()
    return gather


def get_device_tensors(tensor):
    """A tensor of one shard for each device; on the host."""
    host = from_device(tensor)
    return [Tensor([shard], host.shape, host.dtype, host.layout) for shard in host.shards]
