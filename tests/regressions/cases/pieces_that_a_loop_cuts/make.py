"""A loop puts pieces of different extents into a list, which is joined."""
import numpy as np
from case import H, T, const, graph, info, node, save

x = (np.arange(12, dtype=np.float32).reshape(3, 4) - 5) / 4


def constant(name, *values):
    return const(name, np.array(values, np.int64))


body = graph([node("Identity", "c", "go_on"), node("Unsqueeze", "i zero", "row"), node("Add", "row one", "end"),
              node("Slice", "x zero end", "piece"), node("SequenceInsert", "s piece", "t")],
             [info("i", T.INT64, []), info("c", T.BOOL, []), H.make_tensor_sequence_value_info("s", T.FLOAT, None)],
             [info("go_on", T.BOOL, []), H.make_tensor_sequence_value_info("t", T.FLOAT, None)],
             [constant("zero", 0), constant("one", 1)], name="body")
nodes = [node("SequenceEmpty", "", "none"), node("Loop", ["n", "", "none"], "pieces", body=body),
         node("ConcatFromSequence", "pieces", "joined", axis=0), node("Relu", "joined", "y"),
         node("SequenceAt", "pieces end", "piece"), node("Neg", "piece", "last")]
save(graph(nodes, [info("n", T.INT64, []), info("x", T.FLOAT, x.shape)], [info("y", T.FLOAT), info("last", T.FLOAT)],
           [const("end", np.array(-1, np.int64))]), 18,
     ([np.array(3, np.int64), x], [np.maximum(np.concatenate([x[:k + 1] for k in range(3)]), 0), -x]))
