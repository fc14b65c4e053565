"""Networks with the activations, inputs and outputs that NumPy computes: network.py FOLDER"""

import math
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = np.random.default_rng(1)


def save(name, nodes, constants, x, y):
    """A network from x to y in a folder of its own, with its data."""
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    value = lambda key, array: helper.make_tensor_value_info(key, TensorProto.FLOAT, array.shape)
    constants = [numpy_helper.from_array(array.astype(np.float32), key) for key, array in constants.items()]
    graph = helper.make_graph(nodes, name, [value("x", x)], [value("y", y)], constants)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("activations", 1)]
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), f"{folder}/{name}/network.onnx")
    np.save(f"{folder}/{name}/input_0.npy", x.astype(np.float32))
    np.save(f"{folder}/{name}/output_0.npy", y.astype(np.float32))


def star_relu(x, scale=0.8944, bias=-0.4472):
    return scale * np.maximum(x, 0) ** 2 + bias


def smelu(x, beta):
    return np.where(x >= beta, x, np.where(x <= -beta, 0, (x + beta) ** 2 / (4 * beta)))


# All four, one after the other.
x = random.normal(0, 2, (5, 300)).astype(np.float32)
serf = lambda v: v * np.vectorize(math.erf)(np.log1p(np.exp(v)))
a = (x + np.sqrt(x.astype(np.float64) ** 2 + 2)) / 2 - 1
activation = lambda kind, source, target, **more: helper.make_node(kind, [source], [target], domain="activations", **more)
save(
    "all",
    [
        activation("squareplus", "x", "a", b=2.0),
        helper.make_node("Sub", ["a", "one"], ["b"]),
        activation("serf", "b", "c"),
        activation("smelu", "c", "d", beta=0.7),
        activation("star_relu", "d", "y"),
    ],
    {"one": np.array(1)},
    x,
    star_relu(smelu(serf(a), 0.7)),
)

# Convolution, activation, addition, relu.
x = random.normal(0, 1, (1, 64, 28, 28)).astype(np.float32)
weights = random.normal(0, 0.2, (32, 64, 1, 1)).astype(np.float32)
convolved = np.einsum("oc,nchw->nohw", weights[:, :, 0, 0].astype(np.float64), x)
residual = random.normal(0, 1, (1, 32, 1, 1)).astype(np.float32)
save(
    "fused",
    [
        helper.make_node("Conv", ["x", "weights"], ["a"], name="conv"),
        activation("star_relu", "a", "b", scale=1.0, bias=-0.5),
        helper.make_node("Add", ["b", "residual"], ["c"]),
        helper.make_node("Relu", ["c"], ["y"]),
    ],
    {"weights": weights, "residual": residual},
    x,
    np.maximum(star_relu(convolved, 1.0, -0.5) + residual, 0),
)
