"""Drawn nodes: reductions, products, convolutions, pools, normalisations, recurrence, attention."""
import numpy as np

from graph import F32, F64, FLOATS, I8, I32, I64, U8

REDUCTIONS = ("ReduceSum ReduceMean ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp ReduceProd "
              "ReduceLogSum").split()


def reduce_(g):
    op = g.pick(REDUCTIONS)
    x = g.some((F32, F64, I32, I64) if op in ("ReduceSum", "ReduceMax", "ReduceMin") else FLOATS, (1, 6))
    value = g.v(x)
    axes = [int(a) - (value.ndim if g.chance(.3) else 0) for a in g.random.permutation(value.ndim)[:g.number(1, value.ndim)]]
    g.need(value.size > 0 or op in ("ReduceSum", "ReduceL1", "ReduceSumSquare", "ReduceProd"))
    reads_axes = g.chance(.85)
    if op == "ReduceProd":  # see `differences`
        logarithms = np.abs(np.log(np.abs(np.where(value == 0, 1, value))))
        g.need(value.size == 0 or logarithms.sum(tuple(axes) if reads_axes else None).max() < 80)
    if op in ("ReduceLogSum", "ReduceL2"):
        x = g.add("Abs", [x], exact=True)
        x = g.add("Add", [x, g.given(.5, value.dtype)])
    g.add(op, [x] + ([g.given(axes, I64)] if reads_axes else []), keepdims=int(g.chance(.5)))


def extreme(g):
    x = g.some((F32, I32), (1, 5), lambda v: v.size > 0)
    axis, last = g.axis(g.v(x)), int(g.chance(.3))
    g.need(g.exact[x] or g.is_ordered(x, axis))
    g.add(g.pick(["ArgMax", "ArgMin"]), [x], axis=axis, keepdims=int(g.chance(.5)), select_last_index=last)


def top_k(g):
    x = g.some((F32,), (1, 4), lambda v: v.size > 0)
    axis = g.axis(g.v(x))
    g.need(g.is_ordered(x, axis))
    count = g.given([g.number(1, g.v(x).shape[axis])], I64, .1)
    g.add("TopK", [x, count], 2, exact=True, axis=axis, largest=int(g.chance(.6)), sorted=1)


def softmax(g):
    x = g.some((F32, F32, F64), (1, 5))
    g.add(g.pick(["Softmax", "LogSoftmax", "Softmax"]), [x], axis=g.axis(g.v(x)))


def hardmax(g):
    x = g.some((F32,), (1, 4), lambda v: v.size > 0)
    axis = g.axis(g.v(x))
    g.need(g.exact[x] or g.is_ordered(x, axis))
    g.add("Hardmax", [x], axis=axis)


def matmul(g):
    x = g.some((F32, F32, F32, F64, I32), (1, 5))
    value = g.v(x)
    inner = value.shape[-1]
    g.need(inner > 0)
    fits = [n for n, v in g.values.items() if v.dtype == value.dtype and v.ndim >= 1 and v.shape[-min(v.ndim, 2)] == inner]
    shapes = [(inner,), (inner, g.pick(g.extents)), value.shape[:-2] + (inner, 5), (inner, 3)]
    y = g.pick(fits) if fits and g.chance(.5) else g.leaf(value.dtype.type, g.pick(shapes))
    z = g.add("MatMul", [x, y])
    if value.dtype == F32 and g.chance(.4):
        z = g.add("Add", [z, g.mate(z)])
        if g.chance(.5):
            g.add(g.pick(["Relu", "Sigmoid", "Tanh", "Gelu"]), [z])


def gemm(g):
    left, right = int(g.chance(.4)), int(g.chance(.5))
    x = g.some((F32,), 2, lambda v: v.size > 0)
    rows, inner = g.v(x).shape[::-1] if left else g.v(x).shape
    columns = g.pick([d for d in g.extents if d])
    y = g.weight(*((columns, inner) if right else (inner, columns)))
    bias = [g.weight(*g.pick([(columns,), (1, columns), (rows, 1), (rows, columns), (), (1,)]))] if g.chance(.7) else []
    g.add("Gemm", [x, y] + bias, transA=left, transB=right, alpha=g.pick([None, .5]), beta=g.pick([None, 2.0]))


def einsum(g):
    x = g.some((F32,), 3)
    y = g.some((F32,), 3, lambda v: v.shape[0] == g.v(x).shape[0])
    equation = g.pick("bij,bjk->bik bij,bkj->bik bij,bkl->bil bij,bij->bi bij,bij-> bij,bkj->bki bij,bji->bj".split())
    g.need("bkj" not in equation or g.v(x).size * g.v(y).size > 0)  # see `differences`
    g.add("Einsum", [x, y], equation=equation)


