#!/usr/bin/env python3
"""Writes expected.txt: what goes into the networks of these tests, and what must come out.

    make_expected.py [FILE]     default: expected.txt beside this script

The outputs are ONNX Runtime's where ONNX has the operator, NumPy's elsewhere. Inputs are random with a fixed seed and
have three decimals, so that the file stays small; it changes only where a row here changes.
"""
import sys
import zlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

DTYPES = {"float32": "f32", "int32": "i32", "int64": "i64", "bool": "bool", "uint8": "u8"}
samples = {}


def keep(name, value):
    assert name not in samples, name
    samples[name] = np.asarray(value)
    return samples[name]


def random(name, *dims, low=-2.0, high=2.0):
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return keep(name, np.round(generator.uniform(low, high, dims), 3).astype(np.float32))


def integers(name, *dims, low=-9, high=10, dtype=np.int32):
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return keep(name, generator.integers(low, high, dims).astype(dtype))


def onnx_run(op, inputs, outputs=1, opset=20, **attributes):
    """One node in ONNX Runtime. None among the inputs is an absent one; `outputs` a count or a list of wanted ones."""
    wanted = [True] * outputs if isinstance(outputs, int) else outputs
    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    results = [f"y{i}" if want else "" for i, want in enumerate(wanted)]
    node = helper.make_node(op, names, results, **attributes)
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
              for n, v in zip(names, inputs) if n]
    graph = helper.make_graph([node], op, values, [onnx.ValueInfoProto(name=r) for r in results if r])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    model = onnx.shape_inference.infer_shapes(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {n: np.asarray(v) for n, v in zip(names, inputs) if n})
    return found[0] if len(found) == 1 else found


