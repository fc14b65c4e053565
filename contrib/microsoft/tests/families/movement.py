"""Moves, generators and samples."""
import numpy as np

from drawing import Case, Value


def shape(draw, low=1, high=4):
    return [draw.size(1, 4) for _ in range(draw.size(low, high))]


def expand_dims(draw):
    x = draw.floats(*shape(draw))
    return Case("ExpandDims", [x, Value(np.array(draw.size(-x.ndim, x.ndim), np.int32), const=True)])


def trilu(draw):
    x = draw.floats(*shape(draw, 2))
    return Case("Trilu", [x, Value(np.array(draw.size(-3, 3), np.int64))][:draw.size(1, 2)], upper=draw.pick(None, 0, 1))


def unique(draw):
    return Case("Unique", [Value(draw.ints(0, 6, draw.size(1, 20)).astype(np.float32))], 3, half=False)


def pad(draw):
    x = draw.floats(*[draw.size(3, 5) for _ in range(draw.size(1, 3))])
    mode = draw.pick(None, "constant", "reflect", "edge")
    pads = draw.ints(0, 3, *draw.pick([2 * x.ndim], [1, 2 * x.ndim]), dtype=np.int64)
    value = Value(draw.floats()) if mode in (None, "constant") and draw.chance() else None
    return Case("Pad", [x, Value(pads, const=True)] + ([value] if value else []), mode=mode)


def range_of(draw):
    dtype = draw.pick(np.int32, np.int64, np.float32)
    side = draw.pick([], [1])
    inputs = [Value(np.full(side, draw.size(-3, 3), dtype), const=True), Value(np.full(side, draw.size(4, 9), dtype), const=True),
              Value(np.full(side, draw.size(1, 3), dtype), const=True)]
    return Case("Range", inputs[:draw.size(2, 3)], half=False)


def grid_sample(draw):
    x = draw.floats(draw.size(1, 2), draw.size(1, 3), draw.size(2, 5), draw.size(2, 5))
    grid = draw.uniform(-1.2, 1.2, x.shape[0], draw.size(1, 4), draw.size(1, 4), 2)
    return Case("GridSample", [x, Value(grid, fixed=[3])], half=False, mode=draw.pick(None, "bilinear", "nearest", "bicubic"),
                padding_mode=draw.pick(None, "zeros", "border", "reflection"), align_corners=draw.pick(None, 0, 1))


def crop_and_resize(draw):
    x = draw.floats(draw.size(1, 2), draw.size(1, 3), draw.size(2, 6), draw.size(2, 6))
    boxes = draw.uniform(-0.2, 1.2, draw.size(1, 4), 4)
    return Case("CropAndResize", [x, boxes, draw.ints(0, x.shape[0], len(boxes)),
                                  Value(draw.ints(1, 5, 2), const=True)], half=False,
                mode=draw.pick(None, "bilinear"), extrapolation_value=draw.pick(None, 0.5))


def unfold(draw):
    x = draw.floats(*[draw.size(3, 6) for _ in range(draw.size(1, 3))])
    return Case("UnfoldTensor", [x], dim=draw.pick(None, draw.size(-x.ndim, x.ndim - 1)), size=draw.size(1, 3),
                step=draw.pick(None, 1, 2))


def gather_nd(draw):
    x = draw.floats(3, 4, draw.size(1, 4))
    indices = draw.ints(0, 3, draw.size(1, 4), draw.size(1, 2), dtype=draw.pick(np.int32, np.int64))
    return Case("GatherND", [x, Value(indices, fixed=[-1])])


def sample_op(draw):
    return Case("SampleOp", [draw.floats(*shape(draw))], half=False)


OPERATORS = {
    "CropAndResize": crop_and_resize,
    "ExpandDims": expand_dims,
    "GatherND": gather_nd,
    "GridSample": grid_sample,
    "Pad": pad,
    "Range": range_of,
    "SampleOp": sample_op,
    "Trilu": trilu,
    "UnfoldTensor": unfold,
    "Unique": unique,
}
