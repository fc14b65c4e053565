"""A slice of both ends of an open axis, which is longest inside the profile, read by kernels that plan memory for the
longest. Needs ONNX Runtime, which computes the outputs."""
import numpy as np
from case import T, const, graph, info, node, save

random = np.random.default_rng(7)


def numbers(*shape):
    return (random.integers(-8, 9, shape) / 8).astype(np.float32)


constants = {"begin": np.array([-20], np.int64), "end": np.array([20], np.int64), "axis": np.array([2], np.int64),
             "cw": numbers(4, 6, 3), "tw": numbers(6, 2, 3), "lw": numbers(1, 12, 6), "lr": numbers(1, 12, 3),
             "v": numbers(3, 6), "scale": numbers(6), "shift": numbers(6)}
nodes = [
    node("Slice", "x begin end axis", "s"),
    node("MatMul", "v s", "products"),
    node("Conv", "s cw", "convolved", pads=[1, 1]),
    node("ConvTranspose", "s tw", "spread"),
    node("MaxPool", "s", "largest", kernel_shape=[3], pads=[1, 1]),
    node("Softmax", "s", "parts", axis=2),
    node("InstanceNormalization", "s scale shift", "normal"),
    node("Transpose", "s", "rows", perm=[2, 0, 1]),
    node("LSTM", "rows lw lr", "states", hidden_size=3),
    node("NonZero", "s", "places"),
]
floats = ["products", "convolved", "spread", "largest", "parts", "normal", "states"]
save(graph(nodes, [info("x", T.FLOAT, [1, 6, "n"])], [info(k, T.FLOAT) for k in floats] + [info("places", T.INT64)],
           [const(k, v) for k, v in constants.items()]),
     17, *(([numbers(1, 6, n)], None) for n in (39, 4, 20, 13, 27)), ir=8, profile="x:1x6x4:1x6x5:1x6x39")
