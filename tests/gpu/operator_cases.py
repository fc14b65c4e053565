"""The networks of one operator that operators.py times: a seeded draw of operators, sizes, types and orders."""
import math
import random

import numpy as np
import onnx


class Case:
    """inputs: arrays; those of `constants`, numbers of inputs, are the network's. `peer` computes the outputs with (torch, *tensors)."""

    def __init__(self, op, title, inputs, peer, constants=(), image=False, outputs=1, opset=20, narrow=True, **attributes):
        self.op, self.title, self.inputs, self.peer, self.constants = op, title, inputs, peer, constants
        self.image, self.outputs, self.opset, self.narrow, self.attributes = image, outputs, opset, narrow, attributes
        self.is_last = False


# ---- The draw ----


class Draw:
    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def floats(self, *shape):
        return self.numbers.standard_normal(shape, dtype=np.float32)

    def indices(self, most, *shape):
        return self.numbers.integers(0, most, shape).astype(np.int64)

    def one(self, *values):
        return self.choose.choice(values)

    def image(self):
        side = self.one(7, 14, 20, 28, 40, 56, 80, 112)
        return self.one(1, 1, 4), self.one(32, 64, 96, 128, 256) if side < 80 else self.one(16, 32, 64), side, side

    def matrix(self):
        return self.one(1, 8, 128, 197, 512, 1024), self.one(64, 256, 768, 1000, 1024, 4096)


def shape_of(*extents):
    return "x".join(map(str, extents))


def whole(*values):
    return np.array(values, np.int64)


def softmax(d):
    shape = d.one((12, 128, 128), (12, 197, 197), (16, 1000), (1, 128256), (32, 8, 512, 512), (256, 64))
    return Case("Softmax", shape_of(*shape), [d.floats(*shape)], lambda t, x: t.softmax(x, -1), axis=-1)


def log_softmax(d):
    m, n = d.matrix()
    return Case("LogSoftmax", shape_of(m, n), [d.floats(m, n)], lambda t, x: t.log_softmax(x, -1), axis=-1)


def layer_norm(d):
    m, n = d.matrix()
    return Case("LayerNormalization", shape_of(m, n), [d.floats(m, n), d.floats(n), d.floats(n)],
                lambda t, x, w, b: t.nn.functional.layer_norm(x, (n,), w, b), (1, 2))


def rms_norm(d):
    m, n = d.matrix()
    return Case("RMSNormalization", shape_of(m, n), [d.floats(m, n), d.floats(n)],
                lambda t, x, w: t.nn.functional.rms_norm(x, (n,), w, 1e-5), (1,), opset=23)


def group_norm(d):
    n, c, h, w = d.image()
    groups = d.one(1, 8, 16)
    return Case("GroupNormalization", f"{shape_of(n, c, h, w)} by {groups}", [d.floats(n, c, h, w), d.floats(c), d.floats(c)],
                lambda t, x, g, b: t.nn.functional.group_norm(x, groups, g, b), (1, 2), True, opset=21, num_groups=groups)


def instance_norm(d):
    n, c, h, w = d.image()
    return Case("InstanceNormalization", shape_of(n, c, h, w), [d.floats(n, c, h, w), d.floats(c), d.floats(c)],
                lambda t, x, g, b: t.nn.functional.instance_norm(x, weight=g, bias=b), (1, 2), True)


def batch_norm(d):
    n, c, h, w = d.image()
    return Case("BatchNormalization", shape_of(n, c, h, w),
                [d.floats(n, c, h, w), d.floats(c), d.floats(c), d.floats(c), abs(d.floats(c)) + 0.5],
                lambda t, x, g, b, m, v: t.nn.functional.batch_norm(x, m, v, g, b), (1, 2, 3, 4), True)


def function(d):
    name = d.one("Gelu", "HardSwish", "Mish", "Sigmoid", "Tanh", "Erf", "Exp", "Softplus", "Elu", "LeakyRelu")
    peers = {"HardSwish": "hardswish", "LeakyRelu": "leaky_relu"}
    count = d.one(1000, 65536, 1 << 20, 1 << 22)

    def peer(t, x):
        module = t if name in ("Sigmoid", "Tanh", "Erf", "Exp") else t.nn.functional
        return getattr(module, peers.get(name, name.lower()))(x)

    return Case(name, str(count), [d.floats(count)], peer)


