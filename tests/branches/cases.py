#!/usr/bin/env python3
"""Makes models whose If has branches of different ranks, or one that cannot run, and records what ONNX Runtime computes.

usage: cases.py OUT

OUT/CASE gets model.onnx; `profile`, shapes that one plan is built for; and a folder for each run: input_i.pb and
output_i.pb, as ONNX's test data have them, or `words`, which the run that fails says. `refused`: words of a build that
fails. Needs numpy, onnx and onnxruntime, which the tests themselves do not.
"""
import os
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
OPSETS = [helper.make_opsetid("", 17)]
random = np.random.default_rng(1)
W = np.round(random.standard_normal((4, 3)), 2).astype(np.float32)


def info(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, value):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(value), name))


def graph_of(name, nodes, output, dtype=FLOAT, shape=None):
    return helper.make_graph(nodes, name, [], [info(output, dtype, shape)])


def if_node(condition, output, then_nodes, then_output, else_nodes, else_output, name):
    return helper.make_node("If", [condition], [output], name=name,
                            then_branch=graph_of("yes", then_nodes, then_output),
                            else_branch=graph_of("no", else_nodes, else_output))


def squeeze_or_not(condition, source, output, name):
    """Rank 1 where the condition holds, else rank 2."""
    return if_node(condition, output,
                   [constant(name + "_axis", np.array([0], np.int64)),
                    helper.make_node("Squeeze", [source, name + "_axis"], [name + "_a"], name=name + "_squeeze")],
                   name + "_a",
                   [helper.make_node("Relu", [source], [name + "_b"], name=name + "_relu")], name + "_b", name)


def model_of(nodes, inputs, outputs, initialisers=(), functions=(), opsets=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs,
                              [numpy_helper.from_array(value, name) for name, value in initialisers])
    return helper.make_model(graph, opset_imports=OPSETS + list(opsets), functions=list(functions), ir_version=8)


X = np.array([[1, -2, 3, -4]], np.float32)
C = info("c", BOOL, [])
TAKEN = {"taken": {"c": np.array(True), "x": X}, "not_taken": {"c": np.array(False), "x": X}}


def both_work():
    """What follows works with either rank, and ends alike."""
    nodes = [squeeze_or_not("c", "x", "t", "if"), helper.make_node("MatMul", ["t", "w"], ["p"]),
             constant("flat", np.array([-1], np.int64)), helper.make_node("Reshape", ["p", "flat"], ["y"])]
    return model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [3])], [("w", W)]), None, TAKEN


def one_works():
    """What follows takes a matrix alone."""
    nodes = [squeeze_or_not("c", "x", "t", "if"), helper.make_node("Softmax", ["t"], ["y"], name="softmax", axis=1)]
    return model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, None)]), None, TAKEN


def declared():
    """Nothing follows: what the file declares decides."""
    nodes = [squeeze_or_not("c", "x", "y", "if")]
    return model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [1, 4])]), None, TAKEN


def undecided():
    """Nothing follows, and nothing is declared."""
    nodes = [squeeze_or_not("c", "x", "y", "if")]
    return model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, None)]), None, {}


def by_extent():
    """The condition follows from an extent, which the profile leaves open."""
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), constant("zero", np.array(0, np.int64)),
             helper.make_node("Gather", ["shape", "zero"], ["rows"]), constant("one", np.array(1, np.int64)),
             helper.make_node("Equal", ["rows", "one"], ["is_one"]), squeeze_or_not("is_one", "x", "t", "if"),
             helper.make_node("Mul", ["t", "scale"], ["u"]), constant("matrix", np.array([-1, 4], np.int64)),
             helper.make_node("Reshape", ["u", "matrix"], ["y"])]
    scale = ("scale", np.array([1.5, -0.5, 0.25, 2.5], np.float32))
    runs = {f"{rows}_rows": {"x": np.round(random.standard_normal((rows, 4)), 2).astype(np.float32)}
            for rows in (1, 2, 3)}
    return (model_of(nodes, [info("x", FLOAT, ["n", 4])], [info("y", FLOAT, ["n", 4])], [scale]),
            "x:1x4:2x4:3x4", runs)


