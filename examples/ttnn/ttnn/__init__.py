# SPDX-License-Identifier: MIT
"""ttnn on the simulator: a dozen ops with ttnn's names, as real kernels on backend `sim` of libstrobe-device.

    export PYTHONPATH=examples/ttnn:$PYTHONPATH
    python -m tracy -p -r your_script.py          # the op report, with host and device columns

It is there to have something to profile without a device: results are right, times are those of the simulator's model. It is
installed by nobody but you, and steps back where the real ttnn can be imported."""
import importlib.machinery
import importlib.util
import os
import sys


def _real():
    """The spec of another `ttnn` behind this one in sys.path, or None."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [path for path in sys.path if os.path.abspath(path or ".") != here]
    return importlib.machinery.PathFinder.find_spec("ttnn", paths)


def _step_back(spec):
    """Become the real one."""
    print(f"ttnn: the real one is installed ({spec.origin}) and is used; the simulator's steps back", file=sys.stderr)
    module = importlib.util.module_from_spec(spec)
    sys.modules["ttnn"] = module
    spec.loader.exec_module(module)


_other = _real()
if _other is not None and _other.loader is not None:
    _step_back(_other)
else:
    import atexit

    from ttnn._device import (  # noqa: F401
        GetNumAvailableDevices, MeshDevice, MeshShape, ReadDeviceProfiler, begin_trace_capture, close_all, close_device, close_mesh_device,
        end_trace_capture, execute_trace, get_num_devices, open_device, open_mesh_device, release_trace, synchronize_device)
    from ttnn._library import DeviceError  # noqa: F401
    from ttnn._mesh import ConcatMeshToTensor, ReplicateTensorToMesh, ShardTensorToMesh, get_device_tensors  # noqa: F401
    from ttnn._ops import (  # noqa: F401
        abs, add, all_gather, argmax, concat, embedding, exp, gelu, layer_norm, linear, matmul, mean, mul, multiply, neg, reciprocal, relu,
        sigmoid, softmax, sqrt, square, sub, subtract, sum, tanh, transpose)
    from ttnn._perf_data import (  # noqa: F401
        KernelDurationHistogram, KernelDurationSummary, ProgramAnalysisData, ProgramExecutionUID, ProgramSingleAnalysisResult,
        get_all_kernel_duration_summary, get_all_programs_perf_data, get_latest_kernel_duration_summary, get_latest_programs_perf_data)
    from ttnn._tensor import (  # noqa: F401
        Tensor, deallocate, from_device, from_list, from_torch, full, ones, rand, to_device, to_layout, to_torch, zeros)
    from ttnn._types import (  # noqa: F401
        DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG, TILE_SIZE, BufferType, DataType, Layout, MathFidelity, MemoryConfig, Shape, TensorMemoryLayout)

    try:
        from strobe.ttnn_names import start_tracy_zone, stop_tracy_zone, tracy_frame, tracy_message  # noqa: F401
    except ImportError:  # no recorder: there is nobody to report to
        pass

    bfloat16, float32, uint32 = DataType.BFLOAT16, DataType.FLOAT32, DataType.UINT32
    TILE_LAYOUT, ROW_MAJOR_LAYOUT = Layout.TILE, Layout.ROW_MAJOR
    atexit.register(close_all)
