"""Quantised values: conversion, arithmetic, functions, pools."""
import numpy as np
from onnx import TensorProto, helper

from drawing import Case, Value

STEPS = {"tolerance": "steps", "half": False}


def type_of(draw):
    return draw.pick(np.uint8, np.int8)


def numbers(draw, dtype, *shape):
    info = np.iinfo(dtype)
    return draw.ints(info.min, info.max + 1, *shape, dtype=dtype)


def quantized(draw, dtype, *shape, optional=False):
    """A tensor, its scale and its zero point."""
    zero = Value(numbers(draw, dtype), weight=True)
    return [Value(numbers(draw, dtype, *shape)), Value(draw.uniform(.01, .1), weight=True),
            None if optional and draw.chance(.3) else zero]


def result(draw, dtype, optional=False, factor=1.0):
    zero = Value(numbers(draw, dtype), weight=True)
    return [Value(draw.uniform(.01 * factor, .1 * factor), weight=True), None if optional and draw.chance(.3) else zero]


def shape_of(draw, low=1, high=4):
    return [draw.size(1, 6) for _ in range(draw.size(low, high))]


RANGES = {"INT8": (-128, 127), "UINT8": (0, 255), "INT16": (-32768, 32767), "UINT16": (0, 65535), "INT4": (-8, 7),
          "UINT4": (0, 15), "INT32": (-99999, 99999)}


def linear(draw, kinds):
    """Type, its range, a shape, an axis or None, scale and zero point."""
    kind = draw.pick(*kinds)
    dtype = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind))
    low, high = RANGES[kind]
    shape = shape_of(draw)
    axis = int(draw.rng.integers(len(shape))) if draw.chance() else None
    count = () if axis is None else (shape[axis],)
    zero = np.asarray(draw.ints(low, high + 1, *count) if kind != "INT32" else np.zeros(count)).astype(dtype)
    return kind, dtype, (low, high), shape, axis, draw.uniform(.01, .1, *count), zero


def dequantize_linear(draw):
    kind, dtype, (low, high), shape, axis, step, zero = linear(draw, sorted(RANGES))
    is_packed = kind in ("INT4", "UINT4")  # ONNX Runtime takes no NumPy array of these
    return Case("DequantizeLinear", [Value(draw.ints(low, high + 1, *shape).astype(dtype), const=is_packed),
                                     Value(step, weight=not is_packed), draw.maybe(Value(zero, const=True), .7)], axis=axis)


def quantize_linear(draw):
    kind, dtype, (low, high), shape, axis, step, zero = linear(draw, sorted(set(RANGES) - {"INT32"}))

    def want(x, step, zero):
        expand = [1 if k != axis else -1 for k in range(x.ndim)]
        y = np.rint(x / step.reshape(expand)) + zero.astype(np.float32).reshape(expand)
        return np.clip(y, low, high).astype(dtype)

    has_zero = kind != "UINT8" or draw.chance()
    is_packed = kind in ("INT4", "UINT4")
    return Case("QuantizeLinear", [Value(draw.floats(*shape, scale=2)), Value(step, weight=True),
                                   Value(zero, const=True) if has_zero else None],
                axis=axis, want=want if is_packed else None, **STEPS)


def arithmetic(op):
    def function(draw):
        dtype = type_of(draw)
        shape = shape_of(draw)
        other = [1 if draw.chance(.2) else extent for extent in shape]
        other = other[draw.size(0, len(other)):] if draw.chance(.3) else other
        left, right = (shape, other) if draw.chance() else (other, shape)
        return Case(op, quantized(draw, dtype, *left) + quantized(draw, dtype, *right) +
                    result(draw, dtype, factor=4), **STEPS)
    return function


def concatenate(draw):
    dtype = type_of(draw)
    shape = shape_of(draw)
    axis = int(draw.rng.integers(len(shape)))
    to = result(draw, dtype)
    inputs = list(to)
    for _ in range(draw.size(1, 4)):
        shape[axis] = draw.size(1, 5)
        part = quantized(draw, dtype, *shape)
        inputs += [part[0], Value(to[0].array, const=True), Value(to[1].array, const=True)] if draw.chance(.2) else part
    return Case("QLinearConcat", inputs, axis=axis - draw.pick(0, len(shape)), **STEPS)


