"""Rows of one element. Their neighbours are pairs in the order of the result, but not in that of the operand."""
import numpy as np
from case import T, const, graph, info, node, save

random = np.random.default_rng(0)
c = random.normal(size=(2, 1, 3)).astype(np.float32)
x = random.normal(size=(8, 1)).astype(np.float32)
save(graph([node("MatMul", "x c", "p"), node("Transpose", "c", "t"), node("Softmax", "t", "s", axis=1),
            node("Where", "which s s", "y")],
           [info("x", T.FLOAT, x.shape), info("which", T.BOOL, []), info("c", T.FLOAT, c.shape)],
           [info("p", T.FLOAT), info("y", T.FLOAT)]),
     20, ([x, np.array(True), c], None))
