"""Writes model.onnx and test_data_set_0: OneHotEncoder with zeros 0; all categories are known."""
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


x = np.array([3, 1, 2, 3])
save([NODE("OneHotEncoder", ["x"], ["y"], domain="ai.onnx.ml", cats_int64s=[1, 2, 3], zeros=0)],
     [INFO("x", TensorProto.INT64, [4])], [INFO("y", TensorProto.FLOAT, [4, 3])], [x],
     [np.eye(3, dtype=np.float32)[x - 1]])
