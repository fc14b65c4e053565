"""Writes model.onnx next to this file: an operator on an item of a sequence input that declares no shape of its items."""
import os
import numpy as np
from onnx import TensorProto as T, helper as H, numpy_helper as N

HERE = os.path.dirname(os.path.abspath(__file__))
nodes = [H.make_node("SequenceAt", ["s", "first"], ["item"]), H.make_node("Reshape", ["item", "flat"], ["y"])]
graph = H.make_graph(nodes, "case", [H.make_tensor_sequence_value_info("s", T.FLOAT, None)], [H.make_tensor_value_info("y", T.FLOAT, [None])],
                     [N.from_array(np.array(0, np.int64), "first"), N.from_array(np.array([-1], np.int64), "flat")])
model = H.make_model(graph, opset_imports=[H.make_opsetid("", 18)], ir_version=9)
with open(os.path.join(HERE, "model.onnx"), "wb") as file:
    file.write(model.SerializeToString())