def activations():
    x = random("activation.x", 2, 3, 7, low=-4, high=4)
    for name, op, attributes in [
            ("relu", "Relu", {}), ("sigmoid", "Sigmoid", {}), ("tanh", "Tanh", {}), ("leaky_relu", "LeakyRelu", {"alpha": 0.1}),
            ("elu", "Elu", {"alpha": 0.7}), ("selu", "Selu", {}), ("celu", "Celu", {"alpha": 1.3}), ("softplus", "Softplus", {}),
            ("softsign", "Softsign", {}), ("hard_sigmoid", "HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("hard_swish", "HardSwish", {}),
            ("mish", "Mish", {}), ("gelu", "Gelu", {}), ("gelu_tanh", "Gelu", {"approximate": "tanh"}),
            ("thresholded_relu", "ThresholdedRelu", {"alpha": 1.5}), ("shrink", "Shrink", {"lambd": 1.5, "bias": 0.5})]:
        keep(f"activation.{name}", onnx_run(op, [x], **attributes))
    keep("activation.swish", x / (1 + np.exp(-1.5 * x)))
    keep("activation.prelu", onnx_run("PRelu", [x, random("activation.slope", 3, 1)]))
    keep("activation.clip", onnx_run("Clip", [x, keep("activation.low", np.float32(-1.5)), keep("activation.high", np.float32(2))]))


def unary():
    x = random("unary.x", 3, 11, low=-3, high=3)
    unit = random("unary.unit", 3, 11, low=-0.99, high=0.99)
    positive = random("unary.positive", 3, 11, low=0.05, high=9)
    above = random("unary.above", 3, 11, low=1.01, high=5)
    special = keep("unary.special", np.array([1, np.nan, np.inf, -np.inf, 0, -2], np.float32))
    halves = keep("unary.halves", np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, 2.51], np.float32))
    for op in ["Neg", "Abs", "Sign", "Floor", "Ceil", "Exp", "Erf", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh"]:
        keep(f"unary.{op.lower()}", onnx_run(op, [x]))
    for op in ["Asin", "Acos", "Atanh"]:
        keep(f"unary.{op.lower()}", onnx_run(op, [unit]))
    for op in ["Sqrt", "Reciprocal", "Log"]:
        keep(f"unary.{op.lower()}", onnx_run(op, [positive]))
    keep("unary.acosh", onnx_run("Acosh", [above]))
    keep("unary.round", onnx_run("Round", [halves]))
    keep("unary.is_nan", onnx_run("IsNaN", [special]))
    keep("unary.is_inf", onnx_run("IsInf", [special]))
    flags = keep("unary.flags", np.array([True, False, False, True]))
    keep("unary.logical_not", ~flags)
    bits = integers("unary.bits", 9)
    keep("unary.bitwise_not", ~bits)


def elementwise():
    a = random("elementwise.a", 2, 3, 5)
    b = random("elementwise.b", 3, 1, low=0.3, high=3)  # positive: also a divisor and an exponent's base
    p = random("elementwise.p", 2, 3, 5, low=0.1, high=3)
    for name, op in [("add", "Add"), ("sub", "Sub"), ("mul", "Mul"), ("div", "Div"), ("min", "Min"), ("max", "Max"),
                     ("less", "Less"), ("less_equal", "LessOrEqual"), ("greater", "Greater"), ("greater_equal", "GreaterOrEqual"),
                     ("sum_of", "Sum"), ("mean_of", "Mean")]:
        keep(f"elementwise.{name}", onnx_run(op, [a, b]))
    keep("elementwise.pow", onnx_run("Pow", [p, b]))
    keep("elementwise.fmod", onnx_run("Mod", [a, b], fmod=1))
    keep("elementwise.floor_div", np.floor(a / b))
    i = integers("elementwise.i", 2, 3, 5)
    j = integers("elementwise.j", 3, 5, low=1, high=7)
    keep("elementwise.mod", onnx_run("Mod", [i, j]))
    keep("elementwise.div_integer", onnx_run("Div", [i, j]))
    keep("elementwise.equal", onnx_run("Equal", [i, j]))
    for name, op in [("bitwise_and", "BitwiseAnd"), ("bitwise_or", "BitwiseOr"), ("bitwise_xor", "BitwiseXor")]:
        keep(f"elementwise.{name}", onnx_run(op, [i, j]))
    u = integers("elementwise.u", 3, 5, low=0, high=256, dtype=np.uint8)
    v = integers("elementwise.v", 5, low=0, high=7, dtype=np.uint8)
    keep("elementwise.shift_left", onnx_run("BitShift", [u, v], direction="LEFT"))
    keep("elementwise.shift_right", onnx_run("BitShift", [u, v], direction="RIGHT"))
    s = keep("elementwise.s", np.array([[True, False, True, False]]))
    t = keep("elementwise.t", np.array([[True, True, False, False]] * 2))
    for name, op in [("logical_and", "And"), ("logical_or", "Or"), ("logical_xor", "Xor")]:
        keep(f"elementwise.{name}", onnx_run(op, [s, t]))


def shapes():
    parts = [random(f"concatenation.x{k}", 2, n, 3) for k, n in enumerate([1, 3, 2])]
    keep("concatenation.y", onnx_run("Concat", parts, axis=1))
    x = random("flatten.x", 2, 3, 2, 2)
    for axis in [0, 2, -1]:
        keep(f"flatten.y{axis}", onnx_run("Flatten", [x], axis=axis))
    x = random("shuffle.x", 2, 3, 4)
    keep("shuffle.y", x.transpose(2, 0, 1).reshape(2, 4, 3).transpose(0, 2, 1))
    x = random("squeeze.x", 1, 3, 1, 4, 1)
    keep("squeeze.some", onnx_run("Squeeze", [x, np.array([0, -1])]))
    keep("squeeze.all", onnx_run("Squeeze", [x]))
    x = random("softmax.x", 2, 3, 5, low=-9, high=9)
    keep("softmax.last", onnx_run("Softmax", [x], axis=-1))
    keep("softmax.middle", onnx_run("Softmax", [x], axis=1))
    keep("softmax.log", onnx_run("LogSoftmax", [x], axis=2))
    keep("softmax.hard", onnx_run("Hardmax", [x], axis=2))
    x = random("padding.x", 1, 2, 4, 5)
    pads = keep("padding.pads", np.array([0, 0, 2, 1, 0, 0, 1, 3], np.int64))
    for mode in ["constant", "edge", "reflect", "wrap"]:
        value = [np.float32(0.25)] if mode == "constant" else []
        keep(f"padding.{mode}", onnx_run("Pad", [x, pads] + value, mode=mode))
    keep("padding.value", np.float32(0.25))
    mixed = keep("padding.mixed_pads", np.array([0, 0, -1, 2, 0, 0, 1, -2], np.int64))
    keep("padding.mixed", onnx_run("Pad", [x, mixed], mode="constant"))
    crop = keep("padding.crop_pads", np.array([0, 0, -1, -2, 0, 0, -1, -1], np.int64))
    keep("padding.crop", onnx_run("Pad", [x, crop], mode="constant"))


def convolutions():
    x = random("convolution.x", 2, 4, 7, 9)
    w = random("convolution.w", 6, 4, 3, 2)
    b = random("convolution.b", 6)
    keep("convolution.plain", onnx_run("Conv", [x, w, b]))
    keep("convolution.strided", onnx_run("Conv", [x, w, b], strides=[2, 1], pads=[1, 0, 2, 1], dilations=[1, 2]))
    keep("convolution.same", onnx_run("Conv", [x, w], auto_pad="SAME_UPPER", strides=[2, 2]))
    grouped = random("convolution.grouped_w", 6, 2, 3, 3)
    keep("convolution.grouped", onnx_run("Conv", [x, grouped, b], group=2, pads=[1, 1, 1, 1]))
    depthwise = random("convolution.depthwise_w", 4, 1, 3, 3)
    keep("convolution.depthwise", onnx_run("Conv", [x, depthwise], group=4, pads=[1, 1, 1, 1]))
    line = random("convolution.line_x", 1, 3, 8)
    keep("convolution.line", onnx_run("Conv", [line, random("convolution.line_w", 2, 3, 3)], pads=[1, 1]))
    cube = random("convolution.cube_x", 1, 2, 4, 4, 4)
    keep("convolution.cube", onnx_run("Conv", [cube, random("convolution.cube_w", 3, 2, 2, 2, 2)], strides=[1, 2, 1]))
    x = random("deconvolution.x", 1, 4, 4, 5)
    w = random("deconvolution.w", 4, 3, 3, 2)
    b = random("deconvolution.b", 3)
    keep("deconvolution.plain", onnx_run("ConvTranspose", [x, w, b]))
    keep("deconvolution.strided", onnx_run("ConvTranspose", [x, w, b], strides=[2, 3], pads=[1, 0, 1, 1], output_padding=[1, 2]))
    grouped = random("deconvolution.grouped_w", 4, 2, 2, 2)
    keep("deconvolution.grouped", onnx_run("ConvTranspose", [x, grouped], group=2, strides=[2, 2], dilations=[1, 2]))
    x = random("dense.x", 3, 5)
    w = random("dense.w", 4, 5)
    b = random("dense.b", 4)
    keep("dense.y", onnx_run("Gemm", [x, w, b], transB=1))
    keep("dense.batch", np.matmul(random("dense.batch_a", 2, 1, 3, 5), random("dense.batch_b", 4, 5, 2)))


def windows():
    x = random("pooling.x", 2, 3, 7, 8)
    forms = {"plain": dict(kernel_shape=[2, 2], strides=[2, 2]),
             "ceil": dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
             "padded": dict(kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])}
    for name, form in forms.items():
        keep(f"pooling.max_{name}", onnx_run("MaxPool", [x], **form))
        keep(f"pooling.average_{name}", onnx_run("AveragePool", [x], **form))
        keep(f"pooling.counted_{name}", onnx_run("AveragePool", [x], count_include_pad=1, **form))
    keep("pooling.indices", onnx_run("MaxPool", [x], outputs=2, **forms["plain"])[1])
    keep("pooling.lp", onnx_run("LpPool", [x], p=2, **forms["plain"]))
    x = random("lrn.x", 2, 7, 3, 2)
    keep("lrn.y", onnx_run("LRN", [x], size=5, alpha=0.3, beta=0.7, bias=1.5))
    x = random("scale.x", 2, 3, 4, low=0.5, high=2)
    shift, scale, power = random("scale.shift", 3), random("scale.scale", 3, low=0.2), random("scale.power", 3, low=0.5)
    shift = keep("scale.positive_shift", np.abs(shift) + 1)
    scale = keep("scale.positive_scale", np.abs(scale) + 1)
    along = (3, 1)
    keep("scale.y", np.power(x * scale.reshape(along) + shift.reshape(along), power.reshape(along)))
    keep("scale.linear", x * scale.reshape(along) + shift.reshape(along))


