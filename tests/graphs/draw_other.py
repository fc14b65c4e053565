"""Drawn nodes: control flow, sequences, optionals, windows and transforms, losses, classical machine learning."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from graph import ANY, BOOL, F32, I64, STR


def info(name, dtype=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def body_of(name, nodes, inputs, outputs, constants=()):
    return helper.make_graph(nodes, name, inputs, outputs,
                             [numpy_helper.from_array(np.asarray(v), n) for n, v in constants])


def outer(g, x):
    """Another value that a body reads: often a weight of the outer graph."""
    shape = g.v(x).shape
    return g.weight(*[d if g.chance(.7) else 1 for d in shape]) if g.chance(.7) else x


def branch(g, x, tag):
    y = f"{tag}{g.counter}"
    kind = g.pick(["unary", "constant", "outer", "concat", "reduce", "two"])
    if kind == "constant":
        nodes, constants = [helper.make_node("Mul", [x, y + "k"], [y])], [(y + "k", g.data(F32, ()))]
        return body_of(tag, nodes, [], [info(y)], constants)
    if kind == "outer":
        nodes = [helper.make_node("Add", [x, outer(g, x)], [y])]
    elif kind == "concat" and g.v(x).ndim > 0:
        nodes = [helper.make_node("Concat", [x, x], [y], axis=0)]
    elif kind == "reduce":
        nodes = [helper.make_node("ReduceMax" if g.v(x).size else "ReduceSum", [x], [y], keepdims=1)]
    elif kind == "two":
        nodes = [helper.make_node("Relu", [x], [y + "a"]), helper.make_node("Mul", [y + "a", outer(g, x)], [y])]
    else:
        nodes = [helper.make_node(g.pick(["Relu", "Neg", "Tanh", "Identity"]), [x], [y])]
    return body_of(tag, nodes, [], [info(y)])


def if_(g):
    condition = g.some((BOOL,), 0)
    x = g.some((F32,))
    g.add("If", [condition], then_branch=branch(g, x, "then"), else_branch=branch(g, x, "else"))


def loop(g):
    x = g.some((F32,), (0, 3), lambda v: v.size < 500)
    p = f"l{g.counter}"
    count, condition = g.given(g.pick([1, 2, 3]), I64, .5), g.given(True, BOOL, .5)
    other = outer(g, x)
    if np.broadcast_shapes(g.v(x).shape, g.v(other).shape) != g.v(x).shape:
        other = x
    nodes = [helper.make_node("Identity", [p + "c"], [p + "d"]),
             helper.make_node(g.pick(["Tanh", "Neg", "Relu", "Sigmoid"]), [p + "s"], [p + "a"]),
             helper.make_node("Add", [p + "a", other], [p + "t"]), helper.make_node("Mul", [p + "t", p + "a"], [p + "y"])]
    body = body_of("body", nodes, [info(p + "i", TensorProto.INT64, []), info(p + "c", TensorProto.BOOL, []), info(p + "s")],
                   [info(p + "d", TensorProto.BOOL), info(p + "t"), info(p + "y")])
    g.add("Loop", [count, condition, x], [1, g.chance(.7)], body=body)


def loop_of_a_list(g):
    """Rows are appended to a sequence and stacked."""
    x = g.some((F32,), (1, 3), lambda v: 0 < v.size < 500 and v.shape[0] <= 8)
    p = f"q{g.counter}"
    nodes = [helper.make_node("Identity", [p + "c"], [p + "d"]),
             helper.make_node("Gather", [x, p + "i"], [p + "r"], axis=0),
             helper.make_node("Tanh", [p + "r"], [p + "y"]),
             helper.make_node("SequenceInsert", [p + "s", p + "y"], [p + "t"])]
    sequence = lambda n: helper.make_tensor_sequence_value_info(n, TensorProto.FLOAT, None)
    body = body_of("body", nodes, [info(p + "i", TensorProto.INT64, []), info(p + "c", TensorProto.BOOL, []), sequence(p + "s")],
                   [info(p + "d", TensorProto.BOOL), sequence(p + "t")])
    y = g.name()
    g.take([g.node("SequenceEmpty", [], [p + "e"], dtype=TensorProto.FLOAT),
            g.node("Loop", [g.given(g.v(x).shape[0], I64), g.given(True, BOOL), p + "e"], [p + "l"], body=body),
            g.node("ConcatFromSequence", [p + "l"], [y], axis=0, new_axis=1)], [y])


def scan(g):
    x = g.some((F32,), (1, 4), lambda v: 0 < v.size < 800)
    p, shape = f"s{g.counter}", list(g.v(x).shape[1:])
    nodes = [helper.make_node("Add", [p + "s", p + "x"], [p + "a"]), helper.make_node("Tanh", [p + "a"], [p + "t"]),
             helper.make_node("Mul", [p + "t", p + "x"], [p + "y"])]
    body = body_of("body", nodes, [info(p + n, shape=shape) for n in "sx"], [info(p + n, shape=shape) for n in "ty"])
    g.add("Scan", [g.leaf(F32, tuple(shape)), x], 2, body=body, num_scan_inputs=1,
          scan_input_directions=g.pick([None, None, [1]]), scan_output_directions=g.pick([None, None, [1]]))


def sequence(g):
    x = g.some(ANY, (1, 4), lambda v: v.size > 0)
    p, y = f"z{g.counter}", g.name()
    mates = [n for n, v in g.values.items() if v.dtype == g.v(x).dtype and v.shape == g.v(x).shape]
    items = [x] + [g.pick(mates) for _ in range(g.number(1, 2))]
    nodes = [g.node("SequenceConstruct", items, [p + "a"])]
    kind = g.pick(["at", "insert", "erase", "length", "concat"])
    last = p + "a"
    if kind == "insert":
        nodes.append(g.node("SequenceInsert", [last, g.pick(mates), g.given(g.number(-1, 1), I64)], [p + "b"]))
        last = p + "b"
    elif kind == "erase":
        nodes.append(g.node("SequenceErase", [last, g.given(g.number(-1, 0), I64)], [p + "b"]))
        last = p + "b"
    if kind == "length":
        nodes.append(g.node("SequenceLength", [last], [y]))
    elif kind == "at":
        nodes.append(g.node("SequenceAt", [last, g.given(g.number(-1, 1), I64, .3)], [y]))
    else:
        new = int(g.chance(.5))
        nodes.append(g.node("ConcatFromSequence", [last], [y], axis=g.number(0, g.v(x).ndim - 1), new_axis=new))
    g.take(nodes, [y], True)


def split_to_sequence(g):
    x = g.some(ANY, (1, 4), lambda v: v.size > 0 and max(v.shape) >= 2)
    value = g.v(x)
    axis = g.pick([k for k, d in enumerate(value.shape) if d >= 2])
    p, y = f"p{g.counter}", g.name()
    first = g.number(1, value.shape[axis] - 1)
    parts = g.pick([g.given(2, I64), g.given([first, value.shape[axis] - first], I64)])
    nodes = [g.node("SplitToSequence", [x, parts], [p + "a"], axis=axis)]
    if g.chance(.5):
        nodes.append(g.node("ConcatFromSequence", [p + "a"], [y], axis=axis))
    else:
        nodes.append(g.node("SequenceAt", [p + "a", g.given(g.pick([0, -1]), I64)], [y]))
    g.take(nodes, [y], True)


def optional(g):
    x = g.some(ANY)
    p, y, z = f"o{g.counter}", g.name(), g.name()
    g.take([g.node("Optional", [x], [p + "a"]), g.node("OptionalHasElement", [p + "a"], [y]),
            g.node("OptionalGetElement", [p + "a"], [z])], [y, z], True)


def window(g):
    op = g.pick(["HannWindow", "HammingWindow", "BlackmanWindow"])
    g.add(op, [g.given(g.pick([4, 5, 9]), I64)], periodic=int(g.chance(.5)))


def transform(g):
    if g.chance(.4):
        length = g.pick([4, 6, 8])
        signal = g.leaf(F32, (g.number(1, 2), 16, 1), False)
        inputs = [signal, g.given(2, I64), g.weight(length) if g.chance(.5) else "", g.given(length, I64)]
        g.add("STFT", inputs, onesided=1)
    else:
        x = g.some((F32,), (2, 3), lambda v: 0 < v.size < 500)
        y = g.add("Unsqueeze", [x, g.given([-1], I64)], exact=True)
        g.add("DFT", [y, "", g.given(1, I64)], onesided=0)


def mel(g):
    g.add("MelWeightMatrix", [g.given(n, I64) for n in (4, 16, 8000)] + [g.given(F32(n)) for n in (100, 4000)])


def loss(g):
    batch, classes = g.number(1, 4), g.number(2, 5)
    inner = g.pick([(), (3,), (2, 2)])
    x = g.leaf(F32, (batch, classes) + inner, False)
    labels = g.given(g.random.integers(0, classes, (batch,) + inner), I64, .5)
    weights = [g.given(np.abs(g.data(F32, (classes,))) + F32(.5), F32)] if g.chance(.4) else []
    reduction = g.pick(["mean", "sum", "none"])
    if g.chance(.5):
        g.add("SoftmaxCrossEntropyLoss", [x, labels] + weights, reduction=reduction)
    else:
        scores = g.add("LogSoftmax", [x], axis=1)
        g.add("NegativeLogLikelihoodLoss", [scores, labels] + weights, reduction=reduction)


def suppression(g):
    count = g.number(3, 6)
    corners = g.random.random((1, count, 2))
    boxes = np.concatenate([corners, corners + .2 + g.random.random((1, count, 2))], 2)
    scores = g.random.permutation(count * 2).reshape(1, 2, count) / (count * 2)
    g.add("NonMaxSuppression", [g.given(boxes, F32, .7), g.given(scores, F32, .7), g.given([2], I64),
                                g.given([.5], F32), g.given([.1], F32)])


def dropout(g):
    g.add("Dropout", [g.some((F32,))] + ([g.given(F32(.5))] if g.chance(.5) else []), [1, g.chance(.3)], exact=True)


def split_texts(g):
    x = g.some((STR,), (0, 2), lambda v: (v != "").all())  # differences: StringSplit, empty text
    g.add("StringSplit", [x], 2, delimiter=" ")


def normalize_texts(g):
    case = g.pick(["NONE", "LOWER", "UPPER"])
    # differences: StringNormalizer, letters beyond ASCII
    x = g.some((STR,), 1, lambda v: v.size > 0 and (case == "NONE" or all(str(t).isascii() for t in v)))
    g.add("StringNormalizer", [x], case_change_action=case)


# ---- ai.onnx.ml ----

def ml(g, op, inputs, outputs=1, **attributes):
    return g.add(op, inputs, outputs, domain="ai.onnx.ml", **attributes)


def rows(g, least=1):
    return g.some((F32,), 2, lambda v: v.size > 0 and v.shape[1] >= least)


def features(g):
    x = rows(g)
    width = g.v(x).shape[1]
    kind = g.pick(["Scaler", "Normalizer", "Binarizer", "Imputer", "FeatureVectorizer", "ArrayFeatureExtractor"])
    if kind == "Scaler":
        ml(g, kind, [x], offset=[.5] * width, scale=[2.0] * width)
    elif kind == "Normalizer":
        g.need(np.abs(g.v(x)).max(1).min() > .1)
        ml(g, kind, [x], norm=g.pick(["L1", "L2"]))
    elif kind == "Binarizer":
        g.need(g.is_apart(x, .5))
        ml(g, kind, [x], threshold=.5)
    elif kind == "Imputer":
        ml(g, kind, [x], imputed_value_floats=[1.5] * width, replaced_value_float=-1.0 if g.exact[x] else 1e9)
    elif kind == "FeatureVectorizer":
        ml(g, kind, [x, x], inputdimensions=[width, width])
    else:
        ml(g, kind, [x, g.given(g.random.integers(0, width, 3), I64)], exact=True)


def labels(g):
    if g.chance(.5):
        x = g.some((I64,))
        ml(g, "LabelEncoder", [x], keys_int64s=[-1, 0, 1, 2], values_strings=["a", "b", "bc", "d"], default_string="none")
    else:
        x = g.some((STR,))
        ml(g, "LabelEncoder", [x], keys_strings=["a", "bc", "1.5"], values_int64s=[3, 1, 2], default_int64=-1)


def one_hot_encoder(g):
    ml(g, "OneHotEncoder", [g.some((I64,), (1, 2), lambda v: v.size > 0)], cats_int64s=[-1, 0, 1, 2, 3], zeros=1)


def linear_model(g):
    x = rows(g)
    width, classes = g.v(x).shape[1], g.pick([1, 3])
    coefficients = [float(c) for c in g.data(F32, (classes * width,))]
    if g.chance(.5):
        ml(g, "LinearRegressor", [x], coefficients=coefficients, intercepts=[.25] * classes, targets=classes)
    else:
        scores = g.v(x) @ np.reshape(coefficients, (classes, width)).T
        g.need(classes == 3 and np.diff(np.sort(scores, 1), axis=1).min() > 1e-3)
        ml(g, "LinearClassifier", [x], 2, coefficients=coefficients, intercepts=[0.0] * classes, classlabels_ints=[0, 1, 2])


def trees(g):
    x = rows(g, 2)
    g.need(g.is_apart(x, [0.3, -0.4]))
    ml(g, "TreeEnsembleRegressor", [x], n_targets=1, nodes_treeids=[0] * 5, nodes_nodeids=list(range(5)),
       nodes_featureids=[0, 1, 0, 0, 0], nodes_values=[.3, -.4, 0.0, 0.0, 0.0],
       nodes_modes=["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF"], nodes_truenodeids=[1, 3, 0, 0, 0],
       nodes_falsenodeids=[2, 4, 0, 0, 0], target_treeids=[0] * 3, target_nodeids=[2, 3, 4], target_ids=[0] * 3,
       target_weights=[1.5, -2.0, .5])


def support_vectors(g):
    x = rows(g)
    width = g.v(x).shape[1]
    ml(g, "SVMRegressor", [x], n_supports=2, kernel_type=g.pick(["LINEAR", "RBF", "POLY", "SIGMOID"]), rho=[.1],
       kernel_params=[.1, .5, 2.0], coefficients=[.5, -1.0], support_vectors=[float(v) for v in g.data(F32, (2 * width,))])


DRAW = [(if_, 2), (loop, 2), (loop_of_a_list, 1), (scan, 1), (sequence, 2), (split_to_sequence, 1), (optional, 1),
        (window, 1), (transform, 1), (mel, 1), (loss, 1), (suppression, 1), (dropout, 1), (split_texts, 1),
        (normalize_texts, 1), (features, 2), (labels, 1), (one_hot_encoder, 1), (linear_model, 1), (trees, 1),
        (support_vectors, 1)]
