"""Writes model.onnx and test_data_set_0: LabelEncoder of ai.onnx.ml 1 and CategoryMapper, in both directions."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INFO, NODE = helper.make_tensor_value_info, helper.make_node


def save(nodes, inputs, outputs, feeds, expected, opset=18, constants=(), ir=9):
    graph = helper.make_graph(nodes, "case", inputs, outputs, list(constants))
    onnx.save(helper.make_model(graph, ir_version=ir, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 1)]), "model.onnx")
    os.makedirs("test_data_set_0", exist_ok=True)
    for kind, infos, values in (("input", inputs, feeds), ("output", outputs, expected)):
        for k, (info, value) in enumerate(zip(infos, values)):
            with open(f"test_data_set_0/{kind}_{k}.pb", "wb") as file:
                file.write(numpy_helper.from_array(np.asarray(value), info.name).SerializeToString())


texts, numbers = np.array(["b", "x", "a"], object), np.array([1, 5, 0])
labels = dict(classes_strings=["a", "b"], default_int64=-7, default_string="none")
categories = dict(cats_strings=["a", "b"], cats_int64s=[10, 0], default_int64=-7, default_string="none")
save([NODE("LabelEncoder", ["t"], ["p"], domain="ai.onnx.ml", **labels),
      NODE("LabelEncoder", ["n"], ["q"], domain="ai.onnx.ml", **labels),
      NODE("CategoryMapper", ["t"], ["r"], domain="ai.onnx.ml", **categories),
      NODE("CategoryMapper", ["n"], ["s"], domain="ai.onnx.ml", **categories)],
     [INFO("t", TensorProto.STRING, [3]), INFO("n", TensorProto.INT64, [3])],
     [INFO("p", TensorProto.INT64, [3]), INFO("q", TensorProto.STRING, [3]), INFO("r", TensorProto.INT64, [3]),
      INFO("s", TensorProto.STRING, [3])], [texts, numbers],
     [np.array([1, -7, 0]), np.array(["b", "none", "a"], object), np.array([0, -7, 10]),
      np.array(["none", "none", "b"], object)])
