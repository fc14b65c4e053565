"""Activations."""
import math

import numpy as np

from drawing import Case, Value


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return (0.5 * x * (1 + np.vectorize(math.erf, otypes=[np.float32])(x / math.sqrt(2)))).astype(np.float32)


def unary(op, **choices):
    def function(draw):
        x = draw.floats(*[draw.size(1, 5) for _ in range(draw.size(1, 4))], scale=3)
        return Case(op, [x], **{name: draw.pick(*values) for name, values in choices.items()})
    return function


def biased(op, probability):
    def function(draw):
        width = draw.size(1, 40)
        x = draw.floats(*[draw.size(1, 4) for _ in range(draw.size(1, 3))], width, scale=2)
        bias = draw.maybe(Value(draw.floats(width), weight=True), probability)
        return Case(op, [Value(x, fixed=[-1]), bias] if bias else [x])
    return function


# CUDA alone has the next two.
def bias_add(draw):
    shape = draw.size(1, 3), draw.size(1, 5), draw.size(1, 20)
    return Case("BiasAdd", [draw.floats(*shape), Value(draw.floats(shape[-1]), weight=True), draw.floats(*shape)],
                want=lambda x, bias, skip: x + bias + skip)


def bias_split_gelu(draw):
    width = draw.size(1, 20)
    x = draw.floats(draw.size(1, 3), draw.size(1, 5), 2 * width)

    def want(x, bias):
        left, right = np.split(x + bias, 2, axis=-1)
        return left * gelu(right)
    return Case("BiasSplitGelu", [Value(x, fixed=[-1]), Value(draw.floats(2 * width), weight=True)], want=want)


def scaled_silu(draw):
    x = draw.floats(draw.size(1, 3), draw.size(1, 9), scale=2)
    scale = draw.maybe(Value(draw.uniform(0.2, 2)))
    alpha = draw.pick(None, 0.5, 1.7)

    def want(x, *scale):
        z = x * (scale[0] if scale else alpha or 1)
        return (z * sigmoid(z)).astype(np.float32)
    return Case("ScaledSiLU", [x, scale] if scale else [x], want=want, alpha=alpha)


def swiglu(draw):
    shape = draw.size(1, 3), draw.size(1, 9)
    alpha, beta, limit = draw.pick(None, 1.702), draw.pick(None, 1.0), draw.pick(None, 1.5)

    def want(gate, *up):
        up = up[0] if up else gate[..., gate.shape[-1] // 2:]
        gate = gate[..., :up.shape[-1]]
        if limit:
            gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
        return (gate * sigmoid((alpha or 1) * gate) * (up + (beta or 0))).astype(np.float32)
    if draw.chance():
        inputs = [draw.floats(*shape, scale=2), draw.floats(*shape, scale=2)]
    else:
        inputs = [Value(draw.floats(shape[0], 2 * shape[1], scale=2), fixed=[-1])]
    return Case("SwiGLU", inputs, want=want, activation_alpha=alpha, activation_beta=beta, limit=limit)


def gated_add(draw):
    shape = draw.size(1, 3), draw.size(1, 4), draw.size(1, 9)
    return Case("GatedAdd", [draw.floats(*shape), draw.floats(*shape), draw.floats(*shape[:-1], 1)],
                want=lambda x, y, gate: x + y * gate)


# Only training builds of ONNX Runtime have it.
def bias_dropout(draw):
    shape = draw.size(1, 3), draw.size(1, 9)
    residual = draw.floats(*shape) if draw.chance() else None
    ratio = Value(np.float32(0.3), const=True, keep=True) if draw.chance() else None
    return Case("BiasDropout", [draw.floats(*shape), Value(draw.floats(shape[-1]), weight=True), residual, ratio],
                [True, draw.chance()],
                want=lambda x, bias, skip, ratio: [x + bias + (0 if skip is None else skip), np.ones(x.shape, bool)])


OPERATORS = {
    "BiasAdd": bias_add,
    "BiasDropout": bias_dropout,
    "BiasGelu": biased("BiasGelu", 1),
    "BiasSplitGelu": bias_split_gelu,
    "FastGelu": biased("FastGelu", 0.5),
    "GatedAdd": gated_add,
    "Gelu": unary("Gelu"),
    "QuickGelu": unary("QuickGelu", alpha=[None, 1.0, 1.3, -0.7]),
    "ScaledSiLU": scaled_silu,
    "SwiGLU": swiglu,
}
