"""Clip of operator set 13 with the attributes of operator set 6, which ONNX Runtime refuses too."""
from case import T, graph, info, node, save

save(graph([node("Clip", "x", "y", name="clip", min=-1.0, max=1.0)], [info("x", T.FLOAT, [3])],
           [info("y", T.FLOAT, [3])]), 13, ir=8)
