"""The domain com.microsoft.nchwc. Tensors are plain here, and weights are in blocks. ONNX Runtime computes the same in its plain operators."""
import numpy as np

from drawing import Case, Value, expected
from families.convolution import activation, window

DOMAIN = "com.microsoft.nchwc"


def is_by_output(w, groups, block):
    return w.shape[1] < block if groups == 1 else w.shape[1] == 1 and w.shape[0] == groups


def has_blocks(w, groups, block):
    out, inner = w.shape[:2]
    return out % block == 0 and (is_by_output(w, groups, block) or (inner % block == 0 and out // groups % block == 0))


def blocked(w, groups, block):
    """The memory of weights in blocks, with the shape of w."""
    out, inner, *window = w.shape
    if is_by_output(w, groups, block):
        return w.reshape(out // block, block, inner, *window).transpose(0, 2, 3, 4, 1).reshape(w.shape)
    return w.reshape(out // block, block, inner // block, block, *window).transpose(0, 2, 4, 5, 3, 1).reshape(w.shape)


def conv(draw):
    block = draw.pick(8, 16)
    out, inner, groups = draw.pick((block, draw.size(1, 7), 1), (block, block, 1), (2 * block, 1, 2 * block),
                                   (2 * block, block, 2), (24, 8, 1), (16, 12, 1))
    if out == 24 or inner == 12:
        block = 8 if out == 24 else 16
    kernel = [draw.size(1, 2) for _ in range(2)]
    w = draw.floats(out, inner, *kernel)
    x = draw.floats(1, inner * groups, draw.size(3, 5), draw.size(3, 5))
    attributes = {**window(draw, 2, kernel), **activation(draw), "group": groups}
    inputs = [Value(x, fixed=[1]), Value(blocked(w, groups, block), weight=True)]
    if draw.chance():
        inputs.append(Value(draw.floats(out), weight=True))
    plain = Case("FusedConv", [inputs[0], Value(w), *inputs[2:]], **attributes)

    def want(*arrays):
        w = np.empty_like(arrays[1])
        w.reshape(-1)[blocked(np.arange(w.size).reshape(w.shape), groups, block).reshape(-1)] = arrays[1].reshape(-1)
        return expected(plain, [arrays[0], w, *arrays[2:]])
    size = block if has_blocks(w, groups, 8) and has_blocks(w, groups, 16) else None
    return Case("Conv", inputs, domain=DOMAIN, want=want, block_size=size, **attributes)


def reorder_input(draw):
    """Rounds the channels up."""
    block, last = draw.pick(8, 16), draw.pick(None, 0, 1)
    channels = draw.pick(4, 8, 12, 16, 20, 24)
    x = draw.floats(draw.size(1, 2), channels, draw.size(), draw.size())
    size = None if -channels % 8 == -channels % 16 else block

    def want(x):
        return np.pad(x if not last else np.moveaxis(x, -1, 1), [(0, 0), (0, -channels % block), (0, 0), (0, 0)])
    return Case("ReorderInput", [Value(np.moveaxis(x, 1, -1) if last else x, fixed="all" if last else [1])], domain=DOMAIN, want=want,
                tolerance="equal", channels_last=last, block_size=size)


def reorder_output(draw):
    channels, last = draw.size(9, 16), draw.pick(None, 0, 1)
    x = draw.floats(draw.size(1, 2), 16, draw.size(), draw.size())

    def want(x):
        return np.moveaxis(x[:, :channels], 1, -1) if last else x[:, :channels]
    return Case("ReorderOutput", [x], domain=DOMAIN, want=want, tolerance="equal", channels=channels, channels_last=last)


def pool(draw, op, **more):
    kernel = [draw.size(1, 3) for _ in range(2)]
    x = draw.floats(1, 16, draw.size(6, 8), draw.size(6, 8))
    attributes = {"kernel_shape": kernel, "ceil_mode": draw.pick(None, 1), **window(draw, 2, kernel), **more}
    if attributes.get("auto_pad", "").startswith("SAME"):
        attributes["strides"] = None  # ONNX Runtime refuses negative pads
    plain = Case(op, [x], domain="", opset=19, **attributes)
    return Case(op, [x], domain=DOMAIN, want=lambda *arrays: expected(plain, arrays), **attributes)


def global_pool(draw, op):
    x = draw.floats(draw.size(1, 2), 16, draw.size(), draw.size())
    plain = Case(op, [x], domain="")
    return Case(op, [x], domain=DOMAIN, want=lambda *arrays: expected(plain, arrays))


def upsample(draw):
    x = draw.floats(1, 8, draw.size(), draw.size())
    scales = [1, 1, draw.size(1, 3), draw.size(1, 3)]
    mode = draw.pick("nearest", "linear")
    coordinates = "asymmetric" if mode == "nearest" else draw.pick("asymmetric", "half_pixel", "align_corners")
    resize = {"mode": mode, "coordinate_transformation_mode": coordinates}
    plain = Case("Resize", [Value(x), None, Value(np.array(scales, np.float32), const=True)], domain="", nearest_mode="floor", **resize)

    def want(x):
        return expected(plain, [x, None, np.array(scales, np.float32)])
    return Case("Upsample", [Value(x, fixed=[1])], domain=DOMAIN, want=want, scales=scales, **resize)


OPERATORS = {
    "AveragePool": lambda draw: pool(draw, "AveragePool", count_include_pad=draw.pick(None, 0, 1)),
    "Conv": conv,
    "GlobalAveragePool": lambda draw: global_pool(draw, "GlobalAveragePool"),
    "GlobalMaxPool": lambda draw: global_pool(draw, "GlobalMaxPool"),
    "MaxPool": lambda draw: pool(draw, "MaxPool"),
    "ReorderInput": reorder_input,
    "ReorderOutput": reorder_output,
    "Upsample": upsample,
}