def add(d):
    m, n = d.matrix()
    other = d.one((n,), (m, 1), (m, n))
    return Case("Add", f"{shape_of(m, n)} + {shape_of(*other)}", [d.floats(m, n), d.floats(*other)], lambda t, x, y: x + y)


def where(d):
    m, n = d.matrix()
    return Case("Where", shape_of(m, n), [d.floats(m, n) > 0, d.floats(m, n), d.floats(1, n)], lambda t, c, x, y: t.where(c, x, y))


def transpose(d):
    shape, order = d.one(((1, 64, 112, 112), (0, 2, 3, 1)), ((1, 512, 12, 64), (0, 2, 1, 3)), ((1, 56, 56, 96), (0, 3, 1, 2)),
                         ((1024, 768), (1, 0)), ((2, 197, 3, 12, 64), (2, 0, 3, 1, 4)), ((8, 16, 32, 48), (3, 2, 1, 0)))
    return Case("Transpose", f"{shape_of(*shape)} by {shape_of(*order)}", [d.floats(*shape)],
                lambda t, x: x.permute(order).contiguous(), perm=order)


def concat(d):
    n, c, h, w = d.image()
    count = d.one(2, 3, 4)
    return Case("Concat", f"{count} of {shape_of(n, c, h, w)}", [d.floats(n, c, h, w) for _ in range(count)],
                lambda t, *x: t.cat(x, 1), axis=1)


def cut(d):
    n, c, h, w = d.image()
    step = d.one(1, 2)
    return Case("Slice", f"{shape_of(n, c, h, w)} by {step}", [d.floats(n, c, h, w), whole(1, 0), whole(h, w - 1), whole(2, 3),
                                                                whole(step, step)],
                lambda t, x, *_: x[:, :, 1:h:step, 0:w - 1:step].contiguous(), (1, 2, 3, 4))


def pad(d):
    n, c, h, w = d.image()
    by = d.one(1, 2, 3)
    mode = d.one("reflect", "constant", "edge")
    peer = {"edge": "replicate"}.get(mode, mode)
    return Case("Pad", f"{shape_of(n, c, h, w)} by {by} {mode}", [d.floats(n, c, h, w), whole(0, 0, by, by, 0, 0, by, by)],
                lambda t, x, _: t.nn.functional.pad(x, (by,) * 4, peer), (1,), mode=mode)


def expand(d):
    shape, to = d.one(((1, 1, 512, 512), (1, 12, 512, 512)), ((1, 768), (512, 768)), ((64, 1, 1), (64, 112, 112)))
    return Case("Expand", f"{shape_of(*shape)} to {shape_of(*to)}", [d.floats(*shape), whole(*to)],
                lambda t, x, _: x.expand(to).contiguous(), (1,))


def tile(d):
    m, n = d.one(16, 256), d.one(64, 256)
    return Case("Tile", f"{shape_of(m, n)} 4x3", [d.floats(m, n), whole(4, 3)], lambda t, x, _: x.repeat(4, 3), (1,))


def gather(d):
    rows, width, count = d.one(1000, 30522), d.one(128, 768), d.one(32, 128, 2048)
    return Case("Gather", f"{count} of {shape_of(rows, width)}", [d.floats(rows, width), d.indices(rows, count)],
                lambda t, x, i: t.nn.functional.embedding(i, x), (0,))


def gather_elements(d):
    m, n = d.matrix()
    return Case("GatherElements", shape_of(m, n), [d.floats(m, n), d.indices(n, m, n)], lambda t, x, i: t.gather(x, 1, i), axis=1)


def scatter_elements(d):
    m, n = d.one(64, 512), d.one(256, 1024)
    places = np.stack([d.numbers.permutation(n) for _ in range(m)]).astype(np.int64)
    return Case("ScatterElements", shape_of(m, n), [d.floats(m, n), places, d.floats(m, n)],
                lambda t, x, i, u: t.scatter(x, 1, i, u), (1,), axis=1)


