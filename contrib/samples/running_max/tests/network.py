"""Networks of one node of each type, inputs and outputs that NumPy computes: network.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

folder = sys.argv[1]
KINDS = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
}
random = np.random.default_rng(1)


def save(name, x, axis):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    kind = KINDS[x.dtype.name]
    value = lambda key: helper.make_tensor_value_info(key, kind, x.shape)
    node = helper.make_node("running_max", ["x"], ["y"], domain="running_max", axis=axis)
    graph = helper.make_graph([node], name, [value("x")], [value("y")])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("running_max", 1)]
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), f"{folder}/{name}/network.onnx")
    np.save(f"{folder}/{name}/input_0.npy", x)
    if -x.ndim <= axis < x.ndim:
        np.save(f"{folder}/{name}/output_0.npy", np.maximum.accumulate(x, axis))


x = random.normal(0, 1, (60, 30, 40))
save("f32", x.astype(np.float32), -1)
save("f64", x, 1)
save("i32", random.integers(-1000, 1000, (7, 9), dtype=np.int32), 0)
save("i64", random.integers(-1000, 1000, (50,), dtype=np.int64), -1)
x[3, 4, 5] = np.nan
save("nan", x.astype(np.float32), 2)
save("outside", x.astype(np.float32), 3)
