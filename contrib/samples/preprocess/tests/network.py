"""Networks that begin with bytes of a picture, and outputs that NumPy computes: network.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = np.random.default_rng(1)
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def sample(x, axis, extent):
    """Linear interpolation between the centres of pixels, which is what OpenCV and PyTorch do."""
    at = np.clip((np.arange(extent) + 0.5) * x.shape[axis] / extent - 0.5, 0, x.shape[axis] - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    part = (at - low).reshape([-1 if k == axis else 1 for k in range(x.ndim)])
    return x.take(low, axis) * (1 - part) + x.take(high, axis) * part


def prepare(x, resize=(), crop=(), mean=(0, 0, 0), std=(1, 1, 1), swap=0):
    y = x[..., ::-1] if swap else x
    y = ((y / 255.0 - np.array(mean)) / np.array(std)).transpose(0, 3, 1, 2)
    for k, extent in enumerate(resize):
        y = sample(y, k + 2, extent)
    for k, extent in enumerate(crop):
        begin = (y.shape[k + 2] - extent) // 2
        y = y.take(range(begin, begin + extent), k + 2)
    return y


def save(name, x, **attributes):
    """The node, and a convolution with its output. Without data if the node is wrong."""
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    weights = random.normal(0, 0.2, (4, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Picture", ["x"], ["prepared"], name="picture", domain="preprocess", **attributes),
        helper.make_node("Conv", ["prepared", "weights"], ["y"]),
    ]
    kind = TensorProto.UINT8 if x.dtype == np.uint8 else TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info("x", kind, x.shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)]
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(weights, "weights")])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("preprocess", 1)]
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), f"{folder}/{name}/network.onnx")
    if name.startswith("wrong"):
        return
    y = prepare(x, **attributes)
    windows = np.lib.stride_tricks.sliding_window_view(y, (3, 3), (2, 3))
    np.save(f"{folder}/{name}/input_0.npy", x)
    np.save(f"{folder}/{name}/output_0.npy", np.einsum("nchwij,ocij->nohw", windows, weights).astype(np.float32))


picture = random.integers(0, 256, (2, 37, 53, 3), dtype=np.uint8)
save("plain", picture)
save("imagenet", picture, resize=[32, 40], crop=[24, 25], mean=MEAN, std=STD)
save("swapped", picture, resize=[50, 70], mean=MEAN, std=STD, swap=1)
save("cropped", picture, crop=[37, 20])
save("wrong_crop", picture, crop=[38, 20])
save("wrong_mean", picture, mean=[0.5, 0.5])
save("wrong_resize", picture, resize=[0, 20])
save("wrong_type", picture.astype(np.float32))
