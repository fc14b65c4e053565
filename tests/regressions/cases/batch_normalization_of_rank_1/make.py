"""BatchNormalization of a vector, which is one channel."""
import numpy as np
from case import ML, T, const, graph, info, node, save

x = np.arange(5, dtype=np.float32)
scale, bias, mean, variance = (np.array([v], np.float32) for v in (2, 1, .5, 4))
save(graph([node("BatchNormalization", "x s b m v", "y", epsilon=0.0)], [info("x", T.FLOAT, [5])],
           [info("y", T.FLOAT, [5])], [const("s", scale), const("b", bias), const("m", mean), const("v", variance)]),
     18, ([x], [(x - mean) / 2 * scale + bias]), domains=ML)