def two_choices():
    """The second If follows the first, and lies in both of its branches."""
    nodes = [squeeze_or_not("c", "x", "t", "first"), constant("row", np.array([1, 4], np.int64)),
             helper.make_node("Neg", ["t"], ["u"]), helper.make_node("Reshape", ["u", "row"], ["v"]),
             squeeze_or_not("d", "v", "s", "second"), helper.make_node("MatMul", ["s", "w"], ["p"]),
             constant("flat", np.array([-1], np.int64)), helper.make_node("Reshape", ["p", "flat"], ["q"]),
             helper.make_node("ReduceSum", ["t"], ["total"], keepdims=0),
             helper.make_node("Add", ["q", "total"], ["y"])]
    runs = {f"{a}_{b}".lower(): {"c": np.array(a), "d": np.array(b), "x": X}
            for a in (True, False) for b in (True, False)}
    return (model_of(nodes, [C, info("d", BOOL, []), info("x", FLOAT, [1, 4])], [info("y", FLOAT, [3])], [("w", W)]),
            None, runs)


def nested():
    """A branch whose own choice cannot run either way, beside one that can."""
    inner = if_node("d", "inner_out", [helper.make_node("Gemm", ["x", "v"], ["g"], name="bad_gemm")], "g",
                    [helper.make_node("Conv", ["x", "w"], ["k"], name="bad_convolution")], "k", "inner")
    nodes = [if_node("c", "y", [inner], "inner_out",
                     [helper.make_node("MatMul", ["x", "w"], ["m"])], "m", "outer")]
    runs = {"taken": {"c": np.array(True), "d": np.array(False), "x": X},
            "not_taken": {"c": np.array(False), "d": np.array(False), "x": X}}
    return (model_of(nodes, [C, info("d", BOOL, []), info("x", FLOAT, [1, 4])], [info("y", FLOAT, None)],
                     [("w", W), ("v", W.T.copy())]), None, runs)


def in_a_loop():
    """The rank differs from one iteration to the next."""
    body_nodes = [constant("two", np.array(2, np.int64)), helper.make_node("Equal", ["i", "two"], ["is_two"]),
                  squeeze_or_not("is_two", "h", "t", "if"), helper.make_node("Mul", ["t", "factors"], ["u"]),
                  constant("row", np.array([1, 4], np.int64)), helper.make_node("Reshape", ["u", "row"], ["h_next"]),
                  helper.make_node("Identity", ["go"], ["go_on"])]
    body = helper.make_graph(body_nodes, "body", [info("i", INT64, []), info("go", BOOL, []), info("h", FLOAT, [1, 4])],
                             [info("go_on", BOOL, []), info("h_next", FLOAT, [1, 4])])
    nodes = [helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)]
    factors = ("factors", np.array([2, 1.5, -1, 0.5], np.float32))
    runs = {f"{n}_times": {"n": np.array(n, np.int64), "x": np.abs(X)} for n in (0, 2, 5)}
    return (model_of(nodes, [info("n", INT64, []), info("x", FLOAT, [1, 4])], [info("y", FLOAT, [1, 4])], [factors]),
            None, runs)


def in_a_function():
    """What follows within a function, called twice."""
    nodes = [squeeze_or_not("c", "a", "t", "if"), helper.make_node("Mul", ["t", "b"], ["u"]),
             constant("row", np.array([1, 4], np.int64)), helper.make_node("Reshape", ["u", "row"], ["y"])]
    function = helper.make_function("local", "F", ["c", "a", "b"], ["y"], nodes, OPSETS)
    calls = [helper.make_node("F", ["c", "x", "s"], ["t1"], name="one", domain="local"),
             helper.make_node("F", ["c", "t1", "s"], ["y"], name="two", domain="local")]
    scale = ("s", np.array([1.5, -0.5, 0.25, 2.5], np.float32))
    return (model_of(calls, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [1, 4])], [scale], [function],
                     [helper.make_opsetid("local", 1)]), None, TAKEN)


def operator_that_nobody_has():
    """One branch needs what is not there. Recorded without it."""
    bad = [helper.make_node("Unheard", ["x"], ["a"], name="unheard", domain="nobody")]
    good = [helper.make_node("Relu", ["x"], ["b"])]
    nodes = [if_node("c", "t", bad, "a", good, "b", "if"), helper.make_node("MatMul", ["t", "w"], ["y"])]
    model = model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [1, 3])], [("w", W)], (),
                     [helper.make_opsetid("nobody", 1)])
    return model, None, TAKEN


def constant_or_fault():
    """One branch is a constant, the other needs what is not there: the constant is not the If's value. Recorded without
    the other."""
    bad = [helper.make_node("Unheard", ["x"], ["a"], name="unheard", domain="nobody")]
    nodes = [if_node("c", "t", bad, "a", [constant("b", X * 0)], "b", "if"), helper.make_node("Add", ["t", "x"], ["y"])]
    model = model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [1, 4])], (), (),
                     [helper.make_opsetid("nobody", 1)])
    return model, None, TAKEN


