"""Products of 8-bit values."""
import numpy as np

from drawing import Case, Value
from families.attention import key_mask
from families.quantization import STEPS, numbers, quantized, result, type_of


def weights(draw, dtype, shape, count, optional=False):
    """Constant weights in most cases, their scale and their zero point: one, or one for each of `count`."""
    per_channel = draw.chance(.4)
    scale = Value(draw.uniform(.01, .1, *([count] if per_channel else [])), weight=True)
    zero = Value(numbers(draw, dtype, count) if per_channel and draw.chance(.5) and dtype is np.int8 else
                 np.full([count] if per_channel else [], numbers(draw, dtype), dtype), weight=True)
    return Value(numbers(draw, dtype, *shape), weight=True, fixed="all"), scale, None if optional and draw.chance(.3) else zero


def mul_integer(draw):
    shape = [draw.size(1, 5) for _ in range(draw.size(1, 3))]
    dtype = type_of(draw)
    a, b = (quantized(draw, dtype, *extents, optional=True) for extents in (shape, [draw.pick(1, d) for d in shape]))
    present = [a[2] is not None, b[2] is not None]

    def want(*arrays):
        rest = [None if x is None else x.astype(np.int32) for x in arrays]
        return (rest[0] - (rest[1] if present[0] else 0)) * (rest[2] - (rest[3] if present[1] else 0))

    return Case("MulInteger", [a[0], a[2], b[0], b[2]], half=False, tolerance="equal", want=want)


def reduce_sum_integer(draw):
    shape = [draw.size(1, 5) for _ in range(draw.size(1, 4))]
    axes = [int(a) for a in draw.rng.permutation(len(shape))[:draw.size(1, len(shape))]]
    dtype, keepdims = type_of(draw), draw.pick(0, 1)
    return Case("ReduceSumInteger", [numbers(draw, dtype, *shape)], half=False, tolerance="equal", axes=axes, keepdims=keepdims,
                want=lambda x: x.sum(tuple(axes), np.int32 if dtype is np.int8 else np.uint32, keepdims=bool(keepdims)))


def types(draw):
    """ONNX Runtime lacks i8 times u8."""
    return draw.pick((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8))


def matrices(draw):
    lead = [draw.size(1, 3) for _ in range(draw.size(0, 2))]
    return [*lead, draw.size(1, 7)], draw.size(1, 20), draw.size(1, 20)


def mat_mul_integer_to_float(draw):
    rows, depth, columns = matrices(draw)
    a_type, b_type = types(draw)
    a = quantized(draw, a_type, *rows, depth, optional=True)
    b, b_scale, b_zero = weights(draw, b_type, [depth, columns], columns, True)
    a[0].fixed = [len(rows)]
    return Case("MatMulIntegerToFloat", [a[0], b, a[1], b_scale, a[2], b_zero,
                                         draw.maybe(Value(draw.floats(columns), weight=True))], half=False)


def dynamic_quantize_mat_mul(draw):
    rows, depth, columns = matrices(draw)
    b, b_scale, b_zero = weights(draw, type_of(draw), [depth, columns], columns, True)
    return Case("DynamicQuantizeMatMul", [Value(draw.floats(*rows, depth), fixed=[-1]), b, b_scale, b_zero,
                                          draw.maybe(Value(draw.floats(columns), weight=True))], half=False)


def mat_mul_integer_16(draw):
    rows, depth, columns = matrices(draw)
    a, b = draw.ints(-300, 300, *rows, depth, dtype=np.int16), draw.ints(-300, 300, depth, columns, dtype=np.int16)
    return Case("MatMulInteger16", [Value(a, fixed=[-1]), Value(b, weight=True, fixed="all")], half=False, tolerance="equal",
                want=lambda x, y: np.matmul(x.astype(np.int32), y.astype(np.int32)))


def q_gemm(draw):
    rows, depth, columns = draw.size(1, 7), draw.size(1, 20), draw.size(1, 20)
    left, right = int(draw.chance(.3)), int(draw.chance(.5))
    a_type, b_type = types(draw)
    a = quantized(draw, a_type, *([depth, rows] if left else [rows, depth]))
    a[0].fixed = [0, 1]
    b = weights(draw, b_type, [columns, depth] if right else [depth, columns], columns)
    c = draw.maybe(Value(draw.ints(-9999, 9999, *draw.pick((columns,), (1, columns), (rows, columns), ())), weight=True,
                         fixed="all"))
    attributes = {"alpha": draw.pick(None, .5), "transA": left, "transB": right}
    if draw.chance(.3):
        return Case("QGemm", [*a, *b, c], half=False, **attributes)
    return Case("QGemm", [*a, *b, c, *result(draw, a_type, factor=20)], **STEPS, **attributes)


