"""A random valid ONNX graph. Every value is known: ONNX Runtime runs each node when it is drawn.

A node that ONNX Runtime refuses is not taken. Neither is a node whose result depends on rounding: a step function
near its step, an argument of a maximum with two near values, and so on. So two correct engines agree within the
tolerance of graphs.py, and a reduced graph can turn any value into an input.
"""
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OPSETS, ML_OPSET, IR_VERSION = (21, 24), 3, 10  # ONNX Runtime lacks some kernels of either version
F32, F64, F16 = np.float32, np.float64, np.float16
I8, I16, I32, I64 = np.int8, np.int16, np.int32, np.int64
U8, U16, U32, BOOL, STR = np.uint8, np.uint16, np.uint32, np.bool_, np.object_
FLOATS, INTS = (F32, F64), (I32, I64, U8, I8)
ANY = (F32, F32, F32, F64, I32, I64, U8, BOOL)
VALUE_TYPES = {F32, F64, F16, I8, I16, I32, I64, U8, U16, U32, BOOL, STR}

onnxruntime.set_default_logger_severity(4)


class Refused(Exception):
    """What is drawn does not fit: another node is drawn."""


def tensor_type(value):
    return TensorProto.STRING if value.dtype == object else helper.np_dtype_to_tensor_dtype(value.dtype)


def describe(name, value, dims=None):
    return helper.make_tensor_value_info(name, tensor_type(value), list(value.shape) if dims is None else dims)


def model_of(opset, nodes, inputs, outputs, constants, values, dims=None):
    """inputs, outputs, constants: names in `values`. dims: open extents of inputs."""
    dims = dims or {}
    graph = helper.make_graph(
        nodes, "graph", [describe(n, values[n], dims.get(n)) for n in inputs],
        [onnx.ValueInfoProto(name=n) if n not in values else helper.make_tensor_value_info(n, tensor_type(values[n]), None)
         for n in outputs],
        [numpy_helper.from_array(np.asarray(values[n]), n) for n in constants])
    return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", ML_OPSET)])


def run_onnxruntime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    # ONNX Runtime's i64 is NumPy's longlong, which is another type object than int64.
    return [r.astype(np.int64, copy=False).view(np.int64) if isinstance(r, np.ndarray) and r.dtype.str == "<i8" else r
            for r in session.run(None, feeds)]


def reads_of(node):
    """Values of the outer graph that a node reads, in its bodies too."""
    names = [n for n in node.input if n]
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            body = attribute.g
            own = {o for m in body.node for o in m.output} | {i.name for i in body.input}
            own |= {i.name for i in body.initializer}
            names += [n for m in body.node for n in reads_of(m) if n not in own]
            names += [o.name for o in body.output if o.name not in own]
    return list(dict.fromkeys(names))


# The data decide extents of the outputs of these.
FINDS_EXTENTS = ("Compress", "NonZero", "Unique", "NonMaxSuppression", "StringSplit", "Loop", "If")


