#!/usr/bin/env python3
"""Makes the small networks of this folder, which tests of devices compare with the reference. Needs ONNX."""
import math
import os

import onnx
from onnx import TensorProto, helper

here = os.path.dirname(os.path.abspath(__file__))


def save(name, nodes, shape, outputs=("y",), constants=()):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None) for output in outputs]
    graph = helper.make_graph(nodes, name, [x], y, initializer=constants)
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


def numbers(name, *shape):
    count = math.prod(shape)
    values = [math.sin(1 + 7 * k + len(name)) / math.sqrt(shape[-1]) for k in range(count)]
    return helper.make_tensor(name, TensorProto.FLOAT, shape, values)


# Both ways, whose sides come out beside one another; one way; the batch first, both ways.
save("recurrent", [
    helper.make_node("LSTM", ["x", "w1", "r1", "b1"], ["a"], hidden_size=3, direction="bidirectional"),
    helper.make_node("Transpose", ["a"], ["b"], perm=[0, 2, 1, 3]),
    helper.make_node("Reshape", ["b", "shape"], ["c"]),
    helper.make_node("GRU", ["c", "w2", "r2", "b2"], ["d"], hidden_size=4, linear_before_reset=1),
    helper.make_node("Squeeze", ["d", "one"], ["e"]),
    helper.make_node("RNN", ["e", "w3", "r3", "", "", "h3"], ["y", "h"], hidden_size=2, direction="bidirectional", layout=1,
                     activations=["Relu", "Relu"]),
], [5, 6, 4], ("y", "h"), [
    numbers("w1", 2, 12, 4), numbers("r1", 2, 12, 3), numbers("b1", 2, 24),
    numbers("w2", 1, 12, 6), numbers("r2", 1, 12, 4), numbers("b2", 1, 24),
    numbers("w3", 2, 2, 4), numbers("r3", 2, 2, 2), numbers("h3", 5, 2, 2),
    helper.make_tensor("shape", TensorProto.INT64, [3], [0, 0, -1]),
    helper.make_tensor("one", TensorProto.INT64, [1], [1]),
])


# Between convolutions, which want channels innermost: the nearest, linear, cubic; larger and smaller; by scales and by sizes.
def resize(number, mode, scales=None, sizes=None, **attributes):
    inputs = [f"c{number}", "", f"scales{number}" if scales else "", f"sizes{number}" if sizes else ""]
    given = [helper.make_tensor(inputs[2], TensorProto.FLOAT, [4], scales)] if scales else []
    given += [helper.make_tensor(inputs[3], TensorProto.INT64, [4], sizes)] if sizes else []
    return helper.make_node("Resize", inputs, [f"r{number}"], name=f"resize{number}", mode=mode, **attributes), given


resizes = [
    resize(0, "nearest", scales=[1, 1, 2, 2], coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    resize(1, "linear", sizes=[1, 8, 13, 9]),
    resize(2, "cubic", scales=[1, 1, 1.5, 1], cubic_coeff_a=-0.5),
    resize(3, "linear", scales=[1, 1, 0.5, 2], coordinate_transformation_mode="align_corners"),
]
convolutions = [helper.make_node("Conv", [f"r{k - 1}" if k > 0 else "x", f"filter{k}"], [f"c{k}" if k < 4 else "y"], name=f"conv{k}")
                for k in range(5)]
save("resizes", [convolutions[0]] + [node for k in range(4) for node in (resizes[k][0], convolutions[k + 1])], [1, 8, 5, 6],
     constants=[numbers(f"filter{k}", 8, 8, 1, 1) for k in range(5)] + [given for _, some in resizes for given in some])
