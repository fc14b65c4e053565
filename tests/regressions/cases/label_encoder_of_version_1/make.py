"""LabelEncoder of ai.onnx.ml 1 and CategoryMapper, in both directions."""
import numpy as np
from case import ML, T, graph, info, node, save

texts, numbers = np.array(["b", "x", "a"], object), np.array([1, 5, 0])
labels = dict(classes_strings=["a", "b"], default_int64=-7, default_string="none")
categories = dict(cats_strings=["a", "b"], cats_int64s=[10, 0], default_int64=-7, default_string="none")
save(graph([node("LabelEncoder", "t", "p", domain="ai.onnx.ml", **labels),
            node("LabelEncoder", "n", "q", domain="ai.onnx.ml", **labels),
            node("CategoryMapper", "t", "r", domain="ai.onnx.ml", **categories),
            node("CategoryMapper", "n", "s", domain="ai.onnx.ml", **categories)],
           [info("t", T.STRING, [3]), info("n", T.INT64, [3])],
           [info("p", T.INT64, [3]), info("q", T.STRING, [3]), info("r", T.INT64, [3]), info("s", T.STRING, [3])]),
     18, ([texts, numbers], [np.array([1, -7, 0]), np.array(["b", "none", "a"], object), np.array([0, -7, 10]),
                             np.array(["none", "none", "b"], object)]), domains=ML)
