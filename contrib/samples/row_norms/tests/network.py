"""Networks with the normalisations, inputs and outputs that NumPy computes: network.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = np.random.default_rng(1)
domains = [helper.make_opsetid("", 17), helper.make_opsetid("row_norms", 1)]


def save(name, kind, x, y, gain=None, **attributes):
    """A network of one node, with a dynamic first axis, in a folder of its own."""
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    dims = ["rows", *x.shape[1:]]
    inputs = ["x"] if gain is None else ["x", "gain"]
    constants = [] if gain is None else [numpy_helper.from_array(np.float32(gain), "gain")]
    node = helper.make_node(kind, inputs, ["y"], domain="row_norms", **attributes)
    value = lambda key: helper.make_tensor_value_info(key, TensorProto.FLOAT, dims)
    graph = helper.make_graph([node], name, [value("x")], [value("y")], constants)
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), f"{folder}/{name}/network.onnx")
    np.save(f"{folder}/{name}/input_0.npy", x.astype(np.float32))
    np.save(f"{folder}/{name}/output_0.npy", y.astype(np.float32))


x = random.normal(0, 3, (7, 130)).astype(np.float32).astype(np.float64)
x[0] -= 200  # no weight in this row
x[1] += 200  # exponentials beyond the range of floats
largest = np.maximum(x.max(-1, keepdims=True), 0)
e = np.exp(x - largest)
save("softmax_one", "softmax_one", x, e / (e.sum(-1, keepdims=True) + np.exp(-largest)))
x = random.normal(0, 3, (3, 40, 5)).astype(np.float32).astype(np.float64)
norm = (np.abs(x) ** 3).sum(1, keepdims=True) ** (1 / 3)
save("power_norm", "power_norm", x, x / (norm + 1e-12), axis=1, p=3.0)
low = x.min(-1, keepdims=True)
save("range_norm", "range_norm", x, (x - low) / (x.max(-1, keepdims=True) - low + 0.001), epsilon=0.001)
norm = np.sqrt((x * x).sum(-1, keepdims=True))
save("scale_norm", "scale_norm", x, 2.5 * x / (norm + 1e-5), gain=2.5)
save("outside", "softmax_one", x, x, axis=3)
