#!/usr/bin/env python3
"""Makes the small networks of this folder, which tests of devices compare with the reference. Needs ONNX."""
import os

import onnx
from onnx import TensorProto, helper

here = os.path.dirname(os.path.abspath(__file__))


def save(name, nodes, shape):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, name, [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], producer_name="tenon")
    model.ir_version = 8
    onnx.save(model, os.path.join(here, name + ".onnx"))


# Windows that overlap, leave gaps, lie in the padding, and round up.
save("pools", [
    helper.make_node("MaxPool", ["x"], ["a"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    helper.make_node("AveragePool", ["a"], ["b"], kernel_shape=[2, 3], strides=[1, 2], pads=[0, 1, 1, 0], count_include_pad=1,
                     ceil_mode=1),
    helper.make_node("AveragePool", ["b"], ["c"], kernel_shape=[3, 2], pads=[2, 0, 0, 1]),
    helper.make_node("MaxPool", ["c"], ["y"], kernel_shape=[2, 1], dilations=[2, 1], auto_pad="NOTSET"),
], [3, 16, 13, 11])
