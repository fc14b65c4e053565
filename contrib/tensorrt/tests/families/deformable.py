"""Deformable convolution, and attention with positions that are computed."""
import numpy as np

from drawing import Case, Value

F = np.float32


def sample(plane, y, x):
    """Plane [..., H, W] at a point; zeros around it."""
    h, w = plane.shape[-2:]
    top, left = int(np.floor(y)), int(np.floor(x))
    total = np.zeros(plane.shape[:-2])
    for i in (0, 1):
        for j in (0, 1):
            if 0 <= top + i < h and 0 <= left + j < w:
                total += plane[..., top + i, left + j] * (1 - abs(y - top - i)) * (1 - abs(x - left - j))
    return total


def deformable_convolution(draw):
    n, groups, offset_groups = draw.size(1, 2), draw.size(1, 2), draw.size(1, 2)
    c, m = groups * offset_groups * draw.size(1, 2), groups * draw.size(1, 2)
    kernel = draw.size(1, 3), draw.size(1, 3)
    stride, padding, dilation = draw.pick(None, [1, 2]), draw.pick(None, [1, 0], 1), draw.pick(None, [1, 2])
    h, w = draw.size(5, 7), draw.size(5, 7)
    (sy, sx), (dy, dx) = stride or [1, 1], dilation or [1, 1]
    py, px = padding if isinstance(padding, list) else [padding or 0] * 2
    oh = (h + 2 * py - dy * (kernel[0] - 1) - 1) // sy + 1
    ow = (w + 2 * px - dx * (kernel[1] - 1) - 1) // sx + 1
    taps = kernel[0] * kernel[1]
    inputs = [Value(draw.floats(n, c, h, w), fixed=[1]), Value(draw.floats(n, 2 * offset_groups * taps, oh, ow), fixed=[1]),
              Value(draw.uniform(0, 1, n, offset_groups * taps, oh, ow), fixed=[1]), Value(draw.floats(m, c // groups, *kernel), weight=True, fixed="all")]
    if draw.chance():
        inputs.append(Value(draw.floats(m), weight=True, fixed="all"))

    def want(x, offset, mask, weight, bias=None):
        y = np.zeros((n, m, oh, ow))
        offset, mask = offset.reshape(n, offset_groups, taps, 2, oh, ow), mask.reshape(n, offset_groups, taps, oh, ow)
        for image, i, j, tap, g in np.ndindex(n, oh, ow, taps, offset_groups):
            channels = np.arange(c // offset_groups) + g * (c // offset_groups)
            at = (i * sy - py + tap // kernel[1] * dy + offset[image, g, tap, 0, i, j],
                  j * sx - px + tap % kernel[1] * dx + offset[image, g, tap, 1, i, j])
            values = sample(x[image, channels], *at) * mask[image, g, tap, i, j]
            for channel, value in zip(channels, values):
                group, own = divmod(channel, c // groups)
                rows = slice(group * (m // groups), (group + 1) * (m // groups))
                y[image, rows, i, j] += weight[rows, own, tap // kernel[1], tap % kernel[1]] * value
        return (y + (0 if bias is None else bias[:, None, None])).astype(F)
    return Case("ModulatedDeformConv2d", inputs, want, half=False, version=draw.pick("1", "2"), stride=stride, padding=padding, dilation=dilation,
                group=groups, deformable_group=offset_groups)


def deformable_attention(draw):
    n, heads, width, queries, points = draw.size(1, 2), draw.size(1, 3), draw.size(1, 4), draw.size(1, 5), draw.size(1, 3)
    shapes = np.array([[draw.size(1, 4), draw.size(1, 4)] for _ in range(draw.size(1, 3))], np.int32)
    starts = np.concatenate([[0], np.cumsum(shapes.prod(1))[:-1]]).astype(np.int32)
    length, levels = int(shapes.prod(1).sum()), len(shapes)

    def want(value, shapes, starts, locations, weights):
        y = np.zeros((n, queries, heads, width))
        for i, q, m, level, p in np.ndindex(n, queries, heads, levels, points):
            h, w = shapes[level]
            plane = value[i, starts[level]:starts[level] + h * w, m].T.reshape(width, h, w)
            x_at, y_at = locations[i, q, m, level, p]
            y[i, q, m] += sample(plane, y_at * h - 0.5, x_at * w - 0.5) * weights[i, q, m, level, p]
        return y.astype(F)
    kind = draw.pick(np.int32, np.int64)
    return Case("MultiscaleDeformableAttnPlugin_TRT",
                [Value(draw.floats(n, length, heads, width), fixed=[2, 3]), Value(shapes.astype(kind), const=True), Value(starts.astype(kind), const=True),
                 Value(draw.uniform(-0.1, 1.1, n, queries, heads, levels, points, 2), fixed=[2, 3, 4, 5]),
                 Value(draw.uniform(0, 1, n, queries, heads, levels, points), fixed=[2, 3, 4])], want, half=False, version=draw.pick("1", "2"))


def disentangled(draw):
    n, s, span, factor = draw.size(1, 3), draw.size(2, 14), draw.pick(4, 6, 8), draw.number(0.1, 0.9)

    def place(distance):
        middle = span // 2
        if abs(distance) > middle:
            bucket = np.ceil((np.log(F(abs(distance))) - np.log(F(middle))) * F((middle - 1) / (np.log(F(s - 1)) - np.log(F(middle))) * (1 - 1e-7))) + middle
            distance = int(bucket) if distance > 0 else -int(bucket)
        return min(max(distance + span, 0), 2 * span - 1)

    def want(c2c, c2p, p2c):
        y = c2c.copy()
        for i, j in np.ndindex(s, s):
            y[:, i, j] += c2p[:, i, place(i - j)] + p2c[:, j, place(i - j)]
        return y * F(factor)
    return Case("DisentangledAttention_TRT", [draw.floats(n, s, s), Value(draw.floats(n, s, 2 * span), fixed=[2]), Value(draw.floats(n, s, 2 * span), fixed=[2])],
                want, version=draw.pick("1", "2"), span=span, factor=factor)


OPERATORS = {
    "DisentangledAttention_TRT": disentangled,
    "ModulatedDeformConv2d": deformable_convolution,
    "MultiscaleDeformableAttnPlugin_TRT": deformable_attention,
}