def recurrent():
    steps, batch, size, hidden = 5, 2, 3, 4
    x = random("recurrent.x", steps, batch, size, low=-1, high=1)
    lengths = keep("recurrent.lengths", np.array([5, 3], np.int32))
    for op, name, gates in [("RNN", "rnn", 1), ("LSTM", "lstm", 4), ("GRU", "gru", 3)]:
        for directions, direction in [(1, "forward"), (1, "reverse"), (2, "bidirectional")]:
            prefix = f"{name}.{direction}"
            w = random(f"{prefix}.w", directions, gates * hidden, size, low=-1, high=1)
            r = random(f"{prefix}.r", directions, gates * hidden, hidden, low=-1, high=1)
            b = random(f"{prefix}.b", directions, 2 * gates * hidden, low=-1, high=1)
            h = random(f"{prefix}.h", directions, batch, hidden, low=-1, high=1)
            inputs = [x, w, r, b, lengths, h]
            if op == "LSTM":
                inputs.append(random(f"{prefix}.c", directions, batch, hidden, low=-1, high=1))
            attributes = {"linear_before_reset": 1} if op == "GRU" and direction == "reverse" else {}
            found = onnx_run(op, inputs, outputs=3 if op == "LSTM" else 2, hidden_size=hidden, direction=direction, **attributes)
            for output, value in zip(["y", "y_h", "y_c"], found):
                keep(f"{prefix}.{output}", value)
    w, r = samples["lstm.forward.w"], samples["lstm.forward.r"]
    p = random("lstm.peephole", 1, 3 * hidden, low=-1, high=1)
    keep("lstm.peephole_y", onnx_run("LSTM", [x, w, r, None, None, None, None, p], hidden_size=hidden, clip=0.6))
    w, r = samples["rnn.forward.w"], samples["rnn.forward.r"]
    keep("rnn.relu_y", onnx_run("RNN", [x, w, r], hidden_size=hidden, activations=["Relu"]))