def q_linear_conv(draw):
    rank = draw.pick(1, 2, 2, 3)
    group, last = draw.pick(1, 1, 2, 3), draw.chance(.5)
    inner, maps = draw.pick(1, 2, 3), draw.size(1, 3)
    extents = [draw.size(3, 7) for _ in range(rank)]
    kernel = [draw.size(1, 3) for _ in range(rank)]
    channels = group * inner
    shape = [draw.size(1, 2), *extents, channels] if last else [draw.size(1, 2), channels, *extents]
    dtype = type_of(draw)
    x = quantized(draw, dtype, *shape)
    x[0].fixed = [1, len(shape) - 1]
    # ONNX Runtime wants equal zero points of all channels.
    w, w_scale, w_zero = weights(draw, np.int8, [group * maps, inner, *kernel], group * maps)
    w_zero.array = np.zeros_like(w_zero.array)
    attributes = {"pads": [draw.size(0, 1) for _ in range(2 * rank)]} if draw.chance(.6) else \
        {"auto_pad": draw.pick("SAME_UPPER", "SAME_LOWER", "VALID")}
    bias = draw.maybe(Value(draw.ints(-999, 999, group * maps), weight=True))
    return Case("QLinearConv", [*x, w, w_scale, w_zero, *result(draw, dtype, factor=10), bias], channels_last=int(last),
                group=group, strides=[draw.size(1, 2) for _ in range(rank)], kernel_shape=kernel, **STEPS, **attributes)


def q_attention(draw):
    batch, tokens, heads, size, width = draw.size(1, 2), draw.size(1, 5), draw.size(1, 3), draw.size(1, 4), draw.size(2, 8)
    past = draw.pick(0, 0, draw.size(1, 4))
    x = quantized(draw, np.uint8, batch, tokens, width)
    x[0].fixed = [0, 2]
    w, w_scale, w_zero = weights(draw, np.int8, [width, 3 * heads * size], 3 * heads * size)
    w.array = w.array // 8
    mask = key_mask(draw, batch, tokens, past + tokens, ["none", "ends", "starts", "keys"])
    state = Value(draw.floats(2, batch, heads, past, size), fixed=[0, 2, 4]) if past else None
    return Case("QAttention", [x[0], w, Value(draw.floats(3 * heads * size), weight=True), x[1], w_scale, mask, x[2], w_zero,
                               state], 2 if past else 1, num_heads=heads, unidirectional=draw.pick(None, 0, 1), half=False)


def dynamic_quantize_lstm(draw):
    tokens, batch, width, hidden = draw.size(1, 5), draw.size(1, 3), draw.size(2, 16), draw.size(2, 12)
    direction = draw.pick(None, "forward", "reverse", "bidirectional")
    count = 2 if direction == "bidirectional" else 1
    dtype = type_of(draw)
    per_channel = draw.chance(.4)

    def matrix(rows):
        shape = [count, 4 * hidden] if per_channel else [count]
        zero = np.full(shape, 0 if per_channel else 3, dtype) if dtype is np.int8 else np.full(shape, 128, dtype)
        return [Value(numbers(draw, dtype, count, rows, 4 * hidden), const=True),
                Value(draw.uniform(.001, .004, *shape), const=True), Value(zero, const=True)]

    w, r = matrix(width), matrix(hidden)
    state = lambda: draw.maybe(Value(draw.floats(count, batch, hidden)))  # noqa: E731
    lengths = draw.maybe(Value(draw.ints(1, tokens + 1, batch)), .3)
    return Case("DynamicQuantizeLSTM", [
        Value(draw.floats(tokens, batch, width), fixed=[2]), w[0], r[0],
        draw.maybe(Value(draw.floats(count, 8 * hidden), const=True)), lengths, state(), state(),
        draw.maybe(Value(draw.floats(count, 3 * hidden), const=True), .3), w[1], w[2], r[1], r[2]], 3,
        direction=direction, hidden_size=hidden, half=False, tolerance="dynamic")


def q_embed_layer_norm(draw):
    batch, tokens, hidden, words, segments = draw.size(1, 3), draw.size(1, 6), draw.size(2, 9), 11, draw.chance()
    dtype = np.uint8
    tables = [numbers(draw, dtype, rows, hidden) for rows in (words, tokens + 2, 3)]
    scales = [Value(draw.uniform(.01, .05), const=True) for _ in range(5)]
    zeros = [Value(numbers(draw, dtype), const=True) for _ in range(5)]
    tables = [Value(t, const=True) for t in tables] + [Value(numbers(draw, dtype, hidden), const=True) for _ in range(2)]
    for group in (tables, scales, zeros):
        group[2] = group[2] if segments else None
    ids = Value(draw.ints(0, words, batch, tokens))
    segment_ids = Value(draw.ints(0, 3, batch, tokens)) if segments else None
    mask = Value((np.arange(tokens)[None] < draw.ints(1, tokens + 1, batch)[:, None]).astype(np.int32))
    return Case("QEmbedLayerNormalization", [ids, segment_ids, *tables, draw.maybe(mask), *scales, *zeros], 2,
                epsilon=draw.pick(None, 1e-5), half=False)


OPERATORS = {
    "DynamicQuantizeLSTM": dynamic_quantize_lstm,
    "DynamicQuantizeMatMul": dynamic_quantize_mat_mul,
    "MatMulInteger16": mat_mul_integer_16,
    "MatMulIntegerToFloat": mat_mul_integer_to_float,
    "MulInteger": mul_integer,
    "QAttention": q_attention,
    "QEmbedLayerNormalization": q_embed_layer_norm,
    "QGemm": q_gemm,
    "QLinearConv": q_linear_conv,
    "ReduceSumInteger": reduce_sum_integer,
}
