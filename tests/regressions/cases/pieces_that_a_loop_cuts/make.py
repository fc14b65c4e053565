"""Writes model.onnx and test_data_set_0 next to this file: a loop puts pieces of different extents into a list, which is joined. NumPy computes
what is expected."""
import os
import numpy as np
from onnx import TensorProto as T, helper as H, numpy_helper as N

HERE = os.path.dirname(os.path.abspath(__file__))
x = (np.arange(12, dtype=np.float32).reshape(3, 4) - 5) / 4
inputs = {"n": np.array(3, np.int64), "x": x}
expected = {"y": np.maximum(np.concatenate([x[:k + 1] for k in range(3)]), 0), "last": -x}


def constant(name, *values):
    return N.from_array(np.array(values, np.int64), name)


body = H.make_graph(
    [H.make_node("Identity", ["c"], ["go_on"]), H.make_node("Unsqueeze", ["i", "zero"], ["row"]), H.make_node("Add", ["row", "one"], ["end"]),
     H.make_node("Slice", ["x", "zero", "end"], ["piece"]), H.make_node("SequenceInsert", ["s", "piece"], ["t"])], "body",
    [H.make_tensor_value_info("i", T.INT64, []), H.make_tensor_value_info("c", T.BOOL, []), H.make_tensor_sequence_value_info("s", T.FLOAT, None)],
    [H.make_tensor_value_info("go_on", T.BOOL, []), H.make_tensor_sequence_value_info("t", T.FLOAT, None)], [constant("zero", 0), constant("one", 1)])
nodes = [H.make_node("SequenceEmpty", [], ["none"]), H.make_node("Loop", ["n", "", "none"], ["pieces"], body=body),
         H.make_node("ConcatFromSequence", ["pieces"], ["joined"], axis=0), H.make_node("Relu", ["joined"], ["y"]),
         H.make_node("SequenceAt", ["pieces", "end"], ["piece"]), H.make_node("Neg", ["piece"], ["last"])]
graph = H.make_graph(nodes, "case", [H.make_tensor_value_info("n", T.INT64, []), H.make_tensor_value_info("x", T.FLOAT, x.shape)],
                     [H.make_tensor_value_info(k, T.FLOAT, None) for k in expected], [N.from_array(np.array(-1, np.int64), "end")])
model = H.make_model(graph, opset_imports=[H.make_opsetid("", 18)], ir_version=9)
folder = os.path.join(HERE, "test_data_set_0")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(HERE, "model.onnx"), "wb") as file:
    file.write(model.SerializeToString())
for prefix, values in (("input", inputs), ("output", expected)):
    for index, (name, value) in enumerate(values.items()):
        with open(os.path.join(folder, f"{prefix}_{index}.pb"), "wb") as file:
            file.write(N.from_array(value, name).SerializeToString())
