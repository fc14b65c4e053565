"""Convolution, the operator, addition, relu; an input and the output that NumPy computes: network.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = np.random.default_rng(1)
x = random.normal(0, 1, (2, 16, 20, 24)).astype(np.float32)
filters = random.normal(0, 0.2, (256, 16, 1, 1)).astype(np.float32)
weights = random.normal(0, 0.2, (192, 256)).astype(np.float32)
weights[3] = 0
offset = random.normal(0, 1, (1, 192, 1, 1)).astype(np.float32)


def save(name, inputs, constants):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    nodes = [
        helper.make_node("Conv", ["x", "filters"], ["a"], name="conv"),
        helper.make_node("channel_mix", ["a", "weights"], ["b"], name="mix", domain="channel_mix"),
        helper.make_node("Add", ["b", "offset"], ["c"], name="add"),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    value = lambda key, shape: helper.make_tensor_value_info(key, TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        nodes,
        name,
        [value(key, array.shape) for key, array in inputs.items()],
        [value("y", [2, 192, 20, 24])],
        [numpy_helper.from_array(array, key) for key, array in constants.items()],
    )
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("channel_mix", 1)]
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), f"{folder}/{name}/network.onnx")


save("mixed", {"x": x}, {"filters": filters, "weights": weights, "offset": offset})
save("varying", {"x": x, "weights": weights}, {"filters": filters, "offset": offset})

scales = np.abs(weights).max(1, keepdims=True) / np.float32(127)
scales[scales == 0] = 1
rounded = np.rint(weights / scales).astype(np.float64) * scales
a = np.einsum("oc,nchw->nohw", filters[:, :, 0, 0].astype(np.float64), x)
y = np.maximum(np.einsum("oc,nchw->nohw", rounded, a) + offset, 0)
np.save(f"{folder}/mixed/input_0.npy", x)
np.save(f"{folder}/mixed/output_0.npy", y.astype(np.float32))