def top_k(d):
    rows, count, k = d.one((1, 8400, 300), (8, 32000, 50), (1, 1000, 5), (1024, 128, 8), (64, 1000, 10), (1, 65536, 100))
    return Case("TopK", f"{k} of {shape_of(rows, count)}", [d.numbers.permutation(rows * count).reshape(rows, count).astype(np.float32),
                                                            whole(k)],
                lambda t, x, _: t.topk(x, k), (1,), outputs=2, narrow=False)


def arg_max(d):
    shape, axis = d.one(((1, 21, 256, 256), 1), ((64, 1000), 1), ((1, 19, 512, 512), 1), ((1, 128256), 1))
    values = d.numbers.permutation(math.prod(shape)).reshape(shape).astype(np.float32)
    return Case("ArgMax", f"{shape_of(*shape)} along {axis}", [values], lambda t, x: t.argmax(x, axis, True), axis=axis, narrow=False)


def reduce(d):
    op, peer = d.one(("ReduceMean", "mean"), ("ReduceSum", "sum"), ("ReduceMax", "amax"))
    shape, axes = d.one(((512, 768), (1,)), ((1024, 1024), (0, 1)), ((1, 256, 56, 56), (2, 3)), ((1, 64, 112, 112), (1,)), ((64, 4096), (0,)),
                        ((16, 16384), (1,)))
    return Case(op, f"{shape_of(*shape)} along {shape_of(*axes)}", [d.floats(*shape), whole(*axes)],
                lambda t, x, _: getattr(t, peer)(x, axes, True), (1,))


def cumulative(d):
    m, n = d.one((512, 4096), (1, 65536), (16384, 64), (64, 1000), (8, 128256))
    return Case("CumSum", shape_of(m, n), [d.floats(m, n), np.array(1, np.int64)], lambda t, x, _: t.cumsum(x, 1), (1,), narrow=False)


def resize(d):
    n, c, h, w = d.image()
    mode, peer = d.one(("nearest", "nearest"), ("linear", "bilinear"), ("cubic", "bicubic"))
    by = d.one(2, 4) if h < 80 else 2
    where_to = "asymmetric" if mode == "nearest" else "half_pixel"
    rest = {} if mode == "nearest" else {"align_corners": False}
    return Case("Resize", f"{mode} {shape_of(n, c, h, w)} by {by}",
                [d.floats(n, c, h, w), None, np.array([1, 1, by, by], np.float32)],
                lambda t, x, *_: t.nn.functional.interpolate(x, scale_factor=by, mode=peer, **rest), (2,), True, mode=mode,
                coordinate_transformation_mode=where_to, nearest_mode="floor")


def grid_sample(d):
    n, c, h, w = d.image()
    grid = d.numbers.uniform(-1, 1, (n, h, w, 2)).astype(np.float32)
    return Case("GridSample", shape_of(n, c, h, w), [d.floats(n, c, h, w), grid],
                lambda t, x, g: t.nn.functional.grid_sample(x, g, align_corners=False), mode="linear")


def max_pool(d):
    n, c, h, w = d.image()
    size, step = d.one((2, 2), (3, 2), (5, 1))
    by = size // 2 if size % 2 else 0
    return Case("MaxPool", f"{size}x{size}/{step} {shape_of(n, c, h, w)}", [d.floats(n, c, h, w)],
                lambda t, x: t.nn.functional.max_pool2d(x, size, step, by), image=True, kernel_shape=[size] * 2, strides=[step] * 2,
                pads=[by] * 4)


def average_pool(d):
    n, c, h, w = d.image()
    size, step = d.one((2, 2), (3, 1), (7, 7))
    return Case("AveragePool", f"{size}x{size}/{step} {shape_of(n, c, h, w)}", [d.floats(n, c, h, w)],
                lambda t, x: t.nn.functional.avg_pool2d(x, size, step), image=True, kernel_shape=[size] * 2, strides=[step] * 2)


def global_pool(d):
    n, c, h, w = d.image()
    return Case("GlobalAveragePool", shape_of(n, c, h, w), [d.floats(n, c, h, w)],
                lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 1), image=True)


