"""ONNX networks in PyTorch, every float in one type: what the same network gives in f64, and what PyTorch makes of it in f16.

Weights and activations are in the type that is asked for, as model.to(dtype) has them; integers and booleans as they are, and what
follows from constants and shapes alone, as an exporter has computed it. Only the operators of the networks that the GPU's tests run.
Nothing here is for speed.
"""
import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

NUMPY = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64}


class Machine:
    """Where and in which type floats are."""

    def __init__(self, device, dtype, opset):
        self.device = device
        self.dtype = dtype
        self.opset = opset

    def take(self, array):
        return torch.from_numpy(np.array(array)).to(self.device)

    def narrow(self, x):
        return x.to(self.dtype) if x is not None and x.is_floating_point() else x

    def cast(self, x, to):
        return x.to(torch.from_numpy(np.zeros(1, NUMPY[to])).dtype)


def ints(x):
    return [] if x is None else [int(v) for v in x.reshape(-1).tolist()]


def axes_of(inputs, a, at=1):
    given = inputs[at] if len(inputs) > at and inputs[at] is not None else None
    return ints(given) if given is not None else list(a.get("axes", []))


# ---- Windows ----


def window_of(a, rank, extents, kernel, strides, dilations):
    """Padding before and after each axis."""
    auto = a.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pads = []
        for n, k, s, d in zip(extents, kernel, strides, dilations):
            whole = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
            small, large = whole // 2, whole - whole // 2
            pads.append((small, large) if auto == "SAME_UPPER" else (large, small))
        return pads
    flat = a.get("pads", [0] * (2 * rank))
    return [(flat[k], flat[k + rank]) for k in range(rank)]


def pad(x, pads, value=0.0):
    flat = [n for before, after in reversed(pads) for n in (before, after)]
    return F.pad(x, flat, value=value) if any(flat) else x


def conv(m, i, a):
    x, w, b = (list(i) + [None])[:3]
    rank = x.dim() - 2
    strides = a.get("strides", [1] * rank)
    dilations = a.get("dilations", [1] * rank)
    x = pad(x, window_of(a, rank, x.shape[2:], w.shape[2:], strides, dilations))
    run = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    return run(x, w, b, strides, 0, dilations, a.get("group", 1))


def conv_transpose(m, i, a):
    x, w, b = (list(i) + [None])[:3]
    rank = x.dim() - 2
    strides = a.get("strides", [1] * rank)
    dilations = a.get("dilations", [1] * rank)
    run = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
    more = a.get("output_padding", [0] * rank)
    pads = window_of(a, rank, x.shape[2:], w.shape[2:], strides, dilations)
    y = run(x, w, b, strides, 0, 0, a.get("group", 1), dilations)
    y = pad(y, [(0, n) for n in more]) if b is None else pad_bias(y, more, b)
    for axis, (before, after) in enumerate(pads):
        y = y.narrow(2 + axis, before, y.shape[2 + axis] - before - after)
    return y


def pad_bias(y, more, b):
    if not any(more):
        return y
    shape = [1, -1] + [1] * len(more)
    return pad(y - b.reshape(shape), [(0, n) for n in more]) + b.reshape(shape)


def pool(m, i, a, largest):
    x = i[0]
    rank = x.dim() - 2
    kernel = a["kernel_shape"]
    strides = a.get("strides", [1] * rank)
    pads = window_of(a, rank, x.shape[2:], kernel, strides, [1] * rank)
    up = bool(a.get("ceil_mode", 0))
    if largest:
        return (F.max_pool1d, F.max_pool2d)[rank - 1](pad(x, pads, float("-inf")), kernel, strides, ceil_mode=up)
    assert not up
    mean = (F.avg_pool1d, F.avg_pool2d)[rank - 1]
    y = mean(pad(x, pads), kernel, strides)
    if a.get("count_include_pad", 0) or not any(n for p in pads for n in p):
        return y
    return y / mean(pad(torch.ones_like(x), pads), kernel, strides)


def pads_of(m, i, a):
    x = i[0]
    flat = ints(i[1]) if len(i) > 1 and i[1] is not None else list(a["pads"])
    rank = x.dim()
    axes = ints(i[3]) if len(i) > 3 and i[3] is not None else range(rank)
    pads = [(0, 0)] * rank
    count = len(flat) // 2
    for k, axis in enumerate(axes):
        pads[axis] = (flat[k], flat[k + count])
    mode = a.get("mode", "constant")
    if mode == "constant":
        value = float(i[2]) if len(i) > 2 and i[2] is not None else a.get("value", 0.0)
        return pad(x, pads, value)
    assert mode == "reflect"
    for axis, (before, after) in enumerate(pads):
        n = x.shape[axis]
        places = list(range(before, 0, -1)) + list(range(n)) + list(range(n - 2, n - 2 - after, -1))
        x = x.index_select(axis, torch.tensor(places, device=x.device))
    return x


