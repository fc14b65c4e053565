"""The logarithm of softmax along an axis of extent 0: there are rows, but no element."""
import numpy as np
from case import T, graph, info, node, save

x = np.zeros((0, 2), np.float32)
save(graph([node("Mul", "a b", "product"), node("LogSoftmax", "product", "y", axis=-2)],
           [info("a", T.FLOAT, x.shape), info("b", T.FLOAT, x.shape)], [info("y", T.FLOAT)]),
     20, ([x, x], [x]))
