"""Products of matrices."""
import numpy as np

from drawing import Case, Value

# What ONNX Runtime's FusedGemm computes, with the attributes.
ACTIVATIONS = {"Relu": (), "Tanh": (), "Sigmoid": (), "Softplus": (), "Softsign": (), "LeakyRelu": ("alpha",),
               "Elu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "ThresholdedRelu": ("alpha",),
               "Selu": ("alpha", "gamma")}


def fused_mat_mul(op, has_batch):
    def function(draw):
        rows, depth, columns = draw.size(1, 7), draw.size(1, 9), draw.size(1, 7)
        batch = [draw.size(1, 3) for _ in range(draw.size(0, 2))]
        attributes = {name: draw.pick(None, 0, 1) for name in ("transA", "transB")}
        shapes = []
        for side, (first, last) in (("A", (rows, depth)), ("B", (depth, columns))):
            pair = [last, first] if attributes[f"trans{side}"] else [first, last]
            if has_batch and batch:
                attributes[f"transBatch{side}"] = draw.pick(None, 0, 1)
            if attributes.get(f"transBatch{side}"):
                shapes.append([pair[0], *batch, pair[1]])
            else:
                shapes.append([*batch, *pair])
        if not attributes.get("transBatchA") and not attributes.get("transBatchB") and draw.chance(0.3):
            shapes[1] = shapes[1][-2:]
        return Case(op, [Value(draw.floats(*shapes[0])), Value(draw.floats(*shapes[1]), weight=True)],
                    alpha=draw.pick(None, 0.5, 2.0, -0.125), **attributes)
    return function


def activation(draw):
    name = draw.pick(*ACTIVATIONS)
    attributes = {"activation": name}
    for number in ACTIVATIONS.get(name, ()):
        attributes[f"activation_{number}"] = float(draw.uniform(0.1, 0.9))
    return attributes


def fused_gemm(draw):
    rows, depth, columns = draw.size(1, 7), draw.size(1, 9), draw.size(1, 7)
    trans_a, trans_b = draw.pick(None, 0, 1), draw.pick(None, 0, 1)
    a = draw.floats(*((depth, rows) if trans_a else (rows, depth)))
    b = draw.floats(*((columns, depth) if trans_b else (depth, columns)))
    c = draw.floats(*draw.pick((columns,), (1, columns), (rows, columns), (rows, 1), ()))
    inputs = [a, Value(b, weight=True), Value(c, weight=True)]
    return Case("FusedGemm", inputs[:draw.pick(2, 3, 3)], transA=trans_a, transB=trans_b,
                alpha=draw.pick(None, 0.5), beta=draw.pick(None, -2.0), **activation(draw))


# DirectML alone has it.
def mat_mul_activation(draw):
    a, b = draw.floats(draw.size(1, 3), 4, 5), draw.floats(6, 5)
    name = draw.pick("Relu", "LeakyRelu")

    def want(a, b):
        y = 0.5 * a @ b.T
        return np.where(y < 0, 0 if name == "Relu" else 0.2 * y, y).astype(np.float32)
    return Case("FusedMatMulActivation", [a, Value(b, weight=True)], want=want, transB=1, alpha=0.5, activation=name,
                activation_alpha=0.2)


# CUDA alone has it.
def gemm_fast_gelu(draw):
    a, b = draw.floats(draw.size(1, 3), draw.size(1, 4), 5), draw.floats(5, 6)
    bias = draw.floats(6) if draw.chance() else None

    def want(a, b, *bias):
        x = a @ b + (bias[0] if bias else 0)
        return (0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)))).astype(np.float32)
    return Case("GemmFastGelu", [a, Value(b, weight=True)] + ([Value(bias, weight=True)] if bias is not None else []),
                want=want)


OPERATORS = {
    "FusedGemm": fused_gemm,
    "FusedMatMul": fused_mat_mul("FusedMatMul", True),
    "FusedMatMulActivation": mat_mul_activation,
    "GemmFastGelu": gemm_fast_gelu,
    "TransposeMatMul": fused_mat_mul("TransposeMatMul", False),
}