def determinant(g):
    x = g.some((F32,), (2, 4), lambda v: v.shape[-1] == v.shape[-2] and 0 < v.shape[-1] <= 4)
    g.need(np.abs(np.linalg.det(g.v(x).astype(F64))).min() > 1e-2)  # near 0 it is what rounding leaves
    g.add("Det", [x])


def image(g, rank=None):
    return g.some((F32,), rank or g.pick([3, 4, 4, 4, 5]), lambda v: v.size > 0, 6000)


def window(g, rank, extents):
    """Attributes of a convolution: kernel and the others."""
    kernel = [g.pick([1, 2, 3, 5]) for _ in range(rank)]
    attributes = {"strides": [g.pick([1, 1, 2, 3]) for _ in range(rank)], "dilations": [g.pick([1, 1, 2]) for _ in range(rank)]}
    if g.chance(.3):
        attributes["auto_pad"] = g.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if attributes["auto_pad"] != "VALID":
            attributes["dilations"] = [1] * rank
    else:
        attributes["pads"] = [g.number(0, 2) for _ in range(2 * rank)]
    pads = attributes.get("pads", [0] * 2 * rank)
    for k, d in enumerate(extents):
        if attributes.get("auto_pad", "VALID") == "VALID":
            g.need(d + pads[k] + pads[k + rank] >= (kernel[k] - 1) * attributes["dilations"][k] + 1)
    return kernel, attributes


def divisor(g, number, probability):
    return g.pick([d for d in range(1, number + 1) if number % d == 0]) if g.chance(probability) else 1


