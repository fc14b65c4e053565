"""Networks of one operator, made of the lines of the file `operators`, and a seeded draw of more such lines."""
import json
import math
import random
import zlib

import numpy as np
from onnx import ValueInfoProto, helper, numpy_helper

TYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i8": np.int8, "u8": np.uint8,
         "bool": np.bool_}


def number(text):
    return float(text) if "." in text else int(text)


def boxes(numbers, shape):
    corners = numbers.uniform(0, 600, (*shape[:-1], 2))
    return np.concatenate([corners, corners + numbers.uniform(10, 190, corners.shape)], -1)


NAMED_VALUES = {
    "positive": lambda numbers, shape: abs(numbers.standard_normal(shape)) + 0.01,
    "order": lambda _, shape: np.arange(math.prod(shape)).reshape(shape),
    "rows": lambda numbers, shape: numbers.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1),
    "sparse": lambda numbers, shape: np.floor(numbers.uniform(0, 1, shape) ** 20 * 1000),
    "hann": lambda _, shape: np.hanning(*shape),
    "boxes": boxes,
}


def values_of(numbers, dtype, shape, values):
    if values in NAMED_VALUES:
        return NAMED_VALUES[values](numbers, shape).astype(dtype)
    if dtype is np.bool_:
        return numbers.standard_normal(shape) > 0
    if not values and not issubclass(dtype, np.integer):
        return numbers.standard_normal(shape, dtype=np.float32).astype(dtype)
    low, high = (number(bound) for bound in (values or "0..99").replace("..", " ").split())
    if issubclass(dtype, np.integer):
        return numbers.integers(low, high + 1, shape).astype(dtype)
    return numbers.uniform(low, high, shape).astype(dtype)


def attribute_value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


class Case:
    """One line: `model`, and `inputs`, which has the arrays of a run by name. A line gives the same numbers everywhere."""

    def __init__(self, line):
        self.name, _, text = line.partition(": ")
        self.line = line
        self.numbers = np.random.default_rng(zlib.crc32(text.encode()))
        operator, *words = text.split()
        self.operator, _, opset = operator.partition("/")
        names, self.inputs, constants, attributes = [], {}, [], {}
        for word in words:
            name = f"x{len(names)}"
            if word == "_":
                names.append("")
            elif word[:2] == "c:":
                names.append(name)
                constants.append(numpy_helper.from_array(self.array(word[2:]), name))
            elif word[:2] == "x:":
                names.append(name)
                self.inputs[name] = self.array(word[2:])
            else:
                key, _, value = word.partition("=")
                attributes[key] = attribute_value(value)
        outputs = [ValueInfoProto(name=f"y{k}") for k in range(attributes.pop("outputs", 1))]
        node = helper.make_node(self.operator, names, [y.name for y in outputs], **attributes)
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in self.inputs.items()]
        self.model = helper.make_model(helper.make_graph([node], "operator", inputs, outputs, constants), ir_version=10,
                                       opset_imports=[helper.make_opsetid("", int(opset or 20))])

    def array(self, text):
        if "=" in text:
            dtype, _, value = text.partition("=")
            return np.array(json.loads(value), TYPES[dtype])
        dtype, extents, *values = text.split(":")
        shape = tuple(map(int, extents.split("x")))
        return values_of(self.numbers, TYPES[dtype], shape, values[0] if values else "")


def read(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and line[0] != "#"]


# ---- The draw: each function returns an operator, its inputs and its attributes ----


