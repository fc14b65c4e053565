"""Drawn nodes: movement of elements, indices, extents that the data decide."""
import numpy as np
from onnx import numpy_helper

from graph import ANY, BOOL, F32, F64, I32, I64, STR, U8

TEXTS_TOO = ANY + (STR,)


def reshape(g):
    x = g.some(TEXTS_TOO)
    value = g.v(x)
    g.need(value.size > 0)
    extents, left = [], value.size
    for _ in range(g.number(0, 3)):
        extents.append(g.pick([d for d in range(1, min(left, 64) + 1) if left % d == 0]))
        left //= extents[-1]
    extents.append(left)
    extents = [int(d) for d in g.random.permutation(extents)]
    if g.chance(.5):
        extents[g.number(0, len(extents) - 1)] = -1
    for k in range(min(len(extents), value.ndim)):
        if extents[k] == value.shape[k] and g.chance(.4):
            extents[k] = 0
    g.add("Reshape", [x, g.given(extents, I64, .1)], exact=True)


def reshape_by_shape(g):
    """The target shape is computed from another shape."""
    x = g.some(ANY, (2, 5), lambda v: v.size > 0)
    shape = g.add("Shape", [x], start=g.pick([None, 0]))
    kept = g.number(1, g.v(x).ndim - 1)
    if g.chance(.5):
        front = g.add("Slice", [shape, g.given([0], I64), g.given([kept], I64)], exact=True)
    else:
        front = g.add("Gather", [shape, g.given(list(range(kept)), I64)], exact=True)
    target = g.add("Concat", [front, g.given([-1], I64)], axis=0)
    g.add("Reshape", [x, target], exact=True)


def reshape_empty(g):
    x = g.some((F32,), (1, 4), lambda v: v.size == 0)
    extents = list(g.v(x).shape) + [g.pick([1, 3])]
    g.add("Reshape", [x, g.given([int(d) for d in g.random.permutation(extents)], I64)], exact=True, allowzero=1)


def transpose(g):
    x = g.some(TEXTS_TOO)
    order = [int(k) for k in g.random.permutation(g.v(x).ndim)]
    g.add("Transpose", [x], exact=True, perm=None if g.chance(.2) else order)


def slice_bounds(g, extent):
    step = g.pick([1, 1, 1, 2, 3, -1, -1, -2])
    first, last = g.number(0, extent), g.number(0, extent + 1)
    if step < 0:
        first, last = max(first, last), min(first, last) - 1
        last = -2**31 if last < 0 else last
    else:
        first, last = min(first, last), max(first, last)
    if 0 < first < extent and g.chance(.3):
        first -= extent
    if step > 0 and g.chance(.2):
        last = g.pick([2**31, 2**63 - 1])
    return first, last, step


def slice_(g):
    x = g.some(TEXTS_TOO, (1, 6))
    value = g.v(x)
    axes = [int(a) for a in g.random.permutation(value.ndim)[:g.number(1, value.ndim)]]
    firsts, lasts, strides = zip(*(slice_bounds(g, value.shape[a]) for a in axes))
    axes = [a - value.ndim if g.chance(.3) else a for a in axes]
    dtype = g.pick((I64, I64, I32)) if all(abs(n) < 2**31 for n in firsts + lasts) else I64
    inputs = [x, g.given(firsts, dtype, .03), g.given(lasts, dtype, .03), g.given(axes, dtype)]
    g.add("Slice", inputs + [g.given(strides, dtype)], exact=True)


def concat(g):
    x = g.some(TEXTS_TOO, (1, 6))
    value = g.v(x)
    axis = g.axis(value, False)
    rest = lambda v: v.shape[:axis] + v.shape[axis + 1:]
    mates = [n for n, v in g.values.items() if v.dtype == value.dtype and v.ndim == value.ndim and rest(v) == rest(value)]
    names = [x] + [g.pick(mates) for _ in range(g.number(0, 2))]
    if g.chance(.4):
        names.append(g.leaf(value.dtype.type, value.shape[:axis] + (g.pick(g.extents),) + value.shape[axis + 1:]))
    g.random.shuffle(names)
    g.add("Concat", [str(n) for n in names], exact=True, axis=axis - value.ndim if g.chance(.3) else axis)


def split(g):
    x = g.some(ANY, (1, 6), lambda v: max(v.shape) >= 2)
    value = g.v(x)
    axis = g.pick([k for k, d in enumerate(value.shape) if d >= 2])
    if g.chance(.4):
        g.add("Split", [x], 2, exact=True, axis=axis, num_outputs=2)
    else:
        first = g.number(0, value.shape[axis])
        g.add("Split", [x, g.given([first, value.shape[axis] - first], I64, .1)], 2, exact=True, axis=axis)


