"""Movements of strings that are no copies of boxes."""
import numpy as np
from case import ML, T, const, graph, info, node, save

x = np.array([["a", "bc", "", "d"], ["e", "f", "gh", "i"]], object)
places, lengths = np.array([3, 0, -2]), np.array([2, 4])
shapes = {"gathered": [2, 3], "tiled": [4, 4], "found": [2], "elements": [2, 1], "reversed": [2, 4]}
save(graph([node("Gather", "x p", "gathered", axis=1), node("Tile", "x r", "tiled"), node("GatherND", "x i", "found"),
            node("GatherElements", "x e", "elements", axis=1),
            node("ReverseSequence", "x l", "reversed", time_axis=1, batch_axis=0)],
           [info("x", T.STRING, [2, 4]), info("p", T.INT64, [3]), info("e", T.INT64, [2, 1]), info("l", T.INT64, [2])],
           [info(n, T.STRING, s) for n, s in shapes.items()],
           [const("r", np.array([2, 1])), const("i", np.array([[1, 1], [0, 2]]))]),
     18, ([x, places, np.array([[2], [0]]), lengths],
          [x[:, places], np.tile(x, (2, 1)), np.array(["f", ""], object), np.array([[""], ["e"]], object),
           np.array([["bc", "a", "", "d"], ["i", "gh", "f", "e"]], object)]), domains=ML)