class Graph:
    def __init__(self, seed, settings, operators):
        self.random = np.random.default_rng(seed)
        self.settings = settings
        self.values, self.exact, self.nodes, self.found = {}, {}, [], set()
        self.inputs, self.constants, self.dims = [], [], {}
        self.counter = 0
        self.opset = self.pick(OPSETS)
        self.extents = [int(d) for d in self.random.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17], 4)]
        if self.chance(settings.zero):
            self.extents[0] = 0
        self.is_open = self.chance(settings.open)
        for _ in range(3):
            self.leaf(self.pick((F32, F32, F32, F64, I64, I32, BOOL)), self.shape())
        wanted = int(self.random.integers(settings.least, settings.most + 1))
        for _ in range(6 * wanted):
            if len(self.nodes) >= wanted:
                break
            try:
                self.pick(operators)(self)
            except (Refused, IndexError, ValueError):
                pass
        self.finish()

    # ---- Choice ----

    def pick(self, items):
        if len(items) == 0:
            raise Refused
        return items[int(self.random.integers(len(items)))]

    def chance(self, probability):
        return self.random.random() < probability

    def number(self, least, most):
        return int(self.random.integers(least, most + 1))

    def need(self, condition):
        if not condition:
            raise Refused

    def shape(self, rank=None):
        rank = int(self.random.choice(6, p=[.05, .15, .25, .3, .2, .05])) if rank is None else rank
        return tuple(self.pick(self.extents) for _ in range(rank))

    def axis(self, value, negative=True):
        rank = value.ndim
        self.need(rank > 0)
        return self.number(-rank if negative else 0, rank - 1)

    # ---- Leaves ----

    def data(self, dtype, shape):
        if dtype in (F32, F64, F16):
            is_grid = self.chance(.5)
            grid = self.random.integers(-32, 33, shape) / 8
            return np.asarray(grid if is_grid else self.random.standard_normal(shape), dtype)
        if dtype == BOOL:
            return np.asarray(self.random.random(shape) < .5)
        if dtype == STR:
            words = np.array(["", "a", "bc", "a b", "Zz", "1.5", "é"], object)
            return np.asarray(words[self.random.integers(0, len(words), shape)], object)
        return np.asarray(self.random.integers(0 if dtype in (U8, U16, U32) else -4, 5, shape), dtype)

    def name(self):
        self.counter += 1
        return f"t{self.counter}"

    def keep(self, value, is_constant):
        name = self.name()
        self.values[name] = np.asarray(value)
        self.exact[name] = True
        (self.constants if is_constant else self.inputs).append(name)
        return name

    def leaf(self, dtype, shape, is_constant=None):
        is_constant = self.chance(self.settings.constants) if is_constant is None else is_constant
        return self.keep(self.data(dtype, shape), is_constant)

    def weight(self, *shape, dtype=F32):
        return self.leaf(dtype, tuple(int(d) for d in shape), self.chance(.85))

    def given(self, value, dtype=None, as_input=0.0):
        """A number that an operator takes: a constant, sometimes an input."""
        return self.keep(np.asarray(value, dtype), not self.chance(as_input))

    # ---- Values ----

    def some(self, types=(F32,), rank=None, test=None, most=20000):
        low, high = (0, 6) if rank is None else (rank, rank) if isinstance(rank, int) else rank
        fits = lambda v: v.dtype.type in types and low <= v.ndim <= high and v.size <= most and (test is None or test(v))
        names = [n for n, v in self.values.items() if fits(v)]
        if names and self.chance(.9):
            return self.pick(names[-8:] if self.chance(.6) else names)
        for _ in range(4):
            data = self.data(self.pick(types), self.shape(self.number(low, max(low, min(high, 4)))))
            if fits(data):
                return self.keep(data, self.chance(self.settings.constants))
        raise Refused

    def mate(self, name, dtype=None):
        """A value that broadcasts with another one."""
        value = self.values[name]
        dtype = dtype or value.dtype.type
        names = []
        for other, v in self.values.items():
            if v.dtype.type == dtype:
                try:
                    if np.prod(np.broadcast_shapes(value.shape, v.shape), dtype=float) <= 20000:
                        names.append(other)
                except ValueError:
                    pass
        if names and self.chance(.7):
            return self.pick(names)
        shape = [d if self.chance(.7) else 1 for d in value.shape]
        return self.leaf(dtype, tuple(shape[self.number(0, len(shape)):] if self.chance(.3) else shape))

    def v(self, name):
        return self.values[name]

    # ---- Margins ----

    def is_apart(self, name, limits):
        """No element is near a limit of a step function, unless elements are exact."""
        value = self.values[name]
        if self.exact[name] or value.size == 0:
            return True
        return all(np.abs(value - limit).min() > 1e-3 for limit in np.atleast_1d(limits))

    def is_off_steps(self, name, scale=1.0):
        """No element is near a whole number or a half."""
        value = self.values[name].astype(F64) * scale
        return self.exact[name] or value.size == 0 or bool((np.abs(value * 2 - np.round(value * 2)) > 4e-3).all())

    def is_ordered(self, name, axis=None):
        """No two elements along an axis are near."""
        value = self.values[name].astype(F64)
        order = np.sort(value.ravel() if axis is None else value, axis=-1 if axis is None else axis)
        gaps = np.diff(order, axis=-1 if axis is None else axis)
        return bool(gaps.size == 0 or gaps.min() > 1e-3 or (self.exact[name] and gaps.min() > 0))

    # ---- Nodes ----

    def node(self, op, inputs, outputs, **attributes):
        attributes = {k: a for k, a in attributes.items() if a is not None and not (isinstance(a, list) and not a)}
        name = "" if self.chance(.1) else f"{op}_{len(self.nodes)}_{self.counter}"
        return helper.make_node(op, inputs, outputs, name=name, **attributes)

    def add(self, op, inputs, outputs=1, exact=False, bound=300.0, **attributes):
        """One node. outputs: how many, or a flag for each. Returns the first output's name, or all names."""
        flags = [1] * outputs if isinstance(outputs, int) else outputs
        names = [self.name() if flag else "" for flag in flags]
        self.take([self.node(op, inputs, names, **attributes)], [n for n in names if n], exact, bound)
        return names[0] if len(names) == 1 else names

    def take(self, nodes, names, exact=False, bound=300.0):
        """Nodes that belong together; `names` are the outputs that others may read: tensors."""
        own = {o for n in nodes for o in n.output}
        reads = list(dict.fromkeys(n for node in nodes for n in reads_of(node) if n not in own))
        model = model_of(self.opset, nodes, reads, names, [], {n: self.values[n] for n in reads})
        try:
            results = run_onnxruntime(model, {n: self.values[n] for n in reads})
        except Exception as error:
            self.settings.refusals[nodes[-1].op_type] = str(error)[:200]
            raise Refused from error
        for result in results:
            self.check_result(result, bound)
        self.nodes += nodes
        if any(n.op_type in FINDS_EXTENTS for n in nodes) or not self.found.isdisjoint(reads):
            self.found.update(names)
        for name, result in zip(names, results):
            self.values[name] = result
            self.exact[name] = result.dtype.kind not in "f" or (
                exact and all(self.exact[r] for r in reads) and (result.size == 0 or bool(np.abs(result).max() < 1024)))

    def check_result(self, result, bound):
        self.need(isinstance(result, np.ndarray) and result.size <= 60000 and result.dtype.type in VALUE_TYPES)
        if result.size and result.dtype.kind == "f":
            self.need(np.isfinite(result).all() and np.abs(result).max() <= bound)
        if result.size and result.dtype.kind in "iu":
            self.need(int(np.abs(result.astype(I64)).max()) <= 2**40)

    # ---- The end ----

    def finish(self):
        read = {n for node in self.nodes for n in reads_of(node)}
        made = [o for node in self.nodes for o in node.output if o in self.values]
        self.outputs = [n for n in made if n not in read]
        inner = [n for n in made if n in read]
        if inner and self.chance(.5):
            self.outputs += [self.pick(inner) for _ in range(2)]
        self.outputs = list(dict.fromkeys(self.outputs))
        self.inputs = [n for n in self.inputs if n in read]
        self.constants = [n for n in self.constants if n in read]
        if self.is_open:
            self.open_extents()

    def open_extents(self):
        # Shape values keep their extents, which are ranks, and so do indices of entries. Weights keep theirs too.
        fixed = {i for node in self.nodes for i in node.input[1:]
                 if node.op_type in ("Conv", "ConvTranspose", "DeformConv", "GridSample", "AffineGrid", "GatherND", "ScatterND")}
        for name in self.inputs:
            value = self.values[name]
            if name in fixed or value.dtype == object or (value.ndim == 1 and value.dtype in (I64, I32)):
                continue
            self.dims[name] = [d if d == 0 or self.chance(.6) else f"n{d}" if self.chance(.7) else f"{name}_{k}"
                               for k, d in enumerate(value.shape)]
