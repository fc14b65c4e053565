"""Conv of channels that a sequence decides: kernels are measured with the channels that the weights expect."""
import numpy as np
from case import T, graph, info, node, save

x = np.random.default_rng(5).standard_normal((3, 6, 16)).astype(np.float32)
w = np.random.default_rng(6).standard_normal((2, 3, 1, 3)).astype(np.float32)
stack = np.stack([x, x, x], 1).astype(np.float64)
padded = np.pad(stack, ((0, 0), (0, 0), (0, 0), (1, 1)))
y = sum(np.einsum("nchw,mc->nmhw", padded[..., k:k + 16], w[:, :, 0, k]) for k in range(3))
save(graph([node("SequenceConstruct", "x x", "two"), node("SequenceInsert", "two x place", "three"),
            node("ConcatFromSequence", "three", "stack", axis=1, new_axis=1),
            node("Conv", "stack w", "y", pads=[0, 1, 0, 1])],
           [info("x", T.FLOAT, x.shape), info("place", T.INT64, []), info("w", T.FLOAT, w.shape)], [info("y", T.FLOAT)]),
     20, ([x, np.array(1, np.int64), w], [y.astype(np.float32)]))
