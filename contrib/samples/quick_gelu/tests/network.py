"""Networks with x * sigmoid(c * x) in each order, and one in which it must stay: network.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = np.random.default_rng(1)
x = random.normal(0, 2, (4, 50)).astype(np.float32)


def save(name, inner, outer, c):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    nodes = [
        helper.make_node("Mul", inner, ["m"]),
        helper.make_node("Sigmoid", ["m"], ["s"]),
        helper.make_node("Mul", outer, ["y"]),
    ]
    value = lambda key: helper.make_tensor_value_info(key, TensorProto.FLOAT, x.shape)
    graph = helper.make_graph(nodes, name, [value("x")], [value("y")], [numpy_helper.from_array(c, "c")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, f"{folder}/{name}/network.onnx")
    np.save(f"{folder}/{name}/input_0.npy", x)
    np.save(f"{folder}/{name}/output_0.npy", (x / (1 + np.exp(-c * x))).astype(np.float32))


number = np.array(1.702, np.float32)
save("x_sigmoid_c_x", ["c", "x"], ["x", "s"], number)
save("x_sigmoid_x_c", ["x", "c"], ["x", "s"], number)
save("c_x_sigmoid_x", ["c", "x"], ["s", "x"], number)
save("x_c_sigmoid_x", ["x", "c"], ["s", "x"], number)
# One number for each column: swish has one for all.
save("columns", ["c", "x"], ["x", "s"], random.normal(0, 2, 50).astype(np.float32))
