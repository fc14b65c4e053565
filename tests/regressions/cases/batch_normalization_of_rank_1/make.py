"""Writes model.onnx and test_data_set_0: BatchNormalization of a vector, which is one channel."""
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


x = np.arange(5, dtype=np.float32)
scale, bias, mean, variance = (np.array([v], np.float32) for v in (2, 1, .5, 4))
save([NODE("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], epsilon=0.0)],
     [INFO("x", TensorProto.FLOAT, [5])], [INFO("y", TensorProto.FLOAT, [5])], [x], [(x - mean) / 2 * scale + bias],
     constants=[numpy_helper.from_array(v, n) for n, v in (("s", scale), ("b", bias), ("m", mean), ("v", variance))])