class Draw(random.Random):
    def extent(self, low, high):
        """Between both, with equal chances for each power of 2; every second one is odd or even by chance, the others multiples of 8."""
        extent = round(2 ** self.uniform(math.log2(low), math.log2(high)))
        return max(low, extent // 8 * 8) if self.random() < 0.5 else extent

    def shape(self, rank, elements=1 << 20):
        """Extents whose product is at most `elements` and, in most cases, at least a thousandth of it."""
        left, extents = self.extent(max(1, elements >> 10), elements), []
        for k in range(rank, 1, -1):
            extents.append(self.extent(1, max(1, round(left ** (1.6 / k)))))
            left = max(1, left // extents[-1])
        extents.append(left)
        self.shuffle(extents)
        return extents

    def image(self):
        """Batch, channels, height, width."""
        side = self.choice((5, 7, 10, 13, 14, 20, 28, 35, 40, 56, 75, 80, 112))
        return [self.choice((1, 1, 1, 2, 4)), self.extent(8, 512 if side < 30 else 96), side, side + self.choice((0, 0, 0, 3))]

    def float_type(self):
        return self.choice(("f32", "f32", "f32", "f32", "f64", "f16"))


def extents(*values):
    return "x".join(map(str, values))


def array(values):
    return json.dumps(list(values), separators=(",", ":"))


def draw_unary(d):
    operator = d.choice(("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Sqrt", "HardSwish", "Mish", "Gelu", "Softplus", "Sin", "Cos", "Round", "Neg",
                         "Abs", "Floor", "Reciprocal", "Log", "LeakyRelu", "Elu", "Softsign", "HardSigmoid", "Sign"))
    positive = ":positive" if operator in ("Sqrt", "Log", "Reciprocal") else ""
    return f"{operator} x:{'f32' if operator in ('HardSwish', 'Mish', 'Gelu', 'Erf') else d.float_type()}:{extents(*d.shape(3))}{positive}"


def draw_binary(d):
    operator = d.choice(("Add", "Sub", "Mul", "Div", "Max", "Min", "Greater", "Equal", "Where", "Pow", "PRelu"))
    shape = d.shape(3)
    other = [1 if d.random() < 0.4 else extent for extent in shape]
    dtype = d.choice(("f32", "f32", "f32", "f64", "i64", "i32")) if operator not in ("Pow", "PRelu") else "f32"
    values = ":1..9" if operator == "Div" and dtype[0] == "i" else ":positive" if operator == "Pow" else ""
    mask = f"x:bool:{extents(*shape)} " if operator == "Where" else ""
    return f"{operator} {mask}x:{dtype}:{extents(*shape)}{values} x:{dtype}:{extents(*other)}{values}"


def draw_cast(d):
    to = d.choice((1, 6, 7, 9, 10, 11))
    return f"Cast x:{d.choice(('f32', 'f64', 'f16', 'i64', 'i32', 'u8'))}:{extents(*d.shape(2))}:0..9 to={to}"


def draw_rows(d):
    operator = d.choice(("Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization/23", "Hardmax"))
    shape = d.shape(3)
    axis = d.choice((-1, -1, -1, 1))
    if "Norm" in operator:
        scale = f" c:f32:{extents(*shape[axis:])}"
        return f"{operator} x:f32:{extents(*shape)}{scale * (2 if operator[0] == 'L' else 1)} axis={axis}"
    return f"{operator} x:{d.choice(('f32', 'f32', 'f64'))}:{extents(*shape)} axis={axis}"


def draw_channel_norm(d):
    operator = d.choice(("InstanceNormalization", "GroupNormalization/21", "BatchNormalization", "LRN"))
    shape = d.image()
    if operator == "LRN":
        return f"LRN x:f32:{extents(*shape)} size={d.choice((3, 5))}"
    groups = d.choice((1, 4, 8))
    shape[1] = max(8, shape[1] // 8 * 8)
    scale = f" c:f32:{shape[1]}" * 2
    more = f" c:f32:{shape[1]} c:f32:{shape[1]}:positive" if operator[0] == "B" else f" num_groups={groups}" if operator[0] == "G" else ""
    return f"{operator} x:f32:{extents(*shape)}{scale}{more}"


def draw_reduction(d):
    operator = d.choice(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp", "ReduceProd", "ReduceSumSquare"))
    shape = d.shape(d.choice((2, 3, 4)))
    axes = sorted(d.sample(range(len(shape)), d.choice((1, 1, 2))))
    dtype = d.choice(("f32", "f32", "f32", "f64", "i32"))
    dtype = dtype if operator in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin") else "f32"
    return f"{operator} x:{dtype}:{extents(*shape)} c:i64={array(axes)} keepdims={d.choice((0, 1))}"


def draw_arg(d):
    shape = d.shape(3)
    return f"{d.choice(('ArgMax', 'ArgMin'))} x:{d.choice(('f32', 'f32', 'f64', 'i32'))}:{extents(*shape)} axis={d.choice((0, 1, 2))}"


def draw_top_k(d):
    rows, count = d.choice((1, 1, 8, 64, 300)), d.extent(20, 20000)
    return f"TopK x:{d.choice(('f32', 'f32', 'f64', 'i64'))}:{rows}x{count}:rows c:i64=[{d.extent(1, min(count, 300))}] " \
           f"largest={d.choice((0, 1))} outputs=2"


def draw_cumulative(d):
    shape = d.shape(3)
    return f"CumSum x:{d.choice(('f32', 'f32', 'f64', 'i32', 'i64'))}:{extents(*shape)} c:i64={d.choice((0, 1, 2))} " \
           f"exclusive={d.choice((0, 0, 1))} reverse={d.choice((0, 0, 1))}"


def draw_convolution(d):
    n, c, h, w = d.image()
    size, stride, dilation = d.choice(((1, 1, 1), (1, 1, 1), (3, 1, 1), (3, 2, 1), (3, 1, 2), (5, 1, 1), (7, 2, 1), (1, 2, 1)))
    group = d.choice((1, 1, 1, c, 4))
    if group == 4:
        c = max(8, c // 4 * 4)
    outputs = c if group == c else max(4, d.extent(8, 256) // 4 * 4)
    pads = array([size // 2 * dilation] * 4)
    return f"Conv x:f32:{extents(n, c, h, w)} c:f32:{outputs}x{c // group}x{size}x{size} c:f32:{outputs} group={group} " \
           f"strides={array([stride] * 2)} pads={pads} dilations={array([dilation] * 2)}"


def draw_convolution_1d(d):
    n, c, length, size = d.choice((1, 2)), d.extent(8, 384), d.extent(50, 2000), d.choice((1, 3, 5, 9))
    return f"Conv x:f32:{n}x{c}x{length} c:f32:{d.extent(8, 384)}x{c}x{size} pads={array([size // 2] * 2)} strides=[{d.choice((1, 1, 2))}]"


def draw_deconvolution(d):
    n, c, h, w = d.image()
    size, stride, pad = d.choice(((2, 2, 0), (4, 2, 1), (3, 2, 1), (3, 1, 1)))
    return f"ConvTranspose x:f32:{extents(n, c, h, w)} c:f32:{c}x{d.extent(4, 96)}x{size}x{size} strides={array([stride] * 2)} " \
           f"pads={array([pad] * 4)}"


def draw_pool(d):
    shape = d.image()
    operator = d.choice(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool"))
    if operator[0] == "G":
        return f"{operator} x:f32:{extents(*shape)}"
    size, stride = d.choice(((2, 2), (3, 2), (3, 1), (5, 1)))
    pads = array([size // 2 if size % 2 else 0] * 4)
    return f"{operator} x:f32:{extents(*shape)} kernel_shape={array([size] * 2)} strides={array([stride] * 2)} pads={pads}"


def draw_product(d):
    m, k, n = d.choice((1, 4, d.extent(8, 512))), d.extent(16, 1024), d.extent(16, 1024)
    batch = d.choice((0, 0, 0, 2, 12))
    if batch:
        return f"MatMul x:f32:{extents(batch, m, k // 4)} x:f32:{extents(batch, k // 4, n)}"
    if d.random() < 0.4:
        return f"Gemm x:f32:{m}x{k} c:f32:{n}x{k} c:f32:{n} transB=1"
    return f"MatMul x:{d.choice(('f32', 'f32', 'f32', 'f64'))}:{m}x{k} {d.choice('cx')}:f32:{k}x{n}".replace("f64", "f32")


def draw_einsum(d):
    b, h, q, k, e = d.choice((1, 2)), d.choice((1, 8)), d.extent(16, 256), d.extent(16, 256), d.choice((32, 64))
    equation, left, right = d.choice((("bhqd,bhkd->bhqk", (b, h, q, e), (b, h, k, e)), ("bqhd,bkhd->bhqk", (b, q, h, e), (b, k, h, e)),
                                      ("bij,bjk->bik", (b, q, e), (b, e, k)), ("ij,kj->ik", (q, e), (k, e)), ("bij,bij->bi", (b, q, k), (b, q, k))))
    return f"Einsum x:f32:{extents(*left)} x:f32:{extents(*right)} equation={equation}"


def draw_integer_product(d):
    m, k, n = d.choice((1, d.extent(8, 512))), d.extent(16, 1024), d.extent(16, 768)
    weights = f"c:i8:{k}x{n}:-127..127"
    if d.random() < 0.5:
        return f"MatMulInteger x:u8:{m}x{k}:0..255 {weights}"
    return f"QLinearMatMul x:u8:{m}x{k}:0..255 c:f32=0.02 c:u8=128 {weights} c:f32=0.01 c:i8=0 c:f32=0.5 c:u8=128"


def draw_integer_convolution(d):
    n, c, h, w = d.image()
    size, stride = d.choice(((1, 1), (3, 1), (3, 2), (5, 1)))
    group = d.choice((1, 1, c, 4))
    if group == 4:
        c = max(8, c // 4 * 4)
    outputs = c if group == c else max(4, d.extent(8, 192) // 4 * 4)
    weights = f"c:i8:{outputs}x{c // group}x{size}x{size}:-127..127"
    more = f"group={group} strides={array([stride] * 2)} pads={array([size // 2] * 4)}"
    if d.random() < 0.3:
        return f"ConvInteger x:u8:{extents(n, c, h, w)}:0..255 {weights} {more}"
    return f"QLinearConv x:u8:{extents(n, c, h, w)}:0..255 c:f32=0.02 c:u8=128 {weights} c:f32=0.01 c:i8=0 c:f32=0.5 c:u8=128 {more}"


def draw_quantise(d):
    shape = extents(*d.shape(2))
    return d.choice((f"QuantizeLinear x:f32:{shape} c:f32=0.02 c:u8=128", f"DequantizeLinear x:u8:{shape}:0..255 c:f32=0.02 c:u8=128",
                     f"DynamicQuantizeLinear x:f32:{shape} outputs=3", f"QuantizeLinear x:f32:{shape} c:f32=0.02 c:i8=0"))


def draw_transpose(d):
    shape = d.shape(d.choice((2, 3, 4)))
    return f"Transpose x:{d.choice(('f32', 'f32', 'u8', 'i64', 'f16'))}:{extents(*shape)} perm={array(d.sample(range(len(shape)), len(shape)))}"


def draw_concat(d):
    shape, axis = d.shape(3, 1 << 19), d.choice((0, 1, 2))
    parts = []
    for _ in range(d.choice((2, 3, 4))):
        shape[axis] = d.extent(1, max(2, shape[axis]))
        parts.append(f"x:f32:{extents(*shape)}")
    return f"Concat {' '.join(parts)} axis={axis}"


def draw_slice(d):
    shape, axis, step = d.shape(3), d.choice((0, 1, 2)), d.choice((1, 1, 2, -1))
    shape[axis] += 3
    begin, end = (1, shape[axis] - 1) if step > 0 else (shape[axis] - 1, 0)
    return f"Slice x:{d.choice(('f32', 'u8', 'i64'))}:{extents(*shape)} c:i64=[{begin}] c:i64=[{end}] c:i64=[{axis}] c:i64=[{step}]"


def draw_pad(d):
    shape, by = d.image(), d.choice((1, 2, 3))
    return f"Pad x:f32:{extents(*shape)} c:i64={array([0, 0, by, by, 0, 0, by, by])} mode={d.choice(('reflect', 'constant', 'edge'))}"


def draw_gather(d):
    rows, width, count = d.extent(10, 30000), d.extent(1, 768), d.extent(8, 2048)
    if d.random() < 0.3:
        return f"Gather x:f32:{max(1, width // 8)}x{rows} x:i64:{count}:0..{rows - 1} axis=1"
    return f"Gather {d.choice('xc')}:f32:{rows}x{width} x:{d.choice(('i64', 'i32'))}:{count}:0..{rows - 1}"


def draw_gather_elements(d):
    shape, axis = d.shape(d.choice((2, 3))), d.choice((0, 1))
    return f"GatherElements x:{d.choice(('f32', 'f32', 'i64', 'u8'))}:{extents(*shape)} " \
           f"x:{d.choice(('i64', 'i64', 'i32'))}:{extents(*shape)}:0..{shape[axis] - 1} axis={axis}"


def draw_gather_nd(d):
    rows, width, count = d.extent(4, 200), d.extent(1, 256), d.extent(8, 2048)
    return f"GatherND x:f32:{rows}x{rows}x{width} x:i64:{count}x2:0..{rows - 1}"


def draw_scatter(d):
    rows, width = d.extent(8, 1024), d.extent(8, 1024)
    return d.choice((f"ScatterElements x:f32:{rows}x{width} x:i64:{rows}x{width}:rows x:f32:{rows}x{width} axis=1",
                     f"ScatterND x:f32:{rows}x{width} x:i64:{max(1, rows // 2)}x1:order x:f32:{max(1, rows // 2)}x{width}"))


def draw_expand(d):
    shape = d.shape(3)
    source = [1 if d.random() < 0.5 else extent for extent in shape]
    repeats = [d.choice((1, 2, 3)) for _ in shape]
    return d.choice((f"Expand x:f32:{extents(*source)} c:i64={array(shape)}",
                     f"Tile x:f32:{extents(*d.shape(3, 1 << 17))} c:i64={array(repeats)}"))


def draw_blocks(d):
    n, c, h, w = d.image()
    return d.choice((f"DepthToSpace x:f32:{extents(n, c * 4, h, w)} blocksize=2 mode={d.choice(('DCR', 'CRD'))}",
                     f"SpaceToDepth x:f32:{extents(n, c, h * 2, w * 2)} blocksize=2"))


def draw_resize(d):
    n, c, h, w = d.image()
    c, mode = max(1, c // 4), d.choice(("nearest", "linear", "cubic"))
    by = d.choice((2, 2, 3, 0.5, 1.5))
    where = d.choice(("half_pixel", "asymmetric", "align_corners" if by in (2, 3) else "half_pixel"))  # see tests/graphs/differences
    return f"Resize x:f32:{extents(n, c, h, w)} _ c:f32={array([1, 1, by, by])} mode={mode} coordinate_transformation_mode={where}"


def draw_sample(d):
    n, c, h, w = d.image()
    return f"GridSample x:f32:{extents(n, c, h, w)} x:f32:{extents(n, h, w, 2)}:-1..1 mode={d.choice(('linear', 'nearest'))} " \
           f"padding_mode={d.choice(('zeros', 'border', 'reflection'))}"


def draw_regions(d):
    count, size, channels = d.extent(1, 500), d.choice((7, 14)), d.extent(8, 256)
    return f"RoiAlign x:f32:1x{channels}x50x50 x:f32:{count}x4:boxes c:i64:{count}:0..0 output_height={size} output_width={size} " \
           f"spatial_scale=0.0625 sampling_ratio=2"


def draw_recurrent(d):
    operator, gates = d.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    steps, batch, inputs, size = d.extent(4, 64), d.choice((1, 1, 4)), d.extent(16, 256), d.extent(16, 256)
    directions = d.choice((1, 2))
    weights = " ".join(f"c:f32:{directions}x{extents(*shape)}:-0.1..0.1"
                       for shape in ((gates * size, inputs), (gates * size, size), (2 * gates * size,)))
    return f"{operator} x:f32:{steps}x{batch}x{inputs} {weights} hidden_size={size} direction={('forward', 'bidirectional')[directions - 1]}"


def draw_attention(d):
    heads, queries, keys, size = d.choice((4, 12)), d.choice((1, d.extent(8, 256))), d.extent(16, 512), d.choice((32, 40, 64, 128))
    n = d.choice((1, 2))
    return f"Attention/23 x:f32:{extents(n, heads, queries, size)} x:f32:{extents(n, heads, keys, size)} x:f32:{extents(n, heads, keys, size)}"


def draw_select(d):
    rows, width = d.extent(64, 8192), d.extent(1, 128)
    return d.choice((f"NonZero x:f32:{rows}x{width}:sparse", f"Compress x:f32:{rows}x{width} x:bool:{rows} axis=0",
                     f"Unique x:f32:{rows * 4}:sparse", f"OneHot x:i64:{rows}:0..{width - 1} c:i64=[{width}] c:f32=[0,1]"))


def draw_transform(d):
    m, n = d.extent(4, 256), d.extent(32, 1024)
    return f"DFT x:f32:{m}x{n}x1 c:i64={n} c:i64=1 onesided={d.choice((0, 1))}"


FAMILIES = [function for name, function in sorted(globals().items()) if name.startswith("draw_")]


def draw(seed, count):
    """Lines of cases, each family once in random order before any is repeated. A line depends on the seed and its number alone."""
    order, families, lines = random.Random(seed), [], []
    for k in range(count):
        families = families or order.sample(FAMILIES, len(FAMILIES))
        lines.append(f"{seed}.{k}: {families.pop()(Draw(seed * 100003 + k))}")
    return lines