def shape_or_fault():
    """The same with integers that give a shape."""
    bad = [helper.make_node("Unheard", ["x"], ["a"], name="unheard", domain="nobody")]
    nodes = [if_node("c", "t", bad, "a", [constant("b", np.array([2, 2], np.int64))], "b", "if"),
             helper.make_node("Reshape", ["x", "t"], ["y"])]
    nodes[0].attribute[0].g.output[0].type.tensor_type.elem_type = INT64
    nodes[0].attribute[1].g.output[0].type.tensor_type.elem_type = INT64
    model = model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [2, 2])], (), (),
                     [helper.make_opsetid("nobody", 1)])
    return model, None, TAKEN


def zeros_of_two_signs():
    """0 and -0 are two constants: 1 over them differs."""
    nodes = [if_node("c", "t", [constant("a", np.float32(0))], "a", [constant("b", np.float32(-0.0))], "b", "if"),
             helper.make_node("Div", ["x", "t"], ["y"])]
    return model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [1, 4])]), None, TAKEN


def zeros_of_one_sign():
    """The same from both branches, and -0."""
    nodes = [if_node("c", "t", [constant("a", np.float32(-0.0))], "a", [constant("b", np.float32(-0.0))], "b", "if"),
             helper.make_node("Div", ["x", "t"], ["y"])]
    return model_of(nodes, [C, info("x", FLOAT, [1, 4])], [info("y", FLOAT, [1, 4])]), None, TAKEN


CASES = {
    both_work: {},
    one_works: {"taken": "'if' takes its branch 'if/then_branch', which cannot run: its results are t f32[4]; "
                         "standard.softmax/1 'softmax': "},
    declared: {"taken": "its results are y f32[4]; with these the file's outputs are of other types"},
    undecided: {None: "output 0 is f32[4] from branch 'if/then_branch' and f32[1, 4] from branch 'if/else_branch'"},
    by_extent: {},
    two_choices: {},
    nested: {"taken": "'outer' takes its branch 'outer/then_branch', which cannot run: standard.branch/1 'inner': none of its bodies "
                        "can run: 'inner/then_branch': "},
    in_a_loop: {},
    in_a_function: {},
    operator_that_nobody_has: {"taken": "Unheard 'unheard': no converter takes nobody::Unheard"},
    constant_or_fault: {"taken": "Unheard 'unheard': no converter takes nobody::Unheard"},
    shape_or_fault: {"taken": "Unheard 'unheard': no converter takes nobody::Unheard"},
    zeros_of_two_signs: {},
    zeros_of_one_sign: {},
}


def compute(model, feed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def write(path, value, name):
    with open(path, "wb") as file:
        file.write(numpy_helper.from_array(np.asarray(value), name).SerializeToString())


def runnable(model):
    """With another branch in place of one that ONNX Runtime refuses."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for node in copy.graph.node:
        for attribute in node.attribute:
            if any(inner.name in ("unheard", "inner") for inner in attribute.g.node):
                output = attribute.g.output[0]
                kind = "Shape" if output.type.tensor_type.elem_type == INT64 else "Relu"
                del attribute.g.node[:]
                attribute.g.node.append(helper.make_node(kind, ["x"], [output.name]))
    return copy


def record(out, function, failing):
    model, profile, runs = function()
    folder = os.path.join(out, function.__name__)
    os.makedirs(folder)
    model.graph.name = function.__name__
    onnx.save(model, os.path.join(folder, "model.onnx"))
    if profile:
        with open(os.path.join(folder, "profile"), "w", encoding="utf-8") as file:
            file.write(profile + "\n")
    if None in failing:
        with open(os.path.join(folder, "refused"), "w", encoding="utf-8") as file:
            file.write(failing[None] + "\n")
    for name, feed in runs.items():
        run = os.path.join(folder, name)
        os.makedirs(run)
        for i, value in enumerate(model.graph.input):
            write(os.path.join(run, f"input_{i}.pb"), feed[value.name], value.name)
        if name in failing:
            with open(os.path.join(run, "words"), "w", encoding="utf-8") as file:
                file.write(failing[name] + "\n")
            continue
        outputs = compute(runnable(model), feed)
        for i, value in enumerate(outputs):
            write(os.path.join(run, f"output_{i}.pb"), value, model.graph.output[i].name)
        print(function.__name__, name, [v.shape for v in outputs], outputs[0].ravel()[:4])


def main():
    out = sys.argv[1]
    shutil.rmtree(out, ignore_errors=True)
    for function, failing in CASES.items():
        record(out, function, failing)


if __name__ == "__main__":
    main()
