"""Resize to sizes that follow from found extents, before a node that is fused with what they are found in."""
import numpy as np
from case import T, const, graph, info, node, save

x = np.random.default_rng(8).standard_normal((1, 1, 4, 3)).astype(np.float32)
b = np.float32([[[[1], [2], [3], [4]]]])
wanted = np.array([True, False, True, True])
t = x / (np.abs(x) + 1)
save(graph([node("Softsign", "x", "t"), node("Compress", "t wanted", "found", axis=2),
            node("Resize", ["found", "", "scales"], "y", mode="nearest", nearest_mode="floor",
                 coordinate_transformation_mode="asymmetric"), node("Add", "t b", "z")],
           [info("x", T.FLOAT, x.shape), info("wanted", T.BOOL, [4]), info("b", T.FLOAT, b.shape)],
           [info("y", T.FLOAT), info("z", T.FLOAT)], [const("scales", np.float32([1, 1, 2, 1]))]),
     20, ([x, wanted, b], [t[:, :, wanted].repeat(2, 2), t + b]))
