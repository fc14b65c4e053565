#!/usr/bin/env python3
"""Processor time of builds of large networks, without measuring.

usage: large.py TENON [--nodes N] [--only WORD]

Builds a network of each pattern with N nodes (default: 2000) and with 4 N. A line has the processor seconds of both builds, the size
of the larger plan in MiB, and the ratio of the times: 4 if the time grows in proportion to the nodes, 16 if it grows with their
square. The exit status is 1 if a build fails, 77 if onnx is not installed.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnx")
    sys.exit(77)


class Network:
    """A graph that begins with `x` f32[4, 16] and a 16 x 16 matrix `w`."""

    def __init__(self, extents=(4, 16)):
        self.nodes, self.constants, self.extents, self.inputs = [], [], extents, ["x"]
        self.constant("w", np.eye(16, dtype=np.float32))

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operator, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=f"n{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def save(self, outputs, path):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.extents) for name in self.inputs]
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "large", inputs, results, self.constants)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def chain(count, *operators):
    """Nodes in sequence. An operator of two inputs also reads `w`."""
    network, value = Network(), "x"
    for k in range(count):
        operator = operators[k % len(operators)]
        value = network.add(operator, value, *["w"] * (operator == "MatMul"))
    return network, [value]


def residual(count):
    network, value = Network(), "x"
    for _ in range(count // 3):
        value = network.add("Add", value, network.add("Relu", network.add("MatMul", value, "w")))
    return network, [value]


def means(count):
    network, value = Network(), "x"
    for _ in range(count // 3):
        value = network.add("Sigmoid", network.add("Sub", value, network.add("ReduceMean", value)))
    return network, [value]


def branches(count, join, **attributes):
    """Nodes that read one value and are read by one."""
    network = Network()
    values = [network.add("Mul", "x", network.constant(f"c{k}", np.float32(k))) for k in range(count)]
    return network, [network.add(join, *values, **attributes)]


def products(count):
    network = Network()
    values = [network.add("MatMul", "x", network.constant(f"c{k}", np.full((16, 16), k, np.float32))) for k in range(count)]
    return network, [network.add("Sum", *values)]


def pieces(count):
    network = Network((count, 16))
    values = network.add("Split", "x", outputs=count, axis=0, num_outputs=count)
    return network, [network.add("Concat", *[network.add("MatMul", value, "w") for value in values], axis=0)]


def slices(count):
    network = Network((count, 16))
    axis = network.constant("axis", np.array([0], np.int64))
    ends = [network.constant(f"c{k}", np.array([k], np.int64)) for k in range(count + 1)]
    values = [network.add("Softmax", network.add("Slice", "x", ends[k], ends[k + 1], axis)) for k in range(count)]
    return network, [network.add("Concat", *values, axis=0)]


def outputs(count):
    network = Network()
    return network, [network.add("Add", "x", network.constant(f"c{k}", np.float32(k))) for k in range(count)]


def inputs(count):
    network, value = Network(), "x"
    for k in range(count):
        network.inputs.append(f"x{k}")
        value = network.add("Add", value, f"x{k}")
    return network, [value]


PATTERNS = {
    "chain of elements": lambda count: chain(count, "Relu", "Sigmoid", "Neg", "Abs"),
    "chain of products": lambda count: chain(count, "MatMul", "Relu"),
    "chain of softmax": lambda count: chain(count, "MatMul", "Softmax"),
    "residuals": residual,
    "means": means,
    "sum of branches": lambda count: branches(count, "Sum"),
    "concatenated branches": lambda count: branches(count, "Concat", axis=0),
    "sum of products": products,
    "split and concatenated": pieces,
    "slices, concatenated": slices,
    "many outputs": outputs,
    "many inputs": inputs,
}


def build(tenon, pattern, count, folder):
    """Returns processor seconds and bytes of the plan."""
    model, plan = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.plan")
    network, results = pattern(count)
    network.save(results, model)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([tenon, "build", model, "-o", plan, "--no-measuring", "--no-cache"], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[0])
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, os.path.getsize(plan)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tenon")
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failures = 0
    for name, pattern in PATTERNS.items():
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                small, _ = build(options.tenon, pattern, options.nodes, folder)
                large, size = build(options.tenon, pattern, 4 * options.nodes, folder)
                print(f"{name:24s} {small:8.2f} {large:8.2f} s  ratio {large / small:5.1f}  plan {size / 2**20:7.2f} MiB", flush=True)
            except RuntimeError as error:
                failures += 1
                print(f"{name:24s} failed: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
