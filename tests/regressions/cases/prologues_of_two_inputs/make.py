"""Both inputs of a product are arithmetic, and their ranks differ: each gets a slot of its own, or none."""
import numpy as np
from case import T, graph, info, node, save

random = np.random.default_rng(0)
shapes = {"a": (16, 6, 7), "s": (6, 7), "b": (7, 16, 7, 7), "c": (7, 1, 1, 7)}
values = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
save(graph([node("PRelu", "a s", "left"), node("Min", "c b", "right"), node("MatMul", "left right", "y")],
           [info(name, T.FLOAT, shape) for name, shape in shapes.items()], [info("y", T.FLOAT)]),
     20, (list(values.values()), None))
