"""Writes model.onnx and test_data_set_* next to this file: a padding that reflects an axis whose open extent is twice a slice. NumPy computes what
is expected."""
import os
import numpy as np
from onnx import TensorProto as T, helper as H, numpy_helper as N

HERE = os.path.dirname(os.path.abspath(__file__))
constants = {"begin": [-3], "end": [9], "axis": [1], "pads": [0, 2, 0, 1]}
nodes = [H.make_node("Slice", ["x", "begin", "end", "axis"], ["s"]), H.make_node("Concat", ["s", "s"], ["c"], axis=1),
         H.make_node("Pad", ["c", "pads"], ["p"], mode="reflect"), H.make_node("Relu", ["p"], ["y"])]
graph = H.make_graph(nodes, "case", [H.make_tensor_value_info("x", T.FLOAT, [2, "n"])], [H.make_tensor_value_info("y", T.FLOAT, None)],
                     [N.from_array(np.array(v, np.int64), k) for k, v in constants.items()])
model = H.make_model(graph, opset_imports=[H.make_opsetid("", 18)], ir_version=9)
with open(os.path.join(HERE, "model.onnx"), "wb") as file:
    file.write(model.SerializeToString())
with open(os.path.join(HERE, "profile"), "w", encoding="utf-8") as file:
    file.write("x:2x2:2x5:2x9\n")
for number, n in enumerate((9, 2, 5)):
    x = (np.arange(2 * n, dtype=np.float32).reshape(2, n) - 4) / 2
    piece = x[:, max(0, n - 3):9]
    folder = os.path.join(HERE, f"test_data_set_{number}")
    os.makedirs(folder, exist_ok=True)
    for name, value in (("input_0", x), ("output_0", np.maximum(np.pad(np.concatenate([piece, piece], 1), ((0, 0), (2, 1)), "reflect"), 0))):
        with open(os.path.join(folder, name + ".pb"), "wb") as file:
            file.write(N.from_array(value, "x" if name == "input_0" else "y").SerializeToString())
