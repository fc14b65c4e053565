"""Concat of one value with itself: its extents are those of the box only by the rules of Attention."""
import numpy as np
from case import T, graph, info, node, save

random = np.random.default_rng(7)
q, k, v = (random.standard_normal(shape).astype(np.float32) for shape in ((2, 4, 4, 2), (2, 1, 2, 2), (2, 1, 2, 2)))
scores = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) / np.sqrt(2)
power = np.exp(scores - scores.max(-1, keepdims=True))
y = (power / power.sum(-1, keepdims=True)) @ v
save(graph([node("Attention", "q k v", "t"), node("Concat", "t t", "y", axis=0)],
           [info("q", T.FLOAT, ["n", "heads", 4, "n"]), info("k", T.FLOAT, [2, 1, 2, "m"]), info("v", T.FLOAT, [2, 1, 2, "n"])],
           [info("y", T.FLOAT)]),
     23, ([q, k, v], [np.concatenate([y, y]).astype(np.float32)]),
     profile="q:1x1x4x1:2x4x4x2:4x8x4x4,k:2x1x2x1:2x1x2x2:2x1x2x4,v:2x1x2x1:2x1x2x2:2x1x2x4")
