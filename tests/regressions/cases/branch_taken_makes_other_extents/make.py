"""The branches differ in an extent, and the condition is constant. What follows has the extent of the branch taken."""
import numpy as np
from case import T, const, graph, info, node, save

then_branch = graph([node("Relu", "x", "r"), node("Mul", "r s", "t")], [], [info("t", T.FLOAT)], name="then")
else_branch = graph([node("Concat", "x x", "e", axis=0)], [], [info("e", T.FLOAT)], name="else")
sets = [([x, np.ones(1, np.float32)], [np.concatenate([x, x])])
        for x in (np.array([-.5], np.float32), np.array([1, -2, 3], np.float32))]
save(graph([node("IsNaN", "c", "is_nan"), node("If", "is_nan", "i", then_branch=then_branch, else_branch=else_branch),
            node("Tile", "i once", "y")],
           [info("x", T.FLOAT, ["n"]), info("s", T.FLOAT, [1])], [info("y", T.FLOAT)],
           [const("c", np.float32(-1.5)), const("once", np.array([1]))]),
     20, *sets, profile="x:1:1:3")
