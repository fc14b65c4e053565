"""Writes a network as ONNX, and a reference input and output beside it.

The graph is built by hand and not exported, so that every node and tensor has a readable name.
"""

import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8


class Graph:
    """Nodes and weights in the order in which they are added."""

    def __init__(self):
        self.nodes = []
        self.weights = []

    def add(self, op_type, name, inputs, output=None, weights=(), **attributes):
        """Adds a node with one output and returns the output's name, by default that of the node.

        `weights` are pairs (suffix, array); they follow the other inputs as `<name>.<suffix>`.
        """
        output = output or name
        inputs = list(inputs)
        for suffix, array in weights:
            inputs.append(f"{name}.{suffix}")
            self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), inputs[-1]))
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        return output

    def save(self, path, name, description, input_info, output_info):
        """Checks and writes the model. `input_info` and `output_info` are pairs (name, shape)."""
        inputs = [helper.make_tensor_value_info(input_info[0], TensorProto.FLOAT, input_info[1])]
        outputs = [helper.make_tensor_value_info(output_info[0], TensorProto.FLOAT, output_info[1])]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.weights)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="tenon-demo",
            doc_string=description,
        )
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def open_session(model_path):
    """ONNX Runtime on the CPU, with one thread and without optimisation: the plainest reference."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model_path, options, providers=["CPUExecutionProvider"])


def run(model_path, array):
    """Runs a network of one input and one output."""
    session = open_session(model_path)
    return session.run(None, {session.get_inputs()[0].name: array})[0]


def save_reference(model_path, set_index, array):
    """Writes test_data_set_<set_index>/{input_0,output_0}.pb beside the model."""
    session = open_session(model_path)
    source, result = session.get_inputs()[0].name, session.get_outputs()[0].name
    folder = os.path.join(os.path.dirname(model_path), f"test_data_set_{set_index}")
    os.makedirs(folder, exist_ok=True)
    output = session.run(None, {source: array})[0]
    for file, name, value in (("input_0.pb", source, array), ("output_0.pb", result, output)):
        onnx.save_tensor(numpy_helper.from_array(value, name), os.path.join(folder, file))
