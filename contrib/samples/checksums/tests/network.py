"""Networks of one node, inputs and the checksums that zlib computes: network.py FOLDER"""

import os
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper

folder = sys.argv[1]
random = np.random.default_rng(1)


def save(name, x):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    node = helper.make_node("crc32", ["x"], ["y"], domain="checksums")
    inputs = [helper.make_tensor_value_info("x", TensorProto.UINT8, x.shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT64, x.shape[:-1])]
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("checksums", 1)]
    graph = helper.make_graph([node], name, inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), f"{folder}/{name}/network.onnx")
    np.save(f"{folder}/{name}/input_0.npy", x)
    if x.ndim > 0:
        sums = [zlib.crc32(x[index].tobytes()) for index in np.ndindex(x.shape[:-1])]
        np.save(f"{folder}/{name}/output_0.npy", np.array(sums, np.int64).reshape(x.shape[:-1]))


save("rows", random.integers(0, 256, (3, 50, 1000), dtype=np.uint8))
save("empty", np.zeros((4, 0), np.uint8))
save("one", np.frombuffer(b"123456789", np.uint8))
save("scalar", np.array(7, np.uint8))