def convolution(d):
    n, c, h, w = d.image()
    size, step, group = d.one((1, 1, 1), (3, 1, 1), (3, 2, 1), (3, 1, c), (5, 1, c), (3, 1, 4))
    outputs = c if group == c else d.one(c, 2 * c, 64)
    return Case("Conv", f"{size}x{size}/{step} {shape_of(n, c, h, w)} to {outputs}, {group} groups",
                [d.floats(n, c, h, w), d.floats(outputs, c // group, size, size) / math.sqrt(size * size * c / group), d.floats(outputs)],
                lambda t, x, k, b: t.nn.functional.conv2d(x, k, b, step, size // 2, 1, group), (1, 2), True, group=group,
                strides=[step] * 2, pads=[size // 2] * 4)


def deconvolution(d):
    n, c, h, w = d.image()
    size, by = d.one((2, 0), (4, 1))
    return Case("ConvTranspose", f"{size}x{size}/2 {shape_of(n, c, h, w)}",
                [d.floats(n, c, h, w), d.floats(c, c // 2, size, size) / math.sqrt(c)],
                lambda t, x, k: t.nn.functional.conv_transpose2d(x, k, None, 2, by), (1,), True, strides=[2, 2], pads=[by] * 4)


def product(d):
    shapes = d.one(((1, 768), (768, 3072)), ((512, 768), (768, 768)), ((12, 197, 64), (12, 64, 197)), ((16, 128, 128), (16, 128, 64)),
                   ((64, 1000), (1000, 400)), ((2048, 1024), (1024, 1024)))
    constants = (1,) if len(shapes[1]) == 2 else ()
    return Case("MatMul", f"{shape_of(*shapes[0])} by {shape_of(*shapes[1])}",
                [d.floats(*shapes[0]), d.floats(*shapes[1]) / math.sqrt(shapes[1][-2])], lambda t, a, b: a @ b, constants)


def einsum(d):
    equation, a, b = d.one(("bhqd,bhkd->bhqk", (1, 12, 197, 64), (1, 12, 197, 64)), ("bij,bjk->bik", (4, 128, 128), (4, 128, 128)),
                           ("bqhd,bkhd->bhqk", (2, 128, 8, 64), (2, 128, 8, 64)), ("nc,vc->nv", (256, 512), (1000, 512)))
    return Case("Einsum", equation, [d.floats(*a) / 8, d.floats(*b)], lambda t, x, y: t.einsum(equation, x, y), equation=equation)


def attention(d):
    heads, queries, keys, size = d.one((12, 197, 197, 64), (12, 512, 512, 64), (16, 1, 1024, 64), (8, 1024, 1024, 40), (32, 128, 128, 128))
    return Case("Attention", f"{heads} heads, {queries} of {keys}, {size}",
                [d.floats(1, heads, queries, size), d.floats(1, heads, keys, size), d.floats(1, heads, keys, size)],
                lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v), opset=23)


def transform(d):
    m, n = d.one((256, 512), (64, 1024), (80, 400), (1000, 128))
    return Case("DFT", shape_of(m, n), [d.floats(m, n, 1), whole(n)[0], whole(1)[0]],
                lambda t, x, *_: t.view_as_real(t.fft.fft(x[..., 0])), (1, 2), narrow=False)


def depth_to_space(d):
    n, c, h, w = d.image()
    return Case("DepthToSpace", shape_of(n, c, h, w), [d.floats(n, c, h, w)], lambda t, x: t.nn.functional.pixel_shuffle(x, 2),
                blocksize=2, mode="CRD")


def recurrent(d):
    op, gates = d.one(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    steps, batch, size = d.one(16, 64), d.one(1, 4), d.one(128, 256)
    layers = []  # PyTorch's, made by the first call
    weights = [d.floats(1, gates * size, size) / 16, d.floats(1, gates * size, size) / 16, d.floats(1, 2 * gates * size) / 16]

    def peer(t, x, w, r, b):
        order = {4: (0, 2, 3, 1), 3: (1, 0, 2), 1: (0,)}[gates]  # of PyTorch's gates in ONNX's

        def turned(a):
            return t.cat([a.chunk(gates)[k] for k in order])

        if not layers:
            layer = getattr(t.nn, op)(size, size).to(x.device, x.dtype).eval()
            parts = [turned(w[0]), turned(r[0]), turned(b[0, :gates * size]), turned(b[0, gates * size:])]
            for parameter, part in zip(layer.parameters(), parts):
                parameter.data.copy_(part)
            layer.flatten_parameters()
            layers.append(layer)
        return layers[0](x)[0].unsqueeze(1)

    more = {"linear_before_reset": 1} if op == "GRU" else {}
    return Case(op, f"{steps} steps, batch {batch}, {size}", [d.floats(steps, batch, size), *weights], peer, (1, 2, 3),
                hidden_size=size, **more)


def roi_align(d):
    count, size, channels = d.one(100, 300, 1000), d.one(7, 14), d.one(64, 256)
    corners = d.numbers.uniform(0, 600, (count, 2))
    boxes = np.concatenate([corners, corners + d.numbers.uniform(20, 190, (count, 2))], 1).astype(np.float32)

    def peer(t, x, b, i):
        import torchvision

        return torchvision.ops.roi_align(x, t.cat([i[:, None].to(b.dtype), b], 1), size, 0.0625, 2, True)

    return Case("RoiAlign", f"{count} of {channels}x50x50 to {size}", [d.floats(1, channels, 50, 50), boxes, np.zeros(count, np.int64)], peer,
                (2,), output_height=size, output_width=size, spatial_scale=0.0625, sampling_ratio=2, narrow=False)


def deformable(d):
    c, side = d.one(32, 64, 128), d.one(14, 28, 40)

    def peer(t, x, k, o):
        import torchvision

        return torchvision.ops.deform_conv2d(x, o, k, padding=1)

    return Case("DeformConv", f"{c}x{side}x{side}",
                [d.floats(1, c, side, side), d.floats(c, c, 3, 3) / math.sqrt(9 * c), d.floats(1, 18, side, side)], peer, (1,), pads=[1] * 4,
                narrow=False)


def lrn(d):
    n, c, h, w = d.image()
    return Case("LRN", shape_of(n, c, h, w), [d.floats(n, c, h, w)], lambda t, x: t.nn.functional.local_response_norm(x, 5), size=5)


def col2im(d):
    c, side = d.one(16, 64), d.one(28, 56)
    return Case("Col2Im", f"{c}x{side}x{side}", [d.floats(1, c * 9, side * side), whole(side, side), whole(3, 3)],
                lambda t, x, *_: t.nn.functional.fold(x, (side, side), 3, padding=1), (1, 2), pads=[1] * 4)


def cast(d):
    count = d.one(65536, 1 << 20)
    return Case("Cast", f"{count} to f16", [d.floats(count)], lambda t, x: x.to(t.float16), to=onnx.TensorProto.FLOAT16, narrow=False)


def compare(d):
    m, n = d.matrix()
    return Case("Greater", shape_of(m, n), [d.floats(m, n), d.floats(n)], lambda t, x, y: x > y)


FAMILIES = (softmax, log_softmax, layer_norm, rms_norm, group_norm, instance_norm, batch_norm, function, add, where, transpose, concat, cut,
            pad, expand, tile, gather, gather_elements, scatter_elements, top_k, arg_max, reduce, cumulative, resize, grid_sample, max_pool,
            average_pool, global_pool, convolution, deconvolution, product, einsum, attention, transform, depth_to_space, recurrent, roi_align,
            deformable, lrn, col2im, cast, compare)


def draw(seed, count):
    """Each family once, in an order of chance, before any comes twice. A case depends on the seed and its number alone."""
    cases, names = [], []
    order = random.Random(seed)
    for number in range(count):
        names = names or order.sample(FAMILIES, len(FAMILIES))
        d = Draw(seed * 1000 + number)
        case = names.pop()(d)
        case.is_last = case.image and d.one(True, False)
        if case.narrow and d.one(True, False):
            case.inputs = [x.astype(np.float16) if x is not None and x.dtype == np.float32 and not (case.op == "Resize" and k == 2) else x
                           for k, x in enumerate(case.inputs)]
        cases.append(case)
    return cases
