"""Normalisation."""
import numpy as np

from drawing import Case, Value


def weights(draw, width, around=0.0):
    return Value(draw.floats(width, scale=0.5) + np.float32(around), weight=True)


def skip_layer_norm(simplified):
    def function(draw):
        batch, tokens, width = draw.size(1, 3), draw.size(1, 5), draw.size(2, 24)
        x = draw.floats(batch, tokens, width)
        skip = draw.floats(*draw.pick((batch, tokens, width), (batch, tokens, width), (1, tokens, width),
                                      (tokens, width)))
        bias = draw.maybe(weights(draw, width))
        sides = [weights(draw, width, 1)]
        if not simplified:
            sides.append(draw.maybe(weights(draw, width)))
        has_sum = draw.chance()
        return Case("SkipSimplifiedLayerNormalization" if simplified else "SkipLayerNormalization",
                    [Value(x, fixed=[-1]), Value(skip, fixed="all" if skip.shape != x.shape else ()), *sides, bias],
                    [True, False, False, has_sum] if has_sum else 1, epsilon=draw.pick(None, 1e-5, 0.1))
    return function


def simplified_layer_norm(draw):
    x = draw.floats(draw.size(1, 3), draw.size(1, 5), draw.size(2, 24))
    axis = draw.pick(None, -1, 2, 1)
    scale = draw.floats(*x.shape[axis or -1:], scale=0.5) + np.float32(1)
    return Case("SimplifiedLayerNormalization", [Value(x, fixed="all" if axis == 1 else [-1]),
                                                 Value(scale, weight=True)],
                draw.pick(1, 1, 2), domain="", keep=[1], axis=axis, epsilon=draw.pick(None, 0.1))


def embed_layer_norm(draw):
    batch, tokens, width = draw.size(1, 3), draw.size(1, 5), draw.size(2, 12)
    ids = draw.ints(0, 9, batch, tokens)
    has_segments = draw.chance()
    mask = (np.arange(tokens)[None] < draw.ints(1, tokens + 1, batch, 1)).astype(np.int32)
    positions = draw.ints(0, 7, draw.pick(1, batch), tokens)
    inputs = [ids, draw.ints(0, 2, batch, tokens) if has_segments else None, weights(draw, (9, width)[1] * 9), None]
    inputs[2] = Value(draw.floats(9, width), weight=True)
    inputs[3] = Value(draw.floats(7, width), weight=True)
    inputs += [Value(draw.floats(2, width), weight=True) if has_segments else None, weights(draw, width, 1),
               weights(draw, width), draw.maybe(mask), draw.maybe(Value(positions, fixed="all"))]
    return Case("EmbedLayerNormalization", inputs, [True, True, draw.chance()],
                epsilon=draw.pick(None, 1e-3))


# CUDA alone has the next three.
def normalised(x, gamma, beta, groups, epsilon, activation, channels_last):
    image = np.moveaxis(x, -1, 1) if channels_last else x
    parts = image.reshape(image.shape[0], groups, -1).astype(np.float64)
    parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + epsilon)
    side = [1, -1] + [1] * (image.ndim - 2)
    y = parts.reshape(image.shape) * gamma.reshape(side) + beta.reshape(side)
    y = y / (1 + np.exp(-y)) if activation else y
    return (np.moveaxis(y, 1, -1) if channels_last else y).astype(np.float32)


def group_norm(has_skip):
    def function(draw):
        groups = draw.size(1, 3)
        channels = groups * draw.size(1, 3)
        last = draw.pick(None, 1, 0)
        plane = [draw.size(2, 4), draw.size(2, 4)]
        batch = draw.size(1, 2)
        shape = [batch, channels, *plane] if last == 0 else [batch, *plane, channels]
        epsilon, activation = draw.pick(None, 0.01), draw.pick(0, 1)
        channel_axis = 1 if last == 0 else -1
        x = Value(draw.floats(*shape), fixed=[channel_axis])
        inputs = [x, weights(draw, channels, 1), weights(draw, channels)]
        short = [batch, channels]
        long = [batch, channels, 1, 1] if last == 0 else [batch, 1, 1, channels]
        if has_skip:
            skip = draw.floats(*draw.pick(shape, short, long))
            inputs += [Value(skip, fixed=range(skip.ndim)), draw.maybe(weights(draw, channels))]

        def want(x, gamma, beta, skip=None, bias=None):
            s = x
            for addend in (skip, bias):
                if addend is not None:
                    if addend.ndim < 4:
                        addend = addend.reshape(-1, *([channels, 1, 1] if last == 0 else [1, 1, channels]))
                    s = s + addend
            return [normalised(s, gamma, beta, groups, epsilon or 1e-5, activation, last != 0), s]
        return Case("SkipGroupNorm" if has_skip else "GroupNorm", inputs, draw.pick(1, 2) if has_skip else 1,
                    want=want, groups=groups, activation=activation, channels_last=last, epsilon=epsilon)
    return function


def bias_softmax(draw):
    shape = [draw.size(1, 3), draw.size(1, 3), draw.size(1, 4), draw.size(1, 5)]
    inner = draw.pick(0, 1)
    axis = draw.pick(3, 3, 2)
    bias = [shape[0], 1, 1, shape[3]] if inner else draw.pick([1, 1, *shape[2:]], shape[2:])
    if inner and axis == 2:
        bias[2] = shape[2]

    def want(x, bias):
        s = (x + bias).astype(np.float64)
        axes = tuple(range(axis, 4))
        e = np.exp(s - s.max(axes, keepdims=True))
        return (e / e.sum(axes, keepdims=True)).astype(np.float32)
    return Case("BiasSoftmax", [draw.floats(*shape, scale=2), Value(draw.floats(*bias), fixed="all")], want=want,
                axis=axis, is_inner_broadcast=inner)


OPERATORS = {
    "BiasSoftmax": bias_softmax,
    "EmbedLayerNormalization": embed_layer_norm,
    "GroupNorm": group_norm(False),
    "SimplifiedLayerNormalization": simplified_layer_norm,
    "SkipGroupNorm": group_norm(True),
    "SkipLayerNormalization": skip_layer_norm(False),
    "SkipSimplifiedLayerNormalization": skip_layer_norm(True),
}
