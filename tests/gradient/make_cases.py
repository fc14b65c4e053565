"""Models with a Gradient, and what it is to give: central differences in double precision of the same nodes in
ONNX's reference evaluator. Needs NumPy and ONNX.

usage: make_cases.py FOLDER"""
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

DOMAIN = "ai.onnx.preview.training"
STEP = 1e-5  # in double precision: differences are right to about 1e-10


def model(nodes, arrays, outputs, dtype):
    types = [helper.make_tensor_value_info(name, dtype, array.shape) for name, array in arrays.items()]
    ends = [helper.make_tensor_value_info(name, dtype, shape) for name, shape in outputs.items()]
    graph = helper.make_graph(nodes, "gradient", types, ends)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


def derivatives(nodes, arrays, xs, y):
    """Of the sum of y by each of xs."""
    evaluator = ReferenceEvaluator(model(nodes, arrays, {y: None}, TensorProto.DOUBLE))
    wide = {name: array.astype(np.float64) for name, array in arrays.items()}
    found = []
    for x in xs:
        result = np.zeros_like(wide[x])
        for index in np.ndindex(result.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = {**wide, x: wide[x].copy()}
                moved[x][index] += step
                ends.append(evaluator.run(None, moved)[0].sum())
            result[index] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(result.astype(np.float32))
    return found


def write(folder, nodes, arrays, xs, zs, y):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/test_data_set_0")
    expected = derivatives(nodes, arrays, xs, y)
    names = {"xs": xs, "y": y, **({"zs": zs} if zs else {})}
    gradient = helper.make_node("Gradient", xs + zs, ["d_" + x for x in xs], "gradient", domain=DOMAIN, **names)
    outputs = {"d_" + x: arrays[x].shape for x in xs}
    onnx.save(model([*nodes, gradient], arrays, outputs, TensorProto.FLOAT), f"{folder}/model.onnx")
    for kind, tensors in (("input", arrays), ("output", dict(zip(outputs, expected)))):
        for index, (name, array) in enumerate(tensors.items()):
            with open(f"{folder}/test_data_set_0/{kind}_{index}.pb", "wb") as file:
                file.write(numpy_helper.from_array(array, name).SerializeToString())


def every_rule(numbers):
    """A sum of all operators that have a rule, each with a weight of its own, a power of h; w and s are broadcast."""
    arrays = {"x": numbers.uniform(0.5, 2, (2, 3)), "w": numbers.uniform(0.5, 2, (1, 3)),
              "s": numbers.uniform(0.5, 2, ()), "h": np.array(0.95)}
    nodes, total = [], "x"
    unary = "Abs Cos Exp Identity Log Neg Reciprocal Relu Sigmoid Sin Softplus Sqrt Tanh".split()
    terms = [(op, [name]) for op in unary for name in ("x", "minus") if not (name == "minus" and op in ("Log", "Sqrt"))]
    terms += [(op, names) for op in ("Add", "Div", "Mul", "Pow", "Sub") for names in (["x", "w"], ["s", "x"])]
    nodes.append(helper.make_node("Sub", ["w", "x"], ["minus"], "minus"))
    for index, (op, names) in enumerate(terms):
        nodes += [helper.make_node(op, names, [f"t{index}"], f"{op}_{index}"),
                  helper.make_node("Mul", [total, "h"], [f"u{index}"], f"weigh_{index}"),
                  helper.make_node("Add", [f"u{index}", f"t{index}"], [f"v{index}"], f"add_{index}")]
        total = f"v{index}"
    return nodes, arrays, ["x", "w", "s"], [], total


def what_is_given(numbers):
    """z does not change with x, since it is given too; u has no way to y."""
    arrays = {"x": numbers.normal(size=(4,)), "u": numbers.normal(size=(2,)), "z": numbers.normal(size=(4,))}
    nodes = [helper.make_node("Mul", ["x", "z"], ["p"], "p"), helper.make_node("Mul", ["p", "x"], ["y"], "y"),
             helper.make_node("Exp", ["u"], ["aside"], "aside")]
    return nodes, arrays, ["x", "u"], ["z"], "y"


def main():
    for make in (every_rule, what_is_given):
        nodes, arrays, xs, zs, y = make(np.random.default_rng(7))
        arrays = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
        write(f"{sys.argv[1]}/{make.__name__}", nodes, arrays, xs, zs, y)


main()
