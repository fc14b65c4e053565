"""Reduces a failing graph: one output, then as many known values as possible in the place of the nodes that make them."""
import os
import shutil

import numpy as np
import onnx
from onnx import helper, numpy_helper

from graph import model_of, reads_of


def rename_cuts(node, leaves):
    """The node, with other names for outputs that the part gets as leaves."""
    if not leaves.intersection(node.output):
        return node
    renamed = onnx.NodeProto()
    renamed.CopyFrom(node)
    for k, name in enumerate(node.output):
        if name in leaves:
            renamed.output[k] = name + "_unused"
    return renamed


class Part:
    """The nodes that `outputs` need if the values in `cuts` are given."""

    def __init__(self, graph, outputs, cuts, constants, dims):
        maker = {o: k for k, node in enumerate(graph.nodes) for o in node.output if o}
        chosen, leaves, todo = set(), set(), list(outputs)
        while todo:
            name = todo.pop()
            if name in cuts or name not in maker:
                leaves.add(name)
            elif maker[name] not in chosen:
                chosen.add(maker[name])
                todo += reads_of(graph.nodes[maker[name]])
        self.graph, self.cuts, self.given, self.open = graph, cuts, constants, dims
        self.nodes = [rename_cuts(graph.nodes[k], leaves) for k in sorted(chosen)]
        self.outputs = outputs
        self.constants = [n for n in graph.values if n in leaves and n in constants]
        self.inputs = [n for n in graph.values if n in leaves and n not in constants]
        self.dims = {n: d for n, d in dims.items() if n in self.inputs}
        self.values, self.opset = graph.values, graph.opset
        # A sequence or an optional has no known value, so its maker stays.
        self.is_possible = bool(self.nodes) and leaves <= set(graph.values)

    def part_of(self, output):
        return Part(self.graph, [output], self.cuts, self.given, self.open)

    def model(self, values=None, dims=None):
        return model_of(self.opset, self.nodes, self.inputs, self.outputs, self.constants, values or self.values,
                        self.dims if dims is None else dims)


def reduce_graph(graph, fails):
    """fails(part): whether it fails in the same way. Returns the smallest part found."""
    constants, dims = set(graph.constants), dict(graph.dims)
    tried = lambda outputs, cuts, constants, dims: Part(graph, outputs, cuts, constants, dims)
    works = lambda part: part.is_possible and fails(part)
    if dims and works(tried(graph.outputs, set(), constants, {})):
        dims = {}
    outputs = list(graph.outputs)
    for name in (o for node in graph.nodes for o in node.output if o in graph.values):
        if works(tried([name], set(), constants, dims)):
            outputs = [name]
            break
    for name in list(outputs):
        fewer = [n for n in outputs if n != name]
        if fewer and works(tried(fewer, set(), constants, dims)):
            outputs = fewer
    cuts = set()
    for name in reversed([o for node in graph.nodes for o in node.output if o in graph.values]):
        part = tried(outputs, cuts, constants, dims)
        if name in outputs or not any(name in node.output for node in part.nodes):
            continue
        for as_constant in (False, True):
            more = constants | {name} if as_constant else constants
            if works(tried(outputs, cuts | {name}, more, dims)):
                cuts, constants = cuts | {name}, more
                break
    for name in [n for n in tried(outputs, cuts, constants, dims).constants]:
        if works(tried(outputs, cuts, constants - {name}, dims)):
            constants = constants - {name}
    return tried(outputs, cuts, constants, dims)


def write_case(part, folder):
    """A folder as tests/regressions/cases has them, with ONNX Runtime's values."""
    shutil.rmtree(folder, ignore_errors=True)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    onnx.save(part.model(), os.path.join(folder, "model.onnx"))
    for kind, names in (("input", part.inputs), ("output", part.outputs)):
        for k, name in enumerate(names):
            with open(os.path.join(data, f"{kind}_{k}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(np.asarray(part.values[name]), name).SerializeToString())


def listing(part):
    lines = []
    for node in part.nodes:
        attributes = ", ".join(
            f"{a.name}=" + ("{" + "; ".join(m.op_type for m in a.g.node) + "}" if a.type == onnx.AttributeProto.GRAPH
                            else str(helper.get_attribute_value(a))) for a in node.attribute)
        lines.append(f"    {', '.join(node.output)} = {node.op_type}({', '.join(node.input)}) {attributes}")
    for name in part.inputs + part.constants:
        value = part.values[name]
        kind = "input" if name in part.inputs else "constant"
        shown = f" = {value.tolist()}" if value.size <= 12 else ""
        lines.append(f"    {kind} {name} {value.dtype} {part.dims.get(name, list(value.shape))}{shown}")
    return "\n".join(lines)