# ---- Recurrent layers ----


def recurrent(m, i, a, cell, gates):
    x, w, r = i[:3]
    b, _, first, second = (list(i[3:]) + [None] * 4)[:4]
    hidden = a["hidden_size"]
    directions = w.shape[0]
    assert a.get("layout", 0) == 0
    outputs, lasts, cells = [], [], []
    for d in range(directions):
        is_back = a.get("direction", "forward") == "reverse" or d == 1
        zero = torch.zeros(x.shape[1], hidden, device=x.device, dtype=x.dtype)
        h = zero if first is None else first[d]
        c = zero if second is None else second[d]
        wb = 0 if b is None else b[d][: gates * hidden]
        rb = torch.zeros(gates * hidden, device=x.device, dtype=x.dtype) if b is None else b[d][gates * hidden :]
        steps = []
        for t in reversed(range(x.shape[0])) if is_back else range(x.shape[0]):
            h, c = cell(x[t] @ w[d].t() + wb, h, c, r[d], rb, hidden, a)
            steps.append(h)
        outputs.append(torch.stack(steps[::-1] if is_back else steps))
        lasts.append(h)
        cells.append(c)
    y = torch.stack(outputs, 1)
    return [y, torch.stack(lasts), torch.stack(cells)][: 3 if gates == 4 else 2]


def lstm_cell(x, h, c, r, rb, n, a):
    g = x + h @ r.t() + rb
    i, o, f, k = (g[:, q * n : (q + 1) * n] for q in range(4))
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(k)
    return torch.sigmoid(o) * torch.tanh(c), c


def gru_cell(x, h, c, r, rb, n, a):
    z = torch.sigmoid(x[:, :n] + h @ r[:n].t() + rb[:n])
    q = torch.sigmoid(x[:, n : 2 * n] + h @ r[n : 2 * n].t() + rb[n : 2 * n])
    if a.get("linear_before_reset", 0):
        k = torch.tanh(x[:, 2 * n :] + q * (h @ r[2 * n :].t() + rb[2 * n :]))
    else:
        k = torch.tanh(x[:, 2 * n :] + (q * h) @ r[2 * n :].t() + rb[2 * n :])
    return (1 - z) * k + z * h, c


# ---- Moves ----


def reshape(m, i, a):
    shape = ints(i[1]) if len(i) > 1 else list(a["shape"])
    return i[0].reshape([i[0].shape[k] if n == 0 and not a.get("allowzero", 0) else n for k, n in enumerate(shape)])


