"""Writes model.onnx and test_data_set_0 next to this file: operators on tensors without elements. NumPy computes what is expected."""
import os
import numpy as np
from onnx import TensorProto as T, helper as H, numpy_helper as N

HERE = os.path.dirname(os.path.abspath(__file__))
FLOAT = np.float32


def empty(*shape):
    return np.zeros(shape, FLOAT)


def ints(*values):
    return np.array(values, np.int64)


def branch(name, op, perm=None):
    node = H.make_node(op, ["e"], [name], **({"perm": perm} if perm else {}))
    return H.make_graph([node], name, [], [H.make_tensor_value_info(name, T.FLOAT, None)])


inputs = {"rows": empty(0, 3), "pixels": empty(1, 0, 4, 4), "c": np.array(True)}
constants = {"two": ints(2, 2), "none": ints(2, 0), "wide": ints(0, 4), "flat": ints(0), "ones": np.ones((2, 3), FLOAT), "e": empty(8, 0, 2)}
nodes = [
    H.make_node("Tile", ["rows", "two"], ["tiled"]),
    H.make_node("Tile", ["ones", "none"], ["none_left"]),
    H.make_node("SpaceToDepth", ["pixels"], ["deep"], blocksize=2),
    H.make_node("DepthToSpace", ["pixels"], ["flat_pixels"], blocksize=2),
    H.make_node("Reshape", ["rows", "wide"], ["wider"]),
    H.make_node("Reshape", ["rows", "flat"], ["list"]),
    H.make_node("If", ["c"], ["chosen"], then_branch=branch("a", "Neg"), else_branch=branch("b", "Transpose", [2, 1, 0])),
    H.make_node("Relu", ["chosen"], ["either"]),
]
expected = {"tiled": empty(0, 6), "none_left": empty(4, 0), "deep": empty(1, 0, 2, 2), "flat_pixels": empty(1, 0, 8, 8), "wider": empty(0, 4),
            "list": empty(0), "either": empty(8, 0, 2)}
graph = H.make_graph(nodes, "case",
                     [H.make_tensor_value_info(k, T.BOOL if v.dtype == bool else T.FLOAT, v.shape) for k, v in inputs.items()],
                     [H.make_tensor_value_info(k, T.FLOAT, None) for k in expected], [N.from_array(v, k) for k, v in constants.items()])
model = H.make_model(graph, opset_imports=[H.make_opsetid("", 18)], ir_version=9)
folder = os.path.join(HERE, "test_data_set_0")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(HERE, "model.onnx"), "wb") as file:
    file.write(model.SerializeToString())
for prefix, values in (("input", inputs), ("output", expected)):
    for index, (name, value) in enumerate(values.items()):
        with open(os.path.join(folder, f"{prefix}_{index}.pb"), "wb") as file:
            file.write(N.from_array(value, name).SerializeToString())
