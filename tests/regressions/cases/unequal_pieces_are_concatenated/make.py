"""Writes model.onnx and test_data_set_0: ConcatFromSequence along the axis in which the pieces differ."""
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


x = np.arange(20, dtype=np.float32).reshape(5, 4)
save([NODE("SplitToSequence", ["x", "s"], ["a"], axis=0), NODE("SequenceErase", ["a", "first"], ["b"]),
      NODE("ConcatFromSequence", ["b"], ["y"], axis=0), NODE("Relu", ["y"], ["z"]),
      NODE("SequenceConstruct", ["x", "w", "v"], ["c"]), NODE("ConcatFromSequence", ["c"], ["u"], axis=0)],
     [INFO("x", TensorProto.FLOAT, [5, 4]), INFO("w", TensorProto.FLOAT, [1, 4]), INFO("v", TensorProto.FLOAT, [2, 4])],
     [INFO("z", TensorProto.FLOAT, None), INFO("u", TensorProto.FLOAT, None)], [x, x[:1], x[3:]],
     [x[1:], np.concatenate([x, x[:1], x[3:]])],
     constants=[numpy_helper.from_array(np.array([1, 3, 1]), "s"), numpy_helper.from_array(np.array(0), "first")])
