"""A padding that reflects an axis whose open extent is twice a slice."""
import numpy as np
from case import T, const, graph, info, node, save

constants = {"begin": [-3], "end": [9], "axis": [1], "pads": [0, 2, 0, 1]}


def data_set(n):
    x = (np.arange(2 * n, dtype=np.float32).reshape(2, n) - 4) / 2
    piece = x[:, max(0, n - 3):9]
    return [x], [np.maximum(np.pad(np.concatenate([piece, piece], 1), ((0, 0), (2, 1)), "reflect"), 0)]


save(graph([node("Slice", "x begin end axis", "s"), node("Concat", "s s", "c", axis=1),
            node("Pad", "c pads", "p", mode="reflect"), node("Relu", "p", "y")],
           [info("x", T.FLOAT, [2, "n"])], [info("y", T.FLOAT)],
           [const(k, np.array(v, np.int64)) for k, v in constants.items()]),
     18, data_set(9), data_set(2), data_set(5), profile="x:2x2:2x5:2x9")
