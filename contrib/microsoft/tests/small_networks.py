#!/usr/bin/env python3
"""Writes two small networks with inputs, for networks.py: a convolutional network and a layer of a transformer.

usage: small_networks.py OUT
"""
import pathlib
import sys

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnxruntime")
    sys.exit(77)

rng = np.random.default_rng(1)


class Network:
    def __init__(self):
        self.nodes, self.constants = [], []

    def const(self, array):
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape):
        return self.const((rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32))

    def node(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def save(self, folder, x, y):
        info = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
        result = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, folder.name, [info], [result], self.constants)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "model.onnx")
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())


def convolutional(folder):
    """Blocks of channels, also incomplete ones; a depthwise convolution; a sum; pools."""
    n = Network()
    conv = lambda x, out, into, size, **a: n.node("Conv", x, n.weight(out, into, size, size), n.weight(out), **a)  # noqa: E731
    first = n.node("Relu", conv("x", 32, 3, 3, pads=[1] * 4))
    pooled = n.node("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2])
    deep = n.node("HardSigmoid", conv(pooled, 32, 1, 3, pads=[1] * 4, group=32))
    mixed = n.node("Relu", n.node("Add", conv(deep, 32, 32, 1), pooled))
    odd = n.node("Clip", conv(mixed, 20, 32, 3), n.const(np.float32(0)), n.const(np.float32(0.7)))
    mean = n.node("AveragePool", conv(odd, 16, 20, 1), kernel_shape=[2, 2], strides=[1, 1])
    y = n.node("Flatten", n.node("GlobalAveragePool", mean))
    n.save(folder, rng.standard_normal((2, 3, 16, 16)).astype(np.float32), y)


def transformer(folder):
    """Attention by four heads, an erf, two normalisations: what ONNX Runtime fuses into several operators."""
    n = Network()
    batch, tokens, heads, width = 2, 6, 4, 32
    dense = lambda x, into, out: n.node("Add", n.node("MatMul", x, n.weight(into, out)), n.weight(out))  # noqa: E731
    norm = lambda x: n.node("LayerNormalization", x, n.weight(width), n.weight(width))  # noqa: E731
    shape = n.const(np.array([batch, tokens, heads, width // heads], np.int64))
    q, k, v = (n.node("Transpose", n.node("Reshape", dense("x", width, width), shape), perm=perm)
               for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = n.node("Div", n.node("MatMul", q, k), n.const(np.float32(np.sqrt(width / heads))))
    joined = n.node("Transpose", n.node("MatMul", n.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    flat = n.node("Reshape", joined, n.const(np.array([batch, tokens, width], np.int64)))
    x = norm(n.node("Add", dense(flat, width, width), "x"))
    h = dense(x, width, 64)
    e = n.node("Add", n.node("Erf", n.node("Div", h, n.const(np.float32(np.sqrt(2))))), n.const(np.float32(1)))
    g = n.node("Mul", n.node("Mul", h, e), n.const(np.float32(0.5)))
    y = norm(n.node("Add", dense(g, 64, width), x))
    n.save(folder, rng.standard_normal((batch, tokens, width)).astype(np.float32), y)


out = pathlib.Path(sys.argv[1])
convolutional(out / "convolutional")
transformer(out / "transformer")
