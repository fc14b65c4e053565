"""Moved and selected data."""
import numpy as np

from drawing import Case, Value

F = np.float32
APART = ("TRT", "trt.plugins")  # the standard has these names in its own domain


def image(draw, *shape):
    return draw.floats(*[extent or draw.size(1, 5) for extent in shape or (0,) * 4])


def reorg(draw):
    s = draw.size(1, 3)
    x = draw.floats(draw.size(1, 3), s * s * draw.size(1, 2), s * draw.size(1, 3), s * draw.size(1, 3))

    def want(x):
        # One element after the other, as Darknet's loop has it.
        n, c, h, w = x.shape
        blocks = x.reshape(n, c // (s * s), h * s, w * s)
        y = np.empty((n, c, h, w), x.dtype)
        for k in range(c):
            block, place = k % (c // (s * s)), k // (c // (s * s))
            for i in range(h):
                for j in range(w):
                    y[:, k, i, j] = blocks[:, block, i * s + place // s, j * s + place % s]
        return y.reshape(n, c * s * s, h // s, w // s)
    return Case("Reorg_TRT", [Value(x, fixed=[1, 2, 3])], want, tolerance="equal", version=draw.pick("1", "2"), stride=s)


def flatten_concat(draw):
    n, axis = draw.size(1, 3), draw.pick(None, 1, 2, 3)
    inputs = [draw.floats(n, draw.size(1, 4), draw.size(1, 4), draw.size(1, 4)) for _ in range(draw.size(1, 4))]

    def want(*arrays):
        y = np.concatenate([a.reshape(n, -1) for a in arrays], 1)
        return y.reshape([n] + [-1 if k == (axis or 1) else 1 for k in (1, 2, 3)])
    return Case("FlattenConcat_TRT", inputs, want, tolerance="equal", axis=axis, ignoreBatch=draw.pick(None, 0))


def batch_tile(draw):
    n = draw.size(1, 4)
    return Case("BatchTilePlugin_TRT", [image(draw, n, 0, 0, 0), Value(image(draw, 1, 0, 0, 0), fixed=[0])],
                lambda a, b: np.concatenate([b] * n), tolerance="equal")


def resize_nearest(draw):
    scale = draw.pick(0.5, 1.0, 1.5, 2.0, 3.0)
    x = image(draw, 0, 0, 4, 6)

    def want(x):
        rows = [int(i / scale) for i in range(int(x.shape[2] * scale))]
        columns = [int(j / scale) for j in range(int(x.shape[3] * scale))]
        return x[:, :, rows][..., columns]
    return Case("ResizeNearest_TRT", [Value(x, fixed=[2, 3] if scale == 1.5 else [])], want, tolerance="equal", scale=scale)


REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scatter_elements(draw):
    rank = draw.size(1, 3)
    x = image(draw, *[0] * rank)
    axis = draw.size(0, rank - 1)
    count = draw.size(1, x.shape[axis])
    shape = list(x.shape)
    shape[axis] = count
    reduction = draw.pick("none", None, *REDUCTIONS)
    if reduction in ("none", None):  # no place twice
        indices = np.apply_along_axis(lambda _: draw.rng.permutation(x.shape[axis])[:count], axis, np.zeros(shape)).astype(np.int64)
    else:
        indices = draw.ints(0, x.shape[axis], *shape, dtype=np.int64)
    indices = np.where(draw.uniform(0, 1, *shape) < 0.3, indices - x.shape[axis], indices)

    def want(x, indices, updates):
        y = x.copy()
        for place in np.ndindex(*indices.shape):
            to = place[:axis] + (indices[place],) + place[axis + 1:]
            y[to] = updates[place] if reduction in ("none", None) else REDUCTIONS[reduction](y[to], updates[place])
        return y
    return Case("ScatterElements", [x, indices, draw.floats(*shape)], want, domain=draw.pick(*APART), version=draw.pick("1", "2"),
                axis=axis if draw.chance() else axis - rank, reduction=reduction)


def scatter_nd(draw):
    x = image(draw, 0, 0, 0)
    depth = draw.size(1, 3)
    places = np.stack(np.unravel_index(draw.rng.permutation(int(np.prod(x.shape[:depth])))[:draw.size(1, 4)], x.shape[:depth]), -1)

    def want(x, indices, updates):
        y = x.copy()
        for place, update in zip(indices, updates):
            y[tuple(place)] = update
        return y
    return Case("ScatterND", [x, places.astype(np.int64), draw.floats(len(places), *x.shape[depth:])], want, domain=draw.pick(*APART),
                tolerance="equal")


def split(draw):
    lengths = [draw.size(1, 3) for _ in range(draw.size(1, 4))]
    axis = draw.size(0, 2)
    shape = [0, 0, 0]
    shape[axis] = sum(lengths)
    return Case("Split", [Value(image(draw, *shape), fixed=[axis])], lambda x: np.split(x, np.cumsum(lengths)[:-1], axis),
                domain=draw.pick(*APART), tolerance="equal", axis=axis, output_lengths=lengths)


def special_slice(draw):
    return Case("SpecialSlice_TRT", [Value(image(draw, 0, 0, 6), fixed=[2])], lambda x: x[..., :4], tolerance="equal")


def top_k(draw):
    kind = draw.pick((F, 0), (np.float16, 1), (np.int32, 3))
    x = np.round(image(draw, 0, 4, 0) * 8).astype(kind[0])
    axis, largest = draw.pick(None, -1, 1), draw.pick(0, 1)
    extent = x.shape[-1 if axis is None else axis]
    k = draw.size(1, extent)

    def want(x):
        order = np.argsort(-x.astype(F) if largest else x.astype(F), -1 if axis is None else axis, kind="stable")
        order = np.take(order, range(k), -1 if axis is None else axis)
        return np.take_along_axis(x, order, -1 if axis is None else axis), order.astype(np.int32)
    return Case("TopkLastDim", [Value(x, fixed=[1, 2])], want, tolerance="equal", type_id=kind[1], k=k, is_largest=largest, axis=axis)


OPERATORS = {
    "BatchTilePlugin_TRT": batch_tile,
    "FlattenConcat_TRT": flatten_concat,
    "Reorg_TRT": reorg,
    "ResizeNearest_TRT": resize_nearest,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "SpecialSlice_TRT": special_slice,
    "Split": split,
    "TopkLastDim": top_k,
}