def flatten(m, i, a):
    axis = a.get("axis", 1) % (i[0].dim() + 1)
    front = 1
    for extent in i[0].shape[:axis]:
        front *= extent
    return i[0].reshape(front, i[0].numel() // front if front else 0)


def slices(m, i, a):
    x = i[0]
    starts = ints(i[1]) if len(i) > 1 else list(a["starts"])
    ends = ints(i[2]) if len(i) > 2 else list(a["ends"])
    axes = ints(i[3]) if len(i) > 3 and i[3] is not None else list(a.get("axes", range(len(starts))))
    steps = ints(i[4]) if len(i) > 4 and i[4] is not None else [1] * len(starts)
    for begin, end, axis, step in zip(starts, ends, axes, steps):
        places = range(x.shape[axis])[slice(begin, end if step > 0 or end > -(1 << 31) else None, step)]
        x = x.index_select(axis, torch.tensor(list(places), dtype=torch.int64, device=x.device))
    return x


def gather(m, i, a):
    x, places = i
    axis = a.get("axis", 0) % x.dim()
    places = torch.where(places < 0, places + x.shape[axis], places)
    y = x.index_select(axis, places.reshape(-1))
    return y.reshape(list(x.shape[:axis]) + list(places.shape) + list(x.shape[axis + 1 :]))


def gather_elements(m, i, a):
    axis = a.get("axis", 0)
    return torch.gather(i[0], axis, torch.where(i[1] < 0, i[1] + i[0].shape[axis], i[1]))


def scatter_nd(m, i, a):
    x, places, values = i[0].clone(), i[1], i[2]
    x[tuple(places[..., k] for k in range(places.shape[-1]))] = values
    return x


def unsqueeze(m, i, a):
    axes = axes_of(i, a)
    x = i[0]
    for axis in sorted(n % (x.dim() + len(axes)) for n in axes):
        x = x.unsqueeze(axis)
    return x


def squeeze(m, i, a):
    x = i[0]
    axes = axes_of(i, a) or [k for k, n in enumerate(x.shape) if n == 1]
    return x.reshape([n for k, n in enumerate(x.shape) if k not in [q % x.dim() for q in axes]])


def split(m, i, a):
    axis = a.get("axis", 0)
    sizes = ints(i[1]) if len(i) > 1 and i[1] is not None else a.get("split")
    count = a["_outputs"]
    return list(torch.split(i[0], sizes or -(-i[0].shape[axis] // count), axis))


def resize(m, i, a):
    x = i[0]
    sizes = ints(i[3]) if len(i) > 3 else [int(n * s) for n, s in zip(x.shape, i[2].tolist())]
    assert a.get("mode", "nearest") == "nearest"
    return F.interpolate(x, sizes[2:], mode="nearest")


def reduce(run):
    def reduction(m, i, a):
        axes = axes_of(i, a) or list(range(i[0].dim()))
        return run(i[0], axes, bool(a.get("keepdims", 1)))

    return reduction


# ---- Arithmetic ----


def gemm(m, i, a):
    x = i[0].t() if a.get("transA", 0) else i[0]
    w = i[1].t() if a.get("transB", 0) else i[1]
    y = a.get("alpha", 1.0) * (x @ w)
    return y + a.get("beta", 1.0) * i[2] if len(i) > 2 else y


def layer_norm(m, i, a):
    x = i[0]
    axis = a.get("axis", -1) % x.dim()
    return F.layer_norm(x, x.shape[axis:], i[1], i[2] if len(i) > 2 else None, a.get("epsilon", 1e-5))


def batch_norm(m, i, a):
    return F.batch_norm(i[0], i[3], i[4], i[1], i[2], False, 0.0, a.get("epsilon", 1e-5))


def clip(m, i, a):
    low = float(i[1]) if len(i) > 1 and i[1] is not None else a.get("min", -np.inf)
    high = float(i[2]) if len(i) > 2 and i[2] is not None else a.get("max", np.inf)
    return torch.clamp(i[0], low, high)


def div(m, i, a):
    return i[0] / i[1] if i[0].is_floating_point() else torch.div(i[0], i[1], rounding_mode="trunc")


def power(m, i, a):
    return torch.pow(i[0], i[1].to(i[0].dtype))


def softmax(m, i, a):
    if m.opset >= 13:
        return torch.softmax(i[0], a.get("axis", -1))
    axis = a.get("axis", 1) % i[0].dim()  # from there on as one row
    return torch.softmax(i[0].flatten(axis), axis).reshape(i[0].shape)


def constant(m, i, a):
    return m.take(a["value"]) if "value" in a else m.take(np.array(a["value_int"] if "value_int" in a else a["value_float"]))


def constant_of_shape(m, i, a):
    value = a.get("value", np.zeros(1, np.float32))
    return m.take(np.full(ints(i[0]), value.reshape(-1)[0], value.dtype))


def arange(m, i, a):
    return torch.arange(int(i[0]), int(i[1]), int(i[2]), device=i[0].device)


def prelu(m, i, a):
    return torch.where(i[0] < 0, i[0] * i[1], i[0])


def both(run):
    return lambda m, i, a: run(i[0], i[1])


def one(run):
    return lambda m, i, a: run(i[0])


OPERATORS = {
    "Abs": one(torch.abs), "Add": both(torch.add), "AveragePool": lambda m, i, a: pool(m, i, a, False),
    "BatchNormalization": batch_norm, "Cast": lambda m, i, a: m.cast(i[0], a["to"]), "Clip": clip,
    "Concat": lambda m, i, a: torch.cat(i, a["axis"]), "Constant": constant, "ConstantOfShape": constant_of_shape,
    "Conv": conv, "ConvTranspose": conv_transpose, "Div": div, "Equal": both(torch.eq), "Erf": one(torch.erf),
    "Exp": one(torch.exp), "Expand": lambda m, i, a: i[0].expand(torch.broadcast_shapes(i[0].shape, ints(i[1]))),
    "Flatten": flatten,
    "GRU": lambda m, i, a: recurrent(m, i, a, gru_cell, 3), "Gather": gather, "GatherElements": gather_elements,
    "Gelu": lambda m, i, a: F.gelu(i[0], **({"approximate": "tanh"} if a.get("approximate") == "tanh" else {})),
    "Gemm": gemm, "GlobalAveragePool": lambda m, i, a: i[0].mean(list(range(2, i[0].dim())), True),
    "Greater": both(torch.gt), "GreaterOrEqual": both(torch.ge),
    "HardSigmoid": lambda m, i, a: torch.clamp(a.get("alpha", 0.2) * i[0] + a.get("beta", 0.5), 0, 1),
    "HardSwish": one(F.hardswish), "Identity": one(lambda x: x), "IsNaN": one(torch.isnan),
    "LSTM": lambda m, i, a: recurrent(m, i, a, lstm_cell, 4), "LayerNormalization": layer_norm, "Less": both(torch.lt),
    "Log": one(torch.log), "MatMul": both(torch.matmul), "MaxPool": lambda m, i, a: pool(m, i, a, True),
    "Min": both(torch.minimum), "Mul": both(torch.mul), "Neg": one(torch.neg), "Not": one(torch.logical_not),
    "PRelu": prelu, "Pad": pads_of, "Pow": power, "Range": arange, "ReduceMax": reduce(torch.amax),
    "ReduceMean": reduce(torch.mean), "ReduceMin": reduce(torch.amin), "ReduceSum": reduce(torch.sum),
    "Relu": one(torch.relu), "Reshape": reshape, "Resize": resize, "ScatterND": scatter_nd,
    "Shape": lambda m, i, a: torch.tensor(list(i[0].shape), device=i[0].device)[slice(a.get("start", 0), a.get("end"))],
    "Sigmoid": one(torch.sigmoid), "Size": lambda m, i, a: torch.tensor(i[0].numel(), device=i[0].device),
    "Slice": slices, "Softmax": softmax, "Split": split, "Sqrt": one(torch.sqrt), "Squeeze": squeeze,
    "Sub": both(torch.sub), "Tanh": one(torch.tanh),
    "Transpose": lambda m, i, a: i[0].permute(a.get("perm", list(reversed(range(i[0].dim()))))),
    "Unsqueeze": unsqueeze, "Where": lambda m, i, a: torch.where(i[0], i[1], i[2]),
}


def attribute(value):
    kinds = {onnx.AttributeProto.TENSOR: lambda v: numpy_helper.to_array(v.t), onnx.AttributeProto.GRAPH: lambda v: v.g,
             onnx.AttributeProto.STRING: lambda v: v.s.decode()}
    return kinds.get(value.type, onnx.helper.get_attribute_value)(value)


def run_graph(m, graph, values, fixed):
    """The graph's outputs; names of graphs around it are in `values`, and those of constants in `fixed` too."""
    for t in graph.initializer:
        values[t.name] = m.take(numpy_helper.to_array(t))
        fixed.add(t.name)
    for node in graph.node:
        a = {v.name: attribute(v) for v in node.attribute}
        a["_outputs"] = len(node.output)
        is_fixed = node.op_type in ("Shape", "Size") or all(name in fixed for name in node.input if name)
        inputs = [values[name] if name else None for name in node.input]
        if node.op_type == "If":
            branch = a["then_branch"] if bool(inputs[0]) else a["else_branch"]
            made = run_graph(m, branch, dict(values), set(fixed))
            is_fixed = False
        else:
            made = OPERATORS[node.op_type](m, inputs if is_fixed else [m.narrow(x) for x in inputs], a)
        made = made if isinstance(made, (list, tuple)) else [made]
        for name, value in zip(node.output, made):
            values[name] = value if is_fixed else m.narrow(value)
        fixed.update(node.output if is_fixed else [])
    return [values[v.name] for v in graph.output]


def missing(model):
    """Operators that are not here."""

    def walk(graph):
        for node in graph.node:
            yield node.op_type
            for value in node.attribute:
                yield from walk(value.g) if value.type == onnx.AttributeProto.GRAPH else ()

    return sorted({op for op in walk(model.graph)} - set(OPERATORS) - {"If"})


def run(model, inputs, device, dtype):
    """`inputs`: arrays in the order of the graph's inputs, initialisers apart. The outputs as f64 or integers."""
    m = Machine(device, dtype, max(v.version for v in model.opset_import if v.domain in ("", "ai.onnx")))
    given = {t.name for t in model.graph.initializer}
    names = [v.name for v in model.graph.input if v.name not in given]
    with torch.inference_mode():
        outputs = run_graph(m, model.graph, {name: m.take(x) for name, x in zip(names, inputs)}, set())
    return [y.double().cpu().numpy() if y.is_floating_point() else y.cpu().numpy() for y in outputs]