def conv(g):
    x = image(g)
    shape = g.v(x).shape
    kernel, attributes = window(g, len(shape) - 2, shape[2:])
    group = divisor(g, shape[1], .4)
    maps = group * g.pick([1, 2, 3, 8])
    inputs = [x, g.weight(maps, shape[1] // group, *kernel)] + ([g.weight(maps)] if g.chance(.7) else [])
    y = g.add("Conv", inputs, group=group, **attributes)
    kind = g.random.random()
    if kind < .2:
        y = batch_normalization(g, y)
    if kind < .5:
        y = g.add(g.pick(["Relu", "Clip", "HardSwish", "LeakyRelu", "Sigmoid"]), [y])
    if .3 < kind < .6:
        g.add("Add", [y, g.mate(y)])


def deconv(g):
    x = image(g)
    shape = g.v(x).shape
    rank, group = len(shape) - 2, divisor(g, shape[1], .3)
    strides = [g.pick([1, 2, 3]) for _ in range(rank)]
    attributes = {"group": group, "strides": strides, "dilations": [g.pick([1, 1, 2]) for _ in range(rank)]}
    kernel = [g.pick([1, 2, 3, 4]) for _ in range(rank)]
    if g.chance(.3):
        attributes["output_padding"] = [g.number(0, s - 1) for s in strides]
    if g.chance(.25):  # differences: ConvTranspose, SAME with a stride above the kernel
        attributes["auto_pad"] = g.pick(["SAME_UPPER", "SAME_LOWER"])
        kernel = [max(k, s) for k, s in zip(kernel, strides)]
    else:
        attributes["pads"] = [g.number(0, 1) for _ in range(2 * rank)]
    maps = g.pick([1, 2, 4])
    bias = [g.weight(maps * group)] if g.chance(.6) else []
    g.add("ConvTranspose", [x, g.weight(shape[1], maps, *kernel)] + bias, **attributes)


def pool(g):
    op = g.pick("MaxPool AveragePool GlobalAveragePool GlobalMaxPool LpPool GlobalLpPool".split())
    x = image(g)
    shape = g.v(x).shape
    rank = len(shape) - 2
    if op.startswith("Global"):
        g.add(op, [x], exact=op == "GlobalMaxPool", p=2 if op == "GlobalLpPool" else None)
        return
    kernel = [g.pick([1, 2, 3]) for _ in range(rank)]
    attributes = {"kernel_shape": kernel, "strides": [g.pick([1, 2, 2, 3]) for _ in range(rank)]}
    dilations = [1] * rank
    if g.chance(.3):  # differences: pools, SAME with a stride above the kernel or dilations
        attributes["auto_pad"] = g.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        attributes["strides"] = [min(k, s) for k, s in zip(kernel, attributes["strides"])]
    else:
        attributes["pads"] = [g.number(0, k - 1) for k in kernel * 2]
        if g.chance(.3) and op != "LpPool":
            attributes["ceil_mode"] = 1
        if g.chance(.2):
            attributes["dilations"] = dilations = [g.pick([1, 2]) for _ in range(rank)]
    pads = attributes.get("pads", [0] * 2 * rank)
    for k, d in enumerate(shape[2:]):  # differences: pools, window larger than the input
        g.need(d + pads[k] + pads[k + rank] >= (kernel[k] - 1) * dilations[k] + 1)
    if op == "AveragePool":
        attributes["count_include_pad"] = int(g.chance(.4))
    if op == "LpPool":
        attributes["p"] = g.pick([1, 2])
    g.add(op, [x], exact=op == "MaxPool", **attributes)


def unpool(g):
    # Odd extents need an output shape: the indices count the elements of the pool's input.
    x = g.some((F32,), 4, lambda v: v.size > 0 and v.shape[2] % 2 == 0 and v.shape[3] % 2 == 0, 6000)
    n, c, h, w = g.v(x).shape
    windows = g.v(x).reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(-1, 4)
    g.need(g.exact[x] or np.diff(np.sort(windows), axis=1)[:, -1].min() > 1e-3)
    names = g.add("MaxPool", [x], 2, exact=True, kernel_shape=[2, 2], strides=[2, 2])
    g.add("MaxUnpool", names, exact=True, kernel_shape=[2, 2], strides=[2, 2])


def region_pool(g):
    x = image(g, 4)
    batch, _, height, width = g.v(x).shape
    count = g.number(1, 3)
    corners = g.random.random((count, 2)) * [width / 2, height / 2]
    boxes = np.concatenate([corners, corners + .7 + g.random.random((count, 2)) * [width / 2, height / 2]], 1)
    which = g.random.integers(0, batch, count)
    if g.chance(.3):
        regions = np.concatenate([which[:, None], np.floor(boxes)], 1)
        g.add("MaxRoiPool", [x, g.given(regions, F32, .5)], pooled_shape=[2, 2])
    else:
        g.add("RoiAlign", [x, g.given(boxes, F32, .5), g.given(which, I64, .5)], output_height=2, output_width=3,
              sampling_ratio=g.pick([0, 2]), mode="avg",
              coordinate_transformation_mode=g.pick(["half_pixel", "output_half_pixel"]))


def batch_normalization(g, x):
    channels = g.v(x).shape[1]
    variance = np.abs(g.data(F32, (channels,))) + F32(.5)
    return g.add("BatchNormalization", [x] + [g.weight(channels) for _ in range(3)] + [g.given(variance, F32)])


def normalization(g):
    op = g.pick("BatchNormalization InstanceNormalization LayerNormalization LayerNormalization RMSNormalization "
                "GroupNormalization LpNormalization LRN MeanVarianceNormalization".split())
    ranks = 4 if op in ("LRN", "MeanVarianceNormalization") else (3, 4) if op in ("InstanceNormalization", "GroupNormalization") else (2, 4)
    x = g.some((F32,), ranks, lambda v: v.size > 0)
    value = g.v(x)
    channels = value.shape[1]
    if op == "BatchNormalization":
        batch_normalization(g, x)
    elif op == "InstanceNormalization":
        g.add(op, [x, g.weight(channels), g.weight(channels)], epsilon=.1)
    elif op == "GroupNormalization":
        g.add(op, [x, g.weight(channels), g.weight(channels)], num_groups=divisor(g, channels, 1), epsilon=.1)
    elif op in ("LayerNormalization", "RMSNormalization"):
        axis = g.axis(value)
        bias = [g.weight(*value.shape[axis:])] if op[0] == "L" and g.chance(.6) else []
        outputs = [1, g.chance(.2), g.chance(.2)] if op[0] == "L" else 1
        g.add(op, [x, g.weight(*value.shape[axis:])] + bias, outputs, axis=axis, epsilon=.1)
    elif op == "LpNormalization":
        axis = g.axis(value)
        g.need(np.abs(value).sum(axis).min() > .1)
        g.add(op, [x], axis=axis, p=g.pick([1, 2]))
    elif op == "LRN":
        g.add(op, [x], size=g.pick([1, 3, 5]))
    else:
        g.need(np.var(value, axis=(0, 2, 3)).min() > .1)
        g.add(op, [x])


def resize(g):
    x = image(g, g.pick([3, 4, 4]))
    shape = g.v(x).shape
    mode = g.pick(["nearest", "linear", "linear", "cubic"])
    mode = "linear" if mode == "cubic" and len(shape) != 4 else mode
    attributes = {"mode": mode, "coordinate_transformation_mode": g.pick(
        ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"])}
    if mode == "nearest":
        attributes["nearest_mode"] = g.pick(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if mode == "linear" and g.chance(.3):
        attributes["antialias"] = 1
    if g.chance(.5):
        scales = [1.0, 1.0] + [g.pick([1, 2, 3, .5, 2]) for _ in shape[2:]]
        g.need(all(s * d == int(s * d) and s * d >= 1 for s, d in zip(scales, shape)))
        g.add("Resize", [x, "", g.given(scales, F32, .1)], **attributes)
    else:
        sizes = list(shape[:2]) + [g.number(1, 12) for _ in shape[2:]]
        g.need(mode != "nearest" or all(s % d == 0 or d % s == 0 for s, d in zip(sizes, shape)))
        symmetric = mode == "nearest" and attributes["coordinate_transformation_mode"] == "half_pixel_symmetric"
        g.need(not symmetric or all(s >= d for s, d in zip(sizes, shape)))  # see `differences`
        g.add("Resize", [x, "", "", g.given(sizes, I64, .1)], **attributes)


def sample(g):
    x = image(g, 4)
    batch = g.v(x).shape[0]
    mode, corners = g.pick(["linear", "cubic"]), int(g.chance(.5))
    if g.chance(.3):
        theta = g.given(g.random.random((batch, 2, 3)) - .5, F32, .5)
        grid = g.add("AffineGrid", [theta, g.given([batch, 1, 3, 4], I64)], align_corners=corners)
    else:
        grid = g.given(g.random.random((batch, 3, 4, 2)) * 2.4 - 1.2, F32, .5)
    g.add("GridSample", [x, grid], mode=mode, padding_mode=g.pick(["zeros", "border", "reflection"]), align_corners=corners)


def columns_to_image(g):
    batch, channels, height, width = g.number(1, 2), g.number(1, 3), g.number(3, 5), g.number(3, 5)
    x = g.leaf(F32, (batch, channels * 4, (height - 1) * (width - 1)))
    g.add("Col2Im", [x, g.given([height, width], I64), g.given([2, 2], I64)])


def deformed(g):
    x = image(g, 4)
    batch, channels, height, width = g.v(x).shape
    g.need(height >= 2 and width >= 2)
    maps, out = g.pick([1, 2, 3]), (height - 1, width - 1)
    offsets = g.given(g.random.random((batch, 8) + out) * .6 - .3, F32, .5)
    mask = [g.weight(maps), g.given(g.random.random((batch, 4) + out), F32, .5)] if g.chance(.5) else []
    g.add("DeformConv", [x, g.weight(maps, channels, 2, 2), offsets] + mask, kernel_shape=[2, 2], pads=[0] * 4)


def recurrent(g):
    x = g.some((F32,), 3, lambda v: v.size > 0 and v.shape[0] <= 17, 6000)
    time, batch, width = g.v(x).shape
    op, hidden = g.pick(["LSTM", "GRU", "RNN"]), g.pick([1, 3, 4])
    direction = g.pick(["forward", "reverse", "bidirectional"])
    count, gates = 2 if direction == "bidirectional" else 1, {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    inputs = [x, g.weight(count, gates * hidden, width), g.weight(count, gates * hidden, hidden),
              g.weight(count, 2 * gates * hidden) if g.chance(.7) else "",
              g.given(g.random.integers(1, time + 1, batch), I32, .5) if g.chance(.3) else "",
              g.weight(count, batch, hidden) if g.chance(.4) else ""]
    if op == "LSTM" and g.chance(.3):
        inputs.append(g.weight(count, batch, hidden))
    while inputs[-1] == "":
        inputs.pop()
    outputs = [1, 1, 1] if op == "LSTM" and g.chance(.5) else [1, g.chance(.5)]
    g.add(op, inputs, outputs, hidden_size=hidden, direction=direction,
          linear_before_reset=int(g.chance(.5)) if op == "GRU" else None)


def attention_by_hand(g):
    x = g.some((F32,), 3, lambda v: v.size > 0)
    width = g.v(x).shape[2]
    q, k, v = (g.add("MatMul", [x, g.weight(width, 4)]) for _ in range(3))
    scores = g.add("MatMul", [q, g.add("Transpose", [k], perm=[0, 2, 1])])
    scores = g.add(*g.pick([("Div", [scores, g.given(F32(2))]), ("Mul", [scores, g.given(F32(.5))])]))
    g.add("MatMul", [g.add("Softmax", [scores], axis=-1), v])


def attention(g):
    batch, heads, queries, keys, width = g.number(1, 2), g.pick([1, 2, 4]), g.number(1, 5), g.number(1, 6), g.pick([2, 4])
    shared = g.pick([1, heads])
    q = g.leaf(F32, (batch, heads, queries, width), False)
    k, v = (g.leaf(F32, (batch, shared, keys, width), False) for _ in range(2))
    mask = [g.leaf(F32, (queries, keys), False)] if g.chance(.4) else []
    g.add("Attention", [q, k, v] + mask, is_causal=int(g.chance(.4) and not mask), scale=g.pick([None, .3]),
          softcap=g.pick([None, 3.0]))


def rotary(g):
    batch, heads, time, width = g.number(1, 2), g.number(1, 3), g.number(1, 5), g.pick([4, 8])
    x = g.leaf(F32, (batch, heads, time, width), False)
    tables = [g.weight(7, width // 2) for _ in range(2)]
    places = g.given(g.random.integers(0, 7, (batch, time)), I64, .5)
    g.add("RotaryEmbedding", [x] + tables + [places], interleaved=int(g.chance(.5)))


def quantized(g):
    x = g.some((F32,), (1, 4), lambda v: v.size > 0)
    dtype, scale = g.pick((U8, I8)), F32(g.pick([.0625, .125, .5]))
    steps = g.v(x) / scale
    g.need(g.exact[x] or bool((np.abs(steps - np.floor(steps) - .5) > 2e-3).all()))
    scale, zero = g.given(scale), g.given(g.pick([0, 3, 100]), dtype)
    q = g.add("QuantizeLinear", [x, scale, zero])
    if g.chance(.7):
        g.add("DequantizeLinear", [q, scale, zero], exact=True)


def dynamic_quantized(g):
    x = g.some((F32,), (1, 3), lambda v: v.size > 0)
    value = g.v(x)
    scale = (max(value.max(), 0) - min(value.min(), 0)) / 255
    g.need(scale > 0)
    steps = value / scale
    g.need(bool((np.abs(steps - np.floor(steps) - .5) > 2e-2).all()))
    zero = -min(value.min(), 0) / scale
    g.need(abs(zero - np.floor(zero) - .5) > 2e-2)
    g.add("DynamicQuantizeLinear", [x], 3)


def whole_products(g):
    op = g.pick(["MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv"])
    scales = [g.pick([.05, .1, .25]) for _ in range(2)]
    scales.append(scales[0] * scales[1] * g.pick([1, 3, 7, 21]))  # an odd ratio: no result is half-way between two
    scale = lambda k: g.given(F32(scales[k]))
    if op in ("MatMulInteger", "QLinearMatMul"):
        x = g.some((U8, I8), 2, lambda v: v.size > 0)
        dtype = g.v(x).dtype.type
        y = g.leaf(dtype if op[0] == "Q" else g.pick((U8, I8)), (g.v(x).shape[1], g.pick([4, 4, 260])))
        zero = lambda: g.given(2, dtype)
        if op == "MatMulInteger":
            g.add(op, [x, y] + ([zero()] if g.chance(.5) else []))
        else:
            g.add(op, [x, scale(0), zero(), y, scale(1), zero(), scale(2), zero()])
        return
    x = g.some((U8,), 4, lambda v: v.size > 0 and min(v.shape[2:]) >= 2, 6000)
    channels = g.v(x).shape[1]
    w = g.leaf(U8, (g.pick([3, 3, 70]), channels, 2, 2), True)
    zero = lambda: g.given(1, U8)
    if op == "ConvInteger":
        g.add(op, [x, w, zero(), zero()], bound=1e6)
    else:
        g.add(op, [x, scale(0), zero(), w, scale(1), zero(), scale(2), zero()])


DRAW = [(reduce_, 6), (extreme, 2), (top_k, 2), (softmax, 4), (hardmax, 1), (matmul, 7), (gemm, 3), (einsum, 2),
        (determinant, 1), (conv, 7), (deconv, 3), (pool, 4), (unpool, 1), (region_pool, 1), (normalization, 6),
        (resize, 3), (sample, 2), (columns_to_image, 1), (deformed, 1), (recurrent, 2), (attention_by_hand, 2),
        (attention, 2), (rotary, 1), (quantized, 2), (dynamic_quantized, 1), (whole_products, 2)]