def control():
    x = random("loop.x", 2, 3)
    carried = x.copy()
    rows = []
    for k in range(4):
        carried = carried * np.float32(1.5) + np.float32(k)
        rows.append(np.maximum(carried, 0))
    keep("loop.final", carried)
    keep("loop.rows", np.stack(rows))
    keep("loop.early", (x * np.float32(1.5)) * np.float32(1.5) + np.float32(1))
    items = random("scan.items", 5, 2)
    keep("scan.total", items.sum(0))
    keep("scan.running", np.cumsum(items, 0))
    keep("map.squares", items * items)
    keep("branch.x", x)
    keep("branch.yes", np.exp(x))
    keep("branch.no", x - 1)


def chains():
    """What the sample plugin's operator gives alone and between neighbours. squareplus(x) = (x + sqrt(x^2 + b)) / 2"""
    def squareplus(value, b):
        return (value + np.sqrt(value * value + np.float32(b))) / np.float32(2)
    x = random("plugin.x", 2, 3, 5)
    y = random("plugin.addend", 3, 1)
    z = random("plugin.factor", 5)
    keep("plugin.alone", squareplus(x, 4))
    keep("plugin.chain", squareplus(x + y, 2.25) * z)
    x, w, b = random("plugin.image", 1, 4, 9, 9), random("plugin.w", 8, 4, 3, 3), random("plugin.b", 8)
    rest = random("plugin.rest", 1, 8, 9, 9)
    keep("plugin.convolution", squareplus(onnx_run("Conv", [x, w, b], pads=[1, 1, 1, 1]), 4) + rest)


def digits():
    """A small network of the LeNet kind, every weight random."""
    x = random("lenet.x", 1, 1, 12, 12)
    w1, b1 = random("lenet.w1", 6, 1, 5, 5, low=-0.5, high=0.5), random("lenet.b1", 6)
    w2, b2 = random("lenet.w2", 8, 6, 3, 3, low=-0.3, high=0.3), random("lenet.b2", 8)
    w3, b3 = random("lenet.w3", 32, 10, low=-0.3, high=0.3), random("lenet.b3", 10)
    other = random("lenet.other_w1", 6, 1, 5, 5, low=-0.5, high=0.5)
    for name, first in [("", w1), ("other_", other)]:
        hidden = np.maximum(onnx_run("Conv", [x, first, b1], pads=[2, 2, 2, 2]), 0)
        hidden = onnx_run("MaxPool", [hidden], kernel_shape=[2, 2], strides=[2, 2])
        if not name:
            keep("lenet.pool1", hidden)
        hidden = np.maximum(onnx_run("Conv", [hidden, w2, b2]), 0)
        hidden = onnx_run("MaxPool", [hidden], kernel_shape=[2, 2], strides=[2, 2])
        scores = hidden.reshape(1, 32) @ w3 + b3
        keep(f"lenet.{name}y", onnx_run("Softmax", [scores.astype(np.float32)], axis=1))


def number(value, dtype):
    if dtype == "float32":
        if np.isnan(value):
            return "nan"
        if np.isinf(value):
            return "inf" if value > 0 else "-inf"
        text = f"{value:.9g}"
        for digits in range(1, 9):
            if np.float32(f"{value:.{digits}g}") == value:
                text = f"{value:.{digits}g}"
                break
        return text
    return str(int(value))


def write(path):
    lines = []
    for name, value in samples.items():
        value = value.astype(np.float32) if value.dtype == np.float64 else value
        assert value.ndim <= 6, name
        numbers = " ".join(number(v, str(value.dtype)) for v in value.reshape(-1))
        lines.append(f"{name} {DTYPES[str(value.dtype)]} [{','.join(str(d) for d in value.shape)}] {numbers}")
    Path(path).write_text("\n".join(lines) + "\n")
    print(f"{len(samples)} tensors, {Path(path).stat().st_size} bytes")


def main():
    for part in [activations, unary, elementwise, shapes, convolutions, windows, recurrent, control, chains, digits]:
        part()
    write(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("expected.txt"))


main()
