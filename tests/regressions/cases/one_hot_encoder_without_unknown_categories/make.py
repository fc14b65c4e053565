"""OneHotEncoder with zeros 0; all categories are known."""
import numpy as np
from case import ML, T, graph, info, node, save

x = np.array([3, 1, 2, 3])
save(graph([node("OneHotEncoder", "x", "y", domain="ai.onnx.ml", cats_int64s=[1, 2, 3], zeros=0)],
           [info("x", T.INT64, [4])], [info("y", T.FLOAT, [4, 3])]),
     18, ([x], [np.eye(3, dtype=np.float32)[x - 1]]), domains=ML)
