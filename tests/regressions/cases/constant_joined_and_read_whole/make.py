"""A constant is copied into its box of a concatenation. A convolution reads the constant itself, not the box."""
import numpy as np
from case import T, const, graph, info, node, save

random = np.random.default_rng(0)
x, w = (random.normal(size=s).astype(np.float32) for s in ((2, 2, 3, 4), (8, 2, 1, 3)))
c = random.normal(size=(2, 2, 3, 4)).astype(np.float32)
save(graph([node("Add", "x x", "twice"), node("Concat", "c twice twice", "joined", axis=1),
            node("GlobalAveragePool", "joined", "means"), node("Conv", "c w", "y", strides=[1, 2])],
           [info("x", T.FLOAT, x.shape), info("w", T.FLOAT, w.shape)], [info("means", T.FLOAT), info("y", T.FLOAT)],
           [const("c", c)]),
     20, ([x, w], None))
