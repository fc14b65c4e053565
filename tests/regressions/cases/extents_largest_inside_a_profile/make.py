"""Writes model.onnx and test_data_set_* next to this file: a slice of both ends of an open axis, which is longest inside the profile, read by
kernels that plan memory for the longest. Needs ONNX Runtime, which computes what is expected."""
import os
import numpy as np
import onnxruntime
from onnx import TensorProto as T, helper as H, numpy_helper as N

HERE = os.path.dirname(os.path.abspath(__file__))
random = np.random.default_rng(7)
numbers = lambda *shape: (random.integers(-8, 9, shape) / 8).astype(np.float32)
constants = {"begin": np.array([-20], np.int64), "end": np.array([20], np.int64), "axis": np.array([2], np.int64), "cw": numbers(4, 6, 3),
             "tw": numbers(6, 2, 3), "lw": numbers(1, 12, 6), "lr": numbers(1, 12, 3), "v": numbers(3, 6), "scale": numbers(6), "shift": numbers(6)}
nodes = [
    H.make_node("Slice", ["x", "begin", "end", "axis"], ["s"]),
    H.make_node("MatMul", ["v", "s"], ["products"]),
    H.make_node("Conv", ["s", "cw"], ["convolved"], pads=[1, 1]),
    H.make_node("ConvTranspose", ["s", "tw"], ["spread"]),
    H.make_node("MaxPool", ["s"], ["largest"], kernel_shape=[3], pads=[1, 1]),
    H.make_node("Softmax", ["s"], ["parts"], axis=2),
    H.make_node("InstanceNormalization", ["s", "scale", "shift"], ["normal"]),
    H.make_node("Transpose", ["s"], ["rows"], perm=[2, 0, 1]),
    H.make_node("LSTM", ["rows", "lw", "lr"], ["states"], hidden_size=3),
    H.make_node("NonZero", ["s"], ["places"]),
]
outputs = ["products", "convolved", "spread", "largest", "parts", "normal", "states"]
graph = H.make_graph(nodes, "case", [H.make_tensor_value_info("x", T.FLOAT, [1, 6, "n"])],
                     [H.make_tensor_value_info(k, T.FLOAT, None) for k in outputs] + [H.make_tensor_value_info("places", T.INT64, None)],
                     [N.from_array(v, k) for k, v in constants.items()])
model = H.make_model(graph, opset_imports=[H.make_opsetid("", 17)], ir_version=8)
data = model.SerializeToString()
with open(os.path.join(HERE, "model.onnx"), "wb") as file:
    file.write(data)
with open(os.path.join(HERE, "profile"), "w", encoding="utf-8") as file:
    file.write("x:1x6x4:1x6x5:1x6x39\n")
session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
for number, n in enumerate((39, 4, 20, 13, 27)):
    x = numbers(1, 6, n)
    folder = os.path.join(HERE, f"test_data_set_{number}")
    os.makedirs(folder, exist_ok=True)
    values = session.run(None, {"x": x})
    for name, value in [("input_0", ("x", x))] + [(f"output_{k}", (graph.output[k].name, v)) for k, v in enumerate(values)]:
        with open(os.path.join(folder, name + ".pb"), "wb") as file:
            file.write(N.from_array(np.asarray(value[1]), value[0]).SerializeToString())
