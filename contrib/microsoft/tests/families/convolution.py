"""Convolutions and pools."""
import numpy as np

from drawing import Case, Value

# With the numbers in activation_params.
ACTIVATIONS = {None: 0, "Relu": 0, "Tanh": 0, "Sigmoid": 0, "LeakyRelu": 1, "Clip": 2, "HardSigmoid": 2}


def window(draw, axes, kernel):
    attributes = {"strides": draw.maybe([draw.size(1, 2) for _ in range(axes)]),
                  "dilations": draw.maybe([draw.size(1, 2) for _ in range(axes)], 0.3)}
    if draw.chance():
        attributes["pads"] = draw.maybe([draw.size(0, min(kernel) - 1) for _ in range(2 * axes)])
    else:
        attributes["auto_pad"] = draw.pick("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
        if attributes["auto_pad"].startswith("SAME"):
            attributes["dilations"] = None
    return attributes


def activation(draw):
    name = draw.pick(*ACTIVATIONS)
    numbers = {1: [0.2], 2: [-0.5, 0.75] if name == "Clip" else [0.3, 0.4]}.get(ACTIVATIONS[name])
    return {"activation": name, "activation_params": numbers}


def fused_conv(draw):
    axes = draw.pick(1, 2, 2, 2)
    group = draw.pick(1, 1, 2)
    kernel = [draw.size(1, 3) for _ in range(axes)]
    w = draw.floats(group * draw.size(1, 3), draw.size(1, 3), *kernel)
    x = draw.floats(draw.size(1, 2), group * w.shape[1], *[draw.size(6, 8) for _ in range(axes)])
    attributes = {**window(draw, axes, kernel), **activation(draw), "group": group}
    inputs = [Value(x, fixed=[1]), Value(w, weight=True)]
    if draw.chance():
        inputs.append(Value(draw.floats(w.shape[0]), weight=True))
    elif draw.chance():
        # Of the shape of the result, which is that of a convolution without it.
        from drawing import expected
        plain = Case("FusedConv", inputs, **{**attributes, "activation": None, "activation_params": None})
        shape = expected(plain, [x, w])[0].shape
        inputs += [None if draw.chance() else Value(draw.floats(w.shape[0]), weight=True), draw.floats(*shape)]
    return Case("FusedConv", inputs, **attributes)


def nhwc_fused_conv(draw):
    """Beside FusedConv: ONNX Runtime has it in f16 alone, on some processors."""
    case = fused_conv(draw)
    arrays = [None if v is None else v.array for v in case.inputs]
    images = [k for k in (0, 3) if k < len(arrays) and arrays[k] is not None]
    inputs = [Value(np.ascontiguousarray(np.moveaxis(a, 1, -1)), fixed=[-1]) if k in images else case.inputs[k]
              for k, a in enumerate(arrays)]

    def want(*given):
        from drawing import expected
        given = [np.ascontiguousarray(np.moveaxis(a, -1, 1)) if k in images else a for k, a in enumerate(given)]
        return np.moveaxis(expected(case, given)[0], 1, -1)
    return Case("NhwcFusedConv", inputs, want=want, **case.attributes)


def nhwc_max_pool(draw):
    kernel = [draw.size(1, 3) for _ in range(2)]
    x = draw.ints(-100, 100, draw.size(1, 2), draw.size(6, 8), draw.size(6, 8), draw.size(1, 4),
                  dtype=draw.pick(np.int8, np.uint8))
    return Case("NhwcMaxPool", [x], tolerance="equal", kernel_shape=kernel, ceil_mode=draw.pick(None, 1),
                **window(draw, 2, kernel))


def dynamic_pads(draw):
    x, w = draw.floats(1, 2, draw.size(3, 6), draw.size(3, 6)), draw.floats(2, draw.size(1, 3), 3, 3)
    pads = draw.ints(0, 3, 4, dtype=np.int64)
    inputs = [Value(x, fixed=[1]), Value(w, weight=True), Value(pads, const=True)]
    if draw.chance():
        inputs.append(Value(draw.floats(w.shape[1]), weight=True))
    return Case("ConvTransposeWithDynamicPads", inputs, strides=draw.pick(None, [2, 2]),
                output_padding=draw.pick(None, [0, 0]))


OPERATORS = {
    "ConvTransposeWithDynamicPads": dynamic_pads,
    "FusedConv": fused_conv,
    "NhwcFusedConv": nhwc_fused_conv,
    "NhwcMaxPool": nhwc_max_pool,
}