def squeeze(g):
    x = g.some(ANY, (1, 6), lambda v: 1 in v.shape)
    value = g.v(x)
    axes = [k for k, d in enumerate(value.shape) if d == 1]
    axes = [k - value.ndim if g.chance(.3) else k for k in axes[:g.number(1, len(axes))]]
    without = g.chance(.2) and not g.is_open and x not in g.found  # differences: Squeeze
    g.add("Squeeze", [x] if without else [x, g.given(axes, I64)], exact=True)


def unsqueeze(g):
    x = g.some(TEXTS_TOO, (0, 4))
    rank = g.v(x).ndim + 1
    g.add("Unsqueeze", [x, g.given([g.number(-rank, rank - 1)], I64)], exact=True)


def flatten(g):
    x = g.some((F32, I32))
    rank = g.v(x).ndim
    g.add("Flatten", [x], exact=True, axis=g.number(-rank, rank))


def expand(g):
    x = g.some(ANY)
    target = [g.pick(g.extents) if d == 1 and g.chance(.7) else d if g.chance(.7) else 1 for d in g.v(x).shape]
    g.add("Expand", [x, g.given([g.pick([1, 2, 3])] * g.number(0, 1) + target, I64, .1)], exact=True)


def tile(g):
    x = g.some(TEXTS_TOO, (1, 5))
    g.add("Tile", [x, g.given([g.pick([0, 1, 1, 1, 2, 2, 3]) for _ in g.v(x).shape], I64, .1)], exact=True)


def pad(g):
    x = g.some((F32, F32, I32, F64), (1, 5))
    value = g.v(x)
    mode = g.pick(["constant", "constant", "reflect", "edge", "wrap"])
    sides = [g.number(-1, min(2, d - 3)) if d > 3 else 0 for d in value.shape * 2]
    inputs = [x, g.given(sides, I64, .1)]
    if mode == "constant" and g.chance(.6):
        inputs.append(g.given(g.pick([0, 1, -2]), value.dtype))
    g.add("Pad", inputs, exact=True, mode=mode)


def center_crop_pad(g):
    x = g.some((F32, I32), (1, 4), lambda v: v.size > 0)
    g.add("CenterCropPad", [x, g.given([max(1, d + g.number(-2, 3)) for d in g.v(x).shape], I64)], exact=True)


def gather(g):
    x = g.some(TEXTS_TOO, (1, 5), lambda v: v.size > 0)
    axis = g.axis(g.v(x))
    g.need(g.v(x).dtype != STR or axis in (-1, g.v(x).ndim - 1))  # see `differences`
    extent = g.v(x).shape[axis]
    places = g.random.integers(-extent, extent, g.pick([(), (1,), (2,), (3,), (2, 2), (5,), (0,)]))
    g.add("Gather", [x, g.given(places, g.pick((I32, I64)), .4)], exact=True, axis=axis)


def gather_elements(g):
    x = g.some((F32, I32, I64, STR), (1, 4), lambda v: v.size > 0)
    value, axis = g.v(x), g.axis(g.v(x))
    shape = [g.number(1, d) for d in value.shape]
    places = g.random.integers(-value.shape[axis], value.shape[axis], shape)
    g.add("GatherElements", [x, g.given(places, I64, .3)], exact=True, axis=axis)


def gather_nd(g):
    x = g.some((F32, I32, I64, STR), (1, 4), lambda v: v.size > 0)
    depth = g.number(1, g.v(x).ndim)
    places = np.stack([g.random.integers(-d, d, 3) for d in g.v(x).shape[:depth]], -1)
    g.add("GatherND", [x, g.given(places, I64, .3)], exact=True)


def scatter_elements(g):
    x = g.some((F32, I32, I64), (1, 4), lambda v: v.size > 0)
    value, axis = g.v(x), g.axis(g.v(x), False)
    shape = [g.number(1, d) for d in value.shape]
    updates = g.leaf(value.dtype.type, tuple(shape))
    if g.chance(.5):
        places = g.random.integers(-value.shape[axis], value.shape[axis], shape)
        kind = g.pick(["add", "max", "min", "mul"])
        g.add("ScatterElements", [x, g.given(places, I64, .3), updates], axis=axis, reduction=kind)
    else:
        order = [value.shape[axis] if k == axis else d for k, d in enumerate(shape)]
        places = np.argsort(g.random.random(order), axis=axis).take(range(shape[axis]), axis=axis)
        g.add("ScatterElements", [x, g.given(places, I64, .3), updates], exact=True, axis=axis)


def scatter_nd(g):
    x = g.some((F32, I32, I64), (1, 4), lambda v: v.size > 0)
    value = g.v(x)
    depth, count = g.number(1, value.ndim), g.number(1, 3)
    places = np.stack([g.random.integers(0, d, count) for d in value.shape[:depth]], -1)
    updates = g.leaf(value.dtype.type, (count,) + value.shape[depth:])
    if len({tuple(p) for p in places.tolist()}) < count:
        g.add("ScatterND", [x, g.given(places, I64, .3), updates], reduction=g.pick(["add", "max", "min"]))
    else:
        g.add("ScatterND", [x, g.given(places, I64, .3), updates], exact=True)


