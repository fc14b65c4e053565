"""Activations, normalisation and coordinates."""
import numpy as np

from drawing import Case, Value

F = np.float32


def image(draw, channels=None, scale=1.0):
    return draw.floats(draw.size(1, 3), channels or draw.size(1, 5), draw.size(1, 6), draw.size(1, 6), scale=scale)


def leaky_relu(draw):
    slope = draw.number(0.01, 0.4)
    return Case("LReLU_TRT", [image(draw)], lambda x: np.where(x > 0, x, x * F(slope)), negSlope=slope)


def clip(draw):
    low, high = sorted([draw.number(-1, 1), draw.number(-1, 1)])
    return Case("Clip_TRT", [image(draw)], lambda x: np.clip(x, F(low), F(high)), clipMin=low, clipMax=high)


def coordinates(draw):
    x = image(draw)
    x[0, 0, 0, 0] = draw.pick(0, np.nan, np.inf)

    def want(x):
        n, _, h, w = x.shape
        rows = np.linspace(-1, 1, h, dtype=F) if h > 1 else F([-1])
        columns = np.linspace(-1, 1, w, dtype=F) if w > 1 else F([-1])
        return np.concatenate([x, np.broadcast_to(rows[:, None], (n, 1, h, w)), np.broadcast_to(columns, (n, 1, h, w))], 1)
    return Case("CoordConvAC", [x], want)


def standard(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def group_norm(draw):
    groups = draw.size(1, 3)
    channels = groups * draw.size(1, 3)
    x = draw.floats(draw.size(1, 3), channels, draw.size(2, 5), draw.size(2, 5))
    scale, bias, epsilon = draw.floats(channels), draw.floats(channels), draw.pick(None, 1e-3)

    def want(x, scale, bias):
        n, c, h, w = x.shape
        y = standard(x.reshape(n, groups, -1), 2, epsilon or 1e-5).reshape(x.shape)
        return (y * scale[:, None, None] + bias[:, None, None]).astype(F)
    return Case("GroupNormalizationPlugin", [Value(x, fixed=[1]), Value(scale, weight=True), Value(bias, weight=True)], want,
                num_groups=groups, eps=epsilon)


def instance_norm(draw):
    channels = draw.size(1, 4)
    x = draw.floats(draw.size(1, 3), channels, *[draw.size(2, 5) for _ in range(draw.size(1, 3))])
    scale, bias, epsilon = draw.floats(channels), draw.floats(channels), draw.pick(None, 1e-2)
    relu, slope = draw.pick(None, 0, 1), draw.pick(None, 0.0, 0.2)

    def want(x):
        per = (slice(None),) + (None,) * (x.ndim - 2)
        y = standard(x, tuple(range(2, x.ndim)), epsilon or 1e-5) * scale[per] + bias[per]
        return (np.where(y > 0, y, y * (slope or 0)) if relu else y).astype(F)
    return Case("InstanceNormalization_TRT", [Value(x, fixed=[1])], want, version=draw.pick("1", "2", "3"), epsilon=epsilon,
                scales=scale.tolist(), bias=bias.tolist(), relu=relu, alpha=slope)


def normalize(draw):
    across, shared, channels = draw.pick(None, 0, 1), draw.pick(None, 0, 1), draw.size(1, 4)
    weights, epsilon = draw.floats(1 if shared in (None, 1) else channels), draw.pick(None, 1e-3)

    def want(x):
        axes = (1, 2, 3) if across in (None, 1) else 1
        return (x / np.sqrt((x * x).sum(axes, keepdims=True) + (epsilon or 1e-10)) * weights[:, None, None]).astype(F)
    return Case("Normalize_TRT", [Value(image(draw, channels), fixed=[1])], want, weights=weights.tolist(), acrossSpatial=across,
                channelShared=shared, nbWeights=draw.pick(None, 1), eps=epsilon)


def region(draw):
    boxes, classes = draw.pick(None, 2, 3), draw.size(1, 4)
    x = image(draw, (boxes or 5) * (5 + classes))

    def want(x):
        n, _, h, w = x.shape
        y = x.reshape(n, boxes or 5, 5 + classes, h, w).copy()
        y[:, :, [0, 1, 4]] = 1 / (1 + np.exp(-y[:, :, [0, 1, 4]]))
        e = np.exp(y[:, :, 5:] - y[:, :, 5:].max(2, keepdims=True))
        y[:, :, 5:] = e / e.sum(2, keepdims=True)
        return y.reshape(x.shape)
    return Case("Region_TRT", [Value(x, fixed=[1])], want, num=boxes, coords=draw.pick(None, 4), classes=classes)


COUNTS = {"InstanceNormalization_TRT": 12}
OPERATORS = {
    "Clip_TRT": clip,
    "CoordConvAC": coordinates,
    "GroupNormalizationPlugin": group_norm,
    "InstanceNormalization_TRT": instance_norm,
    "LReLU_TRT": leaky_relu,
    "Normalize_TRT": normalize,
    "Region_TRT": region,
}
