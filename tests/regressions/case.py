"""The parts that the make.py scripts below cases share. Makes folders of cases:

usage: case.py NAME...
"""
import os
import runpy
import sys

import numpy as np
from onnx import TensorProto as T, helper as H, numpy_helper as N  # noqa: F401: for the scripts

ML = (("ai.onnx.ml", 1),)


def info(name, kind, shape=None):
    return H.make_tensor_value_info(name, kind, shape)


def const(name, value):
    return N.from_array(np.asarray(value), name)


def node(op, inputs, outputs, **attributes):
    """`inputs` are names separated by spaces, or a list, which may have empty names."""
    return H.make_node(op, inputs.split() if isinstance(inputs, str) else inputs, outputs.split(), **attributes)


def graph(nodes, inputs, outputs, constants=(), name="case"):
    return H.make_graph(nodes, name, inputs, outputs, list(constants))


def by_onnxruntime(model, feeds):
    import onnxruntime
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def write_tensors(number, kind, values, infos):
    folder = f"test_data_set_{number}"
    os.makedirs(folder, exist_ok=True)
    for index, (value, value_info) in enumerate(zip(values, infos, strict=True)):
        with open(f"{folder}/{kind}_{index}.pb", "wb") as file:
            file.write(const(value_info.name, value).SerializeToString())


def save(of_graph, opset, *data_sets, ir=9, domains=(), profile=None):
    """Writes model.onnx, test_data_set_* and `profile` into the current folder.

    A data set is (inputs, outputs) in the order of the graph. outputs None: ONNX Runtime computes them.
    """
    imports = [H.make_opsetid(domain, version) for domain, version in (("", opset), *domains)]
    model = H.make_model(of_graph, opset_imports=imports, ir_version=ir)
    with open("model.onnx", "wb") as file:
        file.write(model.SerializeToString())
    for number, (inputs, outputs) in enumerate(data_sets):
        write_tensors(number, "input", inputs, of_graph.input)
        if outputs is None:
            outputs = by_onnxruntime(model, {i.name: np.asarray(v) for i, v in zip(of_graph.input, inputs)})
        write_tensors(number, "output", outputs, of_graph.output)
    if profile is not None:
        with open("profile", "w", encoding="utf-8") as file:
            file.write(profile + "\n")


if __name__ == "__main__":
    for case_name in sys.argv[1:]:
        os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases", case_name))
        runpy.run_path("make.py")
