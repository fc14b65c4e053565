"""An operator on an item of a sequence input that declares no shape of its items."""
import numpy as np
from case import H, T, const, graph, info, node, save

save(graph([node("SequenceAt", "s first", "item"), node("Reshape", "item flat", "y")],
           [H.make_tensor_sequence_value_info("s", T.FLOAT, None)], [info("y", T.FLOAT, [None])],
           [const("first", np.array(0, np.int64)), const("flat", np.array([-1], np.int64))]), 18)
