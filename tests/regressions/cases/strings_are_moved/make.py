"""Writes model.onnx and test_data_set_0: movements of strings that are no copies of boxes."""
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


x = np.array([["a", "bc", "", "d"], ["e", "f", "gh", "i"]], object)
places, lengths = np.array([3, 0, -2]), np.array([2, 4])
save([NODE("Gather", ["x", "p"], ["gathered"], axis=1), NODE("Tile", ["x", "r"], ["tiled"]),
      NODE("GatherND", ["x", "i"], ["found"]), NODE("GatherElements", ["x", "e"], ["elements"], axis=1),
      NODE("ReverseSequence", ["x", "l"], ["reversed"], time_axis=1, batch_axis=0)],
     [INFO("x", TensorProto.STRING, [2, 4]), INFO("p", TensorProto.INT64, [3]), INFO("e", TensorProto.INT64, [2, 1]),
      INFO("l", TensorProto.INT64, [2])],
     [INFO(n, TensorProto.STRING, s) for n, s in (("gathered", [2, 3]), ("tiled", [4, 4]), ("found", [2]),
                                                  ("elements", [2, 1]), ("reversed", [2, 4]))],
     [x, places, np.array([[2], [0]]), lengths],
     [x[:, places], np.tile(x, (2, 1)), np.array(["f", ""], object), np.array([[""], ["e"]], object),
      np.array([["bc", "a", "", "d"], ["i", "gh", "f", "e"]], object)],
     constants=[numpy_helper.from_array(np.array([2, 1]), "r"), numpy_helper.from_array(np.array([[1, 1], [0, 2]]), "i")])
