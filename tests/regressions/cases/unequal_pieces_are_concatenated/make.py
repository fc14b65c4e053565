"""ConcatFromSequence along the axis in which the pieces differ."""
import numpy as np
from case import ML, T, const, graph, info, node, save

x = np.arange(20, dtype=np.float32).reshape(5, 4)
save(graph([node("SplitToSequence", "x s", "a", axis=0), node("SequenceErase", "a first", "b"),
            node("ConcatFromSequence", "b", "y", axis=0), node("Relu", "y", "z"),
            node("SequenceConstruct", "x w v", "c"), node("ConcatFromSequence", "c", "u", axis=0)],
           [info("x", T.FLOAT, [5, 4]), info("w", T.FLOAT, [1, 4]), info("v", T.FLOAT, [2, 4])],
           [info("z", T.FLOAT), info("u", T.FLOAT)],
           [const("s", np.array([1, 3, 1])), const("first", np.array(0))]),
     18, ([x, x[:1], x[3:]], [x[1:], np.concatenate([x, x[:1], x[3:]])]), domains=ML)
