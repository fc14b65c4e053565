"""Networks of one node, inputs and the determinants that NumPy computes: network.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

folder = sys.argv[1]
random = np.random.default_rng(1)


def save(name, x, dims=None):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    node = helper.make_node("Det", ["x"], ["y"], name="det")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims or x.shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, (dims or x.shape)[:-2])]
    graph = helper.make_graph([node], name, inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, f"{folder}/{name}/network.onnx")
    np.save(f"{folder}/{name}/input_0.npy", x.astype(np.float32))
    y = np.linalg.det(x.astype(np.float32).astype(np.float64))
    np.save(f"{folder}/{name}/output_0.npy", np.asarray(y, np.float32))


save("batch", random.normal(0, 0.5, (7, 11, 20, 20)), ["n", 11, 20, 20])
save("one", random.normal(0, 1, (5, 5)))
save("small", random.normal(0, 1, (300, 1, 1)))
singular = random.normal(0, 1, (4, 6, 6))
singular[0, 2] = 0
singular[1, :, 3] = 0
singular[2, 4] = singular[2, 5] = 1
singular[3] = np.eye(6)[::-1]  # needs a swap in each step
save("singular", singular)