def depth_and_space(g):
    x = g.some((F32,), 4)
    shape = g.v(x).shape
    if shape[1] % 4 == 0 and g.chance(.6):
        g.add("DepthToSpace", [x], exact=True, blocksize=2, mode=g.pick(["DCR", "CRD"]))
    else:
        g.need(shape[2] % 2 == 0 and shape[3] % 2 == 0)
        g.add("SpaceToDepth", [x], exact=True, blocksize=2)


def trilu(g):
    x = g.some((F32, I64, BOOL), (2, 5))
    k = [g.given(g.number(-2, 2), I64, .2)] if g.chance(.6) else []
    g.add("Trilu", [x] + k, exact=True, upper=int(g.chance(.5)))


def cumulative(g):
    x = g.some((F32, I32, I64, F64), (1, 4))
    g.add("CumSum", [x, g.given(g.axis(g.v(x)), I32)], exclusive=int(g.chance(.4)), reverse=int(g.chance(.4)))


def one_hot(g):
    x = g.some((I64, I32), (0, 3))
    values = g.given(*g.pick([([0, 1], F32), ([-1, 2], I64), ([0, 1], I32)]))
    if g.chance(.15):
        values = g.given(np.array(["off", "on"], object))
    g.add("OneHot", [x, g.given(g.pick([3, 5]), I64), values], exact=True, axis=g.number(-1, g.v(x).ndim))


def reverse_sequence(g):
    x = g.some((F32, STR), (2, 4), lambda v: min(v.shape[:2]) > 0)
    time, batch = g.pick([(0, 1), (1, 0)])
    lengths = g.random.integers(1, g.v(x).shape[time] + 1, g.v(x).shape[batch])
    g.add("ReverseSequence", [x, g.given(lengths, I64, .3)], exact=True, time_axis=time, batch_axis=batch)


def eye_like(g):
    g.add("EyeLike", [g.some((F32, I32), 2)], exact=True, k=g.pick([-1, 0, 1]))


def nonzero(g):
    x = g.some((F32, BOOL, I32), (1, 3), lambda v: v.size < 500)
    g.need(g.exact[x])
    g.add("NonZero", [x])


def compress(g):
    x = g.some((F32, I32, I64), (1, 4), lambda v: v.size > 0)
    axis = g.axis(g.v(x))
    g.add("Compress", [x, g.given(g.random.random(g.v(x).shape[axis]) < .6, BOOL, .5)], exact=True, axis=axis)


def range_(g):
    dtype = g.pick((I64, I32, F32))
    g.add("Range", [g.given(g.pick(n), dtype, .2) for n in ([0, 1, -3], [5, 7, 4], [1, 2])], exact=True)


def constant_of_shape(g):
    x = g.some(ANY, (1, 4), lambda v: v.size < 2000)
    shape = g.add("Shape", [x])
    value = np.array([g.pick([0, 1, 3])], g.pick((F32, I64, I32)))
    g.add("ConstantOfShape", [shape], exact=True, value=numpy_helper.from_array(value))


def shape_and_size(g):
    x = g.some(ANY, (0, 5))
    if g.chance(.5):
        g.add("Size", [x])
    else:
        g.add("Shape", [x], start=g.pick([None, -1, 1]), end=g.pick([None, -1, 2]))


def constant(g):
    value = g.data(g.pick((F32, I64)), g.shape(g.number(0, 2)))
    g.add("Constant", [], exact=True, value=numpy_helper.from_array(value))


def unique(g):
    x = g.some((F32, I64), (1, 2), lambda v: v.size < 500)
    g.need(g.v(x).dtype == I64 or g.exact[x])
    g.add("Unique", [x], [1, 0, g.chance(.5), g.chance(.3)], exact=True, sorted=1)


DRAW = [(reshape, 5), (reshape_by_shape, 2), (reshape_empty, 1), (transpose, 5), (slice_, 5), (concat, 4), (split, 3),
        (squeeze, 2), (unsqueeze, 2), (flatten, 1), (expand, 2), (tile, 2), (pad, 3), (center_crop_pad, 1), (gather, 4),
        (gather_elements, 1), (gather_nd, 1), (scatter_elements, 1), (scatter_nd, 1), (depth_and_space, 2), (trilu, 1),
        (cumulative, 1), (one_hot, 1), (reverse_sequence, 1), (eye_like, 1), (nonzero, 1), (compress, 2), (range_, 1),
        (constant_of_shape, 1), (shape_and_size, 1), (constant, 1), (unique, 1)]
