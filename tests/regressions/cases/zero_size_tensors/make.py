"""Operators on tensors without elements."""
import numpy as np
from case import T, const, graph, info, node, save


def empty(*shape):
    return np.zeros(shape, np.float32)


def ints(*values):
    return np.array(values, np.int64)


def branch(name, op, **attributes):
    return graph([node(op, "e", name, **attributes)], [], [info(name, T.FLOAT)], name=name)


inputs = {"rows": empty(0, 3), "pixels": empty(1, 0, 4, 4), "c": np.array(True)}
constants = {"two": ints(2, 2), "none": ints(2, 0), "wide": ints(0, 4), "flat": ints(0),
             "ones": np.ones((2, 3), np.float32), "e": empty(8, 0, 2)}
nodes = [
    node("Tile", "rows two", "tiled"),
    node("Tile", "ones none", "none_left"),
    node("SpaceToDepth", "pixels", "deep", blocksize=2),
    node("DepthToSpace", "pixels", "flat_pixels", blocksize=2),
    node("Reshape", "rows wide", "wider"),
    node("Reshape", "rows flat", "list"),
    node("If", "c", "chosen", then_branch=branch("a", "Neg"), else_branch=branch("b", "Transpose", perm=[2, 1, 0])),
    node("Relu", "chosen", "either"),
]
expected = {"tiled": empty(0, 6), "none_left": empty(4, 0), "deep": empty(1, 0, 2, 2),
            "flat_pixels": empty(1, 0, 8, 8), "wider": empty(0, 4), "list": empty(0), "either": empty(8, 0, 2)}
save(graph(nodes, [info(k, T.BOOL if v.dtype == bool else T.FLOAT, v.shape) for k, v in inputs.items()],
           [info(k, T.FLOAT) for k in expected], [const(k, v) for k, v in constants.items()]),
     18, (inputs.values(), expected.values()))