def where(draw):
    dtype = type_of(draw)
    shape = shape_of(draw)
    some = [[1 if draw.chance(.2) else extent for extent in shape] for _ in range(3)]
    return Case("QLinearWhere", [Value(draw.ints(0, 2, *some[0]).astype(bool))] +
                quantized(draw, dtype, *some[1]) + quantized(draw, dtype, *some[2]) +
                result(draw, dtype), **STEPS)


def function_of(op, **choices):
    def function(draw):
        dtype = type_of(draw)
        return Case(op, quantized(draw, dtype, *shape_of(draw), optional=True) + result(draw, dtype, True, .3), **STEPS,
                    **{name: draw.pick(*values) for name, values in choices.items()})
    return function


def softmax(draw):
    dtype = type_of(draw)
    shape = shape_of(draw, 1, 4)
    x = quantized(draw, dtype, *shape)
    x[1] = Value(x[1].array, const=True)  # ONNX Runtime makes a table of them
    to = [Value(np.float32(1 / 256), const=True), Value(np.asarray(np.iinfo(dtype).min, dtype), const=True)]
    case = Case("QLinearSoftmax", x + to, axis=int(draw.rng.integers(-len(shape), len(shape))), **STEPS)
    case.attributes["opset"] = draw.pick(11, 13, 17)
    return case


def average_pool(draw):
    dtype = type_of(draw)
    rank = draw.pick(1, 2, 2, 3)
    extents = [draw.size(3, 8) for _ in range(rank)]
    batch, channels, last = draw.size(1, 2), draw.size(1, 4), draw.chance(.4)
    shape = [batch, *extents, channels] if last else [batch, channels, *extents]
    attributes = {"kernel_shape": [draw.size(1, 3) for _ in range(rank)], "strides": [draw.size(1, 2) for _ in range(rank)]}
    if draw.chance(.3):
        attributes["auto_pad"] = draw.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    else:
        attributes["pads"] = [draw.size(0, k - 1) if k > 1 else 0 for k in attributes["kernel_shape"] * 2]
        attributes["ceil_mode"] = draw.pick(None, 0)
    return Case("QLinearAveragePool", quantized(draw, dtype, *shape) + result(draw, dtype),
                channels_last=int(last), count_include_pad=draw.pick(None, 0, 1), **STEPS, **attributes)


def reduce_mean(draw):
    dtype = type_of(draw)
    shape = shape_of(draw)
    axes = [int(a) for a in draw.rng.permutation(len(shape))[:draw.size(1, len(shape))]]
    keepdims = draw.pick(0, 1)

    def want(x, step, zero, to_step, to_zero):
        y = ((x.astype(np.float32) - zero) * step).mean(tuple(axes), keepdims=bool(keepdims))
        info = np.iinfo(dtype)
        return np.clip(np.rint(y / to_step) + to_zero, info.min, info.max).astype(dtype)

    return Case("QLinearReduceMean", quantized(draw, dtype, *shape) + result(draw, dtype), axes=axes, keepdims=keepdims,
                want=want, **STEPS)


def global_average_pool(draw):
    dtype = type_of(draw)
    last = draw.chance(.4)
    shape = [draw.size(1, 3) for _ in range(2)] + [draw.size(1, 7) for _ in range(2)]
    return Case("QLinearGlobalAveragePool", quantized(draw, dtype, *shape) + result(draw, dtype),
                channels_last=int(last), **STEPS)


OPERATORS = {
    "DequantizeLinear": dequantize_linear,
    "QLinearAdd": arithmetic("QLinearAdd"),
    "QLinearAveragePool": average_pool,
    "QLinearConcat": concatenate,
    "QLinearGlobalAveragePool": global_average_pool,
    "QLinearLeakyRelu": function_of("QLinearLeakyRelu", alpha=(None, .1, -.5)),
    "QLinearMul": arithmetic("QLinearMul"),
    "QLinearReduceMean": reduce_mean,
    "QLinearSigmoid": function_of("QLinearSigmoid"),
    "QLinearSoftmax": softmax,
    "QLinearWhere": where,
    "QuantizeLinear": quantize_linear,
}
