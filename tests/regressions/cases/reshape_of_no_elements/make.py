"""Reshape of a value without elements: axis 1 stays 0, so the open axis 0 need not match."""
import numpy as np
from case import T, const, graph, info, node, save

x = np.zeros((4, 0, 2), np.float32)
save(graph([node("Slice", "x begin end", "s"), node("Reshape", "s shape", "y", allowzero=1)],
           [info("x", T.FLOAT, x.shape), info("end", T.INT64, [1])], [info("y", T.FLOAT)],
           [const("begin", np.array([1])), const("shape", np.array([5, 0, 3]))]),
     20, ([x, np.array([3])], [np.zeros((5, 0, 3), np.float32)]))
